//go:build linux && amd64

package interrupt

import (
	"reflect"
	"runtime"
	"strings"
	"testing"
)

// count counts for ever, unless n is reached.
//
//go:noinline
func count(n int) (i int) {
	for i != n {
		i++
		if i < 0 {
			i = 0
		}
	}
	return i
}

func TestTheTablesOfThisVersionOfGoAreKnown(t *testing.T) {
	if !Supported() {
		t.Fatal("the runtime's tables are not those that are known: nothing is interrupted")
	}
}

// TestWhatIsSafe goes through all program counters of functions.
func TestWhatIsSafe(t *testing.T) {
	if !Supported() {
		t.Fatal("not supported")
	}
	for name, test := range map[string]struct {
		f    any
		some bool
	}{
		"a loop":                    {count, true},
		"a function that defers":    {defers, false},
		"assembly":                  {handlerPC, false},
		"the runtime":               {runtime.GC, false},
		"a package with locks":      {(*strings.Replacer).Replace, true}, // strings has none
		"the library's inner parts": {reflect.ValueOf, false},
	} {
		entry := reflect.ValueOf(test.f).Pointer()
		safe := 0
		for pc := entry; runtime.FuncForPC(pc) != nil && runtime.FuncForPC(pc).Entry() == entry; pc++ {
			from, to, defers, ok := safeRange(pc)
			if ok && !defers {
				safe++
				if pc < from || to <= pc || from < entry {
					t.Errorf("%s: %#x is not in its range from %#x to %#x", name, pc, from, to)
				}
			}
		}
		if test.some != (safe > 0) {
			t.Errorf("%s: %d program counters are safe", name, safe)
		}
	}
}
