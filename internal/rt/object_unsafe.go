package rt

import (
	"unsafe"

	"github.com/cofferdam-go/cofferdam/internal/rt/race"
)

// keep notes what is at p, the state of o, if that was not done.
func (o *object) keep(p unsafe.Pointer, size uintptr) {
	if !o.kept {
		o.kept = true
		s.journal.Keep(uintptr(p), size)
	}
}

// An object is what rt knows of one lock, channel, WaitGroup, Cond, Pool, map or atomic
// variable in this run. The state that counts is in the program's own object; this is
// the goroutines that wait for it and what happened before.
type object struct {
	addr uintptr
	// waiters are the goroutines whose pending operation depends on the object, in the
	// order in which they came; see goroutine.enabled.
	waiters []*goroutine
	// sends and receives are how many offers these have on a channel. someReady says that one
	// of them may be ready because it can do one; see idle.
	sends, receives int
	someReady       bool
	// seenClosed says that the channel is closed, and all that waited for it were made ready.
	seenClosed bool
	// released is the past of the goroutines that released the object: unlocked it,
	// stored to it, closed it, signalled it. readers is that of the readers of an
	// RWMutex.
	released race.Vector
	readers  race.Vector
	// by and at are the slot and the moment of the last release of an atomic variable. A
	// goroutine that has come past it knows all of released; there may be many slots in
	// that.
	by, at uint32
	// tickets are the goroutines that wait for a Cond, the first to be signalled first.
	tickets []*goroutine
	// granted is how many readers of an RWMutex were let in by an Unlock and did not
	// go on yet.
	granted int
	// tried says that a goroutine has tried to lock a mutex, and so has seen whether it was
	// locked.
	tried bool
	// awaited says that a goroutine waits for a WaitGroup that has not come to 0 since.
	awaited bool
	// taken says that a goroutine has taken a lock.
	taken bool
	// holder is the goroutine that has locked a mutex, reading are those that have locked an
	// RWMutex for reading. handed says that a lock was released by another goroutine than
	// the one that took it.
	holder  hold
	reading []hold
	handed  bool
	// unheard is how often a Cond was signalled when no goroutine waited for it.
	unheard int
	// writer is the goroutine that is in the middle of writing to a map.
	writer *goroutine
	// kept says that the journal has what it was at the start of the run.
	kept bool
	// For a channel: its slots' pasts, as far as there were values in them, and which of them is
	// received from next.
	channel channel
	slots   []race.Vector
	receive int
	// items are what is in a Pool.
	items []pooled
}

func (o *object) reset(addr uintptr) {
	o.addr = addr
	o.waiters = o.waiters[:0]
	o.sends, o.receives, o.someReady, o.seenClosed = 0, 0, false, false
	o.released.Reset()
	o.readers.Reset()
	o.by, o.at = 0, 0
	o.tickets = o.tickets[:0]
	o.granted = 0
	o.tried, o.awaited, o.taken = false, false, false
	o.holder, o.handed, o.unheard = hold{}, false, 0
	clear(o.reading)
	o.reading = o.reading[:0]
	o.writer = nil
	o.kept = false
	o.channel = channel{}
	for i := range o.slots {
		o.slots[i].Reset()
	}
	o.receive = 0
	clear(o.items)
	o.items = o.items[:0]
}

// objects finds objects by address.
type objects struct {
	generation uint32
	used       int
	shift      uint
	table      []objectEntry // open addressing
	all        []*object     // the first used are this run's, the others are spare
}

type objectEntry struct {
	addr       uintptr
	generation uint32
	object     *object
}

func (t *objects) begin() {
	if t.table == nil {
		t.generation = 1
		t.resize(6)
	}
}

func (t *objects) reset() {
	for _, o := range t.all[:t.used] {
		o.reset(0) // so that nothing of the program is kept alive
	}
	t.generation++
	if t.generation == 0 {
		clear(t.table)
		t.generation = 1
	}
	t.used = 0
}

func (t *objects) resize(log uint) {
	old := t.table
	t.table = make([]objectEntry, 1<<log)
	t.shift = 64 - log
	for _, e := range old {
		if e.generation == t.generation {
			*t.find(e.addr) = e
		}
	}
}

func (t *objects) find(addr uintptr) *objectEntry {
	for i := uint64(addr) * 0x9E3779B97F4A7C15 >> t.shift; ; i++ {
		e := &t.table[i&uint64(len(t.table)-1)]
		if e.generation != t.generation || e.addr == addr {
			return e
		}
	}
}

func (t *objects) at(p unsafe.Pointer) *object {
	addr := uintptr(p)
	e := t.find(addr)
	if e.generation != t.generation {
		if t.used+1 > len(t.table)/2 {
			t.resize(64 - t.shift + 1)
			e = t.find(addr)
		}
		if t.used == len(t.all) {
			t.all = append(t.all, new(object))
		}
		o := t.all[t.used]
		o.addr = addr
		t.used++
		*e = objectEntry{addr, t.generation, o}
	}
	return e.object
}

// channel is what can be seen of a channel from outside: the start of the runtime's
// structure.
type channel struct{ header *chanHeader }

type chanHeader struct {
	length   uint
	capacity uint
	buffer   unsafe.Pointer
	size     uint16 // of an element
	closed   uint32
	_, _     unsafe.Pointer
	sent     uint // where the next element goes
	received uint // and comes from
	// The goroutines that wait natively: for what is under control waits elsewhere.
	receivers, senders waitQueue
}

type waitQueue struct{ first, last unsafe.Pointer }

// chanState is how much of a channel's header is put back after a run: all but the goroutines that wait.
const chanState = unsafe.Offsetof(chanHeader{}.receivers)

// seesClosed says that closed and the rest are where they are thought to be. Otherwise
// no goroutine is known to be able to go on because a channel was closed before it tries.
var seesClosed = func() bool {
	ch := make(chan int, 3)
	h := *(**chanHeader)(unsafe.Pointer(&ch))
	if h.closed != 0 || h.length != 0 || h.capacity != 3 {
		return false
	}
	ch <- 1
	ch <- 2
	<-ch
	close(ch)
	return h.closed != 0 && h.length == 1 && h.size == 8 && h.sent == 2 && h.received == 1
}()
