package txprog

// Statements as programs have them beyond the plain ones: containers of containers, named and
// generic types, values of methods, errors, and panics of the runtime.

func (g *generator) idiom() {
	idioms := []func(){
		g.mapOfMaps, g.mapOfSlices, g.structKeys, g.rows, g.aliasing, g.arrays, g.faults, g.deferredLoop, g.methodValues,
		g.embedding, g.genericIndex, g.severalResults, g.recursion, g.unnamed, g.comparing, g.globals, g.chosen, g.runes, g.pairs, g.reader, g.wrapping,
		g.writing, g.chains, g.sequences, g.sequences, g.sorting, g.searching, g.failing,
		g.packing, g.packing, g.ordering,
	}
	if g.deeds {
		idioms = append(idioms, g.channel, g.channel, g.goroutine, g.locking, g.heaping)
	}
	idioms[g.random.IntN(len(idioms))]()
}

func (g *generator) mapOfMaps() {
	k := g.pick(`"a"`, `"b"`)
	switch g.random.IntN(4) {
	case 0:
		g.line("if s.nested[%s] == nil { s.nested[%s] = map[int]int{} }", k, k)
		g.line("s.nested[%s][small(%s)%%4] += small(%s)", k, g.atom(), g.number())
	case 1:
		g.line("delete(s.nested[%s], small(%s)%%4)", k, g.atom())
	case 2:
		g.line("for _, inner := range s.nested { for k, v := range inner { s.n = small(s.n + k + v) } }")
	default:
		g.line("if inner, ok := s.nested[%s]; ok { inner[1]++; if len(inner) > 3 { delete(s.nested, %s) } }", k, k)
	}
}

func (g *generator) mapOfSlices() {
	k := g.fresh("k")
	g.line("%s := small(%s) %% 3", k, g.atom())
	g.line("s.lists[%s] = append(s.lists[%s], small(%s))", k, k, g.number())
	switch g.random.IntN(3) {
	case 0:
		g.line("s.lists[%s][0]++", k)
	case 1:
		g.line("if l := s.lists[%s]; len(l) > 5 { s.lists[%s] = l[3:] }", k, k)
	default:
		g.line("for i := range s.lists[%s] { s.lists[%s][i] = small(s.lists[%s][i] + i) }; s.n = small(s.n + total(s.lists[%s]...))", k, k, k, k)
	}
	g.line("if len(s.lists[%s]) > 9 { delete(s.lists, %s) }", k, k)
}

func (g *generator) structKeys() {
	p := g.fresh("p")
	g.line("%s := point{small(%s) %% 3, 1}", p, g.atom())
	switch g.random.IntN(3) {
	case 0:
		g.line("s.places[%s] = &node{small(%s), s.head}", p, g.number())
	case 1:
		g.line("if n := s.places[%s]; n != nil { n.val = small(n.val + %s); s.n = n.val }", p, g.atom())
	default:
		g.line("if n, ok := s.places[%s]; ok && n.next != nil { s.places[%s], n.next = n.next, nil } else { delete(s.places, %s) }", p, p, p)
	}
}

func (g *generator) rows() {
	i := g.fresh("i")
	g.line("%s := at(%s, len(s.rows))", i, g.atom())
	switch g.random.IntN(3) {
	case 0:
		g.line("s.rows[%s] = append(s.rows[%s], small(%s)); if len(s.rows[%s]) > 6 { s.rows[%s] = s.rows[%s][2:4:5] }", i, i, g.number(), i, i, i)
	case 1:
		g.line("for _, row := range s.rows[%s:] { for j := range row { row[j] = small(row[j] + %s) } }", i, g.atom())
	default:
		g.line("s.rows[%s], s.rows[0] = s.rows[0], s.rows[%s]; s.n = small(s.n + len(s.rows[%s]))", i, i, i)
	}
}

