package rt

// A polling is what is known of a goroutine that may be waiting by looking at something
// again and again: an atomic variable, a channel in a select with a default, what a lock
// guards.
//
// A loop that polls an atomic variable keeps the goroutine out that it waits for, if the
// strategy lets the current goroutine run on; and it has no call in it that says so, as a
// loop with runtime.Gosched has. So a goroutine that polls one atomic at one site nine
// times, and has changed nothing meanwhile, is taken to ask for others to go first, and so
// is one that comes back to a select with a default that often. That depends on nothing but
// what the goroutine does, so that it is the same in every run of a schedule. A goroutine
// that looks at something else is only not taken to have anything else to do; see goOn.
type polling struct {
	site   uint32
	addr   uintptr
	rounds int // how often it came back to the place, having changed nothing
	since  int // looks elsewhere since it was there
}

// patientRounds is how often a goroutine may look before it asks for others to go
// first. It is more than loops do that repeat what they do for another reason, such as
// a compare and swap that has failed.
const patientRounds = 8

// maxRound is how many looks a round may have: if it has more, the place was before the
// loop and not in it, and another one is chosen.
const maxRound = 16

// looks takes note of a look, and reports whether the goroutine is to ask for others to
// go first.
func (p *polling) looks(addr uintptr, site uint32) bool {
	switch {
	case p.rounds > 0 && p.site == site && p.addr == addr:
		p.rounds++
		p.since = 0
		return p.onlyLooks()
	case p.rounds > 0 && p.since < maxRound:
		p.since++
	default:
		*p = polling{site: site, addr: addr, rounds: 1}
	}
	return false
}

// onlyLooks reports whether the goroutine does nothing but look.
func (p *polling) onlyLooks() bool { return p.rounds > patientRounds }

// onlyPolls reports whether every goroutine that can go on waits by looking again and
// again.
func (s *scheduler) onlyPolls() bool {
	for _, c := range s.ready {
		if !c.polling.onlyLooks() {
			return false
		}
	}
	return true
}
