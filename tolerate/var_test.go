package tolerate_test

import (
	"errors"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/await"
	"github.com/cofferdam-go/cofferdam/internal/finding"
	"github.com/cofferdam-go/cofferdam/internal/goroutine"
	"github.com/cofferdam-go/cofferdam/tolerate"
)

func TestSectionShowsNothingBeforeItsEnd(t *testing.T) {
	var mu tolerate.Mutex
	x := 1
	v := tolerate.Guard(&mu, &x)
	mu.Lock()
	*v.Own() = 2
	if elsewhere(func() {
		if x != 1 {
			t.Errorf("careless code sees %d in the middle of a section, want 1", x)
		}
	}); *v.Own() != 2 {
		t.Errorf("the section sees %d, want its own 2", *v.Own())
	}
	mu.Unlock()
	if x != 2 {
		t.Errorf("after the section it is %d, want 2", x)
	}
}

func TestSectionThatDoesNotUseTheVariableIsNoRace(t *testing.T) {
	var mu tolerate.Mutex
	x := 1
	tolerate.Guard(&mu, &x, tolerate.Refuse)
	races := classesSince(func() {
		mu.Lock()
		elsewhere(func() { x = 2 })
		mu.Unlock()
	})
	if len(races) != 0 || x != 2 {
		t.Errorf("races %v and the value is %d, want none and 2", races, x)
	}
}

func TestFieldsOfAStructAreResolvedOneByOne(t *testing.T) {
	type account struct {
		balance int
		seen    string
		hits    int32
	}
	var mu tolerate.Mutex
	a := account{balance: 1, seen: "monday", hits: 3}
	v := tolerate.Guard(&mu, &a).Named(unique(t))
	mu.Lock()
	v.Own().balance += 10
	v.Own().hits = 5
	elsewhere(func() { a.seen = "tuesday"; a.hits = 4 })
	mu.Unlock()
	if want := (account{11, "tuesday", 4}); a != want {
		t.Errorf("got %+v, want %+v", a, want)
	}
}

func TestFieldsThatDoNotCollideAreTolerated(t *testing.T) {
	var mu tolerate.Mutex
	a := struct{ ours, theirs int }{}
	name := unique(t)
	v := tolerate.Guard(&mu, &a).Named(name)
	mu.Lock()
	v.Own().ours = 1
	elsewhere(func() { a.theirs = 1 })
	mu.Unlock()
	if f := onlyFinding(t, name); f.Outcomes.Tolerated != 1 || !strings.Contains(f.Explanation, "class I or IVa;") {
		t.Errorf("outcomes %+v: %s", f.Outcomes, f.Explanation)
	}
}

func TestResolversDecide(t *testing.T) {
	for _, test := range []struct {
		name    string
		resolve tolerate.Resolver[int]
		want    int
	}{
		{"none", nil, 107},
		{"Theirs", tolerate.Theirs[int], 107},
		{"Ours", tolerate.Ours[int], 11},
		{"Delta", tolerate.Delta[int], 117},
		{"Max", tolerate.Max[int], 107},
		{"Min", tolerate.Min[int], 11},
		{"custom", func(theirs, ours, before int) int { return theirs*10000 + ours*100 + before }, 1071101},
	} {
		t.Run(test.name, func(t *testing.T) {
			var mu tolerate.Mutex
			x := 1
			v := (&tolerate.Field[int]{Resolve: test.resolve}).Guard(&mu, &x)
			mu.Lock()
			*v.Own() += 10
			elsewhere(func() { x = 107 })
			mu.Unlock()
			if x != test.want {
				t.Errorf("got %d, want %d", x, test.want)
			}
		})
	}
}

func TestResolverIsNotAskedAboutASectionThatOnlyReads(t *testing.T) {
	var mu tolerate.Mutex
	x := 1
	v := tolerate.Guard(&mu, &x, func(theirs, ours, before int) int { panic("asked") })
	mu.Lock()
	if *v.Own() != 1 {
		t.Errorf("got %d", *v.Own())
	}
	elsewhere(func() { x = 0 })
	mu.Unlock()
	if x != 0 {
		t.Errorf("got %d, want what careless code wrote", x)
	}
}

