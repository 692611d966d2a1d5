package isolate_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/isolate"
)

// panics checks that f panics with a message that holds each of the words.
func panics(t *testing.T, f func(), words ...string) {
	t.Helper()
	defer func() {
		t.Helper()
		r := recover()
		if r == nil {
			t.Fatal("no panic")
		}
		message := fmt.Sprint(r)
		for _, w := range append(words, "isolate: ") {
			if !strings.Contains(message, w) {
				t.Errorf("panic says %q, want something about %q", message, w)
			}
		}
	}()
	f()
}

func TestMisuseIsAClearPanic(t *testing.T) {
	var mu, other isolate.Mutex
	var rw isolate.RWMutex
	for _, c := range []interface{ Close() error }{&mu, &other, &rw} {
		defer c.Close()
	}
	other.SetName("the other")
	acct := isolate.New[Account](&mu)
	foreign := isolate.New[Account](&other)
	read := isolate.New[Account](&rw)
	local := new(Account)
	freed := isolate.New[Account](&mu)
	isolate.Free(&mu, freed)
	large := isolate.MakeSlice[int64](&mu, 10_000)
	isolate.FreeSlice(&mu, large)
	locked := func(f func()) func() {
		return func() { mu.Lock(); defer mu.Unlock(); f() }
	}
	for _, test := range []struct {
		name  string
		f     func()
		words []string
	}{
		{"Own without the lock", func() { isolate.Own(&mu, acct) }, []string{"not locked", "call Lock first"}},
		{"Own with a lock never used", func() { isolate.Own(new(isolate.Mutex), acct) }, []string{"never used"}},
		{"Own of another guard's object", locked(func() { isolate.Own(&mu, foreign) }), []string{"another guard", "the other"}},
		{"Own of ordinary memory", locked(func() { isolate.Own(&mu, local) }), []string{"not guarded memory", "New"}},
		{"Own of nil", locked(func() { isolate.Own[Account](&mu, nil) }), []string{"not guarded memory"}},
		{"Own without the read lock", func() { isolate.Own(&rw, read) }, []string{"not locked"}},
		{"Unlock of an unlocked Mutex", func() { mu.Unlock() }, []string{"Unlock of an unlocked Mutex"}},
		{"Unlock of an unused Mutex", func() { new(isolate.Mutex).Unlock() }, []string{"Unlock of an unlocked Mutex"}},
		{"plain Unlock of a section", func() { mu.Lock(); defer mu.Unlock(); mu.Plain().Unlock() }, []string{"plain lock that is not held"}},
		{"Unlock of a plain lock", func() { p := mu.Plain(); p.Lock(); defer p.Unlock(); mu.Unlock() }, []string{"Unlock of an unlocked Mutex"}},
		{"Unlock of an unlocked RWMutex", func() { rw.Unlock() }, []string{"Unlock of an unlocked RWMutex"}},
		{"RUnlock of an unlocked RWMutex", func() { rw.RUnlock() }, []string{"RUnlock of an unlocked RWMutex"}},
		{"double free", func() { isolate.Free(&mu, freed) }, []string{"free already"}},
		{"double free of a large slice", func() { isolate.FreeSlice(&mu, large) }, []string{"free already"}},
		{"free of another guard's object", func() { isolate.Free(&mu, foreign) }, []string{"another guard", "the other"}},
		{"free of ordinary memory", func() { isolate.Free(&mu, local) }, []string{"not guarded memory"}},
		{"free of a field", func() { isolate.Free(&mu, &acct.Balance) }, []string{"points into", "Account"}},
		{"RefTo another guard's object", func() { isolate.RefTo(&mu, foreign) }, []string{"another guard"}},
		{"RefTo ordinary memory", func() { isolate.RefTo(&mu, local) }, []string{"not guarded memory"}},
		{"Follow from ordinary memory", func() { isolate.Follow(local, isolate.RefTo(&mu, acct)) }, []string{"not guarded"}},
		{"MakeSlice of a negative length", func() { isolate.MakeSlice[int](&mu, -1) }, []string{"-1"}},
		{"MakeSlice beyond the arena", func() { isolate.MakeSlice[int64](&mu, math.MaxInt/4) }, []string{"do not fit"}},
	} {
		t.Run(test.name, func(t *testing.T) { panics(t, test.f, test.words...) })
	}
	// Nothing above left a lock held or a guard damaged.
	mu.Lock()
	isolate.Own(&mu, acct).Balance++
	mu.Unlock()
}

