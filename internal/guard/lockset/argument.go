package lockset

import (
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/guard/inplace"
	"github.com/cofferdam-go/cofferdam/internal/locks"
)

// recordCall records the accesses that a call makes to what it is given the address of, as far as
// they are not found where the called function is followed.
func (r *recorder) recordCall(i ssa.CallInstruction, paths []locks.Path) {
	c := i.Common()
	if _, ok := r.values.Op(c); ok {
		return
	}
	if b, ok := c.Value.(*ssa.Builtin); ok {
		switch b.Name() {
		case "delete", "clear", "copy":
			r.recordContentWrite(c.Args[0], i, paths)
		}
		switch b.Name() {
		case "copy":
			r.recordElements(c.Args[0], Write, i, paths)
			r.recordElements(c.Args[1], Read, i, paths)
		case "append":
			r.recordElements(c.Args[1], Read, i, paths)
			// What is appended takes the place of elements that the slice was shortened by, as in
			// append(list[:i], list[i+1:]...).
			for _, part := range inplace.Shortened(c.Args[0]) {
				if part.High != nil {
					r.recordContentWrite(part, i, paths)
				}
			}
		case "clear":
			r.recordElements(c.Args[0], Write, i, paths)
		}
		for _, arg := range c.Args {
			if _, header := arg.Type().Underlying().(*types.Slice); !header || b.Name() == "copy" || b.Name() == "append" {
				r.recordUse(arg, i, paths) // the length of a slice is the reference's own, that of a map is not
			}
		}
		return
	}
	fn := c.StaticCallee()
	r.recordReflection(fn, c.Args, i, paths)
	for k, arg := range c.Args {
		if m, ok := arg.(*ssa.MakeInterface); ok {
			arg = m.X
		}
		if _, spawned := i.(*ssa.Go); !spawned {
			r.recordUse(arg, i, paths)
			if inplace.Reorders(fn) {
				r.recordContentWrite(arg, i, paths)
			}
			r.recordChangesBy(fn, k, arg, i, paths)
			if isOf(fn, "slices") {
				r.recordElements(arg, Read, i, paths)
			}
		}
		switch arg := arg.(type) {
		case *ssa.FieldAddr, *ssa.IndexAddr, *ssa.Global:
		case *ssa.UnOp:
			r.recordBehindPointer(arg, fn, k, i, paths)
			continue
		default:
			continue
		}
		if op, ok := operationOf(fn); ok && k == 0 {
			r.recordOperation(op, arg, i, paths)
		}
		if isAtomic(fn) {
			r.markAtomic(arg)
			continue
		}
		if _, ok := i.(*ssa.Go); ok {
			continue
		}
		if kind, ok := r.throughParameter(fn, k, deref(arg.Type())); ok && !HasOwnLock(deref(arg.Type())) {
			r.recordAddress(arg, kind, i, paths)
		}
	}
}

// recordChangesBy records that a function changes the map or slice in place that it is given, or is given a
// pointer to. Nothing in it names the variable, so the call is where that is changed.
func (r *recorder) recordChangesBy(fn *ssa.Function, k int, arg ssa.Value, call ssa.CallInstruction, paths []locks.Path) {
	if fn == nil || !r.inPlace.Changes(fn, k) || r.takesLock(fn) {
		return
	}
	if _, pointer := arg.Type().Underlying().(*types.Pointer); !pointer {
		r.recordContentWrite(arg, call, paths)
		return
	}
	if v := r.variableAt(arg); v != nil && inplace.IsContainer(v.Object.Type()) {
		v.ChangedInPlace = true
		r.recordAddress(arg, Write, call, paths)
	}
}

func isAtomic(fn *ssa.Function) bool { return isOf(fn, "sync/atomic") }

// isOf reports whether a function is declared in a package.
func isOf(fn *ssa.Function, path string) bool {
	return fn != nil && fn.Object() != nil && fn.Object().Pkg() != nil && fn.Object().Pkg().Path() == path
}

// throughParameter says what a function does with what parameter k points to, and whether
// that is to be recorded at the call. A function whose body is at hand is followed, so that
// only its writes through the pointer itself are of interest here, and only if it takes no
// lock for them.
func (r *recorder) throughParameter(fn *ssa.Function, k int, t types.Type) (Kind, bool) {
	if fn == nil {
		return Read, false
	}
	if len(fn.Blocks) > 0 {
		return Write, r.writesParameter(fn, k) && !r.takesLock(fn)
	}
	if k > 0 || fn.Signature.Recv() == nil {
		for _, word := range writingWords {
			if strings.Contains(fn.Name(), word) {
				return Write, true
			}
		}
	}
	if changesObject(fn, k, t) {
		return Write, true
	}
	return Read, true
}

// recordBehindPointer records what a method of a type that takes no lock of its own, or a function of a
// library, does to the object that a variable points to: the variable's lock is to guard the object with it.
//
//	c.recent.MoveToFront(e)        a write of what recent, a *list.List, has
//	fmt.Fprintln(c.out, text)      and of what out, a *bufio.Writer, has
func (r *recorder) recordBehindPointer(load *ssa.UnOp, fn *ssa.Function, k int, instr ssa.Instruction, paths []locks.Path) {
	if fn == nil || load.Op != token.MUL {
		return
	}
	p, ok := load.Type().Underlying().(*types.Pointer)
	if !ok || !unsynchronised[types.TypeString(p.Elem(), nil)] {
		return
	}
	switch ofMethod := k == 0 && fn.Signature.Recv() != nil; {
	case changesObject(fn, k, p.Elem()):
		r.recordAddress(load.X, Write, instr, paths)
	case ofMethod:
		r.recordAddress(load.X, Read, instr, paths)
	}
}