func TestRefusalHasBothValuesAndReleasesTheLock(t *testing.T) {
	var mu tolerate.Mutex
	x, y := 1, "one"
	name := unique(t)
	v := tolerate.Guard(&mu, &x, tolerate.Refuse).Named(name)
	w := tolerate.Guard(&mu, &y)
	mu.Lock()
	*v.Own() = 2
	*w.Own() = "two"
	elsewhere(func() { x = 3 })
	cause := panicOf(mu.Unlock)

	want := &tolerate.Refusal{Variable: name, Theirs: 3, Ours: 2, Before: 1, Classes: tolerate.Classify(true, true, false)}
	if !reflect.DeepEqual(cause, want) {
		t.Fatalf("panic with %#v, want %#v", cause, want)
	}
	var refusal *tolerate.Refusal
	if !errors.As(cause.(error), &refusal) || !strings.Contains(refusal.Error(), "from 1 to 3 in a section that changed it to 2 (race of class I, III, IVb or IVc)") {
		t.Errorf("the error is %v", cause)
	}
	if !mu.TryLock() {
		t.Fatal("the lock is still held")
	}
	mu.Unlock()
	if x != 2 || y != "two" {
		t.Errorf("got %d and %s, want the section's values 2 and two", x, y)
	}
	if f := onlyFinding(t, name); f.Outcomes.Refused != 1 {
		t.Errorf("outcomes are %+v", f.Outcomes)
	}
}

func TestPanicOfAResolverGoesOnWithTheLockReleased(t *testing.T) {
	var mu tolerate.Mutex
	x := 1
	v := tolerate.Guard(&mu, &x, func(theirs, ours, before int) int { panic("no idea") })
	mu.Lock()
	*v.Own() = 2
	elsewhere(func() { x = 3 })
	if cause := panicOf(mu.Unlock); cause != "no idea" {
		t.Errorf("panic with %v", cause)
	}
	if !mu.TryLock() {
		t.Fatal("the lock is still held")
	}
	mu.Unlock()
}

// TestWriteDuringResolutionIsNotLost closes the window B_P: careless code writes
// between the comparison and the publication.
func TestWriteDuringResolutionIsNotLost(t *testing.T) {
	var mu tolerate.Mutex
	x := int64(1)
	late := 3
	v := tolerate.Guard(&mu, &x, func(theirs, ours, before int64) int64 {
		if late--; late >= 0 {
			elsewhere(func() { x += 1000 })
		}
		return tolerate.Delta(theirs, ours, before)
	})
	mu.Lock()
	*v.Own() += 10
	elsewhere(func() { x += 100 })
	mu.Unlock()
	if x != 3111 {
		t.Errorf("got %d, want 3111", x)
	}
}

// The same for a variable of several words, of which some have been published when
// the late write is found.
func TestWriteDuringResolutionOfAStructIsCountedOnce(t *testing.T) {
	type pair struct{ a, b int64 }
	for _, late := range []pair{{1000, 0}, {0, 1000}, {1000, 1000}} {
		var mu tolerate.Mutex
		var x pair
		asked := 0
		v := tolerate.Guard(&mu, &x, func(theirs, ours, before pair) pair {
			if asked++; asked == 1 {
				elsewhere(func() { x.a += late.a; x.b += late.b })
			}
			return pair{tolerate.Delta(theirs.a, ours.a, before.a), tolerate.Delta(theirs.b, ours.b, before.b)}
		})
		mu.Lock()
		v.Own().a += 10
		v.Own().b += 20
		elsewhere(func() { x.a += 100; x.b += 200 })
		mu.Unlock()
		if want := (pair{110 + late.a, 220 + late.b}); x != want {
			t.Errorf("late %v: got %v, want %v", late, x, want)
		}
	}
}

func TestSectionEndsAgainstAWriterThatDoesNot(t *testing.T) {
	var mu tolerate.Mutex
	x := int64(0)
	asked := 0
	v := tolerate.Guard(&mu, &x, func(theirs, ours, before int64) int64 {
		asked++
		elsewhere(func() { x++ })
		return ours
	})
	forced := tolerate.ReadStats().Forced
	mu.Lock()
	*v.Own() = -1
	elsewhere(func() { x++ })
	mu.Unlock()
	if x != -1 || asked < 2 {
		t.Errorf("got %d after asking %d times, want -1 after many", x, asked)
	}
	if n := tolerate.ReadStats().Forced - forced; n != 1 {
		t.Errorf("%d publications by force, want 1", n)
	}
}

func TestSmallVariablesLeaveTheirNeighboursAlone(t *testing.T) {
	var mu tolerate.Mutex
	x := [8]uint8{1, 2, 3, 4, 5, 6, 7, 8}
	for i := range x {
		v := tolerate.Guard(&mu, &x[i])
		mu.Lock()
		*v.Own() += 100
		elsewhere(func() { x[(i+1)%8] += 10; x[(i+7)%8]++ })
		mu.Unlock()
	}
	if want := [8]uint8{112, 113, 114, 115, 116, 117, 118, 119}; x != want {
		t.Errorf("got %v, want %v", x, want)
	}
	y := [4]uint16{1, 2, 3, 4}
	for i := range y {
		v := tolerate.Guard(&mu, &y[i])
		mu.Lock()
		*v.Own() += 1000
		elsewhere(func() { y[(i+1)%4] += 10; y[(i+3)%4]++ })
		mu.Unlock()
	}
	if want := [4]uint16{1012, 1013, 1014, 1015}; y != want {
		t.Errorf("got %v, want %v", y, want)
	}
}

