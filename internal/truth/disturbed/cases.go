package disturbed

import (
	"cmp"
	"fmt"
	"path/filepath"
	"strings"
)

// A Case is one section that looks at guarded data twice, with careless code in between that
// changes the data.
type Case struct {
	Name  string // its parts: home, shape, type
	parts [4]string
	File  string // where the section stands
	text  string
	rest  string // careful code, and careless code
	far   string // what another package has
	// Elements says that the section looks at what the guarded variable leads to, and not at
	// the variable itself. If that is a field, Datum is its name.
	Elements bool
	Datum    string
	special  bool // few homes have what the shape asks for
	pair     bool // the section looks at two data, and not twice at one
}

// A kind is a type of guarded data with two values that differ.
type kind struct {
	name, typ        string
	careful, written string // what the section expects, and what careless code writes
	differ           string // of a and b
}

var kinds = []kind{
	{"int", "int", "1", "2", "a != b"},
	{"uint8", "uint8", "1", "2", "a != b"},
	{"float", "float64", "1.5", "2.5", "a != b"},
	{"bool", "bool", "false", "true", "a != b"},
	{"string", "string", `"careful"`, `"careless"`, "a != b"},
	{"slice", "[]int", "nil", "[]int{1}", "len(a) != len(b)"},
	{"map", "map[int]int", "nil", "map[int]int{1: 1}", "len(a) != len(b)"},
	{"pointer", "*int", "nil", "new(int)", "a != b"},
	{"func", "func()", "nil", "func() {}", "(a == nil) != (b == nil)"},
	{"interface", "any", "nil", `any("careless")`, "a != b"},
	{"error", "error", "nil", `errors.New("careless")`, "a != b"},
	{"struct", "pair", "pair{1, 1}", "pair{2, 2}", "a != b"},
	{"array", "[3]int", "[3]int{1}", "[3]int{2}", "a != b"},
	{"complex", "complex128", "1", "2i", "a != b"},
	{"chan", "chan int", "nil", "make(chan int)", "a != b"},
}

// A home is where the data lives, and how code gets there. In its texts, NN is the number of
// the case, KIND the type, and DATA, LOCK and UNLOCK what sections write.
type home struct {
	name     string
	declares string
	receiver string // of the section
	prepares string // what the section does before it takes the lock, and after
	enters   string
	data     string
	read     string // how sections look at the data, if that is not by its name: they do not write to it then
	lock     string // without Lock()
	reading  bool   // the section may only read
	elements bool
	datum    string // the field that elements have
	object   string // what main calls the section with
	locker   string // the lock as a value, if that is not its address
	far      string // what another package declares
	second   string // other data of the lock, which careless code changes, too
	another  string // the data of another object of the same kind
	through  string // the head of a loop through all such objects, of which the last one is that of the case
}

