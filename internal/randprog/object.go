package randprog

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// An Object is a random package with a type whose methods may race with each other: some
// lack a lock, some take an update apart, some wait in the middle of one.
//
//	type T struct {
//		mu sync.Mutex
//		a  int
//		m  map[string]int
//	}
//
//	func (t *T) M0() { x := t.a; runtime.Gosched(); t.a = x + 2 }
//	func (t *T) M1() { t.mu.Lock(); t.m["x"]++; t.mu.Unlock() }
//
// Each method works on one field. What a field has in the end, after two methods at the same
// time, is therefore one of the two values that it has after one of them came first.
type Object struct {
	Draws Draws
	// Source is the package, without its clause. Test is a test that two of the methods fail
	// together; Drive has, for each pair, a function that runs both at the same time and ones
	// that run them one after the other.
	Source, Test, Drive string
	Pairs               []MethodPair
	// Shown is the pair of the test.
	Shown MethodPair
}

// ObjectImports are the packages that objects and their drivers import.
var ObjectImports = []string{"fmt", "runtime", "sync", "time"}

// A MethodPair is two methods that work on the same field.
type MethodPair struct {
	First, Second int
	// From and To are the words of a driver's outcome that tell of the field.
	From, To int
	Field    string
}

// Together, and the others, are the names of functions of Drive.
func (p MethodPair) Together() string { return fmt.Sprintf("together%d_%d", p.First, p.Second) }

// OneAfterTheOther are the functions that run the methods in both orders.
func (p MethodPair) OneAfterTheOther() [2]string {
	return [2]string{fmt.Sprintf("inOrder%d_%d", p.First, p.Second), fmt.Sprintf("inOrder%d_%d", p.Second, p.First)}
}

// NewObject makes the object of a seed.
func NewObject(seed uint64) *Object {
	return generateObject(&source{rng: rand.New(rand.NewPCG(seed, 0x0b1ec7))})
}

// ObjectAgain makes the object of a list of draws.
func ObjectAgain(d Draws) *Object {
	return generateObject(&source{list: append(Draws(nil), d...)})
}

// An objectField is a field, with what the drivers tell of it.
type objectField struct {
	name string
	kind variableKind
	// told are the expressions that tell its value.
	told []string
}

// An objectGen makes one object.
type objectGen struct {
	*source
	fields  []objectField
	lock    string // its type; "" for none
	methods []strings.Builder
	on      []int // the field of each method
}

func generateObject(s *source) *Object {
	g := &objectGen{source: s}
	o := &Object{}
	g.declareFields()
	g.lock = []string{"", "", "sync.Mutex", "sync.RWMutex"}[g.pick(4)]
	n := 3 + g.pick(3)
	g.methods = make([]strings.Builder, n)
	for i := range n {
		g.on = append(g.on, g.pick(len(g.fields)))
		if i < 2 {
			g.on[i] = 0
		}
		g.method(i)
	}
	o.Source, o.Pairs = g.declarations(), g.pairs()
	o.Shown = o.Pairs[g.pick(2)]
	if o.Shown.First != 0 {
		o.Shown = o.Pairs[0]
	}
	o.Test, o.Drive = g.test(o.Shown), g.drive(o.Pairs)
	o.Draws = s.list[:s.used:s.used]
	return o
}

func (g *objectGen) declareFields() {
	for i := range 1 + g.pick(3) {
		f := objectField{name: string(rune('a' + i)), kind: number}
		switch g.pick(4) {
		case 2:
			f.kind, f.told = mapping, []string{`t.%s["x"]`, `t.%s["y"]`, `len(t.%s)`}
		case 3:
			f.kind, f.told = list, []string{`len(t.%s)`, `sum(t.%s)`}
		default:
			f.told = []string{`t.%s`}
		}
		for j, e := range f.told {
			f.told[j] = fmt.Sprintf(e, f.name)
		}
		g.fields = append(g.fields, f)
	}
}

// method writes one method. The first lacks the lock, others rarely do.
func (g *objectGen) method(i int) {
	b := &g.methods[i]
	f := g.fields[g.on[i]]
	fmt.Fprintf(b, "func (t *T) M%d() {\n", i)
	body := g.operation(f)
	if g.lock != "" && i > 0 && !g.chance(3) {
		b.WriteString("\tt.mu.Lock()\n\tdefer t.mu.Unlock()\n")
		body = strings.ReplaceAll(body, wait, "")
	}
	for strings.Contains(body, wait) {
		body = strings.Replace(body, wait, g.waiting(), 1)
	}
	b.WriteString(body + "}\n")
}

