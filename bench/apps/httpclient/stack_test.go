package httpclient

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cofferdam-go/cofferdam/bench/measure"
)

func newStack(v measure.Variant) stack {
	if v == measure.Heap {
		return newHeapStack()
	}
	return newGuardedStack(v)
}

func TestStackReturnsTheNewest(t *testing.T) {
	for _, v := range variants {
		t.Run(string(v), func(t *testing.T) {
			s := newStack(v)
			defer s.free()
			random := rand.New(rand.NewPCG(5, 5))
			var model []transfer
			pop := func() {
				top := len(model) - 1
				if got, ok := s.pop(); !ok || got != model[top] {
					t.Fatalf("popped %v, %v, want %v", got, ok, model[top])
				}
				model = model[:top]
				s.done()
			}
			for step := range 5000 {
				if len(model) > 0 && random.IntN(2) == 0 {
					pop()
					continue
				}
				x, err := newTransfer("domain", fmt.Sprint("/", step))
				if err != nil {
					t.Fatal(err)
				}
				s.push(x)
				model = append(model, x)
			}
			for len(model) > 0 {
				pop()
			}
			if got, ok := s.pop(); ok {
				t.Errorf("popped %v although every transfer was made", got)
			}
		})
	}
}

// Each transfer leads to two others, down to a depth. Whoever finds the stack
// empty has to wait for those that are being made.
func TestPopWaitsForWhatATransferLeadsTo(t *testing.T) {
	const depth = 10
	for _, v := range variants {
		t.Run(string(v), func(t *testing.T) {
			s := newStack(v)
			defer s.free()
			s.push(transfer{})
			var made atomic.Int64
			var all sync.WaitGroup
			for range 4 {
				all.Go(func() {
					for {
						x, ok := s.pop()
						if !ok {
							return
						}
						if x.path.length < depth {
							x.path.length++
							s.push(x)
							s.push(x)
						}
						s.done()
						made.Add(1)
					}
				})
			}
			all.Wait()
			if n := made.Load(); n != 1<<(depth+1)-1 {
				t.Errorf("%d transfers were made, of %d", n, 1<<(depth+1)-1)
			}
		})
	}
}

func TestStopEndsTheWaiting(t *testing.T) {
	for _, v := range variants {
		t.Run(string(v), func(t *testing.T) {
			s := newStack(v)
			defer s.free()
			s.push(transfer{})
			s.pop() // and is never done
			var all sync.WaitGroup
			for range 3 {
				all.Go(func() {
					if _, ok := s.pop(); ok {
						t.Error("popped from an empty stack")
					}
				})
			}
			s.push(transfer{})
			s.stop()
			all.Wait()
		})
	}
}
