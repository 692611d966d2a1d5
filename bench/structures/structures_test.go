package structures

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/cofferdam-go/cofferdam/isolate"
)

// A model says what a structure must answer.
type model interface {
	Structure
	Len() int
}

type mapModel map[uint64]uint64

func (m mapModel) Read(key uint64) (uint64, bool) { v, ok := m[key]; return v, ok }
func (m mapModel) Insert(key, value uint64) bool  { _, had := m[key]; m[key] = value; return !had }
func (m mapModel) Len() int                       { return len(m) }
func (m mapModel) Delete(key uint64) (uint64, bool) {
	v, ok := m[key]
	delete(m, key)
	return v, ok
}

// sortedModel is the heap's: the least entry is the first.
type sortedModel struct{ timers []timer }

func (m *sortedModel) Len() int { return len(m.timers) }
func (m *sortedModel) Read(uint64) (uint64, bool) {
	if len(m.timers) == 0 {
		return 0, false
	}
	return m.timers[0].value, true
}
func (m *sortedModel) Insert(key, value uint64) bool {
	t := timer{key, value}
	i := slices.IndexFunc(m.timers, func(u timer) bool { return t.less(u) })
	if i < 0 {
		i = len(m.timers)
	}
	m.timers = slices.Insert(m.timers, i, t)
	return true
}
func (m *sortedModel) Delete(uint64) (uint64, bool) {
	v, ok := m.Read(0)
	m.timers = m.timers[min(1, len(m.timers)):]
	return v, ok
}

// stackModel ends with its top.
type stackModel struct{ values []uint64 }

func (m *stackModel) Len() int { return len(m.values) }
func (m *stackModel) Read(uint64) (uint64, bool) {
	if len(m.values) == 0 {
		return 0, false
	}
	return m.values[len(m.values)-1], true
}
func (m *stackModel) Insert(_, value uint64) bool {
	m.values = append(m.values, value)
	return true
}
func (m *stackModel) Delete(uint64) (uint64, bool) {
	v, ok := m.Read(0)
	m.values = m.values[:max(0, len(m.values)-1)]
	return v, ok
}

func modelOf(k Kind) model {
	switch k.Name {
	case "heap":
		return new(sortedModel)
	case "stack":
		return new(stackModel)
	default:
		return mapModel{}
	}
}

// forAll runs a test for each structure in each variant.
func forAll(t *testing.T, test func(t *testing.T, k Kind, s Structure)) {
	for _, k := range Kinds {
		t.Run(k.Name+"/stock", func(t *testing.T) { test(t, k, k.Stock()) })
		for name, use := range map[string]func(*Guarded) Structure{
			"same memory": func(g *Guarded) Structure { return g.SameMemory() },
			"careful":     func(g *Guarded) Structure { return g.Careful() },
			"careless":    func(g *Guarded) Structure { return g.Careless() },
		} {
			t.Run(k.Name+"/"+name, func(t *testing.T) {
				g := k.Guarded()
				test(t, k, use(g))
				if err := g.Close(); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

func TestAnswersAreThoseOfTheModel(t *testing.T) {
	forAll(t, func(t *testing.T, k Kind, s Structure) {
		m := modelOf(k)
		random := rand.New(rand.NewPCG(1, 2))
		for i := range 20_000 {
			key, value := random.Uint64N(k.Keys()), random.Uint64()
			op := operation(random.IntN(3))
			if op == opInsert && (i/4000%2 == 1 && random.IntN(2) == 0 || m.Len() == 4096) {
				op = opDelete // grow for a while, then shrink, and again
			}
			if err := step(s, m, op, key, value); err != nil {
				t.Fatalf("operation %d: %v", i, err)
			}
		}
		for m.Len() > 0 {
			var key uint64
			if byKey, ok := m.(mapModel); ok {
				key = slices.Min(slices.Collect(maps.Keys(byKey)))
			}
			if err := step(s, m, opDelete, key, 0); err != nil {
				t.Fatal(err)
			}
		}
	})
}

type operation int

const (
	opRead operation = iota
	opInsert
	opDelete
)

// step does one operation on both and compares the answers.
func step(s Structure, m model, op operation, key, value uint64) error {
	switch op {
	case opRead:
		got, ok := s.Read(key)
		if want, wantOK := m.Read(key); got != want || ok != wantOK {
			return fmt.Errorf("Read(%d) = %d, %v; want %d, %v", key, got, ok, want, wantOK)
		}
	case opInsert:
		if got, want := s.Insert(key, value), m.Insert(key, value); got != want {
			return fmt.Errorf("Insert(%d) = %v; want %v", key, got, want)
		}
	case opDelete:
		got, ok := s.Delete(key)
		if want, wantOK := m.Delete(key); got != want || ok != wantOK {
			return fmt.Errorf("Delete(%d) = %d, %v; want %d, %v", key, got, ok, want, wantOK)
		}
	}
	return nil
}

func TestConcurrentUseLosesNothing(t *testing.T) {
	forAll(t, func(t *testing.T, k Kind, s Structure) {
		const goroutines, each = 4, 200
		var wg sync.WaitGroup
		for g := range uint64(goroutines) {
			wg.Go(func() {
				for i := range uint64(each) {
					s.Insert(g*each+i, 1)
				}
			})
		}
		wg.Wait()
		for key := range uint64(goroutines * each) {
			if _, ok := s.Delete(key); !ok {
				t.Fatalf("entry %d is missing", key)
			}
		}
		if _, ok := s.Delete(0); ok {
			t.Fatal("there is an entry too many")
		}
	})
}

func TestCarefulAndCarelessUseShareOneStructure(t *testing.T) {
	for _, k := range Kinds {
		t.Run(k.Name, func(t *testing.T) {
			g := k.Guarded()
			defer g.Close()
			both := []Structure{g.Careful(), g.Careless()}
			const each = 300
			var wg sync.WaitGroup
			for i, s := range both {
				wg.Go(func() {
					for j := range uint64(each) {
						s.Insert(uint64(i*each)+j, 1)
					}
				})
			}
			wg.Wait()
			for key := range uint64(len(both) * each) {
				if _, ok := both[key%2].Delete(key); !ok {
					t.Fatalf("entry %d is missing", key)
				}
			}
		})
	}
}

func TestRemovedEntriesAreFreed(t *testing.T) {
	for _, k := range Kinds {
		t.Run(k.Name, func(t *testing.T) {
			g := k.Guarded()
			defer g.Close()
			s := g.Careful()
			cycle := func() {
				for key := range uint64(500) {
					s.Insert(key, key)
				}
				for key := range uint64(500) {
					s.Delete(key)
				}
			}
			cycle()
			before := isolate.ReadStats().Bytes
			for range 10 {
				cycle()
			}
			if after := isolate.ReadStats().Bytes; after != before {
				t.Errorf("the guard grew from %d to %d bytes while its entries came and went", before, after)
			}
		})
	}
}

func TestCarefulUseDoesNotBypassItsGuard(t *testing.T) {
	before := isolate.ReadStats()
	for _, k := range Kinds {
		g := k.Guarded()
		s := g.Careful()
		for key := range uint64(200) {
			s.Insert(key, key)
			s.Read(key)
		}
		for key := range uint64(200) {
			s.Delete(key)
		}
		g.Close()
	}
	after := isolate.ReadStats()
	if after.Bypassed != before.Bypassed || after.Opened != before.Opened {
		t.Errorf("careful code used the shared view: before %+v, after %+v", before, after)
	}
}
