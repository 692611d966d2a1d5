package gossa

import (
	"errors"
	"fmt"
	"go/ast"
	"math/rand"
	"os"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cofferdam-go/cofferdam/internal/load"
	"github.com/cofferdam-go/cofferdam/internal/sli"
	"github.com/cofferdam-go/cofferdam/internal/sli/draw"
	"github.com/cofferdam-go/cofferdam/internal/sli/exec"
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
	"github.com/cofferdam-go/cofferdam/internal/sli/slitest"
)

// externs are what the test programs call of Go and its standard library.
var externs = map[string]slitest.Extern{"append": slitest.Grow, "(*sync.Once).Do": slitest.Once}

// lift loads and lifts a package of testdata.
func lift(t testing.TB, dir string) *Program {
	t.Helper()
	pkgs, err := load.Packages(load.Config{Dir: "testdata/" + dir})
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
	return p
}

// fails runs the package's Run under random schedules until one of them fails.
func fails(t testing.TB, p *Program, pkg string) (*exec.Log, exec.Failure) {
	t.Helper()
	for seed := range int64(3000) {
		log, f := simulate(t, p, pkg, seed)
		if f.Cause != 0 {
			return log, f
		}
	}
	t.Fatal("no schedule fails")
	return nil, exec.Failure{}
}

func simulate(t testing.TB, p *Program, pkg string, seed int64) (*exec.Log, exec.Failure) {
	t.Helper()
	return simulateWith(t, p, pkg, seed, nil)
}

// simulateWith runs the package's Run under a random schedule, and tells what it executes.
func simulateWith(t testing.TB, p *Program, pkg string, seed int64, executed func(uint32, *ir.Instr)) (*exec.Log, exec.Failure) {
	t.Helper()
	s := slitest.NewSimulation(p.Program)
	s.Externs = externs
	if err := s.Init(p.Func(pkg + ".init")); err != nil {
		t.Fatal(err)
	}
	s.Executed = executed
	rng := rand.New(rand.NewSource(seed))
	current := uint32(0)
	s.Pick = func(ready []uint32) uint32 {
		stay := false
		for _, g := range ready {
			stay = stay || g == current
		}
		if !stay || rng.Intn(6) == 0 {
			current = ready[rng.Intn(len(ready))]
		}
		return current
	}
	log, f, err := s.Run(p.Func(pkg + ".Run"))
	if err != nil && !errors.Is(err, slitest.ErrStuck) {
		t.Fatalf("seed %d: %v", seed, err)
	}
	return log, f
}

// describe is a fix in the words of the comments in the source: for each section the
// lines of the accesses that are in it.
func describe(t testing.TB, p *Program, f *sli.Fix) []string {
	t.Helper()
	var all []string
	for _, s := range f.Sections {
		var words []string
		for _, in := range s.Instrs {
			if in.Op == ir.Load || in.Op == ir.Store || in.Op == ir.Call {
				w := comment(t, p, in)
				if w != "" && (len(words) == 0 || words[len(words)-1] != w) {
					words = append(words, w)
				}
			}
		}
		entries := make([]string, 0, 1)
		for _, e := range s.Entries {
			entries = append(entries, comment(t, p, e))
		}
		all = append(all, fmt.Sprintf("%s: %s", strings.Join(entries, "|"), strings.Join(words, ", ")))
	}
	sort.Strings(all)
	return all
}

func comment(t testing.TB, p *Program, in *ir.Instr) string {
	pos := p.Position(in)
	b, err := os.ReadFile(pos.Filename)
	if err != nil {
		t.Fatal(err)
	}
	line := strings.Split(string(b), "\n")[pos.Line-1]
	_, c, ok := strings.Cut(line, "// ")
	if !ok {
		return strings.TrimSpace(line)
	}
	return c
}

func pkgPath(dir string) string {
	return "github.com/cofferdam-go/cofferdam/internal/lift/gossa/testdata/" + dir
}

