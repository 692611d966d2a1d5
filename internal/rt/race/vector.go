// Package race knows what happened before what in a run, and finds accesses that nothing
// orders: happens-before as in FastTrack (Flanagan and Freund, PLDI 2009), but exact for
// every byte and for accesses of package sync/atomic.
//
// # Terms
//
// A vector clock (Vector) says for every slot up to which of its moments everything has
// happened before. A goroutine has a slot, in which its own time passes whenever it
// releases something; its Thread has both. An access is known by the slot and the moment it
// was made at: it happened before what a thread does now if the thread's vector has come
// past that moment.
//
// A slot is used again for a new goroutine if all that its former owner did happened
// before the go statement; then nothing can be mistaken for another, and programs that
// start goroutines in waves need few slots.
//
//	vector.go    vector clocks, threads
//	detector.go  slots, and an access held against those before it
//	shadow.go    the accesses that a later one may race with, by word of memory
//
// The package is part of instrumented programs, below package sync. It knows nothing of
// schedulers: package rt says which thread releases what to which, and what it touches.
package race

// A Vector is a vector clock. Slots beyond its end are at 0.
type Vector []uint32

func (v *Vector) Join(w Vector) {
	if n := len(*v); len(w) > n {
		*v = append(*v, w[n:]...)
		w = w[:n]
	}
	for i, t := range w {
		if t > (*v)[i] {
			(*v)[i] = t
		}
	}
}

func (v *Vector) Set(w Vector) { *v = append((*v)[:0], w...) }

func (v Vector) At(slot uint32) uint32 {
	if int(slot) < len(v) {
		return v[slot]
	}
	return 0
}

// A Thread is what one goroutine knows of the others' past.
type Thread struct {
	Vector Vector
	Slot   uint32
	// Frame is the call that it is in, by the number that races are reported with.
	Frame uint32
	// readings are the words with a list that it has loaded lately; see touchShared.
	readings [readings]reading
}

// Now is the moment of the thread's own time.
func (t *Thread) Now() uint32 { return t.Vector[t.Slot] }

// Tick lets the thread's own time pass: what it does from now on is not part of what it
// has released so far.
func (t *Thread) Tick() { t.Vector[t.Slot]++ }

// Release makes v the thread's past, and nothing else.
func (t *Thread) Release(v *Vector) {
	v.Set(t.Vector)
	t.Tick()
}

// ReleaseMerge adds the thread's past to v.
func (t *Thread) ReleaseMerge(v *Vector) {
	v.Join(t.Vector)
	t.Tick()
}
