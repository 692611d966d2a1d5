package randprog

import "fmt"

// libraryCall writes a call of the standard library that changes a list or a map.
func (g *gen) libraryCall(v *variable) {
	if v.kind == mapping {
		if g.chance(2) {
			g.line("maps.Copy(%s, map[int]int{%d: %s})", v.text, g.pick(2), g.expr(1))
		} else {
			g.line("maps.DeleteFunc(%s, func(k, v int) bool { return v > %d })", v.text, g.pick(3))
		}
		return
	}
	switch g.pick(4) {
	case 0:
		g.line("slices.Reverse(%s)", v.text)
	case 1:
		g.line("slices.Sort(%s)", v.text)
	case 2:
		g.line("%s = slices.Insert(%s, 0, %d)", v.text, v.text, g.pick(3))
	default:
		g.line("%s = slices.Grow(%s, 1)", v.text, v.text)
	}
}

// libraryValue is a call of the standard library that looks at a list or a map.
func (g *gen) libraryValue() string {
	v := g.choose(false, list, mapping)
	if v == nil {
		return g.leaf()
	}
	return g.called(func() string {
		if v.kind == mapping {
			return "len(slices.Sorted(maps.Keys(" + v.text + ")))"
		}
		switch g.pick(3) {
		case 0:
			return fmt.Sprintf("slices.Index(%s, %d)", v.text, g.pick(3))
		case 1:
			return "slices.Max(" + v.text + ")"
		default:
			return "len(slices.Compact(slices.Clone(" + v.text + ")))"
		}
	})
}
