package rt

import "unsafe"

// Runs are repeated in one process. What a run stores to memory that was there before
// it, such as a package-level variable or what one points to, is taken back at its end,
// so that the next run begins where it began.
//
// The journal holds what memory contained before each store by a controlled goroutine,
// to be put back in reverse order; memory that the run itself allocated is put back with
// the rest, which does no harm. A map is copied before the run first writes to it, a
// channel before the run first looks at it.
//
// Nothing is taken back if goroutines took part that are not under control: they may hold
// a lock, or have been started by something that is done once.
//
// Values are put back as plain words, and the journal keeps nothing alive. Both is right
// only because no collection happens during a run; see Result.Residue.
//
// A run that is recorded is the last one of its process, so that its stores are not kept.
// Maps are copied all the same: walking them takes random numbers, which the run must find
// as another one did.

// Patched is what the patched runtime offers. Its functions are nil where the runtime is
// not patched; then nothing is taken back.
var Patched struct {
	// Seed makes random numbers start from a seed.
	Seed func(seed uint64)
	// Owns reports whether an address is in a package-level variable or on the heap:
	// elsewhere, in memory of C say, nobody knows whether it is still there.
	Owns func(addr uintptr) bool
	// Collections counts the garbage collections that have begun.
	Collections func() uint32
}

type journal struct {
	on          bool
	last        bool   // the run is the last one, and nothing will be taken back
	collections uint32 // at the start
	// chunks are what was kept, in order. They are never moved: there can be as many as
	// stores.
	chunks []*[chunkKept]kept
	count  int      // of what was kept
	bytes  []byte   // what was in large pieces of memory
	maps   []func() // put the maps back
	// recent are words that were kept lately, by address: what a run stores to again and
	// again need not be kept again and again. Beside the address they have the run's
	// number, or what is left of it.
	recent *[recentWords]uint64
	run    uint16
}

const (
	chunkKept   = 1 << 10
	recentWords = 1 << 16
	// addressBits is more than addresses have where there are journals.
	addressBits = 48
)

// kept is what size bytes at addr were: the bytes of old or, if they are more than it
// holds, those in the journal that start at old.
type kept struct {
	addr, size uintptr
	old        uint64
}

// maxKept and maxBytes are how much a journal holds at most. Memory up to wordwise bytes
// is kept word by word, of which most have been kept before.
const (
	maxKept  = 8 << 20
	maxBytes = 256 << 20
	wordwise = 4 << 10
)

func (j *journal) begin(last bool) {
	j.last = last
	if j.on = Patched.Collections != nil; j.on {
		j.collections = Patched.Collections()
		if j.run++; j.run == 0 || j.recent == nil {
			j.run, j.recent = 1, new([recentWords]uint64)
		}
	}
}

// keep notes what is at addr, which is about to change.
func (j *journal) keep(addr, size uintptr) {
	switch {
	case !j.on || j.last:
	case size == 8:
		j.keepWord(addr)
	case size > wordwise:
		j.keepBytes(addr, size)
	default:
		for ; size >= 8; size -= 8 {
			j.keepWord(addr)
			addr += 8
		}
		if size > 0 {
			k := kept{addr: addr, size: size}
			copy((*[8]byte)(unsafe.Pointer(&k.old))[:size], bytesAt(addr, size))
			j.add(k)
		}
	}
}

func (j *journal) keepWord(addr uintptr) {
	word := uint64(addr) | uint64(j.run)<<addressBits
	if r := &j.recent[addr/8%recentWords]; *r != word {
		*r = word
		j.add(kept{addr, 8, *(*uint64)(pointer(addr))})
	}
}

func (j *journal) keepBytes(addr, size uintptr) {
	if len(j.bytes)+int(size) > maxBytes {
		j.on = false
		return
	}
	j.add(kept{addr, size, uint64(len(j.bytes))})
	j.bytes = append(j.bytes, bytesAt(addr, size)...)
}

func (j *journal) add(k kept) {
	if j.count == len(j.chunks)*chunkKept {
		if j.count >= maxKept {
			j.on = false
			return
		}
		j.chunks = append(j.chunks, new([chunkKept]kept))
	}
	*j.at(j.count) = k
	j.count++
}

func (j *journal) at(i int) *kept { return &j.chunks[i/chunkKept][i%chunkKept] }

// undo puts back what was kept. It returns false, and does nothing, if that is not all
// there was, or if it may contain pointers to memory that was freed.
func (j *journal) undo() bool {
	defer j.reset()
	if Patched.Collections == nil {
		return true
	}
	if !j.on || j.last || j.collections != Patched.Collections() {
		return false
	}
	for i := j.count - 1; i >= 0; i-- {
		switch k := j.at(i); {
		case !Patched.Owns(k.addr):
		case k.size == 8:
			*(*uint64)(pointer(k.addr)) = k.old
		case k.size < 8:
			copy(bytesAt(k.addr, k.size), (*[8]byte)(unsafe.Pointer(&k.old))[:])
		default:
			copy(bytesAt(k.addr, k.size), j.bytes[k.old:])
		}
	}
	for _, restore := range j.maps {
		restore()
	}
	return true
}

func (j *journal) reset() {
	clear(j.maps)
	j.count, j.bytes, j.maps = 0, j.bytes[:0], j.maps[:0]
}

func pointer(addr uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&addr)) }

// Keep notes what *p is, for those parts of the standard library that change memory
// unseen.
func Keep[T any](p *T) {
	if c := enter(); c != nil {
		if !private(unsafe.Pointer(p)) {
			s.journal.keep(uintptr(unsafe.Pointer(p)), unsafe.Sizeof(*p))
		}
		c.leave()
	}
}

// keepMap notes what is in m, which the run is about to write to for the first time.
func keepMap[M ~map[K]V, K comparable, V any](m M) {
	old := make(M, len(m))
	for k, v := range m {
		old[k] = v
	}
	s.journal.maps = append(s.journal.maps, func() { restore(m, old) })
	s.objects.at(*(*unsafe.Pointer)(unsafe.Pointer(&m))).kept = true
}

// restore makes m hold what old does. Elements that stay are left where they are: the
// order in which a map is walked depends on its past.
func restore[M ~map[K]V, K comparable, V any](m, old M) {
	for k := range m {
		if k != k {
			clear(m)
			break
		}
		if _, ok := old[k]; !ok {
			delete(m, k)
		}
	}
	for k, v := range old {
		m[k] = v
	}
}
