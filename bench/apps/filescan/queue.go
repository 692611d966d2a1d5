package filescan

import "github.com/cofferdam-go/cofferdam/bench/measure"

// A queue is a bounded queue of names of files, for any number of goroutines.
type queue interface {
	// put adds a name of at most maxName bytes. It waits while the queue is full.
	put(name string)
	// take removes the oldest name. It waits while the queue is empty; not ok:
	// it is empty for good.
	take() (name string, ok bool)
	// close says that there will be no more names.
	close()
	// free returns the memory of the queue, which nobody uses any more.
	free() error
}

func newQueue(v measure.Variant) queue {
	if v == measure.Heap {
		return newHeapQueue()
	}
	return newGuardedQueue(v)
}

const (
	maxName = 240
	slots   = 64
)

// A record is a name of a file where there can be no string.
type record struct {
	length uint8
	bytes  [maxName]byte
}

// A ring is the content of a queue: everything that its lock guards.
type ring struct {
	first, used int
	closed      bool
	records     [slots]record
}

func (r *ring) full() bool { return r.used == slots }

func (r *ring) empty() bool { return r.used == 0 }

func (r *ring) push(name string) {
	at := &r.records[(r.first+r.used)%slots]
	at.length = uint8(copy(at.bytes[:], name))
	r.used++
}

func (r *ring) pop() string {
	at := &r.records[r.first]
	r.first = (r.first + 1) % slots
	r.used--
	return string(at.bytes[:at.length])
}
