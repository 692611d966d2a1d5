package wicket

import (
	"fmt"
	"testing"
)

// The protocol as a model: one object with one field, and goroutines whose every look at the word, at the
// stores that are under way and at the field is a step. All interleavings are tried. Sections write values that nobody else may see,
// and look whether what they have written is still there.

// A flaw is a way to do it that looks right.
type flaw int

const (
	none flaw = iota
	loadsWithoutSecondLook
	sequenceStays          // when a section ends
	storesWithoutBeingSeen // by sections that begin
	storesLookFirst        // and count themselves afterwards
	sectionsDoNotLook      // at stores that are under way
	sectionsLookFirst      // at them, and set the word afterwards
	sectionsResumeBlindly  // without a compare-and-swap
	passesBlindly          // an access that takes the mark of a section which relents
	readersDoNotLook
	storesPassReaders
	aloneDoNotLook  // sections that only read and have the lock to themselves
	storesPassAlone // such a section
	flaws
)

// marks of values.
const (
	intermediate = 64 // only the section may see it
	carelessly   = 32
)

type modelState int8

const (
	isOpen modelState = iota
	isHeld
	isRelenting
	isReadAlone // by a section that has the lock to itself: loads pass
)

// A world is everything at one moment. It can be compared.
type world struct {
	lock    int8 // goroutines that hold it: -1 is one that writes
	state   modelState
	readers int8
	seq     int8
	passing int8 // stores that are under way
	value   int16

	gs [3]modelGoroutine
}

type modelGoroutine struct {
	at    int8
	ended bool
	seen  int16 // the value that it has seen last
	look  modelState
	seq   int8
	taken bool // a relenting section has its mark back
}

// A step changes the world. It reports whether it could be made, and what is wrong.
type step func(w *world, g *modelGoroutine, f flaw) (made bool, wrong string)

type modelProgram []step

func next(w *world, g *modelGoroutine) (bool, string) { g.at++; return true, "" }

// section writes twice, and relents in between if it is told to.
func section(relenting bool) modelProgram {
	p := modelProgram{
		func(w *world, g *modelGoroutine, _ flaw) (bool, string) { // the lock
			if w.lock != 0 {
				return false, ""
			}
			w.lock = -1
			return next(w, g)
		},
		func(w *world, g *modelGoroutine, f flaw) (bool, string) {
			if f == sectionsLookFirst {
				if w.passing > 0 {
					return false, ""
				}
				return next(w, g)
			}
			w.state = isHeld
			return next(w, g)
		},
		func(w *world, g *modelGoroutine, f flaw) (bool, string) {
			switch {
			case f == sectionsLookFirst:
				w.state = isHeld
			case w.passing > 0 && f != sectionsDoNotLook:
				return false, ""
			}
			return next(w, g)
		},
		func(w *world, g *modelGoroutine, _ flaw) (bool, string) {
			g.seen = w.value
			return next(w, g)
		},
		func(w *world, g *modelGoroutine, _ flaw) (bool, string) {
			if w.value != g.seen {
				return true, fmt.Sprintf("a section has read %d, and finds %d", g.seen, w.value)
			}
			w.value = g.seen&^intermediate | intermediate
			g.seen = w.value
			return next(w, g)
		},
	}
	if relenting {
		p = append(p,
			func(w *world, g *modelGoroutine, _ flaw) (bool, string) {
				w.value &^= intermediate // what it has called may show it
				g.seen = w.value
				w.state = isRelenting
				return next(w, g)
			},
			func(w *world, g *modelGoroutine, _ flaw) (bool, string) { // what it has called may wait for an access
				g.look = w.state
				return next(w, g)
			},
			func(w *world, g *modelGoroutine, f flaw) (bool, string) {
				blindly := f == sectionsResumeBlindly && g.look == isRelenting
				g.taken = blindly || w.state == isRelenting
				w.state = isHeld
				return next(w, g)
			},
			func(w *world, g *modelGoroutine, f flaw) (bool, string) {
				if !g.taken && w.passing > 0 { // it enters anew
					return false, ""
				}
				return next(w, g)
			},
			func(w *world, g *modelGoroutine, _ flaw) (bool, string) {
				if g.taken && w.value != g.seen {
					return true, fmt.Sprintf("a section that nobody has passed has left %d, and finds %d", g.seen, w.value)
				}
				w.value |= intermediate
				g.seen = w.value
				return next(w, g)
			})
	}
	return append(p,
		func(w *world, g *modelGoroutine, _ flaw) (bool, string) {
			if w.value != g.seen {
				return true, fmt.Sprintf("a section has written %d, and finds %d", g.seen, w.value)
			}
			w.value = w.value&^intermediate + 1
			return next(w, g)
		},
		func(w *world, g *modelGoroutine, f flaw) (bool, string) {
			w.open(f)
			return next(w, g)
		},
		func(w *world, g *modelGoroutine, _ flaw) (bool, string) {
			w.lock, g.ended = 0, true
			return true, ""
		})
}

