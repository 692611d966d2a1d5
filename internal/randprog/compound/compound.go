// Package compound makes random packages with a type whose operations are made of each other: of
// getters and setters, of a check in one helper and an act in another, of rounds whose number is read
// again each time, of what an inner type or another package has.
//
//	type T struct {
//		x, y int
//		l    []int
//	}
//
//	func (t *T) X() int { return t.x }
//	func (t *T) Y() int { return t.y }
//	func (t *T) Op0() int { t.x += 2; t.y += 2; return 0 }
//	func (t *T) Op1() int { return t.X()*100 + t.Y() }
//
// Each operation is to be one step for the others, so what two of them return at the same time, and
// what they leave, is what they return and leave one after the other, in one of the two orders. It is
// for the judge of fixes (internal/truth/fixes).
//
//	compound.go  the package, its test, and what drives it
//	form.go      data, and the operations on it
package compound

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/randprog"
)

// A Compound is a random package.
type Compound struct {
	Draws randprog.Draws
	// Source is the package without its clause. Store is a second package that it imports, with its
	// clause; "" if there is none.
	Source, Store string
	// Test is a test that two operations fail together; Drive has a function for each pair that
	// runs both at the same time, and ones that run them one after the other.
	Test, Drive string
	Operations  []Operation
	// FieldOf are the fields of T that lead to values of a struct, by its name.
	FieldOf map[string]string
	Pairs   []OperationPair
}

// A Operation is a method, with the fields that it works on and the functions that it calls,
// itself among them.
type Operation struct {
	Name      string
	Fields    []string
	Functions []string
}

// An OperationPair is two operations that work on a field in common. The first pair is the test's.
type OperationPair struct{ First, Second int }

// Together, and the others, are the names of functions of Drive.
func (p OperationPair) Together() string { return fmt.Sprintf("together%d_%d", p.First, p.Second) }

// OneAfterTheOther are the functions that run the operations in both orders.
func (p OperationPair) OneAfterTheOther() [2]string {
	return [2]string{fmt.Sprintf("first%d_%d", p.First, p.Second), fmt.Sprintf("second%d_%d", p.First, p.Second)}
}

// Imports are the packages that compounds, their drivers and their changes import, besides context.
var Imports = []string{"fmt", "iter", "maps", "runtime", "slices", "sort", "strings", "sync", "sync/atomic"}

// StorePath is the import path of a compound's second package below that of the compound.
const StorePath = "store"

// New makes the compound of a seed, for a package of a path.
func New(seed uint64, path string) *Compound {
	return generate(randprog.NewSource(rand.New(rand.NewPCG(seed, 0xc0de))), path)
}

// Again makes the compound of a list of draws.
func Again(d randprog.Draws, path string) *Compound {
	return generate(randprog.SourceOf(d), path)
}

// A method is a method of T.
type method struct {
	name, params, result, body string
	operation                  bool // others call it as one step
}

// A generator makes one compound.
type generator struct {
	*randprog.Source
	lock    string // where T has a lock: "", "mu", "embedded", "promoted"
	lockOf  string // its type
	kinds   []kind
	methods []method
	has     map[string]bool // helpers that are there
}

func generate(s *randprog.Source, path string) *Compound {
	g := &generator{Source: s, has: make(map[string]bool)}
	g.lock = []string{"", "", "mu", "embedded", "promoted"}[g.Pick(5)]
	g.lockOf = []string{"sync.Mutex", "sync.RWMutex"}[g.Pick(2)]
	order := g.Pick(len(kinds))
	for i := range 1 + g.Pick(2) {
		g.kinds = append(g.kinds, kinds[(order+i*(1+g.Pick(2)))%len(kinds)])
	}
	g.kinds = slices.CompactFunc(g.kinds, func(a, b kind) bool { return a.name == b.name })
	for i, k := range g.kinds {
		g.operation(k.writers[g.Pick(len(k.writers))])
		for range 2 + g.Pick(3-i) {
			g.operation(k.forms[g.Pick(len(k.forms))])
		}
	}
	if g.lock == "" && g.Chance(3) {
		g.operation("*t = *New(); return 0")
	}
	c := &Compound{Source: g.declarations(path), FieldOf: make(map[string]string)}
	for _, k := range g.kinds {
		for _, owner := range k.owner {
			c.FieldOf[owner] = k.names[0]
		}
	}
	if g.uses("store") {
		c.Store = storeSource
	}
	c.Operations = g.operations()
	c.Pairs = g.pairs(c.Operations)
	c.Drive, c.Test = g.drive(c), g.test(c)
	c.Draws = s.Used()
	return c
}

// uses reports whether the compound has a kind of data.
func (g *generator) uses(name string) bool {
	return slices.ContainsFunc(g.kinds, func(k kind) bool { return k.name == name })
}

// calls finds the calls of methods of T.
var calls = regexp.MustCompile(`\bt\.(\w+)\(`)

