package semantics

// Builtins are the cases of built-in functions and of the operations that can panic.
var Builtins = map[string]func(x, y int64) int64{
	"Lengths": Lengths, "ArrayPointerLength": ArrayPointerLength, "MapLength": MapLength, "AppendInPlace": AppendInPlace, "AppendGrows": AppendGrows, "AppendSlice": AppendSlice, "AppendText": AppendText, "AppendNothing": AppendNothing,
	"Copy": Copy, "Delete": Delete, "ClearMap": ClearMap, "MapOfStructs": MapOfStructs, "NilMapRead": NilMapRead, "NilMapWrite": NilMapWrite,
	"IndexSlice": IndexSlice, "IndexText": IndexText, "IndexArray": IndexArray, "Slicing": Slicing, "SlicingText": SlicingText, "SlicingArray": SlicingArray, "ThreeIndexes": ThreeIndexes, "SlicingPanics": SlicingPanics,
	"MakeSlice": MakeSlice, "MakeSlicePanics": MakeSlicePanics, "ToArray": ToArray, "ToArrayPanics": ToArrayPanics, "Divide": Divide, "Dereference": Dereference, "StructCopy": StructCopy, "ArrayCompare": ArrayCompare, "StructCompare": StructCompare,
	"TextCompare": TextCompare, "RangeSlice": RangeSlice, "RangeArray": RangeArray, "RangeInt": RangeInt, "Panic": Panic, "Floats": Floats, "NestedStructs": NestedStructs, "DeferredDelete": DeferredDelete,
}

func at(n int64, length int) int { return int(uint64(n) % uint64(length)) }

