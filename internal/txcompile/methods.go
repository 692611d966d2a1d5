package txcompile

import (
	"go/ast"
	"go/types"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/source"
	"github.com/cofferdam-go/cofferdam/internal/txcompile/library"
)

// ownMethods returns the methods of what a function that sorts, or keeps a heap, is given, none
// if one of them is not the type's own, or has no clone.
func (p *program) ownMethods(t types.Type, names []string) (methods []*function) {
	for _, m := range library.OwnMethods(t, names) {
		f := p.functions[m.FullName()]
		if f == nil || f.decl.Body == nil || f.whyInPlace != "" {
			return nil
		}
		methods = append(methods, f)
	}
	return methods
}

// callByMethods is a call of a function that sorts, or keeps a heap: it is given the clones.
//
//	heap.Pop(&x.jobs)    heap.Pop(func() compiled.Methods { o := &x.jobs; return compiled.HeapMethods(func() int { return stm.Load(tx, o).Len_stm(tx) }, ...) }())
func (w *writer) callByMethods(e *ast.CallExpr, t target) string {
	all := w.valuesOf(e.Args)
	o := w.temporary("o")
	_, byPointer := types.Unalias(w.info().TypeOf(e.Args[0])).(*types.Pointer)
	var methods []string
	for _, f := range t.methods {
		receiver := o
		if byPointer && !source.HasPointerReceiver(f.Func) {
			receiver = w.load("*" + o)
		}
		call := receiver + "." + f.Name() + w.p.suffix + "(" + w.tx() + library.Parameters[f.Name()].Given + ")"
		if f.Signature().Results().Len() > 0 {
			call = "return " + call
		}
		methods = append(methods, "func"+library.Parameters[f.Name()].Declared+" { "+call+" }")
	}
	all[0].text = "func() " + w.compiled() + ".Methods { " + o + " := " + all[0].text +
		"; return " + w.compiled() + "." + t.name + "(" + strings.Join(methods, ", ") + ") }()"
	return w.spliceNode(e, all...)
}
