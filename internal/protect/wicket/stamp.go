package wicket

import (
	"runtime"
	"sync/atomic"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/page"
)

// A Stamp is for fields of an object whose lock is elsewhere: a node of a list, an entry behind a map. It stands in the
// object, and its zero value is ready to use. It must not be copied.
//
// Which lock an object belongs to changes while the program runs, and most of the time it belongs to none: it is being made,
// or was taken out. So nothing is entered for an object. The first use of it in a section leaves the section's ticket
// there, and from then on accesses without the lock wait until the section has ended.
//
//	n.next.val++       n.u(&s, 1).next.u(&s, 2).val++
type Stamp struct {
	_      [0]atomic.Uint64
	ticket uint64 // of the section that has used it last
	uses   uint64 // what that has done, and stores that are under way
}

// The uses, from their lowest bit. The sets of fields are those of the ticket whose tag is beside them.
const (
	storesUnderWay = 1<<15 - 1
	wanted         = 1 << 15 // an access waits
	readFrom       = 16
	writtenFrom    = readFrom + Fields
	fieldSet       = 1<<Fields - 1
	tags           = ^uint64(1<<32 - 1)
)

// reading and writing are the uses of a field.
func reading(field uint64) uint64 { return field << readFrom }
func writing(field uint64) uint64 { return field<<readFrom | field<<writtenFrom }

// Lacks reports whether a section has to [Take] the node before it makes uses of it: uses are those that reading and writing return. A
// section that shares its ticket may find the stamp of another that waits for a store which is under way.
func (g *Stamp) Lacks(s *Section, uses uint64) bool {
	return g.ticket != s.ticket || g.uses&(tags|uses|storesUnderWay) != s.tag|uses
}

// Take comes before a section makes uses of a node that it lacks. A section that has the node under another lock is in the way as it
// is of an access without a lock. It is not inlined, so that a use is one comparison if the node is taken.
//
//go:noinline
func Take[N Names](g *Stamp, s *Section, uses uint64) {
	if s.ticket == 0 {
		return
	}
	for g.claim(s, uses) {
		if g.note(s, uses) {
			return
		}
	}
	takeNodeLater[N](g, s, uses)
}

// takeNodeLater takes a node when no other section is in the way.
func takeNodeLater[N Names](g *Stamp, s *Section, uses uint64) {
	var names N
	w := nodeWait{wait: wait{names: names, write: uses>>writtenFrom&fieldSet != 0, made: byMethod}, node: g, uses: blockersOf(uses), claims: true}
	for done := false; !done; {
		w.await()
		if w.surrenders() {
			atomic.StoreUint64(&g.ticket, s.ticket)
			g.note(s, uses)
			break
		}
		done = g.claim(s, uses) && g.note(s, uses)
	}
	w.finish()
}

// claim leaves the ticket of a section, unless another section is in the way of its uses. The ticket comes before the uses: what
// sees these sees whose they are. The other section may use the node in more ways in the meantime, and gets it back then.
func (g *Stamp) claim(s *Section, uses uint64) bool {
	for {
		ticket := atomic.LoadUint64(&g.ticket)
		if ticket == s.ticket {
			return true
		}
		other, _ := runningElsewhere(ticket)
		if other != nil && g.isTaken(ticket, blockersOf(uses)) {
			return false
		}
		if !atomic.CompareAndSwapUint64(&g.ticket, ticket, s.ticket) {
			continue
		}
		if other == nil {
			return true
		}
		if g.has(ticket, blockersOf(uses)) && g.isTaken(ticket, blockersOf(uses)) {
			atomic.CompareAndSwapUint64(&g.ticket, s.ticket, ticket)
			return false
		}
		overtaken.Add(1)
		return true
	}
}

// overtaken counts the nodes that a section has taken from another one that reads them, too: they have one stamp.
var overtaken atomic.Uint64

// isTaken reports whether a section of another goroutine has made one of some uses, or has claimed the node and is about to say what
// for.
func (g *Stamp) isTaken(ticket, uses uint64) bool {
	if at, _ := runningElsewhere(ticket); at == nil {
		return false
	}
	made := atomic.LoadUint64(&g.uses)
	return made&uses != 0 || made&tags != tagOf(ticket)
}

