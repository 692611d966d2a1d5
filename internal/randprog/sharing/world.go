package sharing

import "strings"

// An extra is objects of the world that only some programs use, with what stands in worldText for
// them. A package has none that its programs do not use: it would be analysed and compiled with
// them all the same, in each way of protection, and that takes most of the time of a trial.
type extra struct {
	of     Palette // of programs that may use them: one of these
	text   string
	fields string // of world
	values string // of these fields
	start  string // statements that make a world
	shown  string // arguments that show it
}

var extras = []extra{
	{bags, bagText, "\tbag  *Bag\n", "\t\tbag: newBag(n),\n", "", "w.bag.show(), "},
	{linked | crowds, shelfText, "\tshelves [2]Shelf\n", "\t\tshelves: [2]Shelf{{found: map[int]*Item{}}, {found: map[int]*Item{}}},\n",
		"\tfor i := range 3 { w.shelves[i&1].put(&Item{key: i, n: n, label: \"i\"}) }\n", "w.shelves[0].show(), w.shelves[1].show(), "},
	{linked, listText, "", "", "\tnewList(n)\n", "shownKeys(), "},
	{within, caseText, "\tkase *Case\n", "\t\tkase: newCase(n),\n", "\twcase.core.reset(n)\n", "w.kase.show(), "},
}

// declarations returns what the programs of a palette use.
func (p Palette) declarations() string {
	var all extra
	for _, some := range extras {
		if p&some.of != 0 {
			all.text += some.text
			all.fields += some.fields
			all.values += some.values
			all.start += some.start
			all.shown += some.shown
		}
	}
	return strings.NewReplacer("{fields}", all.fields, "{values}", all.values, "{start}", all.start, "{shown}", all.shown).Replace(worldText) + all.text
}

