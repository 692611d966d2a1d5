package randprog

import "fmt"

// declareValue writes a shared variable that is more than a number.
func (g *gen) declareValue(i int) variable {
	v := variable{guard: -1, owner: -1}
	switch g.pick(8) {
	case 0:
		v.text, v.kind = fmt.Sprintf("s%d", i), record
		g.line("s%d := pair{%d, 0}", i, g.pick(3))
	case 1:
		v.text, v.kind = fmt.Sprintf("t%d", i), text
		g.line("t%d := \"a\"", i)
	case 2:
		v.text, v.kind = fmt.Sprintf("b%d", i), boxed
		g.line("var b%d any = %d", i, g.pick(3))
	case 3:
		v.text, v.pointer = fmt.Sprintf("(*p%d)", i), fmt.Sprintf("p%d", i)
		g.line("p%d := new(int)", i)
	case 4:
		v.text, v.object = fmt.Sprintf("c%d.held", i), methods{fmt.Sprintf("c%d", i), "put", "take", "(*cell[int])"}
		g.line("c%d := &cell[int]{%d}", i, g.pick(3))
	case 5:
		v.text, v.kind = fmt.Sprintf("w%d", i), word
		g.line("var w%d int64", i)
	case 6:
		v.text, v.kind = fmt.Sprintf("k%d", i), link
		g.line("var k%d atomic.Pointer[outer]", i)
	default:
		v.text, v.kind = fmt.Sprintf("once%d", i), once
		g.line("var once%d sync.Once", i)
		g.line("_ = &once%d", i)
	}
	return v
}

// methods are those of an object that set and get a number.
type methods struct {
	name     string // of the object
	set, get string
	receiver string // the type that the methods are of, for method expressions
}

// assignValue writes an assignment to a variable that is more than a number.
func (g *gen) assignValue(v *variable, deep int) {
	switch v.kind {
	case record:
		g.assignRecord(v.text)
	case text:
		switch g.pick(4) {
		case 0:
			g.line("%s = \"b\"", v.text)
		case 1:
			g.line("%s += \"c\"", v.text)
		case 2:
			g.line("%s = string(rune('a' + %s&7))", v.text, g.expr(1))
		default:
			g.line("%s = %s[:1]", v.text, v.text)
		}
	case boxed:
		g.assignBoxed(v.text, deep)
	case word:
		g.assignWord(v.text)
	case link:
		if g.chance(2) {
			g.line("%s.CompareAndSwap(%s.Load(), &outer{b: %d})", v.text, v.text, g.pick(3))
		} else {
			g.loaded = append(g.loaded, false)
			g.line("%s.Store(&outer{b: %s})", v.text, g.expr(1))
		}
	case once:
		g.line("%s.Do(func() {", v.text)
		within := g.inOnce
		g.inOnce = true
		g.block(deep)
		g.inOnce = within
		g.line("})")
	case number, atomicN, mapping, list:
		panic("randprog: a variable of another kind")
	}
}

func (g *gen) assignRecord(name string) {
	switch g.pick(5) {
	case 0:
		g.line("%s.a = %s", name, g.expr(1))
	case 1:
		g.line("%s.b++", name)
	case 2:
		x := g.expr(1)
		g.line("%s = pair{%s, %s}", name, x, g.expr(1))
	case 3:
		g.line("%s.a, %s.b = %s.b, %s.a", name, name, name, name)
	default:
		g.line("if v := %s; v != (pair{}) {", name)
		g.line("\tv.a++")
		g.line("\t%s = v", name)
		g.line("}")
	}
}

func (g *gen) assignBoxed(name string, deep int) {
	switch g.pick(4) {
	case 0:
		g.line("%s = %s", name, g.expr(1))
	case 1:
		g.line("%s = \"s\"", name)
	case 2:
		g.line("%s = pair{%s, 1}", name, g.expr(1))
	default:
		g.line("switch v := %s.(type) {", name)
		g.line("case int:")
		g.line("\t%s = v + 1", name)
		g.line("case string, nil:")
		g.block(deep)
		g.line("default:")
		g.line("\t_ = v")
		g.block(deep)
		g.line("}")
	}
}

