package txprog

// Statements over values that share words, or that are copied whole, and over containers that
// call methods of their types' parameters.

// packedText is what these statements need of the program.
const packedText = `
// A packed has several variables in most of its words.
type packed struct {
	a       int8
	b, c    uint8
	on, off bool
	r       rune
	z       complex64
	cells   [5]uint8
	halves  [2][3]int16
	in      struct {
		x, y byte
		name [2]string
	}
	deep [20]int
}

func (p packed) sum() (n int)         { p.cells[0]++; for _, c := range p.cells { n += int(c) }; return n + int(p.b) + p.deep[3] }
func (p *packed) cell(i int) *uint8   { p.c++; return &p.cells[i] }
func (p *packed) next() *packed       { p.a++; return p }

type ranker interface{ rank() int }

type mark int

func (g mark) rank() int { return int(g) }

// A seen counts how often its rank was asked for.
type seen struct{ n, asked int }

func (s *seen) rank() int { s.asked++; return s.n }

// An ordered is a tree of values by keys.
type ordered[K cmp.Ordered, V ranker] struct {
	key         K
	val         V
	left, right *ordered[K, V]
}

func (o *ordered[K, V]) put(k K, v V) *ordered[K, V] {
	if o == nil {
		return &ordered[K, V]{key: k, val: v}
	}
	switch c := cmp.Compare(k, o.key); {
	case c < 0:
		o.left = o.left.put(k, v)
	case c > 0:
		o.right = o.right.put(k, v)
	case o.val.rank()%2 == 0 || cmp.Less(k, o.key):
		o.val = v
	default:
		o.left, o.right = o.right.put(k, v), nil
	}
	return o
}

func (o *ordered[K, V]) walk(yield func(K, V) bool) {
	if o != nil {
		o.left.walk(yield)
		if !yield(o.key, o.val) {
			return
		}
		o.right.walk(yield)
	}
}

func (s *state) dumpPacked() (text string) {
	for k, v := range s.tree.walk {
		text += fmt.Sprint(" ", k, *v)
	}
	for k, v := range s.grades.walk {
		text += fmt.Sprint(" ", k, v)
	}
	return fmt.Sprint(s.packed, text)
}

func ranks[V ranker](values ...V) (n int) {
	for _, v := range values {
		n = small(n*3 + v.rank())
	}
	return n
}
`

func (g *generator) packing() {
	v := g.fresh("v")
	switch g.random.IntN(14) {
	case 0:
		g.line("s.packed.b <<= uint(small(%s) %% 3); s.packed.b |= 1; s.packed.c -= s.packed.b >> 1", g.number())
	case 1:
		g.line("s.packed.on, s.packed.off = s.packed.off, !s.packed.on; s.flag = s.packed.on && %s", g.condition())
	case 2:
		g.line("if s.packed.z += complex(float32(s.packed.a), 1); real(s.packed.z) > 500 || imag(s.packed.z) > 50 { s.packed.z = 0 }; s.n = small(s.n + int(imag(s.packed.z*2i)))")
	case 3:
		g.line("s.packed.cells[at(%s, 5)] += uint8(small(%s)); s.packed.cells[1], s.packed.cells[4] = s.packed.cells[4], s.packed.cells[1]", g.atom(), g.number())
	case 4:
		g.line("s.packed.halves[at(%s, 2)][at(%s, 3)] -= int16(s.packed.a); s.packed.halves[0], s.packed.halves[1] = s.packed.halves[1], s.packed.halves[0]", g.atom(), g.atom())
	case 5:
		g.line("%s := s.packed; %s.cells[1]++; %s.in.x += %s.b; %s.deep[3] = small(%s); s.packed = %s", v, v, v, v, v, g.number(), v)
	case 6:
		g.line("%s := &s.packed; *%s = packed{a: %s.a, cells: %s.cells, z: %s.z, r: rune(small(%s)), in: %s.in}", v, v, v, v, v, g.number(), v)
	case 7:
		g.line("for %s, c := range s.packed.cells { s.packed.cells[4-%s] = c + uint8(%s) }", v, v, v)
	case 8:
		g.line("copy(s.packed.cells[1:], s.packed.cells[:]); copy(s.packed.cells[:], s.bytes); s.n = small(s.n + len(string(s.packed.cells[:2])))")
	case 9:
		g.line("*s.packed.cell(at(%s, 5)) += uint8(small(%s)); s.packed.next().next().deep[at(%s, 20)]++", g.atom(), g.number(), g.atom())
	case 10:
		g.line("%s := s.packed.in; %s.y++; %s.name[0], %s.name[1] = %s.name[1], s.text; if s.packed.in != %s { s.packed.in = %s; s.n-- }", v, v, v, v, v, v, v)
	case 11:
		g.line("s.n = small(max(s.n, int(s.packed.a), %s) + min(int(s.packed.b), s.level) + s.packed.sum())", g.atom())
	case 12:
		g.line("%s := packed.sum; s.n = small(s.n + %s(s.packed)); clear(s.packed.cells[at(%s, 5):])", v, v, g.atom())
	default:
		g.line("%s := [2]packed{s.packed, {b: uint8(small(%s))}}; %s[1].cells = %s[0].cells; s.packed, %s[0] = %s[1], s.packed; s.n = small(%s[0].sum() - s.packed.sum())", v, g.number(), v, v, v, v, v)
	}
}

func (g *generator) ordering() {
	v := g.fresh("v")
	switch g.random.IntN(6) {
	case 0:
		g.line("s.tree = s.tree.put(s.text[:min(2, len(s.text))], &seen{n: small(%s)})", g.number())
	case 1:
		g.line("s.grades = s.grades.put(small(%s) %% 9, mark(small(%s)))", g.number(), g.atom())
	case 2:
		g.line("for k, %s := range s.tree.walk { s.n = small(s.n*3 + len(k) + %s.rank()) }", v, v)
	case 3:
		g.line("for k, %s := range s.grades.walk { if k > 4 { s.n = small(s.n + ranks(%s, 2)); break }; s.count++ }", v, v)
	case 4:
		g.line("if s.tree != nil && s.tree.right != nil { s.tree = s.tree.right }; s.grades = nil")
	default:
		g.line("%s := &seen{small(%s), 1}; s.n = small(ranks(%s, %s) + %s.asked); s.tree = s.tree.put(\"k\", %s)", v, g.number(), v, v, v, v)
	}
}
