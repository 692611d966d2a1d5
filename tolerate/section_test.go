package tolerate_test

import (
	"maps"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/cofferdam-go/cofferdam/tolerate"
)

func TestSectionCopiesAtFirstUse(t *testing.T) {
	var mu sync.Mutex
	x, y := 1, 1
	s := tolerate.Enter(&mu)
	elsewhere(func() { x = 2 })
	if got := *tolerate.Of(s, &x); got != 2 {
		t.Errorf("got %d, want 2: the copy is taken at the first use", got)
	}
	elsewhere(func() { x = 3; y = 3 })
	if got := *tolerate.Of(s, &x); got != 2 {
		t.Errorf("got %d, want 2", got)
	}
	s.Leave()
	if x != 3 || y != 3 {
		t.Errorf("got %d and %d, want what careless code wrote", x, y)
	}
	if !mu.TryLock() {
		t.Error("Leave has not released the lock")
	}
}

func TestPartsOfACopyArePartsOfTheVariable(t *testing.T) {
	var mu sync.Mutex
	type inner struct{ a, b int }
	type outer struct {
		name  string
		in    inner
		items [3]int
	}
	x := outer{"x", inner{1, 2}, [3]int{1, 2, 3}}
	s := tolerate.Enter(&mu)
	whole := tolerate.Of(s, &x)
	*tolerate.Of(s, &x.in.b) = 20
	*tolerate.Of(s, &x.items[2]) = 30
	if whole.in.b != 20 || whole.items[2] != 30 {
		t.Errorf("a part is not a part of the copy: %+v", *whole)
	}
	s.Leave()
	if want := (outer{"x", inner{1, 20}, [3]int{1, 2, 30}}); x != want {
		t.Errorf("got %+v, want %+v", x, want)
	}
}

func TestWholeAfterItsParts(t *testing.T) {
	var mu sync.Mutex
	x := struct{ a, b, c int }{1, 2, 3}
	s := tolerate.Enter(&mu)
	*tolerate.Of(s, &x.a) = 10
	*tolerate.Of(s, &x.c) = 30
	whole := tolerate.Of(s, &x)
	if whole.a != 10 || whole.c != 30 {
		t.Errorf("the whole is %+v, without what was written to its parts", *whole)
	}
	whole.b = 20
	*tolerate.Of(s, &x.a)++
	s.Leave()
	if x.a != 11 || x.b != 20 || x.c != 30 {
		t.Errorf("got %+v", x)
	}
}

func TestSectionOverManyVariables(t *testing.T) {
	var mu sync.Mutex
	const n = 3000
	x := make([]int32, n)
	order := make([]int, n)
	for i := range order {
		order[i] = i * 1009 % n // each once, in no order of addresses
	}
	for round := range 3 {
		s := tolerate.Enter(&mu)
		for range 2 {
			for _, i := range order {
				*tolerate.Of(s, &x[i])++
			}
		}
		if x[0] != int32(2*round) {
			t.Errorf("the section shows %d", x[0])
		}
		if round == 1 {
			s.Publish()
		}
		s.Leave()
	}
	for i := range x {
		if x[i] != 6 {
			t.Fatalf("x[%d] is %d, want 6", i, x[i])
		}
	}
	s := tolerate.Enter(&mu)
	for i := range x {
		*tolerate.Of(s, &x[i]) = 0
	}
	all := tolerate.Of(s, (*[n]int32)(x)) // takes the place of all
	for i := range all {
		all[i]++
	}
	s.Leave()
	if x[0] != 1 || x[n-1] != 1 {
		t.Errorf("got %d and %d, want 1", x[0], x[n-1])
	}
}

func TestPublishShowsAndTakesAnew(t *testing.T) {
	var mu sync.Mutex
	x := 1
	s := tolerate.Enter(&mu)
	*tolerate.Of(s, &x) = 2
	s.Publish()
	if x != 2 {
		t.Errorf("after Publish it is %d, want 2", x)
	}
	x = 3 // an unknown callee, which has the lock as well
	if got := *tolerate.Of(s, &x); got != 3 {
		t.Errorf("after the call the section sees %d, want 3", got)
	}
	*tolerate.Of(s, &x)++
	if races := classesSince(s.Leave); len(races) != 0 || x != 4 {
		t.Errorf("races %v and %d, want none and 4", races, x)
	}
}

func TestOverlappingSectionsShareCopies(t *testing.T) {
	var a, b sync.Mutex
	both, onlyB := 1, 1
	for _, nested := range []bool{true, false} {
		both, onlyB = 1, 1
		sa := tolerate.Enter(&a)
		*tolerate.Of(sa, &both) = 2
		sb := sa.Enter(&b)
		if *tolerate.Of(sb, &both) != 2 {
			t.Error("the inner section does not see what the outer wrote")
		}
		*tolerate.Of(sb, &both) = 3
		*tolerate.Of(sb, &onlyB) = 3
		if nested {
			sb.Leave()
			if onlyB != 3 || both != 1 {
				t.Errorf("after the inner section %d and %d, want 3 and, not resolved yet, 1", onlyB, both)
			}
			*tolerate.Of(sa, &both)++
			sa.Leave()
		} else {
			sa.Leave()
			if !a.TryLock() {
				t.Fatal("the outer lock is still held")
			}
			a.Unlock()
			if both != 1 {
				t.Errorf("after the outer section %d, want 1: the inner guards it too", both)
			}
			*tolerate.Of(sb, &both)++
			sb.Leave()
		}
		if both != 4 || onlyB != 3 {
			t.Errorf("in the end %d and %d, want 4 and 3", both, onlyB)
		}
	}
}

