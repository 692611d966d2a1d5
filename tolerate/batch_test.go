package tolerate_test

import (
	"math"
	"slices"
	"testing"

	"github.com/cofferdam-go/cofferdam/tolerate"
)

func TestABatchHasOneCopyForEachAddress(t *testing.T) {
	list := make([]int, tolerate.Room)
	var b tolerate.Batch[int, [8]*int, [8]int]
	for i := range list {
		*b.Of(&list[i]) = i + 1
	}
	for i := range list {
		if got := *b.Of(&list[i]); got != i+1 || list[i] != 0 {
			t.Errorf("the copy of element %d is %d, and the element %d", i, got, list[i])
		}
	}
	if b.N != len(list) {
		t.Errorf("%d copies of %d elements", b.N, len(list))
	}
}

// What careless code does to an element meanwhile is merged as it is for variables, and the section does not see it.
func TestCarelessChangesOfElements(t *testing.T) {
	list, names := []int{5, 5, 5}, []string{"a", "a"}
	adding, keeping := tolerate.Label{Name: "list", Merge: tolerate.Adding}, tolerate.Label{Name: "names", Merge: tolerate.Keeping}
	before := tolerate.ReadStats()
	var b tolerate.Batch[int, [8]*int, [8]int]
	var s tolerate.Batch[string, [8]*string, [8]string]
	*b.Of(&list[0]) += 2
	*b.Of(&list[1]) += 2
	_ = *b.Of(&list[2])
	*s.OfWide(&names[0]) = "section"
	_ = *s.OfWide(&names[1])
	list[0] += 10
	list[2] = 7
	names[0], names[1] = "careless", "careless"
	if *b.Of(&list[0]) != 7 || *b.Of(&list[2]) != 5 || *s.OfWide(&names[1]) != "a" {
		t.Error("the section sees what careless code does")
	}
	for i := range b.N {
		tolerate.Put64(b.At[i], b.Own[i], b.Before[i], &adding)
	}
	for i := range s.N {
		tolerate.PutWide(s.At[i], &s.Own[i], &s.Before[i], &keeping)
	}
	if want := []int{17, 7, 7}; !slices.Equal(list, want) {
		t.Errorf("the elements are %v, want %v", list, want)
	}
	if want := []string{"section", "careless"}; !slices.Equal(names, want) {
		t.Errorf("the elements are %q, want %q", names, want)
	}
	after := tolerate.ReadStats()
	if resolved, tolerated := after.Resolved-before.Resolved, after.Tolerated-before.Tolerated; resolved != 2 || tolerated != 2 {
		t.Errorf("%d races were resolved and %d tolerated, want 2 and 2", resolved, tolerated)
	}
}

// Sections do to the copies of a map's entries what a model does to another map: what is published has to be what the
// model has, and what is looked up on the way, too.
func TestEntriesAreWhatTheMapWouldHave(t *testing.T) {
	m, model := map[float64]string{1: "a", 2: "b", 0: "zero"}, map[float64]string{1: "a", 2: "b", 0: "zero"}
	label := tolerate.Label{Name: "m"}
	var e tolerate.Entries[float64, string]
	check := func(k float64) {
		t.Helper()
		v, ok := e.Find(m, k)
		if want, there := model[k]; v != want || ok != there || e.Get(m, k) != want {
			t.Errorf("the entry of %v is %q, %t, want %q, %t", k, v, ok, want, there)
		}
	}
	negative := math.Copysign(0, -1)
	for _, k := range []float64{1, 2, 3, 4} {
		check(k)
	}
	e.Put(m, 3, "c")
	model[3] = "c"
	e.Delete(m, 1)
	delete(model, 1)
	e.Update(m, 2, func(v string) string { return v + "+" })
	model[2] += "+"
	e.Delete(m, 4)
	e.Put(m, negative, "zero")
	model[negative] = "zero"
	for _, k := range []float64{1, 2, 3, 4, 0} {
		check(k)
	}
	if len(m) != 3 || m[1] != "a" {
		t.Errorf("the section has changed the map before its end: %v", m)
	}
	e.Publish(&label)
	if len(m) != len(model) {
		t.Errorf("the map is %v, want %v", m, model)
	}
	for k, v := range model {
		if m[k] != v {
			t.Errorf("the map is %v, want %v", m, model)
		}
	}
	for k := range m {
		if k == 0 && !math.Signbit(k) {
			t.Error("the key is still 0, want -0, as after an assignment")
		}
	}
}