func TestVariableThatDoesNotComeFirst(t *testing.T) {
	type hidden struct {
		_ int64
		x int64
		_ [3]byte
	}
	var mu tolerate.Mutex
	var h hidden
	v := tolerate.Guard(&mu, &h, func(theirs, ours, before hidden) hidden {
		return hidden{x: tolerate.Delta(theirs.x, ours.x, before.x)}
	})
	mu.Lock()
	v.Own().x += 10
	elsewhere(func() { h.x += 100 })
	mu.Unlock()
	if h.x != 110 {
		t.Errorf("got %d, want 110", h.x)
	}
}

func TestOwnOutsideASectionPanics(t *testing.T) {
	var mu tolerate.Mutex
	x := 1
	v := tolerate.Guard(&mu, &x)
	for _, use := range []func(){func() { v.Own() }, func() { v.Set(2) }} {
		if cause := panicOf(use); cause == nil || !strings.Contains(cause.(error).Error(), "outside a section") {
			t.Errorf("panic with %v", cause)
		}
	}
	mu.Lock()
	late := tolerate.Guard(&mu, new(int))
	if cause := panicOf(func() { late.Own() }); cause == nil {
		t.Error("a variable guarded inside a section takes part in it")
	}
	mu.Unlock()
	mu.Lock()
	*late.Own() = 1
	mu.Unlock()
}

func TestGuardedSliceKeepsBothAppends(t *testing.T) {
	var mu tolerate.Mutex
	log := make([]string, 1, 10) // with room, for which both would compete
	log[0] = "start"
	v := tolerate.GuardSlice(&mu, &log)
	mu.Lock()
	*v.Own() = append(*v.Own(), "ours")
	elsewhere(func() { log = append(log, "theirs") })
	mu.Unlock()
	if want := []string{"start", "theirs", "ours"}; !reflect.DeepEqual(log, want) {
		t.Errorf("got %q, want %q", log, want)
	}
	quiet := classesSince(func() {
		mu.Lock()
		*v.Own() = append(*v.Own(), "more")
		mu.Unlock()
		mu.Lock()
		if len(*v.Own()) != 4 {
			t.Errorf("got %q", *v.Own())
		}
		mu.Unlock()
	})
	if len(quiet) != 0 {
		t.Errorf("races %v among careful sections", quiet)
	}
}

func TestGuardedMapKeepsBothChanges(t *testing.T) {
	var mu tolerate.Mutex
	set := map[string]bool{"a": true, "b": true, "c": true}
	v := tolerate.GuardMap(&mu, &set)
	mu.Lock()
	(*v.Own())["ours"] = true
	delete(*v.Own(), "a")
	if set["ours"] || !set["a"] {
		t.Error("the section shows its map before its end")
	}
	elsewhere(func() { set["theirs"] = true; delete(set, "b") })
	if (*v.Own())["theirs"] {
		t.Error("the section sees the careless write")
	}
	mu.Unlock()
	if want := map[string]bool{"c": true, "ours": true, "theirs": true}; !reflect.DeepEqual(set, want) {
		t.Errorf("got %v, want %v", set, want)
	}
	quiet := classesSince(func() {
		mu.Lock()
		(*v.Own())["more"] = true
		mu.Unlock()
		mu.Lock()
		if len(*v.Own()) != 4 {
			t.Errorf("got %v", *v.Own())
		}
		mu.Unlock()
	})
	if len(quiet) != 0 || !set["more"] {
		t.Errorf("races %v among careful sections, %v", quiet, set)
	}
}

