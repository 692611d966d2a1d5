package wicket

import (
	"sync/atomic"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/page"
)

// What tests look at.
var (
	LongestWait   = &longestWait
	RelentedWait  = &relentedWait
	BeginsToSleep = &beginsToSleep
	SetRecorder   = feed.SetRecorder
	Weakness      = weakness
	MakeBarrier   = &makeBarrier
)

const RaceBuild = raceBuild

// IsMine reports whether the calling goroutine is in a section.
func (g *Guard) IsMine() bool { return g.mine() && g.w.Word&state == held }

// IsIdle reports whether nothing is left of sections and accesses.
func (g *Guard) IsIdle() bool {
	return g.w.Wanters&^trusting == 0 && g.w.Word&inUse == 0 && g.w.Holder == 0
}

// Trusts reports whether sections of the guard begin without a locked instruction.
func (g *Guard) Trusts() bool { return atomic.LoadUint32(&g.w.Wanters)&trusting != 0 }

// TrustFreely has guards trust as often as they can, until the function is called that it returns. It reports whether any can at all.
func TrustFreely() (restore func(), can bool) {
	grants, barriers, state := fences.grants.each, fences.barriers.each, fences.state.Load()
	fences.grants.each, fences.barriers.each = 0, 0
	if can = page.PrepareBarrier(); can {
		fences.state.Store(canBeMade)
	}
	return func() {
		fences.grants.each, fences.barriers.each = grants, barriers
		fences.state.Store(state)
		page.WicketTrust.Store(holds)
	}, can
}

// BarriersRunOut has some barriers be made at once, and then one in each span of time; the trust of all guards ends when they have run
// out, and holds again after a pause. So it is until the function is called that it returns.
func BarriersRunOut(each time.Duration, atOnce int, pause time.Duration) (restore func()) {
	b, rationed, saved, paused := &fences.barriers, fences.barriers.each, fences.barriers.saved, fences.pause
	b.each, b.saved, fences.pause = each, time.Duration(atOnce)*each, pause
	b.next.Store(-2 * int64(b.saved))
	return func() { b.each, b.saved, fences.pause = rationed, saved, paused }
}

// NoGrants has only young guards trust, until the function is called that it returns.
func NoGrants() (restore func()) {
	g, each := &fences.grants, fences.grants.each
	g.each = time.Hour
	g.next.Store(int64(time.Since(start)))
	return func() {
		g.each = each
		g.next.Store(0)
	}
}

// TrustHolds reports whether guards may trust.
func TrustHolds() bool { return fences.trustHolds() }

// Taken returns how often something can be had at once if so much has added up.
func Taken(most int) int {
	r := ration{each: time.Hour, saved: time.Duration(most) * time.Hour}
	r.next.Store(-2 * int64(r.saved))
	n := 0
	for r.take() {
		n++
	}
	return n
}

// IsStampedBy reports whether a section has used the node since it was interrupted last.
func (g *Stamp) IsStampedBy(s *Section) bool { return s.ticket != 0 && g.ticket == s.ticket }

// IsIdle reports whether no access waits or is under way.
func (g *Stamp) IsIdle() bool { return g.uses&(storesUnderWay|wanted) == 0 }

// SlotsAreFree reports whether no section is running on nodes.
func SlotsAreFree() bool {
	for i := range slots {
		if s := &slots[i]; s.holder != 0 || s.word&state != 0 || s.passedOver != 0 || s.wanters != 0 {
			return false
		}
	}
	return true
}
