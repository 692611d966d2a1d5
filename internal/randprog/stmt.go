package randprog

import "fmt"

// stmt writes a statement; deep is how many more there may be inside each other.
func (g *gen) stmt(deep int) {
	if g.budget <= 0 {
		return
	}
	g.budget--
	g.statement()
	if deep <= 0 {
		g.assign()
		return
	}
	if g.o.Blocking && g.chance(4) {
		g.blocking()
		return
	}
	if g.o.TimeAndChance && g.chance(3) {
		g.timeOrChance()
		return
	}
	if g.signal.kind != noSignal && g.chance(4) {
		g.waits(deep)
		return
	}
	switch g.pick(27) {
	case 0, 1, 2, 3:
		g.assign()
	case 4, 5, 6:
		g.section(deep)
	case 7:
		g.atomicStmt()
	case 8:
		g.communicate()
	case 9:
		g.ifStmt(deep)
	case 10:
		g.loop(deep)
	case 11:
		g.local()
	case 12:
		g.recovers()
	case 13:
		g.closure(deep)
	case 14:
		g.selects(deep)
	case 15:
		g.method()
	case 16:
		g.switches(deep)
	case 17:
		g.defers(deep)
	case 18:
		g.panicsAgain()
	case 19:
		g.assignsSeveral()
	case 20:
		g.ranges(deep)
	case 21:
		g.selectsSeveral(deep)
	case 22:
		g.leaves()
	case 23:
		g.tries(deep)
	case 24:
		g.retries(deep)
	case 25:
		g.startsWith()
	default:
		g.starts(deep)
	}
}

// timeOrChance writes a sleep, or an assignment of what is drawn.
func (g *gen) timeOrChance() {
	v := g.choose(true, number)
	if v == nil || g.chance(2) {
		g.line("time.Sleep(%d * time.Millisecond)", 1+g.pick(3))
		return
	}
	g.line("%s = rand.IntN(%d)", v.text, 2+g.pick(2))
}

// block writes statements with a scope of their own.
func (g *gen) block(deep int) {
	scope := g.scope
	g.deep++
	for range 1 + g.pick(2) {
		g.stmt(deep - 1)
	}
	g.deep--
	g.scope = scope
}

// assign writes an assignment to a variable that may be used here.
func (g *gen) assign() {
	v := g.choose(true, append([]variableKind{number, mapping, list, once}, values...)...)
	if v == nil {
		g.local()
		return
	}
	if g.o.Library && (v.kind == mapping || v.kind == list) && g.chance(2) {
		g.libraryCall(v)
		return
	}
	switch v.kind {
	case number:
		g.assignNumber(v)
	case mapping:
		g.assignMap(v.text)
	case list:
		switch g.pick(3) {
		case 0:
			g.loaded[0] = true // the slice, before or after what is stored
			g.line("%s[0] = %s", v.text, g.expr(2))
		case 1:
			g.line("%s = append(%s, %d)", v.text, v.text, g.pick(3))
		default:
			g.line("copy(%s, []int{%s})", v.text, g.expr(1))
		}
	default:
		g.assignValue(v, 1)
	}
}

func (g *gen) assignMap(name string) {
	key := g.pick(2)
	switch g.pick(7) {
	case 0, 1:
		g.line("%s[%d] = %s", name, key, g.expr(2))
	case 2:
		g.line("%s[%d]++", name, key)
	case 3:
		g.line("delete(%s, %d)", name, key)
	case 4:
		g.line("if v, ok := %s[%d]; ok {", name, key)
		g.line("\t%s[%d] = v", name, 1-key)
		g.line("}")
	case 5:
		g.line("for k, v := range %s {", name)
		g.line("\t%s[k] = v + k", name)
		g.line("}")
	default:
		g.line("clear(%s)", name)
	}
}

func (g *gen) assignNumber(v *variable) {
	switch {
	case v.object.name != "" && g.chance(2):
		g.setByMethod(&v.object)
		return
	case v.pointer != "" && g.chance(4):
		g.line("%s = new(int)", v.pointer)
		return
	}
	if v.pointer != "" {
		g.loaded[0] = true // the pointer, before or after what is stored
	}
	switch g.pick(5) {
	case 0:
		g.line("%s = %s", v.text, g.expr(2))
	case 1:
		g.line("%s++", v.text)
	case 2:
		g.loaded[0] = true // the variable itself is loaded, before or after what is added
		g.line("%s += %s", v.text, g.expr(2))
	case 3:
		w := g.choose(true, number)
		g.loaded[0] = true
		g.line("%s, %s = %s, %s", v.text, w.text, g.expr(1), g.expr(1))
	default:
		g.line("%s = %s", v.text, g.expr(3))
	}
}

// local declares a variable of the goroutine's own.
func (g *gen) local() {
	name := fmt.Sprintf("v%d", g.locals)
	g.locals++
	g.line("%s := %s", name, g.expr(2))
	g.line("_ = %s", name)
	g.scope = append(g.scope[:len(g.scope):len(g.scope)], name)
}

