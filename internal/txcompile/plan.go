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

	"github.com/cofferdam-go/cofferdam/internal/source"
)

// A program is what is known and decided of the packages that are compiled.
type program struct {
	*source.Program
	functions  map[string]*function // declared ones, by full name
	variables  map[*types.Var]*variable
	immediates map[*ast.FuncLit]bool
	complete   map[*types.Package]bool // packages all of whose files are here
	suffix     string                  // of names that no identifier has

	// What transactions call that is not known before they run.
	methods    map[string]bool    // names of methods that are called through interfaces
	signatures []*types.Signature // of function values
	asValues   map[string]bool    // functions and methods that are used as values, by full name

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
func newProgram(pkgs []*packages.Package) (*program, error) {
	files, err := source.Read(pkgs, nil)
	if err != nil {
		return nil, err
	}
	p := &program{
		Program: files, functions: make(map[string]*function), variables: make(map[*types.Var]*variable), immediates: make(map[*ast.FuncLit]bool),
		complete: make(map[*types.Package]bool), methods: make(map[string]bool), asValues: make(map[string]bool), effects: make(map[token.Pos]Effect),
		planned: make(map[ast.Node]bool),
	}
	for _, f := range p.Files() {
		p.complete[f.Types] = true
		for _, d := range f.Syntax.Decls {
			decl, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			if obj, ok := f.Info.Defs[decl.Name].(*types.Func); ok && decl.Name.Name != "init" && decl.Name.Name != "_" {
				p.functions[obj.FullName()] = &function{Func: obj, decl: decl, file: f}
			}
		}
		p.gatherImmediates(f)
		p.gatherVariables(f)
		p.gatherValues(f)
	}
	p.suffix = p.unusedSuffix("_stm")
	return p, nil
}

// unusedSuffix returns a suffix that no identifier of the program has.
func (p *program) unusedSuffix(word string) string {
	for {
		taken := false
		for _, f := range p.Files() {
			ast.Inspect(f.Syntax, func(n ast.Node) bool {
				id, ok := n.(*ast.Ident)
				taken = taken || ok && strings.HasSuffix(id.Name, word)
				return !taken
			})
		}
		if !taken {
			return word
		}
		word = "_" + word
	}
}

// gatherValues notes which functions a file uses other than by calling them.
func (p *program) gatherValues(f *source.File) {
	called := make(map[ast.Expr]bool)
	ast.Inspect(f.Syntax, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			fun := ast.Unparen(n.Fun)
			switch x := fun.(type) {
			case *ast.IndexExpr:
				fun = x.X
			case *ast.IndexListExpr:
				fun = x.X
			}
			called[fun] = true
		case *ast.SelectorExpr:
			if called[n] {
				called[n.Sel] = true
			}
			p.noteValue(f, n.Sel, called[n])
		case *ast.Ident:
			p.noteValue(f, n, called[n])
		}
		return true
	})
}

func (p *program) noteValue(f *source.File, id *ast.Ident, called bool) {
	if fn, ok := f.Info.Uses[id].(*types.Func); ok && !called {
		p.asValues[fn.Origin().FullName()] = true
	}
}

// plan decides what is cloned: whatever a transaction can come to. Each function is added
// once, so that this ends.
func (p *program) plan() {
	for _, f := range p.Files() {
		ast.Inspect(f.Syntax, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok || !isAtomic(f.Info, call) {
				return true
			}
			p.transactions++
			if lit := atomicLiteral(f.Info, call); lit != nil {
				p.add(region{lit})
			} else {
				p.addSignature(types.NewSignatureType(nil, nil, nil, nil, nil, false))
			}
			return true
		})
	}
	for {
		for len(p.queue) > 0 {
			next := p.queue[0]
			p.queue = p.queue[1:]
			p.planRegion(next)
		}
		if !p.planDual() {
			return
		}
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

func (p *program) addSignature(sig *types.Signature) {
	if !p.mayBeCalled(sig) {
		p.signatures = append(p.signatures, sig)
	}
}

// mayBeCalled reports whether a transaction may call functions of a signature through values.
func (p *program) mayBeCalled(sig *types.Signature) bool {
	return slices.ContainsFunc(p.signatures, func(s *types.Signature) bool { return sameShape(s, sig) })
}

// sameShape reports whether a value of one signature may be one of another: they are
// identical, or a type parameter may make them so.
func sameShape(a, b *types.Signature) bool {
	if a.Params().Len() != b.Params().Len() || a.Results().Len() != b.Results().Len() || a.Variadic() != b.Variadic() {
		return false
	}
	return sameTypes(a.Params(), b.Params()) && sameTypes(a.Results(), b.Results())
}

func sameTypes(a, b *types.Tuple) bool {
	for i := range a.Len() {
		// Types of other packages come from export data, and are equal by their names alone.
		if s, t := a.At(i).Type(), b.At(i).Type(); types.TypeString(s, nil) != types.TypeString(t, nil) && !source.HasTypeParam(s) && !source.HasTypeParam(t) {
			return false
		}
	}
	return true
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
				p.add(region{n})
				return false
			}
		case *ast.GoStmt:
			p.noteEffects(f, r, n)
			return false
		case *ast.CallExpr:
			p.planCall(f, n)
		case *ast.RangeStmt:
			if sig, ok := f.Info.TypeOf(n.X).Underlying().(*types.Signature); ok {
				p.addSignature(sig)
				p.addSignature(sig.Params().At(0).Type().Underlying().(*types.Signature))
			}
		}
		if s, ok := n.(ast.Stmt); ok {
			p.noteEffects(f, r, s)
		}
		return true
	})
}

func (p *program) planCall(f *source.File, call *ast.CallExpr) {
	switch t := p.classify(f.Info, call); t.kind {
	case cloned:
		p.clone(t.function)
	case throughMethod:
		p.methods[t.method.Name()] = true
	case throughValue:
		p.addSignature(t.sig)
	case nested:
		if atomicLiteral(f.Info, call) == nil {
			p.addSignature(types.NewSignatureType(nil, nil, nil, nil, nil, false))
		}
	}
}

func (p *program) noteEffects(f *source.File, r region, s ast.Stmt) {
	for _, e := range p.irrevocable(f, r, s) {
		p.note(e.at, e.reason)
	}
}

func (p *program) note(at token.Pos, reason string) {
	p.effects[at] = Effect{Position: p.Fset.Position(at), Reason: reason}
}

// planDual adds the functions that transactions may call through values and interfaces. It
// reports whether there are new ones.
func (p *program) planDual() (more bool) {
	for _, name := range slices.Sorted(maps.Keys(p.functions)) {
		f := p.functions[name]
		if f.dual || f.decl.Body == nil {
			continue
		}
		sig := f.Signature()
		asMethod := sig.Recv() != nil && p.methods[f.Name()]
		asValue := p.asValues[name] && p.mayBeCalled(sig)
		if asMethod || asValue {
			f.dual, more = true, true
			p.clone(f)
		}
	}
	for _, f := range p.Files() {
		ast.Inspect(f.Syntax, func(n ast.Node) bool {
			if lit, ok := n.(*ast.FuncLit); ok && !p.immediate(lit) && !p.planned[lit] && p.mayBeCalled(f.Info.TypeOf(lit).(*types.Signature)) {
				p.add(region{lit})
				more = true
			}
			return true
		})
	}
	return more
}

// Effects returns what transactions cannot undo, in the order of the source.
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
