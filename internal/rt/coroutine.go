package rt

// A Coroutine is what the patched iter.Pull keeps. The function it pulls from runs on a
// g of its own, but only while the goroutine that calls next or stop waits for it: it is
// that goroutine that goes on. So the record is told about the other g.
type Coroutine struct{ c *goroutine }

// Leave is called before switching to the other g.
func (r *Coroutine) Leave() {
	if c := enterLibrary(); c != nil {
		r.c = c
	}
}

// Arrive is called after switching here. The goroutine has been inside rt since Leave.
func (r *Coroutine) Arrive() {
	c := r.c
	if c == nil {
		return
	}
	r.c = nil
	c.g, _, _ = here()
	c.leave()
}
