//go:build race

package stm_test

// What the race detector says, in processes of their own: a plain access that races
// with a transaction is reported, in every mode; privatisation, publication,
// neighbours in one word, doomed readers and goroutines that come and go are not.

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/cofferdam-go/cofferdam/stm"
)

// A scene is a small program that has a race, or does not.
type scene struct {
	races bool
	play  func(t *testing.T, o stm.Options)
}

// both runs two functions that nothing orders. Neither goroutine ends before the
// other's function has: to the race detector one that takes the place of another is
// the same.
func both(a, b func()) {
	var done, ended sync.WaitGroup
	done.Add(2)
	for _, f := range []func(){a, b} {
		ended.Go(func() {
			f()
			done.Done()
			done.Wait()
		})
	}
	ended.Wait()
}

// atomically is for those who do not care for errors.
func atomically(o stm.Options, fn func(tx *stm.Tx)) {
	o.Atomically(func(tx *stm.Tx) error { fn(tx); return nil })
}

// unseen is an event that orders nothing in the eyes of the race detector, so that
// only the transactions do.
type unseen struct{ happened bool }

//go:norace
//go:noinline
func (u *unseen) set() { u.happened = true }

//go:norace
//go:noinline
func (u *unseen) get() bool { return u.happened }

func (u *unseen) wait() {
	for !u.get() {
		runtime.Gosched()
	}
}

type neighbours struct{ a, b, c, d, e, f, g, h byte }

