package rt

import "sync/atomic"

// Other programs that the program starts go their own way, in real time. What they do is heard
// of by goroutines outside, which wait for them to end or to write, and by signals of the system.

// Process is called before the calling goroutine starts another program.
func Process() {
	notBeside("the test starts another program, which does the same for all processes")
	if !Makes() {
		return
	}
	File(true)
	c := enterLibrary()
	if c == nil {
		return
	}
	if !s.programs {
		s.programs = true
		s.result.Outside = append(s.result.Outside, Outside{What: "another program was started", G: c.id, Site: c.site(), Frame: c.Frame})
	}
	c.leave()
}

// hears says that the program is notified of signals that come from the system.
var hears atomic.Bool

// Hear is called when the program is to be notified of a signal of the system.
func Hear() { hears.Store(true) }

// Beside starts a goroutine that is not under control, and stays for all runs.
func Beside(f func()) {
	c := enterLibrary()
	if c == nil {
		go f()
		return
	}
	s.baseline++
	if Patched.Newest == nil {
		go f()
	} else {
		// The numbers of the run's own goroutines are those that they have in other runs.
		next := Patched.Newest()
		go f()
		Patched.Number(next)
	}
	c.leave()
}

// signalMayCome reports whether a program that the run has started may send a signal, or have one
// sent by its end, though no goroutine outside waits for it.
func (s *scheduler) signalMayCome() bool {
	return s.programs && hears.Load() && s.config.HasChildren != nil && s.config.HasChildren()
}
