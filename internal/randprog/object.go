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
var ObjectImports = []string{"fmt", "runtime", "sync", "sync/atomic", "time"}

// A MethodPair is two methods that work on the same field.
type MethodPair struct {
	First, Second int
	// From and To are the words of a driver's outcome that tell of the field.
	From, To int
	Field    string
	// Other says that the object begins in another state than the test shows, in which methods
	// take other sides of their branches.
	Other bool
}

// Together, and the others, are the names of functions of Drive.
func (p MethodPair) Together() string { return p.function("together", p.First, p.Second) }

// function is the name of the function for two methods.
func (p MethodPair) function(verb string, first, second int) string {
	if p.Other {
		verb = "other" + verb
	}
	return fmt.Sprintf("%s%d_%d", verb, first, second)
}

// OneAfterTheOther are the functions that run the methods in both orders.
func (p MethodPair) OneAfterTheOther() [2]string {
	return [2]string{p.function("inOrder", p.First, p.Second), p.function("inOrder", p.Second, p.First)}
}

// NewObject makes the object of a seed.
func NewObject(seed uint64) *Object {
	return generateObject(&source{rng: rand.New(rand.NewPCG(seed, 0x0b1ec7))})
}

// An objectGen makes one object.
type objectGen struct {
	*source
	fields   []objectField
	lock     string // its type; "" for none
	embedded bool   // the lock is an embedded field
	generic  bool   // T has a type parameter
	branches bool   // methods have branches that the test does not take
	values   bool   // goroutines begin in method values
	methods  []strings.Builder
	on       []int // the field of each method
}

func generateObject(s *source) *Object {
	g := &objectGen{source: s}
	o := &Object{}
	g.declareFields()
	g.lock = []string{"", "", "sync.Mutex", "sync.RWMutex"}[g.pick(4)]
	g.embedded, g.generic, g.values = g.lock != "" && g.chance(3), g.chance(5), g.chance(4)
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

// method writes one method. The first lacks the lock, others rarely do.
func (g *objectGen) method(i int) {
	b := &g.methods[i]
	f := g.fields[g.on[i]]
	fmt.Fprintf(b, "func (t *%s) M%d() {\n", g.receiver(), i)
	body := g.operation(f)
	if i > 0 && g.chance(6) {
		g.branches = true
		body = "\tif t.flag {\n" + body + "\t}\n"
	}
	if g.lock != "" && i > 0 && !g.chance(3) {
		lock := "t.mu."
		if g.embedded {
			lock = "t."
		}
		fmt.Fprintf(b, "\t%sLock()\n\tdefer %[1]sUnlock()\n", lock)
		body = strings.ReplaceAll(body, wait, "")
	}
	for strings.Contains(body, wait) {
		body = strings.Replace(body, wait, g.waiting(), 1)
	}
	b.WriteString(body + "}\n")
}

// receiver is the type of a method's receiver, without the star.
func (g *objectGen) receiver() string {
	if g.generic {
		return "T[E]"
	}
	return "T"
}

func (g *objectGen) declarations() string {
	var b strings.Builder
	b.WriteString("import (\n\t\"runtime\"\n\t\"sync\"\n\t\"sync/atomic\"\n\t\"time\"\n)\n\nvar _ = runtime.Gosched\nvar _ sync.Mutex\nvar _ atomic.Int64\nvar _ time.Duration\n\n")
	b.WriteString("type node struct {\n\tv    int\n\tnext *node\n}\n\n")
	parameters, made := "", "T"
	if g.generic {
		parameters, made = "[E any]", "T[string]"
	}
	fmt.Fprintf(&b, "type T%s struct {\n", parameters)
	switch {
	case g.embedded:
		fmt.Fprintf(&b, "\t%s\n", g.lock)
	case g.lock != "":
		fmt.Fprintf(&b, "\tmu %s\n", g.lock)
	}
	var literal []string
	for _, f := range g.fields {
		fmt.Fprintf(&b, "\t%s %s\n", f.name, f.typeName())
		if value := f.initial(); value != "" {
			literal = append(literal, f.name+": "+value)
		}
	}
	if g.generic {
		b.WriteString("\textra E\n")
	}
	fmt.Fprintf(&b, "\tflag bool\n\thooks []func()\n}\n\nfunc New() *%s {\n\tt := &%[1]s{%s}\n\tt.hooks = []func(){t.look}\n\treturn t\n}\n\n", made, strings.Join(literal, ", "))
	fmt.Fprintf(&b, "func Other() *%s {\n\tt := New()\n\tt.flag = true\n\treturn t\n}\n\n", made)
	method := func(text string) { b.WriteString("\nfunc (t *" + g.receiver() + ") " + text + "\n") }
	method("nothing() {}")
	method("call(f func()) { f() }")
	method("fire() {\n\tfor _, hook := range t.hooks {\n\t\thook()\n\t}\n}")
	var looked strings.Builder
	for _, f := range g.fields {
		if f.kind == number {
			upper := strings.ToUpper(f.name)
			method(fmt.Sprintf("get%s() int { return t.%s }", upper, f.name))
			method(fmt.Sprintf("set%s(v int) { t.%s = v }", upper, f.name))
			fmt.Fprintf(&looked, "\t_ = t.get%s()\n", upper)
		}
	}
	method("look() {\n" + looked.String() + "}")
	for i := range g.methods {
		b.WriteString("\n" + g.methods[i].String())
	}
	return b.String()
}

// pairs are all pairs of methods of one field, the first with itself among them.
func (g *objectGen) pairs() []MethodPair {
	var all, others []MethodPair
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
			p := MethodPair{First: i, Second: j, From: from, To: from + len(f.told), Field: f.name}
			all = append(all, p)
			if g.branches {
				p.Other = true
				others = append(others, p)
			}
		}
	}
	return append(all, others...)
}

