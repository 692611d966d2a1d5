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
