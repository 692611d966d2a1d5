package sharing

import (
	"fmt"
	"slices"
	"strings"
)

// addressable is something of type int that has an address.
func (g *gen) addressable() string {
	e := g.of(g.nodes...)
	if !g.Chance(3) {
		// Mostly what a lock guards that is held.
		switch {
		case g.held["x.mu"]:
			return g.of("x.n", "x.s.a", "x.s.b", "x.array[1]", "x.depth", e+".n", "x.marks[1]")
		case g.held["gmu"]:
			return g.of("gn", "gs.b", "gs.a", "garr[1]")
		case g.held["global.mu"]:
			return g.of("global.n", "global.s.a", "global.t[1]", e+".n")
		case g.held["w.o"]:
			return g.of("w.o.n", "w.o.s.a")
		case g.held["x.rw"]:
			return g.of("x.hits", "x.peak.a", "x.peak.b")
		case g.held["w.box.mu"]:
			return "w.box.v"
		case g.held["lmu"]:
			return "lcount"
		}
	}
	return g.of("x.n", "x.n", "x.s.a", "x.s.b", "x.array[1]", "x.depth", "y.n", e+".n", e+".s.a", "global.n", "gn", "gs.b", "garr[1]", "global.t[1]", "w.o.n", "w.box.v", "x.marks[1]", "y.array[2]")
}

// place is something of type int that can be assigned to.
func (g *gen) place() string {
	switch g.Pick(9) {
	case 0:
		if len(g.points) > 0 {
			return "*" + g.of(g.points...)
		}
	case 1:
		if len(g.parts) > 0 {
			return g.of(g.parts...) + g.of(".a", ".b")
		}
	case 2:
		if len(g.slices) > 0 {
			return g.of(g.slices...) + "[0]"
		}
	case 3:
		return g.of(g.ints...)
	case 4:
		if g.deferred && g.has(panics) {
			return g.of("x.array[n]", "x.m[2]", "x.list[n]", "e.next.n")
		}
		return "x.array[index(n)]"
	}
	return g.addressable()
}

// value is an expression of type int that changes nothing.
func (g *gen) value() string {
	switch g.Pick(8) {
	case 0, 1:
		return fmt.Sprint(g.Pick(5))
	case 2:
		return g.of("len(x.list)", "at(x.list, n)", "len(x.m)", "x.m[1]", "len(x.name)", "x.array[2]", "cap(x.in)", "len(gname)")
	case 3:
		return g.of("x.s.sum()", "x.copied()", "x.total()", "y.total()", "x.level()", "gs.sum()", "e.s.sum()", "w.o.s.sum()", "w.box.get()", "last(x.list)", "int(x.bytes[1])", "int(y.bytes[3])")
	case 4:
		if len(g.slices) > 0 {
			s := g.of(g.slices...)
			return g.of("len("+s+")", "at("+s+", 1)", "slices.Index("+s+", 1)")
		}
		if len(g.bytes) > 0 {
			b := g.of(g.bytes...)
			return g.of("int("+b+"[1])", "len(string("+b+"))", "int(binary.LittleEndian.Uint16("+b+"))", "int([2]byte("+b+")[1])")
		}
	case 5:
		if len(g.parts) > 0 {
			return g.of(g.parts...) + ".sum()"
		}
	}
	return g.place()
}

// condition compares two values, or a pointer with the address of what it was made to point to,
// or of something else.
func (g *gen) condition() string {
	pointers := slices.Concat(g.points, g.parts)
	if len(pointers) == 0 || !g.Chance(2) {
		return g.value() + " > " + g.value()
	}
	p := g.of(pointers...)
	target := g.target[p]
	switch {
	case target == "":
		return p + " != nil"
	case g.Chance(3) && slices.Contains(g.points, p):
		target = g.addressable()
	}
	return p + g.of(" == &", " != &") + target
}

func (g *gen) simple() { g.simpleStatement(g.place()) }

// simpleStatement assigns to a place.
func (g *gen) simpleStatement(p string) {
	switch g.Pick(4) {
	case 0:
		g.line("%s++", p)
	case 1:
		g.line("%s = %s", p, g.value())
	default:
		g.line("%s %s %s", p, g.of("+=", "-=", "^="), g.value())
	}
}

