package guard

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/cofferdam-go/cofferdam/internal/locks"
)

// A declaration is where a field or variable stands.
type declaration struct {
	object    *types.Var
	owner     string // the type, or the package's name
	text      string // its comments
	index     int    // among its neighbours
	paragraph int    // number of blank lines before it, among its neighbours
	neighbour *neighbours
	field     *ast.Field
	file      *ast.File
}

// neighbours are the fields of one struct, or the variables of one file.
type neighbours struct {
	list      []*declaration
	anonymous bool // the struct has no name, and is the type of a field
}

// declarations are where the fields and variables of a program stand, and what is written
// beside them.
type declarations struct {
	of      map[types.Object]*declaration
	places  *locks.Places
	remarks map[*ast.FuncDecl][]token.Pos // comments by which a function needs no lock
	forOne  map[*types.TypeName]bool      // types of which a comment says that they are for one goroutine at a time
}

// readDeclarations reads the declarations of all packages.
func readDeclarations(places *locks.Places, fset *token.FileSet, pkgs []*packages.Package) *declarations {
	s := &declarations{of: make(map[types.Object]*declaration), places: places, remarks: make(map[*ast.FuncDecl][]token.Pos), forOne: make(map[*types.TypeName]bool)}
	seen := make(map[*ast.File]bool)
	for _, p := range pkgs {
		for _, file := range p.Syntax {
			if seen[file] {
				continue
			}
			seen[file] = true
			r := &declarationReader{s, fset, p.TypesInfo, p.Types.Name(), file, make(map[*ast.StructType]bool)}
			r.file()
			s.readRemarks(fset, file)
		}
	}
	return s
}

// A declarationReader reads the declarations of one file.
type declarationReader struct {
	*declarations
	fset *token.FileSet
	info *types.Info
	pkg  string
	ast  *ast.File
	seen map[*ast.StructType]bool
}

func (r *declarationReader) file() {
	r.readForOne()
	globals := &neighbours{}
	end := 0
	for _, d := range r.ast.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.VAR {
			continue
		}
		for _, spec := range g.Specs {
			v := spec.(*ast.ValueSpec)
			text := comments(v.Doc, v.Comment)
			if !g.Lparen.IsValid() {
				text = comments(g.Doc, v.Doc, v.Comment)
			}
			start := r.line(v.Pos())
			if v.Doc != nil {
				start = r.line(v.Doc.Pos())
			} else if !g.Lparen.IsValid() && g.Doc != nil {
				start = r.line(g.Doc.Pos())
			}
			r.add(globals, v.Names, start, end, &declaration{owner: r.pkg, text: text, file: r.ast})
			end = r.line(v.End())
		}
	}
	ast.Inspect(r.ast, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.TypeSpec:
			if s, ok := n.Type.(*ast.StructType); ok {
				r.readStruct(s, n.Name.Name, false)
			}
		case *ast.ValueSpec:
			s, ok := n.Type.(*ast.StructType)
			if !ok && len(n.Values) == 1 {
				if lit, isLit := n.Values[0].(*ast.CompositeLit); isLit {
					s, ok = lit.Type.(*ast.StructType)
				}
			}
			if ok {
				r.readStruct(s, n.Names[0].Name, false)
			}
		case *ast.StructType:
			r.readStruct(n, "struct", false)
		}
		return true
	})
}

func (r *declarationReader) line(p token.Pos) int { return r.fset.PositionFor(p, false).Line }

// readStruct reads the fields of a struct, once: where it is met first says best whose
// they are.
func (r *declarationReader) readStruct(s *ast.StructType, owner string, anonymous bool) {
	if r.seen[s] {
		return
	}
	r.seen[s] = true
	all := &neighbours{anonymous: anonymous}
	end := 0
	for _, f := range s.Fields.List {
		names := f.Names
		if len(names) == 0 {
			names = []*ast.Ident{embeddedName(f.Type)}
		}
		start := r.line(f.Pos())
		if f.Doc != nil {
			start = r.line(f.Doc.Pos())
		}
		r.add(all, names, start, end, &declaration{owner: owner, text: comments(f.Doc, f.Comment), field: f, file: r.ast})
		end = r.line(f.End())
		if inner := unnamedStruct(f.Type); inner != nil && len(f.Names) == 1 {
			r.readStruct(inner, owner+"."+f.Names[0].Name, true)
		}
	}
}

// unnamedStruct returns the struct that a type is made of without naming it.
func unnamedStruct(e ast.Expr) *ast.StructType {
	switch e := e.(type) {
	case *ast.StructType:
		return e
	case *ast.StarExpr:
		return unnamedStruct(e.X)
	case *ast.ArrayType:
		return unnamedStruct(e.Elt)
	case *ast.MapType:
		return unnamedStruct(e.Value)
	}
	return nil
}

func (r *declarationReader) add(all *neighbours, names []*ast.Ident, start, end int, d *declaration) {
	for _, name := range names {
		if name == nil {
			continue
		}
		v, ok := r.info.Defs[name].(*types.Var)
		if !ok {
			continue
		}
		c := *d
		c.object, c.neighbour, c.index = r.places.Canonical(v), all, len(all.list)
		if len(all.list) > 0 {
			c.paragraph = all.list[len(all.list)-1].paragraph
			if start > end+1 {
				c.paragraph++
			}
		}
		end = start
		all.list = append(all.list, &c)
		r.of[c.object] = &c
	}
}

// embeddedName returns the identifier that an embedded field is declared by.
func embeddedName(e ast.Expr) *ast.Ident {
	switch e := e.(type) {
	case *ast.Ident:
		return e
	case *ast.StarExpr:
		return embeddedName(e.X)
	case *ast.SelectorExpr:
		return e.Sel
	case *ast.IndexExpr:
		return embeddedName(e.X)
	case *ast.IndexListExpr:
		return embeddedName(e.X)
	case *ast.ParenExpr:
		return embeddedName(e.X)
	}
	return nil
}

// comments returns the text of comments as it stands, markers removed.
func comments(groups ...*ast.CommentGroup) string {
	var b strings.Builder
	for _, g := range groups {
		if g == nil {
			continue
		}
		for _, c := range g.List {
			t := strings.TrimPrefix(strings.TrimPrefix(c.Text, "//"), "/*")
			b.WriteString(strings.TrimSpace(strings.TrimSuffix(t, "*/")) + "\n")
		}
	}
	return b.String()
}

// areNeighbours reports whether two fields are of one struct.
func (s *declarations) areNeighbours(x, y *types.Var) bool {
	d, e := s.of[x], s.of[y]
	return d != nil && e != nil && d.neighbour == e.neighbour
}
