package lanes

import (
	"fmt"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// preemptions find the steps at which the schedule of a run takes over.
//
// A schedule names such a point by the goroutine and how many steps it had taken, which counts a
// few operations that are no events. So the switches of the run from the one goroutine to the
// other are found first, and of these the one that comes nearest to the number.
type preemptions struct {
	wanted []sched.Switch
	// all counts the preemptions of the schedule with what is counted like one.
	all int
	// taken counts the steps of each goroutine, and last is its last step.
	taken    map[uint32]uint64
	last     event.Event
	lastStep int
	switches map[[2]uint32][]switched
}

// A switched is a point at which a goroutine that could have gone on did not.
type switched struct {
	step  int
	seq   uint64
	taken uint64
}

func newPreemptions(r *trace.Reader) (preemptions, error) {
	p := preemptions{taken: map[uint32]uint64{}, switches: map[[2]uint32][]switched{}}
	text := r.Header.Schedule
	if r.Outcome != nil && r.Outcome.Schedule != "" {
		text = r.Outcome.Schedule
	}
	if text == "" {
		return p, nil
	}
	s, err := sched.ParseSchedule(text)
	if err != nil {
		return p, fmt.Errorf("the schedule of the trace: %w", err)
	}
	p.all = s.Preemptions()
	for _, w := range s.Switches {
		if w.Preempt {
			p.wanted = append(p.wanted, w)
		}
	}
	return p, nil
}

func (p *preemptions) add(number int, e *event.Event) {
	if e.G == 0 {
		return
	}
	if last := &p.last; last.G != 0 && last.G != e.G && last.Kind != event.Blocked && last.Kind != event.End {
		key := [2]uint32{last.G, e.G}
		p.switches[key] = append(p.switches[key], switched{p.lastStep, last.Seq, p.taken[last.G]})
	}
	if e.Kind != event.Start && e.Kind != event.End && e.Kind != event.Blocked {
		p.taken[e.G]++
	}
	p.last, p.lastStep = *e, number
}

// A preemption is a switch of the schedule, and where the run has come to it.
type preemption struct {
	switched
	g, to uint32
}

// found are the preemptions of the schedule, as far as the run has come to them.
func (p *preemptions) found() []preemption {
	var all []preemption
	used := map[int]bool{}
	for _, w := range p.wanted {
		var best *switched
		distance := uint64(0)
		list := p.switches[[2]uint32{w.G, w.To}]
		for i := range list {
			d := max(list[i].taken, w.N) - min(list[i].taken, w.N)
			if !used[list[i].step] && (best == nil || d < distance) {
				best, distance = &list[i], d
			}
		}
		if best != nil {
			used[best.step] = true
			all = append(all, preemption{*best, w.G, w.To})
		}
	}
	return all
}
