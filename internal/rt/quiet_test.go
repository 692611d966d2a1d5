package rt_test

import (
	"bytes"
	"slices"
	"sort"
	"strings"
	"testing"

	. "github.com/cofferdam-go/cofferdam/internal/rt"
	"github.com/cofferdam-go/cofferdam/internal/rt/frames"
)

// TestAnAccessBelowACallbackIsAtTheCallOfTheCallback: where the standard library calls the program back, and
// that calls the library again, the innermost call is the one.
func TestAnAccessBelowACallbackIsAtTheCallOfTheCallback(t *testing.T) {
	Shared = heap(0)
	r := Run(Config{Races: true, Strategy: &first{}}, func() {
		Go(1, func() { outerCall() })
		Go(2, func() { *W(Shared, 3) = 1 })
	})
	if len(r.Races) != 1 {
		t.Fatalf("%+v", r.Races)
	}
	site := r.Races[0].First.Site
	if site == 3 {
		site = r.Races[0].Second.Site
	}
	pc, _ := r.Frames.PC(site)
	if f := frames.Frame(pc); !strings.HasSuffix(f.Function, ".calledBack") {
		t.Errorf("the access is in %s", f.Function)
	}
}

//go:noinline
func outerCall() {
	defer Leave(Enter(4))
	LoadAndCallBack(heap(0), calledBack)
}

//go:noinline
func calledBack() {
	defer Leave(Enter(5))
	_ = slices.IndexFunc([]int{1}, LoadForLibrary[int])
}

// TestAnAccessOfTheStandardLibraryIsAtTheProgramsCall: however deep in the library the hook is
// called.
func TestAnAccessOfTheStandardLibraryIsAtTheProgramsCall(t *testing.T) {
	for name, call := range map[string]func(){
		"generic":  func() { _ = slices.IndexFunc([]int{1}, LoadForLibrary[int]) },
		"deep":     func() { slices.SortFunc([]int{1, 3, 2}, CompareForLibrary) },
		"search":   func() { _ = sort.Search(1, LoadForLibrary[int]) },
		"text":     func() { _ = strings.IndexFunc("a", LoadForLibrary[rune]) },
		"bytes":    func() { _ = bytes.IndexFunc([]byte("a"), LoadForLibrary[rune]) },
		"repeated": func() { _ = bytes.FieldsFunc([]byte("a b c"), LoadForLibrary[rune]) },
	} {
		Shared = heap(0)
		r := Run(Config{Races: true, Strategy: &first{}}, func() {
			Go(1, call)
			Go(2, func() { *W(Shared, 3) = 1 })
		})
		if len(r.Races) != 1 {
			t.Errorf("%s: %+v", name, r.Races)
			continue
		}
		site := r.Races[0].First.Site
		if site == 3 {
			site = r.Races[0].Second.Site
		}
		pc, ok := r.Frames.PC(site)
		if f := frames.Frame(pc); !ok || !strings.HasSuffix(f.File, "quiet_test.go") {
			t.Errorf("%s: the access is at %s:%d", name, f.File, f.Line)
		}
	}
}
