package txprog

// block makes the statements of a block.
func (g *generator) block() {
	locals, readable := len(g.locals), len(g.readable)
	for range 1 + g.random.IntN(4) {
		if g.size <= 0 {
			break
		}
		g.size--
		g.statement()
		if g.random.IntN(4) == 0 {
			g.line("others()")
		}
	}
	g.locals, g.readable = g.locals[:locals], g.readable[:readable]
}

// nested makes a block in braces, after what opens it.
func (g *generator) nested(format string, args ...any) {
	g.line(format+" {", args...)
	g.indent++
	g.loops++
	g.block()
	g.loops--
	g.indent--
}

// use keeps the compiler from complaining about a variable.
func (g *generator) declare(name string) {
	g.line("_ = %s", name)
	g.locals = append(g.locals, name)
}

func (g *generator) statement() {
	statements := []func(){
		g.idiom, g.idiom, g.idiom, g.idiom, g.idiom, g.idiom, g.idiom, g.assignment, g.assignment, g.assignment, g.update, g.update, g.swap, g.appending, g.slicing, g.mapping, g.linking, g.linking,
		g.recording, g.recording, g.tallying, g.making, g.making, g.words, g.pointing, g.looping, g.ranging, g.branching, g.switching, g.closing, g.deferring, g.defining, g.copying, g.shaping,
		g.nesting, g.calling, g.converting, g.iterating, g.labelled, g.jumping, g.typing,
	}
	if g.loops > 2 {
		statements = statements[7:25]
	}
	statements[g.random.IntN(len(statements))]()
}

func (g *generator) assignment() {
	switch g.random.IntN(6) {
	case 0:
		g.line("s.flag = %s", g.condition())
	case 1:
		g.line("s.small = int8(%s)", g.number())
	case 2:
		g.line("s.ratio = float64(small(%s)) / 4", g.number())
	default:
		g.line("%s = small(%s)", g.place(), g.number())
	}
}

func (g *generator) update() {
	switch g.random.IntN(7) {
	case 0:
		g.line("s.small++")
	case 1:
		g.line("s.ratio -= 0.5")
	case 2:
		g.line("%s %s", g.place(), g.pick("++", "--"))
	case 3:
		g.line("s.text += %q", g.pick("a", "bc"))
		g.line("if len(s.text) > 20 { s.text = s.text[15:] }")
	case 4:
		g.line("%s %s small(%s) & 7", g.place(), g.pick("|=", "^=", "&^="), g.atom())
	default:
		g.line("%s %s small(%s)", g.place(), g.pick("+=", "-="), g.number())
	}
}

func (g *generator) swap() {
	switch g.random.IntN(4) {
	case 0:
		g.line("s.m[1], s.m[small(%s)%%4] = s.m[2], s.n", g.atom())
	case 1:
		g.line("s.points[0], s.points[at(%s, len(s.points))] = s.points[at(%s, len(s.points))], s.points[0]", g.atom(), g.atom())
	case 2:
		g.line("s.grid[0], s.grid[2] = s.grid[1], s.grid[0]")
	default:
		g.line("%s, %s = small(%s), small(%s)", g.place(), g.place(), g.number(), g.number())
	}
}

func (g *generator) appending() {
	switch g.random.IntN(5) {
	case 0:
		g.line("s.xs = append(s.xs, %s, small(%s))", g.atom(), g.number())
	case 1:
		g.line("s.points = append(s.points, point{x: small(%s), y: %d})", g.number(), g.random.IntN(9))
	case 2:
		g.line("s.bytes = append(s.bytes, %q...)", g.pick("q", "rs"))
		g.line("if len(s.bytes) > 30 { s.bytes = s.bytes[25:] }")
	case 3:
		g.line("s.xs = append(s.xs[:len(s.xs)/2], s.xs[len(s.xs)/3:]...)")
	default:
		g.line("s.queue.push(small(%s))", g.number())
	}
	g.line("if len(s.xs) > 20 { s.xs = s.xs[10:] }")
	g.line("if len(s.points) > 9 { s.points = s.points[:2] }")
}

func (g *generator) slicing() {
	g.line("if i := at(%s, len(s.xs)); i >= 0 {", g.atom())
	g.line("\ts.xs[i] %s small(%s)", g.pick("=", "+=", "-="), g.number())
	if g.random.IntN(2) == 0 {
		g.line("\ts.points[at(i, len(s.points))].y = s.xs[len(s.xs)-1]")
	}
	g.line("}")
}

