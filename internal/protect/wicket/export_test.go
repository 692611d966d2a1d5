package wicket

// What tests look at.
var (
	LongestWait   = &longestWait
	RelentedWait  = &relentedWait
	BeginsToSleep = &beginsToSleep
	SetRecorder   = feed.SetRecorder
	Weakness      = weakness
)

const RaceBuild = raceBuild

// IsMine reports whether the calling goroutine is in a section.
func (g *Guard) IsMine() bool { return g.mine() && g.w.Word&state == held }

// IsIdle reports whether nothing is left of sections and accesses.
func (g *Guard) IsIdle() bool { return g.w.Wanters == 0 && g.w.Word&inUse == 0 && g.w.Holder == 0 }

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