// wait stands where a method may wait.
const wait = "\tWAIT\n"

// waiting is something that a method does in the middle of its work.
func (g *objectGen) waiting() string {
	switch g.pick(8) {
	case 1:
		return "\truntime.Gosched()\n"
	case 2:
		return "\ttime.Sleep(time.Millisecond)\n"
	case 3:
		return "\tt.nothing()\n"
	case 4:
		return "\tdone := make(chan int, 1)\n\tdone <- 1\n\t<-done\n"
	case 5:
		return "\tvar wg sync.WaitGroup\n\twg.Add(1)\n\tgo wg.Done()\n\twg.Wait()\n"
	case 6:
		return "\tt.call(func() { t.nothing() })\n"
	}
	return ""
}

// operation is the body of a method that works on a field.
func (g *objectGen) operation(f objectField) string {
	k := 1 + g.pick(3)
	var forms []string
	switch f.kind {
	case mapping:
		forms = []string{
			"\tt.F[\"x\"] += K\n",
			"\tv := t.F[\"x\"]\n" + wait + "\tt.F[\"x\"] = v + K\n",
			"\tif _, ok := t.F[\"y\"]; !ok {\n" + wait + "\tt.F[\"y\"] = K\n\t} else {\n\tt.F[\"y\"] += 10\n\t}\n",
			"\tdelete(t.F, \"x\")\n",
			"\tfor k := range t.F {\n\tt.F[k] += K\n\t}\n",
			"\tif t.F == nil {\n\tt.F = map[string]int{}\n\t}\n\tt.F[\"y\"] = K\n",
			"\tm := t.F\n" + wait + "\tm[\"x\"] += K\n",
			"\tif len(t.F) > 1 {\n" + wait + "\tt.F[\"x\"] *= 2\n\t}\n",
		}
	case list:
		forms = []string{
			"\tt.F = append(t.F, K)\n",
			"\told := t.F\n" + wait + "\tt.F = append(old[:len(old):len(old)], K)\n",
			"\tif len(t.F) > 0 {\n" + wait + "\tt.F[0] += K\n\t}\n",
			"\tfor i := range t.F {\n\tt.F[i] += K\n\t}\n",
			"\tt.F = append([]int{K}, t.F...)\n",
			"\tn := len(t.F)\n" + wait + "\tt.F = make([]int, n+K)\n",
		}
	default:
		forms = []string{
			"\tt.F += K\n",
			"\tv := t.F\n" + wait + "\tt.F = v + K\n",
			"\tif t.F > 0 {\n" + wait + "\tt.F -= K\n\t}\n",
			"\tt.setF(t.getF() + K)\n",
			"\tp := &t.F\n\tv := *p\n" + wait + "\t*p = v * 2\n",
			"\tfunc() { t.F += K }()\n",
			"\tdefer func() { t.F += K }()\n" + wait,
			"\tfor range 2 {\n\tt.F += K\n\t}\n",
			"\tv := t.F\n\tswitch {\n\tcase v > 2:\n" + wait + "\tt.F = v - K\n\tdefault:\n\tt.F = v + 5\n\t}\n",
			"\tv, w := t.F, K\n" + wait + "\tt.F, w = w+v, 0\n\t_ = w\n",
			"\tif v := t.F; v >= 0 {\n\tif w := v + K; w > 1 {\n" + wait + "\tt.F = w\n\treturn\n\t}\n\tt.F = 0\n\t}\n",
		}
	}
	text := forms[g.pick(len(forms))]
	return strings.NewReplacer("setF", "set"+strings.ToUpper(f.name), "getF", "get"+strings.ToUpper(f.name), "t.F", "t."+f.name, "K", fmt.Sprint(k)).Replace(text)
}

