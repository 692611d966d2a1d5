package randprog

import "fmt"

// switches writes a switch over a number.
func (g *gen) switches(deep int) {
	g.line("switch %s {", g.expr(1))
	g.line("case %d:", g.pick(3))
	g.block(deep)
	if g.chance(3) {
		g.line("\tfallthrough")
	}
	g.statement()
	g.line("case same(%s):", g.called(func() string { return g.expr(1) }))
	g.block(deep)
	if g.chance(2) {
		g.line("default:")
		g.block(deep)
	}
	g.line("}")
}

// defers writes calls that are made when a function ends: with arguments of the time of the
// defer statement, in a loop, and with the function's result.
func (g *gen) defers(deep int) {
	v := g.choose(true, number)
	if v == nil {
		g.section(deep)
		return
	}
	switch g.pick(4) {
	case 0:
		g.line("func() {")
		g.deep++
		g.loaded = append(g.loaded, false)
		g.line("defer func(n int) { %s += n }(%s)", v.text, g.expr(1))
		g.deep--
		g.block(deep)
		g.line("}()")
	case 1:
		g.line("func() {")
		g.line("\tdefer bump(&%s)", v.text)
		g.block(deep)
		g.line("}()")
	case 2:
		g.line("%s = func() (n int) {", v.text)
		g.deep++
		g.line("defer func() { n += %s }()", v.text)
		g.loaded = append(g.loaded, false)
		g.line("return %s", g.expr(1))
		g.deep--
		g.line("}()")
	default:
		g.line("func() {")
		g.line("\tfor i := range 2 {")
		g.line("\t\tdefer func() { %s ^= i }()", v.text)
		g.line("\t}")
		g.block(deep)
		g.line("}()")
	}
}

// panicsAgain writes a panic that is recovered, changed, and recovered once more.
func (g *gen) panicsAgain() {
	v := g.choose(true, number)
	if v == nil {
		g.recovers()
		return
	}
	name := g.fresh()
	g.line("func() {")
	g.line("\tdefer func() {")
	g.line("\t\tif %s, ok := recover().(int); ok {", name)
	g.line("\t\t\t%s = %s", v.text, name)
	g.line("\t\t}")
	g.line("\t}()")
	g.line("\tdefer func() {")
	g.line("\t\tr := recover()")
	if g.chance(2) {
		g.line("\t\tpanic(r)")
	} else {
		g.line("\t\tpanic(r.(int) + 1)")
	}
	g.line("\t}()")
	g.line("\tpanic(%s)", g.expr(1))
	g.line("}()")
}

// assignsSeveral writes an assignment to several variables, whose order counts.
func (g *gen) assignsSeveral() {
	v := g.choose(true, number)
	if v == nil {
		g.assign()
		return
	}
	w := g.choose(true, number)
	name := g.fresh()
	switch g.pick(6) {
	case 0:
		g.line("%s, %s = %s, %s", v.text, w.text, w.text, v.text)
	case 1:
		g.line("%s := []int{1, 0}", name)
		g.line("%s[0], %s[%s[0]] = %s, 2", name, name, name, v.text)
		g.line("%s = %s[1]", v.text, name)
	case 2:
		g.line("%s, %s = two(%s)", v.text, w.text, g.called(func() string { return g.expr(1) }))
	case 3:
		g.line("%s := &%s", name, v.text)
		g.line("%s, *%s = new(int), %s", name, name, g.leaf())
		g.line("_ = %s", name)
	case 4:
		g.line("%s := map[int]int{}", name)
		g.line("%s[%s&1], %s = %s, len(%s)", name, v.text, v.text, w.text, name)
		g.line("%s += len(%s)", w.text, name)
	default:
		m := g.choose(false, mapping)
		if m == nil {
			g.line("%s, %s = %s+1, %s", v.text, w.text, v.text, v.text)
			return
		}
		g.line("if %s, ok := %s[%d]; ok {", name, m.text, g.pick(2))
		g.line("\t%s = %s", v.text, name)
		g.line("}")
	}
}

