package stm_test

// Random small programs, run for real in every mode and on purpose badly
// interleaved, whose histories the checker must find legal: opaque in Eager mode,
// strictly serialisable in the others. The same programs on four toys, each an STM
// with one well-known mistake, must be found illegal: so the programs are rich
// enough to show the mistakes that this package could make.

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cofferdam-go/cofferdam/stm"
)

// A system is something that runs transactions over a few variables of 64 bits,
// each 0 at first.
type system struct {
	criterion criterion
	// make returns a way to run transactions over n fresh variables, for one
	// goroutine at a time each, and a way to look at memory when all is over.
	make func(n int) (run func(body func(memory) error) error, final func() []uint64)
}

// A memory is the variables in a transaction.
type memory struct {
	load   func(variable int) uint64
	store  func(variable int, value uint64)
	shadow bool // a clone's run, that nobody should hear of
}

// A step is one thing that a transaction does.
type step struct {
	kind     stepKind
	variable int
	other    int // for those that choose by what was read
	yields   int // before it
}

type stepKind int

const (
	read stepKind = iota
	write
	writeByParity // one of two variables, by what was read last
	failByParity  // return an error, by what was read last
	stepKinds
)

// A program is, for each goroutine, its transactions.
type program [][][]step

func randomProgram(rnd *rand.Rand, variables int) program {
	p := make(program, 2+rnd.IntN(3))
	for g := range p {
		p[g] = make([][]step, 1+rnd.IntN(6/len(p)))
		for t := range p[g] {
			steps := make([]step, 1+rnd.IntN(5))
			for i := range steps {
				steps[i] = step{stepKind(rnd.IntN(int(stepKinds))), rnd.IntN(variables), rnd.IntN(variables), 0}
				if steps[i].kind == failByParity && rnd.IntN(2) == 0 {
					steps[i].kind = read
				}
				if rnd.IntN(3) == 0 {
					steps[i].yields = 1 + rnd.IntN(3)
				}
			}
			p[g][t] = steps
		}
	}
	return p
}

var errByParity = errors.New("failed by parity")

// A recorder runs programs and makes their histories.
type recorder struct {
	moment atomic.Int64
	value  atomic.Uint64 // the last one that was written
	mu     sync.Mutex
	history
}

// record runs a program on a system.
func record(s system, p program, variables int) (history, error) {
	var rec recorder
	run, final := s.make(variables)
	var start, all sync.WaitGroup
	start.Add(len(p))
	errs := make([]error, len(p))
	for g := range p {
		all.Go(func() {
			start.Done()
			start.Wait()
			for _, steps := range p[g] {
				if err := rec.transaction(run, steps); err != nil {
					errs[g] = err
				}
			}
		})
	}
	all.Wait()
	rec.history.final = final()
	return rec.history, errors.Join(errs...)
}

// transaction runs one and records its attempts.
func (rec *recorder) transaction(run func(func(memory) error) error, steps []step) error {
	var attempts []attempt
	var wrong error
	end := func() {
		if n := len(attempts); n != 0 && attempts[n-1].end == 0 {
			attempts[n-1].end = rec.moment.Add(1)
		}
	}
	begin := rec.moment.Add(1)
	err := run(func(m memory) error {
		a := attempt{ending: conflict}
		var failure error
		if m.shadow {
			return rec.steps(m, steps, &a, &failure)
		}
		end()
		a.begin = begin
		begin = rec.moment.Add(1) // of the next attempt, if there is one
		attempts = append(attempts, a)
		result := rec.steps(m, steps, &attempts[len(attempts)-1], &failure)
		if failure != nil {
			wrong = failure
		}
		return result
	})
	end()
	last := &attempts[len(attempts)-1]
	switch {
	case err == nil:
		last.ending = committed
	case errors.Is(err, errByParity):
		last.ending = failed
	default:
		return err
	}
	rec.mu.Lock()
	defer rec.mu.Unlock()
	rec.attempts = append(rec.attempts, attempts...)
	return wrong
}

