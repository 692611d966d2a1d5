package protect

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
)

var seed = flag.Uint64("seed", 1, "for the programs that are made up")

// TestRandomProgramsMeanTheSame makes up functions with sections that reach the same few
// objects by many names, fields, methods and calls, and may panic. Each runs by itself,
// so that it is correct, and must leave the objects as it does without protection.
func TestRandomProgramsMeanTheSame(t *testing.T) {
	const functions = 150
	g := &generator{rand: rand.New(rand.NewPCG(*seed, 0))}
	text := randomHead
	var sources []string
	for i := range functions {
		sources = append(sources, g.function(i))
		text += sources[i]
	}
	text += "\nvar functions = []func(x, y *T, e, f *E, n int) int{"
	for i := range functions {
		text += fmt.Sprintf("f%d, ", i)
	}
	text += "}\n"
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{"go.mod": "module example.com/p\n\ngo 1.26\n", "main.go": text} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want := run(t, "go", "run", ".")
	for _, mode := range []Mode{Tolerate, Isolate, Auto} {
		b, err := Prepare(Config{Patterns: []string{"."}, Mode: mode, Least: 0, Maps: *seed%2 == 0})
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		slots, copies, pages := 0, 0, 0
		for _, f := range b.Files {
			slots += strings.Count(f.Text, ":= func() { if ")
			copies += strings.Count(f.Text, "v0 := ")
			pages += strings.Count(f.Text, ".Get(); ")
		}
		t.Logf("%s: %d slots, %d sections with copies, %d objects on pages", mode, slots, copies, pages)
		if mode == Tolerate && (slots < functions/20 || copies < functions/4) {
			t.Errorf("only %d slots and %d sections with copies in %d functions", slots, copies, functions)
		}
		got := run(t, "go", append(append([]string{"run"}, b.Flags...), ".")...)
		plain, protected := strings.Split(want, "\n"), strings.Split(got, "\n")
		for i := range plain {
			if i >= len(protected) || plain[i] != protected[i] {
				var function int
				fmt.Sscan(plain[i], &function)
				t.Fatalf("-seed %d, %s: it leaves\n%s\nand with protection\n%s\n%s", *seed, mode, plain[i], protected[min(i, len(protected)-1)], sources[function])
			}
		}
	}
}

// run returns the standard output of a command.
func run(t *testing.T, name string, args ...string) string {
	t.Helper()
	cmd := exec.Command(name, args...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, stderr.String())
	}
	return string(out)
}

const randomHead = `package main

import (
	"fmt"
	"sync"
)

type S struct {
	a, b int
	ok   bool
}

func (s *S) add(n int)  { s.a += n }
func (s *S) sum() int   { return s.a + s.b }
func (s *S) swap()      { s.a, s.b = s.b, s.a }
func (s *S) reset()     { *s = S{b: s.a} }
func (s *S) self() *S   { return s }

type E struct {
	n    int
	name string
	s    S
	next *E
}

func (e *E) bump(n int) int { e.n += n; return e.n }

type T struct {
	mu, other sync.Mutex
	rw    sync.RWMutex
	n     int
	name  string
	list  []int
	m     map[int]int
	s     S
	array [3]int
	e     *E
	any   any
}

func (t *T) push(n int) int { t.list = append(t.list, n); t.n++; return len(t.list) }
func (t *T) sum() int       { return t.n + t.s.a + t.array[0] }
func take(t *T, n int) int  { t.n -= n; t.array[index(n)]++; return t.n }
func both(a, b *T) int      { a.n++; b.n++; return a.n }
func point(p *int) int      { *p++; return *p }
func deep(t *T, n int) int  { if n > 0 { return deep(t, n-2) + t.push(n%5) }; return t.sum() }

var (
	global struct {
		mu sync.Mutex
		n  int
		s  S
		e  *E
	}
	callback = func(t *T) int { t.n += 3; t.s.b--; t.e.n++; return t.n }
)

func index(n int) int { return (n%3 + 3) % 3 }

func at(list []int, i int) int { if i < 0 || i >= len(list) { return 0 }; return list[i] }

func show(x, y *T, e, f *E, result any) {
	fmt.Println(result, x.n, x.name, len(x.list), len(x.m), x.m[1], x.s, x.array, x.any, y.n, y.name, len(y.list), y.m, y.s, y.array, e.n, e.name, e.s, f.n, f.name, f.s, global.n, global.s, global.e == f, x.e == e)
}

func call(i int, x, y *T, e, f *E) {
	var result any
	func() {
		defer func() {
			if r := recover(); r != nil {
				result = fmt.Sprint(r)
			}
		}()
		result = functions[i](x, y, e, f, i)
	}()
	fmt.Print(i, " ")
	show(x, y, e, f, result)
}

func main() {
	for i := range functions {
		for round := range 3 {
			e := &E{n: i, name: "e"}
			f := &E{n: 2 * i, name: "f", next: e}
			x := &T{n: i, m: map[int]int{1: 1}, e: e, list: []int{1, 2}}
			y := &T{n: 1, m: map[int]int{}, e: f}
			e.next = f
			if round == 1 {
				y, f = x, e
			}
			if round == 2 {
				e.next, x.m = nil, nil
			}
			global.n, global.s, global.e = i, S{a: 1}, f
			call(i, x, y, e, f)
		}
	}
}
`

