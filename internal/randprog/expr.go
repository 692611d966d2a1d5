package randprog

import "fmt"

// expr returns the text of an int expression.
func (g *gen) expr(deep int) string {
	if deep <= 0 {
		return g.leaf()
	}
	if g.o.Library && g.chance(6) {
		return g.libraryValue()
	}
	switch g.pick(16) {
	case 0, 1, 2:
		return g.leaf()
	case 3, 4:
		op := [...]string{"+", "-", "*", "&", "|", "^"}[g.pick(6)]
		x := g.expr(deep - 1)
		return "(" + x + " " + op + " " + g.expr(deep-1) + ")"
	case 5:
		return g.called(func() string { return "twice(" + g.expr(deep-1) + ")" })
	case 6:
		return g.conversion(deep)
	case 7:
		// The compiler makes a temporary variable of it, ahead of loads that stand before it,
		// as of a call.
		return g.called(func() string {
			x := g.expr(deep - 1)
			return fmt.Sprintf("max(%s, %s)", x, g.expr(deep-1))
		})
	case 8:
		return g.called(func() string { return "same[int](" + g.expr(deep-1) + ")" })
	case 9:
		return g.called(func() string {
			return "func(v int) int { return v - 1 }(" + g.expr(deep-1) + ")"
		})
	case 10:
		return fmt.Sprintf("[]int{%s, %d}[0]", g.expr(deep-1), g.pick(3))
	case 11, 12:
		return g.bump()
	case 13:
		op := [...]string{"<<", ">>", "/", "%"}[g.pick(4)]
		return "(" + g.expr(deep-1) + " " + op + " " + fmt.Sprint(1+g.pick(3)) + ")"
	case 14:
		return g.called(func() string {
			return "func() func() int { v := " + g.expr(deep-1) + "; return func() int { v++; return v } }()()"
		})
	default:
		return g.atomicExpr(deep)
	}
}

// bump is a call that changes a variable.
func (g *gen) bump() string {
	v := g.choose(true, number)
	if v == nil {
		return g.leaf()
	}
	return g.called(func() string {
		if g.chance(2) {
			return "bump(&" + v.text + ")"
		}
		return fmt.Sprintf("func() int { %s += 2; return %s }()", v.text, v.text)
	})
}

// statement begins the expressions of a statement.
func (g *gen) statement() { g.loaded = append(g.loaded[:0], false) }

// called writes a call, if there may be one here: see Options.OpenOrder. Otherwise it is a
// constant.
func (g *gen) called(call func() string) string {
	if !g.mayCall() {
		return fmt.Sprint(g.pick(3))
	}
	g.loaded = append(g.loaded, false)
	text := call()
	g.loaded = g.loaded[:len(g.loaded)-1]
	return text
}

func (g *gen) mayCall() bool {
	if g.o.OpenOrder {
		return true
	}
	for _, l := range g.loaded {
		if l {
			return false
		}
	}
	return true
}

// leaf is a constant, a local variable or a load.
func (g *gen) leaf() string {
	switch g.pick(5) {
	case 0:
		return fmt.Sprint(g.pick(4))
	case 1:
		if len(g.scope) > 0 {
			return g.scope[g.pick(len(g.scope))]
		}
		return fmt.Sprint(1 + g.pick(2))
	default:
		return g.load()
	}
}

// load is a load of a variable that may be used here.
func (g *gen) load() string {
	v := g.choose(false, append([]variableKind{number, list, mapping}, values...)...)
	if v == nil {
		return fmt.Sprint(g.pick(3))
	}
	text := v.text
	switch v.kind {
	case number:
		if v.object.name != "" && g.chance(2) {
			return g.byMethod(&v.object)
		}
	case list:
		switch g.pick(3) {
		case 0:
			text += "[0]"
		case 1:
			text = "len(" + text + ")"
		default:
			text += "[len(" + text + ")-1]"
		}
	case mapping:
		if !g.mayCall() {
			return fmt.Sprint(g.pick(3))
		}
		if g.chance(3) {
			text = "len(" + text + ")"
		} else {
			text += fmt.Sprintf("[%d]", g.pick(2))
		}
	default:
		return g.loadValue(v)
	}
	g.loaded[len(g.loaded)-1] = true
	return text
}

// choose returns a variable of one of the kinds that may be used here, nil if there is none.
func (g *gen) choose(writes bool, kinds ...variableKind) *variable {
	var all []*variable
	for i := range g.vars {
		v := &g.vars[i]
		for _, k := range kinds {
			if v.kind == k && g.usable(v, writes) {
				all = append(all, v)
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	return all[g.pick(len(all))]
}

// atomicExpr is an atomic operation, which may have others in its arguments.
func (g *gen) atomicExpr(deep int) string {
	v := g.choose(true, atomicN)
	if v == nil {
		return g.leaf()
	}
	return g.called(func() string {
		arg := func() string { return "int64(" + g.expr(deep-1) + ")" }
		switch g.pick(4) {
		case 0:
			return "int(" + v.text + ".Load())"
		case 1:
			return "int(" + v.text + ".Add(" + arg() + "))"
		case 2:
			return "int(" + v.text + ".Swap(" + arg() + "))"
		default:
			return "int(" + v.text + ".Or(" + arg() + "))"
		}
	})
}

// cond is a condition.
func (g *gen) cond(deep int) string {
	x := g.expr(deep)
	op := [...]string{"<", "==", ">=", "!="}[g.pick(4)]
	text := x + " " + op + " " + g.expr(deep)
	if g.chance(4) {
		g.statement() // the other side is evaluated later, or not at all
		text += [...]string{" && ", " || "}[g.pick(2)] + g.expr(deep) + " > 0"
	}
	return text
}