// sorts finds what has a library sort T, by calling the methods of it that sortable lists.
var (
	sorts    = regexp.MustCompile(`\bsort\.Sort\(t\)`)
	sortable = []string{"Len", "Less", "Swap"}
)

// anyCalls finds the calls of methods, and methods their declarations.
var (
	anyCalls = regexp.MustCompile(`\.(\w+)\(`)
	methods  = regexp.MustCompile(`func \([^)]*\) (\w+)\(`)
)

// operation adds an operation of a form, and the helpers that it calls.
func (g *generator) operation(form string) {
	body := strings.ReplaceAll(form, "K", fmt.Sprint(1+g.Pick(3)))
	for strings.Contains(body, "WAIT;") {
		body = strings.Replace(body, "WAIT;", g.waiting(), 1)
	}
	g.add(method{name: fmt.Sprintf("Op%d", len(g.operationNames())), result: "int", body: body, operation: true})
	for {
		missing := ""
		for _, m := range g.methods {
			for _, call := range calls.FindAllStringSubmatch(m.body, -1) {
				if _, known := helpers[call[1]]; known && !g.has[call[1]] {
					missing = call[1]
				}
			}
			if i := slices.IndexFunc(sortable, func(name string) bool { return !g.has[name] }); i >= 0 && sorts.MatchString(m.body) {
				missing = sortable[i]
			}
		}
		if missing == "" {
			return
		}
		g.has[missing] = true
		h := helpers[missing]
		h.name = missing
		g.add(h)
	}
}

func (g *generator) operationNames() []string {
	var all []string
	for _, m := range g.methods {
		if m.operation {
			all = append(all, m.name)
		}
	}
	return all
}

// add adds a method; one that calls none of T's may take the lock that T has, unless it is the
// operation that the test shows.
func (g *generator) add(m method) {
	if g.lock != "" && len(g.methods) > 0 && !calls.MatchString(m.body) && !strings.Contains(m.body, "go ") && g.Chance(3) {
		on := map[string]string{"mu": "t.mu", "embedded": "t", "promoted": "t"}[g.lock]
		m.body = fmt.Sprintf("%s.Lock(); defer %[1]s.Unlock(); ", on) + m.body
	}
	g.methods = append(g.methods, m)
}

// waiting is something that an operation does in the middle of its work.
func (g *generator) waiting() string {
	return []string{"", "", "runtime.Gosched(); ", "t.nothing(); ", "func() { t.nothing() }(); "}[g.Pick(5)]
}

// declarations are the package.
func (g *generator) declarations(path string) string {
	var b strings.Builder
	b.WriteString("import (\n\t\"context\"\n\t\"iter\"\n\t\"maps\"\n\t\"runtime\"\n\t\"slices\"\n\t\"sort\"\n\t\"sync\"\n")
	if g.uses("store") {
		fmt.Fprintf(&b, "\n\t%q\n", path+"/"+StorePath)
	}
	b.WriteString(")\n\nvar _ = runtime.Gosched\nvar _ = sort.Sort\nvar _ sync.Mutex\nvar _ context.Context\nvar _ = slices.Clone[[]int]\nvar _ = maps.Clone[map[int]int]\nvar _ iter.Seq[int]\n\n")
	if g.lock == "promoted" {
		fmt.Fprintf(&b, "type base struct {\n\t%s\n\tname string\n}\n\n", g.lockOf)
	}
	var values []string
	setup := ""
	for _, k := range g.kinds {
		b.WriteString(k.types)
		values = append(values, k.made...)
		if k.setup != "" {
			setup += "\t" + k.setup + "\n"
		}
	}
	b.WriteString("type T struct {\n")
	b.WriteString(map[string]string{"": "", "mu": "\tmu " + g.lockOf + "\n", "embedded": "\t" + g.lockOf + "\n", "promoted": "\tbase\n"}[g.lock])
	for _, k := range g.kinds {
		for _, f := range k.fields {
			fmt.Fprintf(&b, "\t%s\n", f)
		}
	}
	fmt.Fprintf(&b, "}\n\nfunc New() *T {\n\tt := &T{%s}\n%s\treturn t\n}\n\nfunc (t *T) nothing() {}\n", strings.Join(values, ", "), setup)
	for _, m := range g.methods {
		fmt.Fprintf(&b, "\nfunc (t *T) %s(%s) %s {\n\t%s\n}\n", m.name, m.params, m.result, lines(m.body))
	}
	return b.String()
}

// lines puts each statement of a body on a line of its own. What stands in the head of a loop or
// branch stays there.
func lines(body string) string {
	var b strings.Builder
	line := ""
	for i, part := range strings.Split(strings.TrimSpace(body), "; ") {
		if i > 0 {
			head := strings.TrimLeft(line, "\t")
			isHead := strings.HasPrefix(head, "for ") || strings.HasPrefix(head, "if ") || strings.HasPrefix(head, "switch ")
			if isHead && !strings.Contains(head, "{") {
				b.WriteString("; ")
				line += "; "
			} else {
				b.WriteString("\n\t")
				line = ""
			}
		}
		b.WriteString(part)
		line = (line + part)[strings.LastIndexByte(line+part, '\n')+1:]
	}
	return b.String()
}

