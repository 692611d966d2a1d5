package facts

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ast/edge"
	"golang.org/x/tools/go/ast/inspector"
	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/protect/alias"
	"github.com/cofferdam-go/cofferdam/internal/protect/reflected"
)

// pins are variables, fields and struct types of which data cannot be put on pages,
// with the reason: the program uses them in a way that would not find the data there.
// The first reason that is found counts.
type pins struct {
	facts     *Facts
	variables map[Key]string  // and fields
	moved     map[Key]string  // those that can stay where they are, and be used by calls
	types     map[Key]string  // by their names
	linked    map[Key]bool    // variables with a linkname
	unnamed   map[string]bool // structs that are written out: a named one of the same kind is assignable
}

// Pinned returns why a variable or field must stay where it is, "" if there is no reason.
func (f *Facts) Pinned(v *types.Var) string { return f.pins.variables[f.KeyOf(v)] }

// Immovable returns why a variable or field cannot be anywhere else, though its uses may be written in another way; ""
// if there is no reason.
func (f *Facts) Immovable(v *types.Var) string { return f.pins.moved[f.KeyOf(v)] }

// PinnedType returns why the fields of a named struct must stay in it, "" if there is no
// reason.
func (f *Facts) PinnedType(n *types.TypeName) string {
	if why := f.pins.types[f.typeKey(n)]; why != "" {
		return why
	}
	if f.pins.unnamed[TypeName(n.Type().Underlying())] {
		return "another struct is written like its own"
	}
	return ""
}

func (s *pins) pin(v *types.Var, why string) {
	if k := s.facts.KeyOf(v); s.variables[k] == "" {
		s.variables[k] = why
	}
}

func (s *pins) pinPlace(v *types.Var, why string) {
	if k := s.facts.KeyOf(v); s.moved[k] == "" {
		s.moved[k] = why
	}
}

// pinType pins the structs that values of a type have in them.
func (s *pins) pinType(t types.Type, why string) {
	for _, n := range structsIn(t) {
		if k := s.facts.typeKey(n.Origin().Obj()); s.types[k] == "" {
			s.types[k] = why
		}
	}
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

// packageNotRewritten returns why all that a package uses has to stay.
func (o *observer) packageNotRewritten() string {
	for _, f := range o.pkg.OtherFiles {
		if strings.HasSuffix(f, ".s") {
			return "the package has assembly"
		}
	}
	for _, f := range o.pkg.Syntax {
		if usesC(f) || strings.HasSuffix(o.Fset.File(f.FileStart).Name(), "_cgo_gotypes.go") {
			return "the package uses cgo"
		}
	}
	return ""
}

// pinLinknames pins the variables that a linkname makes one with others. Which they are shows in no name, so they have no copies
// either: see Linked.
//
//	//go:linkname hits example.com/app/stat.hits
//	var hits int
func (o *observer) pinLinknames(f *ast.File) {
	for _, group := range f.Comments {
		for _, c := range group.List {
			words := strings.Fields(c.Text)
			if len(words) < 2 || words[0] != "//go:linkname" {
				continue
			}
			o.pinLinked(o.pkg.Types, words[1])
			if len(words) < 3 {
				continue
			}
			dot := strings.LastIndexByte(words[2], '.')
			for p := range o.inspectors {
				if dot >= 0 && p.PkgPath == words[2][:dot] {
					o.pinLinked(p.Types, words[2][dot+1:])
				}
			}
		}
	}
}

func (o *observer) pinLinked(p *types.Package, name string) {
	if v, ok := p.Scope().Lookup(name).(*types.Var); ok {
		o.pins.pin(v, hasLinkname)
		o.pins.linked[o.KeyOf(v)] = true
	}
}

const hasLinkname = "it has a linkname"

// Linked returns why other variables may be the same memory as a package's variable, "" if none is.
func (f *Facts) Linked(v *types.Var) string {
	if f.pins.linked[f.KeyOf(v)] {
		return hasLinkname
	}
	return ""
}

func (o *observer) observePins(c inspector.Cursor) {
	switch n := c.Node().(type) {
	case *ast.Ident:
		o.pinIdent(c, n)
	case *ast.SelectorExpr:
		if sel := o.info.Selections[n]; sel != nil && sel.Kind() == types.FieldVal {
			f := sel.Obj().(*types.Var).Origin()
			o.pinUse(f)
			if !o.addressable(n.X) && !sel.Indirect() {
				o.pins.pin(f, "it is used in a value that has no address")
			}
		}
	case *ast.CompositeLit:
		o.pinLiteral(c, n)
	case *ast.CallExpr:
		o.pinArguments(n)
	case *ast.StructType:
		if spec, ok := c.Parent().Node().(*ast.TypeSpec); !ok || spec.Assign.IsValid() {
			o.pins.unnamed[TypeName(o.info.TypeOf(n))] = true
		}
	case *ast.TypeSpec:
		if t := o.info.TypeOf(n.Type); t != nil {
			if _, ok := types.Unalias(t).(*types.Named); ok && !n.Assign.IsValid() {
				o.pins.pinType(t, "another type is declared like it")
			}
		}
	}
	if e, ok := c.Node().(ast.Expr); ok {
		o.pinCopied(c, e)
	}
}

// pinIdent pins a package's variable where it cannot be rewritten, and the fields of one
// that is a struct without a name, unless the use selects a field.
func (o *observer) pinIdent(c inspector.Cursor, n *ast.Ident) {
	v, ok := o.info.Uses[n].(*types.Var)
	if !ok || !IsGlobal(v) {
		return
	}
	o.pinUse(v)
	if s, ok := v.Type().(*types.Struct); ok && c.ParentEdgeKind() != edge.SelectorExpr_X {
		for f := range s.Fields() {
			o.pins.pin(f, "its struct is used as a whole")
		}
	}
}

// pinUse pins what is used where nothing is rewritten.
func (o *observer) pinUse(v *types.Var) {
	switch {
	case o.notHere != "":
		o.pins.pin(v, o.notHere)
	case v.Pkg() != nil && v.Pkg().Path() != o.pkg.PkgPath:
		o.pins.pin(v, "package "+o.pkg.Name+" uses it")
	}
}

// addressable reports whether an expression denotes memory, or is a pointer.
func (o *observer) addressable(e ast.Expr) bool {
	if t := o.info.TypeOf(e); t != nil && IsPointer(t) {
		return true
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		_, ok := o.info.ObjectOf(e).(*types.Var)
		return ok
	case *ast.SelectorExpr:
		sel := o.info.Selections[e]
		return sel == nil || sel.Kind() == types.FieldVal && (sel.Indirect() || o.addressable(e.X))
	case *ast.IndexExpr:
		switch o.info.TypeOf(e.X).Underlying().(type) {
		case *types.Slice, *types.Pointer:
			return true
		case *types.Array:
			return o.addressable(e.X)
		}
	case *ast.StarExpr:
		return true
	}
	return false
}

// insideFunction reports whether a node is evaluated when a function runs.
func insideFunction(c inspector.Cursor) bool {
	for range c.Enclosing((*ast.FuncDecl)(nil), (*ast.FuncLit)(nil)) {
		return true
	}
	return false
}

// pinLiteral pins the fields that a literal sets, unless it is evaluated when a function
// runs: the first values of variables may have to be there before any code is.
func (o *observer) pinLiteral(c inspector.Cursor, l *ast.CompositeLit) {
	t := o.info.TypeOf(l)
	if t == nil {
		return
	}
	if _, ok := Deref(t).Underlying().(*types.Struct); !ok || len(l.Elts) == 0 {
		return
	}
	for _, e := range l.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			o.pins.pinType(Deref(t), "a literal of its struct has no names")
			return
		}
		if id, ok := kv.Key.(*ast.Ident); ok {
			f, ok := o.info.ObjectOf(id).(*types.Var)
			switch {
			case !ok:
			case insideFunction(c):
				o.pinUse(f)
			default:
				o.pins.pinPlace(f, "the first value of a variable sets it")
				o.pinUse(f)
			}
		}
	}
}