// blockersOf returns the uses by one section that keep another one from its own.
func blockersOf(uses uint64) uint64 {
	read, written := uses>>readFrom&fieldSet, uses>>writtenFrom&fieldSet
	return read<<writtenFrom | written<<readFrom
}

// note leaves uses of a section that has claimed the node. It reports whether the section has the node then: another one may have
// claimed it by uses of which the calling section was not in the way yet. If no store is under way when the uses are exchanged, none
// has to be waited for.
func (g *Stamp) note(s *Section, uses uint64) bool {
	before := atomic.LoadUint64(&g.uses)
	if before&(storesUnderWay|wanted) != 0 || !atomic.CompareAndSwapUint64(&g.uses, before, s.with(before, uses)) {
		g.noteLater(s, uses)
	}
	return atomic.LoadUint64(&g.ticket) == s.ticket
}

// with adds uses of the section to those of a stamp.
func (s *Section) with(before, uses uint64) uint64 {
	if before&tags == s.tag {
		return before | uses
	}
	return before&(storesUnderWay|wanted) | s.tag | uses
}

// noteLater is note where accesses are in the way.
//
//go:noinline
func (g *Stamp) noteLater(s *Section, uses uint64) {
	if !s.gaveWay && atomic.LoadUint64(&g.uses)&wanted != 0 && atomic.LoadUint64(&g.uses)&tags != s.tag {
		s.gaveWay = true
		g.giveWay()
	}
	for {
		before := atomic.LoadUint64(&g.uses)
		if atomic.CompareAndSwapUint64(&g.uses, before, s.with(before, uses)) {
			break
		}
	}
	for i := 0; atomic.LoadUint64(&g.uses)&storesUnderWay != 0; i++ {
		pauseForStore(i)
	}
}

// giveWay lets an access pass that waits for sections on the object, of which the calling one has not begun.
func (g *Stamp) giveWay() {
	for end := time.Now().Add(longestWay); atomic.LoadUint64(&g.uses)&wanted != 0 && time.Now().Before(end); {
		runtime.Gosched()
	}
}

// A look is what an access finds out about a node before it is made.
type look struct {
	ticket uint64
	at     *slot  // where the section of the ticket is running; nil: it has ended, or is the goroutine's own
	word   uint64 // of that
	inWay  bool   // it has made one of the uses that are asked for
}

// look finds out whether a section of another goroutine has made one of some uses.
func (g *Stamp) look(uses uint64) look {
	ticket := atomic.LoadUint64(&g.ticket)
	at, word := runningElsewhere(ticket)
	return look{ticket, at, word, at != nil && g.has(ticket, uses)}
}

// runningElsewhere returns where the section of a ticket is running, and the word of that; nil if it has ended, or is the goroutine's
// own.
func runningElsewhere(ticket uint64) (at *slot, word uint64) {
	if ticket == 0 {
		return nil, 0
	}
	at = &slots[ticket&slotNumber]
	word = atomic.LoadUint64(&at.word)
	if word&state == 0 || word>>stateBits != ticket>>slotBits || atomic.LoadUint64(&at.holder) == uint64(page.G()) {
		return nil, 0
	}
	return at, word
}

// has reports whether the section of a ticket has made one of some uses, if the ticket is still that of the node.
func (g *Stamp) has(ticket, uses uint64) bool {
	made := atomic.LoadUint64(&g.uses)
	return made&uses != 0 && made&tags == tagOf(ticket)
}

// isUndisturbed reports whether no section has made one of some uses since a look. Of the section that was running then it does not
// matter whether it has ended. The ticket is looked at last: if it is the same then the uses were those of its section.
func (g *Stamp) isUndisturbed(before look, uses uint64) bool {
	if before.at != nil && g.has(before.ticket, uses) {
		return false
	}
	return atomic.LoadUint64(&g.ticket) == before.ticket
}