// assignWord uses functions of package sync/atomic; in programs that may race, plain accesses
// are beside them.
func (g *gen) assignWord(name string) {
	kinds := 4
	if !g.o.RaceFree {
		kinds++
	}
	switch g.pick(kinds) {
	case 0:
		g.loaded = append(g.loaded, false)
		g.line("atomic.StoreInt64(&%s, int64(%s))", name, g.expr(1))
	case 1:
		g.loaded = append(g.loaded, false)
		g.line("atomic.AddInt64(&%s, int64(%s))", name, g.expr(1))
	case 2:
		g.line("atomic.CompareAndSwapInt64(&%s, atomic.LoadInt64(&%s), %d)", name, name, g.pick(4))
	case 3:
		g.line("atomic.OrInt64(&%s, %d)", name, 1+g.pick(3))
	default:
		g.line("%s++", name)
	}
}

// loadValue is an int made of a variable that is more than a number; it is a call, or was
// asked whether there may be one.
func (g *gen) loadValue(v *variable) string {
	switch v.kind {
	case record:
		return g.called(func() string {
			switch g.pick(3) {
			case 0:
				return v.text + ".sum()"
			case 1:
				return "func(p pair) int { return p.a - p.b }(" + v.text + ")"
			default:
				return "[...]int{" + v.text + ".a, " + v.text + ".b}[1]"
			}
		})
	case text:
		return g.called(func() string {
			switch g.pick(4) {
			case 0:
				return "len(" + v.text + ")"
			case 1:
				return "int(" + v.text + "[0])"
			case 2:
				return "int([]byte(" + v.text + ")[0])"
			default:
				return "len(string([]rune(" + v.text + ")))"
			}
		})
	case boxed:
		return g.called(func() string { return "unbox(" + v.text + ")" })
	case word:
		return g.called(func() string {
			if g.chance(2) {
				return "int(atomic.SwapInt64(&" + v.text + ", int64(" + g.expr(1) + ")))"
			}
			return "int(atomic.LoadInt64(&" + v.text + "))"
		})
	case link:
		return g.called(func() string { return "linked(&" + v.text + ")" })
	case number, atomicN, mapping, list, once:
	}
	panic("randprog: a variable of another kind")
}

// byMethod is a call that gets the number of an object.
func (g *gen) byMethod(o *methods) string {
	return g.called(func() string {
		switch g.pick(5) {
		case 0:
			return o.name + "." + o.get + "()"
		case 1:
			return "getter(" + o.name + ").get()"
		case 2:
			return o.name + ".copied()"
		case 3:
			return "func(f func() int) int { return f() }(" + o.name + ".copied)"
		default:
			return o.receiver + "." + o.get + "(" + o.part() + ")"
		}
	})
}

// part is the pointer that a method expression is called with.
func (o *methods) part() string {
	if o.name == "o" {
		return "&o.inner"
	}
	return o.name
}

// setByMethod writes a call that sets the number of an object.
func (g *gen) setByMethod(o *methods) {
	switch g.pick(4) {
	case 0:
		g.loaded = append(g.loaded, false)
		g.line("%s.%s(%s)", o.name, o.set, g.expr(1))
	case 1:
		name := g.fresh()
		g.line("f%s := %s.%s", name, o.name, o.set)
		g.loaded = append(g.loaded, false)
		g.line("f%s(%s)", name, g.expr(1))
	case 2:
		g.loaded = append(g.loaded, false)
		g.line("%s.%s(%s, %s)", o.receiver, o.set, o.part(), g.expr(1))
	default:
		g.line("func() {")
		g.loaded = append(g.loaded, false)
		g.line("\tdefer %s.%s(%s)", o.name, o.set, g.expr(1))
		g.deep++
		g.statement()
		g.assign()
		g.deep--
		g.line("}()")
	}
}

// fresh is a name for a local variable.
func (g *gen) fresh() string {
	g.locals++
	return fmt.Sprintf("v%d", g.locals-1)
}
