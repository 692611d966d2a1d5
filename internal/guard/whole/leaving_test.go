package whole_test

import (
	"go/types"
	"slices"
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/guard/whole"
)

// TestReferencesLeave: a map or slice that an exported function returns, or returns something that will
// read it, leaves the lock behind if it is changed in place, and is not returned to be changed.
func TestReferencesLeave(t *testing.T) {
	pkgs, a := analyse(t, []byte(`package p

import (
	"bytes"
	"io"
	"iter"
	"maps"
	"slices"
	"sync"
)

type cache struct {
	mu    sync.Mutex
	items map[string]int
	page  []byte
	list  []int
	log   []string
	queue, shifted, fresh []int
}

func (c *cache) Remove(i int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.queue = append(c.queue[:i], c.queue[i+1:]...)
	copy(c.shifted[1:], c.shifted)
	c.fresh = append(c.fresh[:i:i], c.fresh[i+1:]...)
}

func (c *cache) Queue() []int { c.mu.Lock(); defer c.mu.Unlock(); return c.queue }

func (c *cache) Shifted() []int { c.mu.Lock(); defer c.mu.Unlock(); return c.shifted }

func (c *cache) Fresh() []int { c.mu.Lock(); defer c.mu.Unlock(); return c.fresh }

func (c *cache) Set(k string, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.items[k] = n
	c.list[0] = n
	c.page[0] = byte(n)
	c.log = append(c.log, k)
}

func (c *cache) All() map[string]int { c.mu.Lock(); defer c.mu.Unlock(); return c.items }

func (c *cache) First(n int) []int { c.mu.Lock(); defer c.mu.Unlock(); rest := c.list; return rest[:n] }

func (c *cache) Log() []string { c.mu.Lock(); defer c.mu.Unlock(); return c.log }

func (c *cache) Len() int { c.mu.Lock(); defer c.mu.Unlock(); return len(c.items) }

func (c *cache) all() map[string]int { c.mu.Lock(); defer c.mu.Unlock(); return c.items }

func (c *cache) rest() []int { c.mu.Lock(); defer c.mu.Unlock(); return c.list }

func (c *cache) Rest() []int { return c.rest()[1:] }

func (c *cache) Raw() map[string]int { c.mu.Lock(); defer c.mu.Unlock(); return c.items }

func (c *cache) Keys() iter.Seq[string] { c.mu.Lock(); defer c.mu.Unlock(); return maps.Keys(c.items) }

func (c *cache) Sorted() []string { c.mu.Lock(); defer c.mu.Unlock(); return slices.Sorted(maps.Keys(c.items)) }

func (c *cache) Entries() iter.Seq2[string, int] { c.mu.Lock(); defer c.mu.Unlock(); return entries(c.items) }

func entries(m map[string]int) iter.Seq2[string, int] { return maps.All(m) }

func (c *cache) Count() int { c.mu.Lock(); defer c.mu.Unlock(); return count(c.items) }

func count(m map[string]int) int { return len(m) }

func (c *cache) Open() io.Reader { c.mu.Lock(); defer c.mu.Unlock(); return bytes.NewReader(c.page) }

func (c *cache) WriteTo(w *bytes.Buffer) (int, error) { c.mu.Lock(); defer c.mu.Unlock(); return w.Write(c.page) }

func (c *cache) Later() func() int { c.mu.Lock(); m := c.items; c.mu.Unlock(); return func() int { return len(m) } }

func use(c *cache) { c.Raw()["x"] = 1 }
`))
	lock, data := guarded(pkgs[0].Types.Scope().Lookup("cache"))
	var got []string
	for _, g := range whole.Broken(a, data, lock) {
		for _, m := range g.Members {
			if m.Leaves {
				got = append(got, g.Func.Name())
			}
		}
	}
	slices.Sort(got)
	if want := []string{"All", "Entries", "First", "Keys", "Later", "Open", "Queue", "Shifted", "rest"}; !slices.Equal(got, want) {
		t.Errorf("references leave from %v, want %v", got, want)
	}
}

// TestElementsOfALoopAreWhereItsOperandIs: what a loop over a slice loads is told at what the loop goes
// over, which a section for it can read ahead, and not at the variable of the loop.
func TestElementsOfALoopAreWhereItsOperandIs(t *testing.T) {
	const text = `package p

import "slices"

type subject struct{ list []func() }

func (s *subject) Remove(i int) { s.list = slices.Delete(s.list, i, i+1) }

func (s *subject) Each() {
	for _, f := range s.list {
		f()
	}
}
`
	pkgs, a := analyse(t, []byte(text))
	list := pkgs[0].Types.Scope().Lookup("subject").Type().Underlying().(*types.Struct).Field(0)
	loads := 0
	for _, g := range whole.Broken(a, []*types.Var{list}, nil) {
		if g.Func.Name() != "Each" {
			continue
		}
		for _, m := range g.Members {
			loads++
			if at := pkgs[0].Fset.Position(m.At).Offset; !strings.HasPrefix(text[at:], "list {") && !strings.HasPrefix(text[at:], "s.list {") {
				t.Errorf("%v is told at %q", m.Instr, text[at:at+10])
			}
		}
	}
	if loads != 2 {
		t.Errorf("%d loads are told of Each, want that of the slice and that of an element", loads)
	}
}

// TestObjectsAreHandedOut: users of a package are given objects whose fields they can name, and whose
// lock they do not have, unless nothing else has the object.
func TestObjectsAreHandedOut(t *testing.T) {
	pkgs, a := analyse(t, []byte(`package p

import "sync"

type Item struct {
	Stock  int
	hidden int
}

type Shop struct {
	mu    sync.Mutex
	items map[int]*Item
	Open  bool
}

func (s *Shop) Buy(id int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.items[id].Stock--
	s.items[id].hidden++
	s.Open = true
}

func (s *Shop) Find(id int) *Item { s.mu.Lock(); defer s.mu.Unlock(); return s.items[id] }

func (s *Shop) All() []*Item {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := make([]*Item, 0, len(s.items))
	for _, it := range s.items {
		all = append(all, it)
	}
	return all
}

func (s *Shop) Each(f func(*Item)) {
	for _, it := range s.All() {
		f(it)
	}
}

func (s *Shop) Add(id int) *Item {
	it := &Item{}
	s.mu.Lock()
	s.items[id] = it
	s.mu.Unlock()
	return it
}

func (s *Shop) find(id int) *Item { return s.items[id] }

func (s *Shop) Copy(id int) Item { s.mu.Lock(); defer s.mu.Unlock(); return *s.items[id] }

func (s *Shop) CopyOf(id int) *Item { s.mu.Lock(); defer s.mu.Unlock(); it := *s.items[id]; return &it }

func (s *Shop) Self() *Shop { return s }

func NewItem() *Item { return &Item{Stock: 1} }

func NewShop() *Shop { return &Shop{items: map[int]*Item{}} }

func Same(it *Item) *Item { return it }
`))
	scope := pkgs[0].Types.Scope()
	lock, data := guarded(scope.Lookup("Shop"))
	item := scope.Lookup("Item").Type().Underlying().(*types.Struct)
	var got []string
	for _, h := range whole.Handing(a, lock, append(data, item.Field(0), item.Field(1))) {
		name := h.Func.Name() + " " + h.Variable.Name()
		if h.ToCallback {
			name += " to a callback"
		}
		got = append(got, name)
	}
	slices.Sort(got)
	if want := []string{"Add Stock", "All Stock", "Each Stock to a callback", "Find Stock"}; !slices.Equal(got, want) {
		t.Errorf("handed out: %v, want %v", got, want)
	}
}