func TestReadersShareOneCopy(t *testing.T) {
	var rw tolerate.RWMutex
	x := 1
	name := unique(t)
	v := tolerate.Guard(&rw, &x).Named(name)
	rw.RLock()
	elsewhere(func() { x = 2 })
	elsewhere(func() {
		rw.RLock()
		if *v.Own() != 1 {
			t.Errorf("the second reader sees %d, want 1 as the first does", *v.Own())
		}
		rw.RUnlock()
	})
	if *v.Own() != 1 {
		t.Errorf("the first reader sees %d, want 1", *v.Own())
	}
	rw.RUnlock()
	if f := onlyFinding(t, name); f.Outcomes.Tolerated != 1 {
		t.Errorf("outcomes are %+v", f.Outcomes)
	}
	rw.RLocker().Lock()
	if *v.Own() != 2 {
		t.Errorf("a later reader sees %d, want 2", *v.Own())
	}
	rw.RLocker().Unlock()
	rw.Lock()
	*v.Own() = 3
	if rw.TryRLock() || rw.TryLock() {
		t.Error("a second section beside a writer's")
	}
	rw.Unlock()
	if !rw.TryRLock() || *v.Own() != 3 {
		t.Error("no reader after the writer")
	}
	rw.RUnlock()
}

// For the race detector, which sees that nothing orders the two.
func TestReadersUseTheirCopyAtTheSameTime(t *testing.T) {
	var rw tolerate.RWMutex
	x := 1
	v := tolerate.Guard(&rw, &x)
	var inside, done sync.WaitGroup
	inside.Add(2)
	for range 2 {
		done.Go(func() {
			rw.RLock()
			inside.Done()
			inside.Wait()
			if *v.Own() != 1 {
				t.Errorf("a reader sees %d, want 1", *v.Own())
			}
			rw.RUnlock()
		})
	}
	done.Wait()
}

func TestCondWaitIsTheEndOfASection(t *testing.T) {
	var mu tolerate.Mutex
	ready := false
	v := tolerate.Guard(&mu, &ready)
	cond := sync.NewCond(&mu)
	done := make(chan bool, 1)
	go func() {
		mu.Lock()
		for !*v.Own() {
			cond.Wait()
		}
		mu.Unlock()
		done <- true
	}()
	mu.Lock()
	*v.Own() = true
	mu.Unlock()
	cond.Broadcast()
	await.Receive(t, "the goroutine that waits", done)
}

// Section 3.3: a variable that two locks guard is copied at the first lock and
// resolved at the last unlock.
func TestTwoLocksOverOneVariable(t *testing.T) {
	var a, b tolerate.Mutex
	x := 1
	name := unique(t)
	underA := tolerate.Guard(&a, &x, tolerate.Delta).Named(name)
	underB := underA.With(&b)
	for _, nested := range []bool{true, false} {
		x = 1
		a.Lock()
		b.Lock()
		if underA.Own() != underB.Own() {
			t.Error("a goroutine that holds both locks has two copies")
		}
		*underA.Own() += 10
		elsewhere(func() { x += 100 })
		first, last := &a, &b
		if nested {
			first, last = &b, &a
		}
		first.Unlock()
		if x != 101 {
			t.Errorf("after the first unlock it is %d, want 101: not resolved yet", x)
		}
		last.Unlock()
		if x != 111 {
			t.Errorf("after the last unlock it is %d, want 111", x)
		}
	}
	if f := onlyFinding(t, name); f.Count != 2 || f.Outcomes.Resolved != 2 {
		t.Errorf("count %d, outcomes %+v", f.Count, f.Outcomes)
	}
}

func TestTwoLocksHeldByTwoGoroutines(t *testing.T) {
	var a, b tolerate.Mutex
	x := 1
	underA := tolerate.Guard(&a, &x)
	underB := underA.With(&b)
	a.Lock()
	elsewhere(func() {
		b.Lock()
		if underA.Own() == underB.Own() {
			t.Error("two goroutines work on one copy")
		}
		*underB.Own() = 2
		b.Unlock()
	})
	if *underA.Own() != 1 {
		t.Errorf("the section sees %d, want 1", *underA.Own())
	}
	a.Unlock()
	// One lock may be taken again while the other keeps the copy alive.
	a.Lock()
	b.Lock()
	*underA.Own() = 5
	a.Unlock()
	elsewhere(func() {
		a.Lock()
		if *underA.Own() != 2 {
			t.Errorf("another goroutine sees %d, want 2: the first has not published", *underA.Own())
		}
		a.Unlock()
	})
	b.Unlock()
	if x != 5 {
		t.Errorf("got %d, want 5", x)
	}
}

func TestLockMayBeReleasedByAnotherGoroutine(t *testing.T) {
	var a, b tolerate.Mutex
	x := 1
	underA := tolerate.Guard(&a, &x)
	underA.With(&b)
	a.Lock()
	*underA.Own() = 2
	elsewhere(a.Unlock)
	if x != 2 {
		t.Errorf("got %d, want 2", x)
	}
}