// aliasing has two slices of one array: what is appended to one is seen in the other.
func (g *generator) aliasing() {
	a, b := g.fresh("a"), g.fresh("b")
	g.line("if len(s.xs) > 2 {")
	switch g.random.IntN(3) {
	case 0:
		g.line("\t%s := s.xs[:1]; %s := append(%s, small(%s)); %s[0]++; s.n = small(s.xs[1] + len(%s))", a, b, a, g.atom(), b, b)
	case 1:
		g.line("\t%s := s.xs[0:1:1]; %s := append(%s, small(%s)); %s[0]++; s.n = small(s.xs[0] + %s[1])", a, b, a, g.atom(), b, b)
	default:
		g.line("\t%s := s.xs[1:]; copy(s.xs, %s); %s[0] = small(%s); s.n = small(s.n + s.xs[1])", a, a, a, g.number())
	}
	g.line("}")
}

func (g *generator) arrays() {
	v := g.fresh("v")
	switch g.random.IntN(6) {
	case 4:
		g.line("for %s := range s.rowsOf() { s.n = small(s.n + %s + s.count) }", v, v)
	case 5:
		g.line("var %s *state; for i := range %s.grid { s.n = small(s.n + i + %s) }", v, v, g.atom())
	case 0:
		g.line("for i, %s := range &s.grid { s.grid[2-i][0] = small(%s[1] + %s) }", v, v, g.atom())
	case 1:
		g.line("if len(s.xs) > 1 { (*[2]int)(s.xs)[1] = small(%s); %s := [2]int(s.xs); s.n = small(%s[0] - %s[1]) }", g.number(), v, v, v)
	case 2:
		g.line("%s := &s.grid[1]; %s[0], %s[3] = %s[3], small(%s); clear(%s[1:2])", v, v, v, v, g.number(), v)
	default:
		g.line("%s := s.grid[0]; for i := range %s { %s[i] += s.grid[1][i] }; s.flag = %s == s.grid[0]; s.grid[2] = %s", v, v, v, v, v)
	}
}

// faults recovers what the runtime panics with; what came before it has happened.
func (g *generator) faults() {
	g.line("func() {")
	g.line("\tdefer func() { if v := recover(); v != nil { _, known := v.(runtime.Error); s.flag = known; s.count++ } }()")
	g.line("\ts.n = small(%s)", g.number())
	g.line("\t%s", g.pick(
		"s.xs[len(s.xs)-1+at(s.n, 2)]++",
		"var none map[int]int; if s.n%2 == 0 { none[1] = 1 }",
		"s.any = s.any.(int) + 1",
		"s.n = 7 / at(s.n, 2)",
		"var none *node; if s.n%2 == 0 { none = s.head }; none.val++",
		"s.text = s.text[at(s.n, 30):]",
		"var none shape; if s.n%2 == 0 { none = s.shapes[0] }; s.n = small(none.area(1))",
		"s.xs = append(s.xs[:0:0], s.xs[:at(s.n, 9)]...)",
		"_ = [3]int(s.xs)",
		"s.bytes = make([]byte, s.n%5-1)",
		"var none *int; if s.n%2 == 0 { none = &s.inner.count }; *none = s.level",
		"var none *point; if len(s.points) > 0 && s.n%2 == 0 { none = &s.points[0] }; *none = point{s.level, 1}",
		"s.xs = slices.Delete(s.xs, at(s.n, 4), at(s.level, 4))",
		"s.xs = slices.Insert(s.xs, at(s.n, 9), s.level)",
	))
	g.line("\ts.level++")
	g.line("}()")
}

func (g *generator) deferredLoop() {
	v := g.fresh("v")
	g.line("func() (%s int) {", v)
	g.line("\tdefer func() { %s = small(%s + s.count); s.n = %s }()", v, v, v)
	g.line("\tfor i := range 1 + at(%s, 3) { defer func() { %s += i; s.xs = append(s.xs, i) }() }", g.atom(), v)
	g.line("\tif %s { return small(%s) }", g.condition(), g.number())
	g.line("\ts.count++; return %s", g.atom())
	g.line("}()")
	g.line("if len(s.xs) > 20 { s.xs = s.xs[10:] }")
}

