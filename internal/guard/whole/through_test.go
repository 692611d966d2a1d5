package whole_test

import (
	"go/types"
	"slices"
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/guard/whole"
)

// TestWhatALoopOverTheObjectComesToIsOfTheObject: the objects that an iterator of the object, or a function that goes
// through what it has, gives to a literal are the object's, whose lock is held; those of what a caller gives are not
// known to be.
func TestWhatALoopOverTheObjectComesToIsOfTheObject(t *testing.T) {
	pkgs, a := analyse(t, []byte(`package p

import (
	"iter"
	"maps"
	"slices"
	"sort"
	"sync"
)

type entry struct {
	score int
	next  *entry
}

type Board struct {
	mu    sync.Mutex
	first *entry
	top   []*entry
	index map[string]*entry
}

func (b *Board) Report(name string, n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	e := b.index[name]
	e.score += n
	b.sort()
}

func (b *Board) sort() { slices.SortFunc(b.top, func(x, y *entry) int { return x.score - y.score }) }

func (b *Board) entries() iter.Seq[*entry] {
	return func(yield func(*entry) bool) {
		for e := b.first; e != nil; e = e.next {
			if !yield(e) {
				return
			}
		}
	}
}

func (b *Board) walk(yield func(int, *entry) bool) {
	for i, e := range b.top {
		if !yield(i, e) {
			return
		}
	}
}

func (b *Board) ByIterator() (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for e := range b.entries() {
		n += e.score
	}
	return n
}

func (b *Board) ByMethod() (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, e := range b.walk {
		n += i * e.score
	}
	return n
}

func (b *Board) ByLibrary() (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for e := range slices.Values(b.top) {
		n += e.score
	}
	for _, e := range slices.Backward(b.top) {
		n += e.score
	}
	for e := range maps.Values(b.index) {
		n += e.score
	}
	if i := slices.IndexFunc(b.top, func(e *entry) bool { return e.score > n }); i >= 0 {
		return i
	}
	for _, e := range slices.SortedFunc(maps.Values(b.index), func(x, y *entry) int { return x.score - y.score }) {
		n += e.score
	}
	return n
}

func (b *Board) OfOthers(all []*entry) (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for e := range slices.Values(all) {
		n += e.score
	}
	return n
}

func (b *Board) SortOthers(all []*entry) {
	b.mu.Lock()
	defer b.mu.Unlock()
	sort.Slice(b.top, func(i, j int) bool { return all[i].score < all[j].score })
	slices.SortFunc(all, func(x, y *entry) int { return x.score - y.score })
}

func (b *Board) Without() (n int) {
	for e := range b.entries() {
		n += e.score
	}
	return n
}
`))
	scope := pkgs[0].Types.Scope()
	lock, _ := guarded(scope.Lookup("Board"))
	score := scope.Lookup("entry").Type().Underlying().(*types.Struct).Field(0)
	var got []string
	for _, g := range whole.Broken(a, []*types.Var{score}, lock) {
		for _, m := range g.Members {
			if name := g.Func.String(); m.Open || m.Unknown {
				got = append(got, name[strings.LastIndex(name, ".")+1:])
			}
		}
	}
	slices.Sort(got)
	got = slices.Compact(got)
	if want := []string{"OfOthers$1", "SortOthers$1", "SortOthers$2", "Without$1"}; !slices.Equal(got, want) {
		t.Errorf("without the lock, or not known to have it, are %v, want %v", got, want)
	}
}