var homes = []home{
	{name: "field", declares: "type TNN struct {\n\tmu sync.Mutex\n\tf  KIND\n}\n", receiver: "(x *TNN) ", data: "x.f", lock: "x.mu", object: "&TNN{}"},
	{name: "field of a reader", declares: "type TNN struct {\n\tmu sync.RWMutex\n\tf  KIND\n}\n", receiver: "(x *TNN) ", data: "x.f", lock: "x.mu", object: "&TNN{}", reading: true},
	{name: "field of a generic type", declares: "type TNN[K any] struct {\n\tmu sync.Mutex\n\tf  KIND\n\tk K\n}\n", receiver: "(x *TNN[K]) ", data: "x.f", lock: "x.mu", object: "&TNN[string]{}"},
	{name: "embedded lock", declares: "type TNN struct {\n\tsync.Mutex\n\tf KIND\n}\n", receiver: "(x *TNN) ", data: "x.f", lock: "x", locker: "x", object: "&TNN{}"},
	{name: "embedded struct", declares: "type bNN struct {\n\tmu sync.Mutex\n\tf KIND\n}\ntype TNN struct{ bNN }\n", receiver: "(x *TNN) ", data: "x.f", lock: "x.mu", object: "&TNN{}"},
	{name: "inner struct", declares: "type TNN struct {\n\tmu sync.Mutex\n\tin struct{ f KIND }\n}\n", receiver: "(x *TNN) ", data: "x.in.f", lock: "x.mu", object: "&TNN{}"},
	{name: "global", declares: "var muNN sync.Mutex\nvar fNN KIND\n\ntype TNN struct{}\n", receiver: "(x *TNN) ", data: "fNN", lock: "muNN", object: "&TNN{}"},
	{name: "global struct", declares: "var gNN struct {\n\tsync.Mutex\n\tf KIND\n}\n\ntype TNN struct{}\n", receiver: "(x *TNN) ", data: "gNN.f", lock: "gNN", object: "&TNN{}"},
	{name: "global object", declares: "type sNN struct {\n\tmu sync.Mutex\n\tf KIND\n}\nvar gNN = new(sNN)\n\ntype TNN struct{}\n", receiver: "(x *TNN) ", data: "gNN.f", lock: "gNN.mu", object: "&TNN{}"},
	{name: "lock by pointer", declares: "type TNN struct {\n\tmu *sync.Mutex\n\tf  KIND\n}\n", receiver: "(x *TNN) ", data: "x.f", lock: "x.mu", locker: "x.mu", object: "&TNN{mu: new(sync.Mutex)}"},
	{name: "object by way of a pointer", declares: "type oNN struct {\n\tmu sync.Mutex\n\tf  KIND\n}\ntype TNN struct{ o *oNN }\n", receiver: "(x *TNN) ", data: "x.o.f", lock: "x.o.mu", object: "&TNN{o: new(oNN)}"},
	{name: "entry of a map", declares: "type eNN struct{ f KIND }\ntype TNN struct {\n\tmu sync.Mutex\n\tm map[int]*eNN\n}\n", receiver: "(x *TNN) ", enters: "\te := x.m[1]\n", data: "e.f", lock: "x.mu", object: "&TNN{m: map[int]*eNN{1: {}}}"},
	{name: "shard", declares: "type sNN struct {\n\tmu sync.Mutex\n\tf  KIND\n}\ntype TNN struct{ shards [4]sNN }\n", receiver: "(x *TNN) ", prepares: "\ts := &x.shards[1]\n", data: "s.f", lock: "s.mu", object: "&TNN{}"},
	{name: "shard by index", declares: "type sNN struct {\n\tmu sync.Mutex\n\tf  KIND\n}\ntype TNN struct{ shards [4]sNN }\n", receiver: "(x *TNN) ", data: "x.shards[1].f", lock: "x.shards[1].mu", object: "&TNN{}"},
	{name: "element of a slice", declares: "type TNN struct {\n\tmu sync.Mutex\n\ts  []KIND\n}\n", receiver: "(x *TNN) ", data: "x.s[0]", lock: "x.mu", object: "&TNN{s: make([]KIND, 1)}", elements: true},
	{name: "field of an element", declares: "type eNN struct{ a, f KIND }\ntype TNN struct {\n\tmu sync.Mutex\n\ts  []eNN\n}\n", receiver: "(x *TNN) ", data: "x.s[1].f", lock: "x.mu", object: "&TNN{s: make([]eNN, 2)}", elements: true},
	{name: "element of an element", declares: "type TNN struct {\n\tmu sync.Mutex\n\ts  [][]KIND\n}\n", receiver: "(x *TNN) ", data: "x.s[1][0]", lock: "x.mu", object: "&TNN{s: [][]KIND{nil, make([]KIND, 1)}}", elements: true},
	{name: "element by another name", declares: "type TNN struct {\n\tmu sync.Mutex\n\ts  []KIND\n}\n", receiver: "(x *TNN) ", enters: "\ts := x.s\n", data: "s[0]", lock: "x.mu", object: "&TNN{s: make([]KIND, 1)}", elements: true},
	{name: "element that is shared", declares: "type TNN struct {\n\tmu sync.Mutex\n\ts  []KIND\n}\n\nvar allNN []KIND\n\nfunc init() { allNN = (&TNN{}).s }\n", receiver: "(x *TNN) ", data: "x.s[0]", lock: "x.mu", object: "&TNN{s: make([]KIND, 1)}", elements: true},
	{name: "element of a slice that grows", declares: "type TNN struct {\n\tmu sync.Mutex\n\ts  []KIND\n}\n\nfunc (x *TNN) growNN(v KIND) {\n\tx.mu.Lock()\n\tdefer x.mu.Unlock()\n\tx.s = append(x.s, v)\n\tx.s = x.s[1:]\n\tfor i := range x.s {\n\t\tx.s[i] = v\n\t}\n}\n", receiver: "(x *TNN) ", data: "x.s[len(x.s)-1]", lock: "x.mu", object: "&TNN{s: make([]KIND, 1)}", elements: true},
	{name: "element of a generic type", declares: "type TNN[K any] struct {\n\tmu sync.Mutex\n\ts  []KIND\n\tk K\n}\n", receiver: "(x *TNN[K]) ", data: "x.s[0]", lock: "x.mu", object: "&TNN[string]{s: make([]KIND, 1)}", elements: true},
	{name: "element for a reader", declares: "type TNN struct {\n\tmu sync.RWMutex\n\ts  []KIND\n}\n", receiver: "(x *TNN) ", data: "x.s[0]", lock: "x.mu", object: "&TNN{s: make([]KIND, 1)}", reading: true, elements: true},
	{name: "element of a variable", declares: "var muNN sync.Mutex\nvar sNN = make([]KIND, 2)\n\ntype TNN struct{}\n", receiver: "(x *TNN) ", data: "sNN[1]", lock: "muNN", object: "&TNN{}", elements: true},
	{name: "part of an array", declares: "type eNN struct{ a, f KIND }\ntype TNN struct {\n\tmu sync.Mutex\n\ta  [3]eNN\n}\n", receiver: "(x *TNN) ", data: "x.a[1].f", lock: "x.mu", object: "&TNN{}"},
	{name: "value of a map", declares: "type TNN struct {\n\tmu sync.Mutex\n\tm  map[string]*[1]KIND\n}\n", receiver: "(x *TNN) ", data: `x.m["k"][0]`, lock: "x.mu", object: `&TNN{m: map[string]*[1]KIND{"k": {}}}`, elements: true},
	{name: "value in a map", declares: "type TNN struct {\n\tmu sync.Mutex\n\tm  map[string]KIND\n}\n", receiver: "(x *TNN) ", data: `x.m["k"]`, lock: "x.mu", object: `&TNN{m: map[string]KIND{}}`, elements: true},
	{name: "element of an array", declares: "type TNN struct {\n\tmu sync.Mutex\n\ta  [3]KIND\n}\n", receiver: "(x *TNN) ", data: "x.a[1]", lock: "x.mu", object: "&TNN{}"},
	{name: "node of a list", declares: "type nNN struct {\n\tf KIND\n\tnext *nNN\n}\ntype TNN struct {\n\tmu sync.Mutex\n\thead *nNN\n}\n", receiver: "(x *TNN) ", data: "x.head.next.f", lock: "x.mu", object: "&TNN{head: &nNN{next: new(nNN)}}", elements: true, datum: "nNN.f"},
	{name: "link of a node", declares: "type nNN struct{ f KIND }\n\nvar muNN sync.Mutex\nvar headNN *nNN\n\ntype TNN struct{}\n\nfunc init() { headNN = new(nNN) }\n", receiver: "(x *TNN) ", enters: "\theadNN = headNN\n", data: "headNN.f", lock: "muNN", object: "&TNN{}"},
	{name: "entry of a reader", declares: "type eNN struct{ f KIND }\ntype TNN struct {\n\tmu sync.RWMutex\n\tm map[int]*eNN\n}\n", receiver: "(x *TNN) ", enters: "\te := x.m[1]\n", data: "e.f", lock: "x.mu", object: "&TNN{m: map[int]*eNN{1: {}}}", reading: true},
	{name: "element behind a slice", declares: "type eNN struct{ f KIND }\ntype TNN struct {\n\tmu sync.Mutex\n\ts []*eNN\n}\n", receiver: "(x *TNN) ", data: "x.s[0].f", lock: "x.mu", object: "&TNN{s: []*eNN{{}}}", elements: true, datum: "eNN.f"},
	{name: "node of a generic tree", declares: "type nNN[K any] struct {\n\tf KIND\n\tk K\n\tleft, right *nNN[K]\n}\ntype TNN struct {\n\tmu sync.Mutex\n\troot *nNN[string]\n}\n", receiver: "(x *TNN) ", enters: "\tx.root = x.root\n\te := x.root\n\tfor e.left != nil {\n\t\te = e.left\n\t}\n", data: "e.f", lock: "x.mu", object: "&TNN{root: &nNN[string]{left: new(nNN[string])}}", elements: true, datum: "nNN.f"},
	{name: "embedded in a node", declares: "type bNN struct{ f KIND }\ntype nNN struct {\n\tbNN\n\tnext *nNN\n}\ntype TNN struct {\n\tmu sync.Mutex\n\thead *nNN\n}\n", receiver: "(x *TNN) ", enters: "\te := x.head\n", data: "e.f", lock: "x.mu", object: "&TNN{head: new(nNN)}", elements: true, datum: "bNN.f"},
	{name: "node of a global lock", declares: "type nNN struct {\n\tf KIND\n\tnext *nNN\n}\n\nvar muNN sync.Mutex\nvar headNN *nNN\n\ntype TNN struct{}\n\nfunc init() { headNN = &nNN{next: new(nNN)} }\n", receiver: "(x *TNN) ", enters: "\te := headNN.next\n", data: "e.f", lock: "muNN", object: "&TNN{}", elements: true, datum: "nNN.f"},
	{name: "entry of a variable", declares: "var muNN sync.Mutex\nvar mNN = map[int]KIND{}\n\ntype TNN struct{}\n", receiver: "(x *TNN) ", data: "mNN[3]", lock: "muNN", object: "&TNN{}", elements: true},
	{name: "entry of a map that is shared", declares: "type TNN struct {\n\tmu sync.Mutex\n\tm  map[int]KIND\n}\n\nvar allNN map[int]KIND\n\nfunc init() { allNN = (&TNN{}).m }\n", receiver: "(x *TNN) ", data: "x.m[3]", lock: "x.mu", object: "&TNN{m: map[int]KIND{}}", elements: true},
	{name: "entry for a reader", declares: "type TNN struct {\n\tmu sync.RWMutex\n\tm  map[int]KIND\n}\n", receiver: "(x *TNN) ", data: "x.m[3]", lock: "x.mu", object: "&TNN{m: map[int]KIND{}}", reading: true, elements: true},
	{name: "one of two nodes", declares: "type nNN struct {\n\tf KIND\n\tnext *nNN\n}\ntype TNN struct {\n\tmu sync.Mutex\n\thead *nNN\n}\n", receiver: "(x *TNN) ", enters: "\te, d := x.head, x.head.next\n\td.f = e.f\n", data: "e.f", lock: "x.mu", object: "&TNN{head: &nNN{next: new(nNN)}}", elements: true, datum: "nNN.f"},
	{name: "node among others", declares: "type nNN struct {\n\tf KIND\n\tnext *nNN\n}\ntype TNN struct {\n\tmu sync.Mutex\n\thead *nNN\n}\n", receiver: "(x *TNN) ", enters: "\td, e := x.head, x.head.next\n\t_ = d\n", data: "e.f", another: "d.f", through: "for e := x.head; e != nil; e = e.next", lock: "x.mu", object: "&TNN{head: &nNN{next: new(nNN)}}", elements: true, datum: "nNN.f"},
	{name: "entry among others", declares: "type eNN struct{ f KIND }\ntype TNN struct {\n\tmu sync.Mutex\n\ts []*eNN\n}\n", receiver: "(x *TNN) ", enters: "\td, e := x.s[0], x.s[1]\n\t_ = d\n", data: "e.f", another: "d.f", through: "for _, e := range x.s", lock: "x.mu", object: "&TNN{s: []*eNN{{}, {}}}", elements: true, datum: "eNN.f"},
	{name: "two fields", declares: "type TNN struct {\n\tmu sync.Mutex\n\tf, g KIND\n}\n", receiver: "(x *TNN) ", data: "x.f", second: "x.g", lock: "x.mu", object: "&TNN{}"},
	{name: "two fields of a node", declares: "type nNN struct {\n\tf, g KIND\n\tnext *nNN\n}\ntype TNN struct {\n\tmu sync.Mutex\n\thead *nNN\n\th KIND\n}\n", receiver: "(x *TNN) ", lock: "x.mu", object: "&TNN{head: &nNN{next: new(nNN)}}", enters: "\te := x.head\n\t_ = e\n", data: "e.f", second: "e.g", elements: true, datum: "nNN.f"},
	{name: "field, and field of a node", declares: "type nNN struct {\n\tf, g KIND\n\tnext *nNN\n}\ntype TNN struct {\n\tmu sync.Mutex\n\thead *nNN\n\th KIND\n}\n", receiver: "(x *TNN) ", lock: "x.mu", object: "&TNN{head: &nNN{next: new(nNN)}}", enters: "\te := x.head\n\t_ = e\n", data: "x.h", second: "e.g"},
	{name: "field of a node, and field", declares: "type nNN struct {\n\tf, g KIND\n\tnext *nNN\n}\ntype TNN struct {\n\tmu sync.Mutex\n\thead *nNN\n\th KIND\n}\n", receiver: "(x *TNN) ", lock: "x.mu", object: "&TNN{head: &nNN{next: new(nNN)}}", enters: "\te := x.head\n\t_ = e\n", data: "e.f", second: "x.h", elements: true, datum: "nNN.f"},
	{name: "fields of two nodes", declares: "type nNN struct {\n\tf, g KIND\n\tnext *nNN\n}\ntype TNN struct {\n\tmu sync.Mutex\n\thead *nNN\n\th KIND\n}\n", receiver: "(x *TNN) ", lock: "x.mu", object: "&TNN{head: &nNN{next: new(nNN)}}", enters: "\te, d := x.head, x.head.next\n\t_, _ = d, e\n", data: "e.f", second: "d.f", elements: true, datum: "nNN.f"},
	{name: "field and entry", declares: "type TNN struct {\n\tmu sync.Mutex\n\tm  map[int]KIND\n\th KIND\n}\n", receiver: "(x *TNN) ", data: "x.h", second: "x.m[3]", lock: "x.mu", object: "&TNN{m: map[int]KIND{}}"},
	{name: "field and element", declares: "type TNN struct {\n\tmu sync.Mutex\n\ts  []KIND\n\th KIND\n}\n", receiver: "(x *TNN) ", data: "x.h", second: "x.s[1]", lock: "x.mu", object: "&TNN{s: make([]KIND, 2)}"},
	{name: "two variables", declares: "var muNN sync.Mutex\nvar fNN, gNN KIND\n\ntype TNN struct{}\n", receiver: "(x *TNN) ", data: "fNN", second: "gNN", lock: "muNN", object: "&TNN{}"},
	{name: "slice that is appended", declares: "type TNN struct {\n\tmu sync.Mutex\n\ts  []KIND\n}\n", receiver: "(x *TNN) ", data: "x.s[0]", lock: "x.mu", object: "&TNN{s: make([]KIND, 1)}", elements: true, read: "append([]KIND(nil), x.s...)[0]"},
	{name: "slice that is cloned", declares: "type TNN struct {\n\tmu sync.Mutex\n\ts  []KIND\n}\n", receiver: "(x *TNN) ", data: "x.s[0]", lock: "x.mu", object: "&TNN{s: make([]KIND, 1)}", elements: true, read: "slices.Clone(x.s)[0]"},
	{name: "slice that is cut", declares: "type TNN struct {\n\tmu sync.Mutex\n\ts  []KIND\n}\n", receiver: "(x *TNN) ", data: "x.s[0]", lock: "x.mu", object: "&TNN{s: make([]KIND, 1)}", elements: true, read: "x.s[:1][0]"},
	{name: "slice that a function gets", declares: "type TNN struct {\n\tmu sync.Mutex\n\ts  []KIND\n}\n", receiver: "(x *TNN) ", data: "x.s[0]", lock: "x.mu", object: "&TNN{s: make([]KIND, 1)}", elements: true, read: "same(x.s)[0]"},
	{name: "slice that is ranged over", declares: "type TNN struct {\n\tmu sync.Mutex\n\ts  []KIND\n}\n", receiver: "(x *TNN) ", data: "x.s[0]", lock: "x.mu", object: "&TNN{s: make([]KIND, 1)}", elements: true, read: "func() (v KIND) { for _, v = range x.s { break }; return }()"},
	{name: "slice in a variadic call", declares: "type TNN struct {\n\tmu sync.Mutex\n\ts  []KIND\n}\n", receiver: "(x *TNN) ", data: "x.s[0]", lock: "x.mu", object: "&TNN{s: make([]KIND, 1)}", elements: true, read: "firstOf(x.s...)"},
	{name: "slice as an array", declares: "type TNN struct {\n\tmu sync.Mutex\n\ts  []KIND\n}\n", receiver: "(x *TNN) ", data: "x.s[0]", lock: "x.mu", object: "&TNN{s: make([]KIND, 1)}", elements: true, read: "[1]KIND(x.s)[0]"},
	{name: "slice as a pointer to an array", declares: "type TNN struct {\n\tmu sync.Mutex\n\ts  []KIND\n}\n", receiver: "(x *TNN) ", data: "x.s[0]", lock: "x.mu", object: "&TNN{s: make([]KIND, 1)}", elements: true, read: "(*[1]KIND)(x.s)[0]"},
	{name: "array that is cut", declares: "type TNN struct {\n\tmu sync.Mutex\n\ta  [3]KIND\n}\n", receiver: "(x *TNN) ", data: "x.a[1]", lock: "x.mu", object: "&TNN{}", read: "x.a[:][1]"},
	{name: "array that is copied", declares: "type TNN struct {\n\tmu sync.Mutex\n\ta  [3]KIND\n}\n", receiver: "(x *TNN) ", data: "x.a[1]", lock: "x.mu", object: "&TNN{}", read: "same(x.a)[1]"},
	{name: "array that is ranged over", declares: "type TNN struct {\n\tmu sync.Mutex\n\ta  [3]KIND\n}\n", receiver: "(x *TNN) ", data: "x.a[1]", lock: "x.mu", object: "&TNN{}", read: "func() (v KIND) { for i, e := range x.a { if i == 1 { v = e } }; return }()"},
	{name: "field by its address", declares: "type TNN struct {\n\tmu sync.Mutex\n\tf  KIND\n}\n", receiver: "(x *TNN) ", data: "x.f", lock: "x.mu", object: "&TNN{}", read: "*(&x.f)"},
	{name: "field by a pointer to it", declares: "type TNN struct {\n\tmu sync.Mutex\n\tf  KIND\n}\n", receiver: "(x *TNN) ", data: "x.f", lock: "x.mu", object: "&TNN{}", read: "*same(&x.f)"},
	{name: "field of a copy", declares: "type TNN struct {\n\tmu sync.Mutex\n\tf  KIND\n}\n", receiver: "(x *TNN) ", data: "x.f", lock: "x.mu", object: "&TNN{}", read: "same(*x).f"},
	{name: "field of what is in an interface", declares: "type TNN struct {\n\tmu sync.Mutex\n\tf  KIND\n}\n", receiver: "(x *TNN) ", data: "x.f", lock: "x.mu", object: "&TNN{}", read: "any(x).(*TNN).f"},
	{name: "field by a literal", declares: "type TNN struct {\n\tmu sync.Mutex\n\tf  KIND\n}\n", receiver: "(x *TNN) ", data: "x.f", lock: "x.mu", object: "&TNN{}", read: "func(t *TNN) KIND { return t.f }(x)"},
	{name: "field of a value in a slice", declares: "type TNN struct {\n\tmu sync.Mutex\n\tf  KIND\n}\n", receiver: "(x *TNN) ", data: "x.f", lock: "x.mu", object: "&TNN{}", read: "[]*TNN{x}[0].f"},
	{name: "field of what a function returns", declares: "type TNN struct {\n\tmu sync.Mutex\n\tf  KIND\n}\n", receiver: "(x *TNN) ", data: "x.f", lock: "x.mu", object: "&TNN{}", read: "same(x).f"},
	{name: "map that is cloned", declares: "type TNN struct {\n\tmu sync.Mutex\n\tm  map[string]KIND\n}\n", receiver: "(x *TNN) ", data: `x.m["k"]`, lock: "x.mu", object: `&TNN{m: map[string]KIND{"k": CAREFUL}}`, elements: true, read: `maps.Clone(x.m)["k"]`},
	{name: "map that is ranged over", declares: "type TNN struct {\n\tmu sync.Mutex\n\tm  map[string]KIND\n}\n", receiver: "(x *TNN) ", data: `x.m["k"]`, lock: "x.mu", object: `&TNN{m: map[string]KIND{"k": CAREFUL}}`, elements: true, read: "func() (v KIND) { for _, v = range x.m { break }; return }()"},
	{name: "map that a function gets", declares: "type TNN struct {\n\tmu sync.Mutex\n\tm  map[string]KIND\n}\n", receiver: "(x *TNN) ", data: `x.m["k"]`, lock: "x.mu", object: `&TNN{m: map[string]KIND{"k": CAREFUL}}`, elements: true, read: `same(x.m)["k"]`},
	{name: "one of many elements", declares: "type TNN struct {\n\tmu sync.Mutex\n\ts  []KIND\n}\n", receiver: "(x *TNN) ", enters: "\tfor i := range x.s {\n\t\tx.s[i] = x.s[0]\n\t}\n", data: "x.s[0]", lock: "x.mu", object: "&TNN{s: make([]KIND, 20)}", elements: true},
	{name: "element that an element leads to", declares: "type TNN struct {\n\tmu sync.Mutex\n\tat []int\n\ts  []KIND\n}\n", receiver: "(x *TNN) ", data: "x.s[x.at[0]]", lock: "x.mu", object: "&TNN{at: make([]int, 1), s: make([]KIND, 1)}", elements: true},
	{name: "element that is ranged over", declares: "type TNN struct {\n\tmu sync.Mutex\n\ts  []KIND\n}\n", receiver: "(x *TNN) ", enters: "\tfor i, v := range x.s {\n\t\tx.s[i] = v\n\t}\n", data: "x.s[0]", lock: "x.mu", object: "&TNN{s: make([]KIND, 2)}", elements: true},
	{name: "element in a struct of the package", declares: "type sNN struct {\n\tmu sync.Mutex\n\ts  []KIND\n}\n\nvar gNN = sNN{s: make([]KIND, 1)}\n\ntype TNN struct{}\n", receiver: "(x *TNN) ", data: "gNN.s[0]", lock: "gNN.mu", object: "&TNN{}", elements: true},
	{name: "element that a loop comes back to", declares: "type TNN struct {\n\tmu sync.Mutex\n\ts  []KIND\n}\n", receiver: "(x *TNN) ", data: "x.s[at]", lock: "x.mu", object: "&TNN{s: make([]KIND, 1)}", elements: true},
	{name: "embedded lock by pointer", declares: "type TNN struct {\n\t*sync.Mutex\n\tf KIND\n}\n", receiver: "(x *TNN) ", data: "x.f", lock: "x", locker: "x", object: "&TNN{Mutex: new(sync.Mutex)}"},
	{name: "embedded pointer", declares: "type bNN struct {\n\tmu sync.Mutex\n\tf KIND\n}\ntype TNN struct{ *bNN }\n", receiver: "(x *TNN) ", data: "x.f", lock: "x.mu", object: "&TNN{new(bNN)}"},
	{name: "lock behind an interface", declares: "type TNN struct {\n\tmu interface{ sync.Locker; TryLock() bool }\n\tf  KIND\n}\n", receiver: "(x *TNN) ", data: "x.f", lock: "x.mu", locker: "x.mu", object: "&TNN{mu: new(sync.Mutex)}"},
	{name: "inner struct with its lock", declares: "type TNN struct{ in struct {\n\tsync.Mutex\n\tf KIND\n} }\n", receiver: "(x *TNN) ", data: "x.in.f", lock: "x.in", object: "&TNN{}"},
	{name: "array of locks", declares: "type TNN struct {\n\tmu [4]sync.Mutex\n\tfs [4]KIND\n}\n", receiver: "(x *TNN) ", data: "x.fs[1]", lock: "x.mu[1]", object: "&TNN{}"},
	{name: "shard by a variable index", declares: "type sNN struct {\n\tmu sync.Mutex\n\tf  KIND\n}\ntype TNN struct{ shards []sNN }\n", receiver: "(x *TNN) ", data: "x.shards[at].f", lock: "x.shards[at].mu", object: "&TNN{make([]sNN, 1)}"},
	{name: "shard of a map", declares: "type sNN struct {\n\tmu sync.Mutex\n\tf  KIND\n}\ntype TNN struct{ shards map[int]*sNN }\n", receiver: "(x *TNN) ", prepares: "\ts := x.shards[1]\n", data: "s.f", lock: "s.mu", object: "&TNN{map[int]*sNN{1: {}}}"},
	{name: "shard by a method", declares: "type sNN struct {\n\tmu sync.Mutex\n\tf  KIND\n}\ntype TNN struct{ shards [4]sNN }\n\nfunc (x *TNN) shardNN() *sNN { return &x.shards[at] }\n", receiver: "(x *TNN) ", prepares: "\ts := x.shardNN()\n", data: "s.f", lock: "s.mu", object: "&TNN{}"},
	{name: "shard that is chosen", declares: "type sNN struct {\n\tmu sync.Mutex\n\tf  KIND\n}\ntype TNN struct{ shards [4]sNN }\n", receiver: "(x *TNN) ", prepares: "\ts := &x.shards[0]\n\tif always {\n\t\ts = &x.shards[at+1]\n\t}\n", data: "s.f", lock: "s.mu", object: "&TNN{}"},
	{name: "variable of another package", declares: "type TNN struct{}\n", far: "var MuNN sync.Mutex\nvar FNN KIND\n", receiver: "(x *TNN) ", data: "far.FNN", lock: "far.MuNN", object: "&TNN{}"},
	{name: "field of another package's type", declares: "type TNN struct{ far.BNN }\n", far: "type BNN struct {\n\tMu sync.Mutex\n\tF  KIND\n}\n", receiver: "(x *TNN) ", data: "x.F", lock: "x.Mu", object: "&TNN{}"},
	{name: "entry of another package's map", declares: "type TNN struct{}\n", far: "var MuNN sync.Mutex\nvar FNN = map[string]KIND{}\n", receiver: "(x *TNN) ", data: `far.FNN["k"]`, lock: "far.MuNN", object: "&TNN{}", elements: true},
	{name: "behind a pointer", declares: "type TNN struct {\n\tmu sync.Mutex\n\tp  *KIND\n}\n", receiver: "(x *TNN) ", data: "*x.p", lock: "x.mu", object: "&TNN{p: new(KIND)}", elements: true},
}