func (g *generator) methodValues() {
	f := g.fresh("f")
	switch g.random.IntN(6) {
	case 4:
		g.line("s.n = small(shape.area(s.shapes[at(%s, len(s.shapes))], %s) + (*deep).sink(s.deep, 1) + inner.sum(s.inner))", g.atom(), g.atom())
	case 0:
		g.line("%s := (*deep).sink; s.n = small(%s(s.deep, 2))", f, f)
	case 1:
		g.line("%s := s.shapes[at(%s, len(s.shapes))].area; s.n = small(%s(%s))", f, g.atom(), f, g.atom())
	case 2:
		g.line("%s := shape.area; s.n = small(%s(s.shapes[0], %s))", f, f, g.atom())
	case 3:
		g.line("%s := s.kept.add; %s(small(%s)); %s(1)", f, f, g.number(), f)
	default:
		g.line("%s := map[string]func(int) int{\"a\": small, \"b\": s.fn}[%s]; if %s != nil { s.n = small(%s(%s)) }", f, g.pick(`"a"`, `"b"`, `"c"`), f, f, g.atom())
	}
}

func (g *generator) embedding() {
	w := g.fresh("w")
	switch g.random.IntN(5) {
	case 3:
		g.line("if len(s.shapes) < 7 { s.shapes = append(s.shapes, &strip{point{2, small(%s)}}, &framed{&square{%s}}, framed{&square{1}}) }", g.number(), g.atom())
	case 4: // Go reads what these lead to before it calls a method of theirs
		g.line("for _, %s := range s.shapes {", w)
		g.line("\tswitch %s := %s.(type) {", w, w)
		g.line("\tcase *strip: %s.p.x = small(%s)", w, g.atom())
		g.line("\tcase *framed: %s.square = &square{small(%s) %% 50}", w, g.atom())
		g.line("\t}")
		g.line("\ts.n = small(s.n + %s.area(1))", w)
		g.line("}")
	case 0:
		g.line("s.wrapped = &wrapper{s.shapes[at(%s, len(s.shapes))], small(%s)}", g.atom(), g.number())
	case 1:
		g.line("if %s := s.wrapped; %s != nil { %s.extra = small(%s.area(%s) + %s.extra); s.n = %s.extra }", w, w, w, w, g.atom(), w, w)
	default:
		g.line("if %s, ok := s.any.(shape); ok { s.n = small(%s.area(1)) } else if s.wrapped != nil { s.any = s.wrapped }", w, w)
		g.line("if _, ok := s.any.(*wrapper); ok { s.any = 3 }")
	}
}

func (g *generator) genericIndex() {
	switch g.random.IntN(4) {
	case 0:
		g.line("s.index.add(%s, small(%s))", g.pick(`"a"`, `"b"`), g.number())
	case 1:
		g.line("s.n = small(s.n + s.index.count(%s))", g.pick(`"a"`, `"b"`))
	case 2:
		g.line("s.n = small(s.n + total(filter(s.xs, func(v int) bool { return v > %s })...))", g.atom())
	default:
		g.line("if v, ok := s.index.last(%s); ok { s.n = small(v + %s) }", g.pick(`"a"`, `"b"`), g.atom())
	}
}

func (g *generator) severalResults() {
	a, b := g.fresh("a"), g.fresh("b")
	switch g.random.IntN(3) {
	case 0:
		g.line("%s, %s := both(s, %s); s.n, s.count = small(%s), small(%s)", a, b, g.atom(), b, a)
	case 1:
		g.line("s.n = small(total(both(s, %s)))", g.atom())
	default:
		g.line("s.grid[0][1], s.m[4] = both(s, small(%s))", g.number())
	}
}

