package wicket

import (
	"fmt"
	"testing"
)

// The protocol of stamps as a model: one node with one field, and goroutines whose every look at the ticket, at the uses, at a slot
// and at the field is a step. All interleavings are tried. Sections leave values that nobody else may see.

// A nodeFlaw is a way to do it that looks right.
type nodeFlaw int

const (
	noFlaw nodeFlaw = iota
	nodeLoadsWithoutSecondLook
	secondLookAsksWhoRuns // and not what the section has done, which has ended meanwhile
	secondLookAtUsesLast  // when another section may have begun
	nodeStoresUnseen
	nodeStoresLookFirst
	sectionsIgnoreStores
	usesBeforeTicket
	readingIsEnough  // to write
	generationStays  // when a section is interrupted
	resumesBlindly   // without a compare-and-swap
	marksTakenKeep   // an access passes a section that relents, and leaves it as it is
	oldUsesCount     // those of another ticket
	stampedIsEnough  // by another section with the same ticket, which may wait for a store
	readersEndAlone  // the first that goes ends what they share
	sectionsTakeOver // what a section of another lock has
	claimedIsFree    // as long as its section has not said what for
	claimsOnce       // without a look at what the other section does meanwhile
	notesOnce        // without a look whether another section has claimed the node meanwhile
	nodeFlaws
)

// A nodeTicket is the goroutine whose slot it is, and the generation; 0 is no ticket.
type nodeTicket struct{ slot, generation int8 }

type nodeSlot struct {
	generation int8
	state      modelState
}

// A nodeWorld is everything at one moment. It can be compared. The last slot is shared by readers.
type nodeWorld struct {
	lock          int8
	slots         [4]nodeSlot
	readers       int8
	ticket        nodeTicket
	tag           nodeTicket
	read, written bool
	underWay      int8
	value         int16
	passedOn      bool // the section has let another goroutine have the node

	gs [3]nodeGoroutine
}

const sharedSlot = 3

type nodeGoroutine struct {
	at     int8
	ended  bool
	seen   int16
	ticket nodeTicket
	ran    bool // a section of another goroutine was running at the first look
	found  bool // what it has done was found by the second
	taken  bool
}

type nodeStep func(w *nodeWorld, me int8, f nodeFlaw) (made bool, wrong string)

type nodeProgram []nodeStep

func (w *nodeWorld) next(me int8) (bool, string) { w.gs[me].at++; return true, "" }

func (w *nodeWorld) current(t nodeTicket) bool {
	return t.generation > 0 && w.slots[t.slot].generation == t.generation && w.slots[t.slot].state != isOpen
}

func (w *nodeWorld) has(t nodeTicket, toStore bool, f nodeFlaw) bool {
	return (w.tag == t || f == oldUsesCount) && (w.written || toStore && w.read)
}

// inWay reports whether a section of another goroutine has used the node.
func (w *nodeWorld) inWay(me int8, toStore bool, f nodeFlaw) bool {
	return w.ticket.slot != me && w.current(w.ticket) && w.has(w.ticket, toStore, f)
}

func own(me int8) int8 { return me }

func takeNodeLock(w *nodeWorld, me int8, _ nodeFlaw) (bool, string) {
	if w.lock != 0 {
		return false, ""
	}
	w.lock = -1
	w.slots[me].generation++
	w.slots[me].state = isHeld
	return w.next(me)
}

func readNode(w *nodeWorld, me int8, _ nodeFlaw) (bool, string) {
	w.gs[me].seen = w.value
	return w.next(me)
}

func leaveBetween(w *nodeWorld, me int8, _ nodeFlaw) (bool, string) {
	if w.value != w.gs[me].seen {
		return true, fmt.Sprintf("a section has read %d, and finds %d", w.gs[me].seen, w.value)
	}
	w.value |= intermediate
	w.gs[me].seen = w.value
	return w.next(me)
}

