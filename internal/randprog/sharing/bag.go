package sharing

import "slices"

// bagText is an object whose lock guards slices, and arrays of more than numbers. Nothing copies the object, so that
// they can be isolated in it.
const bagText = `
type Bag struct {
	mu    sync.Mutex
	list  []int     // guarded by mu
	rows  []Row     // guarded by mu
	grid  [][]int   // guarded by mu
	names []string  // guarded by mu
	fixed [3]Row    // guarded by mu
	text  [2]string // guarded by mu
	n     int       // guarded by mu
	m     map[int]int      // guarded by mu
	tags  map[string]Row   // guarded by mu
	refs  map[int]*Row     // guarded by mu
	ptr   *int             // guarded by mu
}

var aliased []int
var aliasedMap map[int]int

func newBag(n int) *Bag {
	b := &Bag{list: []int{n, 1, 2, 3}, rows: make([]Row, 2), names: []string{"a", "b"}, n: n, m: map[int]int{1: n}, tags: map[string]Row{}, refs: map[int]*Row{1: {a: n}}, ptr: new(int)}
	for i := range 3 {
		b.grid = append(b.grid, []int{i, n, 2})
	}
	return b
}

func (b *Bag) push(v int) int   { b.list = append(b.list, v); b.n++; return len(b.list) }
func (b *Bag) bump() int        { b.n++; return b.n }
func (b *Bag) find(v int) int   { for i, w := range b.list { if w == v { return i } }; return -1 }
func (b *Bag) top() int         { if len(b.list) == 0 { return 0 }; return b.list[len(b.list)-1] }
func (b *Bag) pop() (v int)     { if old := b.list; len(old) > 0 { v = old[len(old)-1]; b.list = old[:len(old)-1] }; return v }
func (b *Bag) each(f func(int)) { for _, v := range b.list { f(v) } }
func (b *Bag) trim()            { if len(b.list) > 40 { b.list = b.list[:4] }; if len(b.rows) > 20 { b.rows = b.rows[:2] }; if len(b.grid) > 9 { b.grid = b.grid[:3] } }
func (b *Bag) counts() []int    { return []int{b.n, len(b.names)} }
func (b *Bag) locked(v int) int { b.mu.Lock(); defer b.mu.Unlock(); b.list = append(b.list, v); return b.find(v) }
func (r *Row) raise(n int)      { r.a += n; r.b++ }
func (r Row) sum() int          { return r.a + r.b }

func fresh(n int) []int     { return make([]int, 3, 4+n&3) }
func lent(n int) []int      { aliased = make([]int, 3, 5); aliased[0] = n; return aliased }
func more(s []int, v int) []int { return append(s, v) }
func total(s []int) (n int) { for _, v := range s { n += v }; return n }
func spread(s ...int) int   { if len(s) > 0 { s[0]++ }; return len(s) }
func names(s []string) int  { return len(s) }

func (b *Bag) show() string {
	free(&b.mu)
	b.mu.Lock() // else only the headers could be isolated
	defer b.mu.Unlock()
	text := fmt.Sprint(b.list, b.rows, b.grid, b.names, b.fixed, b.text, b.n, aliased, len(b.m), len(b.tags), len(b.refs), *b.ptr)
	for i := range 8 { // one by one, else the maps had other names
		v, ok := b.m[i-3]
		text += fmt.Sprint(" ", v, ok, b.tags[fmt.Sprint(i)])
		if r := b.refs[i]; r != nil { text += fmt.Sprint(*r) }
	}
	return text
}
`

// bagShares are what several goroutines may do to a bag side by side.
var bagShares = []string{"b.list = append(b.list, 7)", "b.push(7)", "b.rows[0].a += d", "b.rows[1].raise(d)", "b.grid[0][1] += d", "b.fixed[1].b += d", "b.text[0] += \"t\"", "if len(b.list) > 0 { b.n += b.list[0] &^ b.list[0] }",
	"b.names = append(b.names, \"n\")", "for i := range b.rows { b.rows[i].b++ }", "if r := &b.rows[0]; r.a > -1 { r.b++ }", "if b.find(7) < 0 { b.n++; b.n-- }", "if s := b.grid[2]; len(s) > 0 { s[0]++; b.grid[2] = s }"}

