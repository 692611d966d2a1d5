package page

//lint:file-ignore U1000 some of what is declared here is called by assembly, or is assembly that is jumped to

// wicketTurn is how many sections that began by a locked instruction come between two of which StepIn leaves the
// rest to Steps, for package wicket to decide whether the wicket trusts from then on. It is a power of two.
const wicketTurn = 256

// WicketYoung is up to how many such sections StepIn does so more often, after each wicketYoungTurn.
const WicketYoung = 16

const wicketYoungTurn = 4

// WicketTurnShift is where the number of the section is in a word.
const WicketTurnShift = 30

// StepIn begins a section that writes, if none is running: it sets bits of the word, and notes the calling
// goroutine and the return address. If there is a section, or an access is in the way, the rest is done in Go.
//
//go:noescape
func StepIn(w *Wicket, bits uint64)

// StepInToRead begins a section that reads, if none is running that writes.
//
//go:noescape
func StepInToRead(w *Wicket, bits uint64)

func stepAside(w *Wicket, bits uint64)
func stepAsideToRead(w *Wicket, bits uint64)

// stepReturns are where StepIn and StepInToRead return to in methods that were called and not inlined.
var stepReturns [2]uintptr

func stepSlowly(w *Wicket, bits uint64, inner, outer uintptr) {
	if inner == stepReturns[0] {
		inner = outer
	}
	Steps.In(w, bits, inner)
}

func stepSlowlyToRead(w *Wicket, bits uint64, inner, outer uintptr) {
	if inner == stepReturns[1] {
		inner = outer
	}
	Steps.ToRead(w, bits, inner)
}

// KnowSteps finds out what is no site: where StepIn and StepInToRead return to in methods that were called and not
// inlined. The calls are of those, with a word in which all bits are set.
func KnowSteps(in, toRead func()) {
	steps := Steps
	Steps.In = func(_ *Wicket, _ uint64, site uintptr) { stepReturns[0] = site }
	Steps.ToRead = func(_ *Wicket, _ uint64, site uintptr) { stepReturns[1] = site }
	in()
	toRead()
	Steps = steps
}

// Here returns the calling goroutine's g, and the return address of the function that calls, which
// must not be inlined.
func Here() (me, site uintptr)
