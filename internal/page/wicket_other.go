//go:build !amd64

package page

import "sync/atomic"

// StepIn begins a section that writes, if none is running: it sets bits of the word, and notes the calling
// goroutine. False: there is a section, or an access is in the way. Where the section began is not known
// without assembly.
func StepIn(w *Wicket, bits uint64) bool {
	word := atomic.LoadUint64(&w.Word)
	if word&WicketInUse != 0 || !atomic.CompareAndSwapUint64(&w.Word, word, word|bits) {
		return false
	}
	atomic.StoreUintptr(&w.Holder, G())
	return atomic.LoadUint32(&w.Wanters) == 0
}

// StepInToRead begins a section that reads, if none is running that writes.
func StepInToRead(w *Wicket, bits uint64) bool {
	word := atomic.LoadUint64(&w.Word)
	if word&WicketClosed != 0 || !atomic.CompareAndSwapUint64(&w.Word, word, (word|bits)+WicketReader) {
		return false
	}
	if atomic.LoadUint32(&w.Wanters) == 0 {
		return true
	}
	atomic.AddUint64(&w.Word, ^uint64(WicketReader-1))
	return false
}
