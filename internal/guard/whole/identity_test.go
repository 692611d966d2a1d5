package whole_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cofferdam-go/cofferdam/internal/guard/whole"
)

// TestALockThatIsCopiedIsNoLock: a lock in an object that is copied or overwritten, or that lies in
// an array which moves, is found, and one in an object that is only pointed to is not.
func TestALockThatIsCopiedIsNoLock(t *testing.T) {
	pkgs, a := analyse(t, []byte(`package p

import "sync"

type reset struct { mu sync.Mutex; n int }
func (r *reset) Add() { r.mu.Lock(); r.n++; r.mu.Unlock() }
func (r *reset) Reset() { *r = reset{} }

type row struct { mu sync.Mutex; n int }
type Table struct { rows []row }
func (t *Table) Add(i int) { r := &t.rows[i]; r.mu.Lock(); r.n++; r.mu.Unlock() }
func (t *Table) Grow() { t.rows = append(t.rows, row{}) }

type cell struct { mu sync.Mutex; n int }
type Cells struct { m map[string]cell }
func (c *Cells) Add(k string) { x := c.m[k]; x.mu.Lock(); x.n++; x.mu.Unlock(); c.m[k] = x }

type nested struct { mu sync.Mutex; n int }
type Outer struct { in nested; k int }
func (o *Outer) Add() { o.in.mu.Lock(); o.in.n++; o.in.mu.Unlock() }
func (o *Outer) Copy() *Outer { c := *o; return &c }

type pointed struct { mu sync.Mutex; n int }
type Holder struct { list []*pointed }
func (h *Holder) Add(i int) { p := h.list[i]; p.mu.Lock(); p.n++; p.mu.Unlock() }
func (h *Holder) Grow() { h.list = append(h.list, &pointed{n: 1}) }

type made struct { mu sync.Mutex; n int }
func newMade() *made { m := new(made); *m = made{n: 1}; return m }
func (m *made) Add() { m.mu.Lock(); m.n++; m.mu.Unlock() }
`))
	for name, want := range map[string]bool{"reset": true, "row": true, "cell": true, "nested": true, "pointed": false, "made": false} {
		lock, _ := guarded(pkgs[0].Types.Scope().Lookup(name))
		if got := whole.Copying(a, lock, nil) != nil; got != want {
			t.Errorf("the lock of %s is copied: %t, want %t", name, got, want)
		}
	}
}

// TestWhatReplacesTheObjectWithTheLockIsFound: a line that ends in "// lost", "// torn", "// bare" or
// "// without" makes accesses by the old object and the new one come apart; others do not.
func TestWhatReplacesTheObjectWithTheLockIsFound(t *testing.T) {
	text := `package p

import "sync"

type inner struct {
	mu sync.Mutex
	n  int
}

func (i *inner) add(k int) int {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.n += k
	return i.n
}

type Bare struct{ in *inner }

func (b *Bare) Add()   { b.in.add(1) }
func (b *Bare) Clear() { b.in = new(inner) } // bare

type Locked struct {
	mu sync.Mutex
	in *inner
}

func (l *Locked) get() *inner {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.in
}

func (l *Locked) Add() { l.get().add(1) }

func (l *Locked) Clear() {
	l.mu.Lock()
	l.in = new(inner)
	l.mu.Unlock()
}

func (l *Locked) Both() int {
	return l.get().add(0)*100 + l.get().add(0) // torn
}

func (l *Locked) Copy() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.in = &inner{n: l.in.add(0)} // lost
}

func (l *Locked) Forgets() {
	l.in = new(inner) // without
}

type Boxes struct {
	mu sync.Mutex
	m  map[string]*inner
}

func (b *Boxes) get(k string) *inner {
	b.mu.Lock()
	defer b.mu.Unlock()
	in := b.m[k]
	if in == nil {
		in = new(inner)
		b.m[k] = in
	}
	return in
}

func (b *Boxes) Add(k string) { b.get(k).add(1) }

func (b *Boxes) AddHere(k string) int {
	b.mu.Lock()
	in := b.m[k]
	if in == nil {
		in = &inner{n: 1}
		b.m[k] = in
	}
	b.mu.Unlock()
	return in.add(1)
}

func (b *Boxes) Swap(k string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	old := b.m[k]
	b.m[k] = new(inner) // lost
	return old.add(0)
}

func (b *Boxes) Take(k string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := b.m[k].add(0)
	delete(b.m, k) // lost
	return n
}

func (b *Boxes) Drop(k string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.m, k)
}

type Whole struct {
	mu sync.Mutex
	in *inner
}

func (w *Whole) Add() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.in.add(1)
}

func (w *Whole) Clear() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.in = new(inner)
}
`
	var want []string
	for i, line := range strings.Split(text, "\n") {
		if _, word, ok := strings.Cut(line, " // "); ok {
			want = append(want, fmt.Sprintf("%d: %s", i+1, word))
		}
	}
	pkgs, a := analyse(t, []byte(text))
	lock, data := guarded(pkgs[0].Types.Scope().Lookup("inner"))
	var got []string
	for _, r := range whole.Replacements(a, lock, data) {
		word := "bare"
		switch {
		case r.Lost:
			word = "lost"
		case r.Torn:
			word = "torn"
		case r.Lock != nil:
			word = "without"
		}
		got = append(got, fmt.Sprintf("%d: %s", a.Program.Fset.Position(r.At).Line, word))
	}
	slices.SortFunc(got, byLine)
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("what replaces the object (-want +got):\n%s", d)
	}
}

// TestCallsThroughInterfacesHaveMembers: an update by way of an interface is one group, which is torn
// if the methods that it may reach take the lock one by one.
func TestCallsThroughInterfacesHaveMembers(t *testing.T) {
	pkgs, a := analyse(t, []byte(`package p

import "sync"

type store interface {
	get(k string) int
	put(k string, v int)
}

type mem struct {
	mu sync.Mutex
	m  map[string]int
}

func (s *mem) get(k string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.m[k]
}

func (s *mem) put(k string, v int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.m[k] = v
}

type KV struct{ s store }

func New() *KV { return &KV{s: &mem{m: map[string]int{}}} }

func (kv *KV) Incr(k string) { kv.s.put(k, kv.s.get(k)+1) }
func (kv *KV) Get(k string) int { return kv.s.get(k) }
`))
	lock, data := guarded(pkgs[0].Types.Scope().Lookup("mem"))
	var broken []string
	for _, g := range whole.Broken(a, data, lock) {
		broken = append(broken, g.Func.Name())
	}
	if want := []string{"Incr"}; !slices.Equal(broken, want) {
		t.Errorf("not whole are %v, want %v", broken, want)
	}
}