// statement writes one. Writes in a section that only reads would be races elsewhere, but not
// here: no other goroutine runs.
func (g *gen) statement() {
	if g.budget <= 0 || g.nested > 3 {
		g.simple()
		return
	}
	g.budget--
	switch g.Pick(25) {
	case 0, 1, 2:
		g.simple()
	case 3:
		g.otherName()
	case 4:
		g.call()
	case 5:
		g.text()
	case 6:
		g.structs()
	case 7, 8:
		g.line("if %s {", g.condition())
		g.scoped(g.body)
		if g.Chance(2) {
			g.line("} else {")
			g.scoped(g.body)
		}
		g.line("}")
	case 9:
		g.loop()
	case 10:
		g.switches()
	case 11:
		g.ifHas(channels, g.channels)
	case 12:
		g.ifHas(goroutines, g.elsewhere)
	case 13:
		g.ifHas(functions, g.functions)
	case 14:
		g.section()
	case 15:
		g.ifHas(panics, g.panics)
	case 16:
		g.jump()
	case 17:
		g.ifHas(linked, g.links)
	case 18:
		g.ifHas(linked, g.linksOrShelves)
	case 19:
		g.ifHas(elements, g.elements)
	case 20:
		g.ifHas(shadows, g.shadows)
	case 21, 22:
		g.ifHas(bags, g.bag)
	case 23:
		g.ifHas(functions, g.handed)
	case 24:
		g.ifHas(within, g.within)
	}
}

// ifHas writes what the palette must have something for.
func (g *gen) ifHas(f Palette, write func()) {
	if g.has(f) {
		write()
	} else {
		g.simple()
	}
}

// call writes a call whose result is all that is used.
func (g *gen) call() {
	c := g.of("x.push(n)", "take(x, n)", "both(x, y)", "deep(x, n%7)", "hook(x)", "e.bump(2)", "point(&x.n)", "point(&"+g.addressable()+")", "w.o.bump()", "x.f(2)", "y.push(1)")
	switch g.Pick(4) {
	case 0:
		g.line("%s", c)
	case 1:
		g.line("n = %s", c)
	case 2:
		g.local(c)
	case 3:
		g.line("%s", g.of("x.s.add(2)", "x.s.swap()", "x.s.reset()", "x.sink(3)", "y.s.add(1)", "gs.add(4)", "global.s.swap()", "e.s.add(1)", "x.scale(2)", "keep(&"+g.addressable()+")", "*kept += 3", "double(x.list)",
			"x.s.self().a++", "*x.s.field() += 2", "w.box.set(n)", "assign(&x.n, 5)", "assign(&x.s, S{a: 1})", "change(&x.n, func(v int) int { return v + x.s.a })", "put(x.m, 1, x.n)", "x.n, gn = pair(x)", "adder(&x.s).add(2)", "n = summer(x.s).sum()"))
	}
}

// text writes what reaches memory by slices.
func (g *gen) text() {
	if len(g.bytes) > 0 && g.Chance(2) {
		b := g.of(g.bytes...)
		g.line("%s", g.of("binary.LittleEndian.PutUint16("+b+", 513)", "copy("+b+", \"ab\")", "clear("+b+"[:2])", b+"[1]++", "x.name += string("+b+"[:2])", "slices.Sort("+b+")", "x.bytes = [8]byte{3, 1, 2}", "*(*[2]byte)("+b+") = [2]byte{7, 8}", "for i := range "+b+" { x.bytes[0] += "+b+"[i] }"))
		return
	}
	if len(g.slices) > 0 {
		s := g.of(g.slices...)
		g.line("%s", g.of("slices.Sort("+s+")", "double("+s+")", "clear("+s+"[:1])", "copy("+s+", []int{9})", "for _, v := range "+s+" { x.n += v }", "x.list = append("+s+"[:1], 5)", "for i := range "+s+" { "+s+"[i]++; x.array[0]++ }", "sort.Ints("+s+")", "slices.Reverse("+s+")"))
		return
	}
	g.line("%s", g.of("x.name += \"n\"", "gname += x.name[:min(2, len(x.name))]", "e.name = strings.ToUpper(x.name)", "x.bytes[n%8]++", "x.array = [3]int{x.n, 1}", "for i, v := range &x.array { x.n += i * v }", "for _, v := range x.array { x.array[0] += v }", "x.list = append(x.list, x.n)", "x.marks[n%2]++"))
}