func TestEntriesOfNoMapPanicAsTheMapDoes(t *testing.T) {
	panics := func(f func()) (text any) {
		defer func() { text = recover() }()
		f()
		return nil
	}
	var none map[int]int
	var e tolerate.Entries[int, int]
	for name, f := range map[string][2]func(){
		"put in no map":    {func() { none[1] = 2 }, func() { e.Put(none, 1, 2) }},
		"update in no map": {func() { none[1]++ }, func() { e.Update(none, 1, func(v int) int { return v + 1 }) }},
	} {
		want, got := panics(f[0]), panics(f[1])
		if want == nil || got == nil || want.(error).Error() != got.(error).Error() {
			t.Errorf("%s: panics with %v, want %v", name, got, want)
		}
	}
	e.Publish(&tolerate.Label{Name: "m"})
}

// What both have changed is merged as it is for variables, and what only careless code has changed stays.
func TestCarelessChangesOfEntries(t *testing.T) {
	for _, c := range []struct {
		name          string
		merge         tolerate.Merge
		section       func(e *tolerate.Entries[int, int], m map[int]int)
		careless      func(m map[int]int)
		want          int
		there         bool
		resolved, all uint64
	}{
		{"both add", tolerate.Adding, func(e *tolerate.Entries[int, int], m map[int]int) { e.Put(m, 1, e.Get(m, 1)+2) }, func(m map[int]int) { m[1] += 10 }, 17, true, 1, 1},
		{"the greater stays", tolerate.Raising, func(e *tolerate.Entries[int, int], m map[int]int) { e.Put(m, 1, 8) }, func(m map[int]int) { m[1] = 20 }, 20, true, 1, 1},
		{"the section's stands", tolerate.Keeping, func(e *tolerate.Entries[int, int], m map[int]int) { e.Put(m, 1, 8) }, func(m map[int]int) { m[1] = 20 }, 8, true, 1, 1},
		{"a careless removal", tolerate.Keeping, func(e *tolerate.Entries[int, int], m map[int]int) { e.Put(m, 1, 8) }, func(m map[int]int) { delete(m, 1) }, 8, true, 1, 1},
		{"a removal", tolerate.Keeping, func(e *tolerate.Entries[int, int], m map[int]int) { e.Delete(m, 1) }, func(m map[int]int) { m[1] = 20 }, 0, false, 1, 1},
		{"only read", tolerate.Keeping, func(e *tolerate.Entries[int, int], m map[int]int) { e.Get(m, 1) }, func(m map[int]int) { m[1] = 20 }, 20, true, 0, 1},
		{"written as it was", tolerate.Keeping, func(e *tolerate.Entries[int, int], m map[int]int) { e.Put(m, 1, 5) }, func(m map[int]int) { m[1] = 20 }, 20, true, 0, 1},
		{"nothing careless", tolerate.Keeping, func(e *tolerate.Entries[int, int], m map[int]int) { e.Put(m, 1, 6) }, func(m map[int]int) {}, 6, true, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := tolerate.ReadStats()
			m := map[int]int{1: 5}
			label := tolerate.Label{Name: c.name, Merge: c.merge}
			var e tolerate.Entries[int, int]
			c.section(&e, m)
			c.careless(m)
			e.Publish(&label)
			if v, ok := m[1]; v != c.want || ok != c.there {
				t.Errorf("the entry is %d, %t, want %d, %t", v, ok, c.want, c.there)
			}
			after := tolerate.ReadStats()
			if after.Resolved-before.Resolved != c.resolved || after.Resolved+after.Tolerated-before.Resolved-before.Tolerated != c.all {
				t.Errorf("%d races were resolved, %d found; want %d of %d", after.Resolved-before.Resolved, after.Tolerated-before.Tolerated, c.resolved, c.all)
			}
		})
	}
}

// A section must not cost an allocation.
func TestBatchesAreOnTheStack(t *testing.T) {
	list, m := make([]int, 4), map[string]int{"a": 1}
	names := []string{"a", "b"}
	label := tolerate.Label{Name: "list"}
	got := testing.AllocsPerRun(1000, func() {
		var b tolerate.Batch[int, [8]*int, [8]int]
		var s tolerate.Batch[string, [8]*string, [8]string]
		var e tolerate.Entries[string, int]
		*b.Of(&list[1]) += 2
		e.Put(m, "a", e.Get(m, "a")+1)
		*s.OfWide(&names[0]) = "c"
		for i := range b.N {
			tolerate.Put64(b.At[i], b.Own[i], b.Before[i], &label)
		}
		for i := range s.N {
			tolerate.PutWide(s.At[i], &s.Own[i], &s.Before[i], &label)
		}
		e.Publish(&label)
	})
	if got != 0 {
		t.Errorf("%v allocations", got)
	}
}