// bag writes what uses a bag, in a section or without its lock: no other goroutine runs.
func (g *gen) bag() {
	deferred := g.Chance(3)
	inSection := !g.held[bagLock.lock] && g.Chance(2)
	switch {
	case inSection && deferred:
		g.line("func() { %s; defer %s; b.trim()", bagLock.acquire, bagLock.release)
	case inSection:
		g.line("{ %s; b.trim()", bagLock.acquire)
	default:
		g.line("{ b.trim()")
	}
	g.deep++
	for range 1 + g.Pick(3) {
		g.line("%s", g.bagStatement(inSection || g.held[bagLock.lock]))
	}
	g.deep--
	switch {
	case inSection && deferred:
		g.line("}()")
	case inSection:
		g.line("%s }", bagLock.release)
	default:
		g.line("}")
	}
}

// bagSteps are what can be done to an element, or to a part, in one step.
var bagSteps = []string{
	"b.list = append(b.list, n)",
	"b.list = append(b.list, b.push(6))",
	"b.list = append(b.list, 2, b.top())",
	"b.list = append(b.list, b.counts()...)",
	"if len(b.list) > 1 { b.list[0]++; b.list[1] += n; b.list[len(b.list)-1] -= b.list[0] }",
	"if i := index(n); i < len(b.list) { b.list[i] = b.push(1) + b.list[0] }",
	"if len(b.list) > 0 { n += b.push(2) + b.list[0] }",
	"if len(b.list) > 0 { b.list[0] = b.push(3) }",
	"if len(b.list) > 2 { b.list[index(b.n)] += n }",
	"if len(b.list) > 2 { b.list[2] += b.bump() + b.list[1] }",
	"for i := range len(b.list) { n ^= b.list[i]; b.list[i] = n % 8 }",
	"for i := 0; i < len(b.list) && b.list[i] < 9; i++ { b.list[i] += 2 }",
	"b.rows = append(b.rows, Row{a: n})",
	"if len(b.rows) > 0 { b.rows[0].a += n; b.rows[0].b = b.rows[0].a * 2; b.rows[len(b.rows)-1].b-- }",
	"if len(b.rows) > 0 { n += b.rows[0].sum(); b.rows[0] = Row{b: n} }",
	"b.grid[1][index(n)] ^= n; n += b.grid[0][1]",
	"b.grid[0][b.grid[1][2]&1] = b.grid[2][0] - b.n",
	"b.fixed[index(n)].a += n; b.fixed[1].b++",
	"b.fixed[1] = Row{n, 2}; n -= b.fixed[index(n)].a",
	"b.fixed[index(b.n)].b = n; b.fixed[2].b = b.bump()",
	"b.text[n&1] += \"t\"; n += len(b.text[1])",
	"b.names[n&1] += fmt.Sprint(n); n += len(b.names[0])",
	"b.m[n%5]++",
	"b.m[index(n)] += n",
	"b.m[n%5] = b.bump()",
	"b.m[1] = b.m[2] + b.n",
	"if v, ok := b.m[n%4]; ok { n += v }",
	"delete(b.m, n%3); n += len(b.m)",
	"b.tags[fmt.Sprint(n&7)] = Row{a: n, b: b.tags[\"1\"].a}",
	"if r := b.refs[index(n)]; r != nil { n += r.a }",
	"b.list = nil",
	"if b.list == nil { b.list = []int{n, 2} }",
	"switch { case len(b.list) > 0 && b.list[0] > 3: n++; default: b.n-- }",
	"func() { defer func() { b.list = append(b.list, 4, 5) }(); b.n++ }()",
}