func (g *generator) recursion() {
	f := g.fresh("f")
	if g.random.IntN(2) == 0 {
		g.line("s.n = small(s.n + length(s.head))")
		return
	}
	g.line("var %s func(p *node, n int) int", f)
	g.line("%s = func(p *node, n int) int { if p == nil || n == 0 { return %s }; p.val = small(p.val + 1); return %s(p.next, n-1) + 1 }", f, g.atom(), f)
	g.line("s.n = small(%s(s.head, 3))", f)
}

func (g *generator) unnamed() {
	v := g.fresh("v")
	switch g.random.IntN(3) {
	case 0:
		g.line("s.unnamed.tags = append(s.unnamed.tags, s.text); if len(s.unnamed.tags) > 3 { s.unnamed.tags = s.unnamed.tags[1:] }")
	case 1:
		g.line("%s := s.unnamed; %s.a, %s.b = %s.b, small(%s); s.unnamed = %s", v, v, v, v, g.number(), v)
	default:
		g.line("for _, %s := range []struct{ k, v int }{{1, s.n}, {2, %s}} { s.m[%s.k] = small(%s.v + s.unnamed.a) }", v, g.atom(), v, v)
	}
}

func (g *generator) comparing() {
	switch g.random.IntN(4) {
	case 0:
		g.line("s.flag = s.any == any(%s)", g.atom())
	case 1:
		g.line("if s.shapes[0] == s.shapes[len(s.shapes)-1] { s.n++ }")
	case 2:
		g.line("s.flag = s.grid[0] == [4]int{%s} && s.inner.deep == s.deep", g.atom())
	default:
		g.line("if s.head != nil && s.places[point{1, 1}] == s.head { s.n-- }")
	}
}

func (g *generator) globals() {
	switch g.random.IntN(4) {
	case 0:
		g.line("table[%d] = small(%s)", g.random.IntN(3), g.number())
	case 1:
		p := g.fresh("p")
		g.line("%s := &global; *%s = small(*%s + %s)", p, p, p, g.atom())
	case 2:
		g.line("registry[%s]++; if registry[\"a\"] > 5 { delete(registry, \"a\") }", g.pick(`"a"`, `"b"`))
	default:
		g.line("for i := range table { s.n = small(s.n + table[i] + registry[\"b\"]) }")
	}
}

// chosen has statements with an initial one, and labels around a switch.
func (g *generator) chosen() {
	label, v := g.fresh("chosen"), g.fresh("v")
	g.line("%s:", label)
	g.line("for i := range 3 {")
	g.line("\tswitch %s := small(%s + i); {", v, g.number())
	g.line("\tcase %s > 500: s.n++; break %s", v, label)
	g.line("\tcase %s%%3 == 0: s.m[i] = %s; continue %s", v, v, label)
	g.line("\tcase s.m[i] > %s: delete(s.m, i); fallthrough", v)
	g.line("\tdefault: if w, ok := s.words[\"a\"]; ok && w.x != %s { s.words[\"a\"] = point{%s, w.y} } else { break %s }", v, v, label)
	g.line("\t}")
	g.line("}")
}

func (g *generator) runes() {
	v := g.fresh("v")
	switch g.random.IntN(3) {
	case 0:
		g.line("for i, %s := range s.text { s.n = small(s.n + i*int(%s)) }", v, v)
	case 1:
		g.line("%s := []rune(s.text); if len(%s) > 0 { %s[0] = 'q'; s.text = string(%s) }", v, v, v, v)
	default:
		g.line("%s := append([]byte(nil), s.text...); s.bytes = append(s.bytes[:0], %s...); s.n = small(s.n + copy(s.bytes, \"ab\"))", v, v)
		g.line("if len(s.bytes) > 30 { s.bytes = s.bytes[25:] }")
	}
}

