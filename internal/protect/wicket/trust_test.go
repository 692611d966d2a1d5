package wicket_test

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/protect/wicket"
)

// enough is more sections than come before a guard trusts.
const enough = 2000

// few is more sections than a guard has while it is young.
const few = 24

func (o *lean) section() {
	o.mu.Lock()
	o.x.Lock(fieldN, 0)
	o.n++
	o.x.Leave()
	o.mu.Unlock()
	o.x.Wake()
}

func (o *lean) storeN(v int) { wicket.Store[namesOfN](&o.x, fieldN, &o.n, v) }
func (o *lean) loadN() int   { return wicket.Load[namesOfN](&o.x, fieldN, &o.n) }

// trustFreely reports whether guards can trust here: some kernels and containers refuse what that takes.
func trustFreely(t *testing.T) bool {
	restore, can := wicket.TrustFreely()
	t.Cleanup(restore)
	return can && !wicket.RaceBuild
}

func TestAGuardTrustsUntilAStoreComes(t *testing.T) {
	can := trustFreely(t)
	o := new(lean)
	o.section()
	if o.x.Trusts() {
		t.Error("a guard trusts after one section")
	}
	for range 3 {
		for range enough {
			o.section()
		}
		if o.x.Trusts() != can {
			t.Fatalf("after %d sections the guard trusts: %t, want %t", enough, o.x.Trusts(), can)
		}
		if o.loadN(); o.x.Trusts() != can {
			t.Error("a load has taken the trust away, for which it does not matter")
		}
		o.storeN(1)
		if o.x.Trusts() {
			t.Error("a guard still trusts after a store")
		}
	}
	if !o.x.IsIdle() {
		t.Errorf("what is left is %+v", &o.x)
	}
}

// TestABarrierThatIsRefusedLater: a program may give up the right to ask for barriers when guards trust already.
func TestABarrierThatIsRefusedLater(t *testing.T) {
	if !trustFreely(t) {
		return
	}
	o := new(lean)
	for range enough {
		o.section()
	}
	made := *wicket.MakeBarrier
	t.Cleanup(func() { *wicket.MakeBarrier = made })
	*wicket.MakeBarrier = func() bool { return false }
	o.storeN(1)
	for range enough {
		o.section()
	}
	if o.n != 1+enough || o.x.Trusts() {
		t.Errorf("n is %d, the guard trusts: %t", o.n, o.x.Trusts())
	}
}

// TestTheTrustOfAllGuardsEndsWhenManyAreStoredTo: a loop over many objects, without their locks, needs no barrier for each.
func TestTheTrustOfAllGuardsEndsWhenManyAreStoredTo(t *testing.T) {
	if !trustFreely(t) {
		return
	}
	const all, affordable = 100, 10
	t.Cleanup(wicket.BarriersRunOut(time.Hour, affordable, time.Hour))
	made := *wicket.MakeBarrier
	t.Cleanup(func() { *wicket.MakeBarrier = made })
	barriers := 0
	*wicket.MakeBarrier = func() bool { barriers++; return made() }
	objects := make([]lean, all)
	for i := range objects {
		for range enough {
			objects[i].section()
		}
		if !objects[i].x.Trusts() {
			t.Fatal("a guard does not trust")
		}
	}
	for i := range objects {
		objects[i].storeN(-1)
	}
	if want := affordable + 1; barriers != want || wicket.TrustHolds() {
		t.Errorf("%d stores have made %d barriers, want %d; trust holds: %t", all, barriers, want, wicket.TrustHolds())
	}
	for i := range objects {
		for range enough {
			objects[i].section()
		}
		if objects[i].x.Trusts() || objects[i].n != enough-1 {
			t.Fatalf("n is %d, the guard trusts: %t", objects[i].n, objects[i].x.Trusts())
		}
	}
}

// TestAYoungGuardTrustsAfterAFewSections: most objects of a program have fewer sections than it takes to earn trust.
func TestAYoungGuardTrustsAfterAFewSections(t *testing.T) {
	can := trustFreely(t)
	t.Cleanup(wicket.NoGrants())
	o := new(lean)
	for range few {
		o.section()
	}
	if o.x.Trusts() != can {
		t.Errorf("after %d sections the guard trusts: %t, want %t", few, o.x.Trusts(), can)
	}
	o.storeN(1)
	for range enough {
		o.section()
	}
	if o.x.Trusts() {
		t.Error("a guard that has lost its trust has it again, and none was granted")
	}
}

func TestTrustIsRationed(t *testing.T) {
	if n := wicket.Taken(10); n != 10 {
		t.Errorf("trust is given %d times at once, want 10", n)
	}
}

// TestStressOfTrust has stores without the lock come whenever the guard trusts, so that each is met by a section that may have
// begun by a plain store. Without the barrier some fifteen looks are disturbed by 40,000 stores (-stress 20), on two processors.
func TestStressOfTrust(t *testing.T) {
	if trustFreely(t) {
		stressTrust(t)
	}
}

// TestStressOfTheEndOfTrust has the trust of all guards end, and come back, time and again: some stores make a barrier, and others
// rely on an end.
func TestStressOfTheEndOfTrust(t *testing.T) {
	if !trustFreely(t) {
		return
	}
	t.Cleanup(wicket.BarriersRunOut(20*time.Microsecond, 1, 100*time.Microsecond))
	var stop atomic.Bool
	var wg sync.WaitGroup
	others := make([]lean, 8)
	wg.Go(func() {
		for i := 0; !stop.Load(); i++ {
			o := &others[i%len(others)]
			for range enough {
				o.section()
			}
			o.storeN(i)
			runtime.Gosched()
		}
	})
	stressTrust(t)
	stop.Store(true)
	wg.Wait()
}

func stressTrust(t *testing.T) {
	const between, stores = 1 << 30, 2000
	var stop atomic.Bool
	var wg sync.WaitGroup
	o := new(object)
	disturbed, sections, made, wrong := 0, 0, 0, 0
	wg.Go(func() {
		for !stop.Load() {
			o.mu.Lock()
			o.x.Lock(fieldN, 0)
			before := o.n
			o.n = between
			for range sections % 8 {
				if sees(&o.n) != between {
					disturbed++
				}
			}
			o.n = before
			o.x.Leave()
			o.mu.Unlock()
			o.x.Wake()
			sections++
		}
	})
	wg.Go(func() {
		for !stop.Load() {
			if o.loadN() == between {
				wrong++
			}
			runtime.Gosched()
		}
	})
	for made < *stressTimes*stores {
		if !o.x.Trusts() {
			runtime.Gosched()
			continue
		}
		for range made % 64 { // so that it comes at other moments of a section
			sees(&made)
		}
		o.storeN(made)
		made++
	}
	stop.Store(true)
	wg.Wait()
	t.Logf("%d sections", sections)
	if disturbed+wrong > 0 {
		t.Errorf("%d looks of %d sections were disturbed by %d stores, %d loads have seen what they should not", disturbed, sections, made, wrong)
	}
	if !o.x.IsIdle() {
		t.Errorf("what is left is %+v", &o.x)
	}
}
