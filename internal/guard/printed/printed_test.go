package printed

import "testing"

func TestVerbsOfFormats(t *testing.T) {
	for format, want := range map[string]string{
		"":                        "",
		"100%%":                   "",
		"%d of %v":                "dv",
		"%-8s|%+v|%#x|% d|%05.2f": "svxdf",
		"%*d and %.*f":            "*d*f",
		"%p: %T":                  "pT",
		"%d, %[1]v":               "",
		"at the end %":            "",
		"%世":                      "世",
	} {
		if got := string(verbsOf(format)); got != want {
			t.Errorf("%q has the verbs %q, want %q", format, got, want)
		}
	}
}