// operations are the operations, with what they work on.
func (g *generator) operations() []Operation {
	bodies := make(map[string]string) // of all functions: their names differ
	for _, k := range g.kinds {
		for _, m := range methods.FindAllStringSubmatch(k.types, -1) {
			bodies[m[1]] = ""
		}
	}
	for _, m := range g.methods {
		bodies[m.name] = m.body
	}
	var all []Operation
	for _, name := range g.operationNames() {
		o := Operation{Name: name, Functions: []string{name}}
		for i := 0; i < len(o.Functions); i++ {
			for _, call := range anyCalls.FindAllStringSubmatch(bodies[o.Functions[i]], -1) {
				if _, own := bodies[call[1]]; own && !slices.Contains(o.Functions, call[1]) {
					o.Functions = append(o.Functions, call[1])
				}
			}
			if sorts.MatchString(bodies[o.Functions[i]]) {
				for _, name := range sortable {
					if !slices.Contains(o.Functions, name) {
						o.Functions = append(o.Functions, name)
					}
				}
			}
		}
		for _, k := range g.kinds {
			for _, f := range k.names {
				uses := regexp.MustCompile(`\bt\.` + f + `\b`)
				if slices.ContainsFunc(o.Functions, func(fn string) bool { return uses.MatchString(bodies[fn]) || strings.Contains(bodies[fn], "*t =") }) {
					o.Fields = append(o.Fields, f)
				}
			}
		}
		all = append(all, o)
	}
	return all
}

// pairs are pairs of operations with a field in common, that of the test first.
func (g *generator) pairs(all []Operation) []OperationPair {
	pairs := []OperationPair{{0, 0}}
	for i := range all {
		for j := i; j < len(all); j++ {
			common := slices.ContainsFunc(all[i].Fields, func(f string) bool { return slices.Contains(all[j].Fields, f) })
			if common && (i > 0 || j > 0) {
				pairs = append(pairs, OperationPair{i, j})
			}
		}
	}
	return pairs
}

// told is the call that tells what two operations returned, and what the object has.
func (g *generator) told(first, second string) string {
	all := []string{first, second}
	for _, k := range g.kinds {
		all = append(all, k.told...)
	}
	return "show(" + strings.Join(all, ", ") + ")"
}

const listFunction = "func digits(list []int) (n int) {\n\tfor _, v := range list {\n\t\tn = n*10 + v\n\t}\n\treturn n\n}\n\nvar _ = digits\n\n"

// body runs two operations of a new object.
func (g *generator) body(c *Compound, p OperationPair, how string) string {
	first, second := c.Operations[p.First].Name, c.Operations[p.Second].Name
	run := map[string]string{
		"together": "\tvar wg sync.WaitGroup\n\twg.Add(2)\n\tgo func() { defer wg.Done(); r = t.%[1]s() }()\n\tgo func() { defer wg.Done(); q = t.%[2]s() }()\n\twg.Wait()\n",
		"first":    "\tr = t.%[1]s()\n\tq = t.%[2]s()\n",
		"second":   "\tq = t.%[2]s()\n\tr = t.%[1]s()\n",
	}[how]
	return "\tt := New()\n\tvar r, q int\n" + fmt.Sprintf(run, first, second) + "\treturn " + g.told("r", "q") + "\n"
}

// drive has the functions that run pairs of operations.
func (g *generator) drive(c *Compound) string {
	var b strings.Builder
	b.WriteString("import (\n\t\"fmt\"\n\t\"sync\"\n)\n\nfunc show(args ...any) string { return fmt.Sprintln(args...) }\n\n" + listFunction)
	for _, p := range c.Pairs {
		fmt.Fprintf(&b, "func %s() string {\n%s}\n\n", p.Together(), g.body(c, p, "together"))
		for i, how := range []string{"first", "second"} {
			fmt.Fprintf(&b, "func %s() string {\n%s}\n\n", p.OneAfterTheOther()[i], g.body(c, p, how))
		}
	}
	return b.String()
}

// test is a test that fails if the first pair does together what it does in no order.
func (g *generator) test(c *Compound) string {
	p := c.Pairs[0]
	return fmt.Sprintf("import (\n\t\"fmt\"\n\t\"sync\"\n\t\"testing\"\n)\n\nfunc show(args ...any) string { return fmt.Sprintln(args...) }\n\n%sfunc together() string {\n%s}\n\nfunc first() string {\n%s}\n\nfunc second() string {\n%s}\n\nfunc TestIt(t0 *testing.T) {\n\tif got := together(); got != first() && got != second() {\n\t\tt0.Errorf(\"got %%q\", got)\n\t}\n}\n",
		listFunction, g.body(c, p, "together"), g.body(c, p, "first"), g.body(c, p, "second"))
}