func Lengths(x, y int64) int64 {
	s := make([]int32, at(x, 5), 9)
	a := [7]int8{}
	t := "text"
	return int64(len(s)) + int64(cap(s))*10 + int64(len(a))*100 + int64(len(t))*1000 + int64(cap(s[1-1:]))*10000
}
func ArrayPointerLength(x, y int64) int64 {
	p := &[6]int64{x, y}
	n := int64(0)
	for i := range p {
		n += p[i] * int64(i+1)
	}
	return n + int64(len(p)) + int64(cap(p))
}
func MapLength(x, y int64) int64 {
	m := map[int64]int64{x: 1, y: 2, x + 1: 3}
	m[y] = 4
	return int64(len(m))
}
func AppendInPlace(x, y int64) int64 {
	base := make([]int64, 2, 8)
	s := append(base, x, y)
	all := base[:4]
	all[2]++
	return s[2]*3 + s[3] + int64(len(s)) + int64(cap(s))
}
func AppendGrows(x, y int64) int64 {
	base := []int64{x}
	s := append(base, y)
	s[0]++
	return base[0]*3 + s[0]*5 + s[1] + int64(len(s))
}
func AppendSlice(x, y int64) int64 {
	s := append([]int64{x}, []int64{y, x, 3}...)
	s = append(s, s[1:3]...)
	n := int64(0)
	for i := 0; i < len(s); i++ {
		n = n*3 + s[i]
	}
	return n
}
func AppendText(x, y int64) int64 {
	b := append([]byte{byte(x)}, "abc"...)
	return int64(b[0]) + int64(b[3])*1000 + int64(len(b))
}
func AppendNothing(x, y int64) int64 {
	s := []int64{x}
	s = append(s)
	return s[0] + int64(len(append(s, []int64{}...)))
}
func Copy(x, y int64) int64 {
	from, to := []int64{x, y, 3}, make([]int64, 2)
	n := copy(to, from)
	m := copy(to[1:], to)
	return int64(n) + int64(m)*10 + to[0]*3 + to[1]*5
}
func Delete(x, y int64) int64 {
	m := map[int64]int64{x: 10, y: 20}
	delete(m, x)
	delete(m, 4711)
	_, ok := m[x]
	n := m[y] + int64(len(m))
	if ok {
		n += 1000
	}
	return n
}
func ClearMap(x, y int64) int64 {
	m := map[int64]int64{x: 10, y: 20}
	clear(m)
	m[3] = y
	return int64(len(m))*100 + m[3] + m[x+10]
}
func MapOfStructs(x, y int64) int64 {
	m := map[[2]int32]wide{{1, 2}: {a: x}, {2, 1}: {b: y}}
	w, ok := m[[2]int32{2, 1}]
	if !ok {
		return -1
	}
	return m[[2]int32{1, 2}].a + w.b*3 + m[[2]int32{9, 9}].a
}
func NilMapRead(x, y int64) int64 {
	var m map[int64]int64
	v, ok := m[x]
	if ok {
		return -1
	}
	return v + int64(len(m)) + y
}
func NilMapWrite(x, y int64) int64 {
	var m map[int64]int64
	if x > y {
		m = map[int64]int64{}
	}
	m[x] = y
	return m[x]
}
func IndexSlice(x, y int64) int64 {
	s := []int64{1, 2, 3}
	return s[x] + y
}
func IndexText(x, y int64) int64 {
	t := "hello"
	return int64(t[x]) + y
}
func IndexArray(x, y int64) int64 {
	a := [3]int64{x, y, 5}
	return a[at(x, 3)] + [2]int64{x, y}[1]
}
func Slicing(x, y int64) int64 {
	s := []int64{x, y, 3, 4, 5}
	t := s[at(x, 3):4]
	t[0]++
	return int64(len(t))*10 + int64(cap(t)) + s[at(x, 3)]
}
func SlicingText(x, y int64) int64 {
	t := "some longer text"
	u := t[at(x, 8) : at(x, 8)+4]
	if u == "some" {
		return 1000 + y
	}
	return int64(len(u)) + int64(u[0]) + int64(len(t[2:]))
}
func SlicingArray(x, y int64) int64 {
	a := [5]int64{x, y, 1, 2, 3}
	s := a[1:3]
	s[1] = 7
	return a[2] + s[0] + int64(cap(s))
}
func ThreeIndexes(x, y int64) int64 {
	s := []int64{x, y, 3, 4}
	t := s[1:2:3]
	return int64(len(t)) + int64(cap(t))*10 + t[0]
}
func SlicingPanics(x, y int64) int64 {
	s := make([]int64, 3, 10)
	return int64(len(s[x:y]))
}
func MakeSlice(x, y int64) int64 {
	s := make([]wide, at(x, 4)+1)
	s[0].b = y
	return s[0].b + s[len(s)-1].a + int64(len(s))
}
func MakeSlicePanics(x, y int64) int64 { return int64(len(make([]int64, x, y))) }
func ToArray(x, y int64) int64 {
	s := []int64{x, y, 3}
	p := (*[2]int64)(s)
	p[1]++
	a := [2]int64(s)
	return s[1] + a[0]
}
func ToArrayPanics(x, y int64) int64 {
	s := []int64{1, 2, 3}[:at(x, 4)]
	return (*[2]int64)(s)[1] + y
}
func Divide(x, y int64) int64 { return x/y + int64(int8(x)%int8(y)) }
func Dereference(x, y int64) int64 {
	var p *wide
	if x > y {
		p = &wide{b: x}
	}
	return p.b
}
func StructCopy(x, y int64) int64 {
	a := wide{x, y, 3}
	b := a
	b.a++
	p := &b
	*p = wide{a: p.b}
	return a.a*3 + b.a + b.b
}
func ArrayCompare(x, y int64) int64 {
	a, b := [2]int64{x, y}, [2]int64{y, x}
	if a == b {
		return 1
	}
	return 2
}
func StructCompare(x, y int64) int64 {
	type pair struct{ a, b int64 }
	if (pair{x, 1}) == (pair{y, 1}) {
		return 1
	}
	return 2
}
func TextCompare(x, y int64) int64 {
	names := []string{"a", "b", "a", ""}
	n := int64(0)
	if names[at(x, 4)] == names[at(y, 4)] {
		n++
	}
	if names[at(x, 4)] != "" {
		n += 10
	}
	return n
}
func RangeSlice(x, y int64) int64 {
	n := int64(0)
	for i, v := range []int64{x, y, x} {
		n = n*2 + v*int64(i)
	}
	return n
}
func RangeArray(x, y int64) int64 {
	n := int64(0)
	for _, v := range [3]int64{x, y, 4} {
		n = n*3 + v
	}
	return n
}
func RangeInt(x, y int64) int64 {
	n := y
	for i := range at(x, 6) {
		n = n*2 + int64(i)
	}
	return n
}
func Panic(x, y int64) int64 {
	if x > y {
		panic("x is too large")
	}
	return y
}
func Floats(x, y int64) int64 {
	f := float32(x%1000) / 3
	g := float64(f)*1.5 - float64(y%77)
	if g < 0 {
		g = -g
	}
	return int64(g) + int64(uint8(int64(f)&63))
}
func NestedStructs(x, y int64) int64 {
	type inner struct{ p, q int32 }
	type node struct {
		in   [2]inner
		next *node
	}
	n := &node{next: &node{}}
	n.next.in[1] = inner{int32(x), int32(y)}
	n.in = n.next.in
	n.next.in[1].q++
	return int64(n.in[1].p)*3 + int64(n.in[1].q)*5 + int64(n.next.in[1].q)
}
func deferredDelete(m map[int64]int64, k int64) { defer delete(m, k) }
func DeferredDelete(x, y int64) int64 {
	m := map[int64]int64{}
	deferredDelete(m, x)
	return int64(len(m)) + y
}