func (g *generator) mapping() {
	switch g.random.IntN(6) {
	case 0:
		g.line("delete(s.m, small(%s)%%6)", g.atom())
	case 1:
		v := g.fresh("v")
		g.line("if %s, ok := s.m[small(%s)%%6]; ok { s.n = small(s.n + %s) } else { s.m[%d] = 1 }", v, g.atom(), v, g.random.IntN(6))
	case 2:
		g.line("s.words[%q] = point{small(%s), s.words[%q].y + 1}", g.pick("a", "b", "c"), g.number(), g.pick("a", "b"))
	case 3:
		v := g.fresh("v")
		g.line("for k, %s := range s.m { s.n = small(s.n + k*%s) }", v, v)
	case 4:
		g.line("if len(s.m) > 4 { clear(s.m) }")
	default:
		g.line("s.m[small(%s)%%6] %s %s", g.atom(), g.pick("=", "+=", "-="), g.atom())
	}
}

func (g *generator) linking() {
	p := g.fresh("p")
	switch g.random.IntN(4) {
	case 0:
		g.line("s.head = &node{small(%s), s.head}", g.number())
	case 1:
		g.line("if s.head != nil && s.head.next != nil { s.head = s.head.next }")
	case 2:
		g.line("for %s := s.head; %s != nil; %s = %s.next { %s.val = small(%s.val + %s) }", p, p, p, p, p, p, g.atom())
	default:
		g.line("if s.head != nil { s.head.val, s.n = s.n, s.head.val }")
	}
}

// recording uses fields that only literals set.
func (g *generator) recording() {
	r := g.fresh("r")
	switch g.random.IntN(5) {
	case 0:
		g.line("s.records = append(s.records, &record{id: small(%s), name: strings.Repeat(\"n\", at(%s, 5)), weight: %s})", g.number(), g.atom(), g.atom())
		g.line("if len(s.records) > 6 { s.records = s.records[3:] }")
	case 1:
		g.line("for _, %s := range s.records { if %s.id > %s { s.n = small(s.n + len(%s.name) + %s.tags[1]) }; %s.weight++ }", r, r, g.atom(), r, r, r)
	case 2:
		g.line("%s := s.records[0]; s.records[len(s.records)-1] = &record{small(%s.id + 1), %s.name, [2]int{%s.tags[1], %s}, %s.weight}", r, r, r, r, g.atom(), r)
	case 3:
		g.line("if s.records[0].heavier(s.records[len(s.records)-1]) { s.records[0].weight = small(%s) }", g.number())
	default:
		g.line("%s := *s.records[0]; %s.weight = small(%s.id + letters(%s.name)); s.n = %s.weight", r, r, r, r, r)
	}
}

// tallying calls functions that touch nothing but what they are given, with memory that is
// shared, and with memory that is not.
func (g *generator) tallying() {
	t := g.fresh("t")
	switch g.random.IntN(4) {
	case 0:
		g.line("var %s tally; for _, v := range s.xs { %s.add(v) }; s.n = small(%s.least + %s.n)", t, t, t, t)
	case 1:
		g.line("s.kept.add(small(%s))", g.number())
	case 2:
		g.line("%s := s.kept; %s.add(%s); if %s { s.kept = %s }", t, t, g.atom(), g.condition(), t)
	default:
		g.line("%s := tally{}; %s.add(letters(s.text)); %s.merge(s.kept); s.kept.merge(%s)", t, t, t, t)
	}
}

// making makes something, and gives it away after it was filled, or before.
func (g *generator) making() {
	v := g.fresh("v")
	switch g.random.IntN(6) {
	case 0:
		g.line("%s := &node{}; %s.val = small(%s); %s.next = s.head; s.head = %s", v, v, g.number(), v, v)
	case 1:
		g.line("%s := &node{next: s.head}; s.head = %s; %s.val = small(%s); s.n = small(s.n + s.head.val)", v, v, v, g.number())
	case 2:
		g.line("%s := make([]int, 0, 4); %s = append(%s, %s, small(%s)); %s[0]++; %s = append(%s, s.xs...); s.xs = %s", v, v, v, g.atom(), g.number(), v, v, v, v)
		g.line("if len(s.xs) > 20 { s.xs = s.xs[10:] }")
	case 3:
		g.line("%s := []point{{%s, 1}, {2, 3}}; for i := range %s { s.points = %s; %s[i].x = small(s.points[1].x + %s) }", v, g.atom(), v, v, v, g.atom())
	case 4:
		g.line("%s := new(record); %s.weight, %s.tags[0] = small(%s), 2; if %s { s.records[0] = %s }", v, v, v, g.number(), g.condition(), v)
	default:
		g.line("var %s []int; for i := range 3 { %s = append(%s, small(i + %s)) }; copy(%s, s.xs); s.n = small(s.n + %s[2])", v, v, v, g.atom(), v, v)
	}
}

