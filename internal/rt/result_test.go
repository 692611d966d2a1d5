package rt_test

import (
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/event"
	. "github.com/cofferdam-go/cofferdam/internal/rt"
)

// function returns the name of the function that a program counter returns to.
func function(pc uintptr) string {
	f, _ := runtime.CallersFrames([]uintptr{pc}).Next()
	return f.Function[strings.LastIndexByte(f.Function, '.')+1:]
}

//go:noinline
func outer(x *int) {
	defer Leave(Enter(11))
	inner(x)
}

//go:noinline
func inner(x *int) {
	defer Leave(Enter(12))
	Add(x, 1, 1, 2)
}

func TestRacesHaveBothStacks(t *testing.T) {
	x := heap(0)
	r := Run(Config{Races: true, Strategy: &first{}}, func() {
		Go(1, func() { outer(x) })
		inner(x)
	})
	if len(r.Races) != 2 {
		t.Fatalf("%+v", r.Races)
	}
	for _, x := range r.Races {
		if x.First.G != 1 || x.Second.G != 2 {
			t.Errorf("goroutines %d and %d", x.First.G, x.Second.G)
		}
		if x.First.Size != 8 || x.First.Addr != x.Second.Addr {
			t.Errorf("%+v", x)
		}
		a, b := r.Frames.Stack(x.First.Frame), r.Frames.Stack(x.Second.Frame)
		if len(a) != 1 || a[0].Site != 12 {
			t.Errorf("first stack %v", a)
		}
		if len(b) != 2 || b[0].Site != 12 || b[1].Site != 11 || function(b[0].PC) != "outer" {
			t.Errorf("second stack %v, called from %s", b, function(b[0].PC))
		}
	}
}

func TestDeadlockSaysWhoWaitsWhere(t *testing.T) {
	r := Run(Config{Races: true, Strategy: &first{}}, func() {
		a, b := heap(mutex{}), make(chan int)
		a.Lock()
		Go(1, func() { a.Lock() })
		Recv(b, 5)
	})
	if len(r.Failures) != 1 || r.Failures[0].Kind != event.FailureDeadlock {
		t.Fatalf("%+v", r.Failures)
	}
	all := r.Failures[0].Blocked
	if len(all) != 2 || all[0].Op.Kind != event.Recv || all[0].Op.Site != 5 || all[1].Op.Kind != event.Lock {
		t.Fatalf("%+v", all)
	}
	if pc, ok := r.Frames.PC(all[1].Op.Site); !ok || function(pc) != "Lock" {
		t.Errorf("waits in %q", function(pc))
	}
}

func TestRecordHasValuesInOrder(t *testing.T) {
	x := heap(uint8(5))
	list, _ := record(&first{}, func() {
		Add(x, 2, 1, 2)
		P(x).Set(9, 3)
		*A(x, event.AtomicCompare, 4) = 10
		New(heap(0), 5)
	})
	want := []string{
		"1 g1 start site 0 frame 0 @0+0 arg 0 [][]",
		"2 g1 load site 1 frame 0 @1+1 arg 0 [5] []",
		"3 g1 store site 2 frame 0 @1+1 arg 0 [5] [7]",
		"4 g1 store site 3 frame 0 @1+1 arg 0 [7] [9]",
		"5 g1 compare and swap site 4 frame 0 @1+1 arg 1 [9] [10]",
		"6 g1 alloc site 5 frame 0 @2+8 arg 1 [] []",
		"7 g1 end site 0 frame 0 @0+0 arg 0 [][]",
	}
	for i := range want {
		want[i] = strings.ReplaceAll(want[i], "[][]", "[] []")
	}
	if !slices.Equal(list, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(list, "\n"), strings.Join(want, "\n"))
	}
}

func TestRecordHasCalls(t *testing.T) {
	x := heap(0)
	list, _ := record(&first{}, func() { outer(x) })
	var got []string
	for _, l := range list {
		f := strings.Fields(l)
		got = append(got, f[2]+strings.Join(f[5:7], ""))
	}
	if want := "start0 call1 call2 load2 store2 return2 return1 end0"; strings.ReplaceAll(strings.Join(got, " "), "frame", "") != want {
		t.Errorf("got %s\n%s", got, strings.Join(list, "\n"))
	}
}

// TestStepsWithoutAChoiceAreAllowedFor: what one goroutine computes alone comes to its end, up to a
// multiple of the limit, and what it does beside another does not.
func TestStepsWithoutAChoiceAreAllowedFor(t *testing.T) {
	const limit = 100_000
	x := new(int)
	count := func(n int) {
		for range n {
			W(x, 0)
		}
	}
	for _, test := range []struct {
		name   string
		f      func()
		within int64
		cut    bool
	}{
		{"alone", func() { count(5 * limit) }, 1 << 60, false},
		{"alone, with no limit of time", func() { count(5 * limit) }, 0, true},
		{"alone, for long", func() { count(20 * limit) }, 1 << 60, true},
		{"beside another", func() { Go(0, func() { count(5 * limit) }); count(5 * limit) }, 1 << 60, true},
		{"after another has ended", func() {
			done := make(chan bool)
			Go(0, func() { Close(done, 0) })
			Recv(done, 0)
			count(5 * limit)
		}, 1 << 60, false},
	} {
		r := Run(Config{Strategy: &first{}, MaxSteps: limit, Within: test.within, Now: func() int64 { return 0 }}, test.f)
		if r.CutOff != test.cut {
			t.Errorf("%s: cut off %t after %d steps, want %t", test.name, r.CutOff, r.Steps, test.cut)
		}
	}
}

func TestARunIsCutOff(t *testing.T) {
	x := heap(0)
	r := Run(Config{Races: true, Strategy: &first{}, MaxSteps: 1000}, func() {
		for {
			*W(x, 1) = 1
		}
	})
	if !r.CutOff || r.Steps != 1000 {
		t.Errorf("cut off: %v after %d steps", r.CutOff, r.Steps)
	}
}

func TestEndedSeesTheRunBeforeItsLeftovers(t *testing.T) {
	taken, seen := 0, -1
	Run(Config{Races: true, Strategy: &first{}, Ended: func(r *Result) { seen = taken }}, func() {
		Go(1, func() { defer func() { taken++ }(); Block(1) })
	})
	if seen != 0 || taken != 1 {
		t.Errorf("%d, then %d", seen, taken)
	}
}

// TestFramesAreTheSameInEveryRun: calls from one frame, few or many, have the numbers
// that they had before.
func TestFramesAreTheSameInEveryRun(t *testing.T) {
	numbers := map[[2]uint32]uint32{} // by caller and site
	var calls func(depth uint32)
	calls = func(depth uint32) {
		for site := range 40 / (depth*depth + 1) {
			f := Enter(100*depth + site)
			number, caller := Numbers(f)
			key := [2]uint32{caller, 100*depth + site}
			if was, ok := numbers[key]; ok && was != number {
				t.Errorf("the call at site %d of frame %d has the numbers %d and %d", key[1], caller, was, number)
			}
			numbers[key] = number
			if depth < 3 {
				calls(depth + 1)
			}
			Leave(f)
		}
	}
	var found int
	for i := range 3 {
		Run(Config{Races: true, Strategy: &first{}}, func() { calls(0) })
		if i == 0 {
			found = len(numbers)
		}
	}
	different := map[uint32]bool{}
	for _, n := range numbers {
		different[n] = true
	}
	if len(numbers) != found || len(different) != found || found < 1000 {
		t.Errorf("%d calls with %d numbers, %d of them in the first run", len(numbers), len(different), found)
	}
}
