package rt

// A vigil is what is known of a goroutine that may be waiting by looking at something
// again and again: an atomic variable, a channel in a select with a default, what a lock
// guards.
//
// A loop that looks at an atomic variable keeps everybody out that it waits for, if the strategy lets who runs run
// on; and it has no call in it that says so, as a loop with runtime.Gosched has. So who
// has looked at the same variable in the same place several times, and has changed
// nothing meanwhile, is taken to ask for others to go first. It depends on nothing but
// what the goroutine does, so that it is the same in every run of a schedule. What looks
// in another way is only not taken to have anything else to do; see goOn.
type vigil struct {
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
func (v *vigil) looks(addr uintptr, site uint32) bool {
	switch {
	case v.rounds > 0 && v.site == site && v.addr == addr:
		v.rounds++
		v.since = 0
		return v.waits()
	case v.rounds > 0 && v.since < maxRound:
		v.since++
	default:
		*v = vigil{site: site, addr: addr, rounds: 1}
	}
	return false
}

// waits reports whether the goroutine does nothing but look.
func (v *vigil) waits() bool { return v.rounds > patientRounds }
