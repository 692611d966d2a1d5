// Package wicket is what a program links whose objects have guarded fields that are isolated where
// they are: code without the lock waits until the section has ended. The rewriter declares a
// [Guard] in the objects and writes the calls; protected programs have it as
// cofferdamrt/protect/wicket.
//
//	type T struct {         type T struct { x wicket.Guard;
//		mu sync.Mutex           mu sync.Mutex
//		n  int                  n  int
//	}                       }
//	t.mu.Lock()             t.mu.Lock(); g := &t.x; g.Lock(1, 0)
//	t.n++                   t.n++
//	log(t)                  g.Relent(); log(t); g.Resume(1, 0)
//	<-c                     g.Unlock(); <-c; g.Resume(1, 0)
//	t.mu.Unlock()           g.Leave(); t.mu.Unlock(); g.Wake()
//
// and outside of sections
//
//	use(t.n)                use(t.load())
//	t.p = q                 t.store(q)
//	t.n += f()              { k := t.target(); w := f(); p := k.Begin(); *k.P += w; p.End() }
//
// where load, store and target are methods that the rewriter adds to T, which call [Load], [Store] and [To].
//
// Pages stop code that nobody has rewritten. A field is only put there if its address is taken
// nowhere, so that all of its uses are known, and rewritten. So the same can be had without a page: each use
// asks. That costs 24 bytes for an object, where a page takes 4,096, and there is no limit; the collector
// sees the data, so that it may have pointers and be of any size; nothing is given back, because nothing was
// taken.
//
// # The word
//
// A guard is for up to [Fields] fields of one object, and for one lock. Its word has
//
//	the state         open; a section that writes is running; or it runs and relents
//	written, read     the fields that the section may write, and those that it only reads
//	readers           how many sections are running that only read, under a lock that they share
//	the sequence      which changes whenever a section that writes has ended
//
// A section sets it when it has the lock, by one locked instruction or, if the guard trusts, by a store, and clears it by a
// store. One that only reads does so, too, if it has the lock to itself; it keeps stores away, and loads pass.
//
// # Why a section and an access cannot pass each other
//
// A load looks at the word, loads, and looks again. If both looks find the same sequence and no section that
// writes the field, none has begun before the load and ended after it, or the sequence would differ, and
// none has written before the load, or the second look would find it. So the load is as one
// that was made before the section, or after it. It writes nothing: goroutines that read a field which
// does not change any more do not disturb each other. On processors that do not make loads in the order of the
// program a load is under way like a store; nothing was tried there yet, so no program is built with guards for them.
//
// A store counts itself among those that are under way, then looks at the word. A section sets the word, then
// looks whether stores are under way. Both are locked instructions (but see below), so at least one side sees the
// other. A store that sees a section on its field is not under way any more, and waits; a section that sees
// stores waits until they are made, and none can begin meanwhile. What comes between a store's beginning and its
// end is the store and nothing else, so that is soon: whatever is stored is evaluated before.
//
// # Trust
//
// That locked instruction is most of what a section costs, and it is needed for stores that come without the lock, of which
// most guards see none. So a guard trusts after some sections: those that follow set the word by a plain store. The
// processor may keep that to itself while the section already looks for stores. The first store that finds the guard trusting
// therefore counts itself, and then has all processors make a fence ([page.Barrier]), before it looks at the word. A section
// that began before that fence is seen in the word. A section that begins after it sees the store, because it compares the count with
// what it is in a guard that trusts and that nobody wants. Then the store takes the trust away. As long as the fence is not made,
// every other store finds the guard trusting, too, and makes one of its own.
//
// A fence of that kind takes up to ten microseconds. So a guard that has lost its trust has it again only after some hundred
// sections, and a thousand guards in a second at most. Most objects of a program never have that many sections. They are asked after
// each four of the first sixteen, when they have been set up. As this may be a mistake for all of them at once, a budget of barriers bounds what it
// costs. The store that finds it empty ends the trust of all guards: it says so in one word, [page.WicketTrust], which each section that
// trusts looks at behind its plain store, has all processors make a fence, and then says that this is done. From then on stores need no
// barrier, because a section that set its word before that fence is seen, and one that sets it later finds that trust has ended, and begins by a
// locked instruction. After a second trust holds again. In the worst case barriers cost a fiftieth of a processor's time.
//
// Loads need nothing: a processor's stores are seen in the order in which it made them, so
// a goroutine that sees what a section has stored to a field sees its word as well.
//
// # Accesses that wait
//
// Accesses that wait are counted, too. A section that finds some when it begins lets them pass first, for a
// while: an access waits for the section that it fell into, and not for all that follow.
//
// # Waiting
//
// An access waits as any goroutine does, and holds no processor. When a section has released its lock
// it wakes the accesses that wait. What a section calls may wait for another goroutine that uses the
// data rightly, because it was told to; the section relents for that time: an access passes as soon as the
// section's goroutine is seen to wait, which is no violation, and after twenty milliseconds in any
// case. An access takes the section's mark by a compare-and-swap, and so does the section when it goes on, so
// that one of them gets it. After the longest wait an access is let through, and reported.
//
// # Whose section it is
//
// The goroutine in a section that writes is noted. Code that it calls does not wait for itself.
// A goroutine that has the lock owns the word: whatever section is noted there has released
// the lock in code that it called, as Wait of a sync.Cond does, and enters anew when it goes on.
//
// # Nodes
//
// An object that has not the lock itself, a node of a list say, has a [Stamp]. A [Section] leaves its ticket there when it
// first uses the node, with what it does to which field:
//
//	l.mu.Lock()             l.mu.Lock(); var s wicket.Section; s.Lock()
//	n.next.val++            n.r(&s).next.c(&s).val++
//	l.mu.Unlock()           s.Leave(); l.mu.Unlock(); s.Wake()
//
// A ticket is the number of a slot and of its generation, which changes when the section ends or is interrupted. An access
// whose node has a ticket that is over is made at once. So a node that no running section has used is free, whichever lock it
// belongs to. Why an access and a section cannot pass each other is argued as above: the first look of a load is at the ticket and at
// whether its generation runs, and the second at the ticket again, and, if it ran, at whether the section has written the field. A
// store counts itself in the word of the uses before it looks; a section leaves the ticket, and then exchanges that word.
//
// Two sections on one node have two locks, of two objects. One of them is careless, and waits as an access would, if one has written what
// the other uses. So a section claims the node by exchanging the ticket, says what for, and looks at the ticket again; and a section
// that has replaced a ticket looks at the uses again, which may have grown, and puts it back. Sections that only read
// may be right, under whatever locks, and do not wait; the node has the stamp of the later one then, which is counted and told.
//
// Code that a section calls finds the section by its goroutine, unless the section relents.
//
// # The race detector
//
// In a build with -race nothing is isolated, and the race detector sees the program as it is. It would take the
// looks at the word for synchronisation otherwise.
//
// model_test.go has a model of all interleavings of this, and the ways that are wrong.
//
// # Files
//
//	wicket.go               guards and sections
//	access.go               accesses outside of sections
//	wait_unsafe.go          accesses that wait
//	tell.go                 what is told of them
//	trust.go                guards that sections enter without a locked instruction
//	stamp.go                stamps in nodes, and accesses to these
//	ticket.go               sections on nodes, and their slots
//	node_wait.go            accesses to nodes that wait
//	order_amd64.go          what processors may reorder; order_other.go for all others
//	race_on.go race_off.go  whether there is a race detector
package wicket

