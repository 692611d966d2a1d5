//go:build !amd64

package page

import "sync/atomic"

// StepIn begins a section that writes, if none is running: it sets bits of the word, and notes the calling
// goroutine. If there is a section, or an access is in the way, the rest is left to Steps. Where the section began
// is not known without assembly.
func StepIn(w *Wicket, bits uint64) {
	word := atomic.LoadUint64(&w.Word)
	if word&WicketInUse != 0 || !atomic.CompareAndSwapUint64(&w.Word, word, word|bits) {
		Steps.In(w, bits, 0)
		return
	}
	atomic.StoreUintptr(&w.Holder, G())
	if atomic.LoadUint32(&w.Wanters) != 0 {
		Steps.In(w, bits, 0)
	}
}

// StepInToRead begins a section that reads, if none is running that writes.
func StepInToRead(w *Wicket, bits uint64) {
	word := atomic.LoadUint64(&w.Word)
	if word&WicketClosed != 0 || !atomic.CompareAndSwapUint64(&w.Word, word, (word|bits)+WicketReader) {
		Steps.ToRead(w, bits, 0)
		return
	}
	if atomic.LoadUint32(&w.Wanters) != 0 {
		atomic.AddUint64(&w.Word, ^uint64(WicketReader-1))
		Steps.ToRead(w, bits, 0)
	}
}

// WicketYoung is up to how many sections a wicket is asked more often whether it trusts. None ever does.
const WicketYoung = 16

// WicketTurnShift is where the number of the section is in a word.
const WicketTurnShift = 30

// KnowSteps has no sites to keep.
func KnowSteps(in, toRead func()) {}

// Here returns the calling goroutine's g. Where the function that calls was called is not known without assembly.
func Here() (me, site uintptr) { return G(), 0 }