// A generator writes functions.
type generator struct {
	rand  *rand.Rand
	depth int
	names int
	es    []string // pointers to E that are known

	// deferred says that the function may panic and return at any time, because
	// its unlocking is deferred.
	deferred bool
}

func (g *generator) pick(list ...string) string { return list[g.rand.IntN(len(list))] }

// place is something that can be assigned to, of type int.
func (g *generator) place() string {
	e := g.es[g.rand.IntN(len(g.es))]
	element := "x.array[index(n)]"
	if g.deferred {
		element = "x.array[n%3]"
	}
	return g.pick("x.n", "x.n", "x.s.a", "x.s.b", element, "x.array[1]", "y.n", "x.e.n", "global.n", "global.s.a", e+".n", e+".n", e+".s.a", "x.m[1]", "n")
}

func (g *generator) value() string {
	switch g.rand.IntN(12) {
	case 0:
		return g.pick("x.push(n)", "x.sum()", "take(x, n)", "both(x, y)", "deep(x, n%7)", "callback(x)")
	case 1:
		return g.pick("x.s.sum()", "x.s.self().a", "e.s.sum()", "global.s.sum()", "y.s.sum()")
	case 2:
		e := g.es[g.rand.IntN(len(g.es))]
		return g.pick(e+".bump(1)", "point(&"+e+".n)", "point(&x.n)", "len("+e+".name)")
	case 3:
		return g.pick("len(x.list)", "at(x.list, n)", "len(x.m)", "len(x.name)", "x.array[2]")
	case 4, 5, 6:
		return fmt.Sprint(g.rand.IntN(5))
	}
	return g.place()
}

func (g *generator) statement() string {
	switch g.rand.IntN(16) {
	case 0:
		return g.pick("x.s.add(", "e.s.add(", "global.s.add(", "y.s.add(") + g.value() + ")"
	case 1:
		return g.pick("x.s.swap()", "x.s.reset()", "e.s.swap()", "x.s = e.s", "e.s = x.s", "global.s = x.s", "*e = *f", "x.s.ok = !x.s.ok")
	case 2:
		return g.pick("x.name += \"n\"", "e.name += x.name", "f.name = e.name", "x.any = x.n", "x.any = nil", "x.list = x.list[:0]")
	case 3:
		return g.pick("x.m[n%3]++", "x.m[2] = "+g.value(), "delete(x.m, 1)", "x.m = map[int]int{1: n}", "x.list = append(x.list, "+g.value()+")")
	case 4:
		return g.pick("f = e", "e = f", "e = x.e", "e = e.next", "x.e = f", "global.e = e")
	case 5:
		return g.pick("callback(x)", "both(x, y)", "x.push(n)", "point(&e.n)", "y.other.Lock(); y.n++; y.other.Unlock()")
	case 6, 7:
		return fmt.Sprintf("if %s > %s {\n%s} else {\n%s}", g.value(), g.value(), g.block(), g.block())
	case 8:
		g.names++
		i := fmt.Sprintf("i%d", g.names)
		return fmt.Sprintf("for %s := range 3 {\nn += %s\n%s%s}", i, i, g.block(), g.pick("", "continue\n", "if n > 5 { break }\n"))
	case 9:
		g.names++
		local := fmt.Sprintf("e%d", g.names)
		g.es = append(g.es, local)
		text := fmt.Sprintf("if %s := %s; %s != nil {\n%s}", local, g.pick("x.e", "e.next", "f", "global.e"), local, g.block())
		g.es = g.es[:len(g.es)-1]
		return text
	case 10:
		if !g.deferred {
			return g.simple()
		}
		return fmt.Sprintf("if %s > 8 { return %s }", g.value(), g.value())
	case 11:
		return fmt.Sprintf("for range x.list { %s; if n++; n > 20 { break } }", g.simple())
	}
	return g.simple()
}

func (g *generator) simple() string {
	return g.place() + g.pick(" = ", " += ", " -= ") + g.value()
}

func (g *generator) block() string {
	if g.depth > 2 {
		return g.simple() + "\n"
	}
	g.depth++
	var b strings.Builder
	for range 1 + g.rand.IntN(4) {
		b.WriteString(g.statement() + "\n")
	}
	g.depth--
	return b.String()
}

func (g *generator) function(i int) string {
	g.es = []string{"e", "f"}
	lock := g.pick("x.mu", "x.mu", "x.mu", "global.mu")
	var b strings.Builder
	fmt.Fprintf(&b, "\nfunc f%d(x, y *T, e, f *E, n int) int {\n", i)
	if g.deferred = g.rand.IntN(2) == 0; g.deferred {
		fmt.Fprintf(&b, "%s.Lock()\ndefer %s.Unlock()\n%s%s", lock, lock, g.block(), g.block())
	} else {
		b.WriteString("if x.m == nil { return 0 }\n")
		for range 1 + g.rand.IntN(2) {
			fmt.Fprintf(&b, "%s.Lock()\n%s%s.Unlock()\n", lock, g.block(), lock)
		}
	}
	fmt.Fprintf(&b, "return %s\n}\n", g.value())
	return b.String()
}