// Cases are every home with every shape, and in the first homes every kind.
func Cases() []Case {
	var all []Case
	for h, home := range homes {
		for s, shape := range shapes {
			for k, kind := range kinds {
				links := home.name == "link of a node" && kind.name == "pointer"
				inNode := home.name == "element behind a slice" && s < 4
				if !shape.isFor(home) || k > 0 && !links && !inNode && (h > 1 && h != 6 || s > 3) {
					continue
				}
				all = append(all, newCase(len(all), home, shape, kind, assigned))
			}
		}
	}
	all = append(all, locals(len(all))...)
	return append(all, inOtherWays(len(all))...)
}

func newCase(number int, h home, s shape, k kind, w way) Case {
	lock, unlock, try := h.lock+".Lock", h.lock+".Unlock", h.lock+".TryLock"
	if h.reading {
		lock, unlock, try = h.lock+".RLock", h.lock+".RUnlock", h.lock+".TryRLock"
	}
	locker := cmp.Or(h.locker, "&"+h.lock)
	if h.reading {
		locker = h.lock + ".RLocker()"
	}
	fill := strings.NewReplacer("PREPARES", h.prepares, "ENTERS", h.enters, "RECEIVER", h.receiver, "DATA", h.data,
		"UNLOCK", unlock, "LOCKER", locker, "LOCK", lock, "TRY", try, "KIND", k.typ, "DIFFER", k.differ, "CAREFUL", k.careful, "WRITTEN", k.written, "OBJECT", h.object, "SECOND", h.second, "ANOTHER", h.another, "THROUGH", h.through, "TAKEOTHER", ofAnother(lock), "GIVEOTHER", ofAnother(unlock), "NN", fmt.Sprint(number))
	// The parts have such words themselves.
	expand := func(text string) string { return fill.Replace(fill.Replace(text)) }
	also := ""
	if h.second != "" {
		also = "\tSECOND = DATA\n"
	}
	if h.read != "" {
		s.text = strings.ReplaceAll(s.text, "DATA", h.read)
		s.rest = strings.ReplaceAll(s.rest, "DATA", h.read)
	}
	text := expand("func RECEIVERsectionNN() bool {\nPREPARES" + s.text + "}\n")
	rest := expand(h.declares + "\nfunc RECEIVERcarelessNN() {\nPREPARESENTERS" + w.text + also + "}\n" + w.rest)
	if s.here {
		text += expand("\n" + s.rest)
	} else {
		rest += expand("\n" + s.rest)
	}
	// Code that takes the lock shows what it guards.
	for i := range 2 {
		rest += expand(fmt.Sprintf("\nfunc RECEIVERset%dxNN(v KIND) {\nPREPARES\t%s.Lock()\n\tdefer %[2]s.Unlock()\nENTERS\tDATA = v\n%s}\n", i, h.lock, also))
	}
	rest += expand("\nfunc init() {\n\tx := " + h.object + "\n\tadd(trial{NN, func() { x.set0xNN(CAREFUL); x.set1xNN(CAREFUL) }, x.sectionNN, x.carelessNN})\n}\n")
	return Case{
		Name: h.name + ", " + s.name + ", " + k.name + ", " + w.name, parts: [4]string{h.name, s.name, k.name, w.name}, File: fmt.Sprintf("case%d.go", number),
		text: header("main", text), rest: header("main", rest), Elements: h.elements, Datum: expand(h.datum), far: header("far", expand(h.far)), special: s.isSpecial(), pair: strings.Contains(s.text, "SECOND"),
	}
}

