package library

import "testing"

func TestVerbsAreThoseOfTheArgumentsInTurn(t *testing.T) {
	for format, want := range map[string]string{
		"":                        "",
		"get %q: %w":              "qw",
		"100%% of %-5s, %+v %.2f": "svf",
		"%d":                      "d",
		"%":                       "",
	} {
		if verbs, ok := verbsOf(format); !ok || string(verbs) != want {
			t.Errorf("%q has %q, %v; want %q", format, string(verbs), ok, want)
		}
	}
	for _, format := range []string{"%#v", "%*d", "%[1]v"} {
		if _, ok := verbsOf(format); ok {
			t.Errorf("%q is taken for one that says how an error is written", format)
		}
	}
}
