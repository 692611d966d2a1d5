package sharing

// shelfText are the declarations of objects whose lock is in another object, which changes: an item is on one shelf at a time, or on
// none, and then it belongs to the goroutine that has it.
const shelfText = `
type Item struct {
	key, n     int
	label      string
	at         S
	box        any
	next, prev *Item
	kids       []*Item
}

func (i *Item) bump(d int) int { i.n += d; i.at.a++; return i.n }

type Shelf struct {
	mu    sync.RWMutex
	first *Item         // guarded by mu
	found map[int]*Item // guarded by mu
	count int           // guarded by mu
}

func (h *Shelf) link(i *Item) { i.prev, i.next = nil, h.first; if h.first != nil { h.first.prev = i }; h.first = i; h.count++; h.found[i.key] = i }
func (h *Shelf) unlink(i *Item) {
	if i.prev != nil { i.prev.next = i.next } else { h.first = i.next }
	if i.next != nil { i.next.prev = i.prev }
	i.next, i.prev = nil, nil
	h.count--
	if h.found[i.key] == i { delete(h.found, i.key) }
}
func (h *Shelf) put(i *Item)  { h.mu.Lock(); defer h.mu.Unlock(); i.n++; h.link(i); i.label += "p" }
func (h *Shelf) pop() *Item   { h.mu.Lock(); defer h.mu.Unlock(); i := h.first; if i != nil { h.unlink(i); i.n-- }; return i }
func (h *Shelf) sum() (n int) { h.mu.RLock(); defer h.mu.RUnlock(); for i := h.first; i != nil; i = i.next { n += i.n + i.at.a + len(i.label) }; return n }
func (h *Shelf) tally(d int)  { h.mu.Lock(); for i := h.first; i != nil; i = i.next { i.n += d; runtime.Gosched(); i.n++ }; h.count++; h.mu.Unlock() }
func (h *Shelf) each(f func(*Item)) { h.mu.Lock(); defer h.mu.Unlock(); for i := h.first; i != nil; { next := i.next; i.n++; f(i); i = next } }
func (h *Shelf) move(to *Shelf) {
	h.mu.Lock()
	if i := h.first; i != nil {
		h.unlink(i)
		i.n += 2
		to.mu.Lock()
		to.link(i)
		i.label += "m"
		to.mu.Unlock()
		h.count += 10
	}
	h.mu.Unlock()
}
func (h *Shelf) show() (all []any) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	for i := h.first; i != nil; i = i.next { all = append(all, i.key, i.n, i.label, i.at, i.box); for _, k := range i.kids { all = append(all, k.key, k.n) } }
	return append(all, h.count, len(h.found))
}
`

// shelves writes what uses items, on shelves and elsewhere. No lock of a shelf is held before or after.
func (g *gen) shelves() {
	i := g.name("i")
	g.line("%s", g.of(
		"w.shelves[n&1].put(&Item{key: n % 4, n: n})",
		"if "+i+" := w.shelves[0].pop(); "+i+" != nil { "+i+".n += n; "+i+".label += \"q\"; "+i+".at.b = "+i+".n; w.shelves[1].put("+i+") }",
		"{ h := &w.shelves[n&1]; h.mu.Lock(); for i := h.first; i != nil; i = i.next { i.n++; i.at.a += i.n; n += i.at.a }; h.mu.Unlock() }",
		"{ h := &w.shelves[0]; h.mu.RLock(); if i := h.found[n%4]; i != nil { n += i.n + len(i.label); n -= i.at.b }; h.mu.RUnlock() }",
		"w.shelves[0].move(&w.shelves[1])",
		"w.shelves[1].tally(n)",
		"n += w.shelves[1].sum()",
		"if "+i+" := w.shelves[1].pop(); "+i+" != nil { w.elsewhere(func() { "+i+".n++; w.shelves[0].put("+i+") }) }",
		"{ h := &w.shelves[0]; h.mu.Lock(); if i := h.first; i != nil { i.n++; w.elsewhere(func() { i.n += 2; i.label += \"e\" }); n += i.n }; h.mu.Unlock() }",
		"w.shelves[n&1].each(func(i *Item) { i.bump(2); i.kids = append(i.kids, &Item{key: i.n}) })",
		"w.shelves[n&1].each(func(i *Item) { w.elsewhere(func() { i.label += \"f\" }); n += i.n })",
		"{ h := &w.shelves[1]; h.mu.Lock(); for i := h.first; i != nil; i = i.next { for _, k := range i.kids { k.n += i.n; i.n++ } }; h.mu.Unlock() }",
		"{ h := &w.shelves[1]; h.mu.Lock(); if i := h.first; i != nil && i.next != nil { i.n, i.next.n = i.next.n, i.n; i.label, i.next.label = i.next.label, i.label }; h.mu.Unlock() }",
		"{ h := &w.shelves[0]; h.mu.Lock(); i := h.first; if i != nil { h.unlink(i) }; h.mu.Unlock(); if i != nil { i.bump(n); i.box = i.n; h.put(i) } }",
		"{ h := &w.shelves[0]; h.mu.Lock(); if i := h.first; i != nil { i.box = n; if b, ok := i.box.(int); ok { i.n += b } }; h.mu.Unlock() }",
		"{ h := &w.shelves[1]; h.mu.Lock(); i := h.found[n%4]; if i != nil { i.n = i.bump(1) + i.n; i.key = i.key }; h.mu.Unlock(); if i == nil { h.put(&Item{key: n % 4}) } }",
		"func() { h := &w.shelves[0]; h.mu.Lock(); defer h.mu.Unlock(); defer func() { if h.first != nil { h.first.n++ } }(); if h.first != nil { h.first.label += \"d\"; n ^= h.first.n } }()",
	))
}

// linksOrShelves writes what uses one of the two kinds of nodes.
func (g *gen) linksOrShelves() {
	if g.Chance(3) {
		g.links()
	} else {
		g.shelves()
	}
}