// capturedVariable is the home of data that function literals have in common.
const capturedVariable = "captured variable"

// locals are cases of variables that function literals have in common.
func locals(number int) []Case {
	var all []Case
	for _, s := range shapes {
		if s.rest != "" || !s.isFor(home{}) {
			continue // it is about methods, or objects
		}
		for _, k := range kinds[:5] {
			const home = capturedVariable
			fill := strings.NewReplacer("ENTERS", "", "DATA", "f", "UNLOCK", "mu.Unlock", "LOCKER", "&mu", "LOCK", "mu.Lock", "TRY", "mu.TryLock",
				"KIND", k.typ, "DIFFER", k.differ, "CAREFUL", k.careful, "WRITTEN", k.written, "NN", fmt.Sprint(number))
			text := fill.Replace("func init() {\n\tvar mu sync.Mutex\n\tvar f KIND\n\tset := func(v KIND) { mu.Lock(); f = v; mu.Unlock() }\n\tclear := func() { mu.Lock(); f = CAREFUL; mu.Unlock() }\n" +
				"\tsection := func() bool {\n" + s.text + "\t}\n\twrite, written := make(chan bool), make(chan bool)\n\tgo func() {\n\t\tfor range write {\n\t\t\tf = WRITTEN\n\t\t\twritten <- true\n\t\t}\n\t}()\n" +
				"\tadd(trial{NN, func() { clear(); set(CAREFUL) }, section, func() { write <- true; <-written }})\n}\n")
			all = append(all, Case{Name: home + ", " + s.name + ", " + k.name, parts: [4]string{home, s.name, k.name}, File: fmt.Sprintf("case%d.go", number), text: header("main", text), rest: "package main\n"})
			number++
		}
	}
	return all
}