func TestFindingNamesVariableLockAndSection(t *testing.T) {
	var mu tolerate.Mutex
	lock := unique(t)
	mu.SetName(lock)
	x := 1
	v := tolerate.Guard(&mu, &x, tolerate.Delta).Named("balance")
	for range 3 {
		mu.Lock()
		*v.Own() += 10
		elsewhere(func() { x += 100 })
		mu.Unlock()
	}
	f := onlyFinding(t, lock+".balance")
	access, section := f.Accesses[0], f.Accesses[1]
	if access.Op != finding.Write || access.Target != "balance" || len(access.Stack) != 0 {
		t.Errorf("the careless access is %+v", access)
	}
	if site := section.Site(); !strings.HasSuffix(site.Function, "TestFindingNamesVariableLockAndSection") {
		t.Errorf("the section ended at %v in %s", site, site.Function)
	}
	if section.Goroutine == 0 || section.Goroutine != goroutine.ID() {
		t.Errorf("the section's goroutine is %d, want %d", section.Goroutine, goroutine.ID())
	}
	if !strings.HasSuffix(f.Guard.Site.File, "var_test.go") {
		t.Errorf("guarded at %v", f.Guard.Site)
	}
	if f.Count != 3 || f.Outcomes.Resolved != 3 {
		t.Errorf("count %d, outcomes %+v", f.Count, f.Outcomes)
	}
	if want := "it was 1, careless code made it 101, the section made it 11"; !strings.Contains(f.Explanation, want) {
		t.Errorf("explanation %q, want %q in it", f.Explanation, want)
	}
	var text, lines strings.Builder
	if err := errors.Join(tolerate.WriteText(&text, []tolerate.Finding{f}), tolerate.WriteJSON(&lines, []tolerate.Finding{f})); err != nil {
		t.Error(err)
	}
	if back, err := finding.ReadJSON(strings.NewReader(lines.String())); err != nil || len(back) != 1 {
		t.Errorf("reading back gives %d findings, error %v", len(back), err)
	}
}

func TestTwoVariablesAreTwoFindings(t *testing.T) {
	var mu tolerate.Mutex
	lock := unique(t)
	mu.SetName(lock)
	var x [2]int
	v := []*tolerate.Var[int]{
		tolerate.Guard(&mu, &x[0]).Named("first"),
		tolerate.Guard(&mu, &x[1]).Named("second"),
	}
	mu.Lock()
	*v[0].Own(), *v[1].Own() = 1, 2
	elsewhere(func() { x = [2]int{5, 6} })
	mu.Unlock()
	onlyFinding(t, lock+".first")
	onlyFinding(t, lock+".second")
}

func TestSubscribersHearOfEachRace(t *testing.T) {
	var mu tolerate.Mutex
	name := unique(t)
	x := 1
	v := tolerate.Guard(&mu, &x, tolerate.Delta).Named(name)
	heard := make(chan uint64, 10)
	tolerate.OnFinding(func(f tolerate.Finding) {
		if f.Guard.Name == name {
			mu.Lock() // may do what it likes
			heard <- f.Count
			mu.Unlock()
		}
	})
	for i := range uint64(3) {
		mu.Lock()
		*v.Own()++
		elsewhere(func() { x++ })
		mu.Unlock()
		if n := await.Receive(t, "the subscriber", heard); n != i+1 {
			t.Errorf("told of %d, want %d", n, i+1)
		}
	}
}

func TestCopiesKeepNothingAlive(t *testing.T) {
	type big [1 << 16]byte
	var mu tolerate.Mutex
	var p *big
	var any1 any
	v, w := tolerate.Guard(&mu, &p), tolerate.Guard(&mu, &any1)
	const objects = 2
	freed := make(chan int, objects)
	watched := func(i int) *big {
		b := new(big)
		runtime.AddCleanup(b, func(i int) { freed <- i }, i)
		return b
	}
	mu.Lock()
	*v.Own(), *w.Own() = watched(0), watched(1)
	mu.Unlock()
	p, any1 = nil, nil
	done := make(chan bool)
	defer collecting()()
	go func() {
		for range objects {
			<-freed
		}
		done <- true
	}()
	await.Receive(t, "the collector", done)
	runtime.KeepAlive(v)
	runtime.KeepAlive(w)
}

func TestAppendDoesNotWriteWhereOthersMight(t *testing.T) {
	array := [4]int{1, 2, 3, 4}
	theirs := array[:2]
	if got := tolerate.Append(theirs, []int{1, 5}, []int{1}); !reflect.DeepEqual(got, []int{1, 2, 5}) {
		t.Errorf("got %v, want 1 2 5", got)
	}
	if array != [4]int{1, 2, 3, 4} {
		t.Errorf("the array behind the slice has become %v", array)
	}
}
