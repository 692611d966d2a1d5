package whole_test

import (
	"go/types"
	"slices"
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/guard/whole"
)

// TestReferencesLeave: a map or slice that an exported function returns leaves the lock behind
// if it is changed in place, and is not returned to be changed.
func TestReferencesLeave(t *testing.T) {
	pkgs, a := analyse(t, []byte(`package p

import "sync"

type cache struct {
	mu    sync.Mutex
	items map[string]int
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
	c.log = append(c.log, k)
}

func (c *cache) All() map[string]int { c.mu.Lock(); defer c.mu.Unlock(); return c.items }

func (c *cache) First(n int) []int { c.mu.Lock(); defer c.mu.Unlock(); rest := c.list; return rest[:n] }

func (c *cache) Log() []string { c.mu.Lock(); defer c.mu.Unlock(); return c.log }

func (c *cache) Len() int { c.mu.Lock(); defer c.mu.Unlock(); return len(c.items) }

func (c *cache) all() map[string]int { c.mu.Lock(); defer c.mu.Unlock(); return c.items }

func (c *cache) Raw() map[string]int { c.mu.Lock(); defer c.mu.Unlock(); return c.items }

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
	if want := []string{"All", "First", "Queue", "Shifted"}; !slices.Equal(got, want) {
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
