package tolerate_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/cofferdam-go/cofferdam/tolerate"
)

// The executions of the oracle, on the real run time: T1 in a section on its
// goroutine, T2 on another that acts on the bare variable, step by step.

// A coding represents the oracle's symbols by values of a type. Equal symbols are
// equal to the last bit, as far as the run time looks.
type coding[T any] struct {
	encode func(string) T
	decode func(T) string
}

func interned[T any](fresh func(n int, symbol string) T, decode func(T) string) coding[T] {
	known := map[string]T{}
	return coding[T]{func(s string) T {
		if _, ok := known[s]; !ok {
			known[s] = fresh(len(known), s)
		}
		return known[s]
	}, decode}
}

func numbers[N interface {
	~int8 | ~uint16 | ~int32 | ~int64
}]() coding[N] {
	var symbols []string
	return interned(func(n int, s string) N { symbols = append(symbols, s); return N(n) },
		func(n N) string { return symbols[n] })
}

// record has units of every kind, and padding between them.
type record struct {
	small  int8
	symbol string
	ref    any
	parts  []byte
	point  complex128
	ptr    *string
}

func records() coding[record] {
	return interned(func(n int, s string) record {
		return record{int8(n), strings.Clone(s), n, []byte(s), complex(float64(n), 1), &s}
	}, func(r record) string { return r.symbol })
}

// A driver executes T1's operations in a section.
type driver[T any] struct {
	mu    tolerate.Mutex
	v     *tolerate.Var[T]
	blind bool // says so when it does not depend on the value
	used  bool
}

func (d *driver[T]) enter()  { d.mu.Lock() }
func (d *driver[T]) leave()  { d.mu.Unlock() }
func (d *driver[T]) read() T { d.used = true; return *d.v.Own() }
func (d *driver[T]) write(value T) {
	if d.blind && !d.used {
		d.v.Set(value)
		return
	}
	d.used = true
	*d.v.Own() = value
}

// drive executes e with T1 in the driver's section and T2 on the shared variable.
func drive[T any](e execution, c coding[T], shared *T, d *driver[T]) state {
	*shared = c.encode(initial)
	var other sync.WaitGroup
	turn, done := make(chan func()), make(chan bool)
	other.Go(func() {
		for f := range turn {
			f()
			done <- true
		}
	})
	d.enter()
	one, two := thread{name: "a", rest: e.t1}, thread{name: "b", rest: e.t2}
	for _, s := range e.schedule {
		t, load, store := &one, d.read, d.write
		if s == 2 {
			t, load, store = &two, func() T { return *shared }, func(v T) { *shared = v }
		}
		operate := func() {
			if t.rest[0] == 'r' {
				v := c.decode(load())
				t.do(&v)
				return
			}
			var v string
			t.do(&v)
			store(c.encode(v))
		}
		if s == 2 {
			turn <- operate
			<-done
		} else {
			operate()
		}
	}
	d.leave()
	close(turn)
	other.Wait()
	return state{c.decode(*shared), strings.Join(one.saw, ","), "ran, saw " + strings.Join(two.saw, ",")}
}

func TestRunTimeIsTheOracle(t *testing.T) {
	t.Run("int64", func(t *testing.T) { compare(t, numbers[int64]) })
	t.Run("int32", func(t *testing.T) { compare(t, numbers[int32]) })
	t.Run("uint16", func(t *testing.T) { compare(t, numbers[uint16]) })
	t.Run("int8", func(t *testing.T) { compare(t, numbers[int8]) })
	t.Run("pointer", func(t *testing.T) {
		compare(t, func() coding[*string] {
			return interned(func(_ int, s string) *string { return &s }, func(p *string) string { return *p })
		})
	})
	t.Run("string", func(t *testing.T) {
		compare(t, func() coding[string] {
			return interned(func(_ int, s string) string { return strings.Clone(s) }, strings.Clone)
		})
	})
	t.Run("interface", func(t *testing.T) {
		compare(t, func() coding[any] {
			return interned(func(_ int, s string) any { return &s }, func(v any) string { return *v.(*string) })
		})
	})
	t.Run("struct", func(t *testing.T) { compare(t, records) })
	t.Run("array", func(t *testing.T) {
		compare(t, func() coding[[2000]int64] { // too many units for a list
			n := numbers[int64]()
			return coding[[2000]int64]{
				func(s string) (a [2000]int64) { a[1999] = n.encode(s); return a },
				func(a [2000]int64) string { return n.decode(a[1999]) },
			}
		})
	})
}

