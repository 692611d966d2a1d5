package gossa

import (
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/lift/gossa/testdata/semantics"
	"github.com/cofferdam-go/cofferdam/internal/sli/exec"
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
	"github.com/cofferdam-go/cofferdam/internal/sli/slitest"
)

// inGo is what a function returns, or the reason of its panic in the engine's terms.
func inGo(f func(x, y int64) int64, x, y int64) (result string) {
	defer func() {
		switch e := recover().(type) {
		case nil:
		case *runtime.TypeAssertionError:
			result = ir.WrongType.String()
		case runtime.Error:
			result = e.Error()
			for text, cause := range map[string]ir.Cause{
				"nil pointer": ir.NilDereference, "out of range": ir.OutOfRange, "cannot convert slice": ir.OutOfRange, "divide": ir.DivideByZero, "nil map": ir.Panic, "negative shift": ir.Panic,
			} {
				if strings.Contains(result, text) {
					result = cause.String()
				}
			}
		default:
			result = ir.Panic.String()
		}
	}()
	return fmt.Sprint(f(x, y))
}

// lifted is the same of the lifted function. The goroutines that it starts run when it
// waits for them.
func lifted(t *testing.T, p *Program, name string, x, y int64) string {
	t.Helper()
	s := slitest.NewSimulation(p.Program)
	s.Externs = maps.Clone(externs)
	s.Externs["copy"] = slitest.Copy
	if err := s.Init(p.Func(pkgPath("semantics") + ".init")); err != nil {
		t.Fatal(err)
	}
	_, failure, err := s.Run(p.Func(pkgPath("semantics")+"."+name), ir.Word(8, uint64(x)), ir.Word(8, uint64(y)))
	switch {
	case err != nil:
		return err.Error()
	case failure.Cause != 0:
		return failure.Cause.String()
	}
	if v := s.Result(); v.Known {
		return fmt.Sprint(v.Int())
	}
	return "unknown"
}

// TestLiftedCodeDoesWhatGoDoes runs every function of testdata/semantics in both ways.
func TestLiftedCodeDoesWhatGoDoes(t *testing.T) {
	p := lift(t, "semantics")
	for group, cases := range map[string]map[string]func(x, y int64) int64{
		"interfaces": semantics.Interfaces, "calls": semantics.Calls, "builtins": semantics.Builtins, "controls": semantics.Controls,
	} {
		t.Run(group, func(t *testing.T) {
			for _, name := range slices.Sorted(maps.Keys(cases)) {
				for _, args := range [][2]int64{{0, 0}, {1, 2}, {3, 2}, {2, 2}, {-5, 1 << 40}, {1 << 33, -7}} {
					want := inGo(cases[name], args[0], args[1])
					if name == "RangeArray" { // an element of an array that is not in memory, by an index that varies
						want = "unknown"
					}
					if got := lifted(t, p, name, args[0], args[1]); got != want {
						t.Errorf("%s(%d, %d) is %s, Go says %s", name, args[0], args[1], got, want)
					}
				}
			}
		})
	}
}

// TestEveryFunctionIsACase: none is forgotten in the tables.
func TestEveryFunctionIsACase(t *testing.T) {
	p := lift(t, "semantics")
	listed := map[string]bool{}
	for _, cases := range []map[string]func(x, y int64) int64{semantics.Interfaces, semantics.Calls, semantics.Builtins, semantics.Controls} {
		for name := range cases {
			listed[pkgPath("semantics")+"."+name] = true
		}
	}
	for _, f := range p.Funcs {
		name, ours := strings.CutPrefix(f.Name, pkgPath("semantics")+".")
		if ours && name[0] >= 'A' && name[0] <= 'Z' && !strings.Contains(name, "$") && !listed[f.Name] {
			t.Errorf("%s is in no table", f.Name)
		}
	}
}

// TestReplayFollowsLiftedGo: the trace of a simulated run leads the replay through exactly
// the instructions that were executed, under many schedules.
func TestReplayFollowsLiftedGo(t *testing.T) {
	for _, dir := range []string{"counter", "deposit", "imap", "once", "ordered", "privatize", "publish", "toctou", "twovar", "unwind"} {
		p := lift(t, dir)
		for seed := range int64(20) {
			executed := map[uint32][]string{}
			log, failure := simulateWith(t, p, pkgPath(dir), seed, func(g uint32, in *ir.Instr) {
				executed[g] = append(executed[g], in.Block.Func.Name+":"+in.Name())
			})
			r := exec.NewReplay(p.Program, log, failure)
			for g := uint32(1); g <= uint32(len(executed)); g++ {
				n := 0
				r.Run(g, nil, func(_ *exec.Thread, step *exec.Step) bool {
					if n < len(executed[g]) && step.Point.String() != executed[g][n] {
						t.Errorf("%s, seed %d, goroutine %d, step %d: followed %v, executed was %s", dir, seed, g, n, step.Point, executed[g][n])
						return false
					}
					n++
					return true
				})
				if n < len(executed[g]) {
					t.Errorf("%s, seed %d, goroutine %d: %d of %d steps are followed", dir, seed, g, n, len(executed[g]))
				}
			}
		}
	}
}
