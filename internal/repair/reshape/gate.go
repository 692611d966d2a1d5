package reshape

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/locks"
	"github.com/cofferdam-go/cofferdam/internal/repair/cover"
	"github.com/cofferdam-go/cofferdam/internal/repair/reshape/change"
	"github.com/cofferdam-go/cofferdam/internal/repair/reshape/syntax"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// takePairsInTurn has goroutines that take the locks of two objects of one type, and wait for each
// other, take both in one step: a lock of the package is held meanwhile. There is nothing that the two
// could be put in an order by.
//
//	from.mu.Lock()     accountPairMu.Lock()
//	to.mu.Lock()       from.mu.Lock()
//	...                to.mu.Lock()
//	                   accountPairMu.Unlock()
//	                   ...
//
// A goroutine that has both needs no other lock of the kind, so whatever waits with the lock of the
// package held waits for one that is given back. All functions that take two must do so.
func (r *finder) takePairsInTurn() []*change.Change {
	for i := range r.Failure.Waiting {
		waiter := &r.Failure.Waiting[i]
		if waiter.Shape != event.LockOrder {
			continue
		}
		class := r.lockTaken(r.LineOf(&waiter.Point))
		for j := range waiter.Holds {
			if class != nil && class.IsField() && locks.IsMutex(class.Type()) && class == r.lockTaken(r.LineOf(&waiter.Holds[j].Point)) {
				return r.gatePairs(class)
			}
		}
	}
	return nil
}

// gatePairs has all functions that take two locks of a class hold another one meanwhile.
func (r *finder) gatePairs(class *types.Var) []*change.Change {
	owner := r.Code.OwnerOf(class)
	if owner == nil {
		return nil
	}
	w := r.Rewrite()
	var in *source.File // that declares the new lock
	name, pairs, elsewhere := "", 0, false
	for _, f := range r.Code.Files() {
		syntax.Inspect(f, func(n ast.Node, _ []ast.Node) {
			list := syntax.Statements(n)
			first, second := r.pairTaken(f, list, class)
			if first < 0 {
				return
			}
			if in == nil {
				in, name = f, pairLockName(f, owner)
			}
			pairs++
			w.Of(f).LineBefore(list[first], name+".Lock()")
			w.Of(f).LineAfter(list[second], name+".Unlock()")
			w.Note(f, list[first])
			elsewhere = elsewhere || f.Types != in.Types // where it would have to be exported
		})
	}
	if in == nil || elsewhere {
		return nil
	}
	above := firstDeclaration(in)
	sync, err := w.Of(in).ImportStd("sync")
	if above == nil || err != nil {
		return nil
	}
	what := owner.Obj().Name() + "." + class.Name()
	w.Of(in).LineBefore(above, fmt.Sprintf("// %s is held while two locks %s are taken.\nvar %[1]s %[3]s.Mutex\n", name, what, sync))
	both := r.Code.Locks().ClassName(class)
	return w.Finish(&change.Change{
		Words:   fmt.Sprintf("two locks %s are taken in one step, with the new lock %s held", what, name),
		Mistake: "goroutines take two locks of the same kind, each its own first",
		Reason:  "one goroutine at a time takes two of them, and one that has both needs no other, so that none has one that another needs before its own",
		Check: func(after *cover.Code) string {
			// Of those that are taken by way of a call, nothing is held meanwhile.
			taken := 0
			for _, flow := range after.Locks().Flows() {
				for _, e := range flow.Edges {
					if after.Locks().ClassName(e.First) == both && after.Locks().ClassName(e.Second) == both {
						taken++
					}
				}
			}
			if taken > pairs {
				return fmt.Sprintf("two locks %s are taken elsewhere, by way of a call or in another list of statements", what)
			}
			return ""
		},
	})
}

// pairTaken is where a list of statements takes a lock of a class, and then a second one; -1 if it does
// not, or something waits in between.
func (r *finder) pairTaken(f *source.File, list []ast.Stmt, class *types.Var) (first, second int) {
	first = -1
	for i, s := range list {
		op, on := r.operation(f, s)
		if on == nil || !syntax.Same(on, class) {
			continue
		}
		switch {
		case op.Verb == locks.Release:
			first = -1
		case op.Verb == locks.Acquire && first < 0:
			first = i
		case op.Verb == locks.Acquire:
			if syntax.MayWait(f, list[first+1:i]) {
				return -1, -1
			}
			return first, i
		}
	}
	return -1, -1
}

// pairLockName is a name that is free in a package for the lock of pairs.
func pairLockName(f *source.File, owner *types.Named) string {
	word := owner.Obj().Name()
	var files []ast.Node
	for _, other := range f.Package.Syntax {
		files = append(files, other)
	}
	return source.NamesIn(files...).Free(source.Unexported(word) + "PairMu")
}

// firstDeclaration is the first declaration of a file that is no import, with its comment; nil if there
// is none.
func firstDeclaration(f *source.File) ast.Node {
	for _, d := range f.Syntax.Decls {
		switch d := d.(type) {
		case *ast.GenDecl:
			if d.Tok == token.IMPORT {
				continue
			}
			if d.Doc != nil {
				return d.Doc
			}
		case *ast.FuncDecl:
			if d.Doc != nil {
				return d.Doc
			}
		}
		return d
	}
	return nil
}