// analyse fails the package and analyses the failure.
func analyse(t *testing.T, dir string) (*Program, *exec.Log, *sli.Analysis) {
	t.Helper()
	p := lift(t, dir)
	log, f := fails(t, p, pkgPath(dir))
	a, err := sli.Analyse(p.Program, log, f, sli.Options{})
	if err != nil {
		t.Fatalf("%v: %v", f.Cause, err)
	}
	return p, log, a
}

// TestPaper holds the fixes of the paper's section 7.1: which accesses are in which
// sections. A section is written as its entry, then everything it holds.
//
// Where the paper's words count sections, they leave out those of single stores that
// section 6 asks for (the unpublishing and the deinitialising store of publish, say).
// In unwind the stores 13 and 14 have none here: the wait group orders them.
func TestPaper(t *testing.T) {
	tests := []struct {
		dir   string
		why   ir.Cause
		fixes [][]string // in the order of their cost
	}{
		{"toctou", ir.Panic, [][]string{
			{"first: first, second", "write back: write back"},
		}},
		{"twovar", ir.Panic, [][]string{
			{"compare: compare", "first five: first five, second five", "first seven: first seven, second seven"},
		}},
		{"publish", ir.NilDereference, [][]string{
			{"deinitialise: publish, initialise, deinitialise", "use: use"},
			{"deinitialise: deinitialise", "publish: publish, initialise", "take: take, use", "unpublish: unpublish"},
		}},
		{"privatize", ir.NilDereference, [][]string{
			{"G: G", "Y: V, Y"},
			{"A: A, G", "V: V", "W: W", "X: X", "Y: Y"},
		}},
		{"unwind", ir.NilDereference, [][]string{
			{"1: 1, 3", "4: 4", "6: 6"},
		}},
		{"imap", ir.NilDereference, [][]string{
			{"check: check, use", "take away: take away"},
		}},
	}
	for _, test := range tests {
		t.Run(test.dir, func(t *testing.T) {
			p, _, a := analyse(t, test.dir)
			if a.Failure.Cause != test.why {
				t.Errorf("failed by %v, want %v", a.Failure.Cause, test.why)
			}
			var got [][]string
			last := 0
			for _, f := range a.Fixes {
				if f.Cost < last {
					t.Errorf("a fix of cost %d comes after one of %d", f.Cost, last)
				}
				last = f.Cost
				if f.Discarded == 0 && !f.WholeUpdates {
					got = append(got, describe(t, p, f))
				}
			}
			if d := cmp.Diff(test.fixes, got); d != "" {
				t.Errorf("fixes (-want +got):\n%s", d)
			}
		})
	}
}

// TestFigure2 holds the machine of figure 2(a).
func TestFigure2(t *testing.T) {
	_, _, a := analyse(t, "privatize")
	want := `at reader:b0.0: s0
s0: if load(global@b0.0) == 0 then s1 else s4
s1: if BadAddr(load(fallback@b2.3)) then crash else no-crash
s4: if BadAddr(load(load(global@b0.0)@b2.3)) then crash else no-crash
`
	var all []string
	for _, m := range a.Machines {
		all = append(all, strings.ReplaceAll(draw.Text(m), pkgPath("privatize")+".", ""))
	}
	if !slices.Contains(all, want) {
		t.Errorf("no machine is\n%sthere are\n%s", want, strings.Join(all, "\n"))
	}
}

// TestReproductionsAgree analyses several failing schedules of the same program: like
// the paper's, they lead to the same fixes.
func TestReproductionsAgree(t *testing.T) {
	p := lift(t, "unwind")
	var first []string
	found := 0
	for seed := int64(0); found < 5; seed++ {
		log, f := simulate(t, p, pkgPath("unwind"), seed)
		if f.Cause == 0 {
			continue
		}
		found++
		a, err := sli.Analyse(p.Program, log, f, sli.Options{})
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if len(a.Fixes) == 0 {
			t.Fatalf("seed %d: no fix", seed)
		}
		var got []string
		for _, x := range a.Fixes {
			if !x.WholeUpdates {
				got = describe(t, p, x)
				break
			}
		}
		if first == nil {
			first = got
		} else if d := cmp.Diff(first, got); d != "" {
			t.Errorf("seed %d (-first +this):\n%s", seed, d)
		}
	}
}
