package txcompile

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/source"
	"github.com/cofferdam-go/cofferdam/internal/txcompile/assigned"
	"github.com/cofferdam-go/cofferdam/internal/txcompile/flow"
	"github.com/cofferdam-go/cofferdam/internal/txcompile/syntax"
)

// A program is what is known and decided of the packages that are compiled.
type program struct {
	*source.Program
	functions  map[string]*function // declared ones, by full name
	variables  map[*types.Var]*variable
	fields     map[flow.Place]*field // by where they are declared
	named      map[flow.Place]bool   // fields of types that have names
	elements   map[string]*field     // by their type
	immediates map[*ast.FuncLit]bool
	keepers    map[ast.Stmt]*ast.FuncLit // statements that begin with a transaction
	keeping    map[*ast.FuncLit]ast.Stmt // and the other way round
	complete   map[*types.Package]bool   // packages all of whose files are here
	exposed    map[string]bool           // paths of packages that code which is not here imports
	left       map[string]string         // paths of packages that are not compiled, and why
	labels     map[types.Object]label
	jumps      map[ast.Node]bool   // functions with a goto
	boxed      map[flow.Place]bool // types of functions whose values become those of an interface
	suffix     string              // of names that no identifier has

	own  map[string]bool // paths of packages
	flow *flow.Flow
	// What calls assign to, where the order of reads and calls matters.
	assignments *assigned.Finder
	begins      []*ast.FuncLit // transactions
	reach       *flow.Reach
	indirect    map[flow.Place]bool // functions and literals that transactions may call through values
	closed      map[flow.Place]flow.Closed
	dual        map[*ast.FuncLit]bool    // literals that transactions may call through values
	marked      map[string]bool          // names of methods that they may call through interfaces
	unmarked    map[string]bool          // methods, by full name, that are not said to be compiled
	pure        map[ast.Node]bool        // functions that they may call through values as they are
	asValues    map[ast.Expr]*types.Func // functions that are not called where they are named

	transactions int
	effects      map[token.Pos]Effect
	planned      map[ast.Node]bool // regions
	queue        []region
}

// A function is a declared function of the program.
type function struct {
	*types.Func
	decl *ast.FuncDecl
	file *source.File
	// cloned says that transactions call it, and dual that they may call it through a value
	// or an interface, and it has to find out.
	cloned, dual bool
	// whyInPlace says why it is neither: a transaction that calls it works in place.
	whyInPlace string
}

// An Effect is something in a transaction that cannot be undone: the transaction works in
// place from there on.
type Effect struct {
	Position token.Position
	Reason   string
}

// String names the file from the current directory on, if it is below that.
func (e Effect) String() string {
	name := e.Position.Filename
	if dir, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(dir, name); err == nil && filepath.IsLocal(rel) {
			name = rel
		}
	}
	return fmt.Sprintf("%s:%d: %s", name, e.Position.Line, e.Reason)
}

// newProgram gathers what is to be known of packages before anything is decided.
func newProgram(pkgs []*packages.Package, exposed map[string]bool) (*program, error) {
	files, err := source.Read(pkgs, nil)
	if err != nil {
		return nil, err
	}
	p := &program{
		Program: files, exposed: exposed, functions: make(map[string]*function), variables: make(map[*types.Var]*variable), immediates: make(map[*ast.FuncLit]bool), keepers: make(map[ast.Stmt]*ast.FuncLit), keeping: make(map[*ast.FuncLit]ast.Stmt),
		complete: make(map[*types.Package]bool), dual: make(map[*ast.FuncLit]bool), marked: make(map[string]bool), labels: make(map[types.Object]label), jumps: make(map[ast.Node]bool), boxed: make(map[flow.Place]bool), pure: make(map[ast.Node]bool), asValues: make(map[ast.Expr]*types.Func), fields: make(map[flow.Place]*field), named: make(map[flow.Place]bool), elements: make(map[string]*field), own: make(map[string]bool), effects: make(map[token.Pos]Effect),
		planned: make(map[ast.Node]bool), flow: flow.New(pkgs),
	}
	callees := func(call ssa.CallInstruction) []*ssa.Function { return p.flow.Callees(call.Parent(), call) }
	p.assignments = &assigned.Finder{Fset: p.Fset, Callees: callees, CalledBack: p.flow.CalledBack}
	for _, f := range p.Files() {
		p.complete[f.Types] = true
		p.own[f.Types.Path()] = true
		for _, d := range f.Syntax.Decls {
			decl, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if obj, ok := f.Info.Defs[decl.Name].(*types.Func); ok && (decl.Recv != nil || decl.Name.Name != "init") && decl.Name.Name != "_" {
				p.functions[obj.FullName()] = &function{Func: obj, decl: decl, file: f}
			}
		}
		p.gatherImmediates(f)
		p.gatherKeeping(f)
		p.gatherValues(f)
		p.gatherLabels(f)
	}
	p.gatherBoxed()
	p.gatherUnmarked()
	p.gatherReach()
	for _, f := range p.Files() {
		p.gatherVariables(f)
	}
	for _, f := range p.Files() {
		p.gatherFields(f)
	}
	p.gatherForeign()
	p.suffix = p.unusedSuffix("_stm")
	return p, nil
}

