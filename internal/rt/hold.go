package rt

// A hold is that a goroutine has a lock, and where it took it. The site is 0 where that was
// not worth finding out (libraryOp); it always is in a run that is recorded.
type hold struct {
	by    *goroutine
	site  uint32
	frame uint32
}

// hold notes that c has locked the RWMutex o.
func (o *object) hold(c *goroutine, site uint32, write bool) {
	o.taken = true
	h := hold{c, site, c.Frame}
	if write {
		o.holder = h
	} else {
		o.reading = append(o.reading, h)
	}
}

// letGo notes that c has released the RWMutex o.
func (o *object) letGo(c *goroutine, write bool) {
	if write {
		o.handed = o.handed || o.holder.by != c
		o.holder = hold{}
		return
	}
	at := len(o.reading) - 1
	for at >= 0 && o.reading[at].by != c {
		at--
	}
	if at < 0 {
		// Which of the others let it do that is not known.
		o.handed = true
		at = len(o.reading) - 1
	}
	if at >= 0 {
		n := copy(o.reading[at:], o.reading[at+1:])
		o.reading[at+n] = hold{}
		o.reading = o.reading[:at+n]
	}
}