import (
	"runtime"
	"sync/atomic"

	"github.com/cofferdam-go/cofferdam/internal/page"
)

// A Guard is for the fields of an object that stand beside it. The zero value is ready to use. It must
// not be copied.
type Guard struct {
	w page.Wicket
}

// Fields is how many fields a guard can be for. Sets of fields are sets of bits.
const Fields = 8

// The word, from its lowest bit.
const (
	held    = 1 // a section that writes is running
	relents = 2 // it runs code that may wait for an access

	state     = page.WicketClosed
	writtenAt = 2
	readAt    = writtenAt + Fields
	reader    = page.WicketReader
	inUse     = page.WicketInUse
	readers   = inUse &^ (reader - 1)
	once      = inUse + 1 // what the sequence is counted by
)

// opened is a word after the end of a section that may have written.
func opened(word uint64) uint64 { return word&^inUse + once }

func sectionOn(written, read uint64) uint64 { return held | written<<writtenAt | read<<readAt }

// Lock begins a section that may write some fields, and only reads others. The calling goroutine has
// the lock. It is inlined, so that it is one call.
func (g *Guard) Lock(written, read uint64) {
	if !raceBuild {
		page.StepIn(&g.w, sectionOn(written, read))
	}
}

// A wicket is the first thing in its guard.
func init() {
	page.Steps.In = func(w *page.Wicket, bits uint64, site uintptr) { guardOf(w).settle(bits, site) }
	page.Steps.ToRead = func(w *page.Wicket, bits uint64, site uintptr) { guardOf(w).settleToRead(bits, site) }
	closed := &Guard{page.Wicket{Word: inUse}}
	page.KnowSteps(func() { stepIn.lock(closed, 0, 0) }, func() { stepIn.rlock(closed, 0) })
}

