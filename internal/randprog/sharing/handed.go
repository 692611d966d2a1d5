package sharing

// handed writes a statement that loads what locks guard, and hands it to code that is not known, which may change the same
// memory.
//
//	n = tell(x.n, x.s.a)
//	x.n = meddle(x, x.n)
//	return tell(tell(x.n), gn)
func (g *gen) handed() {
	load := func() string {
		return g.of("x.n", "x.s.b", "x.s.a", "x.array[2]", "x.array[index(n)]", "x.depth", "gn", "garr[1]", "gs.b", "global.n", "global.t[1]", "w.o.n", "w.o.s.a", "x.hits", "x.peak.a", "w.box.v", "len(x.list)", "len(x.name)", "len(x.m)", "x.push(1)", "y.n", "e.n")
	}
	whole := func() string {
		return g.of("x.n", "x.s", "x.array", "x.name", "gs", "garr", "global.t", "w.o.s", "x.list == nil", "x.e == nil", "gname", "x.bytes", "x.peak", "len(x.list)")
	}
	switch g.Pick(9) {
	case 0:
		g.line("n = tell(%s, %s)", load(), load())
	case 1:
		g.line("n += tell(%s) + %s", load(), load())
	case 2:
		g.line("%s = tell(%s, %s)", g.place(), load(), g.value())
	case 3:
		g.line("n = meddle(%s, %s)", g.of("x", "x", "y"), load())
	case 4:
		g.line("tell(tell(%s), %s)", load(), load())
	case 5:
		g.line("n = spell(%s, %s)", whole(), whole())
	case 6:
		g.local("spell(" + whole() + ", len(fmt.Sprint(" + load() + ")))")
	case 7:
		g.line("%s", g.of("x.n = meddle(x, x.n)", "x.array[index(n)] = tell(x.array[1], x.n)", "x.n, n = tell(x.s.a), x.n", "x.s.a += meddle(x, x.s.a)", "x.any = spell(x.s)", "gn = tell(gn, x.n)", "x.name = x.name[:min(2, len(x.name))] + gname[:tell(gn)&1]"))
	case 8:
		if g.deferred {
			g.line("if n > 2 { return tell(%s, %s) }", load(), load())
			return
		}
		g.line("if tell(%s) > 20 {", load())
		g.scoped(g.body)
		g.line("}")
	}
}