func TestClosedGuardPanicsAndItsMemoryIsReturned(t *testing.T) {
	var mu isolate.Mutex
	before := isolate.ReadStats()
	acct := isolate.New[Account](&mu)
	isolate.MakeSlice[int64](&mu, 100_000)
	if now := isolate.ReadStats(); now.Bytes < before.Bytes+800_000 || now.Guards != before.Guards+1 {
		t.Fatalf("a guard with 800 kB is counted as %d bytes, %d guards", now.Bytes-before.Bytes, now.Guards-before.Guards)
	}
	if err := mu.Close(); err != nil {
		t.Fatal(err)
	}
	if now := isolate.ReadStats(); now.Bytes != before.Bytes || now.Guards != before.Guards {
		t.Errorf("after Close %d bytes and %d guards are left", now.Bytes-before.Bytes, now.Guards-before.Guards)
	}
	if err := mu.Close(); err != nil {
		t.Errorf("closing twice: %v", err)
	}
	for range 2 {
		panics(t, func() { mu.Lock() }, "closed Mutex")
		panics(t, func() { mu.TryLock() }, "closed Mutex")
		panics(t, func() { mu.Plain().Lock() }, "closed Mutex")
		panics(t, func() { mu.Unlock() }, "Unlock of an unlocked")
		panics(t, func() { isolate.New[Account](&mu) }, "closed guard")
		panics(t, func() { isolate.Own(&mu, acct) }, "closed guard")
		panics(t, func() { isolate.Free(&mu, acct) }, "closed guard")
		panics(t, func() { isolate.RefTo(&mu, acct) }, "no guard any more")
	}
	var rw isolate.RWMutex
	rw.Close()
	panics(t, func() { rw.RLock() }, "closed RWMutex")
	panics(t, func() { rw.Lock() }, "closed RWMutex")
	var foreign isolate.Foreign
	isolate.New[Account](&foreign)
	if err := foreign.Close(); err != nil || isolate.ReadStats().Guards != before.Guards {
		t.Errorf("Close of a Foreign: %v, and its guard is left", err)
	}
	panics(t, func() { isolate.New[Account](&foreign) }, "closed guard")
}

func TestTypesWithPointersAreRefusedWithTheField(t *testing.T) {
	type inner struct {
		N    int
		Tags [2]struct{ Names map[string]int }
	}
	type outer struct {
		A int
		B inner
	}
	var mu isolate.Mutex
	closeAfter(t, &mu)
	panics(t, func() { isolate.New[outer](&mu) }, "outer", "B.Tags[0].Names", "map[string]int", "isolate.Ref")
	panics(t, func() { isolate.New[*int](&mu) }, "*int")
	panics(t, func() { isolate.New[string](&mu) }, "string")
	panics(t, func() { isolate.New[struct{ E error }](&mu) }, "field E", "error")
	panics(t, func() { isolate.New[struct{ F func() }](&mu) }, "field F")
	panics(t, func() { isolate.New[struct{ C chan int }](&mu) }, "field C")
	panics(t, func() { isolate.MakeSlice[[]byte](&mu, 3) }, "[]uint8")
	// And these hold none.
	isolate.New[struct{}](&mu)
	isolate.New[[0]string](&mu)
	isolate.New[struct {
		X complex128
		P uintptr
		R isolate.Ref[Account]
	}](&mu)
}
