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
	out   bytes.Buffer
	other []int

	rooms    map[string]map[string]bool
	rows     [][]int
	appended map[string][]string
	filtered []int
	buckets  map[string][]int
}

func (c *cache) Filter(least int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	kept := c.filtered[:0]
	for _, n := range c.filtered {
		if n >= least {
			kept = append(kept, n)
		}
	}
	c.filtered = kept
}

func (c *cache) Filtered() []int { c.mu.Lock(); defer c.mu.Unlock(); return c.filtered }

func (c *cache) Observe(k string, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	b := c.buckets[k]
	if b == nil {
		b = make([]int, 8)
		c.buckets[k] = b
	}
	b[n]++
}

func (c *cache) Buckets(k string) []int { c.mu.Lock(); defer c.mu.Unlock(); return c.buckets[k] }

type View struct {
	List  []int
	Items map[string]int
	Count int
}

func (c *cache) View() View { c.mu.Lock(); defer c.mu.Unlock(); return View{List: c.list, Count: len(c.log)} }

func (c *cache) ViewOf() *View { c.mu.Lock(); defer c.mu.Unlock(); return &View{Items: c.items} }

func (c *cache) Size() View { c.mu.Lock(); defer c.mu.Unlock(); return View{Count: len(c.list)} }

func (c *cache) Fill(v *View) { c.mu.Lock(); defer c.mu.Unlock(); v.List = c.list; v.Count = len(c.items) }

func (c *cache) Keep() { c.mu.Lock(); defer c.mu.Unlock(); c.other = c.list }

func (c *cache) Lists() [][]int { c.mu.Lock(); defer c.mu.Unlock(); return [][]int{c.list} }

func (c *cache) ByName() map[string][]int { c.mu.Lock(); defer c.mu.Unlock(); return map[string][]int{"list": c.list} }

func (c *cache) Collected() (all [][]int) { c.mu.Lock(); defer c.mu.Unlock(); return append(all, c.list) }

func (c *cache) Copied() []int { c.mu.Lock(); defer c.mu.Unlock(); return append([]int(nil), c.list...) }

func (c *cache) Sent(to chan []int) { c.mu.Lock(); defer c.mu.Unlock(); to <- c.list }

func (c *cache) Started() { c.mu.Lock(); defer c.mu.Unlock(); go count(c.items) }

func (c *cache) StartedLater() { c.mu.Lock(); defer c.mu.Unlock(); m := c.items; go func() { count(m) }() }

func (c *cache) Drain() map[string]int { c.mu.Lock(); defer c.mu.Unlock(); m := c.items; c.items = make(map[string]int); return m }

func (c *cache) DrainTo(to chan []int) { c.mu.Lock(); defer c.mu.Unlock(); to <- c.list; c.list = nil }

func (c *cache) DrainSome(some bool) map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	m := c.items
	if some {
		c.items = make(map[string]int)
	}
	return m
}

func (c *cache) Emptied() []int { c.mu.Lock(); defer c.mu.Unlock(); l := c.list; c.list = c.list[:0]; return l }

func (c *cache) Written() []byte { c.mu.Lock(); defer c.mu.Unlock(); c.out.WriteString("x"); return c.out.Bytes() }

func (c *cache) Text() string { c.mu.Lock(); defer c.mu.Unlock(); return c.out.String() }

func (c *cache) Join(k, who string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rooms[k][who] = true
	c.rows[0][0] = 1
	c.appended[k] = append(c.appended[k], who)
}

func (c *cache) Room(k string) map[string]bool { c.mu.Lock(); defer c.mu.Unlock(); return c.rooms[k] }

func (c *cache) RoomIf(k string) map[string]bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if r, ok := c.rooms[k]; ok {
		return r
	}
	return nil
}

func (c *cache) Row(i int) []int { c.mu.Lock(); defer c.mu.Unlock(); return c.rows[i] }

func (c *cache) Appended(k string) []string { c.mu.Lock(); defer c.mu.Unlock(); return c.appended[k] }

func (c *cache) parts() []int { c.mu.Lock(); defer c.mu.Unlock(); return c.list }

func (c *cache) Sum() (sum int) {
	for _, n := range c.parts() {
		sum += n
	}
	return sum
}

func (c *cache) changed() []int { c.mu.Lock(); defer c.mu.Unlock(); return c.list }

func (c *cache) Change(n int) { c.changed()[0] = n }

func (c *cache) lockedChanged() []int { return c.list }

func (c *cache) LockedChange(n int) { c.mu.Lock(); defer c.mu.Unlock(); c.lockedChanged()[0] = n }

func (c *cache) Rebuild(names []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var log []string
	for _, n := range names {
		log = append(log, n)
	}
	c.log, c.list = log, nil
}

func (c *cache) Deep(n int) []int { c.mu.Lock(); defer c.mu.Unlock(); return deep(c.list, n) }

func deep(list []int, n int) []int {
	if n == 0 {
		return list
	}
	return deep(list, n-1)
}

func (c *cache) RebuildList(n int) []int {
	c.mu.Lock()
	defer c.mu.Unlock()
	old := c.list
	var list []int
	for i := range n {
		list = append(list, i)
	}
	c.list = list
	return old
}

func (c *cache) lockedParts() []int { return c.list }

func (c *cache) LockedSum() (sum int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.lockedParts() {
		sum += n
	}
	return sum
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
			if name := g.Func.Name(); m.Leaves && m.ToBeChanged {
				got = append(got, name+" to be changed")
			} else if m.Leaves {
				got = append(got, name)
			}
		}
	}
	slices.Sort(got)
	if want := []string{"All", "Buckets", "ByName", "Collected", "Deep", "DrainSome", "Emptied", "Entries", "Fill", "Filtered", "First", "Keys", "Later", "Lists",
		"Open", "Queue", "Room", "RoomIf", "Row", "Sent", "Shifted", "Started", "StartedLater", "View", "ViewOf", "Written", "changed to be changed", "parts", "rest"}; !slices.Equal(got, want) {
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

// TestAddressesAreHandedOut: users of a package are given the address of data, or of a part of it, by which
// they can access it without the lock.
func TestAddressesAreHandedOut(t *testing.T) {
	pkgs, a := analyse(t, []byte(`package p

import (
	"bytes"
	"sync"
)

type limits struct{ rate, burst int }

type inner struct {
	mu sync.Mutex
	n  int
}

type Book struct {
	mu     sync.Mutex
	limits limits
	count  int
	values []int
	log    []string
	ring   [4]int
	out    bytes.Buffer
	self   inner
	name   string
}

func (b *Book) Set(n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.limits.rate = n
	b.count++
	b.values[0] = n
	b.log = append(b.log, "x")
	b.ring[n] = n
	b.out.WriteString("x")
}

func (b *Book) Limits() *limits { return &b.limits }

func (b *Book) Rate() *int { b.mu.Lock(); defer b.mu.Unlock(); return &b.limits.rate }

func (b *Book) Count() *int { return &b.count }

func (b *Book) Counts() []*int { return []*int{&b.count} }

func (b *Book) Value(i int) *int { return &b.values[i] }

func (b *Book) Entry(i int) *string { return &b.log[i] }

func (b *Book) Ring() []int { return b.ring[:] }

func (b *Book) Slot(i int) any { return &b.ring[i] }

func (b *Book) Out() *bytes.Buffer { return &b.out }

func (b *Book) Text() string { b.mu.Lock(); defer b.mu.Unlock(); return b.out.String() }

func (b *Book) Inner() *inner { return &b.self }

func (b *Book) Name() *string { return &b.name }

func (b *Book) counter() *int { return &b.count }

func (b *Book) Number() int { b.mu.Lock(); defer b.mu.Unlock(); return *b.counter() }

func (b *Book) bounds() *limits { return &b.limits }

func (b *Book) Bounds() *limits { return b.bounds() }

func (b *Book) Burst() int { b.mu.Lock(); defer b.mu.Unlock(); return b.bounds().burst }

func (l *limits) used() int { return l.burst - l.rate }

func (b *Book) Used() func() int { return b.limits.used }

type View struct{ at *int }

func (b *Book) View() View { return View{at: &b.count} }

func (b *Book) Fill(v *View) { v.at = &b.count }

func (b *Book) Each(f func(*int)) { b.each(f) }

func (b *Book) each(f func(*int)) {
	for i := range b.ring {
		f(&b.ring[i])
	}
}

func (b *Book) Sum() (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var add func(at *int)
	add = func(at *int) {
		if n += *at; n < 0 {
			add(&b.count)
		}
	}
	add(&b.count)
	b.own(add)
	return n
}

func (b *Book) own(f func(*int)) { f(&b.count) }

func (b *Book) Stream(c chan *int) { c <- &b.count }

func (b *Book) Watch() { go watch(&b.count) }

func watch(n *int) { *n++ }
`))
	lock, data := guarded(pkgs[0].Types.Scope().Lookup("Book"))
	var got []string
	for _, h := range whole.Handing(a, lock, data) {
		if !h.Address {
			t.Errorf("%s: %s is told as an object", h.Func.Name(), h.Variable.Name())
		}
		name := h.Func.Name() + " " + h.Variable.Name()
		if h.ToCallback {
			name += " to a callback"
		}
		if h.ToGoroutine {
			name += " to a goroutine"
		}
		got = append(got, name)
	}
	slices.Sort(got)
	want := []string{
		"Count count", "Counts count", "Fill count", "Limits limits", "Out out", "Rate limits", "Ring ring", "Slot ring", "Stream count to a goroutine",
		"Used limits", "Value values", "View count", "Watch count to a goroutine", "bounds limits", "each ring to a callback",
	}
	if !slices.Equal(got, want) {
		t.Errorf("handed out: %v, want %v", got, want)
	}
}

// TestAddressesOfVariablesAreHandedOut: the same of the variables of a package.
func TestAddressesOfVariablesAreHandedOut(t *testing.T) {
	pkgs, a := analyse(t, []byte(`package p

import "sync"

type limits struct{ rate, burst int }

var (
	mu     sync.Mutex
	count  int
	common limits
	table  [4]int
	list   = make([]int, 4)
	name   string
)

func Set(n int) {
	mu.Lock()
	defer mu.Unlock()
	count = n
	common.rate = n
	table[n] = n
	list[n] = n
}

func Count() *int { return &count }

func Common() *limits { return &common }

func Burst() *int { return &common.burst }

func Slot(i int) *int { return &table[i] }

func Value(i int) *int { return &list[i] }

func Each(f func(*int)) { f(&count) }

func Name() *string { return &name }

func Number() int { mu.Lock(); defer mu.Unlock(); return *counter() + count }

func counter() *int { return &count }
`))
	scope := pkgs[0].Types.Scope()
	var data []*types.Var
	for _, name := range []string{"count", "common", "table", "list", "name"} {
		data = append(data, scope.Lookup(name).(*types.Var))
	}
	var got []string
	for _, h := range whole.Handing(a, scope.Lookup("mu").(*types.Var), data) {
		got = append(got, h.Func.Name()+" "+h.Variable.Name())
	}
	slices.Sort(got)
	if want := []string{"Burst common", "Common common", "Count count", "Each count", "Slot table", "Value list"}; !slices.Equal(got, want) {
		t.Errorf("handed out: %v, want %v", got, want)
	}
}

// TestReferencesLeaveInStructs: a struct that is copied for code without the lock takes the maps and slices of its
// fields with it, unless the copy is given others.
func TestReferencesLeaveInStructs(t *testing.T) {
	pkgs, a := analyse(t, []byte(`package p

import (
	"fmt"
	"maps"
	"slices"
	"sync"
)

type Numbers struct {
	Count  int
	ByCode map[int]int
	Last   []int
}

type Outer struct {
	Name string
	In   Numbers
}

type stats struct {
	mu sync.Mutex
	Numbers
	outer Outer
	rows  []Numbers
	fixed [2]Numbers
	one   *Numbers
}

func (s *stats) Observe(code int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.Count++
	s.ByCode[code]++
	s.Last[0] = code
	s.outer.In.ByCode[code]++
	s.rows[0].ByCode[code]++
}

func (s *stats) Snapshot() Numbers { s.mu.Lock(); defer s.mu.Unlock(); return s.Numbers }

func (s *stats) Pair() (Numbers, bool) { s.mu.Lock(); defer s.mu.Unlock(); n := s.Numbers; return n, n.Count > 0 }

func (s *stats) OuterOf() Outer { s.mu.Lock(); defer s.mu.Unlock(); return s.outer }

func (s *stats) Row(i int) Numbers { s.mu.Lock(); defer s.mu.Unlock(); return s.rows[i] }

func (s *stats) One() Numbers { s.mu.Lock(); defer s.mu.Unlock(); return *s.one }

func (s *stats) Codes() map[int]int { s.mu.Lock(); defer s.mu.Unlock(); n := s.Numbers; return n.ByCode }

func (s *stats) Sent(to chan Numbers) { s.mu.Lock(); defer s.mu.Unlock(); to <- s.Numbers }

func (s *stats) Boxed() any { s.mu.Lock(); defer s.mu.Unlock(); return s.Numbers }

func (s *stats) Half() Numbers {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.Numbers
	n.ByCode = maps.Clone(n.ByCode)
	return n
}

func (s *stats) Shorter() Numbers {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.Numbers
	n.ByCode, n.Last = nil, n.Last[:1]
	return n
}

func (s *stats) If(some bool) Numbers {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.Numbers
	n.Last = nil
	if some {
		n.ByCode = nil
	}
	return n
}

func (s *stats) Cloned() Numbers {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.Numbers
	n.ByCode, n.Last = maps.Clone(n.ByCode), slices.Clone(s.Last)
	return n
}

func (s *stats) ClonedOuter() Outer {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := s.outer
	o.In.ByCode, o.In.Last = maps.Clone(o.In.ByCode), nil
	return o
}

func (s *stats) Taken() Numbers {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.Numbers
	s.Numbers = Numbers{ByCode: make(map[int]int)}
	return n
}

func (s *stats) TakenByField() Numbers {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.Numbers
	s.ByCode, s.Last = make(map[int]int), nil
	return n
}

func (s *stats) Total() int { s.mu.Lock(); defer s.mu.Unlock(); n := s.Numbers; return n.Count + len(n.ByCode) }

func (s *stats) String() string { s.mu.Lock(); defer s.mu.Unlock(); return fmt.Sprint(s.Numbers) }

func (n Numbers) Mean() int { return n.Count / len(n.ByCode) }

func (s *stats) Mean() int { s.mu.Lock(); defer s.mu.Unlock(); return s.Numbers.Mean() }

func (s *stats) copied() Numbers { s.mu.Lock(); defer s.mu.Unlock(); return s.Numbers }

func (s *stats) Most() int { n := s.copied(); return n.ByCode[0] }

func (s *stats) lockedCopy() (Numbers, error) { return s.Numbers, nil }

func (s *stats) Handed() Numbers { s.mu.Lock(); defer s.mu.Unlock(); n, _ := s.lockedCopy(); return n }

func (s *stats) counted() Numbers { s.mu.Lock(); defer s.mu.Unlock(); return s.Numbers }

func (s *stats) HowMany() int { return s.counted().Count }
`))
	lock, _ := guarded(pkgs[0].Types.Scope().Lookup("stats"))
	var data []*types.Var
	for f := range pkgs[0].Types.Scope().Lookup("Numbers").Type().Underlying().(*types.Struct).Fields() {
		data = append(data, f)
	}
	var got []string
	for _, g := range whole.Broken(a, data, lock) {
		for _, m := range g.Members {
			if m.Leaves {
				got = append(got, g.Func.Name()+" "+m.Variable.Name())
			}
		}
	}
	slices.Sort(got)
	want := []string{"Boxed ByCode", "Boxed Last", "Codes ByCode", "Half Last", "If ByCode", "One ByCode", "One Last", "OuterOf ByCode", "OuterOf Last", "Pair ByCode", "Pair Last",
		"Row ByCode", "Row Last", "Sent ByCode", "Sent Last", "Shorter Last", "Snapshot ByCode", "Snapshot Last", "copied ByCode", "lockedCopy ByCode", "lockedCopy Last"}
	if !slices.Equal(got, want) {
		t.Errorf("references leave from\n%v, want\n%v", got, want)
	}
}

// TestContainersInContainersAreCovered: what a map or slice has as an entry is a part of the data, when it is
// changed as well as when it is read.
func TestContainersInContainersAreCovered(t *testing.T) {
	pkgs, a := analyse(t, []byte(`package p

import "sync"

type rooms struct {
	mu      sync.Mutex
	members map[string]map[string]bool
	rows    [][]int
	tree    tree
}

type tree map[string]tree

func (r *rooms) Grow(path []string) {
	t := r.tree
	for _, k := range path {
		if t[k] == nil {
			t[k] = tree{}
		}
		t = t[k]
	}
	t["leaf"] = nil
}

func New() *rooms { return &rooms{members: map[string]map[string]bool{"a": {}}, rows: [][]int{{1}}} }

func (r *rooms) Join(room, who string) { r.mu.Lock(); defer r.mu.Unlock(); r.members[room][who] = true; r.rows[0][0]++ }

func (r *rooms) Leave(room, who string) { delete(r.members[room], who) }

func (r *rooms) Has(room, who string) bool { return r.members[room][who] }

func (r *rooms) HasLater(room, who string) bool { r.mu.Lock(); m := r.members[room]; r.mu.Unlock(); return m[who] }

func (r *rooms) Clear() {
	for _, m := range r.members {
		clear(m)
	}
}

func (r *rooms) First() int { r.mu.Lock(); row := r.rows[0]; r.mu.Unlock(); return row[0] }

func (r *rooms) Kept(room, who string) bool { r.mu.Lock(); defer r.mu.Unlock(); return r.members[room][who] }
`))
	lock, data := guarded(pkgs[0].Types.Scope().Lookup("rooms"))
	var got []string
	for _, g := range whole.Broken(a, data, lock) {
		if slices.ContainsFunc(g.Members, func(m *whole.Member) bool { return m.Open }) {
			got = append(got, g.Func.Name())
		}
	}
	slices.Sort(got)
	if want := []string{"Clear", "First", "Grow", "Has", "HasLater", "Leave"}; !slices.Equal(got, want) {
		t.Errorf("open are %v, want %v", got, want)
	}
}
