package sched

import "strconv"

// Held is what all runs of a search had in common although a program may meet it
// differently. It is about the program at hand: one that has no timers is not said to have
// been tried without stalls.
type Held struct {
	// Stall: a timer was so far away that it was not let overtake goroutines that were
	// ready; the longest stall that was, in nanoseconds, is StallLimit.
	Stall      bool  `json:",omitempty"`
	StallLimit int64 `json:",omitempty"`
	// Clock: the program asked for the time, which starts at the same instant in each run.
	Clock bool `json:",omitempty"`
	// Chance: the program drew random numbers, of which there are more sequences than were
	// tried.
	Chance bool `json:",omitempty"`
	// Collector: the program has finalizers, cleanups or weak pointers, and memory is collected
	// only where it asks for that.
	Collector bool `json:",omitempty"`
	// Rounds: a goroutine that went round a loop again and again was not let go on in it while
	// others could.
	Rounds bool `json:",omitempty"`
	// Outside: part of the program was outside control.
	Outside bool `json:",omitempty"`
}

// Merge adds what was held in another run.
func (h *Held) Merge(o Held) {
	h.Stall = h.Stall || o.Stall
	h.StallLimit = max(h.StallLimit, o.StallLimit)
	h.Clock = h.Clock || o.Clock
	h.Chance = h.Chance || o.Chance
	h.Collector = h.Collector || o.Collector
	h.Rounds = h.Rounds || o.Rounds
	h.Outside = h.Outside || o.Outside
}

// Any reports whether anything was held.
func (h Held) Any() bool {
	return h.Stall || h.Clock || h.Chance || h.Collector || h.Rounds || h.Outside
}

// held says what was the same in all runs although it could have differed; "" if nothing.
func (p Progress) held() string {
	var all []string
	if p.Held.Stall {
		all = append(all, "that the machine stalls for "+duration(p.Held.StallLimit)+" at most")
	}
	if p.Held.Clock {
		all = append(all, "when the program starts by its clock")
	}
	if p.Held.Chance {
		sequences := count(max(p.Sequences, 1), "sequence") + " tried"
		if p.Method != MethodDFS {
			sequences += " with all of these, then another with each schedule"
		}
		all = append(all, "random numbers ("+sequences+")")
	}
	if p.Held.Collector {
		all = append(all, "that memory is collected only where runtime.GC is called")
	}
	if p.Held.Rounds {
		all = append(all, "that a loop which waits for others lets them go on")
	}
	if p.Held.Outside {
		all = append(all, "what is outside control, which was left to chance")
	}
	text := ""
	for i, what := range all {
		switch {
		case i == 0:
			text = "; held fixed: " + what
		case i == len(all)-1:
			text += " and " + what
		default:
			text += ", " + what
		}
	}
	return text
}

// duration is a number of nanoseconds as a person writes it. (Package time is not to be
// had here.)
func duration(ns int64) string {
	for _, unit := range []struct {
		size int64
		name string
	}{{1_000_000_000, "s"}, {1_000_000, "ms"}, {1_000, "µs"}} {
		if ns >= unit.size && ns%unit.size == 0 {
			return strconv.FormatInt(ns/unit.size, 10) + unit.name
		}
	}
	return strconv.FormatInt(ns, 10) + "ns"
}
