package protect

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// stays are variables, fields and struct types of which data cannot be put on pages,
// with the reason: somebody uses them in a way that would not find it there.
type stays struct {
	fset    *token.FileSet
	data    map[key]string  // variables and fields
	of      map[key]string  // types, by their names
	unnamed map[string]bool // structs that are written out: a named one of the same kind is assignable
}

func findStays(pkgs []*packages.Package) *stays {
	s := &stays{data: make(map[key]string), of: make(map[key]string), unnamed: make(map[string]bool)}
	for _, p := range pkgs {
		s.fset = p.Fset
		v := &staying{stays: s, pkg: p, info: p.TypesInfo}
		whole := v.wholePackage()
		for _, f := range p.Syntax {
			v.file = whole
			if name := p.Fset.File(f.FileStart).Name(); whole == "" && (usesC(f) || !slices.Contains(p.GoFiles, name)) {
				v.file = base(name) + " is not rewritten"
			}
			v.linknames(f)
			v.inspect(f)
		}
		v.instances()
	}
	return s
}

func (s *stays) keep(v *types.Var, why string) {
	if k := keyOf(s.fset, v); s.data[k] == "" {
		s.data[k] = why
	}
}

// keepType keeps the structs that values of a type have in them.
func (s *stays) keepType(t types.Type, why string) {
	for _, n := range structsIn(t) {
		if k := typeKey(s.fset, n); s.of[k] == "" {
			s.of[k] = why
		}
	}
}

func typeKey(fset *token.FileSet, n *types.Named) key {
	o := n.Origin().Obj()
	at := fset.PositionFor(o.Pos(), false)
	return key(at.Filename + ":" + o.Name())
}

// structsIn returns the named structs that values of a type consist of.
func structsIn(t types.Type) []*types.Named {
	if t == nil {
		return nil
	}
	var all []*types.Named
	if n, ok := types.Unalias(t).(*types.Named); ok {
		if _, ok := n.Underlying().(*types.Struct); ok {
			all = append(all, n)
		}
	}
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for f := range u.Fields() {
			all = append(all, structsIn(f.Type())...)
		}
	case *types.Array:
		all = append(all, structsIn(u.Elem())...)
	}
	return all
}

// staying looks at one package.
type staying struct {
	*stays
	pkg  *packages.Package
	info *types.Info
	file string // why what the file uses has to stay
	decl string // and the function

	inside bool // of a function
}

// wholePackage returns why all that a package uses has to stay.
func (s *staying) wholePackage() string {
	for _, f := range s.pkg.OtherFiles {
		if strings.HasSuffix(f, ".s") {
			return "the package has assembly"
		}
	}
	for _, f := range s.pkg.Syntax {
		if usesC(f) || strings.HasSuffix(s.pkg.Fset.File(f.FileStart).Name(), "_cgo_gotypes.go") {
			return "the package uses cgo"
		}
	}
	return ""
}

// linknames keeps the variables that other packages may know by linkname.
func (s *staying) linknames(f *ast.File) {
	for _, group := range f.Comments {
		for _, c := range group.List {
			if words := strings.Fields(c.Text); len(words) > 1 && words[0] == "//go:linkname" {
				if v, ok := s.pkg.Types.Scope().Lookup(words[1]).(*types.Var); ok {
					s.keep(v, "it has a linkname")
				}
			}
		}
	}
}

func (s *staying) inspect(f *ast.File) {
	var parents []ast.Node
	ast.Inspect(f, func(n ast.Node) bool {
		if len(parents) == 1 {
			s.decl = ""
			if d, ok := n.(*ast.FuncDecl); ok && directive(d.Doc) != "" {
				s.decl = "a function that uses it cannot be rewritten"
			}
		}
		if n == nil {
			parents = parents[:len(parents)-1]
			return true
		}
		var parent ast.Node
		if len(parents) > 0 {
			parent = parents[len(parents)-1]
		}
		s.inside = slices.ContainsFunc(parents, isFunction)
		s.node(n, parent)
		if e, ok := n.(ast.Expr); ok {
			s.copied(e, parent)
		}
		parents = append(parents, n)
		return true
	})
}

func (s *staying) node(n, parent ast.Node) {
	switch n := n.(type) {
	case *ast.Ident:
		if v, ok := s.info.Uses[n].(*types.Var); ok && isGlobal(v) {
			s.use(v)
			if _, ok := v.Type().(*types.Struct); ok && !selects(parent, n) {
				s.keepFields(v, "its struct is used as a whole")
			}
		}
	case *ast.SelectorExpr:
		if sel := s.info.Selections[n]; sel != nil && sel.Kind() == types.FieldVal {
			f := sel.Obj().(*types.Var).Origin()
			s.use(f)
			if !s.addressable(n.X) && !sel.Indirect() {
				s.keep(f, "it is used in a value that has no address")
			}
		}
	case *ast.CompositeLit:
		s.literal(n)
	case *ast.CallExpr:
		s.call(n)
	case *ast.StructType:
		if spec, ok := parent.(*ast.TypeSpec); !ok || spec.Assign.IsValid() {
			s.unnamed[typeName(s.info.TypeOf(n))] = true
		}
	case *ast.TypeSpec:
		if t := s.info.TypeOf(n.Type); t != nil {
			if _, ok := types.Unalias(t).(*types.Named); ok && !n.Assign.IsValid() {
				s.keepType(t, "another type is declared like it")
			}
		}
	}
}

// selects reports whether a node selects a part of an expression.
func selects(n ast.Node, e ast.Expr) bool {
	s, ok := n.(*ast.SelectorExpr)
	return ok && s.X == e
}

