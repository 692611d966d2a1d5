package tolerate_test

import (
	"fmt"
	"strings"

	"github.com/cofferdam-go/cofferdam/tolerate"
)

// The oracle: the paper's threads, executed on symbols instead of values.
//
// A program is a word over the operations of one thread on the one variable: r
// reads, w writes, u does both at once, and i writes back what the variable was in the beginning. What
// w writes is a new symbol made of all that the thread has read, so that two
// executions are equal if and only if every thread has seen the same and the
// variable ends the same. T1 is the safe thread, T2 the malicious one.

type program string

// A step of a schedule is the next operation of thread 1 or 2.
type step int

const initial = "v"

// A thread is one execution of a program.
type thread struct {
	name   string
	rest   program
	saw    []string
	writes int
}

// do executes the next operation on the variable.
func (t *thread) do(v *string) {
	op := t.rest[0]
	t.rest = t.rest[1:]
	switch op {
	case 'r':
		t.saw = append(t.saw, *v)
	case 'w':
		t.writes++
		*v = fmt.Sprintf("%s%d(%s)", t.name, t.writes, strings.Join(t.saw, ","))
	case 'u':
		t.rest = "rw" + t.rest
		t.do(v)
		t.do(v)
	case 'i':
		*v = initial
	default:
		panic(fmt.Sprintf("unknown operation %q", op))
	}
}

// A state is what is left of an execution. T2 is empty if the thread left nothing
// but what it wrote to the variable.
type state struct{ v, t1, t2 string }

// An execution is a schedule of the two programs.
type execution struct {
	t1, t2   program
	schedule []step
	live     bool // T2 alters another live variable, in dependence on what it read
}

// A resolution is the function f of the paper.
type resolution func(v, own, before string) string

// run executes the schedule: on the bare variable if f is nil, and else with T1 on
// a copy that f resolves at the end.
func (e execution) run(f resolution) (end state, v, own string) {
	v, own = initial, initial
	one, two := thread{name: "a", rest: e.t1}, thread{name: "b", rest: e.t2}
	for _, s := range e.schedule {
		switch {
		case s == 2:
			two.do(&v)
		case f != nil:
			one.do(&own)
		default:
			one.do(&v)
		}
	}
	end.v = v
	if f != nil {
		end.v = f(v, own, initial)
	}
	end.t1 = strings.Join(one.saw, ",")
	if e.live {
		end.t2 = "ran, saw " + strings.Join(two.saw, ",")
	}
	return end, v, own
}

// inSeries is the state after one thread and then the other.
func (e execution) inSeries(order ...step) state {
	var schedule []step
	for _, s := range order {
		schedule = append(schedule, repeat(s, len(e.program(s)))...)
	}
	end, _, _ := execution{e.t1, e.t2, schedule, e.live}.run(nil)
	return end
}

func (e execution) program(s step) program {
	if s == 1 {
		return e.t1
	}
	return e.t2
}

func repeat(s step, n int) []step {
	all := make([]step, n)
	for i := range all {
		all[i] = s
	}
	return all
}

// atomic is definition 2: the state corresponds to an execution in which the safe
// thread was atomic. A T2 that leaves nothing may as well not have run.
func (e execution) atomic(end state) bool {
	return end == e.inSeries(1, 2) || end == e.inSeries(2, 1) || !e.live && end == e.inSeries(1)
}

// race reports whether the bare execution is a race.
func (e execution) race() bool {
	end, _, _ := e.run(nil)
	return !e.atomic(end)
}

// The closed form (1), and the two that table 2 chooses from.
func closedForm(v, own, before string) string {
	if v == before {
		return own
	}
	return v
}
func keepOurs(v, own, before string) string   { return own }
func keepTheirs(v, own, before string) string { return v }

// A part is an entry of table 1: a pattern, and the programs of it that are tried.
type part struct {
	pattern  string
	programs []program
}

var (
	reads  = part{"r+", []program{"r", "rr"}}
	sets   = part{"wx*", []program{"w", "wr", "ww", "wrw"}}
	update = part{"r+wx*", []program{"rw", "rrw", "rwr", "rww"}}
	parts  = []part{reads, sets, update}
)

// slice is T2 as a whole between two parts of T1.
func slice(before, t2, after program) execution {
	schedule := append(repeat(1, len(before)), repeat(2, len(t2))...)
	return execution{before + after, t2, append(schedule, repeat(1, len(after))...), true}
}

// class is theorem 1 with the subdivision of table 2: the class of the race, by the
// order of the operations alone. The race is completed by the first operation of T1
// after T2 that makes one, in cases II and IVc by a later one.
func class(before, t2, after program) tolerate.Class {
	writes := func(p program) bool { return strings.ContainsAny(string(p), "wi") }
	switch {
	case !writes(t2):
		if writes(before) && writes(after) {
			return tolerate.WrW
		}
		return 0
	case t2[0] != 'r' && after[0] == 'r':
		return tolerate.XwR
	case t2[0] != 'r' && before[0] == 'r':
		return tolerate.RXwW
	case t2[0] != 'r':
		return 0 // WwW
	case before[0] != 'r':
		return tolerate.WrwX
	case writes(before) || writes(after):
		return tolerate.RrwX
	default:
		return tolerate.RrwR
	}
}

// f is table 2's resolution of each class; nil where it asks for a custom one.
func resolutionOf(c tolerate.Class) resolution {
	switch c {
	case tolerate.XwR, tolerate.RXwW, tolerate.RrwR:
		return keepTheirs
	case tolerate.WrW, tolerate.WrwX:
		return keepOurs
	case tolerate.RrwX:
		return nil
	}
	return closedForm
}

// words calls f with all programs over the operations, of length 1 to n.
func words(operations string, n int, f func(program)) {
	var extend func(program)
	extend = func(p program) {
		for _, op := range operations {
			q := p + program(op)
			f(q)
			if len(q) < n {
				extend(q)
			}
		}
	}
	extend("")
}

// interleavings calls f with all schedules of the two programs.
func interleavings(t1, t2 program, f func(execution)) {
	var extend func(schedule []step, a, b int)
	extend = func(schedule []step, a, b int) {
		if a == 0 && b == 0 {
			f(execution{t1, t2, append([]step(nil), schedule...), true})
		}
		if a > 0 {
			extend(append(schedule, 1), a-1, b)
		}
		if b > 0 {
			extend(append(schedule, 2), a, b-1)
		}
	}
	extend(nil, len(t1), len(t2))
}
