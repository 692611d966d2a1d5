package console

import (
	"bytes"
	"os"
	"testing"
)

func environment(pairs map[string]string) func(string) string {
	return func(name string) string { return pairs[name] }
}

func TestOnlyTerminalsHaveColours(t *testing.T) {
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, w := range []interface{ Write([]byte) (int, error) }{file, &bytes.Buffer{}} {
		s := Detect(w, environment(nil))
		if s.Terminal || s.Color || s.Width() != defaultWidth || s.Bad("x") != "x" || s.Diff("+x\n") != "+x\n" {
			t.Errorf("%T: %+v", w, s)
		}
	}
}

func TestTheEnvironmentHasTheLastWord(t *testing.T) {
	for _, test := range []struct {
		env             map[string]string
		terminal, color bool
	}{
		{nil, true, true},
		{map[string]string{"TERM": "xterm"}, true, true},
		{map[string]string{"TERM": "dumb"}, false, false},
		{map[string]string{"NO_COLOR": "1"}, true, false},
		{map[string]string{"NO_COLOR": ""}, true, true},
	} {
		var s Stream
		s.allow(environment(test.env))
		if s.Terminal != test.terminal || s.Color != test.color {
			t.Errorf("%v: %+v", test.env, s)
		}
	}
}

func TestColours(t *testing.T) {
	s := Stream{Color: true}
	if got, want := s.Bad("FAIL")+s.Good("ok"), "\x1b[31mFAIL\x1b[0m\x1b[32mok\x1b[0m"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	got := s.Diff("--- a\n+++ b\n@@ -1 +1 @@\n x\n-y\n+z")
	want := "\x1b[31m--- a\x1b[0m\n\x1b[32m+++ b\x1b[0m\n\x1b[36m@@ -1 +1 @@\x1b[0m\n x\n\x1b[31m-y\x1b[0m\n\x1b[32m+z\x1b[0m"
	if got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestNearestName(t *testing.T) {
	names := []string{"explore", "replay", "trace", "fix", "run"}
	for name, want := range map[string]string{
		"exlpore": "explore", "reply": "replay", "traces": "trace", "fxi": "fix", "rnu": "run", "deploy": "replay", "zzz": "", "x": "",
	} {
		got := Nearest("", name, names)
		if want != "" {
			want = " (did you mean " + want + "?)"
		}
		if got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
