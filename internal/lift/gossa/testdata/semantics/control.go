package semantics

// Controls are the cases of statements, conversions and operators.
var Controls = map[string]func(x, y int64) int64{
	"NamedResult": NamedResult, "Switch": Switch, "Fallthrough": Fallthrough, "LabelledBreak": LabelledBreak, "Goto": Goto, "LoopVariables": LoopVariables,
	"ShortCircuit": ShortCircuit, "NegativeShift": NegativeShift, "Shifts": Shifts, "Narrowing": Narrowing, "FloatConversions": FloatConversions, "PointerToField": PointerToField,
	"PointerToElement": PointerToElement, "Globals": Globals, "SwapInPlace": SwapInPlace, "ShadowedReturn": ShadowedReturn, "RangeChanged": RangeChanged, "LinkedList": LinkedList, "BitTricks": BitTricks,
}

func named(x int64) (n int64) {
	defer func() { n *= 2 }()
	n = 1
	return x + n
}
func NamedResult(x, y int64) int64 { return named(x) + y }
func Switch(x, y int64) int64 {
	switch {
	case x < y:
		return 1
	case x == y, x > 100:
		return 2
	}
	switch x & 3 {
	case 0, 1:
		return 10
	case 2:
		return 11
	default:
		return 12
	}
}
func Fallthrough(x, y int64) int64 {
	n := y
	switch x & 1 {
	case 0:
		n++
		fallthrough
	case 1:
		n *= 2
	}
	return n
}
func LabelledBreak(x, y int64) int64 {
	n := int64(0)
outer:
	for i := int64(0); i < 5; i++ {
		for j := int64(0); j < 5; j++ {
			if j == 3 {
				continue outer
			}
			if i*j == uint8At(x) {
				break outer
			}
			n += i + j
		}
	}
	return n + y
}
func uint8At(x int64) int64 { return int64(uint8(x) & 7) }
func Goto(x, y int64) int64 {
	n := y & 15
again:
	n += 3
	if n < 20 {
		goto again
	}
	return n + x
}
func LoopVariables(x, y int64) int64 {
	var all []func() int64
	for i := int64(0); i < 3; i++ {
		all = append(all, func() int64 { i += x; return i })
	}
	n := int64(0)
	for j := 0; j < len(all); j++ {
		n = n*5 + all[j]() + all[j]()
	}
	return n + y
}
func ShortCircuit(x, y int64) int64 {
	var p *int64
	if x > y {
		p = &x
	}
	if p != nil && *p > 2 || y == 2 {
		return 1
	}
	return 2
}
func NegativeShift(x, y int64) int64 { return 1<<x + y>>x }
func Shifts(x, y int64) int64 {
	n := uint(y) & 127
	return x<<n + x>>n + int64(int8(x)>>n) + int64(uint8(x)<<(n&7)) + int64(uint32(x)>>n)
}
func Narrowing(x, y int64) int64 {
	return int64(int8(x)) + int64(uint16(y))*3 + int64(uint32(x*y)) + int64(int32(y)) - int64(uint8(-x))
}
func FloatConversions(x, y int64) int64 {
	f := float64(uint32(x)) * 0.5
	g := float32(int8(y)) + 0.25
	return int64(f) + int64(g*4) + int64(uint8(int64(f)))
}
func PointerToField(x, y int64) int64 {
	w := wide{a: x, b: y}
	p := &w.b
	*p += w.a
	q := &p
	**q *= 2
	return w.b
}
func PointerToElement(x, y int64) int64 {
	a := [4]int64{x, y}
	s := a[1:]
	p := &s[0]
	*p++
	return a[1]*3 + *(&a[0])
}

var total, other int64

func Globals(x, y int64) int64 {
	total, other = x, y
	total, other = other, total
	addTo(&total, 3)
	return total*2 + other
}
func addTo(p *int64, n int64) { *p += n }
func SwapInPlace(x, y int64) int64 {
	s := []int64{x, y, 9}
	s[0], s[2] = s[2], s[0]
	i := 0
	i, s[i] = 2, 7
	return s[0]*100 + s[1]*10 + s[2] + int64(i)
}
func ShadowedReturn(x, y int64) int64 {
	n := x
	if n := y; n > 3 {
		return n
	}
	return n
}
func RangeChanged(x, y int64) int64 {
	s := []int64{x, y, 3}
	n := int64(0)
	for i, v := range s {
		s = append(s, v)
		s[2] = 100
		n = n*3 + v + int64(i)
	}
	return n + int64(len(s))
}

type link struct {
	value int64
	next  *link
}

func LinkedList(x, y int64) int64 {
	var head *link
	for i := int64(0); i < 4; i++ {
		head = &link{x + i*y, head}
	}
	n := int64(0)
	for l := head; l != nil; l = l.next {
		n = n*2 + l.value
	}
	return n
}
func BitTricks(x, y int64) int64 { return (x&^y | x ^ y) - ^x + -(y % 7) + x&(x-1) }
