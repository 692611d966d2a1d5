package linearhash

import (
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/bench/measure"
)

var variants = []measure.Variant{measure.Heap, measure.SameMemory, measure.Isolate}

func TestTableIsTheModel(t *testing.T) {
	keys := newKeys(5000)
	for _, v := range variants {
		t.Run(string(v), func(t *testing.T) {
			table, m := New(v), model{}
			defer table.Close()
			random := rand.New(rand.NewPCG(3, 3))
			for step := range 60_000 {
				key, value := keys[random.IntN(len(keys))], random.Uint64()
				// Five waves of growing and shrinking.
				puts := 70
				if step/6000%2 == 1 {
					puts = 10
				}
				switch what := random.IntN(100); {
				case what < puts:
					if got, want := table.Put(key, value), m.Put(key, value); got != want {
						t.Fatalf("step %d: Put(%s) = %v, want %v", step, key, got, want)
					}
				case what < 80:
					got, ok := table.Delete(key)
					if want, wantOK := m.Delete(key); got != want || ok != wantOK {
						t.Fatalf("step %d: Delete(%s) = %d, %v, want %d, %v", step, key, got, ok, want, wantOK)
					}
				default:
					got, ok := table.Get(key)
					if want, wantOK := m.Get(key); got != want || ok != wantOK {
						t.Fatalf("step %d: Get(%s) = %d, %v, want %d, %v", step, key, got, ok, want, wantOK)
					}
				}
				if step%3000 == 0 {
					compare(t, table, m)
				}
			}
			compare(t, table, m)
		})
	}
}

func TestTableGrowsAndShrinksBack(t *testing.T) {
	keys := newKeys(20_000)
	for _, v := range variants {
		t.Run(string(v), func(t *testing.T) {
			table, m := New(v), model{}
			defer table.Close()
			for i, key := range keys {
				table.Put(key, uint64(i))
				m.Put(key, uint64(i))
			}
			compare(t, table, m)
			for i, s := range shapes(t, table) {
				if s.buckets() < 6*segmentSize || s.crowded() {
					t.Errorf("part %d has %d buckets for %d entries", i, s.buckets(), s.entries)
				}
			}
			for _, key := range keys {
				table.Delete(key)
			}
			compare(t, table, model{})
			for i, s := range shapes(t, table) {
				if s != smallest {
					t.Errorf("part %d is empty and has the shape %+v", i, s)
				}
			}
		})
	}
}

func TestGoroutinesSeeWhatTheyWouldAlone(t *testing.T) {
	r := newRun(3000)
	for _, v := range variants {
		t.Run(string(v), func(t *testing.T) {
			table := New(v)
			defer table.Close()
			if err := r.check(table, r.on(table)); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestCheckSeesADifference(t *testing.T) {
	r := newRun(300)
	for _, v := range variants {
		table := New(v)
		tallies := r.on(table)
		table.Put("one too many", 1)
		if r.check(table, tallies) == nil {
			t.Errorf("%s: a wrong content was not seen", v)
		}
		table.Delete("one too many")
		if err := r.check(table, tallies); err != nil {
			t.Errorf("%s: %v", v, err)
		}
		tallies[0].found++
		if r.check(table, tallies) == nil {
			t.Errorf("%s: a wrong tally was not seen", v)
		}
		table.Close()
	}
}

func TestPutRefusesKeysThatDoNotFit(t *testing.T) {
	for _, v := range variants {
		table := New(v)
		long := strings.Repeat("x", MaxKey)
		if !table.Put(long, 1) {
			t.Errorf("%s: the longest key was there already", v)
		}
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: a longer key was put", v)
				}
			}()
			table.Put(long+"x", 1)
		}()
		compare(t, table, model{long: 1})
		table.Close()
	}
}

func TestKeysAreDifferentAndSpread(t *testing.T) {
	const n = 100_000
	seen := map[string]bool{}
	var perPart [parts]int
	for _, key := range newKeys(n) {
		if seen[key] || len(key) > MaxKey {
			t.Fatalf("the key %s is there twice, or too long", key)
		}
		seen[key] = true
		perPart[hash(key)>>(64-partBits)]++
	}
	for i, got := range perPart {
		if got < n/parts*9/10 || got > n/parts*11/10 {
			t.Errorf("%d of %d keys are in part %d", got, n, i)
		}
	}
}

func compare(t *testing.T, table *Table, m model) {
	t.Helper()
	content, err := table.Content()
	if err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(content, m) {
		t.Fatalf("the table has %d entries, the model has %d, and they differ", len(content), len(m))
	}
}

func shapes(t *testing.T, table *Table) []shape {
	t.Helper()
	var all []shape
	for _, p := range table.parts {
		s, err := p.each(func(shape, uint64, string, uint64) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}
