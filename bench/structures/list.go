package structures

import "github.com/cofferdam-go/cofferdam/isolate"

// The list is singly linked and sorted by key.

type stockList struct {
	head *stockLink
}

type stockLink struct {
	key, value uint64
	next       *stockLink
}

// find returns the place that points to the first link that is not before key,
// and the link.
func (l *stockList) find(key uint64) (**stockLink, *stockLink) {
	at := &l.head
	for *at != nil && (*at).key < key {
		at = &(*at).next
	}
	return at, *at
}

func (l *stockList) Read(key uint64) (uint64, bool) {
	if _, n := l.find(key); n != nil && n.key == key {
		return n.value, true
	}
	return 0, false
}

func (l *stockList) Insert(key, value uint64) bool {
	at, n := l.find(key)
	if n != nil && n.key == key {
		n.value = value
		return false
	}
	*at = &stockLink{key, value, n}
	return true
}

func (l *stockList) Delete(key uint64) (uint64, bool) {
	at, n := l.find(key)
	if n == nil || n.key != key {
		return 0, false
	}
	*at = n.next
	return n.value, true
}

type listRoot struct {
	head isolate.Ref[link]
}

type link struct {
	key, value uint64
	next       isolate.Ref[link]
}

func (l *listRoot) find(key uint64) (*isolate.Ref[link], *link) {
	at := &l.head
	n := isolate.Follow(l, *at)
	for n != nil && n.key < key {
		at = &n.next
		n = isolate.Follow(n, *at)
	}
	return at, n
}

func (l *listRoot) read(key uint64) (uint64, bool) {
	if _, n := l.find(key); n != nil && n.key == key {
		return n.value, true
	}
	return 0, false
}

func (l *listRoot) insert(g isolate.Guard, key, value uint64) bool {
	at, n := l.find(key)
	if n != nil && n.key == key {
		n.value = value
		return false
	}
	added, ref := fresh[listRoot, link](g, l)
	*added = link{key, value, *at}
	*at = ref
	return true
}

func (l *listRoot) remove(g isolate.Guard, key uint64) (uint64, bool) {
	at, n := l.find(key)
	if n == nil || n.key != key {
		return 0, false
	}
	*at = n.next
	value := n.value
	isolate.Free(g, n)
	return value, true
}