// compare drives all executions of table 1 and all interleavings of short programs,
// by hand and through sections, not knowing and knowing what they begin with.
func compare[T any](t *testing.T, fresh func() coding[T]) {
	check := func(e execution, want tolerate.Class) {
		for _, blind := range []bool{false, true} {
			f := resolution(closedForm)
			if blind && e.t1[0] == 'w' {
				f = keepOurs
			}
			end, v, own := e.run(f)
			classes := tolerate.Classify(own != initial, v != initial, blind && e.t1[0] == 'w')
			shared := new(T)
			d := &driver[T]{blind: blind}
			d.v = tolerate.Guard(&d.mu, shared)
			var got state
			reported := classesSince(func() { got = drive(e, fresh(), shared, d) })
			if got != end {
				t.Fatalf("%s and %s in order %v: got %+v, want %+v", e.t1, e.t2, e.schedule, got, end)
			}
			if classes == 0 && len(reported) != 0 || classes != 0 && (len(reported) != 1 || reported[classes] != 1) {
				t.Fatalf("%s and %s in order %v: reported %v, want %v", e.t1, e.t2, e.schedule, reported, classes)
			}
			if want != 0 && want != tolerate.WrW && !classes.Has(want) {
				t.Fatalf("%s and %s in order %v: %v is not among %v", e.t1, e.t2, e.schedule, want, classes)
			}
		}
	}
	eachSlice(func(before, t2, after program) {
		check(slice(before, t2, after), class(before, t2, after))
	})
	words("rw", 2, func(t1 program) {
		words("rwi", 2, func(t2 program) {
			interleavings(t1, t2, func(e execution) { check(e, 0) })
		})
	})
}

// The proofs of lemmas 1 and 2: T1 is w(P) r(Q) r(Q) w(P), and T2 is w(Q) r(P), in
// the middle.

// outOfOrder are the values of an execution in which T2's two operations happened in
// the reverse order, one before T1 and one after it: T1 saw the initial Q twice, T2
// saw the initial P.
var outOfOrder = lemma{q1: "q", q2: "q", p2: "p", p: "b", q: "t2"}

type lemma struct {
	q1, q2, p2 string // what T1 read from Q, and T2 from P
	p, q       string // in the end
}

// inOrder are all executions in which T1 is atomic and T2's operations keep their
// order: T1 before, between and after them.
func inOrder() []lemma {
	var all []lemma
	for at := range 3 {
		p, q := "p", "q"
		var l lemma
		t1 := func() { p = "a"; l.q1, l.q2 = q, q; p = "b" }
		t2 := []func(){func() { q = "t2" }, func() { l.p2 = p }}
		for i := range 3 {
			if i == at {
				t1()
			}
			if i < len(t2) {
				t2[i]()
			}
		}
		l.p, l.q = p, q
		all = append(all, l)
	}
	return all
}

func checkLemma(t *testing.T, got lemma) {
	t.Helper()
	if got != outOfOrder {
		t.Errorf("got %+v, want %+v", got, outOfOrder)
	}
	for _, l := range inOrder() {
		if got == l {
			t.Errorf("%+v is sequentially consistent", got)
		}
	}
}

func TestLemma1NestedSectionsAreNotSequentiallyConsistent(t *testing.T) {
	p, q := "p", "q"
	var muP, muQ tolerate.Mutex
	P, Q := tolerate.Guard(&muP, &p), tolerate.Guard(&muQ, &q)
	for _, overlapping := range []bool{false, true} {
		p, q = "p", "q"
		var l lemma
		muP.Lock()
		muQ.Lock()
		*P.Own() = "a"
		l.q1 = *Q.Own()
		elsewhere(func() { q = "t2"; l.p2 = p })
		l.q2 = *Q.Own()
		*P.Own() = "b"
		if overlapping {
			muP.Unlock()
			muQ.Unlock()
		} else {
			muQ.Unlock()
			muP.Unlock()
		}
		l.p, l.q = p, q
		checkLemma(t, l)
	}
}

func TestLemma2SectionsOverTwoVariablesAreNotSequentiallyConsistent(t *testing.T) {
	p, q := "p", "q"
	var mu tolerate.Mutex
	P, Q := tolerate.Guard(&mu, &p), tolerate.Guard(&mu, &q)
	var l lemma
	mu.Lock()
	*P.Own() = "a"
	l.q1 = *Q.Own()
	elsewhere(func() { q = "t2"; l.p2 = p })
	l.q2 = *Q.Own()
	*P.Own() = "b"
	mu.Unlock()
	l.p, l.q = p, q
	checkLemma(t, l)
}
