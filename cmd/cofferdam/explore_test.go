package main

import "testing"

func TestTheHintToReplayWorksAsPrinted(t *testing.T) {
	for _, test := range []struct{ dir, file, want string }{
		{"", "TestX.trace", "cofferdam replay TestX.trace"},
		{"examples/races", "out/TestX.trace", "cofferdam replay -C examples/races out/TestX.trace"},
		{"my project", "it's.trace", `cofferdam replay -C 'my project' 'it'\''s.trace'`},
		{"", "-x.trace", "cofferdam replay ./-x.trace"},
	} {
		if got := replayCommand(test.dir, test.file); got != test.want {
			t.Errorf("%s, want %s", got, test.want)
		}
	}
}
