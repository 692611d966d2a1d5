package sharing

// listText is a list whose nodes have their lock elsewhere.
const listText = `
// A Link is a node of the list that lmu guards.
type Link struct {
	key  int
	next *Link
}

func (k *Link) length() (n int) { for ; k != nil; k = k.next { n++ }; return n }

func lookup(key int) *Link              { for k := lhead; k != nil; k = k.next { if k.key == key { return k } }; return lhead }
func linked(key int, k *Link) (*Link, int) { lcount++; return &Link{key, k}, k.length() }

var (
	lmu    sync.Mutex
	lhead  *Link           // guarded by lmu
	lmark  *Link           // guarded by lmu
	lkeys  map[int]*Link   // guarded by lmu
	lstep  func(int) int   // guarded by lmu
	lcount int             // guarded by lmu
)

func newList(n int) {
	lmu.Lock()
	lhead, lmark, lkeys, lstep, lcount = &Link{key: n, next: &Link{key: 1}}, nil, map[int]*Link{}, nil, n
	lmu.Unlock()
}

// keys are those of the list. It can be on pages as long as nothing uses it without its lock.
func keys() (all []int) { lmu.Lock(); defer lmu.Unlock(); for k := lhead; k != nil; k = k.next { all = append(all, k.key) }; return append(all, -1, len(lkeys), lcount, lmark.length()) }

func shownKeys() []int { free(&lmu); return keys() }
`

// links writes what changes the list that the lock lmu guards, or goes through it. The nodes are
// used in sections of that lock alone, so that their links can live on pages. Nothing makes a
// ring of them.
func (g *gen) links() {
	if !g.held["lmu"] {
		g.line("%s", g.of("{ k := &Link{key: n}; k.next = &Link{key: 2}; n += k.key }", "n += (&Link{key: n}).key"))
		return
	}
	k := g.name("k")
	g.line("%s", g.of(
		"lhead = &Link{key: "+g.value()+", next: lhead}",
		"lhead, n = linked(n, lhead)",
		"if lhead != nil { lhead = lhead.next }",
		"for "+k+" := lhead; "+k+" != nil; "+k+" = "+k+".next { n += "+k+".key }",
		"for "+k+" := lhead; "+k+" != nil; { "+k+".key++; "+k+" = "+k+".next }",
		"{ var r *Link; for lhead != nil { lhead, lhead.next, r = lhead.next, r, lhead }; lhead = r }",
		"if lhead != nil && lhead.next != nil { lhead, lhead.next, lhead.next.next = lhead.next, lhead.next.next, lhead }",
		"if "+k+" := lookup(n); "+k+" != nil { "+k+".next = &Link{key: 3, next: "+k+".next} }",
		"if "+k+" := lookup(n); "+k+" != nil && "+k+".next != nil { "+k+".next, "+k+".next.next, lmark = "+k+".next.next, nil, "+k+".next }",
		"lmark = lhead; n ^= lmark.length()",
		"if lmark != nil { lmark.key += 2; lmark = lmark.next }",
		"lkeys[n] = lhead; lcount += len(lkeys)",
		"if "+k+", ok := lkeys[n]; ok { lmark = "+k+"; delete(lkeys, n) }",
		"for _, "+k+" := range lkeys { n += "+k+".length() }",
		"switch lhead { case nil: lcount++; case lmark: lcount += 2; default: lcount += lhead.key }",
		"lstep = x.push",
		"lstep = func(d int) int { lcount += d; return lcount }",
		"if lstep != nil { n = lstep(n % 3) + lcount }",
		"lkeys, lcount = map[int]*Link{1: lhead}, len(lkeys)",
		"for "+k+" := &lhead; *"+k+" != nil; "+k+" = &(*"+k+").next { if (*"+k+").key > 3 { *"+k+" = (*"+k+").next; break } }",
		"if lhead != nil { "+k+" := *lhead; lhead = &"+k+" }",
		"func() { defer func() { lhead = &Link{key: lcount, next: lhead} }(); lcount++ }()",
	))
}

