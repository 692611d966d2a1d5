package cover

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/repair/cover/further"
	"github.com/cofferdam-go/cofferdam/internal/repair/cover/statement"
	"github.com/cofferdam-go/cofferdam/internal/repair/dataname"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// newField is a new mutex above the fields of a struct.
func (code *Code) newField(n *types.Named, fields []*types.Var) *Lock {
	f, spec := code.typeSpec(n)
	if f == nil {
		return nil
	}
	st, ok := spec.Type.(*ast.StructType)
	if !ok || len(st.Fields.List) == 0 {
		return nil
	}
	other := "dataMu"
	if len(fields) > 0 {
		other = fields[0].Name() + "Mu"
	}
	name := further.NameIn(n, "mu", other)
	return &Lock{
		Words: "a new mutex " + n.Obj().Name() + "." + name, Reason: "no mutex of the program guards the data",
		owner: n, field: name, pkg: n.Obj().Pkg(),
		declare: func(e *edits, guarded []dataname.Name) error {
			if err := further.FieldIn(code.Files(), n); err != nil {
				return err
			}
			for _, o := range code.overwritings(n) {
				e.of(o.file).Replace(o.stmt, o.text)
			}
			names := dataname.FieldsOf(n, guarded)
			sync, err := e.of(f).ImportStd("sync")
			if err != nil {
				return err
			}
			declaration := strings.TrimSpace(fmt.Sprintf("%s %s.Mutex %s", name, sync, dataname.FieldComment(n, guarded)))
			if len(names) == 0 {
				e.of(f).LineBefore(declared(st.Fields.List[0]), declaration)
				return nil
			}
			for _, field := range st.Fields.List {
				for _, id := range field.Names {
					if slices.ContainsFunc(names, func(name string) bool { return name == id.Name || strings.HasPrefix(name, id.Name+".") }) {
						e.of(f).LineBefore(declared(field), declaration)
						return nil
					}
				}
			}
			return fmt.Errorf("the fields %s are not where %s is declared", strings.Join(names, ", "), n.Obj().Name())
		},
	}
}

// FieldAbove returns where one more field of a struct can be declared: above a field that it
// has, under a name that is free.
func (code *Code) FieldAbove(n *types.Named, field *types.Var, word string) (f *source.File, above ast.Node, name string, err error) {
	if err := further.FieldIn(code.Files(), n); err != nil {
		return nil, nil, "", err
	}
	f, spec := code.typeSpec(n)
	if f != nil {
		if st, ok := spec.Type.(*ast.StructType); ok {
			for _, d := range st.Fields.List {
				if d.Pos() <= field.Pos() && field.Pos() < d.End() {
					return f, declared(d), further.NameIn(n, word), nil
				}
			}
		}
	}
	return nil, nil, "", fmt.Errorf("%s is not declared as a struct with the field %s", n.Obj().Name(), field.Name())
}

// typeSpec is where a type is declared.
func (code *Code) typeSpec(n *types.Named) (*source.File, *ast.TypeSpec) {
	f := code.File(code.Fset.PositionFor(n.Obj().Pos(), false).Filename)
	if f == nil {
		return nil, nil
	}
	var found *ast.TypeSpec
	ast.Inspect(f.Syntax, func(m ast.Node) bool {
		if s, ok := m.(*ast.TypeSpec); ok && s.Name.Pos() == n.Obj().Pos() {
			found = s
		}
		return found == nil
	})
	if found == nil {
		return nil, nil
	}
	return f, found
}

// newLocal is a new mutex beside a variable that closures share.
func (code *Code) newLocal(vars []*types.Var) *Lock {
	if len(vars) == 0 {
		return nil
	}
	v := vars[0]
	f := code.File(code.Fset.PositionFor(v.Pos(), false).Filename)
	if f == nil {
		return nil
	}
	fn := enclosing(f, v.Pos())
	if fn == nil {
		return nil
	}
	list, at, _ := statement.Innermost(source.Body(fn), v.Pos(), v.Pos()+1)
	if list == nil {
		return nil // a parameter or a result
	}
	name := source.NamesIn(fn).Free(v.Name() + "Mu")
	return &Lock{
		Words: "a new mutex " + name + " beside the variable " + v.Name(), Reason: "the data is a variable that closures share",
		variable: name, scope: fn, pkg: v.Pkg(),
		declare: func(e *edits, _ []dataname.Name) error {
			sync, err := e.of(f).ImportStd("sync")
			if err != nil {
				return err
			}
			e.of(f).LineBefore(list[at], fmt.Sprintf("var %s %s.Mutex", name, sync))
			return nil
		},
	}
}

// enclosing is the outermost function around a position.
func enclosing(f *source.File, pos token.Pos) ast.Node {
	for _, d := range f.Syntax.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil && fn.Pos() <= pos && pos < fn.End() {
			return fn
		}
	}
	return nil
}

