// Command identity compares pointers with the addresses of guarded data, which a copy does not
// have: rings that end where they began, objects that know where they stand, elements.
package main

import (
	"fmt"
	"sync"
)

type link struct {
	next, prev *link
	n          int
}

// A ring ends at its root.
type ring struct {
	mu    sync.Mutex
	root  link    // guarded by mu
	used  int     // guarded by mu
	slots [4]link // guarded by mu
	spare []link  // guarded by mu
	now   *link   // guarded by mu
}

func newRing() *ring {
	r := &ring{spare: make([]link, 3)}
	r.root.next, r.root.prev = &r.root, &r.root
	r.now = &r.slots[1]
	return r
}

func (l *link) insert(at *link) {
	next := at.next
	at.next, l.prev, l.next, next.prev = l, at, next, l
}

func (l *link) is(other *link) bool { return l == other }

func (r *ring) push(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.used += n
	l := &link{n: n}
	l.insert(&r.root)
}

func (r *ring) sum() (n int) {
	r.mu.Lock()
	for l := r.root.prev; l != &r.root; {
		n += l.n
		r.used -= l.n
		l = l.prev
	}
	r.root.n++
	n += r.root.n + r.used
	r.mu.Unlock()
	return n
}

// where says where the ring is, by the address of a field, of elements, and by functions that
// compare what they are given.
func (r *ring) where() (text string) {
	r.mu.Lock()
	r.used++
	r.slots[2].n = r.used
	r.spare[1].n++
	r.root.n += 2
	for i := range r.slots {
		if r.now == &r.slots[i] {
			r.slots[i].n += 10
			text += fmt.Sprint("slot ", i, " ")
		}
	}
	for i := range r.spare {
		if &r.spare[i] == r.now {
			r.spare[i].n += 10
			text += fmt.Sprint("spare ", i, " ")
		}
	}
	switch r.now {
	case &r.root:
		text += "root "
	case &r.slots[2]:
		text += "second slot "
	}
	if r.root.is(r.now) {
		text += "is root "
	}
	if r.now.is(&r.slots[2]) {
		text += "is second "
	}
	r.root.n++
	r.slots[1].n += r.root.n
	text += fmt.Sprint(r.slots[1].n, r.slots[2].n, r.spare[1].n, r.root.n)
	r.mu.Unlock()
	return text
}

func (r *ring) move(to *link) {
	r.mu.Lock()
	r.now = to
	r.used++
	r.mu.Unlock()
}

// A desk compares addresses, and does nothing else with them.
type desk struct {
	mu    sync.Mutex
	n     int    // guarded by mu
	marks [3]int // guarded by mu
}

func (d *desk) mark() int {
	before := &d.marks[2]
	d.mu.Lock()
	defer d.mu.Unlock()
	d.marks[1]++
	if before == &d.marks[2] {
		d.n += 10
	}
	return d.n + d.marks[1]
}

var (
	gmu    sync.Mutex
	home   link              // guarded by gmu
	owner  = &home           // guarded by gmu
	visits = map[*link]int{} // guarded by gmu
)

func visit() int {
	gmu.Lock()
	defer gmu.Unlock()
	home.n++
	visits[&home]++
	if owner == &home {
		home.n += 100
	}
	return home.n + visits[owner]
}

func captured() int {
	var mu sync.Mutex
	var here link
	at := &here
	add := func() {
		mu.Lock()
		here.n++
		if at == &here {
			here.n += 100
		}
		mu.Unlock()
	}
	add()
	add()
	return here.n
}

func main() {
	r := newRing()
	for i := range 5 {
		r.push(i)
	}
	fmt.Println(r.sum(), r.sum())
	for _, to := range []*link{&r.slots[2], &r.spare[1], &r.root, nil, &r.slots[0]} {
		r.move(to)
		fmt.Println(r.where())
	}
	fmt.Println(visit(), visit(), captured(), new(desk).mark())
}
