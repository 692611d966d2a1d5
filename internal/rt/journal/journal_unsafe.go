// Package journal takes back what a run did to memory, so that the next one in the process
// begins where it began.
//
// Runs are repeated in one process. What a run stores to memory that was there before
// it, such as a package-level variable or what one points to, is taken back at its end,
// so that the next run begins where it began.
//
// The journal holds what memory contained before each store by a controlled goroutine,
// to be put back in reverse order. A map is copied before the run first writes to it, a
// channel before the run first looks at it.
//
// Memory that the run itself allocated is left as it is. Most of it nothing refers to any more.
// But a package that is not under control may have kept some of it, a regular expression that it
// was given say, and will find it there in the next run as it would without control.
//
// Nothing is taken back if goroutines took part that are not under control: they may hold
// a lock, or have been started by something that is done once.
//
// Values are put back as plain words, and the journal keeps nothing alive. Both is right
// only because no collection happens during a run: Undo looks.
//
// A run that is recorded is the last one of its process, so that its stores are not kept.
// Maps are copied all the same: walking them takes random numbers, which the run must find
// as another one did.
package journal

import (
	"unsafe"

	"github.com/cofferdam-go/cofferdam/internal/rt/peek"
)

// A Journal is what is taken back.
type Journal struct {
	on          bool
	old         func(addr uintptr) bool
	started     func() uint32 // counts the collections that have begun
	last        bool          // the run is the last one, and nothing will be taken back
	collections uint32        // at the start
	// chunks are what was kept, in order. They are never moved: there can be as many as
	// stores.
	chunks []*[chunkKept]kept
	count  int    // of what was kept
	bytes  []byte // what was in large pieces of memory
	maps   []keptMap
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

// A keptMap is a map, by the address of its header, and what puts it back.
type keptMap struct {
	addr    uintptr
	restore func()
}

// maxKept and maxBytes are how much a journal holds at most. Memory up to wordwise bytes
// is kept word by word, of which most have been kept before.
const (
	maxKept  = 8 << 20
	maxBytes = 256 << 20
	wordwise = 4 << 10
)

// Begin begins a run. old reports whether an address is in a package-level variable or in an
// object that was there before, and collections counts the garbage collections that have begun; they are nil
// where the runtime is not patched, and then nothing is taken back. The last run of a
// process keeps nothing.
func (j *Journal) Begin(old func(addr uintptr) bool, collections func() uint32, last bool) {
	j.old, j.started, j.last = old, collections, last
	if j.on = collections != nil; j.on {
		j.collections = collections()
		if j.run++; j.run == 0 || j.recent == nil {
			j.run, j.recent = 1, new([recentWords]uint64)
		}
	}
}

// Keep notes what is at addr, which is about to change.
func (j *Journal) Keep(addr, size uintptr) {
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
			copy((*[8]byte)(unsafe.Pointer(&k.old))[:size], peek.Bytes(addr, size))
			j.add(k)
		}
	}
}

func (j *Journal) keepWord(addr uintptr) {
	word := uint64(addr) | uint64(j.run)<<addressBits
	if r := &j.recent[addr/8%recentWords]; *r != word {
		*r = word
		j.add(kept{addr, 8, *(*uint64)(peek.Pointer(addr))})
	}
}

func (j *Journal) keepBytes(addr, size uintptr) {
	if len(j.bytes)+int(size) > maxBytes {
		j.on = false
		return
	}
	j.add(kept{addr, size, uint64(len(j.bytes))})
	j.bytes = append(j.bytes, peek.Bytes(addr, size)...)
}

func (j *Journal) add(k kept) {
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

func (j *Journal) at(i int) *kept { return &j.chunks[i/chunkKept][i%chunkKept] }

// Undo puts back what was kept. It returns false, and does nothing, if that is not all
// there was, or if it may contain pointers to memory that was freed.
func (j *Journal) Undo() bool {
	defer j.Reset()
	if j.started == nil {
		return true
	}
	if !j.on || j.last || j.collections != j.started() {
		return false
	}
	for i := j.count - 1; i >= 0; i-- {
		switch k := j.at(i); {
		case !j.old(k.addr):
		case k.size == 8:
			*(*uint64)(peek.Pointer(k.addr)) = k.old
		case k.size < 8:
			copy(peek.Bytes(k.addr, k.size), (*[8]byte)(unsafe.Pointer(&k.old))[:])
		default:
			copy(peek.Bytes(k.addr, k.size), j.bytes[k.old:])
		}
	}
	for _, m := range j.maps {
		if j.old(m.addr) {
			m.restore()
		}
	}
	return true
}

// Reset forgets what was kept.
func (j *Journal) Reset() {
	clear(j.maps)
	j.count, j.bytes, j.maps = 0, j.bytes[:0], j.maps[:0]
}

// On reports whether anything is kept.
func (j *Journal) On() bool { return j.on }

// KeepMap notes what is in m, which the run is about to write to for the first time.
func KeepMap[M ~map[K]V, K comparable, V any](j *Journal, m M) {
	old := make(M, len(m))
	for k, v := range m {
		old[k] = v
	}
	j.maps = append(j.maps, keptMap{*(*uintptr)(unsafe.Pointer(&m)), func() { restore(m, old) }})
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
