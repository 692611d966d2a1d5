package txprog

import "fmt"

// place is a number that can be assigned to.
func (g *generator) place() string {
	if len(g.locals) > 0 && g.random.IntN(3) == 0 {
		return g.pick(g.locals...)
	}
	return g.pick("s.n", "s.count", "s.level", "global", "steps", "s.inner.count",
		fmt.Sprintf("s.grid[at(%s, 3)][%d]", g.atom(), g.random.IntN(4)),
		fmt.Sprintf("s.m[small(%s)%%5]", g.atom()),
		"(*(&s.n))")
}

// atom is a small expression.
func (g *generator) atom() string {
	names := append(append([]string{}, g.locals...), g.readable...)
	if len(names) > 0 && g.random.IntN(2) == 0 {
		return g.pick(names...)
	}
	return g.pick("s.n", "s.count", "s.level", "global", "len(s.xs)", "len(s.m)", "len(s.text)", "int(s.small)", "s.inner.sum()",
		fmt.Sprint(g.random.IntN(20)), "s.grid[1][2]", "s.deep.level", "len(s.queue.items)", "cap(s.xs[:0:0])")
}

// number is an expression whose value is a number that does not grow without bounds.
func (g *generator) number() string {
	if g.depth > 3 {
		return g.atom()
	}
	g.depth++
	defer func() { g.depth-- }()
	switch g.random.IntN(22) {
	case 0:
		return fmt.Sprintf("(%s + %s)", g.number(), g.atom())
	case 1:
		return fmt.Sprintf("(%s - %s)", g.number(), g.number())
	case 2:
		return fmt.Sprintf("small(%s * %s)", g.number(), g.atom())
	case 3:
		return fmt.Sprintf("(%s / (1 + small(%s)))", g.number(), g.atom())
	case 4:
		return fmt.Sprintf("s.m[%s %% 6]", g.atom())
	case 5:
		return fmt.Sprintf("s.words[%q].x", g.pick("a", "b", "c"))
	case 6:
		if len(g.helpers) > 0 {
			return g.before("%s(s, small(%s))", g.pick(g.helpers...), g.number())
		}
	case 7:
		return g.before("s.shapes[at(%s, len(s.shapes))].area(%s)", g.atom(), g.atom())
	case 8:
		return g.before("s.sink(small(%s) %% 9)", g.atom())
	case 9:
		return g.before("small(s.fn(%s))", g.atom())
	case 10:
		return fmt.Sprintf("total(%s, %s)", g.atom(), g.number())
	case 11:
		return "total(s.xs...)"
	case 12:
		return fmt.Sprintf("fold(s.xs, func(r, v int) int { return small(r + v*%s) })", g.atom())
	case 13:
		return fmt.Sprintf("func() int { if %s { return %s }; return %s }()", g.condition(), g.atom(), g.number())
	case 14:
		return fmt.Sprintf("min(%s, %s, 40)", g.atom(), g.number())
	case 15:
		return fmt.Sprintf("len(fmt.Sprint(%s, s.text))", g.atom())
	case 16:
		return fmt.Sprintf("(small(%s) << 2 ^ %s)", g.atom(), g.atom())
	case 17:
		return fmt.Sprintf("int(s.small+int8(%s))", g.atom())
	case 18:
		return fmt.Sprintf("int(s.ratio*2)%%100 + len(string(s.bytes)) + len(s.text[:at(%s, len(s.text)+1)])", g.atom())
	case 19:
		return fmt.Sprintf("(others() + %s)", g.atom())
	}
	return g.atom()
}

// before has a call that changes data, mostly in a statement of its own, and returns what holds
// its result. In which order an expression reads variables and calls functions is for the
// compiler to choose: in some programs it must be seen to choose the same.
func (g *generator) before(format string, args ...any) string {
	if g.random.IntN(2) == 0 {
		return fmt.Sprintf(format, args...)
	}
	v := g.fresh("v")
	g.line(v+" := "+format, args...)
	return v
}

// condition is in parentheses, because it may have composite literals.
func (g *generator) condition() string { return "(" + g.comparison() + ")" }

func (g *generator) comparison() string {
	switch g.random.IntN(7) {
	case 0:
		return "s.flag"
	case 1:
		return fmt.Sprintf("%s > %s && s.head != nil", g.number(), g.atom())
	case 2:
		return fmt.Sprintf("!s.flag || %s%%2 == 0", g.atom())
	case 3:
		return fmt.Sprintf("s.points[at(%s, len(s.points))] == point{1, %s}", g.atom(), g.atom())
	case 4:
		return fmt.Sprintf("s.text < %q", g.pick("go", "gop", "x"))
	}
	return fmt.Sprintf("%s %s %s", g.number(), g.pick("<", ">=", "=="), g.atom())
}
