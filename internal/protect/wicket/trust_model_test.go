package wicket

import (
	"fmt"
	"testing"
)

// Trust as a model: sections of a guard that may trust, and stores and loads without the lock, on processors that keep
// stores to themselves for a while. Each goroutine has a queue of stores that others cannot see yet; the oldest may become
// visible at any step, a locked instruction waits until all of its own are, and a barrier until all of the others' are, one processor
// after the other. It has nothing of what model_test.go is about: relenting, reading, and how accesses wait.

// A trustFlaw is a way to do it that looks right.
type trustFlaw int

const (
	noTrustFlaw                trustFlaw = iota
	storesMakeNoBarrier                  // before they look at the word
	barriersComeFirst                    // and the store is counted afterwards
	trustGoesFirst                       // before the barrier is made, so that another store makes none
	sectionsForgetTrust                  // they look for stores, and not for whether the guard still trusts
	sectionsDoNotLookBack                // after the word is set by a plain store
	sectionsAlwaysStore                  // also if the guard does not trust
	sectionsLookAtTheEndBefore           // whether trust holds: before the word is set, and not behind it
	sectionsForgetTheEnd                 // they do not look whether trust holds at all
	endsAreToldAtOnce                    // that trust has gone, and then the barrier is made
	storesRelyOnAnEndThatComes           // they make no barrier as soon as trust begins to end
	trustFlaws
)

// A pending is a store that others cannot see yet.
type pending struct {
	word  bool // to the word; else to the field
	value int8
}

type trustWorld struct {
	locked  bool
	word    int8 // odd: a section is running. It changes with each section
	value   int8
	trusts  bool
	trust   int8 // of all guards: holds, ending or hasGone
	passing int8
	queue   [4][4]pending
	queued  [4]int8
	gs      [4]trustGoroutine
}

type trustGoroutine struct {
	at    int8
	ended bool
	word  int8 // as it was seen
	seen  int8 // the value that was seen or written last
	found bool // the guard trusted
	held  bool // trust held before the word was set
	next  int8 // the processor that a barrier waits for
}

func (w *trustWorld) flushOne(i int) {
	p := w.queue[i][0]
	copy(w.queue[i][:], w.queue[i][1:])
	w.queued[i]--
	w.queue[i][w.queued[i]] = pending{}
	if p.word {
		w.word = p.value
	} else {
		w.value = p.value
	}
}

func (w *trustWorld) flush(i int) {
	for w.queued[i] > 0 {
		w.flushOne(i)
	}
}

func (w *trustWorld) put(i int, p pending) {
	w.queue[i][w.queued[i]] = p
	w.queued[i]++
}

// sees is what a goroutine reads: its own stores come first.
func (w *trustWorld) sees(i int, word bool) int8 {
	for k := w.queued[i] - 1; k >= 0; k-- {
		if p := w.queue[i][k]; p.word == word {
			return p.value
		}
	}
	if word {
		return w.word
	}
	return w.value
}

// A trustStep changes the world for goroutine i. It reports whether it could be made, and what is wrong.
type trustStep func(w *trustWorld, i int, f trustFlaw) (made bool, wrong string)

const (
	onlyTheSections = 64 // a value that no one else may see
	fromWithout     = 32
)

