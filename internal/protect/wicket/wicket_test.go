package wicket_test

import (
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/await"
	"github.com/cofferdam-go/cofferdam/internal/finding"
	"github.com/cofferdam-go/cofferdam/internal/protect/wicket"
)

// An object is what the rewriter makes of struct { mu sync.RWMutex; n int; s string; a [64]int }.
type object struct {
	x  wicket.Guard
	mu sync.RWMutex
	n  int
	s  string
	a  [64]int
}

// A lean is an object with a sync.Mutex.
type lean struct {
	x  wicket.Guard
	mu sync.Mutex
	n  int
}

type namesOfN struct{}

func (namesOfN) CofferdamNames() (string, string, string, int) {
	return "object.n", "object.mu", "object.go", 7
}

// fieldM is that of a field which is not looked at.
const fieldN, fieldM, fieldS, fieldA = 1, 2, 4, 8

func (o *object) loadN() int                        { return wicket.Load[namesOfN](&o.x, fieldN, &o.n) }
func (o *object) storeN(v int)                      { wicket.Store[namesOfN](&o.x, fieldN, &o.n, v) }
func (o *object) toN() wicket.Target[namesOfN, int] { return wicket.To[namesOfN](&o.x, fieldN, &o.n) }
func (o *object) loadA() [64]int                    { return wicket.Load[namesOfN](&o.x, fieldA, &o.a) }
func (o *object) loadS() string                     { return wicket.Load[namesOfN](&o.x, fieldS, &o.s) }
func (o *object) toS() wicket.Target[namesOfN, string] {
	return wicket.To[namesOfN](&o.x, fieldS, &o.s)
}

// TestMain: a busy machine may take a second for what a test does in a section.
func TestMain(m *testing.M) {
	*wicket.LongestWait = time.Hour
	m.Run()
}

// findings returns what is found while f runs.
func findings(f func()) []finding.Finding {
	var mu sync.Mutex
	var all []finding.Finding
	wicket.SetRecorder(func(one finding.Finding) {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, one)
	})
	defer wicket.SetRecorder(nil)
	f()
	return all
}

// needsIsolation says what a test does in a build in which nothing is isolated.
func needsIsolation(t *testing.T) bool {
	if wicket.RaceBuild && wicket.Weakness() == "" {
		t.Error("nothing says that nothing is isolated")
	}
	return !wicket.RaceBuild
}

// sleeping calls f, and returns when an access has begun to sleep in it, which goes on.
func sleeping(t *testing.T, f func()) (ended chan struct{}) {
	began := make(chan struct{})
	var once sync.Once
	*wicket.BeginsToSleep = func() { once.Do(func() { close(began) }) }
	t.Cleanup(func() { *wicket.BeginsToSleep = func() {} })
	ended = make(chan struct{})
	go func() {
		defer close(ended)
		f()
	}()
	await.Receive(t, "an access to sleep", began)
	return ended
}

func TestAnAccessWaitsForTheSection(t *testing.T) {
	if !needsIsolation(t) {
		return
	}
	for name, access := range map[string]func(o *object) int{
		"load":   func(o *object) int { return o.loadN() },
		"store":  func(o *object) int { o.storeN(7); return 2 },
		"update": func(o *object) int { k := o.toN(); p := k.Begin(); *k.P++; p.End(); return 2 },
	} {
		t.Run(name, func(t *testing.T) {
			o := new(object)
			seen := 0
			all := findings(func() {
				o.mu.Lock()
				o.x.Lock(fieldN, 0)
				o.n = 1
				ended := sleeping(t, func() { seen = access(o) })
				if o.n != 1 {
					t.Errorf("the section finds %d", o.n)
				}
				o.n = 2
				o.x.Leave()
				o.mu.Unlock()
				o.x.Wake()
				await.Receive(t, "the access", ended)
			})
			if seen != 2 {
				t.Errorf("the access saw %d", seen)
			}
			if len(all) != 1 || all[0].Guard.Name != "object.mu" || all[0].Accesses[0].Target != "object.n" || all[0].Outcomes.Delayed != 1 {
				t.Fatalf("found %v", all)
			}
			access, section := all[0].Accesses[0], all[0].Accesses[1]
			if !strings.Contains(access.Site().Function, "TestAnAccessWaitsForTheSection") {
				t.Errorf("the access is in %s", access.Site().Function)
			}
			if runtime.GOARCH == "amd64" && !strings.Contains(section.Site().Function, "TestAnAccessWaitsForTheSection") {
				t.Errorf("the section is in %s", section.Site().Function)
			}
			if !o.x.IsIdle() {
				t.Errorf("what is left is %+v", &o.x)
			}
		})
	}
}

// TestASectionDoesNotWaitForItself: code that it calls may use the field in whatever way.
func TestASectionDoesNotWaitForItself(t *testing.T) {
	o := new(object)
	all := findings(func() {
		o.x.Lock(fieldN, fieldM)
		o.storeN(o.loadN() + 1)
		o.x.Relent()
		o.storeN(o.loadN() + 1)
		o.x.Resume(fieldN, fieldM)
		o.x.Unlock()
	})
	if o.n != 2 || len(all) > 0 {
		t.Errorf("n is %d, found %v", o.n, all)
	}
}