// isUsed notes a use by code that the section of the calling goroutine runs, if there is one, and if no other section is in
// the way: what section that is may have nothing to do with the object.
func (g *Stamp) isUsed(uses uint64) bool {
	at := sectionOf(uint64(page.G()))
	if at == nil {
		return false
	}
	var s Section
	s.use(at.ticketOf(at.word))
	if g.Lacks(&s, uses) {
		return g.claim(&s, uses) && g.note(&s, uses)
	}
	return true
}

// LoadNode returns a field when no section has written it. It is for a method of the field's type.
func LoadNode[N Names, T any](g *Stamp, field uint64, p *T) T {
	if raceBuild || g.isUsed(reading(field)) {
		return *p
	}
	if !ordersLoads {
		passage := beginNode[N](g, field, field<<writtenFrom, byMethod)
		value := *p
		passage.End()
		return value
	}
	if before := g.look(field << writtenFrom); !before.inWay {
		value := *p
		if g.isUndisturbed(before, field<<writtenFrom) {
			return value
		}
	}
	return loadNodeLater[N](g, field, p)
}

// loadNodeLater is LoadNode where a section is in the way, or was.
//
//go:noinline
func loadNodeLater[N Names, T any](g *Stamp, field uint64, p *T) T {
	var names N
	w := nodeWait{wait: wait{names: names, made: byMethod}, node: g, uses: field << writtenFrom}
	var value T
	for done := false; !done; {
		before := w.await()
		value = *p
		done = g.isUndisturbed(before, w.uses) || w.surrenders()
	}
	w.finish()
	return value
}

// StoreNode stores to a field when no section has used it. It is for a method of the field's type.
func StoreNode[N Names, T any](g *Stamp, field uint64, p *T, value T) {
	passage := beginNode[N](g, field, writing(field), byMethod)
	*p = value
	passage.End()
}

// A NodePassage is a store to a node without the lock that is under way.
type NodePassage struct {
	node *Stamp    // nil: nothing has to wait for it
	wait *nodeWait // nil: it did not wait
}

func beginNode[N Names](g *Stamp, field, uses uint64, made int) NodePassage {
	if raceBuild || g.isUsed(uses|reading(field)) {
		return NodePassage{}
	}
	if g.passes(uses) {
		return NodePassage{node: g}
	}
	var names N
	w := &nodeWait{wait: wait{names: names, write: uses&reading(field) != 0, made: made}, node: g, uses: uses}
	for {
		w.await()
		if g.passes(uses) {
			return NodePassage{g, w}
		}
		if w.surrenders() {
			return NodePassage{wait: w}
		}
	}
}

// passes counts a store among those that are under way, if no section is in the way then.
func (g *Stamp) passes(uses uint64) bool {
	atomic.AddUint64(&g.uses, 1)
	if !g.look(uses).inWay {
		return true
	}
	atomic.AddUint64(&g.uses, ^uint64(0))
	return false
}

// End says that the store has been made.
func (p NodePassage) End() {
	if p.node != nil {
		atomic.AddUint64(&p.node.uses, ^uint64(0))
	}
	if p.wait != nil {
		p.wait.finish()
	}
}

// A NodeTarget is what [Target] is for a field of a node.
type NodeTarget[N Names, T any] struct {
	P     *T
	node  *Stamp
	field uint64
}

// ToNode returns a target.
func ToNode[N Names, T any](g *Stamp, field uint64, p *T) NodeTarget[N, T] {
	return NodeTarget[N, T]{p, g, field}
}

// Target returns the target, and a variable for a value that will be stored to it when all values of an assignment are known.
func (t NodeTarget[N, T]) Target() (NodeTarget[N, T], T) {
	var value T
	return t, value
}

// Store stores a value.
func (t NodeTarget[N, T]) Store(value T) {
	passage := t.Begin()
	*t.P = value
	passage.End()
}

// Begin comes before a statement that stores to the field and calls nothing. End comes after it.
func (t NodeTarget[N, T]) Begin() NodePassage {
	return beginNode[N](t.node, t.field, writing(t.field), direct)
}