func (w *world) open(f flaw) {
	w.state = isOpen
	if f != sequenceStays {
		w.seq++
	}
}

// readingSection reads twice.
func readingSection() modelProgram {
	return modelProgram{
		func(w *world, g *modelGoroutine, _ flaw) (bool, string) {
			if w.lock < 0 {
				return false, ""
			}
			w.lock++
			return next(w, g)
		},
		func(w *world, g *modelGoroutine, _ flaw) (bool, string) {
			w.readers++
			return next(w, g)
		},
		func(w *world, g *modelGoroutine, f flaw) (bool, string) {
			if w.passing > 0 && f != readersDoNotLook {
				return false, ""
			}
			return next(w, g)
		},
		func(w *world, g *modelGoroutine, _ flaw) (bool, string) {
			g.seen = w.value
			return next(w, g)
		},
		func(w *world, g *modelGoroutine, _ flaw) (bool, string) {
			if w.value != g.seen {
				return true, fmt.Sprintf("a section that reads has read %d, and finds %d", g.seen, w.value)
			}
			w.readers--
			return next(w, g)
		},
		func(w *world, g *modelGoroutine, _ flaw) (bool, string) {
			w.lock--
			g.ended = true
			return true, ""
		},
	}
}

// readingAlone reads twice, with the lock to itself.
func readingAlone() modelProgram {
	return modelProgram{
		func(w *world, g *modelGoroutine, _ flaw) (bool, string) {
			if w.lock != 0 {
				return false, ""
			}
			w.lock = -1
			return next(w, g)
		},
		func(w *world, g *modelGoroutine, _ flaw) (bool, string) {
			w.state = isReadAlone
			return next(w, g)
		},
		func(w *world, g *modelGoroutine, f flaw) (bool, string) {
			if w.passing > 0 && f != aloneDoNotLook {
				return false, ""
			}
			return next(w, g)
		},
		func(w *world, g *modelGoroutine, _ flaw) (bool, string) {
			g.seen = w.value
			return next(w, g)
		},
		func(w *world, g *modelGoroutine, f flaw) (bool, string) {
			if w.value != g.seen {
				return true, fmt.Sprintf("a section that reads alone has read %d, and finds %d", g.seen, w.value)
			}
			w.open(f)
			return next(w, g)
		},
		func(w *world, g *modelGoroutine, _ flaw) (bool, string) {
			w.lock, g.ended = 0, true
			return true, ""
		},
	}
}

// load is without the lock.
func load() modelProgram {
	return modelProgram{
		func(w *world, g *modelGoroutine, f flaw) (bool, string) {
			switch w.state {
			case isRelenting:
				w.open(f)
			case isHeld:
				return false, ""
			}
			g.seq = w.seq
			return next(w, g)
		},
		func(w *world, g *modelGoroutine, _ flaw) (bool, string) {
			g.seen = w.value
			return next(w, g)
		},
		func(w *world, g *modelGoroutine, f flaw) (bool, string) {
			if f != loadsWithoutSecondLook && (w.seq != g.seq || w.state != isOpen && w.state != isReadAlone) {
				g.at = 0
				return true, ""
			}
			g.ended = true
			return true, sees(g)
		},
	}
}

func sees(g *modelGoroutine) string {
	if g.seen&intermediate != 0 {
		return fmt.Sprintf("a load sees %d, which a section has in between", g.seen)
	}
	return ""
}