var scenes = map[string]scene{
	"plain write, transaction reads": {true, func(t *testing.T, o stm.Options) {
		x := new(int)
		both(func() { *x = 1 }, func() { atomically(o, func(tx *stm.Tx) { stm.Load(tx, x) }) })
	}},
	"plain read, transaction writes": {true, func(t *testing.T, o stm.Options) {
		x := new(int)
		both(func() { _ = fmt.Sprint(*x) }, func() { atomically(o, func(tx *stm.Tx) { stm.Store(tx, x, 1) }) })
	}},
	"plain write, transaction writes": {true, func(t *testing.T, o stm.Options) {
		x := new(int)
		both(func() { *x = 1 }, func() { atomically(o, func(tx *stm.Tx) { stm.Store(tx, x, 1) }) })
	}},
	"plain write of a pointer, transaction reads": {true, func(t *testing.T, o stm.Options) {
		x := new(*int)
		both(func() { *x = new(int) }, func() { atomically(o, func(tx *stm.Tx) { stm.Load(tx, x) }) })
	}},
	"plain write of a byte, transaction writes it": {true, func(t *testing.T, o stm.Options) {
		x := new(neighbours)
		both(func() { x.b = 1 }, func() { atomically(o, func(tx *stm.Tx) { stm.Store(tx, &x.b, 1) }) })
	}},
	"plain write of a field, transaction reads the struct": {true, func(t *testing.T, o stm.Options) {
		x := new(wideValue)
		both(func() { x.tail[1] = 1 }, func() { atomically(o, func(tx *stm.Tx) { stm.Load(tx, x) }) })
	}},
	"plain write of what was published": {true, func(t *testing.T, o stm.Options) {
		head, written := new(*node), new(unseen)
		both(func() {
			n := &node{index: 1}
			atomically(o, func(tx *stm.Tx) { stm.Store(tx, head, n) })
			n.index = 2
			written.set()
		}, func() {
			written.wait()
			atomically(o, func(tx *stm.Tx) { stm.Load(tx, &stm.Load(tx, head).index) })
		})
	}},
	"plain write, copy": {true, func(t *testing.T, o stm.Options) {
		x := make([]int, 4)
		both(func() { x[2] = 1 }, func() { stm.Copy(make([]int, 4), x) })
	}},
	"copies among transactions": {false, func(t *testing.T, o stm.Options) {
		x := make([]int, 4)
		both(func() {
			for range 1000 {
				atomically(o, increment(&x[2]))
			}
		}, func() {
			for range 1000 {
				stm.Copy(make([]int, 4), x)
			}
		})
	}},
	"transactions only": {false, func(t *testing.T, o stm.Options) {
		x := new(int)
		both(func() { atomically(o, increment(x)) }, func() { atomically(o, increment(x)) })
	}},
	"transactions that only read, among others": {false, func(t *testing.T, o stm.Options) {
		x := new(int)
		both(func() {
			for range 3000 {
				atomically(o, increment(x))
			}
		}, func() {
			for range 3000 {
				atomically(o, func(tx *stm.Tx) { stm.Load(tx, x) })
			}
		})
	}},
	"privatisation": {false, func(t *testing.T, o stm.Options) {
		for range 20 {
			for _, c := range companies {
				if c.Mode == o.Mode {
					testPrivatised(t, c)
				}
			}
		}
	}},
	"privatisation among readers": {false, func(t *testing.T, o stm.Options) {
		head := &node{index: 1, text: "shared"}
		look := func() {
			for range 2000 {
				atomically(o, func(tx *stm.Tx) {
					if p := stm.Load(tx, &head); p != nil {
						stm.Load(tx, &p.index)
						stm.Load(tx, &p.text)
					}
				})
			}
		}
		own := func() {
			for i := range 2000 {
				p, _ := stm.ValueWith(o, func(tx *stm.Tx) (*node, error) {
					p := stm.Load(tx, &head)
					stm.Store(tx, &head, nil)
					return p, nil
				})
				p.index, p.text = i, fmt.Sprint("private ", i)
				atomically(o, func(tx *stm.Tx) { stm.Store(tx, &head, p) })
			}
		}
		both(own, func() { both(look, look) })
	}},
	"publication": {false, func(t *testing.T, o stm.Options) {
		for range 500 {
			var head *node
			both(func() {
				n := &node{index: 1, text: fmt.Sprint("published ", t.Name())}
				atomically(o, func(tx *stm.Tx) { stm.Store(tx, &head, n) })
			}, func() {
				p, _ := stm.ValueWith(o, func(tx *stm.Tx) (*node, error) {
					p := stm.Load(tx, &head)
					if p == nil {
						stm.Retry(tx)
					}
					return p, nil
				})
				if p.index != 1 || len(p.text) < 10 {
					t.Errorf("published %+v", p)
				}
			})
		}
	}},
	"publication, looked at in a transaction that began before": {false, func(t *testing.T, o stm.Options) {
		for range 20 {
			var head *node
			var text string
			begun, done := make(chan bool), new(unseen)
			both(func() {
				<-begun
				n := &node{index: 1, text: fmt.Sprint("published ", t.Name())}
				commit(func(tx *stm.Tx) {
					stm.Store(tx, &head, n)
					stm.Store(tx, &text, strings.ToUpper(n.text))
				})
				done.set()
			}, func() {
				me, first := myTx(), true
				atomically(o, func(tx *stm.Tx) {
					if tx == me && first {
						first = false
						close(begun)
						done.wait()
					}
					// Immutable since it was published: nobody needs Load for its fields.
					if p := stm.Load(tx, &head); p != nil && (p.index != 1 || p.text[0] != 'p') {
						t.Errorf("published %+v", p)
					}
					if s := stm.Load(tx, &text); s != "" && s[0] != 'P' {
						t.Errorf("published %q", s)
					}
				})
			})
		}
	}},
	"neighbours in a word": {false, func(t *testing.T, o stm.Options) {
		x := new(neighbours)
		both(func() {
			for range 1000 {
				x.b++
				x.g++
			}
		}, func() {
			for range 1000 {
				atomically(o, func(tx *stm.Tx) { stm.Store(tx, &x.a, stm.Load(tx, &x.a)+1) })
			}
		})
		if x.a != 1000%256 || x.b != 1000%256 {
			t.Errorf("%+v", *x)
		}
	}},
	"neighbours between two bytes": {false, func(t *testing.T, o stm.Options) {
		x := new(neighbours)
		both(func() {
			for range 1000 {
				x.c++
			}
		}, func() {
			for range 1000 {
				atomically(o, func(tx *stm.Tx) {
					stm.Store(tx, &x.a, stm.Load(tx, &x.a)+1)
					stm.Store(tx, &x.e, stm.Load(tx, &x.e)+1)
				})
			}
		})
	}},
	"goroutines that come and go": {false, func(t *testing.T, o stm.Options) {
		x := new(int)
		come := func() {
			for range 200 {
				go atomically(o, increment(x)) // nobody waits for it
				runtime.Gosched()
			}
		}
		both(come, come)
	}},
	"irrevocable effects": {false, func(t *testing.T, o stm.Options) {
		var x, effects int
		act := func() {
			for range 200 {
				atomically(o, func(tx *stm.Tx) {
					increment(&x)(tx)
					tx.Irrevocable()
					effects++
				})
			}
		}
		both(act, act)
	}},
	"handed over by Retry": {false, func(t *testing.T, o stm.Options) {
		var full bool
		var box int // belongs to the producer while it is empty, or else to the consumer
		wait := func(state bool) {
			atomically(o, func(tx *stm.Tx) {
				if stm.Load(tx, &full) != state {
					stm.Retry(tx)
				}
			})
		}
		set := func(state bool) { atomically(o, func(tx *stm.Tx) { stm.Store(tx, &full, state) }) }
		both(func() {
			for i := range 300 {
				wait(false)
				box = i
				set(true)
			}
		}, func() {
			for i := range 300 {
				wait(true)
				if box != i {
					t.Errorf("got %d, want %d", box, i)
				}
				set(false)
			}
		})
	}},
}

func TestRaceDetectorReportsRacesAndNothingElse(t *testing.T) {
	for name, s := range scenes {
		t.Run(name, func(t *testing.T) {
			inEveryMode(t, func(t *testing.T, o stm.Options) {
				if isAlone(t) {
					s.play(t, o)
					return
				}
				out, err := child(t, t.Name())
				if reported := strings.Contains(string(out), "WARNING: DATA RACE"); reported != s.races || !s.races && err != nil {
					t.Errorf("a race was reported: %v, want %v; %v\n%s", reported, s.races, err, out)
				}
			})
		})
	}
}

func TestTxIsOfNoUseInAnotherGoroutine(t *testing.T) {
	for name, access := range map[string]func(tx *stm.Tx, p *int){
		"load":  func(tx *stm.Tx, p *int) { stm.Load(tx, p) },
		"store": func(tx *stm.Tx, p *int) { stm.Store(tx, p, 1) },
	} {
		t.Run(name, func(t *testing.T) {
			var got any
			stm.Atomically(func(tx *stm.Tx) error {
				done := make(chan bool)
				go func() {
					defer close(done)
					defer func() { got = recover() }()
					access(tx, new(int))
				}()
				<-done
				return nil
			})
			if message, _ := got.(string); !strings.Contains(message, "another goroutine") {
				t.Errorf("the access ended with %v", got)
			}
		})
	}
}
