//go:build linux && amd64

package interrupt

import (
	"reflect"
	"runtime"
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/cofferdam-go/cofferdam/internal/page"
)

// A reading is what a transaction's log has.
type reading struct {
	addr *uint64
	val  uint64
}

// seen is what the handler sees: it must stay where it is, as stacks do not.
var seen struct {
	interruptible, interrupted uint32
	words, none                []reading
}

// countOn counts for ever.
func countOn() { counted = count(-1) }

// counted has what it came to.
var counted int

// TestAGoroutineThatCountsIsInterrupted: when a word that it depends on changes, and not
// before.
func TestAGoroutineThatCountsIsInterrupted(t *testing.T) {
	w, word, ended := watchDoomed(t, countOn)
	for range 100 {
		Poke()
		w.Judge()
	}
	select {
	case v := <-ended:
		t.Fatalf("it ended with %v although nothing has changed", v)
	default:
	}
	atomic.StoreUint64(word, 1)
	untilEnded(t, ended, Poke, w.Judge)
}

// move copies as much at once as it is given, again and again.
//
//go:noinline
func move(to, from []byte, enough *atomic.Bool) {
	for !enough.Load() {
		copy(to, from)
	}
}

// watchDoomed starts a goroutine, and a watch of it. The word is what it depends on.
func watchDoomed(t *testing.T, f func()) (w Watch, word *uint64, ended chan any) {
	t.Helper()
	word = new(uint64)
	seen.interruptible, seen.interrupted, seen.words = 1, 0, []reading{{word, 0}}
	g := make(chan uintptr)
	ended = make(chan any)
	go func() {
		defer func() { ended <- recover() }()
		g <- page.G()
		f()
	}()
	w, ok := Start(View{
		G: <-g, Interruptible: address(&seen.interruptible), Interrupted: address(&seen.interrupted),
		Words: address(&seen.words), Pointers: address(&seen.none), Parts: address(&seen.none),
	})
	if !ok {
		t.Fatal("no slot")
	}
	t.Cleanup(w.Stop)
	return w, word, ended
}

// TestAGoroutineInTheRuntimeIsSafeWhereItGoesOn: it is in a function of the runtime nearly all
// the time, and one look at it there is enough to know where it can be interrupted.
func TestAGoroutineInTheRuntimeIsSafeWhereItGoesOn(t *testing.T) {
	to, from := make([]byte, 1<<20), make([]byte, 1<<20)
	var enough atomic.Bool
	w, _, ended := watchDoomed(t, func() { move(to, from, &enough) })
	looked := ""
	for looked != "runtime.memmove" {
		Poke()
		if looked = ""; atomic.LoadUint64(&w.pc) != 0 {
			looked = runtime.FuncForPC(uintptr(atomic.LoadUint64(&w.pc))).Name()
		}
	}
	w.Judge()
	safe := atomic.LoadUint64(&w.safe)
	entry := reflect.ValueOf(move).Pointer()
	if safe == 0 || runtime.FuncForPC(control.base+uintptr(safe&(1<<32-1))).Entry() != entry {
		t.Errorf("seen in %s, where it goes on is not known: %#x", looked, safe)
	}
	enough.Store(true)
	<-ended
}

// fillings are loops that are in the runtime nearly all the time, moving memory to where nobody
// else has seen it yet.
var fillings = map[string]func(){
	"a slice of numbers": func() {
		var s []int
		for i := range 1 << 62 {
			s = append(s, i)
			counted = len(s)
		}
	},
	"a slice of pointers": func() {
		var s []struct{ a, b *int }
		for range 1 << 62 {
			s = append(s, struct{ a, b *int }{&counted, &counted})
			counted = len(s)
		}
	},
	"a slice that gets much at once": func() {
		var s []byte
		for range 1 << 62 {
			s = append(s, piece...)
			counted = len(s)
		}
	},
	"a long string": func() {
		s := string(piece)
		for range 1 << 62 {
			s += "x"
		}
	},
	"a string of three": func() {
		s := string(piece)
		for i := range 1 << 62 {
			s = s + string(rune('a'+i%26)) + "y"
		}
	},
	"bytes of a string": func() {
		for range 1 << 62 {
			counted = len(string(piece)) + len([]byte(string(piece)))
		}
	},
}