// pairs leaves a loop over a function early, out of a function as well.
func (g *generator) pairs() {
	v := g.fresh("v")
	g.line("s.n = small(func() int {")
	g.line("\tfor i, %s := range s.queue.pairs() {", v)
	g.line("\t\tif %s > %s { return i }", v, g.atom())
	g.line("\t\tif i > 4 { break }")
	g.line("\t\ts.queue.items[i] = small(%s + 1)", v)
	g.line("\t}")
	g.line("\treturn %s", g.atom())
	g.line("}())")
}

// reader changes a value that an interface holds a copy of, and one that it holds a pointer to.
func (g *generator) reader() {
	v := g.fresh("v")
	g.line("%s := point{small(%s), 2}", v, g.number())
	g.line("var held%s any = %s; %s.x++; if p, ok := held%s.(point); ok { s.n = small(p.x + %s.x) }", v, v, v, v, v)
	g.line("held%s = &%s; held%s.(*point).y = %s; s.points[0] = %s", v, v, v, g.atom(), v)
}

// channel sends and receives where nothing has to be waited for: other transactions wait.
func (g *generator) channel() {
	switch g.random.IntN(4) {
	case 0:
		g.line("if len(s.pipe) < cap(s.pipe) { s.pipe <- small(%s) }", g.number())
	case 1:
		g.line("select { case v := <-s.pipe: s.n = small(s.n + v); default: s.count++ }")
	case 2:
		g.line("s.n = small(s.n + len(s.pipe)*%s)", g.atom())
	default:
		g.line("if len(s.pipe) > 2 { v, ok := <-s.pipe; s.n, s.flag = small(v), ok }")
	}
}

func (g *generator) goroutine() {
	done := g.fresh("done")
	g.line("%s := make(chan int); go func() { s.xs = append(s.xs, small(%s)); s.n++; %s <- s.n }(); s.n = small(<-%s + %s)", done, g.atom(), done, done, g.atom())
	g.line("if len(s.xs) > 20 { s.xs = s.xs[10:] }")
}

// locking calls nothing while it holds the lock, or a function that locks as well would wait for
// ever.
func (g *generator) locking() {
	v := g.fresh("v")
	g.line("%s := small(%s)", v, g.number())
	g.line("s.mu.Lock(); s.n = %s; s.mu.Unlock()", v)
}

func (g *generator) heaping() {
	if g.random.IntN(2) == 0 {
		g.line("heap.Push(&s.heap, small(%s))", g.number())
	}
	g.line("if s.heap.Len() > %d { s.n = small(s.n + heap.Pop(&s.heap).(int)) }", g.random.IntN(4))
}

// wrapping has errors of the program's own, whose methods read what transactions change, written
// out by functions that call them.
func (g *generator) wrapping() {
	switch g.random.IntN(4) {
	case 0:
		g.line("s.err = &failure{small(%s)}", g.number())
	case 1:
		g.line("if f, ok := s.err.(*failure); ok { f.code = small(f.code + %s); s.n = small(s.n + len(fmt.Sprint(s.err))) }", g.atom())
	case 2:
		g.line("if err := fmt.Errorf(\"%%d: %%w\", %s, s.err); errors.Is(err, errOdd) { s.n++ } else { s.text = fmt.Sprintf(\"%%.9v\", err) }", g.atom())
	default:
		g.line("s.err = errOdd")
	}
}

// failing has errors, wrapped and of a type of their own.
func (g *generator) failing() {
	switch g.random.IntN(4) {
	case 0:
		g.line("s.err = fmt.Errorf(\"%%d: %%w\", small(%s), errOdd)", g.number())
	case 1:
		g.line("if errors.Is(s.err, errOdd) { s.n++; s.err = nil }")
	case 2:
		g.line("s.err = &failure{small(%s)}", g.number())
	default:
		g.line("if f := (*failure)(nil); errors.As(s.err, &f) { f.code = small(f.code + 1); s.n = f.code }")
	}
}