func (g *objectGen) declarations() string {
	var b strings.Builder
	b.WriteString("import (\n\t\"runtime\"\n\t\"sync\"\n\t\"time\"\n)\n\nvar _ = runtime.Gosched\nvar _ sync.Mutex\nvar _ time.Duration\n\ntype T struct {\n")
	if g.lock != "" {
		fmt.Fprintf(&b, "\tmu %s\n", g.lock)
	}
	var literal []string
	for _, f := range g.fields {
		switch f.kind {
		case mapping:
			fmt.Fprintf(&b, "\t%s map[string]int\n", f.name)
			literal = append(literal, f.name+`: map[string]int{"x": 1}`)
		case list:
			fmt.Fprintf(&b, "\t%s []int\n", f.name)
			literal = append(literal, f.name+": []int{1, 2}")
		default:
			fmt.Fprintf(&b, "\t%s int\n", f.name)
			literal = append(literal, f.name+": 1")
		}
	}
	fmt.Fprintf(&b, "}\n\nfunc New() *T { return &T{%s} }\n\nfunc (t *T) nothing() {}\n\nfunc (t *T) call(f func()) { f() }\n", strings.Join(literal, ", "))
	for _, f := range g.fields {
		if f.kind == number {
			upper := strings.ToUpper(f.name)
			fmt.Fprintf(&b, "\nfunc (t *T) get%s() int { return t.%s }\n\nfunc (t *T) set%s(v int) { t.%s = v }\n", upper, f.name, upper, f.name)
		}
	}
	for i := range g.methods {
		b.WriteString("\n" + g.methods[i].String())
	}
	return b.String()
}

// pairs are all pairs of methods of one field, the first with itself among them.
func (g *objectGen) pairs() []MethodPair {
	var all []MethodPair
	for i := range g.methods {
		for j := i; j < len(g.methods); j++ {
			if g.on[i] != g.on[j] {
				continue
			}
			from := 0
			for _, f := range g.fields[:g.on[i]] {
				from += len(f.told)
			}
			f := g.fields[g.on[i]]
			all = append(all, MethodPair{First: i, Second: j, From: from, To: from + len(f.told), Field: f.name})
		}
	}
	return all
}

// told is the call that tells the values of all fields.
func (g *objectGen) told() string {
	var all []string
	for _, f := range g.fields {
		all = append(all, f.told...)
	}
	return "show(" + strings.Join(all, ", ") + ")"
}

const sumFunction = "func sum(list []int) (n int) {\n\tfor i, x := range list {\n\t\tn = n*7 + x + i\n\t}\n\treturn n\n}\n"

// test is a test that fails if two methods at the same time leave what no order of them does.
func (g *objectGen) test(p MethodPair) string {
	return fmt.Sprintf(`import (
	"fmt"
	"slices"
	"sync"
	"testing"
)

func show(args ...any) string { return fmt.Sprintln(args...) }

%s
var _ = sum

func TestIt(t0 *testing.T) {
	t := New()
	var wg sync.WaitGroup
	wg.Add(2)
	go func() { defer wg.Done(); t.M%[2]d() }()
	go func() { defer wg.Done(); t.M%[3]d() }()
	wg.Wait()
	got := %[4]s
	t = New()
	t.M%[2]d()
	t.M%[3]d()
	one := %[4]s
	t = New()
	t.M%[3]d()
	t.M%[2]d()
	other := %[4]s
	if !slices.Contains([]string{one, other}, got) {
		t0.Errorf("got %%q, want %%q or %%q", got, one, other)
	}
}
`, sumFunction, p.First, p.Second, g.told())
}

// drive has the functions that run pairs of methods.
func (g *objectGen) drive(pairs []MethodPair) string {
	var b strings.Builder
	b.WriteString("import (\n\t\"fmt\"\n\t\"sync\"\n)\n\nfunc show(args ...any) string { return fmt.Sprintln(args...) }\n\n" + sumFunction + "\nvar _ = sum\n")
	written := make(map[string]bool)
	for _, p := range pairs {
		fmt.Fprintf(&b, "\nfunc %s() string {\n\tt := New()\n\tvar wg sync.WaitGroup\n\twg.Add(2)\n\tgo func() { defer wg.Done(); t.M%d() }()\n\tgo func() { defer wg.Done(); t.M%d() }()\n\twg.Wait()\n\treturn %s\n}\n",
			p.Together(), p.First, p.Second, g.told())
		for _, name := range p.OneAfterTheOther() {
			if written[name] {
				continue
			}
			written[name] = true
			var first, second int
			fmt.Sscanf(name, "inOrder%d_%d", &first, &second)
			fmt.Fprintf(&b, "\nfunc %s() string {\n\tt := New()\n\tt.M%d()\n\tt.M%d()\n\treturn %s\n}\n", name, first, second, g.told())
		}
	}
	return b.String()
}