// keepFields keeps the fields of a variable that is a struct without a name.
func (s *staying) keepFields(v *types.Var, why string) {
	for f := range v.Type().(*types.Struct).Fields() {
		s.keep(f, why)
	}
}

// use keeps what is used where nothing is rewritten.
func (s *staying) use(v *types.Var) {
	switch {
	case s.file != "":
		s.keep(v, s.file)
	case s.decl != "":
		s.keep(v, s.decl)
	case v.Pkg() != nil && v.Pkg().Path() != s.pkg.PkgPath:
		s.keep(v, "package "+s.pkg.Name+" uses it")
	}
}

// addressable reports whether an expression denotes memory, or is a pointer.
func (s *staying) addressable(e ast.Expr) bool {
	if t := s.info.TypeOf(e); t != nil && isPointer(t) {
		return true
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		_, ok := s.info.ObjectOf(e).(*types.Var)
		return ok
	case *ast.SelectorExpr:
		sel := s.info.Selections[e]
		return sel == nil || sel.Kind() == types.FieldVal && (sel.Indirect() || s.addressable(e.X))
	case *ast.IndexExpr:
		switch s.info.TypeOf(e.X).Underlying().(type) {
		case *types.Slice, *types.Pointer:
			return true
		case *types.Array:
			return s.addressable(e.X)
		}
	case *ast.StarExpr:
		return true
	}
	return false
}

func isFunction(n ast.Node) bool {
	switch n.(type) {
	case *ast.FuncDecl, *ast.FuncLit:
		return true
	}
	return false
}

// literal keeps the fields that a literal sets, unless it is evaluated when a function
// runs: the first values of variables may have to be there before any code is.
func (s *staying) literal(l *ast.CompositeLit) {
	t := s.info.TypeOf(l)
	if t == nil {
		return
	}
	if _, ok := deref(t).Underlying().(*types.Struct); !ok || len(l.Elts) == 0 {
		return
	}
	for _, e := range l.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			s.keepType(deref(t), "a literal of its struct has no names")
			return
		}
		if id, ok := kv.Key.(*ast.Ident); ok {
			f, ok := s.info.ObjectOf(id).(*types.Var)
			switch {
			case !ok:
			case s.inside:
				s.use(f)
			default:
				s.keep(f, "the first value of a variable sets it")
			}
		}
	}
}

// call keeps what is converted, measured, or moved by built-in functions.
func (s *staying) call(c *ast.CallExpr) {
	if tv := s.info.Types[ast.Unparen(c.Fun)]; tv.IsType() && len(c.Args) == 1 {
		to, from := deref(tv.Type), s.info.TypeOf(c.Args[0])
		if from != nil && !types.Identical(to, deref(from)) && !types.IsInterface(to) {
			s.keepType(to, "its struct is converted")
			s.keepType(deref(from), "its struct is converted")
		}
		return
	}
	switch builtinOf(s.info, ast.Unparen(c.Fun)) {
	case "len", "cap":
		if sel, ok := ast.Unparen(c.Args[0]).(*ast.SelectorExpr); ok && s.info.Types[c].Value != nil {
			if f, ok := s.info.ObjectOf(sel.Sel).(*types.Var); ok && f.IsField() {
				s.keep(f, "its length is a constant")
			}
		}
	case "append", "copy", "clear":
		for _, a := range c.Args {
			if sl, ok := s.info.TypeOf(a).Underlying().(*types.Slice); ok {
				s.keepType(sl.Elem(), "elements of a slice are moved")
			}
		}
	case "Sizeof", "Alignof", "Offsetof", "Slice", "SliceData", "Add":
		for _, a := range c.Args {
			s.keepType(deref(s.info.TypeOf(a)), "package unsafe is used with its struct")
			if sel, ok := ast.Unparen(a).(*ast.SelectorExpr); ok {
				s.keepType(deref(s.info.TypeOf(sel.X)), "package unsafe is used with its struct")
			}
		}
	}
}

// copied keeps the structs in a value that is copied, or assigned to as a whole. A
// value that is only being made is nowhere else.
func (s *staying) copied(e ast.Expr, parent ast.Node) {
	switch x := e.(type) {
	case *ast.CompositeLit, *ast.CallExpr, *ast.ParenExpr:
		return
	case *ast.Ident:
		r, ranges := parent.(*ast.RangeStmt)
		if s.info.Defs[x] != nil && !(ranges && (r.Key == e || r.Value == e)) {
			return
		}
	}
	switch p := parent.(type) {
	case *ast.RangeStmt:
		if p.X == e && p.Value == nil {
			return
		}
	case *ast.CallExpr:
		if b := builtinOf(s.info, ast.Unparen(p.Fun)); b == "len" || b == "cap" {
			return
		}
	}
	if wholeUse(s.info, e, parent) {
		s.keepType(s.info.TypeOf(e), "its struct is copied or assigned")
	}
}

// Packages of the standard library whose types and functions do not look into what they
// have as type arguments. Those of handing hold pointers to it, and copy nothing.
var (
	incurious = []string{"iter", "maps", "slices"}
	handing   = []string{"sync", "sync/atomic"}
)

// instances keeps the structs that are type arguments: code for any type might copy
// them, or look into them.
func (s *staying) instances() {
	for id, inst := range s.info.Instances {
		path := ""
		if o := s.info.ObjectOf(id); o != nil && o.Pkg() != nil {
			path = o.Pkg().Path()
		}
		for t := range inst.TypeArgs.Types() {
			switch {
			case slices.Contains(handing, path):
			case slices.Contains(incurious, path):
				s.keepType(t, "its struct is a type argument")
			default:
				s.keepType(deref(t), "its struct is a type argument")
			}
		}
	}
}