// steps is the function of a transaction.
func (rec *recorder) steps(m memory, steps []step, a *attempt, wrong *error) error {
	last := uint64(0)
	own := map[int]uint64{}
	for _, s := range steps {
		for range s.yields {
			runtime.Gosched()
		}
		switch s.kind {
		case read:
			last = m.load(s.variable)
			if v, ok := own[s.variable]; !ok {
				a.reads = append(a.reads, access{s.variable, last})
			} else if v != last {
				*wrong = fmt.Errorf("a transaction wrote %#x to variable %d and then read %#x", v, s.variable, last)
			}
		case write, writeByParity:
			variable := s.variable
			if s.kind == writeByParity && last&1 != 0 {
				variable = s.other
			}
			v := rec.value.Add(1)
			m.store(variable, v)
			own[variable] = v
			a.writes = append(a.writes, access{variable, v})
		case failByParity:
			if last&1 != 0 {
				return errByParity
			}
		default:
			panic(fmt.Sprintf("unknown step %v", s.kind))
		}
	}
	return nil
}

// A cell is a variable in one of several shapes, as each has its own way through
// the logs.
type cell struct {
	word    uint64
	pointer *uint64
	wide    wide
}

type wide struct {
	half uint32
	text string
	word uint64
}

const torn = ^uint64(0)

func (c *cell) load(tx *stm.Tx, shape int) uint64 {
	switch shape % 3 {
	case 0:
		return stm.Load(tx, &c.word)
	case 1:
		if p := stm.Load(tx, &c.pointer); p != nil {
			return *p
		}
		return 0
	default:
		v := stm.Load(tx, &c.wide)
		if v.text == "" && v.word == 0 && v.half == 0 {
			return 0
		}
		if v.text != fmt.Sprint(v.word) || v.half != uint32(v.word) {
			return torn // which nobody has written: the checker will say so
		}
		return v.word
	}
}

func (c *cell) store(tx *stm.Tx, shape int, v uint64) {
	switch shape % 3 {
	case 0:
		stm.Store(tx, &c.word, v)
	case 1:
		stm.Store(tx, &c.pointer, &v)
	default:
		stm.Store(tx, &c.wide, wide{uint32(v), fmt.Sprint(v), v})
	}
}

// ours is this package, in a mode; lean transactions have no log of what they read.
func ours(mode stm.Mode, c criterion, lean bool) system {
	return system{c, func(n int) (func(func(memory) error) error, func() []uint64) {
		cells := make([]cell, n)
		o := stm.Options{Mode: mode}
		run := func(body func(memory) error) error {
			leader := myTx()
			if lean {
				stm.BeLean()
			}
			return o.Atomically(func(tx *stm.Tx) error {
				return body(memory{
					func(i int) uint64 { return cells[i].load(tx, i) },
					func(i int, v uint64) { cells[i].store(tx, i, v) },
					tx != leader,
				})
			})
		}
		final := func() []uint64 {
			values := make([]uint64, n)
			stm.Atomically(func(tx *stm.Tx) error {
				for i := range values {
					values[i] = cells[i].load(tx, i)
				}
				return nil
			})
			return values
		}
		return run, final
	}}
}

// myTx is the calling goroutine's Tx. It tells a leader from its clone.
func myTx() (mine *stm.Tx) {
	stm.Atomically(func(tx *stm.Tx) error { mine = tx; return nil })
	return mine
}

func TestRandomHistoriesAreLegal(t *testing.T) {
	histories := times(5000)
	for name, mode := range modes {
		testRandomHistories(t, name, mode, histories, false)
	}
	testRandomHistories(t, "lean", stm.Eager, histories, true)
	testRandomHistories(t, "lean timer", stm.Timer, histories, true)
}