// structs writes what uses structs as a whole.
func (g *gen) structs() {
	list := []string{"x.s = e.s", "e.s = x.s", "gs = x.s", "x.s = S{x.s.b, x.s.a, true}", "*e = *f", "x.base = y.base", "y.base, x.base = x.base, y.base", "x.any = x.s", "x.e = f", "e = x.e", "x.base = base{depth: x.n}",
		"if s, ok := x.any.(S); ok { x.n += s.a }", "global.s, gs = gs, global.s", "garr, global.t = global.t, garr", "x.array = garr", "w.o.s = x.s", "x.any = &x.n", "if p, ok := x.any.(*int); ok { *p += 4 }", "x.s.ok = x.s == gs"}
	if len(g.parts) > 0 {
		q := g.of(g.parts...)
		list = append(list, "*"+q+" = x.s", "x.s = *"+q, "*"+q+" = S{a: x.n}", q+".swap()", q+" = &x.s", "x.any = *"+q, q+".add("+g.value()+")")
	}
	g.line("%s", g.of(list...))
	g.line("if e == nil { e = f }")
}

// loop writes a loop, which has a label if something in it leads there.
func (g *gen) loop() {
	label, start := g.name("loop"), len(g.lines)
	i := g.name("i")
	g.line("%s", g.of(fmt.Sprintf("for %s := range 3 {", i), fmt.Sprintf("for %s, v := range x.array { x.depth += v", i), fmt.Sprintf("for %s := 0; %s < 3 && x.n < 900; %s++ {", i, i, i),
		fmt.Sprintf("for %s := range x.list[:min(3, len(x.list))] {", i), fmt.Sprintf("for %s := range len(x.m) {", i), fmt.Sprintf("for %s := 2; %s > 0; x.n, %s = x.n+1, %s-1 {", i, i, i, i)))
	g.loops = append(g.loops, label)
	g.scoped(func() {
		g.line("if n++; n > 40 { break }")
		g.line("_ = %s", i)
		g.body()
	})
	g.loops = g.loops[:len(g.loops)-1]
	g.line("}")
	if strings.Contains(strings.Join(g.lines[start:], ""), " "+label+" ") {
		g.lines = slices.Insert(g.lines, start, label+":\n")
	}
}

// jump writes a way out of a loop, a way back, or a way out of the section if that may end
// anywhere.
func (g *gen) jump() {
	switch {
	case g.has(gotos) && g.Chance(3):
		label := g.name("again")
		g.line("%s:", label)
		g.line("x.n++")
		g.simpleStatement(g.of("x.s.a", "gn", "x.array[1]"))
		g.line("if n++; n%%4 != 0 { goto %s }", label)
	case len(g.loops) > 0 && g.Chance(2):
		g.line("if n%%3 == %d { %s %s }", g.Pick(3), g.of("continue", "break"), g.of(g.loops...))
	case len(g.loops) > 0:
		g.line("if n%%3 == %d { %s }", g.Pick(3), g.of("continue", "break"))
	case g.deferred:
		g.line("if %s > 8 { return %s }", g.value(), g.value())
	default:
		g.simple()
	}
}

func (g *gen) switches() {
	switch g.Pick(3) {
	case 0:
		g.line("switch %s {", g.value())
		g.line("case 0, 1:")
		g.scoped(g.body)
		if g.Chance(2) {
			g.deep++
			g.line("fallthrough")
			g.deep--
		}
		g.line("case %s:", g.of("x.array[1]+7", "2", "x.s.a+9"))
		g.scoped(g.body)
		g.line("default:")
		g.scoped(g.body)
		g.line("}")
	case 1:
		g.line("switch v := x.any.(type) {")
		g.line("case S:")
		g.scoped(func() { g.line("x.n += v.a"); g.body() })
		g.line("case *int:")
		g.scoped(func() { g.line("*v++"); g.body() })
		g.line("default:")
		g.scoped(func() { g.line("x.any = %s", g.of("x.s", "&x.n", "x.n")) })
		g.line("}")
	case 2:
		g.line("switch {")
		g.line("case %s > 3:", g.value())
		g.scoped(g.body)
		g.line("case %s == 1:", g.value())
		g.scoped(g.body)
		g.line("}")
	}
}

