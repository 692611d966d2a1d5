package httpclient

import (
	"sync"

	"github.com/cofferdam-go/cofferdam/bench/apps/variant"
	"github.com/cofferdam-go/cofferdam/bench/measure"
	"github.com/cofferdam-go/cofferdam/isolate"
)

// guardedJar is the jar in guarded memory.
type guardedJar struct {
	mu   *variant.Lock
	root *node // shared
}

type node struct {
	label   text
	cookies isolate.Ref[kept]
	below   isolate.Ref[node] // the first of the nodes below
	beside  isolate.Ref[node]
}

type kept struct {
	cookie
	next isolate.Ref[kept]
}

func newGuardedJar(v measure.Variant) *guardedJar {
	mu := variant.NewLock(v, "cookies")
	return &guardedJar{mu, isolate.New[node](&mu.Guard)}
}

func (j *guardedJar) view() *node { return variant.View(j.mu, j.root) }

func (j *guardedJar) set(k key, c cookie) {
	j.mu.Lock()
	defer j.mu.Unlock()
	n := j.view()
	for _, label := range k {
		at, child := n.child(label)
		if child == nil {
			child, *at = variant.Fresh[node](j.mu, n)
			child.label = label
		}
		n = child
	}
	at, found := n.cookie(c.name)
	if found == nil {
		found, *at = variant.Fresh[kept](j.mu, n)
	}
	found.cookie = c
}

func (j *guardedJar) match(k key, into []cookie) []cookie {
	j.mu.Lock()
	defer j.mu.Unlock()
	n := j.view()
	for _, label := range k {
		if _, n = n.child(label); n == nil {
			break
		}
		for c := isolate.Follow(n, n.cookies); c != nil; c = isolate.Follow(c, c.next) {
			into = append(into, c.cookie)
		}
	}
	return into
}

func (j *guardedJar) remove(k key, name text) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.view().remove(j.mu, k, name)
}

// remove takes a cookie away, and the nodes on the way to it that have nothing
// else.
func (n *node) remove(mu *variant.Lock, k key, name text) {
	if len(k) == 0 {
		if at, c := n.cookie(name); c != nil {
			*at = c.next
			isolate.Free(&mu.Guard, c)
		}
		return
	}
	at, child := n.child(k[0])
	if child == nil {
		return
	}
	child.remove(mu, k[1:], name)
	if child.cookies.IsNil() && child.below.IsNil() {
		*at = child.beside
		isolate.Free(&mu.Guard, child)
	}
}

// child returns the child with a label, and the place that refers to it; or nil,
// and the place that would.
func (n *node) child(label text) (*isolate.Ref[node], *node) {
	at := &n.below
	child := isolate.Follow(n, *at)
	for child != nil && child.label != label {
		at = &child.beside
		child = isolate.Follow(n, *at)
	}
	return at, child
}

// cookie returns the cookie with a name, and the place that refers to it; or nil,
// and the place that would.
func (n *node) cookie(name text) (*isolate.Ref[kept], *kept) {
	at := &n.cookies
	c := isolate.Follow(n, *at)
	for c != nil && c.name != name {
		at = &c.next
		c = isolate.Follow(n, *at)
	}
	return at, c
}

func (j *guardedJar) free() error { return j.mu.Close() }

// guardedStack is the stack in guarded memory.
type guardedStack struct {
	changed *sync.Cond

	mu   *variant.Lock
	root *pile // shared
}

// A pile is what the lock of a stack guards, apart from the transfers.
type pile struct {
	top        isolate.Ref[waiting]
	unfinished int // on the stack, or being made
	stopped    bool
}

type waiting struct {
	transfer
	below isolate.Ref[waiting]
}

func newGuardedStack(v measure.Variant) *guardedStack {
	mu := variant.NewLock(v, "transfers")
	return &guardedStack{mu.Cond(), mu, isolate.New[pile](&mu.Guard)}
}

func (s *guardedStack) view() *pile { return variant.View(s.mu, s.root) }

func (s *guardedStack) push(t transfer) {
	s.mu.Lock()
	p := s.view()
	w, ref := variant.Fresh[waiting](s.mu, p)
	*w = waiting{t, p.top}
	p.top = ref
	p.unfinished++
	s.mu.Unlock()
	s.changed.Signal()
}

func (s *guardedStack) pop() (t transfer, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.view()
	for p.top.IsNil() && p.unfinished > 0 && !p.stopped {
		s.changed.Wait()
		p = s.view()
	}
	if p.top.IsNil() || p.stopped {
		return transfer{}, false
	}
	w := isolate.Follow(p, p.top)
	t = w.transfer
	p.top = w.below
	isolate.Free(&s.mu.Guard, w)
	return t, true
}

func (s *guardedStack) done() {
	s.mu.Lock()
	p := s.view()
	p.unfinished--
	last := p.unfinished == 0
	s.mu.Unlock()
	if last {
		s.changed.Broadcast()
	}
}

func (s *guardedStack) stop() {
	s.mu.Lock()
	s.view().stopped = true
	s.mu.Unlock()
	s.changed.Broadcast()
}

func (s *guardedStack) free() error { return s.mu.Close() }
