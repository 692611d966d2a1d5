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
	barriers.once.Do(func() {})
	rationed, state := rationOf, barriers.state.Load()
	rationOf = 0
	if can = page.PrepareBarrier(); can {
		barriers.state.Store(canBeMade)
	}
	return func() {
		rationOf = rationed
		barriers.state.Store(state)
	}, can
}

// Grants returns how often trust is given at once if so many grants have added up.
func Grants(most int) int {
	rationed, added := rationOf, saved
	defer func() { rationOf, saved = rationed, added }()
	rationOf, saved = time.Hour, time.Duration(most)*time.Hour
	var r ration
	r.next.Store(-2 * int64(saved))
	n := 0
	for r.grant() {
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