func (g *generator) words() {
	if g.random.IntN(2) == 0 {
		b := g.fresh("b")
		g.line("var %s strings.Builder; for _, v := range s.xs { fmt.Fprintf(&%s, \"%%d,\", v) }; %s.WriteString(s.text); %s.WriteByte('x')", b, b, b, b)
		g.line("s.text = %s.String()[:at(%s, %s.Len()-1)+1]; if len(s.text) > 20 { s.text = s.text[15:] }", b, g.atom(), b)
		return
	}
	g.line("switch { case strings.HasPrefix(s.text, \"g\"): s.text = s.text[1:] + \"x\"; case len(s.text) == 0: s.text = \"new\"; default: s.text = \"g\" + s.text }")
}

func (g *generator) pointing() {
	p, v := g.fresh("p"), g.fresh("v")
	switch g.random.IntN(4) {
	case 0:
		g.line("%s := small(%s)", v, g.number())
		g.line("%s := &%s", p, v)
		g.line("*%s += %s; s.n = small(%s)", p, g.atom(), v)
		g.readable = append(g.readable, v, "*"+p)
	case 1:
		g.line("%s := &s.points[at(%s, len(s.points))]", p, g.atom())
		g.line("%s.x, %s.y = small(%s), %s.x", p, p, g.number(), p)
	case 2:
		g.line("%s := *s.deep; %s.level++; *s.deep = %s", v, v, v)
	default:
		g.line("%s := s.grid; %s[1][1] = %s; s.grid = %s", v, v, g.atom(), v)
	}
}

func (g *generator) looping() {
	i := g.fresh("i")
	g.readable = append(g.readable, i)
	g.nested("for %s := 0; %s < %d; %s++", i, i, 1+g.random.IntN(4), i)
	if g.random.IntN(3) == 0 {
		g.line("\tif %s > %s { %s }", i, g.atom(), g.pick("break", "continue"))
	}
	g.line("}")
	g.readable = g.readable[:len(g.readable)-1]
}

func (g *generator) ranging() {
	i, v := g.fresh("i"), g.fresh("v")
	switch g.random.IntN(5) {
	case 0:
		g.line("for %s, %s := range s.xs { s.xs[%s] = small(%s + %s) }", i, v, i, v, g.atom())
	case 1:
		g.line("for _, %s := range s.points { s.n = small(s.n + %s.x*2 + %s.y) }", v, v, v)
	case 2:
		g.line("for %s := range %d { s.grid[0][%s] += %s }", i, 1+g.random.IntN(4), i, i)
	case 3:
		g.line("for %s, %s := range s.grid { s.grid[2][%s] = small(%s[0]) }", i, v, i, v)
	default:
		g.line("for %s := range s.text { s.n = small(s.n + %s) }", i, i)
	}
}

func (g *generator) branching() {
	g.nested("if %s", g.condition())
	if g.random.IntN(2) == 0 {
		g.nested("} else if v := (%s); v > 3", g.atom())
	}
	g.nested("} else")
	g.line("}")
}

func (g *generator) switching() {
	if g.random.IntN(2) == 0 {
		v := g.fresh("v")
		g.line("switch %s := s.any.(type) {", v)
		g.line("case int: s.any = fmt.Sprint(%s + 1)", v)
		g.line("case string: s.any = point{len(%s), %s}", v, g.atom())
		g.line("case point: s.n, s.any = small(%s.x), %s.y", v, v)
		g.line("}")
		return
	}
	g.line("switch small(%s) %% 3 {", g.number())
	g.line("case 0, small(%s): s.n++; fallthrough", g.atom())
	g.line("case 1: s.count--")
	g.line("default: s.level = small(%s)", g.atom())
	g.line("}")
}

// closing makes closures, some of which outlive their transaction.
func (g *generator) closing() {
	f, v := g.fresh("f"), g.fresh("v")
	switch g.random.IntN(5) {
	case 0:
		g.line("%s := %s", v, g.atom())
		g.line("%s := func(n int) int { %s += n; s.count = small(%s); return %s }", f, v, v, v)
		g.line("s.n = small(%s(2) + %s(%d))", f, f, g.random.IntN(9))
	case 1:
		g.line("%s := %s; s.fn = func(n int) int { %s = small(%s + n); return %s }", v, g.atom(), v, v, v)
	case 2:
		g.line("s.fn = s.sink")
	case 3:
		g.line("%s := s.queue.push; %s(small(%s))", f, f, g.atom())
	default:
		if len(g.helpers) > 0 {
			g.line("%s := %s; s.n = small(%s(s, 1))", f, g.pick(g.helpers...), f)
			break
		}
		g.line("s.fn = small")
	}
}