// TestOtherFieldsAreFree: a correct program may do as it likes with what a section does not use, and read what it only
// reads.
func TestOtherFieldsAreFree(t *testing.T) {
	o := &object{n: 3}
	all := findings(func() {
		o.x.Lock(fieldM, fieldN)
		done := make(chan struct{})
		go func() {
			defer close(done)
			o.toS().Store("x")
			if o.loadN() != 3 {
				t.Error("a load of what the section only reads")
			}
		}()
		await.Receive(t, "what other goroutines do", done)
		o.x.Unlock()
		o.x.RLock(fieldN)
		if o.loadN() != 3 || o.loadS() != "x" {
			t.Error("loads beside a section that reads")
		}
		o.x.RUnlock()
	})
	if len(all) > 0 {
		t.Errorf("found %v", all)
	}
}

func TestAStoreWaitsForAllReaders(t *testing.T) {
	if !needsIsolation(t) {
		return
	}
	o := new(object)
	all := findings(func() {
		o.x.RLock(fieldN)
		o.x.RLock(fieldN | fieldM)
		ended := sleeping(t, func() { o.storeN(7) })
		o.x.RUnlock()
		if o.n != 0 {
			t.Error("a store while a section reads")
		}
		o.x.RUnlock()
		await.Receive(t, "the store", ended)
	})
	if o.n != 7 || len(all) != 1 {
		t.Errorf("n is %d, found %v", o.n, all)
	}
}

// TestASectionThatWaitsLetsAccessesPass: the section may wait for what the other goroutine does next.
func TestASectionThatWaitsLetsAccessesPass(t *testing.T) {
	o := new(object)
	told := make(chan struct{})
	all := findings(func() {
		o.mu.Lock()
		o.x.Lock(fieldN, 0)
		o.n = 1
		o.x.Relent()
		go func() {
			o.storeN(o.loadN() + 1)
			close(told)
		}()
		<-told
		o.x.Resume(fieldN, 0)
		if o.n != 2 {
			t.Errorf("n is %d after the other goroutine", o.n)
		}
		o.x.Leave()
		o.mu.Unlock()
		o.x.Wake()
	})
	if runtime.GOOS == "linux" && runtime.GOARCH == "amd64" && len(all) > 0 {
		t.Errorf("found %v, in a correct program", all)
	}
}

// TestASectionThatRunsIsSurrendered: one that relents after a while, any other after the longest wait.
func TestASectionThatRunsIsSurrendered(t *testing.T) {
	if !needsIsolation(t) {
		return
	}
	defer func(d, r time.Duration) { *wicket.LongestWait, *wicket.RelentedWait = d, r }(*wicket.LongestWait, *wicket.RelentedWait)
	for _, relents := range []bool{true, false} {
		*wicket.LongestWait, *wicket.RelentedWait = time.Hour, 2*time.Millisecond
		if !relents {
			*wicket.LongestWait = 2 * time.Millisecond
		}
		o := new(object)
		all := findings(func() {
			o.x.Lock(fieldN, 0)
			if relents {
				o.x.Relent()
			}
			var passed atomic.Bool
			go func() {
				o.storeN(7)
				passed.Store(true)
			}()
			for !passed.Load() { // runs
				runtime.Gosched()
			}
			if relents {
				o.x.Resume(fieldN, 0)
			}
			o.x.Unlock()
		})
		if len(all) != 1 || all[0].Outcomes.Surrendered == 0 {
			t.Errorf("relents %v: found %v", relents, all)
		}
	}
}

// TestALockThatIsReleasedMeanwhile: as Wait of a sync.Cond does in what a section has called.
func TestALockThatIsReleasedMeanwhile(t *testing.T) {
	o := new(object)
	o.mu.Lock()
	o.x.Lock(fieldN, 0)
	o.x.Relent()
	o.mu.Unlock()
	done := make(chan struct{})
	go func() {
		defer close(done)
		o.mu.Lock()
		o.x.Lock(fieldN, 0)
		o.n = 5
		o.x.Leave()
		o.mu.Unlock()
		o.x.Wake()
	}()
	await.Receive(t, "the other section", done)
	o.mu.Lock()
	o.x.Resume(fieldN, 0)
	if !wicket.RaceBuild && !o.x.IsMine() {
		t.Error("the section that goes on is not in its guard")
	}
	o.x.LeaveMine()
	o.mu.Unlock()
	if !o.x.IsIdle() {
		t.Errorf("what is left is %+v", &o.x)
	}
}

// TestSectionsThatFollowEachOtherLetAccessesPass: an access waits for the section that it fell into, not for those
// behind it.
func TestSectionsThatFollowEachOtherLetAccessesPass(t *testing.T) {
	o := new(object)
	var stop atomic.Bool
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for !stop.Load() {
				o.mu.Lock()
				o.x.Lock(fieldN, 0)
				for range 1000 {
					o.n++
				}
				o.x.Leave()
				o.mu.Unlock()
				o.x.Wake()
			}
		})
	}
	all := findings(func() {
		for range 200 {
			o.loadN()
			o.storeN(0)
		}
		stop.Store(true)
		wg.Wait()
	})
	for _, f := range all {
		if f.Outcomes.Surrendered > 0 {
			t.Fatalf("an access was let through: %v", f)
		}
	}
}