func leaveFinal(w *nodeWorld, me int8, _ nodeFlaw) (bool, string) {
	if w.value != w.gs[me].seen {
		return true, fmt.Sprintf("a section has written %d, and finds %d", w.gs[me].seen, w.value)
	}
	w.value = w.value&^intermediate + 1
	return w.next(me)
}

func endNodeSection(w *nodeWorld, me int8, _ nodeFlaw) (bool, string) {
	w.slots[me].state = isOpen
	return w.next(me)
}

func releaseNodeLock(w *nodeWorld, me int8, _ nodeFlaw) (bool, string) {
	w.lock, w.gs[me].ended = 0, true
	return true, ""
}

// nodeSection reads the node and writes it twice. In between it relents if it is told to.
func nodeSection(relenting bool) nodeProgram {
	p := nodeProgram{takeNodeLock}
	p = append(p, stamps(own, false)...)
	p = append(p, readNode)
	p = append(p, stamps(own, true)...)
	p = append(p, leaveBetween)
	if relenting {
		p = append(p,
			func(w *nodeWorld, me int8, _ nodeFlaw) (bool, string) {
				w.value &^= intermediate // what it has called may show it
				w.gs[me].seen = w.value
				w.slots[me].state = isRelenting
				return w.next(me)
			},
			func(w *nodeWorld, me int8, f nodeFlaw) (bool, string) { // a look, in the way that is wrong
				w.gs[me].taken = w.slots[me].state == isRelenting
				return w.next(me)
			},
			func(w *nodeWorld, me int8, f nodeFlaw) (bool, string) {
				if f != resumesBlindly {
					w.gs[me].taken = w.slots[me].state == isRelenting
				}
				if !w.gs[me].taken {
					w.slots[me].generation++
				}
				w.slots[me].state = isHeld
				return w.next(me)
			},
			func(w *nodeWorld, me int8, f nodeFlaw) (bool, string) {
				if w.gs[me].taken && w.value != w.gs[me].seen {
					return true, fmt.Sprintf("a section that nobody has passed has left %d, and finds %d", w.gs[me].seen, w.value)
				}
				return w.next(me)
			})
		p = append(p, stamps(own, true)...)
		p = append(p, readNode, leaveBetween)
	}
	return append(p, leaveFinal, endNodeSection, releaseNodeLock)
}

// passingSection writes the node, and lets another goroutine have it. It does not use it again.
func passingSection() nodeProgram {
	p := nodeProgram{takeNodeLock}
	p = append(p, stamps(own, true)...)
	return append(p,
		func(w *nodeWorld, me int8, f nodeFlaw) (bool, string) {
			w.value++
			if f != generationStays {
				w.slots[me].state = isOpen
			}
			return w.next(me)
		},
		func(w *nodeWorld, me int8, _ nodeFlaw) (bool, string) { w.passedOn = true; return w.next(me) },
		func(w *nodeWorld, me int8, f nodeFlaw) (bool, string) {
			if f != generationStays {
				w.slots[me].generation++
			}
			w.slots[me].state = isHeld
			return w.next(me)
		}, endNodeSection, releaseNodeLock)
}

// receiver is a goroutine that has the node from a section, rightly: it must not wait.
func receiver() nodeProgram {
	return nodeProgram{
		func(w *nodeWorld, me int8, _ nodeFlaw) (bool, string) {
			if !w.passedOn {
				return false, ""
			}
			return w.next(me)
		},
		func(w *nodeWorld, me int8, f nodeFlaw) (bool, string) {
			w.gs[me].ended = true
			if w.inWay(me, true, f) {
				return true, "a goroutine waits for a section that has let it have the node"
			}
			return true, ""
		},
	}
}

// readingOnly is a section that does not write.
func readingOnly() nodeProgram {
	p := nodeProgram{takeNodeLock}
	p = append(p, stamps(own, false)...)
	return append(p, readNode, endNodeSection, releaseNodeLock)
}

// freeLoad is a load beside sections that only read. It must not wait.
func freeLoad() nodeProgram {
	return nodeProgram{func(w *nodeWorld, me int8, f nodeFlaw) (bool, string) {
		w.gs[me].ended = true
		if w.inWay(me, false, f) {
			return true, "a load waits for a section that only reads"
		}
		return true, ""
	}}
}