// told is the call that tells the values of all fields.
func (g *objectGen) told() string {
	var all []string
	for _, f := range g.fields {
		all = append(all, f.told...)
	}
	return "show(" + strings.Join(all, ", ") + ")"
}

const sumFunction = "func sum(list []int) (n int) {\n\tfor i, x := range list {\n\t\tn = n*7 + x + i\n\t}\n\treturn n\n}\n\n" +
	"func chain(n *node) (sum int) {\n\tfor ; n != nil; n = n.next {\n\t\tsum = sum*7 + n.v + 1\n\t}\n\treturn sum\n}\n"

// started is how a goroutine is started that runs a method.
func (g *objectGen) started(method int) string {
	if g.values {
		return fmt.Sprintf("wg.Go(t.M%d)", method)
	}
	return fmt.Sprintf("wg.Add(1)\n\tgo func() { defer wg.Done(); t.M%d() }()", method)
}

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
var _, _ = sum, chain

func TestIt(t0 *testing.T) {
	t := New()
	var wg sync.WaitGroup
	%[5]s
	%[6]s
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
`, sumFunction, p.First, p.Second, g.told(), g.started(p.First), g.started(p.Second))
}

// drive has the functions that run pairs of methods.
func (g *objectGen) drive(pairs []MethodPair) string {
	var b strings.Builder
	b.WriteString("import (\n\t\"fmt\"\n\t\"sync\"\n)\n\nfunc show(args ...any) string { return fmt.Sprintln(args...) }\n\n" + sumFunction + "\nvar _, _ = sum, chain\n")
	written := make(map[string]bool)
	for _, p := range pairs {
		made := "New()"
		if p.Other {
			made = "Other()"
		}
		fmt.Fprintf(&b, "\nfunc %s() string {\n\tt := %s\n\tvar wg sync.WaitGroup\n\twg.Add(2)\n\tgo func() { defer wg.Done(); t.M%d() }()\n\tgo func() { defer wg.Done(); t.M%d() }()\n\twg.Wait()\n\treturn %s\n}\n",
			p.Together(), made, p.First, p.Second, g.told())
		for i, name := range p.OneAfterTheOther() {
			if written[name] {
				continue
			}
			written[name] = true
			first, second := p.First, p.Second
			if i == 1 {
				first, second = second, first
			}
			fmt.Fprintf(&b, "\nfunc %s() string {\n\tt := %s\n\tt.M%d()\n\tt.M%d()\n\treturn %s\n}\n", name, made, first, second, g.told())
		}
	}
	return b.String()
}
