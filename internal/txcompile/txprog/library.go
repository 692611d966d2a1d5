package txprog

import "fmt"

// Statements that call functions of the standard library which transactions do without running
// alone: those that write values out, look through errors, and go through slices and maps.

// libraryText is what these statements need of the program.
const libraryText = `
type grade int

func (g grade) String() string { return "g" + strconv.Itoa(int(g)) }

// A label counts how often it was written out.
type label struct {
	text string
	seen int
}

func (l *label) String() string { l.seen++; return l.text }

var errEven = errors.New("even")

// A refusal wraps an error, and says by itself what it is.
type refusal struct {
	err  error
	code int
}

func (r *refusal) Error() string        { return fmt.Sprintf("refused %d: %v", r.code, r.err) }
func (r *refusal) Unwrap() error        { return r.err }
func (r *refusal) Is(target error) bool { return target == errEven && r.code%2 == 0 }

// A queue is kept by container/heap, and is sorted by package sort. Two of its methods have a
// pointer for their receiver.
type queue []int

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i]%100 < q[j]%100 || q[i]%100 == q[j]%100 && q[i] < q[j] }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(v any)        { *q = append(*q, v.(int)) }
func (q *queue) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

// described says what a value is whose type is not known.
func described[T comparable](v, w T) string { return fmt.Sprintf("%v %v", v, v == w) }
`

func (g *generator) writing() {
	switch g.random.IntN(11) {
	case 8:
		g.line("s.n = small(s.n + len(described(s.points[at(%s, len(s.points))], point{})) + len(described(s.text, \"x\")))", g.atom())
	case 9:
		g.line("s.n = small(s.n + len(described[any](s.any, grade(%s))) + len(described(grade(2), 3)))", g.atom())
	case 0:
		g.line("s.text = fmt.Sprintf(\"%%.9v\", s.any)")
	case 1:
		g.line("s.text = fmt.Sprint(grade(small(%s) %% 9), s.flag)", g.atom())
	case 2:
		g.line("s.any = &label{s.text, %s}", g.atom())
	case 3:
		g.line("if known, ok := s.any.(*label); ok { s.n = small(s.n + len(fmt.Sprint(known)) + known.seen); known.text = \"l\" }")
	case 4:
		g.line("if s.text = fmt.Sprintf(\"%%v\", s.xs); len(s.text) > 12 { s.text = s.text[:12] }")
	case 5:
		g.line("s.n = small(s.n + len(fmt.Sprintf(\"%%v %%v\", []any{%s, s.err}...)))", g.atom())
	case 6:
		b := g.fresh("b")
		g.line("var %s strings.Builder; fmt.Fprintf(&%s, \"%%v-%%d\", s.any, %s); %s.WriteByte('z'); s.n = small(s.n + %s.Len())", b, b, g.number(), b, b)
	case 7:
		g.line("if s.bytes = strconv.AppendInt(s.bytes, int64(%s), 10); len(s.bytes) > 9 { s.bytes = s.bytes[4:] }", g.number())
	default:
		g.line("s.any = grade(%s)", g.atom())
	}
}

// chains has errors that say by themselves what they are, and what they wrap.
func (g *generator) chains() {
	switch g.random.IntN(8) {
	case 6:
		g.line("if refused, ok := errors.AsType[*refusal](s.err); ok { refused.code = small(refused.code + %s); s.count++ }", g.atom())
	case 0:
		g.line("s.err = &refusal{errOdd, small(%s)}", g.number())
	case 1:
		g.line("if errors.Is(s.err, errEven) { s.count++ }")
	case 2:
		g.line("if refused := (*refusal)(nil); errors.As(s.err, &refused) { refused.code = small(refused.code + %s); s.n = refused.code }", g.atom())
	case 3:
		g.line("s.err = errors.Join(errOdd, &failure{small(%s)})", g.atom())
	case 4:
		g.line("s.err = fmt.Errorf(\"%%d: %%w\", %s, &refusal{errEven, small(%s)})", g.atom(), g.atom())
	case 5:
		f := g.fresh("f")
		g.line("var %s *failure; if errors.As(s.err, &%s) { %s.code = small(%s.code + 1); s.n = %s.code }", f, f, f, f, f)
	default:
		g.line("if refused, ok := s.err.(*refusal); ok { refused.err = &failure{small(%s)}; s.flag = errors.Is(refused, errOdd) }", g.atom())
	}
}

