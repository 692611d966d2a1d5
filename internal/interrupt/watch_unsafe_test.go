//go:build linux && amd64

package interrupt

import (
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

// TestAGoroutineThatCountsIsInterrupted: when a word that it depends on changes, and not
// before.
func TestAGoroutineThatCountsIsInterrupted(t *testing.T) {
	if !Supported() {
		t.Fatal("not supported")
	}
	word := new(uint64)
	seen.interruptible, seen.words = 1, []reading{{word, 0}}
	g := make(chan uintptr)
	ended := make(chan any)
	go func() {
		defer func() { ended <- recover() }()
		g <- page.G()
		ended <- count(-1)
	}()
	w, ok := Start(View{
		G: <-g, Interruptible: address(&seen.interruptible), Interrupted: address(&seen.interrupted),
		Words: address(&seen.words), Pointers: address(&seen.none), Parts: address(&seen.none),
	})
	if !ok {
		t.Fatal("no slot")
	}
	defer w.Stop()
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
	for {
		Poke()
		w.Judge()
		select {
		case v := <-ended:
			if _, ok := v.(error); !ok || seen.interrupted != 1 {
				t.Fatalf("it ended with %v, interrupted %d", v, seen.interrupted)
			}
			return
		default:
		}
	}
}

func address[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }
