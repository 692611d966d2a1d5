package variant

import (
	"fmt"
	"go/ast"
	"go/types"
	"iter"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/locks"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// A Lock is what sections hold.
type Lock struct {
	Words string // such as "the mutex T.mu"
	// Class is the field or variable that declares it; nil if the program does not have it yet.
	Class *types.Var
	// RW says that it can be held for reading.
	RW bool
	// Name is how a function names it, "" if it cannot.
	Name func(d *ast.FuncDecl) string
	// Waits says what in statements may wait for something else while the lock is held, "" if
	// nothing does.
	Waits func(stmts []ast.Stmt) string
}

// A Section is statements that are to run with a lock held.
type Section struct {
	File       *source.File
	Func       ast.Node // the function that they are in
	Statements []ast.Stmt
	// Object is where the struct is that has the lock; nil if the lock is a variable.
	Object *locks.Place
	// Write says that the lock is held for writing.
	Write bool
	// Calls says that what the statements call is to have variants: the lock is held for all of
	// them.
	Calls bool
}

// A Plan is which functions become two for the sections of a lock.
type Plan struct {
	source   *source.Program
	locks    *locks.Program
	lock     Lock
	sections []Section

	functions map[*ast.FuncDecl]*function // that were looked at
	reaching  map[ast.Node]reach
	why       []error                  // by section
	writes    []bool                   // by section
	held      map[*ast.Ident]*function // the names in calls that are made with the lock held
	needed    []*function              // in the order in which they were met
}

// New plans the variants that sections need.
func New(p *source.Program, l *locks.Program, lock Lock, sections []Section) *Plan {
	plan := &Plan{
		source: p, locks: l, lock: lock, sections: sections,
		functions: make(map[*ast.FuncDecl]*function), reaching: make(map[ast.Node]reach),
		why: make([]error, len(sections)), writes: make([]bool, len(sections)), held: make(map[*ast.Ident]*function),
	}
	for i := range sections {
		if s := &sections[i]; s.Calls {
			calls, err := plan.takingCalls(s.File.Info, s.Statements, s.Object)
			if err != nil {
				plan.why[i] = err
				continue
			}
			for _, c := range calls {
				plan.writes[i] = plan.writes[i] || c.function.write
			}
			plan.hold(calls)
		}
	}
	for _, f := range plan.needed {
		f.two = !plan.alwaysHeld(f)
		if f.two {
			f.variant = plan.nameFor(f)
		}
	}
	return plan
}

// Why returns why a section cannot have the variants that it needs; nil if it has them.
func (p *Plan) Why(section int) error { return p.why[section] }

// Writes reports whether something that a section calls needs the lock for writing.
func (p *Plan) Writes(section int) bool { return p.writes[section] }

// Has reports whether a function is one that runs with the lock held by its callers: sections in it
// are not to be written.
func (p *Plan) Has(fn ast.Node) bool {
	return slices.ContainsFunc(p.needed, func(f *function) bool { return f.decl == fn })
}

// Functions returns the functions of the plan.
func (p *Plan) Functions() []*ast.FuncDecl {
	var all []*ast.FuncDecl
	for _, f := range p.needed {
		all = append(all, f.decl)
	}
	return all
}

// hold has calls made with the lock held, and so the calls of what they call.
func (p *Plan) hold(calls []takingCall) {
	for _, c := range calls {
		if p.held[c.name] != nil {
			continue
		}
		p.held[c.name] = c.function
		if !slices.Contains(p.needed, c.function) {
			p.needed = append(p.needed, c.function)
			p.hold(c.function.calls)
		}
	}
}

// A takingCall is a call of a function that takes the lock.
type takingCall struct {
	name     *ast.Ident // of the function
	function *function
}

// takingCalls are the calls in statements of functions that take the lock of an object. An error
// says which of them cannot be made with the lock held.
func (p *Plan) takingCalls(info *types.Info, stmts []ast.Stmt, object *locks.Place) ([]takingCall, error) {
	var all []takingCall
	for call, later := range p.callsThatTake(info, stmts) {
		d := p.declarationOf(info, call)
		switch {
		case later:
			return nil, fmt.Errorf("it has a function literal, which may run later, that calls %s", types.ExprString(call.Fun))
		case d == nil:
			return nil, fmt.Errorf("it calls %s, which may take %s", types.ExprString(call.Fun), p.lock.Words)
		}
		f := p.examine(d)
		switch {
		case f.err != nil:
			return nil, fmt.Errorf("it calls %s, which takes it too and cannot leave it to its callers: %w", d.Name.Name, f.err)
		case !f.sameObject(p, info, call, object):
			return nil, fmt.Errorf("it calls %s, which takes it too, of what may be another object", d.Name.Name)
		}
		all = append(all, takingCall{source.CalleeName(call), f})
	}
	return all, nil
}

// callsThatTake are the calls in statements that may take the lock before the statements end, and
// whether they may as well be made later: they are in a function literal that is kept.
func (p *Plan) callsThatTake(info *types.Info, stmts []ast.Stmt) iter.Seq2[*ast.CallExpr, bool] {
	return func(yield func(*ast.CallExpr, bool) bool) {
		atOnce := make(map[*ast.CallExpr]bool)
		block := &ast.BlockStmt{List: stmts}
		p.locks.EachAtOnce(info, block, func(n ast.Node) {
			if call, ok := n.(*ast.CallExpr); ok && p.callTakes(info, call) {
				atOnce[call] = true
			}
		})
		more := true
		ast.PreorderStack(block, nil, func(n ast.Node, around []ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && more && atOnce[call] {
				more = yield(call, !runsAtOnce(info, around))
			}
			return more
		})
	}
}

// declarationOf is the function of the program that a call calls; nil if it may be one of several,
// or is none.
func (p *Plan) declarationOf(info *types.Info, call *ast.CallExpr) *ast.FuncDecl {
	fn, ok := info.Uses[source.CalleeName(call)].(*types.Func)
	if !ok {
		return nil
	}
	d := p.source.Declaration(fn.Origin())
	if d == nil || d.Body == nil {
		return nil
	}
	return d
}

// callTakes reports whether a call may run a function that takes the lock.
func (p *Plan) callTakes(info *types.Info, call *ast.CallExpr) bool {
	if p.lock.Class != nil && p.locks.CallTakes(info, call, p.lock.Class) {
		return true
	}
	if _, ok := p.locks.Op(info, call); ok {
		return false
	}
	return slices.ContainsFunc(p.locks.Callees(info, call), p.reachesSection)
}

// A reach is whether a function has a section, or calls one that does.
type reach uint8

const (
	unknown reach = iota
	asked         // it is being found out
	reaches
	reachesNone
)

func (p *Plan) reachesSection(fn ast.Node) bool {
	switch p.reaching[fn] {
	case reaches:
		return true
	case asked, reachesNone:
		return false
	case unknown:
	}
	p.reaching[fn] = asked
	found := slices.ContainsFunc(p.sections, func(s Section) bool { return s.Func == fn })
	if f := p.source.FileOf(fn); f != nil && !found {
		p.locks.EachAtOnce(f.Info, source.Body(fn), func(n ast.Node) {
			if call, ok := n.(*ast.CallExpr); ok && !found {
				found = slices.ContainsFunc(p.locks.Callees(f.Info, call), p.reachesSection)
			}
		})
	}
	p.reaching[fn] = reachesNone
	if found {
		p.reaching[fn] = reaches
	}
	return found
}

// alwaysHeld reports whether all calls of a function are made with the lock held, so that it need
// not be two. A function that users of the package call, or that is used as a value, has other
// callers.
func (p *Plan) alwaysHeld(f *function) bool {
	if f.decl.Name.IsExported() && f.file.Types.Name() != "main" {
		return false
	}
	for _, file := range p.source.Files() {
		for id, o := range file.Info.Uses {
			fn, ok := o.(*types.Func)
			if ok && p.source.Declaration(fn.Origin()) == f.decl && p.held[id] == nil {
				return false
			}
		}
	}
	return true
}