// sequences has functions of packages slices and maps that change what they are given, and
// iterators.
func (g *generator) sequences() {
	v := g.fresh("v")
	switch g.random.IntN(24) {
	case 13:
		g.line("%s := s.xs; s.xs = slices.Compact(s.xs); s.n = small(s.n*3 + total(%s...))", v, v)
	case 14:
		g.line("%s := s.xs; s.xs = slices.CompactFunc(s.xs, func(a, b int) bool { s.count++; return a%%3 == b%%3 }); s.n = small(s.n*3 + total(%s...))", v, v)
	case 15:
		g.line("%s := append(slices.Grow(s.xs, %s&7), %s); s.n = small(s.n + total(%s...) + total(s.xs...))", v, g.atom(), g.atom(), v)
	case 16:
		g.line("%s := append(slices.Clip(s.xs), %s); %s[0]++; s.n = small(s.n + total(%s...))", v, g.atom(), v, v)
	case 17:
		g.line("%s := slices.Concat(s.xs, []int{%s}, s.xs[:len(s.xs)/2]); s.xs = %s[:min(len(%s), 15)]", v, g.atom(), v, v)
	case 18:
		g.line("%s := s.xs; i := at(%s, len(s.xs)+1); j := i + at(%s, len(s.xs)-i+1); s.xs = slices.Replace(s.xs, i, j, s.xs[:%s&1&len(s.xs)]...); s.n = small(s.n + total(%s...)); if len(s.xs) > 20 { s.xs = s.xs[10:] }", v, g.atom(), g.atom(), g.atom(), v)
	case 19:
		g.line("for i, %s := range slices.Backward(s.xs) { if i > 0 { s.xs[i-1] = small(s.xs[i-1] + %s) } else { s.n = small(s.n + %s) } }", v, v, v)
	case 20:
		g.line("for %s := range slices.Chunk(s.xs, 1+%s&3) { %s[0]++; s.n = small(s.n*3 + len(%s)) }", v, g.atom(), v, v)
	case 21:
		g.line("%s := maps.Collect(maps.All(s.m)); maps.Insert(s.m, maps.All(map[int]int{1: %s})); s.flag = maps.Equal(s.m, %s)", v, g.atom(), v)
	case 22:
		g.line("%s := queue(s.xs); heap.Init(&%s); heap.Push(&%s, small(%s)); s.n = small(s.n + heap.Pop(&%s).(int)); sort.Sort(%s); s.xs = %s", v, v, v, g.atom(), v, v, v)
	case 0:
		g.line("s.xs = slices.Insert(s.xs, at(%s, len(s.xs)+1), %s, s.n); if len(s.xs) > 20 { s.xs = slices.Delete(s.xs, 3, 15) }", g.atom(), g.atom())
	case 1:
		g.line("if len(s.xs) > 2 { %s := s.xs; s.xs = slices.Insert(s.xs[:len(s.xs)-1], 1, s.xs[:2]...); s.n = small(s.n + %s[len(%s)-1]) }; if len(s.xs) > 20 { s.xs = s.xs[10:] }", v, v, v)
	case 2:
		g.line("if len(s.xs) > 1 { %s := s.xs; s.xs = slices.Delete(s.xs, 0, 1); s.n = small(s.n + %s[len(%s)-1]) }", v, v, v)
	case 3:
		g.line("s.xs = slices.DeleteFunc(s.xs, func(%s int) bool { s.count++; return %s%%3 == %s })", v, v, g.atom())
	case 4:
		g.line("for _, %s := range slices.Sorted(maps.Keys(s.m)) { s.n = small(s.n*3 + s.m[%s]) }", v, v)
	case 5:
		g.line("for %s := range slices.Values(s.xs) { s.xs[0] = small(s.xs[0] + %s); if %s > 900 { break } }", v, v, v)
	case 6:
		g.line("for %s, x := range slices.All(s.points) { s.points[%s].x = small(x.y + %s) }", v, v, g.atom())
	case 7:
		g.line("%s := maps.Clone(s.m); %s[7]++; s.n = small(s.n + len(%s) + %s[7])", v, v, v, v)
	case 8:
		g.line("maps.Copy(s.m, s.nested[\"a\"])")
	case 9:
		g.line("maps.DeleteFunc(s.m, func(k, %s int) bool { return %s > %s })", v, v, g.atom())
	case 10:
		g.line("for _, r := range slices.SortedFunc(slices.Values(s.records), func(x, y *record) int { return cmp.Or(cmp.Compare(y.weight, x.weight), cmp.Compare(x.id, y.id)) }) { s.n = small(s.n*2 + r.weight) }")
	case 11:
		g.line("if s.xs = slices.AppendSeq(s.xs, slices.Values(s.xs[len(s.xs)/2:])); len(s.xs) > 20 { s.xs = s.xs[10:] }")
	case 12:
		g.line("%s := slices.Values(s.xs); s.xs = append(s.xs, %s); s.n = small(s.n + total(slices.Collect(%s)...)); if len(s.xs) > 20 { s.xs = s.xs[10:] }", v, g.atom(), v)
	default:
		g.line("for k, %s := range maps.All(s.m) { if k == 2 { s.n = small(s.n + %s) } }; s.n = small(s.n + total(slices.Sorted(maps.Values(s.m))...))", v, v)
	}
}

func (g *generator) sorting() {
	g.line("%s", g.pick(
		"sort.Slice(s.points, func(i, j int) bool { a, b := s.points[i], s.points[j]; return a.x < b.x || a.x == b.x && a.y < b.y })",
		"slices.Sort(s.xs)",
		"sort.Sort(sort.Reverse(sort.IntSlice(s.xs)))",
		fmt.Sprintf("slices.SortFunc(s.records, func(x, y *record) int { return cmp.Or(cmp.Compare(x.weight, y.weight), cmp.Compare(x.id, y.id), %s) })", g.atom()),
		"slices.Reverse(s.xs)",
	))
}

func (g *generator) searching() {
	g.line("%s", g.pick(
		fmt.Sprintf("if slices.Contains(s.xs, %s) { s.n++ }", g.atom()),
		fmt.Sprintf("s.n = small(s.n + slices.IndexFunc(s.xs, func(v int) bool { return v > %s }))", g.atom()),
		fmt.Sprintf("s.n = small(sort.Search(len(s.xs), func(i int) bool { return s.xs[i] > %s }))", g.atom()),
		"if len(s.xs) > 0 { s.n = small(slices.Max(s.xs) - slices.Min(s.xs)) }",
		"s.text = strings.Join(strings.Split(s.text, \"x\"), \"y\")",
		fmt.Sprintf("if i, ok := slices.BinarySearch(s.xs, %s); ok { s.n = small(i) }", g.atom()),
	))
}
