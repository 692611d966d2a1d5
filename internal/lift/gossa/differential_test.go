package gossa

import (
	"errors"
	"fmt"
	"go/ast"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/load"
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
	"github.com/cofferdam-go/cofferdam/internal/sli/slitest"
)

// A generator writes random functions that compute from ints, slices, structs,
// pointers and maps, and nothing else.
type generator struct {
	rng   *rand.Rand
	b     strings.Builder
	vars  map[string][]string // by type
	loops int
	depth int
}

var numbers = []string{"int", "int8", "uint8", "int32", "uint32", "uint64"}

func (g *generator) pick(list []string) string { return list[g.rng.Intn(len(list))] }

// expr is an expression of a number type.
func (g *generator) expr(t string, depth int) string {
	if depth == 0 || g.rng.Intn(5) == 0 {
		if vs := g.vars[t]; len(vs) > 0 && g.rng.Intn(4) > 0 {
			return g.pick(vs)
		}
		return fmt.Sprintf("%s(x*0+%d)", t, g.rng.Intn(100)) // no constant, which could overflow
	}
	x, y := g.expr(t, depth-1), g.expr(t, depth-1)
	switch g.rng.Intn(15) {
	case 0:
		return fmt.Sprintf("(%s + %s)", x, y)
	case 1:
		return fmt.Sprintf("(%s - %s)", x, y)
	case 2:
		return fmt.Sprintf("(%s * %s)", x, y)
	case 3:
		return fmt.Sprintf("(%s / (%s | 1))", x, y)
	case 4:
		return fmt.Sprintf("(%s %% (%s | 1))", x, y)
	case 5:
		return fmt.Sprintf("(%s ^ %s)", x, y)
	case 6:
		return fmt.Sprintf("(%s &^ %s)", x, y)
	case 7:
		return fmt.Sprintf("(%s << (uint8(%s) %% 70))", x, y)
	case 8:
		return fmt.Sprintf("(%s >> (uint8(%s) %% 70))", x, y)
	case 9:
		u := g.pick(numbers)
		return fmt.Sprintf("%s(%s)", t, g.expr(u, depth-1))
	case 10:
		return fmt.Sprintf("%s(s[(uint(%s) %% 4)])", t, g.expr("int", depth-1))
	case 11:
		return fmt.Sprintf("%s(p.%s)", t, g.pick([]string{"a", "b", "c", "in.x", "in.y"}))
	case 12:
		return fmt.Sprintf("%s(m[int(%s)%%8])", t, g.expr("int", depth-1))
	case 13:
		return fmt.Sprintf("%s(int(float64(%s) / 3))", t, g.expr("int8", depth-1))
	}
	return fmt.Sprintf("-(%s)", x)
}

func (g *generator) cond() string {
	t := g.pick(numbers)
	return fmt.Sprintf("%s %s %s", g.expr(t, 2), g.pick([]string{"==", "!=", "<", "<=", ">", ">="}), g.expr(t, 2))
}

func (g *generator) stmts(n int) {
	for range n {
		g.stmt()
	}
}

func (g *generator) line(format string, args ...any) {
	g.b.WriteString(strings.Repeat("\t", g.depth+1))
	fmt.Fprintf(&g.b, format+"\n", args...)
}

func (g *generator) stmt() {
	t := g.pick(numbers)
	switch k := g.rng.Intn(9); {
	case k == 0 && g.depth < 3:
		g.line("if %s {", g.cond())
		g.block(2)
		g.line("} else {")
		g.block(2)
		g.line("}")
	case k == 1 && g.depth < 2:
		g.loops++
		i := fmt.Sprintf("i%d", g.loops)
		g.line("for %s := 0; %s < %d; %s++ {", i, i, 1+g.rng.Intn(5), i)
		g.block(2)
		g.line("}")
	case k == 2:
		g.line("s[uint(%s)%%4] = int32(%s)", g.expr("int", 1), g.expr("int32", 2))
	case k == 3:
		g.line("p.a, p.in.y = %s, %s", g.expr("int", 2), g.expr("uint8", 2))
	case k == 4:
		g.line("m[int(%s)%%8] = %s", g.expr("int", 1), g.expr("int", 2))
	case k == 5:
		g.line("q = &pair{a: %s, b: p.b}; p, q = q, p", g.expr("int", 2))
	case k == 6:
		g.line("s = append(s[:uint(%s)%%5], 1, int32(%s), 3, 4)[:4]", g.expr("int", 1), g.expr("int32", 1))
	case k == 7:
		g.line("if v, ok := m[int(%s)%%8]; ok { p.c += int8(v) }", g.expr("int", 1))
	default:
		g.line("%s = %s", g.pick(g.vars[t]), g.expr(t, 3))
	}
}