// elements writes what uses objects that are found in slices and maps under their lock, and
// objects that have locks and are elements themselves.
func (g *gen) elements() {
	k := g.name("k")
	g.line("%s", g.of(
		"x.rows = append(x.rows, Row{a: "+g.value()+"})",
		"if len(x.rows) > 0 { x.rows[0].a++; x.rows[len(x.rows)-1].b += x.n }",
		"for i := range x.rows { x.rows[i].b += x.n; x.n++ }",
		"for _, r := range x.rows { x.n += r.a; r.a = 0 }",
		"for i := range x.rows { r := &x.rows[i]; r.a, r.b = r.b, r.a; x.n += r.a }",
		"x.rows = append(x.rows[:0:0], x.rows...)",
		"n += sort.Search(len(x.rows), func(i int) bool { return x.rows[i].a > n })",
		"slices.SortFunc(x.rows, func(a, b Row) int { return a.a - b.a }); x.n += len(x.rows)",
		"sort.SliceStable(x.rows, func(i, j int) bool { x.n++; return x.rows[i].b < x.rows[j].b })",
		"if slices.ContainsFunc(x.rows, func(r Row) bool { x.s.a += r.a; return r.b > n }) { x.s.a++ }",
		"x.rows = slices.DeleteFunc(x.rows, func(r Row) bool { n += r.b; return r.a > 9 })",
		"x.n += slices.IndexFunc(x.list, func(v int) bool { n ^= v; return v > 2 }); x.array[1]++",
		"x.name = strings.Map(func(r rune) rune { gn++; return r }, x.name); x.n += len(x.name)",
		"if "+k+" := x.ents[n%3]; "+k+" != nil { "+k+".n++; "+k+".n += x.n; "+k+".s.a-- }",
		"if "+k+", ok := x.ents[1]; ok { "+k+".note += \"k\"; "+k+".n = len("+k+".note); x.n += "+k+".n }",
		"x.ents[n%3] = &Ent{n: "+g.value()+"}",
		"delete(x.ents, n%2)",
		"for _, "+k+" := range x.ents { "+k+".n++; x.n += "+k+".n }",
		"if x.ents[1] != nil && x.ents[2] != nil { x.ents[1], x.ents[2] = x.ents[2], x.ents[1] }", // a loop that panics at a nil entry does so in any order
		"if "+k+" := x.ents[1]; "+k+" != nil { "+k+".next, x.last = x.last, "+k+" }",
		"if x.last != nil { x.last.n++; x.last.s.swap(); x.last = x.last.next }",
		"if "+k+" := x.last; "+k+" != nil { "+k+".n++; if "+k+".next != nil { "+k+".next.n += "+k+".n }; "+k+".n++ }",
		"x.grid[n&1][1]++; x.grid[1][n&1] += x.n",
		"{ h := &w.shards[n&1]; h.mu.Lock(); h.m[n%3]++; h.hits += len(h.m); h.mu.Unlock() }",
		"{ h := &w.shards[0]; if n > 3 { h = w.shard(n) }; h.mu.Lock(); h.m[n%3]++; h.hits += len(h.m); h.mu.Unlock(); h = &w.shards[1]; n += h.sum() }",
		"for h, i := &w.shards[0], 0; i < 2; h, i = &w.shards[1], i+1 { h.mu.Lock(); h.hits++; h.m[i] += h.hits; n += h.m[0]; h.hits += n & 3; h.mu.Unlock() }",
		"n += w.either(n).sum()",
		"w.shard(n).put(n%3, 2)",
		"n += w.shard(n).sum()",
		"w.shards[1].mu.Lock(); w.shards[1].hits++; if w.shards[1].hits > 1 { w.shards[1].m[0]++ }; w.shards[1].mu.Unlock()",
	))
}
