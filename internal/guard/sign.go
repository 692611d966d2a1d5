package guard

import (
	"go/ast"
	"go/token"
	"go/types"
	"iter"
	"strings"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"
)

// A Sign is something other than an access that says that a lock guards data.
type Sign int

const (
	Annotated     Sign = iota // +checklocks:mu
	CommentOnData             // "guarded by mu"
	CommentOnLock             // "mu protects a and b"
	CommentAbove              // "protects the fields below"
	Idiom                     // mu struct { sync.Mutex; ... }
	Named                     // connsMu and conns
	Below                     // stands right below the lock
	Helper                    // used in a function like fooLocked
)

func (s Sign) String() string {
	return [...]string{"annotated", "comment on it names the lock", "comment on the lock names it", "comment on the lock covers it",
		"inside the lock's struct", "named after it", "stands below the lock", "used in a …Locked function"}[s]
}

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
	names     int // how many names the field declares at once
}

// neighbours are the fields of one struct, or the variables of one file.
type neighbours struct {
	list      []*declaration
	anonymous bool
}

type signs struct {
	of map[types.Object]*declaration
}

// readSigns reads the declarations of all packages.
func readSigns(paths *paths, fset *token.FileSet, pkgs []*packages.Package) *signs {
	s := &signs{of: make(map[types.Object]*declaration)}
	seen := make(map[*ast.File]bool)
	for _, p := range pkgs {
		for _, file := range p.Syntax {
			if seen[file] {
				continue
			}
			seen[file] = true
			r := &signReader{s, paths, fset, p.TypesInfo, p.Types.Name(), file, make(map[*ast.StructType]bool)}
			r.file()
		}
	}
	return s
}

type signReader struct {
	*signs
	paths *paths
	fset  *token.FileSet
	info  *types.Info
	pkg   string
	ast   *ast.File
	seen  map[*ast.StructType]bool
}

func (r *signReader) file() {
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
				r.structure(s, n.Name.Name, false)
			}
		case *ast.ValueSpec:
			s, ok := n.Type.(*ast.StructType)
			if !ok && len(n.Values) == 1 {
				if lit, isLit := n.Values[0].(*ast.CompositeLit); isLit {
					s, ok = lit.Type.(*ast.StructType)
				}
			}
			if ok {
				r.structure(s, n.Names[0].Name, false)
			}
		case *ast.StructType:
			r.structure(n, "struct", false)
		}
		return true
	})
}

func (r *signReader) line(p token.Pos) int { return r.fset.PositionFor(p, false).Line }

// structure reads the fields of a struct, once: where it is met first says best whose
// they are.
func (r *signReader) structure(s *ast.StructType, owner string, anonymous bool) {
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
			r.structure(inner, owner+"."+f.Names[0].Name, true)
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

func (r *signReader) add(all *neighbours, names []*ast.Ident, start, end int, d *declaration) {
	for _, name := range names {
		if name == nil {
			continue
		}
		v, ok := r.info.Defs[name].(*types.Var)
		if !ok {
			continue
		}
		c := *d
		c.object, c.neighbour, c.index, c.names = r.paths.canonical(v), all, len(all.list), len(names)
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

// between returns the signs that a lock, reached from data by a way, guards it.
func (s *signs) between(data, lock types.Object, way *path) []Sign {
	d, l := s.of[data], s.of[lock]
	if d == nil || l == nil {
		return nil
	}
	var list []Sign
	if annotation(d.text) != "" && annotation(d.text) == wayName(way) {
		list = append(list, Annotated)
	}
	if namesLock(d.text, lock.Name()) {
		list = append(list, CommentOnData)
	}
	near := d.neighbour == l.neighbour
	if near {
		named, all, below := coverage(l.text, data.Name())
		switch {
		case named:
			list = append(list, CommentOnLock)
		case all || below && d.index > l.index && d.paragraph == l.paragraph:
			list = append(list, CommentAbove)
		}
		if d.neighbour.anonymous && lock.(*types.Var).Embedded() {
			list = append(list, Idiom)
		} else if d.index > l.index && d.paragraph == l.paragraph && !lockBetween(l, d) {
			list = append(list, Below)
		}
		if namedAfter(lock.Name(), data.Name()) {
			list = append(list, Named)
		}
	}
	return list
}

func lockBetween(l, d *declaration) bool {
	for _, x := range l.neighbour.list[l.index+1 : d.index] {
		if isLock(x.object.Type()) {
			return true
		}
	}
	return false
}

// locksNear returns the locks that stand next to data and that a comment connects
// with it.
func (s *signs) locksNear(data types.Object) []types.Object {
	d := s.of[data]
	if d == nil {
		return nil
	}
	var list []types.Object
	for _, l := range d.neighbour.list {
		if l != d && isLock(l.object.Type()) {
			list = append(list, l.object)
		}
	}
	return list
}

// expected yields the locks that a function says its caller holds, nil for one
// that it does not name.
func (a *analysis) expected(fn *ssa.Function) iter.Seq[*path] {
	return func(yield func(*path) bool) {
		doc := ""
		if d := declarationOf(fn); d != nil {
			doc = comments(d.Doc)
		}
		annotated := functionAnnotations(doc)
		if !lockedName(fn.Name()) && len(annotated) == 0 && !callerHolds(doc) {
			return
		}
		found := false
		if fn.Signature.Recv() != nil && len(fn.Params) > 0 && isReference(fn.Params[0].Type()) && hasStruct(fn.Params[0].Type()) {
			root := a.paths.root(fn.Params[0])
			for p := range a.lockFields(root, structOf(fn.Params[0].Type())) {
				found = true
				if !yield(p) {
					return
				}
			}
		}
		if !found {
			yield(nil)
		}
	}
}

func hasStruct(t types.Type) bool {
	_, ok := deref(t).Underlying().(*types.Struct)
	return ok
}

// lockFields yields the locks in a struct, those in its unnamed structs too.
func (a *analysis) lockFields(at *path, s *types.Struct) iter.Seq[*path] {
	return func(yield func(*path) bool) {
		for f := range s.Fields() {
			p := a.paths.extend(at, step{field: a.paths.canonical(f)})
			if p == nil {
				continue
			}
			if isLock(f.Type()) {
				if !yield(p) {
					return
				}
				continue
			}
			if inner, ok := types.Unalias(f.Type()).(*types.Struct); ok {
				for q := range a.lockFields(p, inner) {
					if !yield(q) {
						return
					}
				}
			}
		}
	}
}

// typeName names a lock's type.
func typeName(t types.Type) string {
	return types.TypeString(t, func(p *types.Package) string { return p.Name() })
}