// bagLoops are more than one step, and need the lock.
func bagLoops(k string) []string {
	return []string{
		"for i, v := range b.list { b.list[i] = v + 1 }",
		"for _, r := range b.rows { n += r.a; r.a = 0 }",
		"for i := range b.rows { r := &b.rows[i]; r.a, r.b = r.b, r.a; n += r.sum() }",
		"if len(b.list) > 2 { b.list[1], n = n, b.list[0] }",
		"if len(b.list) > 0 { n += b.list[0] + b.push(2) }",
		"if len(b.list) > 2 { b.list[index(b.n)] += b.bump() }",
		"if len(b.rows) > 0 { b.rows[0].raise(n) }",
		"if len(b.rows) > 1 { b.rows[0], b.rows[1] = b.rows[1], b.rows[0] }",
		"b.grid[0], b.grid[1] = b.grid[1], b.grid[0]",
		"if len(b.grid[0]) < 9 { b.grid[0] = append(b.grid[0], n) }",
		"b.grid = append(b.grid, []int{n, 1, 2})",
		"for _, " + k + " := range b.grid { " + k + "[0]++; n += len(" + k + ") }",
		"for i, r := range b.fixed { n += r.a + i }",
		"b.fixed[0].raise(1); n += b.fixed[index(n)].a + b.bump()",
		"if " + k + " := b.list; len(" + k + ") > 0 { " + k + "[0]++; b.list = " + k + "[1:] }",
		"b.list = append([]int(nil), b.list...)",
		"if len(b.list) > 2 { b.list[0]++; b.list[1], b.list[0] = b.list[0], b.list[1]; b.list[2] = b.list[0] / (b.list[1] | 1); b.list[0] += b.list[index(n)] }",
		"for i := range b.list { b.list[i] += 2; if i > 0 { b.list[i] -= b.list[i-1] & 7 } }",
		"if len(b.list) > 2 { b.list[1] = b.top() + b.list[0]; b.list[1]++; b.grid[0][1] += b.list[1]; b.list[1] = total(b.list) }",
		"b.grid[1][2] = b.grid[0][1] + index(b.n); b.grid[1][2]--; b.grid[1], b.grid[2] = b.grid[2], b.grid[1]; b.grid[1][0]++",
		"if len(b.rows) > 1 { b.rows[0].a++; b.rows[1].a, b.rows[0].a = b.rows[0].a, b.rows[1].a; b.rows[1].raise(2); b.rows[1].a *= 2; b.rows[0] = b.rows[1] }",
		"b.names[0] += \"n\"; b.names[1] = b.names[0]; if len(b.names[1]) > 20 { b.names[0], b.names[1] = \"\", b.names[0][:2] }",
		"b.m[1]++; b.m[1] += b.m[2]; delete(b.m, 2); n += len(b.m); b.m[2] += 3",
		"for " + k + " := range b.m { b.m[" + k + "] += 2; b.m[" + k + "] ^= 1; if " + k + " > 3 { delete(b.m, " + k + ") } }",
		"b.m[0], b.m[1] = b.m[1], b.m[0]; b.m[0]--",
		"b.m = map[int]int{1: n, 2: b.m[1]}; b.m[2]++; b.m[1] += b.m[2]",
		"b.m[3] = 1; clear(b.m); b.m[3] += b.m[1]; n += b.m[3]",
		"b.m[2] = b.push(2) + b.m[1]; b.m[2] = index(b.m[2])",
		"if " + k + ", ok := b.tags[\"1\"]; !ok { b.tags[\"1\"] = Row{b: n}; n += b.tags[\"1\"].b } else { " + k + ".a++; b.tags[\"1\"] = " + k + " }",
		"b.refs[2] = b.refs[1]; if " + k + " := b.refs[2]; " + k + " != nil { " + k + ".a++; b.refs[1].a += 2; n += b.refs[1].a + " + k + ".a; " + k + ".raise(1); b.refs[1].b-- }",
		"*b.ptr += n; *b.ptr ^= 3; b.n += *b.ptr",
		"b.list = more(b.list, n)",
		"b.list = fresh(n); b.list[1] = n",
		"n += total(b.list)",
		"n += b.find(n) + b.top() + b.pop()",
		"b.each(func(v int) { n += v; b.n++ })",
		"sort.Slice(b.list, func(i, j int) bool { return b.list[i] < b.list[j] })",
		"b.list = slices.Insert(slices.Clone(b.list), 0, n)",
		"slices.Reverse(b.list)",
		"b.names = strings.Fields(\"a b c\"); b.names[1] += \"x\"",
		"n += names(b.names); b.names[n&1] = fmt.Sprint(b.list, n)",
		"copy(b.list, b.grid[1]); clear(b.grid[2])",
		"if b.list == nil { b.list = make([]int, 2); b.list[1]-- }",
	}
}

