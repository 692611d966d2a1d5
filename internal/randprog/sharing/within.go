package sharing

import "strings"

// caseText are the declarations of objects that have their lock and are within other objects, by value. Functions have such an object
// by its own name and by that of what it is in; no pointer to it is ever kept.
const caseText = `
type Core struct {
	mu   sync.Mutex
	n    int         // guarded by mu
	list []int       // guarded by mu
	m    map[int]int // guarded by mu
	s    S           // guarded by mu
	note string      // guarded by mu
}

type Case struct {
	core  Core
	cores [2]Core
	more  []Core
	label string
}

var wcase Case

func newCase(n int) *Case { return &Case{core: Core{n: n, m: map[int]int{}}, cores: [2]Core{{n: 1}, {n: n}}, more: make([]Core, 2)} }

func (k *Core) among(d int) int {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.n += d
	wcase.core.n ^= 3
	k.list = append(k.list, wcase.core.n&7)
	wcase.core.list = append(wcase.core.list, k.n&3)
	k.note += "k"
	wcase.core.note += "w"
	k.list = append(k.list, len(wcase.core.note))
	return k.n + len(k.list)
}

func (k *Core) lent(c *Case, p *int, list *[]int) int {
	k.mu.Lock()
	k.n++
	*p ^= 5
	k.n += 2
	k.list = append(k.list, *p&7)
	*list = append(*list, k.n&3)
	k.list = append(k.list, c.core.n&7)
	c.mark(*p & 3)
	k.note += "l"
	k.mu.Unlock()
	return len(*list)
}

func (k *Core) reset(n int)     { k.mu.Lock(); defer k.mu.Unlock(); k.n, k.list, k.s, k.note = n, nil, S{}, "" }
func (k *Core) grow(d int)      { k.list = append(k.list, d); k.n ^= d }
func (c *Case) mark(d int)      { c.core.note += "m"; c.core.s.a ^= d; c.cores[1].n += d }
func advance(p **Core, to *Core) { (*p).mu.Unlock(); *p = to; to.mu.Lock() }
func step(i *int) int           { *i++; return *i }
func (k *Core) show() string    { k.mu.Lock(); defer k.mu.Unlock(); return fmt.Sprint(k.n, k.list, len(k.m), k.m[1], k.s, k.note) }
func (c *Case) show() string {
	text := c.core.show() + wcase.core.show() + c.label
	for i := range c.cores { text += c.cores[i].show() + c.more[i].show() }
	return text
}
`

// within writes a section of an object that is within another, with both names for it. No lock of one is held before or after.
func (g *gen) within() {
	k, c := g.name("k"), g.name("c")
	home := g.of("core", "core", "cores[1]", "cores[j]", "more[0]", "more[j]")
	g.line("{")
	g.deep++
	g.line("%s := w.kase", c)
	g.line("_ = %s", c)
	switch g.Pick(5) {
	case 0:
		g.line("n = wcase.core.among(n)")
	case 1:
		core := g.of("core", "core", "cores[1]")
		g.line("n = %s.%s.lent(%s, &%s.%s.%s, &%s.%s.list)", c, core, c, c, core, g.of("n", "s.a", "s.b"), c, core)
	default:
		at := c + "." + home
		if strings.HasSuffix(home, "[j]") {
			g.line("j := n & 1")
		}
		g.line("%s := &%s", k, at)
		g.line("_ = %s", k)
		g.line("%s.mu.Lock()", g.of(k, at))
		for range 2 + g.Pick(5) {
			o, p := g.of(k, at), g.of(at, k)
			g.line("%s", g.of(o+".n++", o+".n ^= "+p+".n + 1", o+".list = append("+p+".list, n&3)", "for i := range "+o+".list { "+p+".list[i] ^= 1; "+o+".list[i]++ }",
				o+".s.add(2)", o+".s = S{a: "+p+".s.b, b: "+p+".s.a}", o+".note += "+p+".note[:min(3, len("+p+".note))] + \"n\"", o+".grow(n & 7)", c+".mark(2)", "n ^= "+o+".n",
				"if "+o+".m == nil { "+p+".m = map[int]int{} }; "+o+".m[1]++; "+p+".m[1] *= 2", "for i := 0; i < len("+o+".list)-1; i++ { "+o+".list[i]++; step(&i); "+p+".list[i] += 2 }"))
		}
		if g.Chance(4) {
			g.line("advance(&%s, &%s.%s)", k, c, g.of("core", "more[1]"))
			g.line("%s.n++; %s.list = append(%s.list, 1); %s.n ^= %s.core.n", k, k, k, k, c)
			g.line("%s.mu.Unlock()", k)
		} else {
			g.line("%s.mu.Unlock()", g.of(at, k))
		}
	}
	g.deep--
	g.line("}")
}