func (g *generator) deferring() {
	g.line("func() {")
	g.indent++
	g.line("defer func() { if v := recover(); v != nil { s.n = small(v.(int) + s.n) } }()")
	g.line("defer s.sink(1)")
	locals, readable := len(g.locals), len(g.readable)
	g.size--
	g.statement()
	g.locals, g.readable = g.locals[:locals], g.readable[:readable]
	g.line("if %s { panic(small(%s)) }", g.condition(), g.atom())
	g.line("s.count++")
	g.indent--
	g.line("}()")
}

func (g *generator) defining() {
	v, w := g.fresh("v"), g.fresh("w")
	switch g.random.IntN(3) {
	case 0:
		g.line("%s, %s := small(%s), %s", v, w, g.number(), g.atom())
		g.declare(v)
		g.declare(w)
	case 1:
		g.line("var %s = small(%s)", v, g.number())
		g.declare(v)
	default:
		g.line("%s, ok := s.m[%s]; if !ok { %s = 2 }", v, g.atom(), v)
		g.line("%s, ok := s.any.(int); if ok { %s++ }", w, w)
		g.declare(v)
	}
}

func (g *generator) copying() {
	v := g.fresh("v")
	switch g.random.IntN(3) {
	case 0:
		g.line("copy(s.xs, s.xs[at(%s, len(s.xs)+1):])", g.atom())
	case 1:
		g.line("%s := make([]int, 2+at(%s, 5)); copy(%s, s.xs); s.xs = %s", v, g.atom(), v, v)
	default:
		g.line("%s := append([]point(nil), s.points...); %s[0].x++; s.points = %s", v, v, v)
	}
}

func (g *generator) shaping() {
	if g.random.IntN(2) == 0 {
		g.line("if len(s.shapes) < 5 { s.shapes = append(s.shapes, &square{%s}, strip{point{1, %s}}) }", g.atom(), g.atom())
		return
	}
	h := g.fresh("h")
	g.line("for _, %s := range s.shapes { s.n = small(s.n + %s.area(%s)) }", h, h, g.atom())
}

func (g *generator) nesting() {
	if g.indent < 2 || g.random.IntN(2) == 0 {
		g.line("{")
		g.nested("if true")
		g.line("}")
		g.line("}")
		return
	}
	g.line("stm.Atomic(func() { s.n++; %s = small(%s) })", g.place(), g.atom())
}

func (g *generator) calling() {
	if len(g.helpers) == 0 {
		g.assignment()
		return
	}
	v := g.before("%s(s, small(%s))", g.pick(g.helpers...), g.number())
	g.line("%s = small(%s)", g.place(), v)
}

func (g *generator) converting() {
	v := g.fresh("v")
	g.line("%s := []byte(s.text); for i := range %s { %s[i] ^= 1 }; if len(%s) < 5 { s.bytes = %s }", v, v, v, v, v)
}

func (g *generator) iterating() {
	v := g.fresh("v")
	g.line("for %s := range s.queue.each { if %s > 300 { break }; s.n = small(s.n + %s) }", v, v, v)
}

func (g *generator) labelled() {
	label, i := g.fresh("loop"), g.fresh("i")
	g.line("%s:", label)
	g.line("for %s, v := range s.xs { s.n += %s", i, i)
	g.line("\tfor range 3 { if v > %s { %s %s }; s.n = small(s.n + v) }", g.atom(), g.pick("break", "continue"), label)
	g.line("}")
}

// jumping makes a loop of a goto.
func (g *generator) jumping() {
	turn, label := g.fresh("t"), g.fresh("back")
	g.line("{")
	g.line("%s := 0", turn)
	g.line("%s:", label)
	g.nested("if %s < %d", turn, 1+g.random.IntN(3))
	g.line("\t%s++", turn)
	g.line("\tgoto %s", label)
	g.line("}")
	g.line("}")
}

// typing declares a type, some values of which are in interfaces.
func (g *generator) typing() {
	t, x, y := g.fresh("local"), g.fresh("x"), g.fresh("y")
	g.line("{")
	g.line("type %s struct { n int; next *%s }", t, t)
	g.line("%s := &%s{n: small(%s)}", x, t, g.number())
	g.line("%s := %s{n: 1, next: %s}", y, t, x)
	g.line("%s.next.n += %s", y, g.atom())
	if g.random.IntN(3) == 0 {
		g.line("%s = any(%s).(%s)", y, y, t)
	}
	g.line("%s = small(%s.n + %s.next.n)", g.place(), x, y)
	g.line("}")
}