// bagNamed make other names for the slices, or use them.
func bagNamed(k string) []string {
	return []string{
		"aliased = b.list; if len(aliased) > 0 { aliased[0]++ }",
		"n += spread(b.list...)",
		"aliasedMap = b.m; aliasedMap[1]++; b.m[1] += 2; b.m[1] += aliasedMap[1]",
		"if len(b.list) > 1 { alias := &b.list[1]; *alias++; b.list[1] += 2; *alias += b.list[1]; b.list[1]++ }",
		"if len(b.list) > 2 { alias := b.list[1:]; b.list[1]++; alias[0] += 2; b.list[1] *= 2; n += alias[0] }",
		"if len(b.list) > 2 { b.grid[2] = b.list[:2]; b.list[1]++; b.grid[2][1] += 3; b.list[1] += b.grid[2][0] } // alias",
		"if len(b.list) > 0 { alias := b.ptr; b.ptr = &b.list[0]; *b.ptr++; b.list[0] += 2; *b.ptr *= 2; b.list[0]--; b.ptr = alias }",
		"{ alias := &b.m; (*alias)[1]++; b.m[1] += 2; (*alias)[2] = b.m[1] }",
		"b.list = lent(n); b.list[2]++; n += aliased[2]",
		k + " := &b.rows; if len(*" + k + ") > 0 { (*" + k + ")[0].a++ }",
		"if len(aliased) > 1 { aliased[1] += b.top(); b.n += aliased[1] }",
		"func() { " + k + " := b.list; func() { if len(" + k + ") > 0 { " + k + "[0] ^= 5 } }() }() // alias",
	}
}

// bagStatement returns a statement that may stand in a section of the bag's lock, or outside. One outside that is more than
// one step, or makes a name, leaves only the headers to be isolated in all programs of the package.
func (g *gen) bagStatement(inSection bool) string {
	k := g.name("k")
	list := bagSteps
	if !inSection {
		list = slices.Concat(list, []string{"n += b.locked(n%5)"})
	}
	if inSection || g.has(bagNames) {
		list = slices.Concat(list, bagLoops(k))
	}
	if g.has(bagNames) {
		list = slices.Concat(list, bagNamed(k))
	}
	if g.has(panics) && (g.deferred || len(g.held) == 0 && !inSection) {
		list = slices.Concat(list, []string{"n += b.list[n]", "b.list[n+2]++", "b.list[4] = b.push(4)", "b.rows[n].a -= 3", "b.fixed[n].a++", "n += b.push(5) + b.list[n*2]", "b.grid[n][n] = n",
			"b.list[0]++; b.list[0]++; b.list[n*3] = b.list[0] / (n - n)", "b.m[1]++; b.m[1]++; b.m[2] = b.list[n*4]", "b.list[0]--; b.list[n*3], b.list[n*4] = b.list[n*4], b.list[n*3]"})
	}
	return g.of(list...)
}