// changesObject reports whether a function of a library changes an object without a lock of its own, of a type,
// which is its receiver or which it is given to use: as what it is, or for an interface whose methods change it.
// What takes anything prints it, or keeps it.
func changesObject(fn *ssa.Function, k int, t types.Type) bool {
	if !unsynchronised[types.TypeString(t, nil)] {
		return false
	}
	if fn.Signature.Recv() != nil {
		if k--; k < 0 {
			return changes(fn)
		}
	}
	if len(fn.Blocks) > 0 || isAtomic(fn) || k >= fn.Signature.Params().Len() {
		return false
	}
	switch as := fn.Signature.Params().At(k).Type().Underlying().(type) {
	case *types.Interface:
		return as.NumMethods() > 0
	case *types.Pointer:
		return types.Identical(as.Elem(), t)
	}
	return false
}

// changes reports whether a method of a type that takes no lock of its own changes it.
func changes(fn *ssa.Function) bool {
	return !readingMethods[fn.Name()] || strings.Contains(fn.Signature.Recv().Type().String(), "math/rand")
}

// writingWords are in the names of functions of the standard library that write what an
// argument points to.
var writingWords = []string{"Unmarshal", "Decode", "Scan", "Swap", "Heap", "Push", "Pop", "Fix", "Init"}

// unsynchronised are types of the standard library whose methods change them and that take
// no lock of their own.
var unsynchronised = map[string]bool{
	"bytes.Buffer": true, "strings.Builder": true, "container/list.List": true, "container/ring.Ring": true,
	"math/rand.Rand": true, "math/rand/v2.Rand": true, "bufio.Writer": true, "bufio.Reader": true, "bufio.ReadWriter": true,
	"math/big.Int": true, "math/big.Float": true, "math/big.Rat": true, "bufio.Scanner": true, "text/tabwriter.Writer": true,
	"encoding/json.Encoder": true, "encoding/json.Decoder": true, "encoding/csv.Writer": true, "encoding/csv.Reader": true,
}

// readingMethods are the methods of these types that change nothing.
var readingMethods = map[string]bool{
	"Len": true, "Cap": true, "Bytes": true, "String": true, "Front": true, "Back": true, "Available": true, "Size": true, "Buffered": true,
	"Cmp": true, "Sign": true, "Int64": true, "Uint64": true, "IsInt64": true,
}

// takesLock reports whether a function operates on a lock itself.
func (a *Analysis) takesLock(fn *ssa.Function) bool {
	for _, b := range fn.Blocks {
		for _, i := range b.Instrs {
			if c, ok := i.(ssa.CallInstruction); ok {
				if _, ok := a.values.Op(c.Common()); ok {
					return true
				}
			}
		}
	}
	return false
}

// writesParameter reports whether a function stores through a parameter, directly or by
// passing it on.
func (a *Analysis) writesParameter(fn *ssa.Function, index int) bool {
	if index >= len(fn.Params) {
		return false
	}
	key := parameterKey{fn, index}
	if w, ok := a.writers[key]; ok {
		return w
	}
	a.writers[key] = false
	w := a.writesThrough(fn, fn.Params[index])
	a.writers[key] = w
	return w
}

func (a *Analysis) writesThrough(fn *ssa.Function, p ssa.Value) bool {
	for _, b := range fn.Blocks {
		for _, i := range b.Instrs {
			switch i := i.(type) {
			case *ssa.Store:
				if isInside(i.Addr, p) {
					return true
				}
			case *ssa.MapUpdate:
				if u, ok := i.Map.(*ssa.UnOp); ok && isInside(u.X, p) {
					return true
				}
			case ssa.CallInstruction:
				c := i.Common()
				callee := c.StaticCallee()
				for k, arg := range c.Args {
					if callee != nil && isInside(arg, p) && a.writesParameter(callee, k) {
						return true
					}
				}
			}
		}
	}
	return false
}

// isInside reports whether an address is inside the object that p points to.
func isInside(addr, p ssa.Value) bool {
	for {
		if addr == p {
			return true
		}
		switch v := addr.(type) {
		case *ssa.FieldAddr:
			addr = v.X
		case *ssa.IndexAddr:
			addr = v.X
		default:
			return false
		}
	}
}

// markAtomic notes that package sync/atomic is used on what an address points to.
func (r *recorder) markAtomic(addr ssa.Value) {
	switch v := addr.(type) {
	case *ssa.FieldAddr:
		r.variable(r.values.Field(v.X.Type(), v.Field)).Atomic = true
	case *ssa.IndexAddr:
		if u, ok := v.X.(*ssa.UnOp); ok {
			r.markAtomic(u.X)
			return
		}
		r.markAtomic(v.X)
	case *ssa.Global:
		if o, ok := v.Object().(*types.Var); ok {
			r.variable(r.Places.Canonical(o)).Atomic = true
		}
	}
}

// HasOwnLock reports whether a struct has a lock among its fields: then it takes care of
// itself.
func HasOwnLock(t types.Type) bool {
	s, ok := t.Underlying().(*types.Struct)
	return ok && slices.ContainsFunc(slices.Collect(s.Fields()), func(f *types.Var) bool { return locks.IsLock(f.Type()) })
}

// isData reports whether a variable of the type may need a guard. Locks and what package
// sync and sync/atomic offer need none.
func isData(t types.Type) bool {
	if locks.IsLock(t) {
		return false
	}
	n, ok := types.Unalias(deref(t)).(*types.Named)
	if !ok || n.Obj().Pkg() == nil {
		return true
	}
	switch n.Obj().Pkg().Path() {
	case "sync", "sync/atomic", "testing":
		return false
	}
	return !strings.HasSuffix(n.Obj().Pkg().Path(), "/atomic")
}