// pinArguments pins what is converted, measured, or moved by built-in functions.
func (o *observer) pinArguments(c *ast.CallExpr) {
	if tv := o.info.Types[ast.Unparen(c.Fun)]; tv.IsType() && len(c.Args) == 1 {
		to, from := Deref(tv.Type), o.info.TypeOf(c.Args[0])
		if from != nil && !o.info.Types[c.Args[0]].IsNil() && !types.Identical(to, Deref(from)) && !types.IsInterface(to) {
			o.pins.pinType(to, "its struct is converted")
			o.pins.pinType(Deref(from), "its struct is converted")
		}
		return
	}
	switch BuiltinOf(o.info, ast.Unparen(c.Fun)) {
	case "len", "cap":
		if sel, ok := ast.Unparen(c.Args[0]).(*ast.SelectorExpr); ok && o.info.Types[c].Value != nil {
			if f, ok := o.info.ObjectOf(sel.Sel).(*types.Var); ok && f.IsField() {
				o.pins.pinPlace(f, "its length is a constant")
			}
		}
	case "append", "copy", "clear":
		for _, a := range c.Args {
			if sl, ok := o.info.TypeOf(a).Underlying().(*types.Slice); ok {
				o.pins.pinType(sl.Elem(), "elements of a slice are moved")
			}
		}
	case "Sizeof", "Alignof", "Offsetof", "Slice", "SliceData", "Add":
		for _, a := range c.Args {
			o.pins.pinType(Deref(o.info.TypeOf(a)), "package unsafe is used with its struct")
			if sel, ok := ast.Unparen(a).(*ast.SelectorExpr); ok {
				o.pins.pinType(Deref(o.info.TypeOf(sel.X)), "package unsafe is used with its struct")
			}
		}
	}
}

