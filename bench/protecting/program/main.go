// Program is what go run ./bench protect measures: six data structures and three
// applications that know nothing of Cofferdam. It is built several times, with and
// without protection, and each of the programs runs the same trials when it is told
// to.
//
// main.go serves the trials, structures.go and tree.go are the structures; the applications
// are those of package apps.
package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"sync"

	"github.com/cofferdam-go/cofferdam/bench/apps"
	"github.com/cofferdam-go/cofferdam/bench/measure"
)

// A request asks to prepare a trial, to run it, or to close it.
type request struct {
	Do    string `json:"do"`
	Quick bool   `json:"quick"`
	Case  int    `json:"case"`
}

// A named case.
type named struct {
	Name       string  `json:"name"`
	Goroutines float64 `json:"goroutines"`
	Ops        int     `json:"ops"`
}

func main() {
	var trial measure.Trial
	var cases []measure.Case
	code := measure.Serve(os.Stdin, os.Stdout, func(r request) (answer any, err error) {
		if cases == nil {
			cases = all(r.Quick)
		}
		switch r.Do {
		case "cases":
			var list []named
			for _, c := range cases {
				list = append(list, named{c.Name, c.Params[measure.Goroutines], c.Ops})
			}
			return list, nil
		case measure.PrepareTrial:
			for _, c := range cases[r.Case].Contenders {
				if c.Variant == measure.Heap {
					trial = c.Prepare()
				}
			}
			runtime.GC()
		case measure.RunTrial:
			trial.Run()
		case measure.CloseTrial:
			if trial.Close != nil {
				err = trial.Close()
			}
			trial = measure.Trial{}
		default:
			err = fmt.Errorf("the program cannot %q", r.Do)
		}
		return measure.Took{}, err
	})
	if err := apps.Cleanup(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

// all are the cases: each structure with one and with four goroutines, half of the
// operations writing, and the applications.
func all(quick bool) []measure.Case {
	var cases []measure.Case
	for _, k := range kinds {
		for _, n := range []int{1, 4} {
			ops := 1_000_000
			if k.name == "list" || k.name == "tree" {
				ops = 300_000
			}
			if quick {
				ops /= 5
			}
			cases = append(cases, measure.Case{
				Name: k.name, Params: measure.Params{measure.Goroutines: float64(n)}, Ops: ops,
				Contenders: []measure.Contender{{Variant: measure.Heap, Prepare: func() measure.Trial {
					s := k.make()
					fill(s, k.size)
					return measure.Trial{
						Run:   func() { stress(s, n, ops, 2*uint64(k.size)) },
						Close: func() error { return check(s) },
					}
				}}},
			})
		}
	}
	return append(cases, apps.Cases(quick)...)
}

func fill(s structure, size int) {
	random := rand.NewPCG(0, 0)
	for s.Len() < size {
		s.Insert(random.Uint64()%(2*uint64(size)), 1)
	}
}

// stress has goroutines perform random operations, half of them writing.
func stress(s structure, goroutines, ops int, keys uint64) {
	var wg sync.WaitGroup
	for i := range goroutines {
		wg.Go(func() {
			random := rand.NewPCG(uint64(i+1), 0)
			insert := true
			for range ops / goroutines {
				bits := random.Uint64()
				key := bits >> 32 % keys
				switch {
				case bits&1 == 0:
					s.Read(key)
				case insert:
					s.Insert(key, bits)
					insert = false
				default:
					s.Delete(key)
					insert = true
				}
			}
		})
	}
	wg.Wait()
}

// check empties the structure, and compares what was in it with its size.
func check(s structure) error {
	n, size := 0, s.Len()
	for key := range uint64(1 << 13) {
		for {
			if _, ok := s.Delete(key); !ok {
				break
			}
			n++
		}
	}
	if n != size || s.Len() != 0 {
		return errors.New("a structure has lost entries")
	}
	return nil
}
