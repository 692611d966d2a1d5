package labyrinth

import (
	"fmt"
	"slices"
	"testing"

	"github.com/cofferdam-go/cofferdam/stm"
)

// small is for the modes that need a second goroutine for each transaction. It has walls and
// is so narrow that paths get into each other's way.
var small = Params{XCost: 1, YCost: 1, ZCost: 2, BendCost: 1, Width: 70, Height: 6, Depth: 2, Paths: 20, Walls: 60}

func TestSequentialRoutes(t *testing.T) {
	in := Generate(Simulator)
	r := Sequential(in)
	verify(t, in, r)
	if 4*r.Routed < 3*len(in.pairs) {
		t.Errorf("%d of %d paths were routed, which leaves little to compete for", r.Routed, len(in.pairs))
	}
}

func TestMutexRoutes(t *testing.T) {
	for _, p := range []Params{Simulator, small} {
		for _, p.Whole = range []bool{false, true} {
			in := Generate(p)
			verify(t, in, Mutex(in, 2))
			verify(t, in, Atomic(in, 2))
		}
	}
}

func TestTransactionsRoute(t *testing.T) {
	for _, m := range []struct {
		name   string
		mode   stm.Mode
		params Params
	}{
		{"eager", stm.Eager, Simulator},
		{"timer", stm.Timer, Simulator},
		{"helper", stm.Helper, small},
		{"clone", stm.Clone, small},
	} {
		for kind, whole := range map[string]bool{"pieces": false, "whole": true} {
			m.params.Whole = whole
			in := Generate(m.params)
			for _, goroutines := range []int{1, 2} {
				t.Run(fmt.Sprintf("%s/%s/%d", m.name, kind, goroutines), func(t *testing.T) {
					verify(t, in, Transactional(in, goroutines, stm.Options{Mode: m.mode}))
				})
			}
		}
	}
}

func TestOneGoroutineIsSequential(t *testing.T) {
	p := Simulator
	for _, p.Whole = range []bool{false, true} {
		in := Generate(p)
		want := Sequential(in)
		for name, r := range map[string]*Result{
			"mutex":         Mutex(in, 1),
			"atomic":        Atomic(in, 1),
			"transactional": Transactional(in, 1, stm.Options{}),
		} {
			if !slices.EqualFunc(r.Paths, want.Paths, slices.Equal) {
				t.Errorf("%s (whole: %v) has other paths than Sequential", name, p.Whole)
			}
		}
	}
}

// A search finds the cheapest way, and of those one with few bends.
func TestPathIsCheapAndStraight(t *testing.T) {
	p := Params{XCost: 1, YCost: 1, ZCost: 2, BendCost: 1, Width: 9, Height: 9, Depth: 1}
	in := Generate(p)
	s := in.newSearch()
	in.shape.rows(func(first, end int) { s.copy(in.maze[first:end], first) })
	path := s.path(pair{in.shape.cell(1, 1, 0), in.shape.cell(6, 4, 0)})
	if len(path) != 9 {
		t.Errorf("a path over 5 and 3 cells has %d", len(path))
	}
	bends := 0
	for i := 2; i < len(path); i++ {
		if path[i]-path[i-1] != path[i-1]-path[i-2] {
			bends++
		}
	}
	if bends != 1 {
		t.Errorf("a path around one corner has %d bends", bends)
	}
}

// A claim that finds a cell taken leaves the others as they were.
func TestClaimIsAllOrNothing(t *testing.T) {
	in := Generate(Params{Width: 4, Height: 1, Depth: 1})
	run := &transactional{Input: in, grid: slices.Clone(in.maze)}
	cells := []int{in.shape.cell(0, 0, 0), in.shape.cell(1, 0, 0), in.shape.cell(2, 0, 0)}
	if err := run.claim(cells[2:], 1); err != nil {
		t.Fatal(err)
	}
	if err := run.claim(cells, 2); err != errTaken {
		t.Errorf("claiming a cell that is taken: %v", err)
	}
	if run.grid[cells[0]] != free || run.grid[cells[1]] != free || run.grid[cells[2]] != 1 {
		t.Errorf("the grid is %v after a claim that failed", run.grid)
	}
}

func TestVerifyRejectsWrongResults(t *testing.T) {
	in := Generate(small)
	longest := func(r *Result) (at int) {
		for i, p := range r.Paths {
			if len(p) > len(r.Paths[at]) {
				at = i
			}
		}
		return at
	}
	for name, spoil := range map[string]func(r *Result){
		"a path given up":    func(r *Result) { r.Paths[0], r.Routed = nil, r.Routed-1 },
		"a path too many":    func(r *Result) { r.Routed++ },
		"a pair forgotten":   func(r *Result) { r.Paths = r.Paths[1:] },
		"a jump":             func(r *Result) { i := longest(r); r.Paths[i] = slices.Delete(r.Paths[i], 2, 3) },
		"a path cut short":   func(r *Result) { i := longest(r); r.Paths[i] = r.Paths[i][:2] },
		"a path of no cells": func(r *Result) { r.Paths[longest(r)] = []int{} },
		"a cell used twice": func(r *Result) {
			i := longest(r)
			p := r.Paths[i]
			r.Paths[i] = slices.Concat(p[:2], []int{p[0]}, p[1:])
		},
	} {
		r := Sequential(in)
		spoil(r)
		if in.Verify(r) == nil {
			t.Errorf("%s was not noticed", name)
		}
	}
}

func TestGenerateIsDeterministic(t *testing.T) {
	a, b := Generate(small), Generate(small)
	if !slices.Equal(a.pairs, b.pairs) || !slices.Equal(a.maze, b.maze) {
		t.Error("two inputs of the same parameters differ")
	}
}

func verify(t *testing.T, in *Input, r *Result) {
	t.Helper()
	if err := in.Verify(r); err != nil {
		t.Error(err)
	}
	if r.Elapsed <= 0 {
		t.Errorf("the run took %v", r.Elapsed)
	}
	t.Logf("%d of %d paths, %d again, %v", r.Routed, len(in.pairs), r.Again, r.Elapsed)
}