// store is without the lock. If it finds a section it is not under way, and waits.
func store() modelProgram {
	blocked := func(w *world, f flaw) bool {
		if w.readers > 0 && f != storesPassReaders {
			return true
		}
		return w.state != isOpen && !(w.state == isReadAlone && f == storesPassAlone)
	}
	count := func(w *world, n int8, f flaw) {
		if f != storesWithoutBeingSeen {
			w.passing += n
		}
	}
	return modelProgram{
		func(w *world, g *modelGoroutine, f flaw) (bool, string) { // waits
			switch {
			case w.state == isRelenting && f == passesBlindly:
				g.look = isRelenting
			case w.state == isRelenting:
				w.open(f)
			case blocked(w, f):
				return false, ""
			}
			return next(w, g)
		},
		func(w *world, g *modelGoroutine, f flaw) (bool, string) {
			count(w, 1, f)
			return next(w, g)
		},
		func(w *world, g *modelGoroutine, f flaw) (bool, string) {
			switch {
			case f == passesBlindly && g.look == isRelenting:
				w.open(f) // whatever has become of the section
			case f != storesLookFirst && blocked(w, f):
				count(w, -1, f)
				g.at = 0
				return true, ""
			}
			return next(w, g)
		},
		func(w *world, g *modelGoroutine, _ flaw) (bool, string) {
			w.value = carelessly
			return next(w, g)
		},
		func(w *world, g *modelGoroutine, f flaw) (bool, string) {
			count(w, -1, f)
			g.ended = true
			return true, ""
		},
	}
}

// explore tries all interleavings, and returns the first thing that is wrong. A goroutine that cannot end is wrong.
func explore(f flaw, programs ...modelProgram) (wrong string, worlds int) {
	seen := make(map[world]bool)
	var visit func(w world) string
	visit = func(w world) string {
		if seen[w] {
			return ""
		}
		seen[w] = true
		moved, left := false, 0
		for i, p := range programs {
			if w.gs[i].ended {
				continue
			}
			left++
			v := w
			made, wrong := p[v.gs[i].at](&v, &v.gs[i], f)
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
	return visit(world{}), len(seen)
}

var models = []struct {
	name     string
	programs []modelProgram
}{
	{"a section, a load", []modelProgram{section(false), load()}},
	{"a section, a store", []modelProgram{section(false), store()}},
	{"two sections, a load", []modelProgram{section(false), section(false), load()}},
	{"two sections, a store", []modelProgram{section(false), section(false), store()}},
	{"a section, a load, a store", []modelProgram{section(false), load(), store()}},
	{"a section, two stores", []modelProgram{section(false), store(), store()}},
	{"a section that relents, a load, a store", []modelProgram{section(true), load(), store()}},
	{"a section that relents, two stores", []modelProgram{section(true), store(), store()}},
	{"two sections that relent, a store", []modelProgram{section(true), section(true), store()}},
	{"a section that reads alone, a load, a store", []modelProgram{readingAlone(), load(), store()}},
	{"a section that reads alone, one that writes, a store", []modelProgram{readingAlone(), section(false), store()}},
	{"a section that reads alone, one that relents, a load", []modelProgram{readingAlone(), section(true), load()}},
	{"sections that read, a store", []modelProgram{readingSection(), readingSection(), store()}},
	{"a section that reads, one that writes, a store", []modelProgram{readingSection(), section(false), store()}},
}

func TestModelSectionsAreUndisturbed(t *testing.T) {
	for _, m := range models {
		wrong, worlds := explore(none, m.programs...)
		if wrong != "" {
			t.Errorf("%s: %s", m.name, wrong)
		}
		if worlds < 20 {
			t.Errorf("%s: only %d worlds", m.name, worlds)
		}
	}
}

// TestModelRecognisesFlaws: a model that finds nothing wrong with what is wrong shows nothing.
func TestModelRecognisesFlaws(t *testing.T) {
	for f := none + 1; f < flaws; f++ {
		found := ""
		for _, m := range models {
			if wrong, _ := explore(f, m.programs...); wrong != "" {
				found = wrong
			}
		}
		if found == "" {
			t.Errorf("flaw %d is not recognised", f)
		}
	}
}
