package variant

import (
	"errors"
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/locks"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// A function is one that takes the lock.
type function struct {
	decl *ast.FuncDecl
	file *source.File
	// object is where it has the struct that has the lock; nil if the lock is a variable.
	object *locks.Place
	write  bool // it needs the lock for writing
	// operations are the statements by which it takes and releases the lock, and calls its calls
	// of functions that take it.
	operations []ast.Stmt
	calls      []takingCall
	// err is why it cannot run with the lock held.
	err error
	// two says that it has a variant, of that name.
	two     bool
	variant string
}

// examine looks at what a function does with the lock. Calls of itself on the way are calls for the
// same object, or there is an error.
func (p *Plan) examine(d *ast.FuncDecl) *function {
	if f := p.functions[d]; f != nil {
		return f
	}
	f := &function{decl: d, file: p.source.FileOf(d)}
	p.functions[d] = f
	f.err = p.look(f)
	return f
}

func (p *Plan) look(f *function) error {
	name := f.decl.Name.Name
	switch {
	case strings.HasSuffix(f.file.Name, "_test.go"):
		return fmt.Errorf("%s is in test code", name)
	case !handsOn(f.decl):
		return fmt.Errorf("%s has parameters without names", name)
	}
	if why := p.lock.Waits(f.decl.Body.List); why != "" {
		return fmt.Errorf("it would be held during %s", why)
	}
	if err := p.ownOperations(f); err != nil {
		return err
	}
	for i := range p.sections {
		if s := &p.sections[i]; s.Func == ast.Node(f.decl) {
			f.write = f.write || s.Write
			if !f.isOf(s.Object) {
				return fmt.Errorf("%s takes it of several objects", name)
			}
		}
	}
	if err := p.ownCalls(f); err != nil {
		return err
	}
	if p.lock.Name(f.decl) == "" {
		return fmt.Errorf("it cannot be named in %s", name)
	}
	return nil
}

// isOf notes the object whose lock a function takes, and reports whether it is always the same one.
func (f *function) isOf(object *locks.Place) bool {
	if f.object == nil {
		f.object = object
	}
	return f.object == object
}

// sameObject reports whether a call of the function is for the object of the caller, nil if the
// lock is a variable.
func (f *function) sameObject(p *Plan, info *types.Info, call *ast.CallExpr, object *locks.Place) bool {
	if f.object == nil || object == nil {
		return f.object == object
	}
	return p.locks.InCaller(info, call, f.object) == object
}

// ownOperations finds the operations on the lock that a function has. All of them must be
// statements, which can be taken out.
func (p *Plan) ownOperations(f *function) error {
	if p.lock.Class == nil {
		return nil
	}
	for _, finding := range p.locks.Flow(f.decl).Findings {
		switch finding.Kind {
		case locks.LeftHeld, locks.NotHeld:
			if finding.Lock == nil || p.locks.Places.Variable(finding.Lock) == p.lock.Class {
				return fmt.Errorf("%s does not release it on every way, or releases what it has not taken", f.decl.Name.Name)
			}
		case locks.TakenTwice, locks.WrongMode, locks.NotFollowed:
		}
	}
	var err error
	ast.PreorderStack(f.decl.Body, nil, func(n ast.Node, around []ast.Node) bool {
		if _, ok := n.(*ast.GoStmt); ok {
			return false // another goroutine takes it for itself
		}
		call, ok := n.(*ast.CallExpr)
		if !ok || err != nil {
			return err == nil
		}
		op, ok := p.locks.Op(f.file.Info, call)
		if !ok || p.locks.Places.ClassOf(op) != p.lock.Class {
			return true
		}
		statement := operationStatement(call, around)
		switch {
		case op.Verb == locks.Try:
			err = fmt.Errorf("%s tries to take it", f.decl.Name.Name)
		case !runsAtOnce(f.file.Info, around):
			err = fmt.Errorf("%s has a function literal that takes it later", f.decl.Name.Name)
		case statement == nil || op.Lock == nil:
			err = fmt.Errorf("%s takes it in a way that cannot be taken out", f.decl.Name.Name)
		case op.Lock.Parent() != nil && !f.isOf(op.Lock.Parent()):
			err = fmt.Errorf("%s takes it of several objects", f.decl.Name.Name)
		default:
			f.operations = append(f.operations, statement)
			f.write = f.write || op.Acquires() && op.Mode == locks.Write
		}
		return true
	})
	return err
}

// runsAtOnce reports whether what has some nodes around it, from the body of a function on, runs
// before the function returns: the literals among them are called there or deferred, or given to
// a function that has called them when it returns.
func runsAtOnce(info *types.Info, around []ast.Node) bool {
	for i, n := range around {
		literal, ok := n.(*ast.FuncLit)
		if !ok {
			continue
		}
		call, ok := around[i-1].(*ast.CallExpr)
		if !ok {
			return false
		}
		if ast.Unparen(call.Fun) == ast.Expr(literal) {
			continue
		}
		if fn, ok := info.Uses[source.CalleeName(call)].(*types.Func); !ok || locks.KeepsCallbacks(fn) {
			return false
		}
	}
	return true
}

// operationStatement is the statement that is nothing but an operation, nil if there is none: the
// call, deferred or not, or a deferred literal that makes the call alone.
func operationStatement(call *ast.CallExpr, around []ast.Node) ast.Stmt {
	n := len(around)
	if n == 0 {
		return nil
	}
	switch s := around[n-1].(type) {
	case *ast.DeferStmt:
		return s
	case *ast.ExprStmt:
		// The block, the literal, the call of it and defer are around the statement.
		if n >= 5 {
			block, _ := around[n-2].(*ast.BlockStmt)
			deferred, ok := around[n-5].(*ast.DeferStmt)
			if ok && block != nil && len(block.List) == 1 && len(deferred.Call.Args) == 0 {
				return deferred
			}
		}
		return s
	}
	return nil
}

// ownCalls finds the calls that a function makes of functions that take the lock.
func (p *Plan) ownCalls(f *function) error {
	type made struct {
		call *ast.CallExpr
		to   *function
	}
	var all []made
	for call, later := range p.callsThatTake(f.file.Info, f.decl.Body.List) {
		d := p.declarationOf(f.file.Info, call)
		switch {
		case later:
			return fmt.Errorf("%s has a function literal, which may run later, that calls %s", f.decl.Name.Name, types.ExprString(call.Fun))
		case d == nil:
			return fmt.Errorf("%s calls %s, which may take it", f.decl.Name.Name, types.ExprString(call.Fun))
		}
		to := p.examine(d)
		if to.err != nil {
			return to.err
		}
		all = append(all, made{call, to})
	}
	for _, m := range all {
		if m.to.object != nil && f.object == nil {
			f.object = p.locks.InCaller(f.file.Info, m.call, m.to.object)
		}
		f.write = f.write || m.to.write
		f.calls = append(f.calls, takingCall{source.CalleeName(m.call), m.to})
	}
	if slices.ContainsFunc(all, func(m made) bool { return !m.to.sameObject(p, f.file.Info, m.call, f.object) }) {
		return errors.New(f.decl.Name.Name + " takes it of several objects")
	}
	return nil
}

// handsOn reports whether all parameters of a function have names, to hand them on.
func handsOn(d *ast.FuncDecl) bool {
	for _, list := range []*ast.FieldList{d.Recv, d.Type.Params} {
		if list == nil {
			continue
		}
		for _, field := range list.List {
			if len(field.Names) == 0 || slices.ContainsFunc(field.Names, func(id *ast.Ident) bool { return id.Name == "_" }) {
				return false
			}
		}
	}
	return true
}
