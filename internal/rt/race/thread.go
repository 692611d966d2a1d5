package race

// A Thread is what one goroutine knows of the others' past, and where it is itself.
type Thread struct {
	// Vector is what it knows. Its own time is not in it, or not all of it.
	Vector Vector
	Slot   uint32
	// Frame is the call that it is in, by the number that races are reported with.
	Frame uint32

	now     uint32
	touched uint32 // the moment of its last access
	// readings are the words with a list that it has loaded lately; see touchShared.
	readings [readings]reading
}

// Reset makes a thread ready for another goroutine.
func (t *Thread) Reset() {
	t.Vector.Reset()
	*t = Thread{Vector: t.Vector}
}

// Now is the moment of the thread's own time.
func (t *Thread) Now() uint32 { return t.now }

// Tick lets the thread's own time pass: what it does from now on is not part of what it
// has released so far.
func (t *Thread) Tick() { t.now++ }

// Knows reports whether what was done at a moment of a slot happened before.
func (t *Thread) Knows(slot, at uint32) bool { return slot == t.Slot || t.Vector.At(slot) >= at }

// Past makes v the thread's past, and nothing else.
func (t *Thread) Past(v *Vector) {
	v.Set(&t.Vector)
	v.Raise(t.Slot, t.now)
}

// Release is Past, and lets time pass.
func (t *Thread) Release(v *Vector) {
	t.Past(v)
	t.Tick()
}

// ReleaseMerge adds the thread's past to v, and lets time pass.
func (t *Thread) ReleaseMerge(v *Vector) {
	v.Join(&t.Vector)
	v.Raise(t.Slot, t.now)
	t.Tick()
}

// Learn makes all that u has done so far the thread's past.
func (t *Thread) Learn(u *Thread) {
	t.Vector.Join(&u.Vector)
	t.Vector.Raise(u.Slot, u.now)
}

// Meet makes each thread's past the other's.
func (t *Thread) Meet(u *Thread) {
	t.Learn(u)
	u.Vector.Set(&t.Vector)
	u.Vector.Raise(t.Slot, t.now)
	t.Tick()
	u.Tick()
}