// unusedSuffix returns a suffix that no identifier of the program has, at its end or elsewhere:
// names of clones end with it, and in other names that are made up more follows.
func (p *program) unusedSuffix(word string) string {
	for {
		taken := false
		for _, f := range p.Files() {
			ast.Inspect(f.Syntax, func(n ast.Node) bool {
				id, ok := n.(*ast.Ident)
				taken = taken || ok && strings.Contains(id.Name, word)
				return !taken
			})
		}
		if !taken {
			return word
		}
		word = "_" + word
	}
}

// gatherValues notes where a file names functions other than by calling them.
func (p *program) gatherValues(f *source.File) {
	called := make(map[ast.Expr]bool)
	ast.Inspect(f.Syntax, func(n ast.Node) bool {
		e, ok := n.(ast.Expr)
		if !ok {
			return true
		}
		var name *ast.Ident
		switch e := e.(type) {
		case *ast.CallExpr:
			called[ast.Unparen(e.Fun)] = true
		case *ast.IndexExpr:
			called[e.X] = called[e]
			name, _ = e.X.(*ast.Ident)
		case *ast.SelectorExpr:
			called[e.Sel] = true
			name = e.Sel
		case *ast.Ident:
			name = e
		}
		if name == nil || called[e] {
			return true
		}
		if fn, ok := f.Info.Uses[name].(*types.Func); ok {
			p.asValues[e] = fn.Origin()
			called[name] = true
		}
		return true
	})
}

// dualValue reports whether an expression is the value of a function that finds its
// transaction by itself.
func (p *program) dualValue(info *types.Info, e ast.Expr) bool {
	fn := p.asValues[e]
	if fn == nil {
		return false
	}
	f := p.functions[fn.FullName()]
	if f == nil || !f.dual && !p.pure[f.decl] {
		return false
	}
	if sel, ok := e.(*ast.SelectorExpr); ok && syntax.IsMethodExpression(info, sel) && flow.ReadsToCall(info.Selections[sel].Recv(), fn) {
		return false
	}
	_, inferred := info.Instances[syntax.NameOf(e)]
	_, isInstance := e.(*ast.IndexExpr)
	return !inferred || isInstance // else it has no type of its own
}

// isDual reports whether a declared function finds its transaction by itself.
func (p *program) isDual(fn *types.Func) bool {
	f := p.functions[fn.FullName()]
	return f != nil && f.dual
}

// isPure reports whether a function does the same in a transaction and outside.
func (p *program) isPure(n ast.Node) bool { return p.closed[flow.PlaceOf(p.Fset, n.Pos())].Pure }

// plan decides what is cloned: whatever a transaction can come to. Each function is added
// once, so that this ends.
func (p *program) plan() {
	for _, f := range p.functions {
		if f.decl.Body != nil {
			f.whyInPlace, _ = p.inPlace(f.file, region{f.decl})
		}
	}
	for _, lit := range p.begins {
		p.add(region{lit})
	}
	for at, what := range p.reach.Elsewhere {
		p.note(at, "calls "+what)
	}
	p.planIndirect()
	for len(p.queue) > 0 {
		next := p.queue[0]
		p.queue = p.queue[1:]
		p.planRegion(next)
	}
}

// gatherUnmarked finds methods that belong, through an embedded pointer, to a struct without a
// name, or with one that only a function knows. Such a struct cannot have a method that hides the
// marker of another.
func (p *program) gatherUnmarked() {
	p.unmarked = make(map[string]bool)
	for _, f := range p.Files() {
		named := make(map[ast.Expr]bool)
		for _, d := range f.Syntax.Decls {
			if types, ok := d.(*ast.GenDecl); ok {
				for _, spec := range types.Specs {
					if spec, ok := spec.(*ast.TypeSpec); ok {
						named[spec.Type] = !spec.Assign.IsValid()
					}
				}
			}
		}
		ast.Inspect(f.Syntax, func(n ast.Node) bool {
			if s, ok := n.(*ast.StructType); ok && !named[s] {
				t := f.Info.TypeOf(s)
				for m := range types.NewMethodSet(types.NewPointer(t)).Methods() {
					fn := m.Obj().(*types.Func)
					if _, _, throughPointer := types.LookupFieldOrMethod(t, true, fn.Pkg(), fn.Name()); throughPointer {
						p.unmarked[fn.Origin().FullName()] = true
					}
				}
			}
			return true
		})
	}
}

// gatherReach finds the transactions, and what they call through values and interfaces. A call
// through a variable that can only be one function is direct to go/ssa, and not here: so what
// is used as a value and called at all is among that.
func (p *program) gatherReach() {
	var places []flow.Place
	for _, f := range p.Files() {
		ast.Inspect(f.Syntax, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || !isAtomic(f.Info, call) {
				return true
			}
			p.transactions++
			if lit := atomicLiteral(f.Info, call); lit != nil {
				p.begins = append(p.begins, lit)
				places = append(places, flow.PlaceOf(p.Fset, lit.Pos()))
			}
			return true
		})
	}
	p.reach = p.flow.From(places)
	asValue := make(map[string]bool)
	for _, fn := range p.asValues {
		asValue[fn.FullName()] = true
	}
	p.indirect = make(map[flow.Place]bool)
	for name, f := range p.functions {
		at := flow.PlaceOf(p.Fset, f.decl.Pos())
		p.indirect[at] = f.decl.Body != nil && (p.reach.Functions[name] || asValue[name] && p.reach.CallsAt(at))
	}
	for _, f := range p.Files() {
		ast.Inspect(f.Syntax, func(n ast.Node) bool {
			if lit, ok := n.(*ast.FuncLit); ok {
				at := flow.PlaceOf(p.Fset, lit.Pos())
				p.indirect[at] = !p.immediate(lit) && p.reach.CallsAt(at)
			}
			return true
		})
	}
	p.closed = p.flow.Closed(func(at flow.Place) bool { return p.indirect[at] })
}

// planIndirect adds the functions that transactions call through values and interfaces.
func (p *program) planIndirect() {
	for _, name := range slices.Sorted(maps.Keys(p.functions)) {
		f := p.functions[name]
		switch {
		case !p.indirect[flow.PlaceOf(p.Fset, f.decl.Pos())]:
		case f.whyInPlace != "":
			p.note(f.decl.Name.Pos(), f.whyInPlace)
		case f.decl.Recv == nil && p.isPure(f.decl):
			p.pure[f.decl] = true
		default:
			f.dual = true
			if p.unmarked[name] {
				p.note(f.decl.Name.Pos(), "is a method of a struct without a name, or with a local one, by an embedded pointer")
			}
			p.marked[f.Name()] = p.marked[f.Name()] || f.decl.Recv != nil
			p.clone(f)
		}
	}
	for _, f := range p.Files() {
		ast.Inspect(f.Syntax, func(n ast.Node) bool {
			lit, ok := n.(*ast.FuncLit)
			switch {
			case !ok || !p.indirect[flow.PlaceOf(p.Fset, lit.Pos())]:
			case p.isPure(lit):
				p.pure[lit] = true
			default:
				if reason, at := p.inPlace(f, region{lit}); reason != "" {
					p.note(at, reason)
					break
				}
				p.dual[lit] = true
				p.add(region{lit})
			}
			return true
		})
	}
}

func (p *program) add(r region) {
	if !p.planned[r.root] {
		p.planned[r.root] = true
		p.queue = append(p.queue, r)
	}
}

func (p *program) clone(f *function) {
	if !f.cloned {
		f.cloned = true
		p.add(region{f.decl})
	}
}

// planRegion looks at what a region calls, and notes what it cannot undo.
func (p *program) planRegion(r region) {
	f := p.FileOf(r.root)
	body := bodyOf(r.root)
	if body == nil {
		return
	}
	if reason, at := p.inPlace(f, r); reason != "" {
		p.note(at, reason)
		return
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			if !p.immediate(n) {
				return false
			}
		case *ast.GoStmt:
			p.noteEffects(f, r, n)
			return false
		case *ast.CallExpr:
			t := p.classify(f.Info, n)
			if t.kind == cloned && !p.closedCall(f, r, n, t.function) {
				p.clone(t.function)
			}
			for _, method := range t.methods {
				p.clone(method)
			}
		}
		if s, ok := n.(ast.Stmt); ok {
			p.noteEffects(f, r, s)
		}
		return true
	})
}

func (p *program) noteEffects(f *source.File, r region, s ast.Stmt) {
	for _, e := range p.irrevocable(f, r, s) {
		p.note(e.at, e.reason)
	}
}

// note notes an effect. Of several at one place the first is told, which is that of the whole:
// of a call, and not of the name of what it calls.
func (p *program) note(at token.Pos, reason string) {
	if _, ok := p.effects[at]; !ok {
		p.effects[at] = Effect{Position: p.Fset.Position(at), Reason: reason}
	}
}

// sortedEffects returns what transactions cannot undo, in the order of the source.
func (p *program) sortedEffects() []Effect {
	all := slices.Collect(maps.Values(p.effects))
	slices.SortFunc(all, func(a, b Effect) int {
		return cmp.Or(cmp.Compare(a.Position.Filename, b.Position.Filename), a.Position.Offset-b.Position.Offset, cmp.Compare(a.Reason, b.Reason))
	})
	return all
}

func bodyOf(n ast.Node) *ast.BlockStmt {
	switch n := n.(type) {
	case *ast.FuncDecl:
		return n.Body
	case *ast.FuncLit:
		return n.Body
	}
	panic(fmt.Sprintf("a region cannot be a %T", n))
}
