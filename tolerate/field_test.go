package tolerate_test

import (
	"maps"
	"reflect"
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/tolerate"
)

func TestFieldOfManyObjectsIsOneFinding(t *testing.T) {
	type account struct {
		mu      tolerate.Mutex
		balance int64
	}
	balance := tolerate.Field[int64]{Name: unique(t), Resolve: tolerate.Delta[int64]}
	accounts := make([]account, 20)
	for i := range accounts {
		a := &accounts[i]
		own := balance.Guard(&a.mu, &a.balance)
		a.mu.Lock()
		*own.Own() += 10
		elsewhere(func() { a.balance += 100 })
		a.mu.Unlock()
		if a.balance != 110 {
			t.Errorf("got %d, want 110", a.balance)
		}
	}
	if f := onlyFinding(t, balance.Name); f.Count != 20 {
		t.Errorf("count %d, want 20: it is one field", f.Count)
	}
}

func TestFieldIsCopiedAndComparedByItsFunctions(t *testing.T) {
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
	var mu tolerate.Mutex
	m := map[string]int{"a": 1}
	own := hits.Guard(&mu, &m)
	mu.Lock()
	(*own.Own())["a"]++
	elsewhere(func() { m["a"] += 10; m["b"] = 5 })
	mu.Unlock()
	if want := map[string]int{"a": 12, "b": 5}; !reflect.DeepEqual(m, want) {
		t.Errorf("got %v, want %v", m, want)
	}
}

func TestFieldWithHalfOfItsFunctionsPanics(t *testing.T) {
	var mu tolerate.Mutex
	x := 0
	cause, _ := panicOf(func() { (&tolerate.Field[int]{Copy: func(i int) int { return i }}).Guard(&mu, &x) }).(string)
	if !strings.HasPrefix(cause, "tolerate: a Field needs both Copy and Equal") {
		t.Errorf("panic with %q", cause)
	}
}
