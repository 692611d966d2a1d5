package main

import (
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/instrument"
	"github.com/cofferdam-go/cofferdam/internal/instrument/hooks"
)

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

// TestWhatIsMissedIsToldOnceForEachKind: a package may have one construct that cannot be rewritten
// in a hundred places.
func TestWhatIsMissedIsToldOnceForEachKind(t *testing.T) {
	build := &explore.Build{Program: &instrument.Program{
		Packages: []instrument.Package{{Path: "p", Mode: hooks.Memory}},
		Missed: []hooks.Missed{
			{Package: "p", File: "a.go", Line: 1, What: "load of x", Why: "no name"},
			{Package: "p", File: "a.go", Line: 2, What: "store of y", Why: "no name"},
			{Package: "p", File: "b.go", Line: 3, What: "load of x", Why: "no name"},
			{Package: "other", File: "c.go", Line: 4, What: "load of x", Why: "no name"},
		},
	}}
	var once, every strings.Builder
	warnMissed(&once, build, false)
	warnMissed(&every, build, true)
	const first, second, third = "cofferdam: not under control: a.go:1: load of x: no name", "cofferdam: not under control: a.go:2: store of y: no name\n", "cofferdam: not under control: b.go:3: load of x: no name\n"
	if want := first + " (and at 1 other place; all with -v)\n" + second; once.String() != want {
		t.Errorf("%q, want %q", once.String(), want)
	}
	if want := first + "\n" + second + third; every.String() != want {
		t.Errorf("%q, want %q", every.String(), want)
	}
}
