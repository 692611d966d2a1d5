package lockset

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/load"
	"github.com/cofferdam-go/cofferdam/internal/locks"
	"github.com/cofferdam-go/cofferdam/internal/locks/lockstest"
)

// analyse analyses packages whose functions ask their callers for nothing.
func analyse(row *lockstest.Row) *Analysis {
	prog, _ := load.SSA(row.Packages)
	return Analyse(prog, row.Packages, Places(row.Packages), func(*ssa.Function) ([]*locks.Place, bool) { return nil, false })
}

// heldAtPoints returns what is held at the points that calls of at mark, over all contexts.
func heldAtPoints(a *Analysis) []string {
	points := make(map[string][]locks.Path)
	a.observe = func(i ssa.Instruction, paths []locks.Path) {
		call, ok := i.(*ssa.Call)
		if !ok || call.Call.StaticCallee() == nil || len(call.Call.Args) != 1 {
			return
		}
		k, ok := call.Call.Args[0].(*ssa.Const)
		if !ok {
			return
		}
		if point, ok := lockstest.Point(call.Call.StaticCallee().Name(), k.Value.ExactString()); ok {
			points[point], _ = locks.Merge(points[point], paths)
		}
	}
	for _, ctx := range a.all {
		for _, b := range ctx.fn.Blocks {
			paths := ctx.before[b.Index]
			for _, i := range b.Instrs {
				if len(paths) == 0 {
					break
				}
				paths = a.transfer(ctx, i, paths)
			}
		}
	}
	var lines []string
	for _, point := range slices.Sorted(maps.Keys(points)) {
		lines = append(lines, fmt.Sprintf("held %s: %s", point, locks.Flatten(points[point]).Held))
	}
	return lines
}

// TestUses: on SSA form, each way to use a lock gets the verdict of the table that package
// locks has for syntax.
func TestUses(t *testing.T) {
	for _, row := range lockstest.Load(t, "../../locks/testdata/uses") {
		t.Run(row.Name, func(t *testing.T) {
			if d := cmp.Diff(row.HeldInSSA(), heldAtPoints(analyse(row)), cmpopts.EquateEmpty()); d != "" {
				t.Errorf("what is held (-want +got):\n%s", d)
			}
		})
	}
}