// worldText are the declarations that all programs of [New] use: objects with locks
// in them, and functions that reach them in as many ways as there are.
const worldText = `
type S struct {
	a, b int
	ok   bool
}

func (s *S) add(n int)    { s.a += n }
func (s S) sum() int      { return s.a + s.b }
func (s *S) swap()        { s.a, s.b = s.b, s.a }
func (s *S) reset()       { *s = S{b: s.a} }
func (s *S) self() *S     { return s }
func (s *S) field() *int  { return &s.b }

type summer interface{ sum() int }
type adder interface{ add(int) }

type base struct {
	depth int
	marks [2]int
}

func (b *base) sink(n int) { b.depth += n }
func (b base) level() int  { return b.depth + b.marks[0] }

type E struct {
	n    int
	name string
	s    S
	next *E
}

func (e *E) bump(n int) int { e.n += n; return e.n }

type T struct {
	mu, other sync.Mutex
	rw        sync.RWMutex
	n         int         // guarded by mu
	name      string      // guarded by mu
	list      []int       // guarded by mu
	m         map[int]int // guarded by mu
	s         S           // guarded by mu
	array     [3]int      // guarded by mu
	bytes     [8]byte     // guarded by mu
	e         *E          // guarded by mu
	any       any         // guarded by mu
	in        chan int
	base                  // guarded by mu
	f func(int) int
	hits int // guarded by rw
	peak S   // guarded by rw
	rows []Row        // guarded by mu
	ents map[int]*Ent // guarded by mu
	last *Ent         // guarded by mu
	grid [2][2]int    // guarded by mu
}

type Row struct{ a, b int }

// An Ent is found under the lock of a T.
type Ent struct {
	n    int
	s    S
	note string
	next *Ent
}

// A Shard is an element, and has a lock.
type Shard struct {
	mu   sync.Mutex
	m    map[int]int // guarded by mu
	hits int         // guarded by mu
}

func (h *Shard) put(k, v int) { h.mu.Lock(); defer h.mu.Unlock(); h.m[k] += v; h.hits++ }
func (h *Shard) sum() (n int) { h.mu.Lock(); for _, v := range h.m { n += v }; h.mu.Unlock(); return n }

func (t *T) push(n int) int    { t.list = append(t.list, n); t.n++; return len(t.list) }
func (t *T) total() int        { return t.n + t.s.a + t.array[0] + t.depth }
func (t T) copied() int        { return t.n + t.s.b }
func (t *T) lock()             { t.mu.Lock() }
func (t *T) unlock()           { t.mu.Unlock() }
func (t *T) with(f func())     { t.mu.Lock(); f(); t.mu.Unlock() }
func (t *T) view() []byte      { return t.bytes[:] }
func (t *T) risky(n int) int   { t.n += n; t.array[n]++; return t.n }
func (t *T) locked(n int) int  { t.other.Lock(); defer t.other.Unlock(); t.n += n; return t.n }
func (t *T) each(yield func(int) bool) { for i := range t.array { t.n++; if !yield(i) { t.n += 5; return } } }
func (t *T) scale(n int)       { for i := range t.array { t.array[i] *= n } }

type Own struct {
	sync.Mutex
	n    int   // guarded by Mutex
	list []int // guarded by Mutex
	s    S     // guarded by Mutex
}

func (o *Own) bump() int { o.n++; return o.n }

type Box[V any] struct {
	mu  sync.Mutex
	v   V   // guarded by mu
	old []V // guarded by mu
}

func (b *Box[V]) set(v V)  { b.old = append(b.old, b.v); b.v = v }
func (b *Box[V]) get() V   { return b.v }
func (b *Box[V]) swap(v V) V { b.mu.Lock(); defer b.mu.Unlock(); b.set(v); return b.v }

func assign[V any](p *V, v V)            { *p = v }
func change[V any](p *V, f func(V) V)    { *p = f(*p) }
func last[V any](list []V) (v V)         { if len(list) > 0 { v = list[len(list)-1] }; return v }
func put[K comparable, V any](m map[K]V, k K, v V) { if m != nil { m[k] = v } }

func take(t *T, n int) int  { t.n -= n; t.array[index(n)]++; return t.n }
func both(a, b *T) int      { a.n++; b.n++; return a.n }
func point(p *int) int      { *p++; return *p }
func keep(p *int)           { kept = p }
func deep(t *T, n int) int  { if n > 0 { return deep(t, n-2) + t.push(n%5) }; return t.total() }
func double(s []int)        { for i := range s { s[i] *= 2 } }
func pair(t *T) (a, b int)  { t.n++; return t.n, t.s.a }
func index(n int) int       { return (n%3 + 3) % 3 }
func at(list []int, i int) int { if i < 0 || i >= len(list) { return 0 }; return list[i] }

var (
	global struct {
		mu sync.Mutex
		n  int    // guarded by mu
		s  S      // guarded by mu
		e  *E     // guarded by mu
		t  [3]int // guarded by mu
	}
	gmu   sync.Mutex
	gn    int    // guarded by gmu
	gs    S      // guarded by gmu
	garr  [3]int // guarded by gmu
	gname string // guarded by gmu
	kept  *int
	tell  = func(all ...int) (n int) { for _, v := range all { n = (n*3 + v) & 63 }; return n }
	spell = func(all ...any) int { return len(fmt.Sprint(all...)) & 63 }
	meddle = func(t *T, n int) int { t.n++; t.s.a -= n & 7; t.array[1]++; gn++; t.name = "m"; return n + t.n }
	hook  = func(t *T) int { t.n += 3; t.s.b--; if t.e != nil { t.e.n++ }; return t.n }
)

// A world is what a program is called with. In some of them two names are of one object.
type world struct {
	x, y *T
	e, f *E
	o    *Own
	box  *Box[int]
	ask  chan func()
	said chan bool
	shards [2]Shard
{fields}}

func (w *world) shard(n int) *Shard { return &w.shards[n&1] }
func (w *world) either(n int) *Shard { var h *Shard; if h == nil { h = w.shard(n) }; h.mu.Lock(); defer h.mu.Unlock(); h.hits += n & 3; h.m[n%3] += h.hits; n ^= h.hits; h.hits -= n & 1; return h }

func newWorld(round, n int) *world {
	e := &E{n: n, name: "e"}
	f := &E{n: 2 * n, name: "f", next: e}
	w := &world{
		e: e, f: f,
		x:   &T{n: n, m: map[int]int{1: 1}, e: e, list: []int{1, 2, 3}, in: make(chan int, 2), rows: []Row{{1, 2}}, ents: map[int]*Ent{0: {n: n}, 1: {note: "one"}}},
		y:   &T{n: 1, m: map[int]int{}, e: f, in: make(chan int, 2), ents: map[int]*Ent{}},
		o:   &Own{n: n, list: []int{4, 5}},
		box: &Box[int]{v: n},
		ask: make(chan func()), said: make(chan bool),
		shards: [2]Shard{{m: map[int]int{}}, {m: map[int]int{1: n}, hits: 1}},
{values}	}
	x := w.x
	x.f = func(d int) int { x.n += d; return x.n }
	e.next = f
	switch round {
	case 1:
		w.y, w.f = w.x, w.e
	case 2:
		e.next, w.x.m = nil, nil
	}
	global.n, global.s, global.e, global.t = n, S{a: 1}, f, [3]int{1, 2, 3}
	gn, gs, garr, gname, kept = n, S{b: 2}, [3]int{}, "g", new(int)
{start}	go func() {
		for f := range w.ask {
			f()
			w.said <- true
		}
	}()
	return w
}

// elsewhere runs a function on another goroutine, and waits for it.
func (w *world) elsewhere(f func()) { w.ask <- f; <-w.said }

func quoted(s string) string { return fmt.Sprintf("%q", s) }

// value is what an interface has, without addresses.
func value(v any) any {
	if p, ok := v.(*int); ok {
		return *p
	}
	return v
}

// found is what is in the elements of an object.
func (t *T) found() (all []int) {
	for i := range 3 {
		if k := t.ents[i]; k != nil { all = append(all, i, k.n, k.s.a, k.s.b, len(k.note)) }
	}
	for k, i := t.last, 0; k != nil && i < 5; k, i = k.next, i+1 { all = append(all, k.n, k.s.a) }
	return all
}

// free releases a lock that a program may have kept.
func free(mu *sync.Mutex) { mu.TryLock(); mu.Unlock() }

func idle(n int) { for range n { runtime.Gosched() } }

func (w *world) show() string {
	x, y, e, f := w.x, w.y, w.e, w.f
	return fmt.Sprint({shown}x.rows, x.found(), y.rows, y.found(), x.grid, w.shards[0].m, w.shards[0].hits, w.shards[1].m, w.shards[1].hits,
		x.n, quoted(x.name), x.list, x.m, x.s, x.array, x.bytes, value(x.any), x.base, len(x.in), x.hits, x.peak, y.hits, y.n, quoted(y.name), y.list, y.m, y.s, y.array, y.bytes, y.base,
		e.n, quoted(e.name), e.s, f.n, quoted(f.name), f.s, global.n, global.s, global.t, global.e == f, x.e == e, w.o.n, w.o.list, w.o.s, w.box.v, w.box.old,
		gn, gs, garr, quoted(gname), *kept, x.mu.TryLock(), x.other.TryLock(), x.rw.TryLock(), gmu.TryLock(), global.mu.TryLock(), w.o.TryLock(), w.box.mu.TryLock())
}

// end lets go of what the next world needs.
func (w *world) end() {
	for _, mu := range []*sync.Mutex{&gmu, &global.mu} {
		free(mu)
	}
	close(w.ask)
}

// try runs a part of a program, and tells how it ended.
func (w *world) try(f func(w *world, x, y *T, e, f *E, n int) int, n int) (text string) {
	defer func() {
		if r := recover(); r != nil {
			text = "panic: " + fmt.Sprint(r)
		}
	}()
	return fmt.Sprint(f(w, w.x, w.y, w.e, w.f, n))
}
`