// trustSection writes to the field, and looks whether that is still there. If it began by a locked instruction it may
// have the guard trust.
func trustSection(gives bool) []trustStep {
	return []trustStep{
		func(w *trustWorld, i int, _ trustFlaw) (bool, string) { // the lock
			if w.locked {
				return false, ""
			}
			w.flush(i)
			w.locked = true
			w.gs[i].at++
			return true, ""
		},
		func(w *trustWorld, i int, f trustFlaw) (bool, string) { // how does it begin?
			w.gs[i].found = w.trusts && w.passing == 0 || f == sectionsAlwaysStore
			w.gs[i].held = w.trust == holds
			w.gs[i].at++
			return true, ""
		},
		func(w *trustWorld, i int, _ trustFlaw) (bool, string) {
			w.put(i, pending{true, w.sees(i, true) + 1})
			if !w.gs[i].found {
				w.flush(i)
			}
			w.gs[i].at++
			return true, ""
		},
		func(w *trustWorld, i int, f trustFlaw) (bool, string) { // does trust hold?
			g := &w.gs[i]
			g.at++
			still := w.trust == holds
			switch f {
			case sectionsLookAtTheEndBefore:
				still = g.held
			case sectionsForgetTheEnd:
				still = true
			}
			if g.found && !still {
				g.found = false
				w.flush(i)
			}
			g.held = false // it is not looked at again
			return true, ""
		},
		func(w *trustWorld, i int, f trustFlaw) (bool, string) {
			g := &w.gs[i]
			g.at++
			switch {
			case g.found && f == sectionsDoNotLookBack:
			case g.found && f == sectionsForgetTrust && w.passing == 0:
			case g.found && f == sectionsAlwaysStore && w.passing == 0:
			case g.found && w.trusts && w.passing == 0:
			default:
				g.found = false // it waits for stores, after a locked instruction
				w.flush(i)
			}
			return true, ""
		},
		func(w *trustWorld, i int, _ trustFlaw) (bool, string) {
			if !w.gs[i].found && w.passing > 0 {
				return false, ""
			}
			w.gs[i].at++
			return true, ""
		},
		func(w *trustWorld, i int, _ trustFlaw) (bool, string) {
			if !w.gs[i].found && w.trust == hasGone {
				w.flush(i)
				if gives {
					w.trust = holds
				} else if w.passing == 0 {
					w.trusts = false
				}
			}
			if gives && !w.gs[i].found && w.trust == holds && w.passing == 0 {
				w.flush(i)
				w.trusts = true
			}
			w.gs[i].at++
			return true, ""
		},
		func(w *trustWorld, i int, _ trustFlaw) (bool, string) {
			w.gs[i].seen = w.sees(i, false)
			w.gs[i].at++
			return true, ""
		},
		func(w *trustWorld, i int, _ trustFlaw) (bool, string) {
			g := &w.gs[i]
			if now := w.sees(i, false); now != g.seen {
				return true, fmt.Sprintf("a section has read %d, and finds %d", g.seen, now)
			}
			g.seen |= onlyTheSections
			w.put(i, pending{false, g.seen})
			g.at++
			return true, ""
		},
		func(w *trustWorld, i int, _ trustFlaw) (bool, string) {
			g := &w.gs[i]
			if now := w.sees(i, false); now != g.seen {
				return true, fmt.Sprintf("a section has written %d, and finds %d", g.seen, now)
			}
			w.put(i, pending{false, g.seen &^ onlyTheSections})
			g.at++
			return true, ""
		},
		func(w *trustWorld, i int, _ trustFlaw) (bool, string) {
			w.put(i, pending{true, w.sees(i, true) + 1})
			w.gs[i].at++
			return true, ""
		},
		func(w *trustWorld, i int, _ trustFlaw) (bool, string) {
			w.flush(i)
			w.locked, w.gs[i].ended = false, true
			return true, ""
		},
	}
}

// trustStore is without the lock.
func trustStore(f trustFlaw) []trustStep {
	countIn := func(w *trustWorld, i int, f trustFlaw) (bool, string) {
		w.flush(i)
		w.passing++
		if f != barriersComeFirst {
			w.gs[i].found = w.trusts
		}
		if f == trustGoesFirst {
			w.trusts = false
		}
		w.gs[i].next = 0
		w.gs[i].at++
		return true, ""
	}
	barrier := func(w *trustWorld, i int, f trustFlaw) (bool, string) {
		g := &w.gs[i]
		if f == barriersComeFirst {
			g.found = w.trusts
		}
		switch {
		case !g.found, f == storesMakeNoBarrier, g.next == 0 && relies(w, f):
			g.at++
		default:
			w.flush(int(g.next))
			if g.next++; int(g.next) == len(w.gs) {
				g.at++
			}
		}
		return true, ""
	}
	first, second := countIn, barrier
	if f == barriersComeFirst {
		first, second = barrier, countIn
	}
	return []trustStep{
		func(w *trustWorld, i int, f trustFlaw) (bool, string) { // it waits
			if w.sees(i, true)%2 == 1 {
				return false, ""
			}
			w.gs[i].next = 0
			w.gs[i].at++
			return true, ""
		},
		first,
		second,
		func(w *trustWorld, i int, _ trustFlaw) (bool, string) {
			w.flush(i)
			if w.gs[i].found {
				w.trusts = false
			}
			w.gs[i].at++
			return true, ""
		},
		func(w *trustWorld, i int, _ trustFlaw) (bool, string) {
			if w.sees(i, true)%2 == 1 {
				w.flush(i)
				w.passing--
				w.gs[i].at = 0
				return true, ""
			}
			w.gs[i].at++
			return true, ""
		},
		func(w *trustWorld, i int, _ trustFlaw) (bool, string) {
			w.put(i, pending{false, fromWithout})
			w.gs[i].at++
			return true, ""
		},
		func(w *trustWorld, i int, _ trustFlaw) (bool, string) {
			w.flush(i)
			w.passing--
			w.gs[i].ended = true
			return true, ""
		},
	}
}

// relies reports whether a store needs no barrier, because one was made when the trust of all guards ended.
func relies(w *trustWorld, f trustFlaw) bool {
	return w.trust == hasGone || f == storesRelyOnAnEndThatComes && w.trust != holds
}

