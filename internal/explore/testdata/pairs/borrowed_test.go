package pairs

import (
	"testing"
	"time"
	_ "unsafe" // for go:linkname
)

// Functions of the runtime that libraries take by their linker names.

//go:noescape
//go:linkname borrowedNow time.now
func borrowedNow() (sec int64, nsec int32, mono int64)

//go:linkname borrowedNano runtime.nanotime
func borrowedNano() int64

//go:linkname borrowedBelow runtime.fastrandn
func borrowedBelow(n uint32) uint32

//go:linkname borrowedCheap runtime.cheaprand
func borrowedCheap() uint32

func TestFineBorrowedClocksGoWithTheOthers(t *testing.T) {
	began, nano := time.Now(), borrowedNano()
	time.Sleep(time.Hour)
	sec, _, _ := borrowedNow()
	if d := sec - began.Unix(); d < 3600 || d > 3602 {
		t.Errorf("%d s by the borrowed clock after an hour", d)
	}
	if d := time.Duration(borrowedNano() - nano); d < time.Hour || d > time.Hour+time.Second {
		t.Errorf("%v by the borrowed clock after an hour", d)
	}
}

func TestBugBorrowedChance(t *testing.T) {
	if borrowedBelow(16) == 3 && borrowedCheap()%2 == 1 {
		t.Error("what happens seldom happened")
	}
}

// A thousand calls that tell the time take no millisecond.
func TestFineManyLooksAtTheClock(t *testing.T) {
	began := time.Now()
	for range 1000 {
		time.Now()
	}
	if time.Since(began) >= time.Millisecond {
		t.Error("late")
	}
}
