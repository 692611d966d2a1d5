// Package semantics has functions of two numbers that use interfaces, calls and built-in
// functions in every way. They are run as Go and as lifted code, and must agree.
package semantics

// Interfaces are the cases of interfaces, type assertions and dynamic calls.
var Interfaces = map[string]func(x, y int64) int64{
	"PointerReceiver": PointerReceiver, "ValueReceiver": ValueReceiver, "WideReceiver": WideReceiver, "EmptyReceiver": EmptyReceiver,
	"Embedded": Embedded, "PromotedThroughInterface": PromotedThroughInterface, "NilInterfaceCall": NilInterfaceCall,
	"AssertConcrete": AssertConcrete, "AssertFails": AssertFails, "AssertNil": AssertNil, "CommaOk": CommaOk, "TypeSwitch": TypeSwitch,
	"AssertAny": AssertAny, "CompareWithNil": CompareWithNil, "CompareInterfaces": CompareInterfaces, "TypedNil": TypedNil,
	"BoxedText": BoxedText, "BoxedStruct": BoxedStruct, "DirectStruct": DirectStruct, "MethodOnNamedFunc": MethodOnNamedFunc,
	"ChangeInterface": ChangeInterface, "InterfaceInSlice": InterfaceInSlice, "MethodExpression": MethodExpression, "LocalTypes": LocalTypes,
}

type getter interface{ get(n int64) int64 }

type both interface {
	getter
	set(n int64)
}

type counter struct{ n int64 }

func (c *counter) get(n int64) int64 { return c.n + n }
func (c *counter) set(n int64)       { c.n = n }

type small int8

func (s small) get(n int64) int64 { return int64(s) * n }

type wide struct {
	a, b int64
	c    int8
}

func (w wide) get(n int64) int64 { w.a++; return w.a + w.b*n + int64(w.c) }

type empty struct{}

func (empty) get(n int64) int64 { return n + 1 }

type outer struct {
	counter
	extra int64
}

type holder struct{ getter }

type pointing struct{ p *int64 }

func (p pointing) get(n int64) int64 { return *p.p + n }

type adder func(int64) int64

func (a adder) get(n int64) int64 { return a(n) }

func through(g getter, n int64) int64 { return g.get(n) }

func PointerReceiver(x, y int64) int64 { return through(&counter{x}, y) }
func ValueReceiver(x, y int64) int64   { return through(small(x), y) }
func WideReceiver(x, y int64) int64 {
	w := wide{x, y, int8(x)}
	return through(w, 3)*2 + w.a
}
func EmptyReceiver(x, y int64) int64 { return through(empty{}, x+y) }
func Embedded(x, y int64) int64 {
	o := &outer{counter{x}, y}
	o.set(o.extra + 1)
	return through(o, 5) + o.counter.n
}
func PromotedThroughInterface(x, y int64) int64 { return through(holder{&counter{x}}, y) }
func NilInterfaceCall(x, y int64) int64 {
	var g getter
	if x > y {
		g = empty{}
	}
	return g.get(x)
}
func AssertConcrete(x, y int64) int64 {
	var v any = x
	return v.(int64) + y
}
func AssertFails(x, y int64) int64 {
	var v any = x
	if x < y {
		v = int32(x)
	}
	return v.(int64)
}
func AssertNil(x, y int64) int64 {
	var v any
	if x > y {
		v = y
	}
	return v.(int64)
}
func CommaOk(x, y int64) int64 {
	var v any = small(x)
	s, ok := v.(small)
	n, not := v.(int64)
	if ok && !not {
		return int64(s) + n + y
	}
	return -1
}
func kind(v any) int64 {
	switch v := v.(type) {
	case nil:
		return 1
	case int64:
		return v * 2
	case string:
		return int64(len(v))
	case *counter:
		return v.n
	case wide:
		return v.b
	case func(int64) int64:
		return v(7)
	}
	return -7
}
func TypeSwitch(x, y int64) int64 {
	return kind(nil) + 3*kind(x) + 5*kind("hello") + 7*kind(&counter{y}) + 11*kind(wide{b: x}) + 13*kind(func(n int64) int64 { return n + y }) + 17*kind(3.5)
}
func AssertAny(x, y int64) int64 {
	var g getter = small(x)
	v := g.(any)
	if _, ok := v.(any); !ok {
		return -1
	}
	return int64(v.(small)) + y
}
func CompareWithNil(x, y int64) int64 {
	var e error
	var g getter
	if x > y {
		g = small(y)
	}
	n := int64(0)
	if e == nil {
		n++
	}
	if g != nil {
		n += 10
	}
	return n
}
func CompareInterfaces(x, y int64) int64 {
	a, b := &counter{x}, &counter{y}
	var g, h getter = a, b
	n := int64(0)
	if g == h {
		n++
	}
	h = a
	if g == h {
		n += 10
	}
	return n
}
func TypedNil(x, y int64) int64 {
	var c *counter
	var g getter = c
	if g == nil {
		return -1
	}
	if x == y {
		return g.get(1) // through a nil receiver
	}
	return y
}
func BoxedText(x, y int64) int64 {
	var v any = "some text"
	s := v.(string)
	if s == "some text" && s != "other" {
		return int64(len(s)) + x
	}
	return y
}
func BoxedStruct(x, y int64) int64 {
	w := wide{a: x}
	var v any = w
	w.a = y // not what is in the interface
	return v.(wide).a*3 + w.a
}
func DirectStruct(x, y int64) int64 {
	p := pointing{&x}
	var g getter = p
	x += y
	return g.get(1) + *g.(pointing).p
}
func MethodOnNamedFunc(x, y int64) int64 {
	return through(adder(func(n int64) int64 { return n*x + y }), 4)
}
func ChangeInterface(x, y int64) int64 {
	var b both = &counter{x}
	b.set(y)
	var g getter = b
	return g.get(x)
}
func InterfaceInSlice(x, y int64) int64 {
	all := []getter{&counter{x}, small(y), wide{a: x, b: y}, empty{}}
	n := int64(0)
	for i, g := range all {
		n = n*3 + g.get(int64(i))
	}
	return n
}
func MethodExpression(x, y int64) int64 {
	f := (*counter).get
	g := getter.get
	return f(&counter{x}, y) + g(small(x), y)
}

func localType(x int64) any {
	type t struct{ a int64 }
	return t{x}
}
func LocalTypes(x, y int64) int64 {
	type t struct{ a int64 } // another one than above
	if v, ok := localType(x).(t); ok {
		return v.a
	}
	var v any = t{y}
	return v.(t).a + 1
}