// channels writes operations that do not wait.
func (g *gen) channels() {
	switch g.Pick(5) {
	case 4: // one of the two is ready
		c := g.name("c")
		g.line("%s := make(chan int, 1)", c)
		g.line("if n%%2 == 0 { %s <- 2 }", c)
		g.line("select {")
		g.line("case v := <-%s:", c)
		g.scoped(func() { g.line("x.n += v"); g.body() })
		g.line("case %s <- x.s.a:", c)
		g.scoped(g.body)
		g.line("}")
	case 0:
		g.line("select {")
		g.line("case x.in <- x.n:")
		g.scoped(g.body)
		g.line("default:")
		g.scoped(g.body)
		g.line("}")
	case 1:
		g.line("select {")
		g.line("case v := <-x.in:")
		g.scoped(func() { g.line("x.n += v"); g.body() })
		g.line("default:")
		g.scoped(g.body)
		g.line("}")
	case 2:
		c := g.name("c")
		g.line("%s := make(chan int, 3)", c)
		g.line("%s <- x.n", c)
		g.line("%s <- 2", c)
		g.line("close(%s)", c)
		g.line("for v := range %s {", c)
		g.scoped(func() { g.line("x.n += v"); g.body() })
		g.line("}")
	case 3:
		g.line("if len(x.in) > 0 { x.n += <-x.in }")
	}
}

// elsewhere has the goroutine of the world do something, in order.
func (g *gen) elsewhere() {
	switch g.Pick(4) {
	case 0:
		g.line("w.elsewhere(func() { %s += 3 })", g.addressable())
	case 1:
		g.line("w.ask <- func() { %s ^= 5; hook(x) }", g.addressable())
		g.line("<-w.said")
	case 2:
		d := g.name("done")
		g.line("%s := make(chan int)", d)
		g.line("go func() { %s++; %s <- x.n }()", g.addressable(), d)
		g.line("x.array[0] += <-%s", d)
	case 3:
		wg := g.name("wg")
		g.line("var %s sync.WaitGroup", wg)
		g.line("%s.Go(func() { %s -= 2; x.s.add(1) })", wg, g.addressable())
		g.line("%s.Wait()", wg)
	}
}

// functions writes function literals, method values and interfaces.
func (g *gen) functions() {
	f := g.name("f")
	switch g.Pick(6) {
	case 0:
		g.line("%s := func(d int) int { %s += d; return x.n }", f, g.addressable())
		g.simple()
		g.line("%s(2)", f)
	case 1:
		g.line("%s := %s", f, g.of("x.push", "x.f", "e.bump", "x.risky"))
		g.simple()
		g.line("n = %s(1)", f)
	case 2:
		g.line("func() {")
		deferred, loops := g.deferred, g.loops
		g.deferred, g.loops = false, nil // a return would be that of the literal
		g.scoped(func() {
			if g.Chance(2) {
				g.line("defer func() { %s++ }()", g.addressable())
			}
			g.body()
		})
		g.deferred, g.loops = deferred, loops
		g.line("}()")
	case 3:
		g.line("var %s %s", f, g.of("adder = &x.s", "adder = &gs", "adder = &e.s"))
		g.simple()
		g.line("%s.add(2)", f)
	case 4:
		g.line("%s := x.copied", f)
		g.simple()
		g.line("gn = %s()", f)
	case 5:
		if g.nested == 0 {
			g.line("defer func() { %s += %d }()", g.addressable(), g.Pick(4))
			return
		}
		g.line("%s := (*S).add", f)
		g.line("%s(&x.s, 2)", f)
	}
}

// panics writes what may panic, and mostly what recovers.
func (g *gen) panics() {
	fail := g.of("x.m[3] = x.n", "x.array[n] = 1", "x.n /= n - 1", "e.next.n++", "x.list[n+2]++", "n = x.any.(int)", "x.risky(n)", "x.list = x.list[n:]", "panic(x.n)", "x.array[n], x.n = 1, 2", "x.n, x.array[n] = 3, 4")
	switch g.Pick(3) {
	case 0:
		g.line("%s", fail)
	default:
		g.line("func() {")
		g.scoped(func() {
			g.line("defer func() { if r := recover(); r != nil { %s++ } }()", g.addressable())
			g.simple()
			g.line("%s", fail)
			g.simple()
		})
		g.line("}()")
	}
}
