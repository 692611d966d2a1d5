package locks

import (
	"go/ast"
	"go/token"
	"go/types"
)

// A Unit is the typed syntax of one package.
type Unit struct {
	Info  *types.Info
	Files []*ast.File
}

// A Program is typed syntax whose locks can be asked about. What is not in it is taken to
// hold no lock and to leave those that are held alone.
type Program struct {
	Places    *Places
	functions map[ast.Node]*function // by *ast.FuncDecl and *ast.FuncLit
	declared  map[*types.Func]*function
	methods   map[string][]*function
	// implementing are the methods that a method of an interface may be.
	implementing map[*types.Func][]*function
	order        []*function // as in the source
	variables    map[*types.Var]*variable
	owners       map[*types.Var]string // the named type that declares a field
	interfaces   map[*types.TypeName]bool
	aliases      *aliases
	takes        map[*function]map[*types.Var]bool
	flows        map[*function]*Flow
	values       functionValues
	// resolving are the variables whose values are being looked at, so that one that is
	// made of itself ends.
	resolving map[*types.Var]bool
}

// A function is one with a body: declared, or a literal.
type function struct {
	node   ast.Node // *ast.FuncDecl or *ast.FuncLit
	object *types.Func
	body   *ast.BlockStmt
	info   *types.Info
	outer  *function // of a literal
	// literals are all literals in a function, if it is none itself, the outer ones first.
	literals []*function
	params   []*types.Var // the receiver first
	shape    *shape
}

// name is the function's name, a literal's that of the function around it.
func (f *function) name() string {
	f = outermost(f)
	if f.object == nil {
		return "a function literal"
	}
	return f.object.Name()
}

// A variable is what is known of a variable that is no field.
type variable struct {
	assignments int
	value       ast.Expr // of one of the assignments, nil if it is not an expression by itself
	element     bool     // the value is a container of which it is an element
	info        *types.Info
	addressed   bool
	parameter   bool
}

// NewProgram prepares for questions about the packages, which must have been parsed into
// one token.FileSet.
func NewProgram(units ...Unit) *Program {
	p := &Program{
		Places:       NewPlaces(),
		functions:    make(map[ast.Node]*function),
		declared:     make(map[*types.Func]*function),
		methods:      make(map[string][]*function),
		implementing: make(map[*types.Func][]*function),
		variables:    make(map[*types.Var]*variable),
		flows:        make(map[*function]*Flow),
		owners:       make(map[*types.Var]string),
		interfaces:   make(map[*types.TypeName]bool),
		resolving:    make(map[*types.Var]bool),
	}
	p.aliases = newAliases(p.Places)
	for _, u := range units {
		for _, f := range u.Files {
			p.readFile(u.Info, f)
		}
	}
	for _, u := range units {
		for _, f := range u.Files {
			p.noteAliases(u.Info, f)
		}
	}
	p.aliases.finish()
	p.takes = p.findTakes()
	return p
}

func (p *Program) readFile(info *types.Info, file *ast.File) {
	ast.PreorderStack(file, nil, func(n ast.Node, stack []ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			o, ok := info.Defs[n.Name].(*types.Func)
			if !ok || n.Body == nil {
				return false
			}
			f := p.addFunction(&function{node: n, object: o, body: n.Body, info: info}, n.Recv, n.Type.Params)
			p.declared[o] = f
			if n.Recv != nil {
				p.methods[o.Name()] = append(p.methods[o.Name()], f)
			}
		case *ast.FuncLit:
			var outer *function
			for _, around := range stack {
				if f := p.functions[around]; f != nil {
					outer = f
				}
			}
			p.addFunction(&function{node: n, body: n.Body, info: info, outer: outer}, n.Type.Params)
			p.noteFunctionValue(info, n, stack)
		case *ast.Ident:
			p.noteFunctionValue(info, n, stack)
		case *ast.TypeSpec:
			if o, ok := info.Defs[n.Name].(*types.TypeName); ok {
				p.noteOwner(o)
				p.interfaces[o] = types.IsInterface(o.Type())
			}
		case *ast.AssignStmt:
			for i, lhs := range n.Lhs {
				plain := n.Tok == token.ASSIGN || n.Tok == token.DEFINE
				switch {
				case plain && (len(n.Lhs) == len(n.Rhs) || i == 0 && isCommaOk(n.Rhs[0])):
					p.noteAssignment(info, lhs, n.Rhs[i])
				default:
					p.noteAssignment(info, lhs, nil)
				}
			}
		case *ast.IncDecStmt:
			p.noteAssignment(info, n.X, nil)
		case *ast.ValueSpec:
			for i, name := range n.Names {
				if len(n.Values) == len(n.Names) {
					p.noteAssignment(info, name, n.Values[i])
				} else if len(n.Values) > 0 {
					p.noteAssignment(info, name, nil)
				}
			}
		case *ast.RangeStmt:
			p.noteAssignment(info, n.Key, nil)
			if v := p.noteAssignment(info, n.Value, n.X); v != nil {
				v.element = true
			}
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				if v := p.variableOf(info, n.X); v != nil {
					v.addressed = true
				}
			}
		}
		return true
	})
}

