package compound

// A kind is some data of a compound, and operations on it. Statements are separated by "; ",
// or by lines where they stand in blocks; K is a number, and an operation may wait at WAIT.
type kind struct {
	name   string
	types  string   // that the data needs
	names  []string // of the fields
	fields []string // their declarations
	made   []string // what a new object has
	told   []string // what tells their values
	// writers are operations that fail beside themselves, forms are others.
	writers, forms []string
}

var kinds = []kind{
	{
		name: "pair", names: []string{"x", "y"}, fields: []string{"x, y int"}, made: []string{"x: 3"}, told: []string{"t.x", "t.y"},
		writers: []string{
			"t.x += K; WAIT;t.y += K; return 0",
			"v := t.x; WAIT;t.x = v + K; t.y++; return v",
			"t.SetX(t.X() + K); t.SetY(t.Y() + K); return 0",
			"t.add(K); return t.x",
		},
		forms: []string{
			"return t.X()*100 + t.Y()",
			"v := t.X(); WAIT;return v*100 + t.Y()",
			"v, w := t.both(); return v*100 + w",
			"if t.X() > K {\n\treturn t.Y()\n}; return -1",
			"if t.can(K) {\n\tt.move(K)\n\treturn 1\n}; return 0",
			"if !t.can(K) {\n\treturn 0\n}; WAIT;t.x -= K; t.y += K; return 1",
			"ch := make(chan int, 2); ch <- t.X(); ch <- t.Y(); return <-ch*100 + <-ch",
			"ch := make(chan int, 1); go func() { ch <- t.X() + t.Y() }(); return <-ch",
			"t.move(K); return t.X()",
			"f := func() int { return t.X() }; v := f(); return v*100 + t.Y()",
			"s := struct{ a, b int }{t.X(), t.Y()}; return s.a*100 + s.b",
			"defer t.add(K); return t.X()",
			"switch v := t.X(); {\ncase v > 4:\n\tt.move(K)\n\treturn 2\ncase v > 1:\n\treturn t.Y()\n}; return 0",
			"t.SetX(t.Y() + K); return 0",
			"return t.weigh(t.X(), t.Y())",
		},
	},
	{
		name: "list", names: []string{"l"}, fields: []string{"l []int"}, made: []string{"l: []int{1, 2}"}, told: []string{"len(t.l)", "digits(t.l)"},
		writers: []string{
			"t.l = append(t.l, K); return len(t.l)",
			"n := t.Len(); t.push(K); return n",
			"old := t.l; WAIT;t.l = append(old[:len(old):len(old)], K); return 0",
		},
		forms: []string{
			"s := 0; for i := 0; i < t.Len(); i++ {\n\ts = s*10 + t.At(i)\n}; return s",
			"s := 0; for i := 0; i < len(t.l); i++ {\n\ts = s*10 + t.l[i]\n}; return s",
			"s := 0; for _, v := range t.l {\n\ts = s*10 + v\n}; return s",
			"if t.Len() == 0 {\n\treturn -1\n}; return t.pop()",
			"if t.empty() {\n\treturn -1\n}; WAIT;v := t.At(0); t.drop(); return v",
			"s := 0; for t.Len() > 0 {\n\ts += t.pop()\n}; return s",
			"s := 0; for !t.empty() {\n\ts += t.At(0)\n\tt.drop()\n}; return s",
			"if i := t.find(K); i >= 0 {\n\treturn t.At(i)\n}; return -1",
			"if i := t.find(K); i >= 0 {\n\tWAIT;\n\tt.l[i] = 7\n}; return 0",
			"for i := range t.Len() {\n\tt.l[i]++\n}; return 0",
			"if t.Len() < 3 {\n\tt.push(K)\n\treturn 1\n}; return 0",
			"return t.At(t.Len() - t.Len())",
			"ch := make(chan int, 1); ch <- t.Len(); WAIT;return <-ch*10 + t.Len()",
		},
	},
	{
		name: "map", names: []string{"m"}, fields: []string{"m map[string]int"}, made: []string{`m: map[string]int{"x": 1}`},
		told: []string{`t.m["x"]`, `t.m["y"]`, `len(t.m)`},
		writers: []string{
			`t.m["x"] += K; return t.m["x"]`,
			`if !t.has("y") {` + "\n\t" + `t.put("y", K)` + "\n\treturn 1\n}; return 0",
			`t.put("x", t.get("x")+K); return 0`,
		},
		forms: []string{
			`if t.has("x") {` + "\n\t" + `return t.get("x")` + "\n}; return -1",
			`if t.has("x") {` + "\n\tWAIT;\n\t" + `t.remove("x")` + "\n\treturn 1\n}; return 0",
			`v := t.get("x"); t.remove("x"); WAIT;t.put("y", v); return v`,
			`return t.get("x")*10 + t.get("y")`,
			`return t.Size()*100 + t.get("x")`,
			"s := 0; for _, k := range []string{\"x\", \"y\"} {\n\ts = s*10 + t.get(k)\n}; return s",
			"for _, k := range []string{\"x\", \"y\"} {\n\tif !t.has(k) {\n\t\treturn 0\n\t}\n}; return 1",
			"for _, k := range []string{\"x\", \"y\"} {\n\tt.put(k, K)\n}; return 0",
			"s := 0; for _, v := range t.m {\n\ts += v\n}; return s",
			"if t.Size() < 2 {\n\tt.put(\"y\", K)\n\treturn 1\n}; return 0",
			`if v := t.get("x"); v > 0 {` + "\n\t" + `t.put("y", v)` + "\n}; return 0",
		},
	},
	{
		name: "inner", names: []string{"in"}, fields: []string{"in *inner"}, made: []string{"in: &inner{n: 1}"}, told: []string{"t.in.n", "t.in.top"},
		types: "type inner struct{ n, top int }\n\nfunc (i *inner) add(k int) {\n\ti.n += k\n\tif i.n > i.top {\n\t\ti.top = i.n\n\t}\n}\n\n" +
			"func (i *inner) count() int { return i.n }\n\nfunc (i *inner) high() int { return i.top }\n\n",
		writers: []string{
			"t.in.add(K); return t.in.count()",
			"v := t.in.count(); WAIT;t.in.n = v + K; return v",
			"t.grow(K); return 0",
		},
		forms: []string{
			"return t.in.count()*100 + t.in.high()",
			"return t.Count()*100 + t.High()",
			"if t.Count() < 3 {\n\tt.grow(K)\n\treturn 1\n}; return 0",
			"in := t.in; in.add(K); WAIT;return in.high()",
			"t.in = &inner{n: K}; return 0",
			"v := t.Count(); t.in = &inner{n: v, top: v}; return v",
			"if t.in.count() > 0 {\n\tt.in.add(-1)\n\treturn 1\n}; return 0",
		},
	},
	{
		name: "stop", names: []string{"z", "w", "stopped"}, fields: []string{"z, w int", "stopped bool", "done chan struct{}", "out chan int"},
		made: []string{"done: make(chan struct{})", "out: make(chan int, 4)"}, told: []string{"t.z", "t.w", "t.stopped", "len(t.out)"},
		writers: []string{
			"select {\ncase <-t.done:\n\treturn -1\ndefault:\n}; t.z++; t.w++; return t.z",
			"if t.Stopped() {\n\treturn -1\n}; t.z += K; return t.z",
			"v := t.z; select {\ncase <-t.done:\n\treturn -1\ncase t.out <- v:\n}; t.z = v + K; return 0",
		},
		forms: []string{
			"return t.Z()*10 + t.W()",
			"if t.Stopped() {\n\treturn 0\n}; t.stop(); return 1",
			"select {\ncase t.out <- t.Z() + t.W():\n\treturn 1\ncase <-t.done:\n\treturn 0\n}",
			"if t.Stopped() {\n\treturn t.Z()\n}; t.w += K; return t.W()",
			"if t.z > K {\n\treturn -1\n}; select {\ncase <-t.done:\n\treturn -2\ndefault:\n\tt.w += K\n}; return t.W()",
			"for i := 0; i < t.Z(); i++ {\n\tt.w++\n}; return t.Z()",
		},
	},
	{
		name: "store", names: []string{"st"}, fields: []string{"st *store.Store"}, made: []string{"st: store.New()"},
		told: []string{`t.st.Get("x")`, `t.st.Get("y")`, `t.st.Sum()`},
		writers: []string{
			`t.st.Set("x", K); return t.st.Sum()`,
			`t.st.Add("x", K); return 0`,
		},
		forms: []string{
			`return t.st.Sum()*10 + t.st.Len()`,
			`t.st.Set("y", t.st.Get("x")+K); return 0`,
			`if t.st.Len() < 2 {` + "\n\t" + `t.st.Set("y", K)` + "\n\treturn 1\n}; return 0",
			`return t.st.Mean()`,
			`return t.st.Get("x")*10 + t.st.Get("y")`,
		},
	},
}

