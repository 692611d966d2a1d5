package aside

import (
	"runtime"
	"slices"
	"time"
)

// most is how many fields of objects have pages at a time, those among them that wait to be given
// back. That is 64 MiB. Fields that come when there are so many are on the heap.
const most = 16384

// An object that is garbage is in no section, but an access to it may be under way: it holds on
// to nothing but an address, which the collector does not know. What it still has to do is a few
// instructions; the rewriter has pages kept that a statement may need for longer. But a goroutine
// can lose its processor there. So the pages rest, until the program has run for a while and the
// collector has stopped all goroutines a few times. An access that comes later than that ends the
// program and does not find other data: the arena has new addresses for years.
const restCollections = 3

var restTime = 10 * time.Second // not constant for tests

var ( // guarded by making
	made        int // fields that have pages
	resting     []rest
	collections int // since something rests
)

// A rest is the guard of an object that is garbage.
type rest struct {
	guard *Guard
	since time.Time
	until int // of collections
}

// giveBackAfter has the pages of a guard given back when an object is garbage.
func giveBackAfter[O any](object *O, g *Guard) {
	if g != &nowhere {
		runtime.AddCleanup(object, layToRest, g)
	}
}

func layToRest(g *Guard) {
	making.Lock()
	defer making.Unlock()
	resting = append(resting, rest{g, time.Now(), collections + restCollections})
	if len(resting) == 1 {
		countCollection()
	}
}

// countCollection has the next collection counted, without a goroutine, which tests that look for
// forgotten ones would find.
func countCollection() { runtime.AddCleanup(new(rest), afterCollection, struct{}{}) }

// afterCollection gives back what has rested for long enough.
func afterCollection(struct{}) {
	making.Lock()
	defer making.Unlock()
	collections++
	n := 0
	for n < len(resting) && collections >= resting[n].until && time.Since(resting[n].since) >= restTime {
		if err := resting[n].guard.Close(); err != nil {
			refuse(err.Error())
		}
		n++
	}
	made -= n
	resting = slices.Delete(resting, 0, n)
	if len(resting) > 0 {
		countCollection()
	}
}
