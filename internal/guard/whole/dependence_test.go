package whole_test

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/guard/whole"
)

// TestDependencesOfLongFunctionsAreFoundInLittle: what decides whether a block is executed is found by work
// that each block adds to, and not each pair of blocks. The handlers of a server have hundreds of branches,
// and all that uses their locks asks for them.
func TestDependencesOfLongFunctionsAreFoundInLittle(t *testing.T) {
	const branches = 600
	var text strings.Builder
	text.WriteString("package p\n\nfunc Long(x []int) int {\n")
	for i := range branches {
		fmt.Fprintf(&text, "\tif x[%d] > %d {\n\t\treturn x[%d]\n\t}\n", i, i, i+1)
	}
	text.WriteString("\treturn 0\n}\n")
	_, a := analyse(t, []byte(text.String()))
	var long *ssa.Function
	for _, fn := range a.Functions {
		if fn.Name() == "Long" {
			long = fn
		}
	}
	first := long.Blocks[0].Instrs
	last := long.Blocks[len(long.Blocks)-1].Instrs[0]
	allocations := testing.AllocsPerRun(1, func() { whole.ComputedFrom(last, first[0]) })
	if most := float64(60 * len(long.Blocks)); allocations > most {
		t.Errorf("%.0f allocations for a function of %d blocks, more than %.0f", allocations, len(long.Blocks), most)
	}
}

// TestBranchesDecide: a branch decides what only one of its sides leads to, and neither what the function
// cannot end without nor what follows a loop.
func TestBranchesDecide(t *testing.T) {
	for _, c := range []struct {
		about, body string
		decides     bool
	}{
		{"a store on one side", "if *p > 0 { *q = 1 }", true},
		{"a store behind both sides", "if *p > 0 { println() }; *q = 1", false},
		{"a store behind a side that ends the function", "if *p > 0 { return }; *q = 1", true},
		{"a store behind a side that ends it differently, with no other end", "if *p > 0 { panic(0) }; *q = 1", true},
		{"a store on both sides of another branch", "if *p > 0 { println() } else { print() }; if x { print() }; *q = 1", false},
		{"a store in a loop", "for *p > 0 { *q = 1 }", true},
		{"a store behind a loop", "for *p > 0 { print() }; *q = 1", false},
		{"a store behind a loop that is left in its middle", "for { if *p > 0 { break }; if x { return }; print() }; *q = 1", true},
		{"a store behind a loop without an end on one side", "if *p > 0 { for { print() } }; *q = 1", false},
	} {
		_, a := analyse(t, fmt.Appendf(nil, "package p\n\nfunc F(p, q *int, x bool) {\n\t%s\n}\n", c.body))
		for _, fn := range a.Functions {
			if fn.Name() != "F" {
				continue
			}
			if got := whole.ChosenBy(storeOf(fn), loadOf(fn)); got != c.decides {
				t.Errorf("%s: decided is %t, want %t", c.about, got, c.decides)
			}
		}
	}
}

// storeOf is the store of a function, loadOf what it loads by its first parameter.
func storeOf(fn *ssa.Function) ssa.Instruction {
	return instructionOf(fn, func(i ssa.Instruction) bool { _, ok := i.(*ssa.Store); return ok })
}

func loadOf(fn *ssa.Function) ssa.Instruction {
	return instructionOf(fn, func(i ssa.Instruction) bool {
		load, ok := i.(*ssa.UnOp)
		return ok && load.X == ssa.Value(fn.Params[0])
	})
}

func instructionOf(fn *ssa.Function, is func(ssa.Instruction) bool) ssa.Instruction {
	for _, b := range fn.Blocks {
		for _, i := range b.Instrs {
			if is(i) {
				return i
			}
		}
	}
	panic("no such instruction in " + fn.Name())
}