func TestSectionsAreReused(t *testing.T) {
	var a, b, c sync.Mutex
	x := 0
	for range 100 {
		sa := tolerate.Enter(&a)
		for range 3 {
			sb := sa.Enter(&b)
			sc := sb.Enter(&c)
			*tolerate.Of(sc, &x)++
			sb.Leave()
			*tolerate.Of(sc, &x)++
			sc.Leave()
		}
		sa.Leave()
	}
	if x != 600 {
		t.Errorf("got %d, want 600", x)
	}
}

func TestEndKeepsTheLock(t *testing.T) {
	var mu sync.Mutex
	x := 1
	mu.Lock()
	s := tolerate.Entered(&mu)
	*tolerate.Of(s, &x) = 2
	s.End()
	if mu.TryLock() {
		t.Error("End has released the lock")
	}
	mu.Unlock()
	if x != 2 {
		t.Errorf("got %d, want 2", x)
	}
}

func TestRefusalInASectionReleasesTheLock(t *testing.T) {
	var mu sync.Mutex
	x := 1
	refuse := tolerate.Field[int]{Name: unique(t), Resolve: tolerate.Refuse[int]}
	s := tolerate.Enter(&mu)
	*refuse.Of(s, &x) = 2
	elsewhere(func() { x = 3 })
	if r, _ := panicOf(s.Leave).(*tolerate.Refusal); r == nil || r.Variable != refuse.Name || r.Theirs != 3 {
		t.Errorf("panic with %v", r)
	}
	if !mu.TryLock() {
		t.Error("the lock is still held")
	}
}

func TestFieldsOfManyObjects(t *testing.T) {
	type account struct{ balance int64 }
	balance := tolerate.Field[int64]{Name: unique(t), Resolve: tolerate.Delta[int64]}
	var mu sync.RWMutex
	accounts := make([]account, 20)
	for i := range accounts {
		a := &accounts[i]
		s := tolerate.Enter(&mu)
		*balance.Of(s, &a.balance) += 10
		elsewhere(func() { a.balance += 100 })
		s.Leave()
		s = tolerate.Enter(mu.RLocker())
		if got := *balance.Of(s, &a.balance); got != 110 {
			t.Errorf("got %d, want 110", got)
		}
		s.Leave()
	}
	if f := onlyFinding(t, balance.Name); f.Count != 20 {
		t.Errorf("count %d, want 20: it is one field", f.Count)
	}
}

func TestMapCopiedAtFirstUse(t *testing.T) {
	hits := tolerate.Field[map[string]int]{
		Name: unique(t), Copy: maps.Clone[map[string]int], Equal: maps.Equal[map[string]int, map[string]int],
		Resolve: func(theirs, ours, before map[string]int) map[string]int {
			sum := maps.Clone(theirs)
			for k := range ours {
				sum[k] += ours[k] - before[k]
			}
			return sum
		},
	}
	var mu sync.Mutex
	m := map[string]int{"a": 1}
	s := tolerate.Enter(&mu)
	(*hits.Of(s, &m))["a"]++
	elsewhere(func() { m["a"] += 10; m["b"] = 5 })
	s.Leave()
	if want := map[string]int{"a": 12, "b": 5}; !reflect.DeepEqual(m, want) {
		t.Errorf("got %v, want %v", m, want)
	}
}

func TestMisuseOfSectionsPanics(t *testing.T) {
	var a, b sync.Mutex
	x := 0
	sa := tolerate.Enter(&a)
	sb := sa.Enter(&b)
	sb.Leave()
	for what, misuse := range map[string]func(){
		"Of after Leave":      func() { tolerate.Of(sb, &x) },
		"Leave after Leave":   sb.Leave,
		"Field without Equal": func() { (&tolerate.Field[int]{Copy: func(i int) int { return i }}).Of(sa, &x) },
	} {
		cause, _ := panicOf(misuse).(string)
		if !strings.HasPrefix(cause, "tolerate: ") {
			t.Errorf("%s: panic with %q", what, cause)
		}
	}
	var nothing struct{}
	if tolerate.Of(sa, &nothing) != &nothing {
		t.Error("what has no size has a copy")
	}
	sa.Leave()
}

func TestOverlappingSectionsShareManyCopies(t *testing.T) {
	var a, b sync.Mutex
	x := make([]int, 50)
	sa := tolerate.Enter(&a)
	for i := range x {
		*tolerate.Of(sa, &x[i])++
	}
	sb := sa.Enter(&b)
	for i := range x {
		*tolerate.Of(sb, &x[i])++
	}
	sa.Leave()
	for i := range x {
		if x[i] != 0 {
			t.Fatalf("x[%d] is %d while the inner section is running, want 0", i, x[i])
		}
	}
	sb.Leave()
	for i := range x {
		if x[i] != 2 {
			t.Fatalf("x[%d] is %d in the end, want 2", i, x[i])
		}
	}
}
