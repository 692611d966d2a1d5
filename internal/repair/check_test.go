package repair

import "testing"

func TestFirstLinesBecomeOne(t *testing.T) {
	for text, want := range map[string]string{"\na\nb\nc\n": "a; b", "a": "a", "": ""} {
		if got := firstLines(text, 2); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}