// section writes a critical section.
func (g *gen) section(deep int) {
	l := g.pick(len(g.locks))
	if g.held[l] {
		g.assign()
		return
	}
	g.held[l] = true
	if g.rw[l] && g.chance(2) {
		g.reads[l] = true
		g.line("%s.RLock()", g.locks[l])
		g.block(deep)
		g.line("%s.RUnlock()", g.locks[l])
		delete(g.reads, l)
		delete(g.held, l)
		return
	}
	if g.chance(3) {
		g.line("func() {")
		g.deep++
		g.line("%s.Lock()", g.locks[l])
		g.line("defer %s.Unlock()", g.locks[l])
		g.deep--
		g.block(deep)
		g.line("}()")
	} else {
		g.line("%s.Lock()", g.locks[l])
		g.block(deep)
		g.line("%s.Unlock()", g.locks[l])
	}
	delete(g.held, l)
}

func (g *gen) atomicStmt() {
	v := g.choose(true, atomicN)
	if v == nil {
		g.assign()
		return
	}
	switch g.pick(4) {
	case 0:
		g.loaded = append(g.loaded, false)
		g.line("%s.Store(int64(%s))", v.text, g.expr(2))
	case 1:
		g.loaded = append(g.loaded, false)
		g.line("%s.Add(int64(%s))", v.text, g.expr(2))
	case 2:
		g.line("%s.CompareAndSwap(%s.Load(), %d)", v.text, v.text, g.pick(8))
	default:
		g.line("%s.Store(%s.Load() + 1)", v.text, v.text)
	}
}

func (g *gen) communicate() {
	if len(g.chans) == 0 || g.o.Alone {
		g.assign()
		return
	}
	if g.pick(2) == 0 {
		g.line("ch <- %s", g.expr(1))
		return
	}
	name := fmt.Sprintf("v%d", g.locals)
	g.locals++
	g.line("%s := <-ch", name)
	g.line("_ = %s", name)
	g.scope = append(g.scope[:len(g.scope):len(g.scope)], name)
}

func (g *gen) ifStmt(deep int) {
	g.line("if %s {", g.cond(1))
	g.block(deep)
	if g.pick(2) == 1 {
		g.line("} else {")
		g.block(deep)
	}
	g.line("}")
}

// loop writes a loop of at most two rounds.
func (g *gen) loop(deep int) {
	if g.inLoop {
		g.assign()
		return
	}
	g.inLoop = true
	switch g.pick(4) {
	case 0:
		g.line("for range 2 {")
	case 1:
		g.line("for range upTo(2) {")
	case 2:
		g.line("for i := 0; i < 2; i++ {")
	default:
		g.line("for _, i := range []int{1, 2} {")
		g.line("\t_ = i")
	}
	g.block(deep - 1)
	if g.chance(4) {
		g.line("\tbreak")
	}
	g.line("}")
	g.inLoop = false
}

// recovers writes statements that may end in a panic, which is recovered.
func (g *gen) recovers() {
	scope := g.scope
	g.line("func() {")
	g.deep++
	g.line("defer func() {")
	g.line("\tif r := recover(); r != nil {")
	g.deep += 2
	g.statement()
	g.assign()
	g.deep -= 2
	g.line("\t}")
	g.line("}()")
	g.scope = scope
	g.statement()
	g.assign()
	g.statement()
	switch g.pick(3) {
	case 0:
		g.line("panic(%s)", g.expr(1))
	case 1:
		g.line("_ = []int{1}[%s]", g.called(func() string { return "same(" + g.expr(1) + ")" }))
	default:
		g.line("if %s {", g.cond(1))
		g.line("\tpanic(\"no\")")
		g.line("}")
	}
	g.deep--
	g.line("}()")
	g.scope = scope
}

// closure writes a function literal with a local of its own that it captures.
func (g *gen) closure(deep int) {
	name := fmt.Sprintf("v%d", g.locals)
	g.locals++
	g.line("%s := %s", name, g.expr(1))
	scope := g.scope
	g.scope = append(g.scope[:len(g.scope):len(g.scope)], name)
	g.line("func() {")
	g.deep++
	g.line("%s++", name)
	g.deep--
	g.block(deep)
	g.line("}()")
	g.scope = scope
}

func (g *gen) selects(deep int) {
	if len(g.chans) == 0 {
		g.assign()
		return
	}
	g.line("select {")
	if g.pick(2) == 0 {
		g.line("case ch <- %s:", g.expr(1))
	} else {
		g.line("case <-ch:")
	}
	g.block(deep)
	g.line("default:")
	g.block(deep)
	g.line("}")
}

// method uses an object that is the goroutine's own, through its methods.
func (g *gen) method() {
	name := fmt.Sprintf("v%d", g.locals)
	g.locals++
	g.line("%s := &outer{a: %s}", name, g.expr(1))
	switch g.pick(4) {
	case 0:
		g.line("%s.set(%s.sum())", name, name)
	case 1:
		g.line("f%s := %s.set", name, name)
		g.line("f%s(%s.a)", name, name)
	case 2:
		g.line("getter(%s).get()", name)
	default:
		g.line("(*inner).set(&%s.inner, %s.copied())", name, name)
	}
	v := g.choose(true, number)
	if v == nil {
		return
	}
	g.statement()
	g.line("%s = %s.get()", v.text, name)
}
