package facts

import (
	"go/ast"
	"go/constant"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// A Declaration is where a package's variable is declared, or a field of a package's type
// or of a package's variable that is a struct without a name.
type Declaration struct {
	Package *packages.Package
	File    *ast.File
	Name    *ast.Ident
	Struct  *ast.StructType // that has the field; nil for a variable
	Type    *ast.Ident      // the name of the type that has the field; nil if it has none
	Root    string          // the variable, or the one that has the field
	Value   ast.Expr        // what a variable begins with, or nil
	Fixed   string          // why it cannot be declared anew
	// Asked is how careless changes are to be merged, by a comment; "" if there is none.
	Asked string

	doc *ast.CommentGroup // of a declaration of one variable
}

// Declaration returns where a variable or field is declared.
func (f *Facts) Declaration(v *types.Var) (Declaration, bool) {
	d, ok := f.declarations[f.KeyOf(v)]
	return d, ok
}

// DeclarationIn returns where a variable or field with the key is declared in a package,
// which may be one of several variants that have the file.
func (f *Facts) DeclarationIn(p *packages.Package, k Key) (Declaration, bool) {
	d, ok := f.declarationsIn[p][k]
	return d, ok
}

// InTest reports whether the declaration is in a test file.
func (d Declaration) InTest() bool { return IsTestFile(d.fileName()) }

func (d Declaration) fileName() string { return d.Package.Fset.File(d.File.FileStart).Name() }

// IsTestFile reports whether the go command compiles a file for tests alone.
func IsTestFile(file string) bool { return strings.HasSuffix(file, "_test.go") }

// Beside reports whether two declarations are of fields of one type, or both of
// variables.
func (d Declaration) Beside(e Declaration) bool {
	if d.Type == nil || e.Type == nil {
		return d.Type == e.Type
	}
	return d.Type.Name == e.Type.Name && d.fileName() == e.fileName()
}

// Owner is the type that has the field, nil if it has no name.
func (d Declaration) Owner() *types.TypeName {
	if d.Type == nil {
		return nil
	}
	return d.Package.Types.Scope().Lookup(d.Type.Name).(*types.TypeName)
}

// RootVar is the variable, or the one that has the field.
func (d Declaration) RootVar() *types.Var {
	return d.Package.Types.Scope().Lookup(d.Root).(*types.Var)
}

// Constant writes the constant that a variable begins with, "" if it begins with zero.
func (d Declaration) Constant() string {
	if d.Value == nil {
		return ""
	}
	text, _ := constantText(d.Package.TypesInfo.Types[d.Value].Value)
	return text
}

// observeDeclarations notes the declarations of a file.
func (o *observer) observeDeclarations(f *ast.File) {
	d := Declaration{Package: o.pkg, File: f}
	for _, decl := range f.Decls {
		g, ok := decl.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, spec := range g.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				if s, ok := spec.Type.(*ast.StructType); ok && !spec.Assign.IsValid() {
					typed := d
					typed.Type = spec.Name
					o.declareFields(typed, s)
				}
			case *ast.ValueSpec:
				one := d
				if len(g.Specs) == 1 {
					one.doc = g.Doc
				}
				o.declareVariables(one, spec)
			}
		}
	}
}

func (o *observer) declare(d Declaration) {
	if v, ok := o.info.Defs[d.Name].(*types.Var); ok && d.Name.Name != "_" {
		o.declarations[o.KeyOf(v)] = d
		o.declarationsIn[o.pkg][o.KeyOf(v)] = d
	}
}

// Asked returns the declarations with a comment that asks for something.
func (f *Facts) Asked() []Declaration {
	var list []Declaration
	for _, d := range f.declarations {
		if d.Asked != "" {
			list = append(list, d)
		}
	}
	slices.SortFunc(list, func(a, b Declaration) int { return int(a.Name.Pos() - b.Name.Pos()) })
	return list
}

// resolveDirective is a comment on a declaration that says how careless changes are merged.
const resolveDirective = "//cofferdam:resolve "

// asked returns what comments ask for.
func asked(groups ...*ast.CommentGroup) string {
	for _, g := range groups {
		if g == nil {
			continue
		}
		for _, c := range g.List {
			if word, ok := strings.CutPrefix(c.Text, resolveDirective); ok {
				return strings.TrimSpace(word)
			}
		}
	}
	return ""
}

func (o *observer) declareFields(d Declaration, s *ast.StructType) {
	d.Struct = s
	for _, f := range s.Fields.List {
		d.Asked = asked(f.Doc, f.Comment)
		for _, d.Name = range f.Names {
			o.declare(d)
		}
		if len(f.Names) > 0 {
			continue
		}
		// An embedded field: it may be the lock.
		if id := embeddedName(f.Type); id != nil {
			embedded := d
			embedded.Name, embedded.Fixed = id, "it is embedded"
			o.declare(embedded)
		}
	}
}

// embeddedName returns the name that an embedded field has.
func embeddedName(e ast.Expr) *ast.Ident {
	switch e := e.(type) {
	case *ast.Ident:
		return e
	case *ast.SelectorExpr:
		return e.Sel
	}
	return nil
}

func (o *observer) declareVariables(d Declaration, spec *ast.ValueSpec) {
	for i, name := range spec.Names {
		if _, ok := o.info.Defs[name].(*types.Var); !ok || name.Name == "_" {
			continue
		}
		one := d
		one.Name, one.Root, one.Asked = name, name.Name, asked(spec.Doc, spec.Comment, d.doc)
		if len(spec.Values) == len(spec.Names) {
			one.Value = spec.Values[i]
		}
		if len(spec.Values) > 0 && !o.isConstant(one.Value) {
			one.Fixed = "its first value is computed"
		}
		o.declare(one)
		if s, ok := spec.Type.(*ast.StructType); ok && len(spec.Names) == 1 {
			o.declareFields(one, s)
		}
	}
}

// isConstant reports whether an expression, which may be missing, is a constant that
// constantText can write.
func (o *observer) isConstant(e ast.Expr) bool {
	if e == nil {
		return false
	}
	_, ok := constantText(o.info.Types[e].Value)
	return ok
}

// constantText writes the value of a constant.
func constantText(v constant.Value) (string, bool) {
	if v == nil {
		return "", false
	}
	switch v.Kind() {
	case constant.Bool, constant.Int:
		return v.ExactString(), true
	}
	return "", false
}
