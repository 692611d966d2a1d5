package page

// StepIn begins a section that writes, if none is running: it sets bits of the word, and notes the calling
// goroutine and the return address of the caller, which must not be inlined. False: there is a section, or an access is in the way.
//
//go:noescape
func StepIn(w *Wicket, bits uint64) bool

// StepInToRead begins a section that reads, if none is running that writes.
//
//go:noescape
func StepInToRead(w *Wicket, bits uint64) bool
