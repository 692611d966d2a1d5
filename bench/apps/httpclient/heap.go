package httpclient

import "sync"

// heapJar is the jar on the Go heap.
type heapJar struct {
	mu   sync.Mutex
	root heapNode
}

type heapNode struct {
	label   text
	cookies *heapCookie
	below   *heapNode // the first of the nodes below
	beside  *heapNode
}

type heapCookie struct {
	cookie
	next *heapCookie
}

func newHeapJar() *heapJar { return new(heapJar) }

func (j *heapJar) set(k key, c cookie) {
	j.mu.Lock()
	defer j.mu.Unlock()
	n := &j.root
	for _, label := range k {
		at := n.child(label)
		if *at == nil {
			*at = &heapNode{label: label}
		}
		n = *at
	}
	at := n.cookie(c.name)
	if *at == nil {
		*at = new(heapCookie)
	}
	(*at).cookie = c
}

func (j *heapJar) match(k key, into []cookie) []cookie {
	j.mu.Lock()
	defer j.mu.Unlock()
	n := &j.root
	for _, label := range k {
		if n = *n.child(label); n == nil {
			break
		}
		for c := n.cookies; c != nil; c = c.next {
			into = append(into, c.cookie)
		}
	}
	return into
}

func (j *heapJar) remove(k key, name text) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.root.remove(k, name)
}

// remove takes a cookie away, and the nodes on the way to it that have nothing
// else.
func (n *heapNode) remove(k key, name text) {
	if len(k) == 0 {
		if at := n.cookie(name); *at != nil {
			*at = (*at).next
		}
		return
	}
	at := n.child(k[0])
	child := *at
	if child == nil {
		return
	}
	child.remove(k[1:], name)
	if child.cookies == nil && child.below == nil {
		*at = child.beside
	}
}

// child returns the place that points to the child with a label, or would.
func (n *heapNode) child(label text) **heapNode {
	at := &n.below
	for *at != nil && (*at).label != label {
		at = &(*at).beside
	}
	return at
}

// cookie returns the place that points to the cookie with a name, or would.
func (n *heapNode) cookie(name text) **heapCookie {
	at := &n.cookies
	for *at != nil && (*at).name != name {
		at = &(*at).next
	}
	return at
}

func (j *heapJar) free() error { return nil }

// heapStack is the stack on the Go heap.
type heapStack struct {
	changed *sync.Cond

	mu         sync.Mutex
	top        *heapTransfer
	unfinished int // on the stack, or being made
	stopped    bool
}

type heapTransfer struct {
	transfer
	below *heapTransfer
}

func newHeapStack() *heapStack {
	s := new(heapStack)
	s.changed = sync.NewCond(&s.mu)
	return s
}

func (s *heapStack) push(t transfer) {
	s.mu.Lock()
	s.top = &heapTransfer{t, s.top}
	s.unfinished++
	s.mu.Unlock()
	s.changed.Signal()
}

func (s *heapStack) pop() (t transfer, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.top == nil && s.unfinished > 0 && !s.stopped {
		s.changed.Wait()
	}
	if s.top == nil || s.stopped {
		return transfer{}, false
	}
	t = s.top.transfer
	s.top = s.top.below
	return t, true
}

func (s *heapStack) done() {
	s.mu.Lock()
	s.unfinished--
	last := s.unfinished == 0
	s.mu.Unlock()
	if last {
		s.changed.Broadcast()
	}
}

func (s *heapStack) stop() {
	s.mu.Lock()
	s.stopped = true
	s.mu.Unlock()
	s.changed.Broadcast()
}

func (s *heapStack) free() error { return nil }