// TestReferencesLeaveThatFunctionsChange: a map or slice that leaves is changed in place also if a function does that
// which is given it, or a library's that is given what it is a part of.
func TestReferencesLeaveThatFunctionsChange(t *testing.T) {
	pkgs, a := analyse(t, []byte(`package p

import (
	"bufio"
	"bytes"
	"container/heap"
	"fmt"
	"slices"
	"sort"
	"sync"
)

type list []int

func (l *list) remove(i int) { *l = append((*l)[:i], (*l)[i+1:]...) }

func (l list) swap(i, j int) { l[i], l[j] = l[j], l[i] }

func (l list) total() (n int) {
	for _, x := range l {
		n += x
	}
	return n
}

type byValue []int

func (b byValue) Len() int           { return len(b) }
func (b byValue) Less(i, j int) bool { return b[i] < b[j] }
func (b byValue) Swap(i, j int)      { b[i], b[j] = b[j], b[i] }

type queue []int

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i] < q[j] }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)        { *q = append(*q, x.(int)) }
func (q *queue) Pop() any          { old := *q; n := len(old); x := old[n-1]; *q = old[:n-1]; return x }

type Hub struct {
	mu      sync.Mutex
	shifted []int
	deleted []int
	entries map[string]int
	removed list
	swapped list
	read    list
	sorted  []int
	waiting queue
	grown   []int
	nested  []int
	out     bytes.Buffer
	writer  *bufio.Writer
	kept    []int
}

func shift[T any](all []T, i int) []T {
	copy(all[i:], all[i+1:])
	return all[:len(all)-1]
}

func without(all []int, x int) []int { return slices.DeleteFunc(all, func(y int) bool { return x == y }) }

func put(m map[string]int, k string) { m[k]++ }

func add(all []int, x int) []int { return append(all, x) }

func twice(all []int) { half(all) }

func half(all []int) {
	if len(all) > 4 {
		half(all[:len(all)/2])
	}
	all[0] = 1
}

func (h *Hub) Change(i int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.shifted = shift(h.shifted, i)
	h.deleted = without(h.deleted, i)
	put(h.entries, "x")
	h.removed.remove(i)
	h.swapped.swap(i, 0)
	h.read = append(h.read, h.read.total())
	sort.Sort(byValue(h.sorted))
	h.sorted = append(h.sorted, i)
	heap.Push(&h.waiting, i)
	h.grown = add(h.grown, i)
	twice(h.nested)
	fmt.Fprintf(&h.out, "%d", i)
	fmt.Fprintln(h.writer, i)
	h.kept = append(h.kept, i)
}

func (h *Hub) Shifted() []int          { h.mu.Lock(); defer h.mu.Unlock(); return h.shifted }
func (h *Hub) Deleted() []int          { h.mu.Lock(); defer h.mu.Unlock(); return h.deleted }
func (h *Hub) Entries() map[string]int { h.mu.Lock(); defer h.mu.Unlock(); return h.entries }
func (h *Hub) Removed() []int          { h.mu.Lock(); defer h.mu.Unlock(); return h.removed }
func (h *Hub) Swapped() []int          { h.mu.Lock(); defer h.mu.Unlock(); return h.swapped }
func (h *Hub) Read() []int             { h.mu.Lock(); defer h.mu.Unlock(); return h.read }
func (h *Hub) Sorted() []int           { h.mu.Lock(); defer h.mu.Unlock(); return h.sorted }
func (h *Hub) Waiting() []int          { h.mu.Lock(); defer h.mu.Unlock(); return h.waiting }
func (h *Hub) Grown() []int            { h.mu.Lock(); defer h.mu.Unlock(); return h.grown }
func (h *Hub) Nested() []int           { h.mu.Lock(); defer h.mu.Unlock(); return h.nested }
func (h *Hub) Bytes() []byte           { h.mu.Lock(); defer h.mu.Unlock(); return h.out.Bytes() }
func (h *Hub) Kept() []int             { h.mu.Lock(); defer h.mu.Unlock(); return h.kept }
func (h *Hub) Flush() error            { return h.writer.Flush() }
`))
	lock, data := guarded(pkgs[0].Types.Scope().Lookup("Hub"))
	var got []string
	for _, g := range whole.Broken(a, data, lock) {
		for _, m := range g.Members {
			if m.Leaves {
				got = append(got, g.Func.Name())
			} else if m.Open {
				got = append(got, g.Func.Name()+" without")
			}
		}
	}
	slices.Sort(got)
	got = slices.Compact(got)
	want := []string{"Bytes", "Deleted", "Entries", "Flush without", "Nested", "Removed", "Shifted", "Sorted", "Swapped", "Waiting"}
	if !slices.Equal(got, want) {
		t.Errorf("leaving are %v, want %v", got, want)
	}
}
