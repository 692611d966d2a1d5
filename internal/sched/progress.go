package sched

import "strconv"

// A Method is how a strategy comes by its schedules. Its text is what the command's
// -strategy takes.
type Method string

const (
	MethodPCT    Method = "pct"
	MethodRandom Method = "random"
	MethodDFS    Method = "dfs"
	MethodReplay Method = "replay"
)

// Progress is what a strategy has tried. It is what decisions are made on, in the program
// and in the tool; String is for people.
type Progress struct {
	Method Method `json:",omitempty"`
	// Runs is how many schedules were tried; by DFS, with at most Bound preemptions.
	Runs uint64 `json:",omitempty"`

	// Depth is for which bugs PCT looks; 0: for those of depth 1 to 8.
	Depth int `json:",omitempty"`

	// Bound is the number of preemptions that DFS has got to: it has tried all schedules
	// with fewer, in EarlierRuns. A search by chance has done that before.
	Bound       int    `json:",omitempty"`
	EarlierRuns uint64 `json:",omitempty"`
	// Exhausted says that there is nothing left to try, Unbounded that no bound left out
	// anything.
	Exhausted bool `json:",omitempty"`
	Unbounded bool `json:",omitempty"`
	// CutOff are the runs of DFS that did not come to their end, Diverged those that did
	// not repeat the earlier run that they start from. What either would have led to was
	// not tried.
	CutOff   uint64 `json:",omitempty"`
	Diverged uint64 `json:",omitempty"`
	// Abandoned says that DFS was given up, at a run that has too many steps and goroutines to be
	// kept in mind, or because the schedules are too many.
	Abandoned bool `json:",omitempty"`

	// Saturated is how many runs in a row have shown nothing new, if that is why a search
	// was ended.
	Saturated uint64 `json:",omitempty"`

	// Sequences is with how many sequences of random numbers DFS has tried all of that, if
	// the program draws any; 0 as long as it is at the first.
	Sequences uint64 `json:",omitempty"`
	// Stalls and Draws say that DFS came upon stalls, or choices by chance, which are
	// counted like preemptions.
	Stalls bool `json:",omitempty"`
	Draws  bool `json:",omitempty"`
	// Held is what was not tried another way although it could have been.
	Held Held
}

// Complete reports whether everything that could differ was tried within the bound: every
// schedule, to its end, with nothing held.
func (p Progress) Complete() bool { return p.Exhaustive() && !p.Held.Any() }

// Exhaustive reports whether every schedule within the bound was tried to its end, and the
// same search would show the same once more: what was held was held by a rule, and nothing
// left to chance.
func (p Progress) Exhaustive() bool {
	return p.Method == MethodDFS && p.Exhausted && p.CutOff == 0 && p.Diverged == 0 && !p.Held.Chance && !p.Held.Outside
}

// String says in a sentence, without a full stop, what was tried.
func (p Progress) String() string {
	switch p.Method {
	case MethodPCT, MethodRandom:
		if p.Runs == 0 {
			return p.beforeChance()
		}
	}
	switch p.Method {
	case MethodPCT:
		depth := "1 to 8"
		if p.Depth > 0 {
			depth = strconv.Itoa(p.Depth)
		}
		return p.then() + count(p.Runs, "schedule") + " by random priorities tried, for bugs of depth " + depth + p.saturation() + p.heldBefore()
	case MethodRandom:
		return p.then() + count(p.Runs, "random schedule") + " tried" + p.saturation() + p.heldBefore()
	case MethodDFS:
		return p.rounds() + p.counted() + p.gaps() + p.held()
	case MethodReplay:
		return "replay of a schedule"
	}
	return ""
}

// beforeChance says what was tried if nothing was by chance.
func (p Progress) beforeChance() string {
	if all := p.systematic(); all != "" {
		return all + p.held()
	}
	return "the default schedule tried"
}

// systematic says what a search by chance has tried before; "" if there is nothing to say.
func (p Progress) systematic() string {
	if p.Bound == 0 || p.CutOff > 0 || p.Diverged > 0 {
		return ""
	}
	return upTo(p.Bound-1) + " tried" + inParentheses(p.EarlierRuns)
}

// then is what comes before what a search by chance has tried.
func (p Progress) then() string {
	if all := p.systematic(); all != "" {
		return all + ", then "
	}
	return ""
}

// heldBefore says what was held in a search by chance that has tried all schedules of some kind
// before: those are all only with that.
func (p Progress) heldBefore() string {
	if p.systematic() == "" {
		return ""
	}
	return p.held()
}

// saturation says that a search was ended because there was nothing new to see.
func (p Progress) saturation() string {
	if p.Saturated == 0 {
		return ""
	}
	return "; the last " + strconv.FormatUint(p.Saturated, 10) + " showed nothing that was not seen before"
}

// rounds says how far DFS has come.
func (p Progress) rounds() string {
	switch {
	case p.Unbounded:
		return "all schedules tried" + inParentheses(p.Runs)
	case p.Exhausted, p.Sequences > 0:
		return upTo(p.Bound) + " tried" + inParentheses(p.Runs)
	case p.Bound == 0:
		return count(p.Runs, "schedule") + " without preemption tried"
	}
	text := upTo(p.Bound-1) + " tried" + inParentheses(p.EarlierRuns)
	if p.Runs > 0 {
		text += ", " + strconv.FormatUint(p.Runs, 10) + " of those with at most " + strconv.Itoa(p.Bound)
	}
	return text
}

// counted says what else than preemptions is meant by them.
func (p Progress) counted() string {
	switch {
	case p.Unbounded || !p.Stalls && !p.Draws:
		return ""
	case !p.Draws:
		return ", stalls counted as preemptions"
	case !p.Stalls:
		return ", random choices counted as preemptions"
	}
	return ", stalls and random choices counted as preemptions"
}

// gaps says why DFS has not tried all that rounds speaks of; "" if it has.
func (p Progress) gaps() string {
	text := ""
	if p.CutOff == 1 {
		text += "; but 1 run was cut off, and what it would have led to was not tried"
	} else if p.CutOff > 1 {
		text += "; but " + count(p.CutOff, "run") + " were cut off, and what they would have led to was not tried"
	}
	if p.Diverged > 0 {
		text += "; but " + count(p.Diverged, "run") + " did not repeat what an earlier one did: the program is not deterministic, and some schedules were not tried"
	}
	if p.Abandoned {
		text += "; but there is more to keep in mind for it than is allowed, and the search of all schedules was given up: use -strategy pct"
	}
	return text
}

// upTo names the schedules of a round.
func upTo(bound int) string {
	if bound == 0 {
		return "all schedules without preemption"
	}
	return "all schedules with at most " + count(uint64(bound), "preemption")
}

func inParentheses(n uint64) string { return " (" + strconv.FormatUint(n, 10) + ")" }

// count returns "1 thing" or "n things".
func count(n uint64, thing string) string {
	text := strconv.FormatUint(n, 10) + " " + thing
	if n != 1 {
		text += "s"
	}
	return text
}
