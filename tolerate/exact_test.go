package tolerate_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cofferdam-go/cofferdam/tolerate"
)

// The executions of the oracle with calls for each access, on goroutines of the real run time.

// A performer is a thread on a goroutine of its own, which does one operation at a time.
type performer struct {
	thread
	turn  chan func()
	done  chan bool
	stuck bool // its operation waits for the section
}

// The ways of a performance.
type ways int

const (
	waiting    ways = iota
	foreseeing      // a load waits, too, if a store follows
	hasty           // nothing waits, which is wrong
)

// A performance is threads on one variable. The first is the safe one.
type performance struct {
	shared   int64
	coding   coding[int64]
	all      []*performer
	foresees bool      // a load that a store follows is known to be one
	waiting  chan bool // an operation has begun to wait
	late     []int     // whose operations had to come later, in their order
}

func (p *performance) start(programs []program, waits bool) (stop func()) {
	p.coding = numbers[int64]()
	p.shared = p.coding.encode(initial)
	p.waiting = make(chan bool)
	restore := tolerate.OnDelay(func() {}, 0)
	if waits {
		restore = tolerate.OnDelay(func() { p.waiting <- true }, time.Hour)
	}
	var wg sync.WaitGroup
	for i, rest := range programs {
		t := &performer{thread: thread{name: string("abc"[i]), rest: rest}, turn: make(chan func()), done: make(chan bool, 1)}
		p.all = append(p.all, t)
		wg.Go(func() {
			for f := range t.turn {
				f()
				t.done <- true
			}
		})
	}
	return func() {
		for _, t := range p.all {
			close(t.turn)
		}
		wg.Wait()
		restore()
	}
}

// step has a thread do its next operation, unless it waits.
func (p *performance) step(i int, operate func()) {
	t := p.all[i]
	if t.stuck {
		p.late = append(p.late, i)
		return
	}
	t.turn <- operate
	select {
	case <-t.done:
	case <-p.waiting:
		t.stuck = true
	}
}

// careless does an operation as a rewriter writes it.
func (p *performance) careless(t *performer) {
	do := func() {
		v := p.coding.decode(p.shared)
		t.do(&v)
		p.shared = p.coding.encode(v)
	}
	switch t.rest[0] {
	case 'r':
		v := p.coding.decode(tolerate.Read(&p.shared, p.foresees && strings.ContainsAny(string(t.rest), "wu")))
		t.do(&v)
	case 'w', 'i':
		defer tolerate.Write(&p.shared, false)()
		do()
	case 'u':
		defer tolerate.Write(&p.shared, true)()
		do()
	}
}

// perform runs a schedule, with the safe thread in its section from the beginning to the end, and returns
// what is left, as crowd.finish does, and whether a write came late.
func perform(programs []program, schedule []int, how ways) (left string, late bool) {
	p := &performance{foresees: how == foreseeing}
	stop := p.start(programs, how != hasty)
	safe := p.all[0]
	hasReads := strings.Contains(string(safe.rest), "r")
	label := &tolerate.Label{Name: "v", Blind: safe.rest[0] == 'w', Reads: hasReads, Writes: strings.Contains(string(safe.rest), "w")}
	var own, before int64
	p.step(0, func() { own = tolerate.TakeExact(&p.shared, label); before = own })
	for _, i := range schedule {
		t := p.all[i]
		if i > 0 {
			p.step(i, func() { p.careless(t) })
			continue
		}
		p.step(0, func() {
			v := p.coding.decode(own)
			t.do(&v)
			own = p.coding.encode(v)
		})
	}
	p.step(0, func() { tolerate.PutExact(&p.shared, own, before, label) })
	for _, t := range p.all {
		if t.stuck {
			late = true
			<-t.done
			t.stuck = false
		}
	}
	for _, i := range p.late {
		p.step(i, func() { p.careless(p.all[i]) })
	}
	stop()
	list := []string{p.coding.decode(p.shared)}
	for _, t := range p.all {
		list = append(list, strings.Join(t.saw, ","))
	}
	return strings.Join(list, ";"), late
}

// TestExactSectionsAreAtomicInAllInterleavings: theorem 2, on the run time. Whatever two and three threads do, and in
// whichever order, what is left is what is left when the safe one runs without interruption.
func TestExactSectionsAreAtomicInAllInterleavings(t *testing.T) {
	executions, late := 0, 0
	check := func(programs [3]program) {
		c := crowd{programs: programs}
		serial := c.serial()
		threads := programs[:]
		if programs[2] == "" {
			threads = programs[:2]
		}
		schedules([3]int{len(programs[0]), len(programs[1]), len(programs[2])}, func(order []int) {
			executions++
			left, waited := perform(threads, order, waiting)
			if len(threads) == 2 {
				left += ";"
			}
			if waited {
				late++
			}
			if !serial[left] {
				t.Fatalf("%v in order %v: %s is left, which no order in which the section is whole leaves", programs, order, left)
			}
		})
	}
	words("rw", 2, func(safe program) {
		words("rwu", 2, func(one program) {
			check([3]program{safe, one})
			words("rwu", 1, func(two program) { check([3]program{safe, one, two}) })
		})
	})
	if late == 0 {
		t.Error("no write waited")
	}
	t.Logf("%d executions, %d with a write that waited", executions, late)
}