func testRandomHistories(t *testing.T, name string, mode stm.Mode, histories int, lean bool) {
	t.Run(name, func(t *testing.T) {
		c := serialisable
		if mode == stm.Eager {
			c = opaque
		}
		seed := rand.Uint64()
		rnd := rand.New(rand.NewPCG(seed, 0))
		counts := map[ending]int{}
		inconsistent := 0
		for i := range histories {
			variables := 2 + rnd.IntN(3)
			p := randomProgram(rnd, variables)
			h, err := record(ours(mode, c, lean), p, variables)
			if err != nil {
				t.Fatalf("seed %d, history %d: %v\n%v", seed, i, err, h)
			}
			if !h.legal(c) {
				t.Fatalf("seed %d, history %d is not legal:\n%v", seed, i, h)
			}
			if c != opaque && !h.legal(opaque) {
				inconsistent++
			}
			for _, a := range h.attempts {
				counts[a.ending]++
			}
		}
		t.Logf("%d histories, attempts: %v; %d histories were serialisable and not opaque", histories, counts, inconsistent)
		if counts[conflict] == 0 {
			t.Error("no transaction met another: this has shown nothing")
		}
	})
}

// A toy is an STM with a mistake. It keeps reads and writes in logs and commits
// under a lock, and is right as long as its validate is.
func toy(c criterion, inPlace, eager bool, validate func(values []uint64, reads, writes map[int]uint64) bool) system {
	return system{c, func(n int) (func(func(memory) error) error, func() []uint64) {
		var mu sync.Mutex
		values := make([]uint64, n)
		type abort struct{}
		once := func(body func(memory) error) (again bool, err error) {
			reads, writes := map[int]uint64{}, map[int]uint64{}
			defer func() {
				if r := recover(); r != nil {
					if _, again = r.(abort); !again {
						panic(r)
					}
				}
			}()
			err = body(memory{
				load: func(i int) uint64 {
					mu.Lock()
					defer mu.Unlock()
					if v, ok := writes[i]; ok {
						return v
					}
					if eager && !validate(values, reads, writes) {
						panic(abort{})
					}
					if _, ok := reads[i]; !ok {
						reads[i] = values[i]
					}
					return values[i]
				},
				store: func(i int, v uint64) {
					mu.Lock()
					defer mu.Unlock()
					writes[i] = v
					if inPlace {
						values[i] = v
					}
				},
			})
			mu.Lock()
			defer mu.Unlock()
			if !validate(values, reads, writes) {
				return true, nil
			}
			if err != nil {
				return false, err
			}
			for i, v := range writes {
				values[i] = v
			}
			return false, nil
		}
		run := func(body func(memory) error) error {
			for {
				if again, err := once(body); !again {
					return err
				}
				runtime.Gosched()
			}
		}
		return run, func() []uint64 { return values }
	}}
}

func unchanged(values []uint64, reads, _ map[int]uint64) bool {
	for i, v := range reads {
		if values[i] != v {
			return false
		}
	}
	return true
}

func TestRandomHistoriesShowTheMistakesOfToys(t *testing.T) {
	never := func(values []uint64, reads, writes map[int]uint64) bool { return true }
	snapshotIsolation := func(values []uint64, reads, writes map[int]uint64) bool {
		for i, v := range reads {
			if _, written := writes[i]; written && values[i] != v {
				return false
			}
		}
		return true
	}
	for name, c := range map[string]struct {
		system
		legal bool
	}{
		"right, eager":                        {toy(opaque, false, true, unchanged), true},
		"right, lazy":                         {toy(serialisable, false, false, unchanged), true},
		"validates never":                     {toy(serialisable, false, false, never), false},
		"validates what it writes":            {toy(serialisable, false, false, snapshotIsolation), false},
		"writes in place and takes back none": {toy(serialisable, true, false, never), false},
		"lazy, called eager":                  {toy(opaque, false, false, unchanged), false},
	} {
		t.Run(name, func(t *testing.T) {
			const most = 2000
			seed := rand.Uint64()
			rnd := rand.New(rand.NewPCG(seed, 0))
			for i := range most {
				variables := 2 + rnd.IntN(3)
				h, err := record(c.system, randomProgram(rnd, variables), variables)
				if err == nil && h.legal(c.criterion) {
					continue
				}
				if c.legal {
					t.Fatalf("seed %d: the checker objects to a right system: %v\n%v", seed, err, h)
				}
				t.Logf("seen in history %d", i)
				return
			}
			if !c.legal {
				t.Errorf("seed %d: the mistake was not seen in %d histories", seed, most)
			}
		})
	}
}
