package event

import "testing"

func TestEveryKindHasAName(t *testing.T) {
	seen := map[string]Kind{}
	for _, k := range Kinds() {
		name := k.String()
		if name == "" {
			t.Errorf("kind %d has no name", k)
		}
		if other, ok := seen[name]; ok {
			t.Errorf("kinds %d and %d are both %q", k, other, name)
		}
		seen[name] = k
	}
	if None.Valid() || kinds.Valid() || !Load.Valid() || !Random.Valid() {
		t.Error("Valid is wrong at the ends")
	}
}

func TestConflictsNeedsOverlapAndAWrite(t *testing.T) {
	op := func(k Kind, addr, size uintptr) Op { return Op{Kind: k, Addr: addr, Size: size} }
	for _, c := range []struct {
		a, b Op
		want bool
	}{
		{op(Load, 8, 8), op(Load, 8, 8), false},
		{op(Load, 8, 8), op(Store, 8, 8), true},
		{op(Store, 8, 4), op(Store, 12, 4), false},
		{op(Store, 8, 5), op(Load, 12, 4), true},
		{op(Lock, 8, 1), op(Lock, 8, 1), true},
		{op(AtomicLoad, 8, 8), op(AtomicUpdate, 8, 8), true},
		{op(Go, 0, 0), op(Store, 0, 8), false},
	} {
		if got := c.a.Conflicts(c.b); got != c.want {
			t.Errorf("%v %v: %v, want %v", c.a, c.b, got, c.want)
		}
		if got := c.b.Conflicts(c.a); got != c.want {
			t.Errorf("%v %v: %v, want %v", c.b, c.a, got, c.want)
		}
	}
}
