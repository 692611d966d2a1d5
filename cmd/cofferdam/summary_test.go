package main

import (
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/console"
	"github.com/cofferdam-go/cofferdam/internal/explore"
)

// TestOkIsSaidOnlyOfWhatWasSeen: runs that were cut off, or something outside control, have
// another word.
func TestOkIsSaidOnlyOfWhatWasSeen(t *testing.T) {
	for word, set := range map[string]func(*explore.Result){
		"ok  ": func(*explore.Result) {},
		"part": func(r *explore.Result) { r.Cut = 1 },
		"none": func(r *explore.Result) { r.NothingRan = 10 },
		"cut ": func(r *explore.Result) { r.Cut = 10 },
	} {
		res := &explore.Result{}
		res.Runs = 10
		set(res)
		if got := summary(console.Stream{}, "TestIt", res); !strings.HasPrefix(got, word) {
			t.Errorf("%q, want %q", got, word)
		}
	}
	for _, set := range []func(*explore.Result){func(r *explore.Result) { r.Outside = 1 }, func(r *explore.Result) { r.Before = 1 }} {
		res := &explore.Result{}
		res.Runs = 10
		set(res)
		if got := summary(console.Stream{}, "TestIt", res); !strings.HasPrefix(got, "part") || !res.Partly() {
			t.Errorf("%q", got)
		}
	}
}