// sharingSection reads twice, and shares its slot.
func sharingSection() nodeProgram {
	shared := func(int8) int8 { return sharedSlot }
	p := nodeProgram{func(w *nodeWorld, me int8, _ nodeFlaw) (bool, string) {
		if w.lock < 0 {
			return false, ""
		}
		w.lock++
		return w.next(me)
	}, func(w *nodeWorld, me int8, _ nodeFlaw) (bool, string) {
		if w.readers == 0 {
			w.slots[sharedSlot].generation++
			w.slots[sharedSlot].state = isHeld
		}
		w.readers++
		return w.next(me)
	}}
	p = append(p, stamps(shared, false)...)
	return append(p, readNode,
		func(w *nodeWorld, me int8, f nodeFlaw) (bool, string) {
			if w.value != w.gs[me].seen {
				return true, fmt.Sprintf("a section that reads has read %d, and finds %d", w.gs[me].seen, w.value)
			}
			w.readers--
			if w.readers == 0 || f == readersEndAlone {
				w.slots[sharedSlot].state = isOpen
			}
			return w.next(me)
		},
		func(w *nodeWorld, me int8, _ nodeFlaw) (bool, string) {
			w.lock--
			w.gs[me].ended = true
			return true, ""
		})
}

// pass lets an access pass a section that relents. It reports whether the access waits.
func (w *nodeWorld) pass(me int8, toStore bool, f nodeFlaw) (waits bool) {
	if !w.inWay(me, toStore, f) {
		return false
	}
	s := &w.slots[w.ticket.slot]
	if s.state != isRelenting {
		return true
	}
	if f != marksTakenKeep {
		s.state = isOpen
	}
	return false
}

// nodeLoad is without the lock.
func nodeLoad() nodeProgram {
	return nodeProgram{
		func(w *nodeWorld, me int8, f nodeFlaw) (bool, string) {
			if w.pass(me, false, f) {
				return false, ""
			}
			w.gs[me].ticket, w.gs[me].ran = w.ticket, w.current(w.ticket)
			return w.next(me)
		},
		readNode,
		func(w *nodeWorld, me int8, f nodeFlaw) (bool, string) {
			g := &w.gs[me]
			g.found = g.ran && w.has(g.ticket, false, f)
			switch f {
			case secondLookAsksWhoRuns:
				g.found = w.inWay(me, false, f)
			case secondLookAtUsesLast:
				g.found = w.ticket != g.ticket
			}
			return w.next(me)
		},
		func(w *nodeWorld, me int8, f nodeFlaw) (bool, string) {
			g := &w.gs[me]
			disturbed := g.found || w.ticket != g.ticket
			if f == secondLookAtUsesLast {
				disturbed = g.found || g.ran && w.has(g.ticket, false, f)
			}
			if disturbed && f != nodeLoadsWithoutSecondLook {
				g.at = 0
				return true, ""
			}
			g.ended = true
			if g.seen&intermediate != 0 {
				return true, fmt.Sprintf("a load sees %d, which a section has in between", g.seen)
			}
			return true, ""
		},
	}
}

// nodeStore is without the lock.
func nodeStore() nodeProgram {
	count := func(w *nodeWorld, n int8, f nodeFlaw) {
		if f != nodeStoresUnseen {
			w.underWay += n
		}
	}
	return nodeProgram{
		func(w *nodeWorld, me int8, f nodeFlaw) (bool, string) {
			if w.pass(me, true, f) {
				return false, ""
			}
			return w.next(me)
		},
		func(w *nodeWorld, me int8, f nodeFlaw) (bool, string) {
			count(w, 1, f)
			return w.next(me)
		},
		func(w *nodeWorld, me int8, f nodeFlaw) (bool, string) {
			if f != nodeStoresLookFirst && w.inWay(me, true, f) && !(f == marksTakenKeep && w.slots[w.ticket.slot].state == isRelenting) {
				count(w, -1, f)
				w.gs[me].at = 0
				return true, ""
			}
			return w.next(me)
		},
		func(w *nodeWorld, me int8, _ nodeFlaw) (bool, string) { w.value = carelessly; return w.next(me) },
		func(w *nodeWorld, me int8, f nodeFlaw) (bool, string) {
			count(w, -1, f)
			w.gs[me].ended = true
			return true, ""
		},
	}
}

