package sharing

// shadows writes what has a name mean something else for a while, or a statement do more than one
// thing at a time.
func (g *gen) shadows() {
	k := g.name("k")
	g.line("%s", g.of(
		"{ x := w.x; x.n += 2; x.s.a-- }",
		"func(x *S) { x.a++; x.b += n }(&x.s)",
		"for x := range 3 { n += x; gn ^= x }",
		"if x := x.n; x > 2 { gn += x } else { gs.a -= x }",
		"switch x := x.any.(type) { case nil: n++; default: _ = x; n += 2 }",
		"{ gn := gn + 1; gn += x.n; x.array[0] = gn }",
		"{ var b [len(x.array)]int; b[0] = x.n; x.array[2] = b[0] + len(b) }",
		"if x := y; x != nil { x.n++; x.array[1] += n }",
		"for _, x := range []*T{y, w.x} { x.n++; x.sink(1) }",
		"x, y = y, x; x.n++; x.s.b += 2; x, y = y, x",
		"{ x, y := y, x; x.n++; y.s.a += x.n }",
		"if y.other.TryLock() { y.n++; y.other.Unlock() }",
		"for v := range x.each { x.n += v; if n++; n > 30 { break } }",
		"for v := range x.each { if v == 2 { continue }; x.s.b += v }",
		"var "+k+" sync.Once; for range 2 { "+k+".Do(func() { x.n += 5 }) }",
		"x.s.a = func() (r int) { defer func() { r += x.n }(); x.n++; return x.n }()",
		k+" := func() int { x.s.b++; return x.s.b }; x.n, x.s.a = "+k+"(), x.n+"+k+"()",
		"x.array[index(x.n)], x.n = x.n, x.array[index(x.n)]+1",
		"x.n, x.s.a, gn = x.s.a, gn, x.n",
	))
}