// isCommaOk reports whether an expression that gives two values gives itself and whether
// there is one: an element of a map, a type assertion.
func isCommaOk(e ast.Expr) bool {
	switch ast.Unparen(e).(type) {
	case *ast.IndexExpr, *ast.TypeAssertExpr:
		return true
	}
	return false
}

func (p *Program) noteOwner(o *types.TypeName) {
	if s, ok := o.Type().Underlying().(*types.Struct); ok {
		for f := range s.Fields() {
			if c := p.Places.Canonical(f); p.owners[c] == "" {
				p.owners[c] = o.Name()
			}
		}
	}
}

// ClassName names a class of locks with its package: example.com/m.T.mu. The name is the
// same in another version of the program, in which the class is another object.
func (p *Program) ClassName(class *types.Var) string {
	name := class.Name()
	if owner := p.owners[class]; owner != "" {
		name = owner + "." + name
	}
	if class.Pkg() == nil {
		return name
	}
	return class.Pkg().Path() + "." + name
}

func (p *Program) addFunction(f *function, lists ...*ast.FieldList) *function {
	for _, list := range lists {
		if list == nil {
			continue
		}
		for _, field := range list.List {
			if len(field.Names) == 0 {
				f.params = append(f.params, nil)
			}
			for _, name := range field.Names {
				v, _ := f.info.Defs[name].(*types.Var)
				f.params = append(f.params, v)
				if v != nil {
					p.known(v, f.info).parameter = true
				}
			}
		}
	}
	p.functions[f.node] = f
	if f.outer != nil {
		around := outermost(f)
		around.literals = append(around.literals, f)
	}
	p.order = append(p.order, f)
	return f
}

// noteAssignment notes that a variable is given a value, nil for one that is not known.
func (p *Program) noteAssignment(info *types.Info, lhs, value ast.Expr) *variable {
	if lhs == nil {
		return nil
	}
	v := p.variableOf(info, lhs)
	if v == nil {
		return nil
	}
	v.assignments++
	v.value = value
	return v
}

// variableOf returns what is known of the variable that an expression is; nil if it is
// none, or a field.
func (p *Program) variableOf(info *types.Info, e ast.Expr) *variable {
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok {
		return nil
	}
	v, ok := info.ObjectOf(id).(*types.Var)
	if !ok || v.IsField() {
		return nil
	}
	return p.known(v, info)
}

func (p *Program) known(v *types.Var, info *types.Info) *variable {
	k := p.variables[v]
	if k == nil {
		k = &variable{info: info}
		p.variables[v] = k
	}
	return k
}

// onlyValue returns the one expression that a variable is ever given; nil if there are
// several, or it may be given others through its address or by a caller.
func (p *Program) onlyValue(v *types.Var) *variable {
	k := p.variables[v]
	if k == nil || k.parameter || k.addressed || k.assignments != 1 || k.value == nil || isGlobal(v) {
		return nil
	}
	return k
}

// constant reports whether a variable has one value for all of its life.
func (p *Program) constant(v *types.Var) bool {
	k := p.variables[v]
	switch {
	case k == nil:
		return true
	case k.addressed:
		return false
	case k.parameter:
		return k.assignments == 0
	}
	return k.assignments <= 1
}

func isGlobal(v *types.Var) bool {
	return !v.IsField() && v.Pkg() != nil && v.Parent() == v.Pkg().Scope()
}

// noteAliases notes the fields that are given addresses of locks.
func (p *Program) noteAliases(info *types.Info, file *ast.File) {
	note := func(at *Place, value ast.Expr) {
		value = ast.Unparen(value)
		t := info.TypeOf(value)
		if at == nil || t == nil {
			return
		}
		if IsLock(t) && IsReference(t) {
			lock, _ := p.Place(info, value)
			p.aliases.note(at, lock)
			return
		}
		if c, ok := value.(*ast.CallExpr); ok && len(c.Args) == 1 {
			if fn := calleeOf(info, c); fn != nil && fn.FullName() == "sync.NewCond" {
				lock, _ := p.Place(info, c.Args[0])
				p.aliases.note(p.Places.condLocker(at, t), lock)
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		a, ok := n.(*ast.AssignStmt)
		if !ok || len(a.Lhs) != len(a.Rhs) {
			return true
		}
		for i, lhs := range a.Lhs {
			if at, _ := p.Place(info, lhs); at != nil && at.parent != nil {
				note(at, a.Rhs[i])
			}
		}
		return true
	})
}