// exploreNodes tries all interleavings, and returns the first thing that is wrong.
func exploreNodes(f nodeFlaw, first nodeWorld, programs ...nodeProgram) (wrong string, worlds int) {
	seen := make(map[nodeWorld]bool)
	var visit func(w nodeWorld) string
	visit = func(w nodeWorld) string {
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
			made, wrong := p[v.gs[i].at](&v, int8(i), f)
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
	return visit(first), len(seen)
}

// usedBefore is a world in which a section has written the node that has ended.
var usedBefore = nodeWorld{
	slots:  [4]nodeSlot{2: {generation: 1}},
	ticket: nodeTicket{2, 1}, tag: nodeTicket{2, 1}, read: true, written: true,
}

type nodeModel struct {
	name     string
	first    nodeWorld
	programs []nodeProgram
}

var nodeModels = append([]nodeModel{
	{"a section, a load", nodeWorld{}, []nodeProgram{nodeSection(false), nodeLoad()}},
	{"a section, a store", nodeWorld{}, []nodeProgram{nodeSection(false), nodeStore()}},
	{"two sections, a load", nodeWorld{}, []nodeProgram{nodeSection(false), nodeSection(false), nodeLoad()}},
	{"two sections, a store", nodeWorld{}, []nodeProgram{nodeSection(false), nodeSection(false), nodeStore()}},
	{"a section, a load, a store", nodeWorld{}, []nodeProgram{nodeSection(false), nodeLoad(), nodeStore()}},
	{"a section, two stores", nodeWorld{}, []nodeProgram{nodeSection(false), nodeStore(), nodeStore()}},
	{"a section that relents, a load, a store", nodeWorld{}, []nodeProgram{nodeSection(true), nodeLoad(), nodeStore()}},
	{"a section that relents, two stores", nodeWorld{}, []nodeProgram{nodeSection(true), nodeStore(), nodeStore()}},
	{"two sections that relent, a store", nodeWorld{}, []nodeProgram{nodeSection(true), nodeSection(true), nodeStore()}},
	{"sections that share, a store", nodeWorld{}, []nodeProgram{sharingSection(), sharingSection(), nodeStore()}},
	{"one that shares, one that writes, a store", nodeWorld{}, []nodeProgram{sharingSection(), nodeSection(false), nodeStore()}},
	{"a node that was used, a section, a store", usedBefore, []nodeProgram{nodeSection(false), nodeStore()}},
	{"a node that is passed on", nodeWorld{}, []nodeProgram{passingSection(), receiver()}},
	{"a node that was written and is read", usedBefore, []nodeProgram{readingOnly(), freeLoad()}},
}, twoLocks...)

func TestModelSectionsOnNodesAreUndisturbed(t *testing.T) {
	for _, m := range nodeModels {
		wrong, worlds := exploreNodes(noFlaw, m.first, m.programs...)
		if wrong != "" {
			t.Errorf("%s: %s", m.name, wrong)
		}
		if worlds < 10 {
			t.Errorf("%s: only %d worlds", m.name, worlds)
		}
	}
}

// TestModelRecognisesFlawsOfStamps: a model that finds nothing wrong with what is wrong shows nothing.
func TestModelRecognisesFlawsOfStamps(t *testing.T) {
	for f := noFlaw + 1; f < nodeFlaws; f++ {
		found := ""
		for _, m := range nodeModels {
			if wrong, _ := exploreNodes(f, m.first, m.programs...); wrong != "" {
				found = wrong
			}
		}
		if found == "" {
			t.Errorf("flaw %d is not recognised", f)
		}
	}
}
