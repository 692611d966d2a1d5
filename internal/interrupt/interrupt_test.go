//go:build linux && amd64

package interrupt

import (
	"math/rand"
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
	code := func(f any) uintptr { return reflect.ValueOf(f).Pointer() }
	for name, test := range map[string]struct {
		entry uintptr
		some  bool
	}{
		"a loop":                             {code(count), true},
		"a function that defers":             {code(defers), false},
		"assembly":                           {handlerPC(), false},
		"the runtime":                        {code(runtime.GC), false},
		"a package without locks":            {code((*strings.Replacer).Replace), true},
		"a package with locks":               {code((*rand.Rand).Int63), false},
		"the library's inner parts":          {code(reflect.ValueOf), false},
		"what is made of a method by itself": {wrapper(), true},
	} {
		entry := test.entry
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

// wrapper returns where the function begins that the compiler has made of kept's method.
func wrapper() uintptr {
	m, _ := reflect.TypeOf(keeper).MethodByName("Keep")
	return m.Func.Pointer()
}

// TestPackageOf: names of functions say which package they are in.
func TestPackageOf(t *testing.T) {
	for name, want := range map[string]string{
		"main.main":                             "main",
		"strings.(*Replacer).Replace":           "strings",
		"math/big.nat.mul":                      "math/big",
		"go.uber.org/zap.New":                   "go.uber.org/zap",
		"gopkg.in/yaml%2ev3.Unmarshal.func1":    "gopkg.in/yaml%2ev3",
		"slices.Sort[go.shape.[]a/b.T,a/b.T]":   "slices",
		"example.com/a.(*List[a/b.T]).PushBack": "example.com/a",
	} {
		if got := packageOf(name); got != want {
			t.Errorf("%s is in %s, not %s", name, want, got)
		}
	}
}

// TestThereIsRoomForTheFunctionsThatAreKnown: one for which there is none is left out.
func TestThereIsRoomForTheFunctionsThatAreKnown(t *testing.T) {
	if !Supported() {
		t.Fatal("not supported")
	}
	for name, ranges := range map[string][]uint64{
		"movers": control.known.movers[:], "bodies": control.known.bodies[:], "fillers": control.known.fillers[:],
	} {
		if ranges[0] == 0 || ranges[len(ranges)-1] != 0 {
			t.Errorf("%d %s are all, or none is known", len(ranges), name)
		}
	}
	if control.known.allocators[0] == 0 || control.known.holders[0] == 0 {
		t.Error("the first allocator or the first holder is not known")
	}
}