func (g *generator) block(n int) {
	g.depth++
	g.stmts(n)
	g.depth--
}

func (g *generator) function(name string) {
	g.vars = map[string][]string{}
	fmt.Fprintf(&g.b, "func %s(x, y int64) int64 {\n", name)
	g.line("var p, q *pair = &pair{a: int(x), b: uint32(y)}, nil")
	g.line("s := []int32{int32(x), int32(y), 7, -9}")
	g.line("m := map[int]int{1: int(y), 3: int(x)}")
	for i, t := range numbers {
		v := fmt.Sprintf("v%d", i)
		g.vars[t] = []string{v}
		g.line("var %s %s = %s(x)", v, t, t)
	}
	g.stmts(12)
	g.line("sum := int64(p.a) + int64(p.b)*3 + int64(p.c)*5 + int64(p.in.x)*7 + int64(p.in.y)*11")
	g.line("if q != nil { sum += int64(q.a) }")
	g.line("for i := 0; i < len(s); i++ { sum = sum*31 + int64(s[i]) }")
	g.line("for k := 0; k < 8; k++ { sum = sum*17 + int64(m[k]) }")
	for i := range numbers {
		g.line("sum = sum*13 + int64(v%d)", i)
	}
	g.line("return sum")
	g.b.WriteString("}\n\n")
}

// TestEvaluatorAgreesWithGo runs random functions as Go and as the engine's
// instructions.
func TestEvaluatorAgreesWithGo(t *testing.T) {
	const functions, seed = 60, 7
	g := &generator{rng: rand.New(rand.NewSource(seed))}
	g.b.WriteString("package main\n\nimport \"fmt\"\n\ntype pair struct {\n\ta int\n\tb uint32\n\tc int8\n\tin struct{ x int32; y uint8 }\n}\n\n")
	var calls strings.Builder
	args := [][2]int64{{0, 0}, {1, -1}, {12345678901, 77}, {-98765, 4000000000}}
	for i := range functions {
		name := fmt.Sprintf("f%d", i)
		g.function(name)
		for _, a := range args {
			fmt.Fprintf(&calls, "\trun(func() int64 { return %s(%d, %d) })\n", name, a[0], a[1])
		}
	}
	g.b.WriteString("func run(f func() int64) {\n\tdefer func() {\n\t\tif e := recover(); e != nil {\n\t\t\tfmt.Println(\"panic\")\n\t\t}\n\t}()\n\tfmt.Println(f())\n}\n\n")
	fmt.Fprintf(&g.b, "func main() {\n%s}\n", calls.String())
	dir := t.TempDir()
	src := g.b.String()
	for name, text := range map[string]string{"go.mod": "module random\n\ngo 1.26\n", "main.go": src} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("go", "run", ".")
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("seed %d: %v\n%s", seed, err, out)
	}
	want := strings.Fields(string(out))
	pkgs, err := load.Packages(load.Config{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	prog, built := load.SSA(pkgs)
	var files []*ast.File
	for _, p := range pkgs {
		files = append(files, p.Syntax...)
	}
	p, err := Lift(prog, built, files)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for i := range functions {
		for _, a := range args {
			s := slitest.NewSimulation(p.Program)
			s.Externs = externs
			got := ""
			var crash *slitest.CrashError
			v, err := s.Call(p.Func(fmt.Sprintf("random.f%d", i)), ir.Word(8, uint64(a[0])), ir.Word(8, uint64(a[1])))
			switch {
			case err == nil:
				got = fmt.Sprint(v.Int())
			case !errors.As(err, &crash):
				t.Fatalf("f%d: %v", i, err)
			default:
				got = "panic"
			}
			if got != want[n] {
				t.Errorf("seed %d: f%d(%d, %d) is %s, Go says %s", seed, i, a[0], a[1], got, want[n])
			}
			n++
		}
	}
}