// header puts the package and the imports before a text that it needs.
func header(pkg, text string) string {
	if text == "" {
		return ""
	}
	var imports []string
	for _, path := range []string{"disturbed/far", "errors", "fmt", "io", "maps", "slices", "sync"} {
		if strings.Contains(text, filepath.Base(path)+".") {
			imports = append(imports, fmt.Sprintf("%q", path))
		}
	}
	return "package " + pkg + "\n\nimport (\n\t" + strings.Join(imports, "\n\t") + "\n)\n\n" + text
}

// world is what all cases have in common. Careless code runs whenever a section has asked for
// it; the words by which it is asked are plain, because a section with a gap, in which anything
// may change, is one that synchronises. Protected by pages, careless code comes later: so a
// section waits for its begin, and not for ever for its end.
const world = `package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
)

type pair struct{ a, b int }

func (p *pair) set(n int) { p.a = n }
func (p pair) get() int   { return p.a }

// A trial is a case: careful code that sets the data, the section, which reports whether its data
// has changed, and careless code.
type trial struct {
	number   int
	set      func()
	section  func() bool
	careless func()
}

var trials []trial

func add(t trial) { trials = append(trials, t) }

var (
	requested, begun, done int
	seen                   bool // careless code has seen what a section leaves for a moment
	patience, at           int
	always          = len(os.Args) > 0
	other           sync.Mutex
	never           = make(chan int)
	pauser          interface{ pause() } = pausing{}
	pauseValue      = pause
)

type pausing struct{}

func (pausing) pause() { pause() }

// pause has careless code run, and waits for it.
//
//go:noinline
func pause() {
	ask()
	for hasToBegin() {
	}
	for i := 0; isUnderWay() && i < patience; i++ {
	}
}

//go:noinline
func hasToBegin() bool { return begun != requested }

//go:noinline
func begin() { begun = requested }

//go:noinline
func ask() { requested++ }

//go:noinline
func isUnderWay() bool { return done != requested }

//go:noinline
func answer() { done = requested }

//go:noinline
func same[T any](v T) T { return v }

//go:noinline
func call(do func()) { do() }

//go:noinline
func assign[T any](p *T, v T) { *p = v }

func once(yield func() bool) { yield() }

func firstOf[T any](all ...T) T { return all[0] }

func hold(l sync.Locker, do func()) {
	l.Lock()
	defer l.Unlock()
	do()
}

func main() {
	patience, _ = strconv.Atoi(os.Args[1])
	rounds, _ := strconv.Atoi(os.Args[2])
	current := make(chan func())
	go func() {
		for careless := range current {
			for range rounds {
				for !hasToBegin() {
					runtime.Gosched()
				}
				begin()
				careless()
				answer()
			}
		}
	}()
	for _, t := range trials {
		disturbed := 0
		t.set()
		current <- t.careless
		for range rounds {
			t.set()
			before := requested
			changed := t.section()
			if requested == before {
				ask()
			}
			for isUnderWay() {
				runtime.Gosched()
			}
			if changed || seen {
				disturbed++
			}
			seen = false
		}
		fmt.Println(t.number, disturbed)
	}
}
`

// Files are the sources of a program with some cases.
func Files(cases []Case) map[string]string {
	files := map[string]string{"go.mod": "module disturbed\n\ngo 1.24\n", "world.go": world}
	for _, c := range cases {
		files[c.File] = c.text
		files["rest_"+c.File] = c.rest
		if c.far != "" {
			files["far/"+c.File] = c.far
		}
	}
	return files
}