// TestExactClassesAreThoseOfTheOracle: for all of table 1, what is told is the class of the race. A careless write that
// depends on nothing is of class I or III, or no race, by what the section does with its copy
// afterwards. Nothing is known of that, and the resolution is the same.
func TestExactClassesAreThoseOfTheOracle(t *testing.T) {
	const independent = tolerate.Classes(tolerate.XwR | tolerate.RXwW)
	seen := make(map[tolerate.Class]int)
	eachSlice(func(before, t2, after program) {
		var order []int
		for _, s := range slice(before, t2, after).schedule {
			order = append(order, int(s)-1)
		}
		var left string
		var late bool
		reported := classesSince(func() { left, late = perform([]program{before + after, t2}, order, waiting) })
		if !late && left != inSeries(before+after, t2, 1, 2) && left != inSeries(before+after, t2, 2, 1) {
			t.Errorf("%s %s %s: %s is left, which neither order of the two leaves", before, t2, after, left)
		}
		want := class(before, t2, after)
		seen[want]++
		switch {
		case t2[0] == 'w':
			for got := range reported {
				if got&^independent != 0 || want != 0 && !got.Has(want) {
					t.Errorf("%s %s %s: %v is told, want %v", before, t2, after, got, want)
				}
			}
			if len(reported) != 1 {
				t.Errorf("%s %s %s: told %d times", before, t2, after, len(reported))
			}
		case want == 0 || want == tolerate.WrW: // which leaves no trace, and harms nobody
			if len(reported) != 0 {
				t.Errorf("%s %s %s: %v is told, want nothing", before, t2, after, reported)
			}
		case len(reported) != 1 || reported[tolerate.Classes(want)] != 1:
			t.Errorf("%s %s %s: %v is told, want %v", before, t2, after, reported, want)
		}
	})
	if len(seen) != 7 {
		t.Errorf("%d classes were tried, want all six and none", len(seen))
	}
}

// inSeries is what is left after one thread and then the other.
func inSeries(t1, t2 program, order ...step) string {
	end := execution{t1: t1, t2: t2, live: true}.inSeries(order...)
	return strings.Join([]string{end.v, end.t1, strings.TrimPrefix(end.t2, "ran, saw ")}, ";")
}

// TestTheOracleKnowsThatUpdatesHaveToWait: with a section that is let through at once, an update is lost.
func TestTheOracleKnowsThatUpdatesHaveToWait(t *testing.T) {
	for _, how := range []ways{waiting, hasty} {
		left, late := perform([]program{"rw", "u"}, []int{0, 1, 0}, how)
		serial := left == inSeries("rw", "u", 1, 2)
		if late != (how == waiting) || serial != late {
			t.Errorf("%d: %s is left, late is %t", how, left, late)
		}
	}
}

// TestNothingIsLostThatIsForeseen: if loads wait that stores follow, then it is always as if one thread had run and
// then the other, and not the section in the middle of it.
func TestNothingIsLostThatIsForeseen(t *testing.T) {
	executions, divided := 0, 0
	words("rw", 3, func(safe program) {
		words("rwu", 2, func(other program) {
			schedules([3]int{len(safe), len(other), 0}, func(order []int) {
				executions++
				series := func(left string) bool {
					return left == inSeries(safe, other, 1, 2) || left == inSeries(safe, other, 2, 1)
				}
				if left, _ := perform([]program{safe, other}, order, foreseeing); !series(left) {
					t.Fatalf("%s and %s in order %v: %s is left, which neither order leaves", safe, other, order, left)
				}
				if left, _ := perform([]program{safe, other}, order, waiting); !series(left) {
					divided++
				}
			})
		})
	})
	if divided == 0 {
		t.Error("it makes no difference")
	}
	t.Logf("%d executions, %d of which have the section in the middle otherwise", executions, divided)
}

// TestAWriteDoesNotWaitForEver: a section that waits for the writer, which nothing can exclude, is surrendered to.
func TestAWriteDoesNotWaitForEver(t *testing.T) {
	begun := 0
	defer tolerate.OnDelay(func() { begun++ }, time.Millisecond)()
	shared := 1
	label := &tolerate.Label{Name: "v", Reads: true, Writes: true, Merge: tolerate.Adding}
	own := tolerate.TakeExact(&shared, label)
	elsewhere(func() {
		defer tolerate.Write(&shared, true)()
		shared += 10
	})
	reported := classesSince(func() { tolerate.PutExact(&shared, own+100, own, label) })
	if begun != 1 || shared != 111 || reported[tolerate.Classes(tolerate.RrwX)] != 1 || len(reported) != 1 {
		t.Errorf("the write waited %d times, %d is left and %v told, want once, 111 and IVc", begun, shared, reported)
	}
}

// TestAWriteThatNoCallExplainsIsSeenByItsValue: it is as without calls.
func TestAWriteThatNoCallExplainsIsSeenByItsValue(t *testing.T) {
	shared := 1
	label := &tolerate.Label{Name: "v", Reads: true, Writes: true, Merge: tolerate.Adding}
	own := tolerate.TakeExact(&shared, label)
	elsewhere(func() { shared += 10 })
	reported := classesSince(func() { tolerate.PutExact(&shared, own+100, own, label) })
	if shared != 111 || reported[tolerate.Classify(true, true, false)] != 1 {
		t.Errorf("%d is left and %v told, want 111 and all classes that it may be", shared, reported)
	}
}