// BuiltinOf returns the name of the built-in function that an expression denotes, "" if
// it is none.
func BuiltinOf(info *types.Info, e ast.Expr) string {
	var id *ast.Ident
	switch e := e.(type) {
	case *ast.Ident:
		id = e
	case *ast.SelectorExpr:
		id = e.Sel // of package unsafe
	default:
		return ""
	}
	if b, ok := info.Uses[id].(*types.Builtin); ok {
		return b.Name()
	}
	return ""
}

// pinCopied pins the structs in a value that is copied, or assigned to as a whole. A
// value that is only being made is nowhere else.
func (o *observer) pinCopied(c inspector.Cursor, e ast.Expr) {
	at := c.ParentEdgeKind()
	switch x := e.(type) {
	case *ast.CompositeLit, *ast.CallExpr, *ast.ParenExpr:
		return
	case *ast.Ident:
		if o.info.Defs[x] != nil && at != edge.RangeStmt_Key && at != edge.RangeStmt_Value {
			return
		}
	}
	switch p := c.Parent().Node().(type) {
	case *ast.RangeStmt:
		if p.X == e && p.Value == nil {
			return
		}
	case *ast.CallExpr:
		if b := BuiltinOf(o.info, ast.Unparen(p.Fun)); b == "len" || b == "cap" {
			return
		}
	}
	if wholeUse(o.info, e, c.Parent().Node()) {
		o.pins.pinType(o.info.TypeOf(e), "its struct is copied or assigned")
	}
}

// wholeUse reports whether an expression is the value of a struct or an array that is
// used as such, and not only the way to a part of it or its address.
//
//	y = x        both are used as a whole
//	x.f, x[i], &x, x.method()      only if the method gets a copy of x
func wholeUse(info *types.Info, x ast.Expr, parent ast.Node) bool {
	tv, ok := info.Types[x]
	if !ok || !tv.IsValue() {
		id, isIdent := x.(*ast.Ident)
		if !isIdent {
			return false
		}
		if _, isVar := info.ObjectOf(id).(*types.Var); !isVar {
			return false
		}
	}
	t := info.TypeOf(x)
	if t == nil {
		return false
	}
	switch t.Underlying().(type) {
	case *types.Struct, *types.Array:
	default:
		return false
	}
	switch p := parent.(type) {
	case *ast.ParenExpr:
		return false // the question is asked for the parenthesis
	case *ast.SelectorExpr:
		s := info.Selections[p]
		if s == nil || s.Kind() != types.MethodVal {
			return false
		}
		r := s.Obj().(*types.Func).Signature().Recv()
		return r != nil && !IsPointer(r.Type())
	case *ast.UnaryExpr:
		return p.Op != token.AND
	case *ast.IndexExpr:
		return p.X != x
	case *ast.KeyValueExpr:
		if id, ok := x.(*ast.Ident); ok && p.Key == x {
			if v, ok := info.ObjectOf(id).(*types.Var); ok && v.IsField() {
				return false
			}
		}
	}
	return true
}

// pinLoaded pins the structs that an instruction loads as a whole. The syntax shows where a
// variable is copied that has no memory of its own; the instructions show where a pointer
// is followed without being written out, as for a method that has a copy of its receiver.
func (s *pins) pinLoaded(c *code, i ssa.Instruction) {
	if load, ok := i.(*ssa.UnOp); ok && load.Op == token.MUL && !alias.IsNotEvaluated(load) {
		if t := c.touch(load.X); t.alloc == nil {
			s.pinType(t.reached, "its struct is copied or assigned")
		}
	}
}

// pinReflected pins the structs that reflection might look into, and what functions with interface values move.
func (s *pins) pinReflected(prog *ssa.Program) {
	ours := make(map[string]bool)
	for p := range s.facts.inspectors {
		ours[p.PkgPath] = true
	}
	reflected.Find(reflected.Program{
		SSA: prog, Name: TypeName, Callee: calleeOf,
		Known: func(path string) bool { return ours[path] },
		Inspected: func(t types.Type) {
			s.pinType(t, "reflection might look at its struct")
			s.facts.exposeReflected(t)
		},
		Moved: func(t types.Type) { s.pinType(t, "elements of a slice are moved") },
	})
}

// Packages of the standard library whose types and functions do not look into what they
// have as type arguments. Those of handingOver hold pointers to it, and copy nothing.
var (
	incurious   = []string{"iter", "maps", "slices"}
	handingOver = []string{"sync", "sync/atomic"}
)

// pinTypeArguments pins the structs that are type arguments: code for any type might copy
// them, or look into them.
func (o *observer) pinTypeArguments() {
	for id, inst := range o.info.Instances {
		path := ""
		if of := o.info.ObjectOf(id); of != nil && of.Pkg() != nil {
			path = of.Pkg().Path()
		}
		for t := range inst.TypeArgs.Types() {
			switch {
			case slices.Contains(handingOver, path):
			case slices.Contains(incurious, path):
				o.pins.pinType(t, "its struct is a type argument")
			default:
				o.pins.pinType(Deref(t), "its struct is a type argument")
			}
		}
	}
}