// newGlobal is a new mutex of the package.
func (code *Code) newGlobal(regions []*Region, d *Data) *Lock {
	r := regions[0]
	for _, o := range regions {
		if o.file.Types.Path() != r.file.Types.Path() {
			return nil // another package cannot name it
		}
		if r.isTest() && !o.isTest() {
			r = o
		}
	}
	word := "shared"
	f, after := r.file, ast.Node(nil)
	if r.isTest() && len(d.owners) > 0 { // what is not test code may come to need it
		if declares, _ := code.typeSpec(d.owners[0]); declares != nil && declares.Types.Path() == f.Types.Path() {
			f = declares
		}
	}
	switch {
	case len(d.globals) > 1 && freeVariable(f.Info, "mu") == "mu":
		word = ""
	case len(d.globals) > 0:
		word = d.globals[0].Name()
	case len(d.owners) > 0:
		word = d.owners[0].Obj().Name()
	}
	name := "mu"
	if word != "" {
		name = strings.ToLower(word[:1]) + word[1:] + "Mu"
	}
	name = freeVariable(f.Info, name)
	for _, decl := range f.Syntax.Decls {
		if g, ok := decl.(*ast.GenDecl); !ok || g.Tok != token.IMPORT {
			after = decl
			break
		}
	}
	return &Lock{
		Words: "a new mutex " + name + " of the package", Reason: "no struct has all of the data, or not every place can name the one that has",
		variable: name, pkg: r.file.Types,
		declare: func(e *edits, guarded []dataname.Name) error {
			in, above, gap := f, declared(after), "\n"
			if at, declaration := code.declarationOf(r.file.Types.Path(), d.globals); declaration != nil {
				in, above = at, declared(declaration)
				if above == ast.Node(declaration) {
					gap = ""
				}
			}
			sync, err := e.of(in).ImportStd("sync")
			if err != nil {
				return err
			}
			e.of(in).LineBefore(above, fmt.Sprintf("var %s %s.Mutex%s%s", name, sync, dataname.PackageComment(r.file.Types.Path(), guarded), gap))
			return nil
		},
	}
}

// declarationOf is the declaration of the first of some variables of a package, nil if there is none.
func (code *Code) declarationOf(path string, globals []*types.Var) (*source.File, *ast.GenDecl) {
	for _, v := range globals {
		f := code.fileAt(v.Pos())
		if f == nil || f.Types.Path() != path || strings.HasSuffix(f.Name, "_test.go") {
			continue
		}
		for _, decl := range f.Syntax.Decls {
			if g, ok := decl.(*ast.GenDecl); ok && g.Pos() <= v.Pos() && v.Pos() < g.End() {
				return f, g
			}
		}
	}
	return nil, nil
}

// freeVariable is a name that nothing in a package has.
func freeVariable(info *types.Info, word string) string {
	used := map[string]bool{}
	for id := range info.Defs {
		used[id.Name] = true
	}
	name := word
	for i := 2; used[name]; i++ {
		name = fmt.Sprintf("%s%d", word, i)
	}
	return name
}

// declared is a declaration with its comment.
func declared(n ast.Node) ast.Node {
	switch d := n.(type) {
	case *ast.FuncDecl:
		if d.Doc != nil {
			return d.Doc
		}
	case *ast.GenDecl:
		if d.Doc != nil {
			return d.Doc
		}
	case *ast.Field:
		if d.Doc != nil {
			return d.Doc
		}
	}
	return n
}

// redeclare has the comment beside a lock, which an earlier patch added, name all data that the lock
// guards by now.
func (code *Code) redeclare(e *edits, l *Lock, guarded []dataname.Name) {
	if l.owner == nil {
		code.redeclareVariable(e, l, guarded)
		return
	}
	f, spec := code.typeSpec(l.owner)
	if f == nil {
		return
	}
	for _, field := range spec.Type.(*ast.StructType).Fields.List {
		if len(field.Names) == 1 && field.Names[0].Name == l.field && field.Comment != nil {
			if text := dataname.FieldComment(l.owner, guarded); text != "" && field.Comment.List[0].Text != text {
				e.of(f).Replace(field.Comment, text)
			}
		}
	}
}

// redeclareVariable is redeclare for a lock of a package.
func (code *Code) redeclareVariable(e *edits, l *Lock, guarded []dataname.Name) {
	if l.object == nil || l.scope != nil {
		return
	}
	f, declaration := code.declarationOf(l.pkg.Path(), []*types.Var{l.object})
	if declaration == nil || len(declaration.Specs) != 1 {
		return
	}
	comment := declaration.Specs[0].(*ast.ValueSpec).Comment
	if text := dataname.PackageComment(l.pkg.Path(), guarded); comment != nil && text != "" {
		e.of(f).Replace(comment, strings.TrimSpace(text))
	}
}