// stepIn are methods that are called and not inlined, because it is not known which.
var stepIn = struct {
	lock  func(g *Guard, written, read uint64)
	rlock func(g *Guard, read uint64)
}{(*Guard).Lock, (*Guard).RLock}

// settle completes a StepIn that has found a section or an access. The site is where the section
// begins.
func (g *Guard) settle(bits uint64, site uintptr) {
	if atomic.LoadUint32(&g.w.Wanters) >= waiter {
		g.Unlock()
		g.giveWay()
	}
	for {
		word := atomic.LoadUint64(&g.w.Word)
		if atomic.CompareAndSwapUint64(&g.w.Word, word, opened(word)|bits) {
			break
		}
	}
	atomic.StoreUintptr(&g.w.Holder, page.G())
	atomic.StoreUint32(&g.w.Site, uint32(site))
	g.awaitStores()
	g.trust()
}

// Leave ends the section. The caller is about to release the lock, by a locked instruction, and calls
// Wake when that is done.
func (g *Guard) Leave() {
	if raceBuild {
		return
	}
	g.w.Holder = 0
	storeRelease(&g.w.Word, opened(g.w.Word))
}

// Wake lets the accesses pass that waited for the section which Leave has ended.
func (g *Guard) Wake() {
	if !raceBuild && atomic.LoadUint32(&g.w.Wanters) > trusting {
		waiting.wake(&g.w.Wanters)
	}
}

// Unlock ends the section, or interrupts it for code that is known to wait.
func (g *Guard) Unlock() {
	if raceBuild {
		return
	}
	atomic.StoreUintptr(&g.w.Holder, 0)
	atomic.StoreUint64(&g.w.Word, opened(g.w.Word))
	g.Wake()
}

// Relent says that the section goes on with code that may wait for another goroutine, which may need
// an access for what it does. An access that begins to sleep at this very moment is not woken, and looks again after
// a fifth of a millisecond; a fence for that would cost each section what taking its lock does.
func (g *Guard) Relent() {
	if raceBuild {
		return
	}
	storeRelease(&g.w.Word, g.w.Word&^state|relents)
	g.Wake()
}

// Resume goes on with the section after [Guard.Relent], or after Unlock. It enters anew if an access has
// passed, or if what was called has released the lock and taken it again.
//
//go:noinline
func (g *Guard) Resume(written, read uint64) {
	if !raceBuild && !g.takeBack() {
		var site [1]uintptr
		runtime.Callers(2, site[:])
		g.settle(sectionOn(written, read), site[0])
	}
}

// takeBack ends what Relent began.
func (g *Guard) takeBack() bool {
	word := atomic.LoadUint64(&g.w.Word)
	return word&state == relents && g.mine() && atomic.CompareAndSwapUint64(&g.w.Word, word, word&^state|held)
}

// LeaveMine is Unlock if the calling goroutine is in a section.
func (g *Guard) LeaveMine() {
	if raceBuild || !g.mine() {
		return
	}
	atomic.StoreUintptr(&g.w.Holder, 0)
	for {
		word := atomic.LoadUint64(&g.w.Word)
		if word&state == 0 || atomic.CompareAndSwapUint64(&g.w.Word, word, opened(word)) {
			break
		}
	}
	g.Wake()
}

// mine reports whether the calling goroutine is in a section that writes.
func (g *Guard) mine() bool {
	holder := atomic.LoadUintptr(&g.w.Holder)
	return holder != 0 && holder == page.G()
}

// RLock begins a section that only reads some fields, and may share the lock.
func (g *Guard) RLock(read uint64) {
	if !raceBuild {
		page.StepInToRead(&g.w, read<<readAt)
	}
}

// settleToRead completes a StepInToRead that has found a section or an access.
func (g *Guard) settleToRead(bits uint64, site uintptr) {
	if atomic.LoadUint32(&g.w.Wanters) >= waiter {
		g.giveWay()
	}
	for {
		word := atomic.LoadUint64(&g.w.Word)
		next := (word | bits) + reader
		if word&state != 0 { // no section is running that writes: the caller has the lock
			next = (opened(word) | bits) + reader
		}
		if atomic.CompareAndSwapUint64(&g.w.Word, word, next) {
			break
		}
	}
	atomic.StoreUint32(&g.w.Site, uint32(site))
	g.awaitStores()
}

// RUnlock ends a section that RLock began.
func (g *Guard) RUnlock() {
	if raceBuild {
		return
	}
	for {
		word := atomic.LoadUint64(&g.w.Word)
		next := word - reader
		if next&readers == 0 {
			next &^= inUse
		}
		if word&readers == 0 || atomic.CompareAndSwapUint64(&g.w.Word, word, next) {
			break
		}
	}
	g.Wake()
}