var piece = make([]byte, 1<<16)

// TestAGoroutineIsInterruptedWhileTheRuntimeFillsMemoryForIt: it need not be met outside.
func TestAGoroutineIsInterruptedWhileTheRuntimeFillsMemoryForIt(t *testing.T) {
	for name, fill := range fillings {
		t.Run(name, func(t *testing.T) {
			const most = 200
			for range most {
				var where string
				w, word, ended := watchDoomed(t, func() {
					defer func() { where = innermost() }()
					fill()
				})
				atomic.StoreUint64(word, 1)
				untilEnded(t, ended, Poke, w.Judge)
				w.Stop()
				if where == "runtime.memmove" || where == "runtime.memclrNoHeapPointers" {
					return
				}
			}
			t.Errorf("it was interrupted %d times, and never while it moved memory", most)
		})
	}
}

// innermost returns the function that has panicked, in a function that is deferred by another.
func innermost() string {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(0, pcs[:])])
	for more := true; more; {
		var f runtime.Frame
		if f, more = frames.Next(); f.Function == "runtime.sigpanic" && more {
			f, _ = frames.Next()
			return f.Function
		}
	}
	return ""
}

// turn is a call that does not end a loop.
//
//go:noinline
func turn(i int) int { return i ^ 2 }

// deferring are functions that defer something, and are nearly always in their own code: it is
// their calls that can be interrupted. What they defer says whether it saw what never was.
var deferring = map[string]func(wrong *bool){
	"a loop with calls": func(wrong *bool) {
		texts := []string{"", "abc", string(piece)}
		text := texts[0]
		defer func() { *wrong = text != texts[0] && text != texts[1] && text != texts[2] }()
		for i := 1; i != 0; i++ {
			text = texts[uint(i)%3]
			counted = turn(len(text))
		}
	},
	"a loop that defers": func(wrong *bool) {
		begun, ended := 0, 0
		defer func() { *wrong = begun != ended && begun != ended+1 }()
		for i := 1; i != 0; i++ {
			func() {
				begun++
				defer func() { ended++ }()
				counted = turn(i)
			}()
		}
	},
	"a recursion": func(wrong *bool) {
		begun, ended := 0, 0
		defer func() { *wrong = begun != ended && begun != ended+1 }()
		var down func(n int)
		down = func(n int) {
			begun++
			defer func() { ended++ }()
			down(n + 1)
		}
		down(0)
	},
	"a recursion that allocates": func(wrong *bool) {
		var down func(n int, above []int)
		down = func(n int, above []int) {
			here := []int{n}
			defer func() { *wrong = *wrong || here[0] != n || n > 0 && above[0] != n-1 }()
			down(n+1, here)
		}
		down(0, nil)
	},
}

// TestAGoroutineThatDefersIsInterruptedInItsCalls: as if what it calls had panicked.
func TestAGoroutineThatDefersIsInterruptedInItsCalls(t *testing.T) {
	for name, f := range deferring {
		t.Run(name, func(t *testing.T) {
			for range 20 {
				var wrong bool
				w, word, ended := watchDoomed(t, func() { f(&wrong) })
				atomic.StoreUint64(word, 1)
				untilEnded(t, ended, Poke, w.Judge)
				w.Stop()
				if wrong {
					t.Fatal("a deferred function saw what never was")
				}
			}
		})
	}
}

// TestAlarmsLookAtADoomedGoroutine: nothing else does.
func TestAlarmsLookAtADoomedGoroutine(t *testing.T) {
	w, word, ended := watchDoomed(t, countOn)
	atomic.StoreUint64(word, 1)
	untilEnded(t, ended, setAlarms, w.Judge)
	w.Stop()
	if len(alarms.of) != 0 {
		t.Errorf("%d threads have an alarm although nothing is watched", len(alarms.of))
	}
}

// untilEnded calls functions until a goroutine has been interrupted.
func untilEnded(t *testing.T, ended chan any, again ...func()) {
	t.Helper()
	for {
		for _, f := range again {
			f()
		}
		select {
		case v := <-ended:
			if _, ok := v.(error); !ok || seen.interrupted != 1 {
				t.Fatalf("it ended with %v, interrupted %d", v, seen.interrupted)
			}
			return
		default:
			runtime.Gosched()
		}
	}
}

func address[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }
