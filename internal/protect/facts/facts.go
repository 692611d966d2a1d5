package facts

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/locks"
	"github.com/cofferdam-go/cofferdam/internal/protect/alias"
)

// Facts are what is known of a program.
type Facts struct {
	Fset *token.FileSet

	inspectors   map[*packages.Package]*inspector.Inspector
	lockPrograms map[*packages.Package]*locks.Program // made when first asked for
	keys         map[*types.Var]Key

	code         *code
	bodies       map[*ast.BlockStmt]*Statement
	effects      map[FuncKey]*Effect
	functions    []FuncKey // those with effects, as they are declared
	borrowers    map[parameter]*borrower
	lent         map[parameter]map[Key]bool // what the address in a parameter may lead to, of what is hidden elsewhere
	led          map[FuncKey]map[Key]bool   // what pointers lead to while a function runs, of what is hidden elsewhere
	exposures    map[Key]Exposure
	exposed      map[string][]Key // variables and fields that are, by the names of their types and of those of parts
	forged       map[string]bool  // types that pointers are converted from or to
	assigned     map[Key]bool
	aliasedMaps  map[Key]bool
	slices       *alias.Slices
	elementNames map[Key][]ElementName // made when first asked for
	declarations map[Key]Declaration
	pins         *pins
	words        *words
	dispatch     dispatch

	declarationsIn map[*packages.Package]map[Key]Declaration
	uses           map[*packages.Package]map[Key][]ast.Node
}

// Gather collects the facts of packages that load.Packages returned. All of them share a
// file set, and prog is their SSA form.
func Gather(pkgs []*packages.Package, prog *ssa.Program) *Facts {
	f := &Facts{
		Fset: prog.Fset, inspectors: make(map[*packages.Package]*inspector.Inspector),
		lockPrograms: make(map[*packages.Package]*locks.Program), keys: make(map[*types.Var]Key),
		code: newCode(), bodies: make(map[*ast.BlockStmt]*Statement),
		effects: make(map[FuncKey]*Effect), borrowers: make(map[parameter]*borrower), lent: make(map[parameter]map[Key]bool), led: make(map[FuncKey]map[Key]bool), exposures: make(map[Key]Exposure), exposed: make(map[string][]Key), forged: make(map[string]bool),
		assigned: make(map[Key]bool), aliasedMaps: make(map[Key]bool), declarations: make(map[Key]Declaration),
		declarationsIn: make(map[*packages.Package]map[Key]Declaration), dispatch: dispatch{methods: make(map[string][]FuncKey)}, uses: make(map[*packages.Package]map[Key][]ast.Node),
	}
	f.words = newWords()
	f.pins = &pins{facts: f, variables: make(map[Key]string), moved: make(map[Key]string), types: make(map[Key]string), linked: make(map[Key]bool), unnamed: make(map[string]bool)}
	for _, p := range pkgs {
		f.inspectors[p] = inspector.New(p.Syntax)
	}
	for _, p := range pkgs {
		f.declarationsIn[p] = make(map[Key]Declaration)
		f.uses[p] = make(map[Key][]ast.Node)
		f.code.index(p, prog)
		newObserver(f, p).observePackage()
	}
	f.observeCode()
	f.pins.pinReflected(prog)
	return f
}

// observeCode goes through the instructions of all functions, and of the literals in them.
// What a function is given as an argument has to be known before what it does.
func (f *Facts) observeCode() {
	for _, fn := range f.code.order {
		if k, ok := declaredAs(fn); ok {
			f.observeParameters(k, fn)
		}
	}
	f.propagateBorrowing()
	for _, fn := range f.code.order {
		for _, b := range fn.Blocks {
			for _, i := range b.Instrs {
				f.observeExposure(i)
				f.observeMap(i)
				f.pins.pinLoaded(f.code, i)
				f.observeValue(i)
			}
		}
	}
	f.propagateLending()
	f.findElements()
	for _, fn := range f.code.order {
		k, ok := declaredAs(fn)
		if !ok {
			continue
		}
		if f.effects[k] == nil {
			f.effects[k] = new(Effect)
			f.functions = append(f.functions, k)
		}
		// A package and its variant with tests have the same functions.
		s := new(Statement)
		f.addFunction(s, fn)
		f.effects[k].add(&s.own)
	}
	f.propagateEffects()
}

// declaredAs returns the key of a function, if it is no literal.
func declaredAs(fn *ssa.Function) (FuncKey, bool) {
	o, ok := fn.Object().(*types.Func)
	if !ok || o.Name() == "_" || len(fn.Blocks) == 0 {
		return "", false
	}
	return FuncKeyOf(o), true
}

// An observer goes through one package and notes what each node shows.
type observer struct {
	*Facts
	pkg  *packages.Package
	info *types.Info
	uses map[Key][]ast.Node

	// notHere is why no use of a variable can be rewritten in the declaration that is
	// being looked at, or "".
	notHere string
	// within is the function that is being looked at.
	within FuncKey
}

func newObserver(f *Facts, p *packages.Package) *observer {
	return &observer{Facts: f, pkg: p, info: p.TypesInfo, uses: f.uses[p]}
}