// helpers are the methods that operations call.
var helpers = map[string]method{
	"X":       {result: "int", body: "return t.x"},
	"Y":       {result: "int", body: "return t.y"},
	"SetX":    {params: "v int", body: "t.x = v"},
	"SetY":    {params: "v int", body: "t.y = v"},
	"both":    {result: "(int, int)", body: "return t.X(), t.Y()"},
	"add":     {params: "k int", body: "t.x += k; t.y += k"},
	"can":     {params: "k int", result: "bool", body: "return t.x >= k"},
	"move":    {params: "k int", body: "t.x -= k; t.y += k"},
	"weigh":   {params: "v, w int", result: "int", body: "return v*100 + w"},
	"Len":     {result: "int", body: "return len(t.l)"},
	"At":      {params: "i int", result: "int", body: "if i >= len(t.l) {\n\treturn -1\n}; return t.l[i]"},
	"push":    {params: "v int", body: "t.l = append(t.l, v)"},
	"pop":     {result: "int", body: "if len(t.l) == 0 {\n\treturn 0\n}; v := t.l[0]; t.l = t.l[1:]; return v"},
	"drop":    {body: "if len(t.l) > 0 {\n\tt.l = t.l[1:]\n}"},
	"empty":   {result: "bool", body: "return t.Len() == 0"},
	"find":    {params: "v int", result: "int", body: "for i, w := range t.l {\n\tif v == w {\n\t\treturn i\n\t}\n}; return -1"},
	"has":     {params: "k string", result: "bool", body: "_, ok := t.m[k]; return ok"},
	"get":     {params: "k string", result: "int", body: "return t.m[k]"},
	"put":     {params: "k string, v int", body: "t.m[k] = v"},
	"remove":  {params: "k string", body: "delete(t.m, k)"},
	"Size":    {result: "int", body: "return len(t.m)"},
	"grow":    {params: "k int", body: "t.in.add(k)"},
	"Count":   {result: "int", body: "return t.in.count()"},
	"High":    {result: "int", body: "return t.in.high()"},
	"Stopped": {result: "bool", body: "return t.stopped"},
	"stop":    {body: "t.stopped = true; close(t.done)"},
	"Z":       {result: "int", body: "return t.z"},
	"W":       {result: "int", body: "return t.w"},
}

// storeSource is the second package of compounds with a store.
const storeSource = `package store

type Store struct {
	m   map[string]int
	sum int
}

func New() *Store { return &Store{m: map[string]int{"x": 1}, sum: 1} }

func (s *Store) Set(k string, v int) {
	s.sum += v - s.m[k]
	s.m[k] = v
}

func (s *Store) Add(k string, v int) { s.Set(k, s.Get(k)+v) }

func (s *Store) Get(k string) int { return s.m[k] }

func (s *Store) Len() int { return len(s.m) }

func (s *Store) Sum() int { return s.sum }

func (s *Store) Mean() int {
	if s.Len() == 0 {
		return 0
	}
	return s.Sum() * 10 / s.Len()
}
`
