package lockset

import (
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/locks"
)

// An operation is what a call does, in one step, to a variable that needs no lock for a single
// step: a function or method of sync/atomic, or a method of sync.Map. Several of them may need
// one all the same:
//
//	if v, ok := m.Load(k); ok {       an operation that reads
//		m.Store(k, v.(int)+1)         and one that writes: what others stored in between is lost
//	}
type operation struct {
	reads, writes bool
	// validates says that the operation writes only if nothing has changed.
	validates bool
}

// operationOf tells which operation a function is, and whether it is one.
func operationOf(fn *ssa.Function) (operation, bool) {
	if fn == nil || fn.Object() == nil || fn.Object().Pkg() == nil {
		return operation{}, false
	}
	name := fn.Object().Name()
	switch fn.Object().Pkg().Path() {
	case "sync/atomic":
	case "sync":
		recv := fn.Signature.Recv()
		if recv == nil || !isSyncMap(deref(recv.Type())) {
			return operation{}, false
		}
	default:
		return operation{}, false
	}
	switch {
	case strings.HasPrefix(name, "CompareAnd"):
		return operation{reads: true, writes: true, validates: true}, true
	case name == "LoadOrStore": // writes only if there is still nothing
		return operation{reads: true, writes: true, validates: true}, true
	case name == "LoadAndDelete":
		return operation{reads: true, writes: true}, true
	case strings.HasPrefix(name, "Load") || name == "Range":
		return operation{reads: true}, true
	case strings.HasPrefix(name, "Store") || name == "Delete" || name == "Clear":
		return operation{writes: true}, true
	}
	return operation{reads: true, writes: true}, true // Add, Swap, And, Or
}

func isSyncMap(t types.Type) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Name() == "Map" && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == "sync"
}

// recordOperation records an operation on what an address points to.
func (r *recorder) recordOperation(op operation, addr ssa.Value, instr ssa.Instruction, paths []locks.Path) {
	for { // an element of an array changes the array
		element, ok := addr.(*ssa.IndexAddr)
		if !ok {
			break
		}
		addr = element.X
	}
	var v *Variable
	switch a := addr.(type) {
	case *ssa.FieldAddr:
		if f := r.values.Field(a.X.Type(), a.Field); f.Pkg() != nil && r.own[f.Pkg().Path()] {
			v = r.variable(f)
		}
	case *ssa.Global:
		if o, ok := a.Object().(*types.Var); ok && r.own[o.Pkg().Path()] {
			v = r.variable(r.Places.Canonical(o))
		}
	}
	if v == nil {
		return
	}
	base := r.baseOf(addr)
	if base != nil && r.isFresh(r.ctx, base, instr) {
		return
	}
	for _, path := range paths {
		ob := r.observation(base, path.Held)
		ob.Instr, ob.At = instr, positionOf(instr, addr)
		if op.reads {
			ob.Kind = Read
			v.Operations = append(v.Operations, Operation{ob, op.validates})
		}
		if op.writes {
			ob.Kind = Write
			v.Operations = append(v.Operations, Operation{ob, op.validates})
		}
	}
}