// trustEnd is what a store to some other guard does when barriers have run out.
func trustEnd() []trustStep {
	return []trustStep{
		func(w *trustWorld, i int, f trustFlaw) (bool, string) {
			if w.trust != holds {
				w.gs[i].ended = true
				return true, ""
			}
			w.trust = ending
			if f == endsAreToldAtOnce {
				w.trust = hasGone
			}
			w.gs[i].at++
			return true, ""
		},
		func(w *trustWorld, i int, _ trustFlaw) (bool, string) {
			g := &w.gs[i]
			w.flush(int(g.next))
			if g.next++; int(g.next) == len(w.gs) {
				g.at++
			}
			return true, ""
		},
		func(w *trustWorld, i int, _ trustFlaw) (bool, string) {
			w.trust, w.gs[i].ended = hasGone, true
			return true, ""
		},
	}
}

// trustLoad is without the lock, and writes nothing.
func trustLoad() []trustStep {
	return []trustStep{
		func(w *trustWorld, i int, _ trustFlaw) (bool, string) {
			if w.word%2 == 1 {
				return false, ""
			}
			w.gs[i].word = w.word
			w.gs[i].at++
			return true, ""
		},
		func(w *trustWorld, i int, _ trustFlaw) (bool, string) {
			w.gs[i].seen = w.value
			w.gs[i].at++
			return true, ""
		},
		func(w *trustWorld, i int, _ trustFlaw) (bool, string) {
			g := &w.gs[i]
			if w.word != g.word {
				g.at = 0
				return true, ""
			}
			g.ended = true
			if g.seen&onlyTheSections != 0 {
				return true, fmt.Sprintf("a load sees %d, which a section has in between", g.seen)
			}
			return true, ""
		},
	}
}

// exploreTrust tries all interleavings, and all moments at which stores become visible.
func exploreTrust(f trustFlaw, trusts bool, programs ...[]trustStep) (wrong string, worlds int) {
	seen := make(map[trustWorld]bool)
	var visit func(w trustWorld) string
	visit = func(w trustWorld) string {
		if seen[w] {
			return ""
		}
		seen[w] = true
		moved, left := false, 0
		for i, p := range programs {
			if w.queued[i] > 0 {
				v := w
				v.flushOne(i)
				moved = true
				if wrong := visit(v); wrong != "" {
					return wrong
				}
			}
			if w.gs[i].ended {
				continue
			}
			left++
			v := w
			made, wrong := p[v.gs[i].at](&v, i, f)
			if wrong != "" {
				return wrong
			}
			if made {
				moved = true
				if wrong := visit(v); wrong != "" {
					return wrong
				}
			}
		}
		if !moved && left > 0 {
			return fmt.Sprintf("%d goroutines wait for ever", left)
		}
		return ""
	}
	return visit(trustWorld{trusts: trusts}), len(seen)
}

// exploreTrusts tries some sets of goroutines, on a guard that trusts and on one that does not.
func exploreTrusts(f trustFlaw, report func(name, wrong string, worlds int)) {
	section, gives, store, load, end := trustSection(false), trustSection(true), trustStore(f), trustLoad(), trustEnd()
	for _, m := range []struct {
		name     string
		programs [][]trustStep
	}{
		{"a section, a store", [][]trustStep{section, store}},
		{"a section, two stores", [][]trustStep{section, store, store}},
		{"a section, a load, a store", [][]trustStep{section, load, store}},
		{"two sections, a store", [][]trustStep{section, section, store}},
		{"two sections, a load", [][]trustStep{section, section, load}},
		{"a section that gives trust, two stores", [][]trustStep{gives, store, store}},
		{"a section that gives trust, another one, a store", [][]trustStep{gives, section, store}},
		{"a section, a store, the end of all trust", [][]trustStep{section, store, end}},
		{"a section, a load, the end of all trust", [][]trustStep{section, load, end}},
		{"a section, a section that gives trust again, a store, the end of all trust", [][]trustStep{section, gives, store, end}},
	} {
		for _, trusts := range []bool{false, true} {
			wrong, worlds := exploreTrust(f, trusts, m.programs...)
			report(fmt.Sprintf("%s, trust %t", m.name, trusts), wrong, worlds)
		}
	}
}

func TestModelSectionsOfGuardsThatTrustAreUndisturbed(t *testing.T) {
	all := 0
	exploreTrusts(noTrustFlaw, func(name, wrong string, worlds int) {
		if wrong != "" {
			t.Errorf("%s: %s", name, wrong)
		}
		all += worlds
	})
	t.Logf("%d worlds", all)
}

// TestModelOfTrustRecognisesFlaws: a model that finds nothing wrong with what is wrong shows nothing.
func TestModelOfTrustRecognisesFlaws(t *testing.T) {
	for f := noTrustFlaw + 1; f < trustFlaws; f++ {
		found := ""
		exploreTrusts(f, func(_, wrong string, _ int) {
			if wrong != "" {
				found = wrong
			}
		})
		if found == "" {
			t.Errorf("flaw %d is not recognised", f)
		}
	}
}
