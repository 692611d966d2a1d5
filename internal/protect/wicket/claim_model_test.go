package wicket

import "fmt"

// How sections claim a node, in the model, and sections of other locks that do.

// isTaken reports whether a section of another lock is in the way of one that claims the node.
func (w *nodeWorld) isTaken(t nodeTicket, me int8, writes bool, f nodeFlaw) bool {
	return f != sectionsTakeOver && t.slot != me && w.current(t) && (w.has(t, writes, f) || f != claimedIsFree && w.tag != t)
}

// stamps are the steps by which a section begins to read or write the node: it claims it, says what for, and looks whether it has
// it then.
func stamps(slot func(me int8) int8, writes bool) nodeProgram {
	ticketOf := func(w *nodeWorld, me int8) nodeTicket { return nodeTicket{slot(me), w.slots[slot(me)].generation} }
	back := func(w *nodeWorld, me, steps int8) (bool, string) { w.gs[me].at -= steps; return true, "" }
	note := func(w *nodeWorld, me int8, f nodeFlaw) {
		own := ticketOf(w, me)
		if w.tag != own {
			w.read, w.written = false, false
		}
		w.tag, w.read = own, true
		w.written = w.written || writes && f != readingIsEnough
	}
	return nodeProgram{
		func(w *nodeWorld, me int8, f nodeFlaw) (bool, string) {
			own := ticketOf(w, me)
			w.gs[me].taken = w.ticket == own && w.tag == own && w.read && (w.written || !writes)
			if w.ticket != own && w.isTaken(w.ticket, me, writes, f) {
				return false, ""
			}
			w.gs[me].ticket = w.ticket
			return w.next(me)
		},
		func(w *nodeWorld, me int8, f nodeFlaw) (bool, string) {
			switch {
			case f == usesBeforeTicket:
				note(w, me, f)
			case w.ticket != w.gs[me].ticket:
				return back(w, me, 1)
			default:
				w.ticket = ticketOf(w, me)
			}
			return w.next(me)
		},
		func(w *nodeWorld, me int8, f nodeFlaw) (bool, string) {
			claimed := w.gs[me].ticket
			if f == claimsOnce || claimed == ticketOf(w, me) || !w.has(claimed, writes, f) || !w.isTaken(claimed, me, writes, f) {
				return w.next(me)
			}
			if w.ticket == ticketOf(w, me) {
				w.ticket = claimed
			}
			return back(w, me, 2)
		},
		func(w *nodeWorld, me int8, f nodeFlaw) (bool, string) {
			if f == usesBeforeTicket {
				w.ticket = ticketOf(w, me)
			} else {
				note(w, me, f)
			}
			return w.next(me)
		},
		func(w *nodeWorld, me int8, f nodeFlaw) (bool, string) {
			if w.ticket != ticketOf(w, me) && f != notesOnce && f != sectionsTakeOver {
				return back(w, me, 4)
			}
			return w.next(me)
		},
		func(w *nodeWorld, me int8, f nodeFlaw) (bool, string) {
			if w.underWay > 0 && f != sectionsIgnoreStores && !(f == stampedIsEnough && w.gs[me].taken) {
				return false, ""
			}
			return w.next(me)
		},
	}
}

// takeOtherLock begins a section under a lock that nobody else takes.
func takeOtherLock(w *nodeWorld, me int8, _ nodeFlaw) (bool, string) {
	w.slots[me].generation++
	w.slots[me].state = isHeld
	return w.next(me)
}

func releaseOtherLock(w *nodeWorld, me int8, _ nodeFlaw) (bool, string) {
	w.gs[me].ended = true
	return true, ""
}

// sectionOfAnotherLock uses the node as well, carelessly: twice.
func sectionOfAnotherLock(writes bool) nodeProgram {
	p := append(nodeProgram{takeOtherLock}, stamps(own, writes)...)
	p = append(p, func(w *nodeWorld, me int8, f nodeFlaw) (bool, string) {
		if w.value&intermediate != 0 {
			return true, fmt.Sprintf("a section sees %d, which one of another lock has in between", w.value)
		}
		return readNode(w, me, f)
	})
	if writes {
		return append(p, leaveBetween, leaveFinal, endNodeSection, releaseOtherLock)
	}
	again := func(w *nodeWorld, me int8, f nodeFlaw) (bool, string) {
		if w.value != w.gs[me].seen {
			return true, fmt.Sprintf("a section has read %d, and finds %d", w.gs[me].seen, w.value)
		}
		return w.next(me)
	}
	return append(p, again, endNodeSection, releaseOtherLock)
}

// readsFirst is a section that has read the node when one of another lock may begin, and writes it then.
func readsFirst() nodeProgram {
	p := append(nodeProgram{takeOtherLock}, stamps(own, false)...)
	p = append(p, readNode, func(w *nodeWorld, me int8, _ nodeFlaw) (bool, string) { w.passedOn = true; return w.next(me) })
	p = append(p, stamps(own, true)...)
	return append(p, leaveBetween, leaveFinal, endNodeSection, releaseOtherLock)
}

// readsSecond is that of another lock.
func readsSecond() nodeProgram {
	begins := func(w *nodeWorld, me int8, _ nodeFlaw) (bool, string) {
		if !w.passedOn {
			return false, ""
		}
		return w.next(me)
	}
	return append(nodeProgram{begins}, sectionOfAnotherLock(false)...)
}

var twoLocks = []nodeModel{
	{"two locks, both write", nodeWorld{}, []nodeProgram{nodeSection(false), sectionOfAnotherLock(true)}},
	{"two locks, one reads", nodeWorld{}, []nodeProgram{sectionOfAnotherLock(true), sectionOfAnotherLock(false)}},
	{"two locks, one reads, a load", nodeWorld{}, []nodeProgram{sectionOfAnotherLock(true), sectionOfAnotherLock(false), nodeLoad()}},
	{"two locks, one reads before it writes", nodeWorld{}, []nodeProgram{readsFirst(), readsSecond()}},
	{"two locks, both write at once", nodeWorld{}, []nodeProgram{sectionOfAnotherLock(true), sectionOfAnotherLock(true)}},
	{"two locks, both write, a load", nodeWorld{}, []nodeProgram{sectionOfAnotherLock(true), sectionOfAnotherLock(true), nodeLoad()}},
	{"two locks, both write, a store", nodeWorld{}, []nodeProgram{sectionOfAnotherLock(true), sectionOfAnotherLock(true), nodeStore()}},
}