// ranges writes a loop over a function, a channel, a list, a map or a text.
func (g *gen) ranges(deep int) {
	if g.inLoop {
		g.assign()
		return
	}
	g.inLoop = true
	defer func() { g.inLoop = false }()
	name := g.fresh()
	v := g.choose(true, number)
	if v == nil {
		g.line("for %s := range upTo(2) {", name)
		g.line("\t_ = %s", name)
		g.block(deep - 1)
		g.line("}")
		return
	}
	switch g.pick(6) {
	case 0:
		g.line("for %s := range upTo(3) {", name)
		g.line("\tif %s == %d {", name, g.pick(3))
		g.line("\t\t%s", [...]string{"break", "continue"}[g.pick(2)])
		g.line("\t}")
		g.line("\t%s += %s", v.text, name)
		g.line("}")
	case 1:
		g.line("%s = func() int {", v.text)
		g.line("\tfor %s := range upTo(2) {", name)
		g.line("\t\tdefer bump(&%s)", v.text)
		g.line("\t\tif %s == %d {", name, g.pick(2))
		g.line("\t\t\treturn %s", name)
		g.line("\t\t}")
		g.line("\t}")
		g.line("\treturn 5")
		g.line("}()")
	case 2:
		g.line("%s := make(chan int, 2)", name)
		g.line("%s <- %s", name, g.expr(1))
		g.line("%s <- 1", name)
		g.line("close(%s)", name)
		g.line("for i := range %s {", name)
		g.line("\t%s += i", v.text)
		g.line("}")
	case 3:
		m := g.choose(false, mapping)
		if m == nil {
			g.line("for range \"ab\" {")
			g.line("\t%s++", v.text)
			g.line("}")
			return
		}
		g.line("for %s := range %s {", name, m.text)
		g.line("\t%s += %s", v.text, name)
		g.line("}")
	case 4:
		l := g.choose(false, list)
		if l == nil {
			g.line("for i := range [2]int{} {")
			g.line("\t%s += i", v.text)
			g.line("}")
			return
		}
		g.line("for i, %s := range %s {", name, l.text)
		g.line("\t%s += i * %s", v.text, name)
		g.line("}")
	default:
		g.line("%s:", name)
		g.line("for i := range 2 {")
		g.line("\tfor range 2 {")
		g.line("\t\tif %s > i {", v.text)
		g.line("\t\t\tcontinue %s", name)
		g.line("\t\t}")
		g.line("\t\t%s++", v.text)
		g.line("\t}")
		g.line("}")
	}
}

// selectsSeveral writes a select with several cases, one of which stores what it receives. A
// goroutine that is alone might wait there for ever, and which case it takes is not determined.
func (g *gen) selectsSeveral(deep int) {
	if len(g.chans) < 2 || g.o.Alone {
		g.selects(deep)
		return
	}
	g.line("select {")
	switch v := g.choose(true, number); {
	case v != nil && g.chance(2):
		g.line("case %s = <-ch:", v.text)
	case g.chance(2):
		name := g.fresh()
		g.line("case %s, ok := <-ch:", name)
		g.line("\t_, _ = %s, ok", name)
	default:
		g.line("case <-ch:")
	}
	g.block(deep)
	g.statement()
	if g.chance(2) {
		g.line("case ch2 <- %s:", g.expr(1))
	} else {
		g.line("case <-ch2:")
	}
	g.block(deep)
	if g.chance(2) {
		g.line("default:")
		g.block(deep)
	}
	g.line("}")
}

// leaves writes the end of the goroutine, where it holds no lock.
func (g *gen) leaves() {
	if g.me <= 0 || len(g.held) > 0 {
		g.assign()
		return
	}
	g.line("if %s {", g.cond(1))
	g.line("\truntime.Goexit()")
	g.line("}")
}

// starts writes a goroutine that is started by another one. Nothing belongs to it.
func (g *gen) starts(deep int) {
	if g.me < 0 || g.inLoop || g.o.Alone || g.o.Blocking {
		g.assign()
		return
	}
	me, held, reads := g.me, g.held, g.reads
	g.me, g.held, g.reads = -2, map[int]bool{}, map[int]bool{}
	g.line("wg.Go(func() {")
	g.block(deep)
	g.line("})")
	g.me, g.held, g.reads = me, held, reads
}

// conversion is an int that was something else in between.
func (g *gen) conversion(deep int) string {
	x := g.expr(deep - 1)
	switch g.pick(6) {
	case 0:
		return fmt.Sprintf("int(int8(%s&63))", x)
	case 1:
		return fmt.Sprintf("int(uint8(%s&255))", x)
	case 2:
		return fmt.Sprintf("int(float64(%s) * 2)", x)
	case 3:
		return fmt.Sprintf("int(named(%s) << 1)", x)
	case 4:
		return fmt.Sprintf("any(%s).(int)", x)
	default:
		return fmt.Sprintf("[1]int([]int{%s})[0]", x)
	}
}
