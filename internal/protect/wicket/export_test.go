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