func (o *observer) observePackage() {
	whole := o.packageNotRewritten()
	for file := range o.inspectors[o.pkg].Root().Children() {
		syntax := file.Node().(*ast.File)
		notHere := whole
		if whole == "" && !Rewritable(o.pkg, syntax) {
			notHere = baseName(o.Fset.File(syntax.FileStart).Name()) + " is not rewritten"
		}
		o.pinLinknames(syntax)
		o.observeDeclarations(syntax)
		for decl := range file.Children() {
			d, ok := decl.Node().(*ast.FuncDecl)
			o.notHere, o.within = notHere, functionOf(o.info, o.pkg.Types, d)
			if ok && notHere == "" && Directive(d.Doc) != "" {
				o.notHere = "a function that uses it cannot be rewritten"
			}
			o.observe(decl)
		}
	}
	o.pinTypeArguments()
}

// observe goes through a node and those below it.
func (o *observer) observe(root inspector.Cursor) {
	root.Inspect(nil, func(c inspector.Cursor) bool {
		o.observeAssignment(c)
		o.observePins(c)
		o.observeNamedAddress(c)
		o.observeUse(c)
		return true
	})
}

// observeUse notes the variables and fields that a node names. Of the variables of functions, those
// that a function literal uses are enough: a lock guards no others.
func (o *observer) observeUse(c inspector.Cursor) {
	note := func(v *types.Var) {
		k := o.KeyOf(v)
		o.uses[k] = append(o.uses[k], c.Node())
		if _, sets := c.Node().(*ast.KeyValueExpr); !sets && (v.IsField() || IsGlobal(v)) {
			o.observeWord(c, v)
		}
	}
	switch n := c.Node().(type) {
	case *ast.KeyValueExpr:
		if id, ok := n.Key.(*ast.Ident); ok {
			if v, ok := o.info.Uses[id].(*types.Var); ok && v.IsField() {
				note(v)
			}
		}
	case *ast.Ident:
		if v, ok := o.info.Uses[n].(*types.Var); ok && (IsGlobal(v) || o.code.captured[v]) {
			note(v)
		}
	case *ast.SelectorExpr:
		if s := o.info.Selections[n]; s != nil && s.Kind() == types.FieldVal {
			note(s.Obj().(*types.Var))
		}
	}
}

// Uses returns where a package uses a variable of a package, a field, or a variable that a function
// literal has from the function around it, in the order of the source: an identifier, a selector, or the element of a literal that sets the field.
func (f *Facts) Uses(p *packages.Package, k Key) []ast.Node { return f.uses[p][k] }

// observeAssignment notes the variables that are assigned to other than where they are
// declared.
func (o *observer) observeAssignment(c inspector.Cursor) {
	switch n := c.Node().(type) {
	case *ast.AssignStmt:
		for _, l := range n.Lhs {
			o.assign(l)
		}
	case *ast.IncDecStmt:
		o.assign(n.X)
	case *ast.RangeStmt:
		if n.Tok == token.ASSIGN {
			o.assign(n.Key)
			o.assign(n.Value)
		}
	}
}

func (o *observer) assign(e ast.Expr) {
	var id *ast.Ident
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		id = e
	case *ast.SelectorExpr:
		if o.info.Selections[e] == nil {
			id = e.Sel // of another package
		}
	}
	if id == nil {
		return
	}
	if v, ok := o.info.Uses[id].(*types.Var); ok {
		o.assigned[o.KeyOf(v)] = true
	}
}

// Stable reports whether the object that a variable stands for stays the same: the
// variable is no pointer, or is only assigned to where it is declared.
//
//	x := find(k)
//	x.mu.Lock()
//	x = x.next      the fields of x are those of another object from here on
func (f *Facts) Stable(v *types.Var) bool {
	if !IsPointer(v.Type()) {
		return true
	}
	return f.Exposure(v) == Hidden && !f.assigned[f.KeyOf(v)]
}

// Panics reports whether a statement is a call of panic: nothing may follow it where a
// function has to end.
func Panics(info *types.Info, s ast.Stmt) bool {
	e, ok := s.(*ast.ExprStmt)
	if !ok {
		return false
	}
	c, ok := ast.Unparen(e.X).(*ast.CallExpr)
	return ok && BuiltinOf(info, ast.Unparen(c.Fun)) == "panic"
}

// Rewritable reports whether another text can be given to the compiler for a file. The go
// command makes another file of one that uses cgo.
func Rewritable(p *packages.Package, f *ast.File) bool {
	return slices.Contains(p.GoFiles, p.Fset.File(f.FileStart).Name()) && !usesC(f)
}

func usesC(f *ast.File) bool {
	return slices.ContainsFunc(f.Imports, func(i *ast.ImportSpec) bool { return i.Path.Value == `"C"` })
}

// Directive returns why a function with compiler directives is left alone, "" for others.
func Directive(doc *ast.CommentGroup) string {
	if doc == nil {
		return ""
	}
	for _, c := range doc.List {
		for _, d := range []string{"//go:nosplit", "//go:norace", "//go:nocheckptr", "//go:systemstack", "//go:linkname"} {
			if strings.HasPrefix(c.Text, d) {
				return "the function has " + d
			}
		}
	}
	return ""
}

func baseName(file string) string { return file[strings.LastIndexByte(file, '/')+1:] }
