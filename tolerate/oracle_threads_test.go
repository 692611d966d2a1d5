package tolerate_test

import (
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/tolerate"
)

// Theorem 2: a race among more than two threads is one of the classes of a race between two, the
// safe thread and one malicious thread that does what the malicious ones do, in their order.

// A crowd is one safe thread and two malicious ones, with a schedule of all three.
type crowd struct {
	programs [3]program // the safe one comes first
	schedule []int
}

// finish runs the crowd on the bare variable, and returns all that is left of it.
func (c crowd) finish(schedule []int) string {
	v := initial
	threads := [3]thread{{name: "a", rest: c.programs[0]}, {name: "b", rest: c.programs[1]}, {name: "c", rest: c.programs[2]}}
	for _, i := range schedule {
		threads[i].do(&v)
	}
	left := []string{v}
	for _, t := range threads {
		left = append(left, strings.Join(t.saw, ","))
	}
	return strings.Join(left, ";")
}

// serial is what can be left when the safe thread runs without interruption: definition 2.
func (c crowd) serial() map[string]bool {
	ends := make(map[string]bool)
	safe := make([]int, len(c.programs[0]))
	schedules([3]int{0, len(c.programs[1]), len(c.programs[2])}, func(others []int) {
		for at := range len(others) + 1 {
			whole := append(append(append([]int(nil), others[:at]...), safe...), others[at:]...)
			ends[c.finish(whole)] = true
		}
	})
	return ends
}

// schedules calls f with all orders of so many steps of three threads.
func schedules(steps [3]int, f func([]int)) {
	var extend func(order []int)
	extend = func(order []int) {
		ended := true
		for i := range steps {
			if steps[i] > 0 {
				ended = false
				steps[i]--
				extend(append(order, i))
				steps[i]++
			}
		}
		if ended {
			f(order)
		}
	}
	extend(nil)
}

// reduced returns the classes of what is between each two operations of the safe thread, when
// the malicious operations there are those of one thread.
func (c crowd) reduced() tolerate.Classes {
	var all tolerate.Classes
	operations := c.operations()
	for from, first := range operations {
		for to := from + 1; first.safe && to < len(operations); to++ {
			if !operations[to].safe {
				continue
			}
			var before, between, after program
			for i, o := range operations {
				switch {
				case o.safe && i <= from:
					before += o.op
				case o.safe && i >= to:
					after += o.op
				case !o.safe && from < i && i < to:
					between += o.op
				}
			}
			if between != "" {
				all |= tolerate.Classes(class(before, between, after))
			}
		}
	}
	return all
}

type operation struct {
	safe bool
	op   program
}

// operations are those of all threads, in the order of the schedule.
func (c crowd) operations() []operation {
	rest := c.programs
	var list []operation
	for _, i := range c.schedule {
		list = append(list, operation{i == 0, rest[i][:1]})
		rest[i] = rest[i][1:]
	}
	return list
}

func TestTheorem2RacesOfThreeThreadsAreRacesOfTwo(t *testing.T) {
	executions, races := 0, 0
	var seen tolerate.Classes
	const updates = tolerate.Classes(tolerate.RrwR | tolerate.WrwX | tolerate.RrwX)
	unexplained := false // without the classes of updates
	words("rw", 3, func(safe program) {
		if len(safe) < 2 {
			return
		}
		words("rw", 2, func(one program) {
			words("rw", 2, func(two program) {
				c := crowd{programs: [3]program{safe, one, two}}
				serial := c.serial()
				schedules([3]int{len(safe), len(one), len(two)}, func(order []int) {
					c.schedule = order
					executions++
					if serial[c.finish(order)] {
						return
					}
					races++
					classes := c.reduced()
					if classes == 0 {
						t.Errorf("%v of %v is a race of no class", order, c.programs)
					}
					seen |= classes
					unexplained = unexplained || classes&^updates == 0
				})
			})
		})
	})
	for _, c := range []tolerate.Class{tolerate.XwR, tolerate.WrW, tolerate.RXwW, tolerate.RrwR, tolerate.WrwX, tolerate.RrwX} {
		if !seen.Has(c) {
			t.Errorf("no race of class %v among three threads", c)
		}
	}
	if !unexplained {
		t.Error("the classes of updates are not needed: the enumeration has none of their races")
	}
	t.Logf("%d executions of three threads, %d races", executions, races)
}
