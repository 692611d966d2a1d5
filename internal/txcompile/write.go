package txcompile

import (
	"fmt"
	"go/ast"
	"go/types"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/source"
	"github.com/cofferdam-go/cofferdam/internal/txcompile/flow"
	"github.com/cofferdam-go/cofferdam/internal/txcompile/library"
	"github.com/cofferdam-go/cofferdam/internal/txcompile/syntax"
)

// text returns the new text of a file, "" if nothing of it changes.
func (p *program) text(f *source.File) string {
	count := 0
	w := &writer{p: p, f: f, temporaries: &count}
	pieces := w.plainPieces(f.Syntax)
	var added []string
	for _, d := range f.Syntax.Decls {
		added = append(added, w.added(d)...)
	}
	if len(pieces) == 0 && len(added) == 0 {
		return ""
	}
	imports := fmt.Sprintf("; import %s %q; import %s %q", w.stm(), stmPath, w.compiled(), compiledPath)
	pieces = slices.Insert(pieces, 0, piece{f.Syntax.Name.End(), f.Syntax.Name.End(), imports})
	added = append(added, w.witnesses()...)
	added = append(added, fmt.Sprintf("var _ %s.Mode; var _ = %s.Recover", w.stm(), w.compiled()))
	return w.splice(f.Syntax.FileStart, f.Syntax.FileEnd, pieces...) + "\n" + strings.Join(added, "\n") + "\n"
}

// witnesses use packages all of whose calls may have become others.
//
//	s.xs = slices.Delete(s.xs, 1, 2)      s.xs = compiled.Delete(tx, s.xs, 1, 2); var _ = slices.Values[[]int]
func (w *writer) witnesses() (all []string) {
	for _, spec := range w.f.Syntax.Imports {
		path, _ := strconv.Unquote(spec.Path.Value)
		name := path
		if spec.Name != nil {
			name = spec.Name.Name
		}
		if witness := library.Witnesses[path]; witness != "" && name != "_" && name != "." {
			all = append(all, "var _ = "+name+"."+witness)
		}
	}
	return all
}

// added are the declarations that a transaction needs beside one.
func (w *writer) added(d ast.Decl) (all []string) {
	switch d := d.(type) {
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			if spec, ok := spec.(*ast.TypeSpec); ok {
				all = append(all, w.hidingMarkers(spec)...)
			}
		}
	case *ast.FuncDecl:
		obj, _ := w.info().Defs[d.Name].(*types.Func)
		if obj == nil || w.p.functions[obj.FullName()] == nil || w.p.functions[obj.FullName()].decl != d {
			return nil
		}
		fn := w.p.functions[obj.FullName()]
		if fn.cloned {
			all = append(all, w.cloneText(fn))
		}
		if fn.dual && d.Recv != nil {
			all = append(all, w.markerText(fn))
		}
	}
	return all
}

// plain is code as it runs outside of transactions, and in one that works in place: what
// changes are the transactions that begin in it, and functions that transactions may call. In
// a transaction labels have another name (see labelled).
func (w *writer) plain(n ast.Node) string { return w.spliceNode(n, w.plainPieces(n)...) }

func (w *writer) plainPieces(root ast.Node) []piece {
	var all []piece
	ast.Inspect(root, func(n ast.Node) bool {
		if s, ok := n.(ast.Stmt); ok {
			all = append(all, w.keep(s)...)
		}
		switch n := n.(type) {
		case *ast.FuncDecl:
			if obj, ok := w.info().Defs[n.Name].(*types.Func); ok {
				if fn := w.p.functions[obj.FullName()]; fn != nil && fn.dual && fn.decl == n {
					all = append(all, w.dualPieces(fn)...)
				}
			}
		case *ast.CallExpr:
			if isAtomic(w.info(), n) {
				all = append(all, piece{n.Pos(), n.End(), w.begin(n)})
				return false
			}
		case *ast.LabeledStmt:
			all = append(all, w.label(n.Label)...)
		case *ast.BranchStmt:
			all = append(all, w.label(n.Label)...)
		case *ast.FuncLit:
			switch {
			case w.p.dual[n]:
				all = append(all, piece{n.Pos(), n.End(), w.dualLiteral(n)})
				return false
			case w.p.pure[n] && n != root:
				all = append(all, piece{n.Pos(), n.End(), w.noted(w.f.TextOf(n))})
				return false
			}
		case ast.Expr:
			if n != root && w.p.dualValue(w.info(), n) {
				all = append(all, piece{n.Pos(), n.End(), w.noted(w.plain(n))})
				return false
			}
		}
		return true
	})
	return inOrder(all)
}

// label is a label in code that is plain.
func (w *writer) label(id *ast.Ident) []piece {
	if id == nil || w.root == nil {
		return nil
	}
	return []piece{{id.Pos(), id.End(), id.Name + w.p.suffix}}
}

// begin is a call of stm.Atomic outside of a transaction.
//
//	stm.Atomic(func() { x.n++ })      stm.Compiled(func(tx *stm.Tx) { stm.Add(tx, &x.n, 1) })
func (w *writer) begin(call *ast.CallExpr) string {
	run := "Compiled(" // the package is imported with a dot
	if fun, ok := ast.Unparen(call.Fun).(*ast.SelectorExpr); ok {
		run = w.plain(fun.X) + "." + run
	}
	lit := atomicLiteral(w.info(), call)
	if lit == nil {
		return run + w.compiled() + ".Transaction(" + w.plain(call.Args[0]) + "))"
	}
	inside := w.in(region{lit})
	lead := w.splice(call.Args[0].Pos(), lit.Type.End())
	lead = strings.Repeat("\n", strings.Count(lead, "\n"))
	return run + lead + "func(" + w.tx() + " *" + w.stm() + ".Tx) {" + inside.putBack(lit) + inside.body(lit.Body) + "})"
}

// in is a writer of another region of the file.
func (w *writer) in(r region) *writer {
	inside := *w
	inside.region = r
	return &inside
}

// body is the statements of a region, without the braces.
func (w *writer) body(b *ast.BlockStmt) string {
	if reason, _ := w.p.inPlace(w.f, w.region); reason != "" {
		return " " + w.tx() + ".Perform(); " + w.plainBody(b)
	}
	return w.splice(b.Lbrace+1, b.Rbrace, w.statements(b.List)...)
}

func (w *writer) plainBody(b *ast.BlockStmt) string {
	return w.splice(b.Lbrace+1, b.Rbrace, w.plainPieces(b)...)
}

// literal is a function literal in a transaction.
func (w *writer) literal(lit *ast.FuncLit) string {
	switch {
	case w.p.immediate(lit):
		return w.immediateLiteral(lit)
	case w.p.dual[lit]:
		return w.dualLiteral(lit)
	case w.p.pure[lit]:
		return w.noted(w.f.TextOf(lit))
	}
	return w.plain(lit)
}

// noted is the value of a function that finds its transaction by itself.
func (w *writer) noted(function string) string { return w.compiled() + ".Value(" + function + ")" }

// immediateLiteral is a literal that runs where it stands.
func (w *writer) immediateLiteral(lit *ast.FuncLit) string {
	return w.f.Between(lit.Pos(), lit.Body.Pos()) + w.block(lit.Body, "")
}

// dualLiteral is a literal that may be called by a transaction, and also by others.
func (w *writer) dualLiteral(lit *ast.FuncLit) string {
	return w.noted(w.f.Between(lit.Pos(), lit.Body.Pos()) + "{ " + w.in(region{lit}).ownBody(lit.Type, lit.Body) + w.in(region{}).plainBody(lit.Body) + "}")
}

// ownBody is what a function begins with that looks for its transaction: all that it does in
// one. What it does otherwise follows.
func (w *writer) ownBody(t *ast.FuncType, b *ast.BlockStmt) string {
	end := ""
	if t.Results == nil {
		end = "; return"
	}
	return "if " + w.tx() + " := " + w.stm() + ".Current(); " + w.tx() + " != nil {" + w.body(b) + end + " };" + w.line(b.Lbrace+1)
}

// cloneText is the declaration of a function's clone.
//
//	func (l *list) push(v int) { l.n++ }      func (l *list) push_stm(tx *stm.Tx, v int) { stm.Add(tx, &l.n, 1) }
func (w *writer) cloneText(f *function) string {
	decl := f.decl
	inside := w.in(region{decl})
	var params []string
	for _, field := range decl.Type.Params.List {
		text := w.f.TextOf(field)
		if len(field.Names) == 0 {
			text = "_ " + text
		}
		params = append(params, text)
	}
	tx := w.tx() + " *" + w.stm() + ".Tx"
	typeParams, results := "", ""
	if decl.Type.TypeParams != nil {
		typeParams = w.f.TextOf(decl.Type.TypeParams)
	}
	if decl.Type.Results != nil {
		results = " " + w.f.TextOf(decl.Type.Results)
	}
	receiver := ""
	if decl.Recv != nil {
		receiver = w.f.TextOf(decl.Recv) + " "
	}
	check := ""
	if syntax.HasCalls(decl.Body) {
		check = inside.check()
	}
	// The closing brace has a line of its own: a comment may stand in front of it.
	return w.line(decl.Pos()) + "func " + receiver + f.Name() + w.p.suffix + typeParams + "(" + strings.Join(append([]string{tx}, params...), ", ") + ")" +
		results + " {" + check + w.line(decl.Body.Lbrace+1) + inside.body(decl.Body) + "\n}"
}

// markers are the names of methods that say that another was compiled, which has a pointer for
// its receiver or a value. What has neither, or one with a parameter, was not.
func (w *writer) markers(method string) (pointer, value string) {
	return method + w.p.suffix + "ok", method + w.p.suffix + "value"
}

// markerText says that a method was compiled, and hides that an embedded one was.
func (w *writer) markerText(f *function) string {
	own, other := w.markers(f.Name())
	if !isPointer(f.Signature().Recv().Type()) {
		own, other = other, own
	}
	receiver := "func (" + w.f.TextOf(f.decl.Recv.List[0].Type) + ") "
	if w.p.unmarked[f.FullName()] {
		own += "(int) {}; "
	} else {
		own += "() {}; "
	}
	return receiver + own + receiver + other + "(int) {}"
}

// hidingMarkers are for a struct whose method was not compiled, while an embedded one that
// it hides was: the marker of that is hidden, too, by one with a parameter. A method that an
// embedded pointer leads to is like one that has a value for its receiver: to call it, Go reads the
// embedded pointer.
//
//	type outer struct{ inner }; func (outer) hit() {}      func (outer) hit_stmok(int) {}; func (outer) hit_stmvalue(int) {}
//	type outer struct{ *inner }                            func (outer) hit_stmok(int) {}; func (outer) hit_stmvalue() {}
func (w *writer) hidingMarkers(spec *ast.TypeSpec) []string {
	s, ok := w.info().TypeOf(spec.Type).(*types.Struct)
	if !ok || spec.Assign.IsValid() || !slices.ContainsFunc(slices.Collect(s.Fields()), (*types.Var).Embedded) {
		return nil
	}
	var params []string
	if spec.TypeParams != nil {
		for _, field := range spec.TypeParams.List {
			for _, name := range field.Names {
				params = append(params, name.Name)
			}
		}
	}
	receiver := spec.Name.Name
	if len(params) > 0 {
		receiver += "[" + strings.Join(params, ", ") + "]"
	}
	var all []string
	for _, name := range slices.Sorted(maps.Keys(w.p.marked)) {
		obj, _, throughPointer := types.LookupFieldOrMethod(w.info().Defs[spec.Name].Type(), true, w.f.Types, name)
		if m, ok := obj.(*types.Func); ok && (!w.p.isDual(m.Origin()) || throughPointer) {
			pointer, value := w.markers(name)
			parameter := "int"
			if w.p.isDual(m.Origin()) && !w.p.unmarked[m.Origin().FullName()] && !flow.ReadsToCall(w.info().Defs[spec.Name].Type(), m) {
				parameter = ""
			}
			all = append(all, "func ("+receiver+") "+pointer+"(int) {}", "func ("+receiver+") "+value+"("+parameter+") {}")
		}
	}
	return all
}

// dualPieces make a declared function find out whether a transaction calls it.
//
//	func f(n int) int { ... }      func f(n int) int { if tx := stm.Current(); tx != nil { return f_stm(tx, n) }; ... }
//
// One that calls recover has to do so by itself, and not in its clone: it is the one that is
// deferred.
func (w *writer) dualPieces(f *function) []piece {
	decl := f.decl
	if syntax.Recovers(decl.Body) {
		return []piece{{decl.Body.Lbrace, decl.Body.Lbrace + 1, "{ " + w.in(region{decl}).ownBody(decl.Type, decl.Body)}}
	}
	var pieces []piece
	callee := f.Name() + w.p.suffix
	if decl.Recv != nil {
		name, renamed := w.named(decl.Recv)
		pieces = append(pieces, renamed...)
		callee = name[0] + "." + callee
	} else if decl.Type.TypeParams != nil {
		var args []string
		for _, field := range decl.Type.TypeParams.List {
			for _, name := range field.Names {
				args = append(args, name.Name)
			}
		}
		callee += "[" + strings.Join(args, ", ") + "]"
	}
	names, renamed := w.named(decl.Type.Params)
	pieces = append(pieces, renamed...)
	if f.Signature().Variadic() {
		names[len(names)-1] += "..."
	}
	call := callee + "(" + strings.Join(append([]string{w.tx()}, names...), ", ") + ")"
	if decl.Type.Results != nil {
		call = "return " + call
	} else {
		call += "; return"
	}
	entry := "{ if " + w.tx() + " := " + w.stm() + ".Current(); " + w.tx() + " != nil { " + call + " };"
	return append(pieces, piece{decl.Body.Lbrace, decl.Body.Lbrace + 1, entry})
}

// named returns the names of parameters, and what gives those a name that have none.
func (w *writer) named(list *ast.FieldList) (names []string, pieces []piece) {
	for _, field := range list.List {
		if len(field.Names) == 0 {
			name := w.temporary("a")
			names = append(names, name)
			pieces = append(pieces, piece{field.Pos(), field.Pos(), name + " "})
		}
		for _, id := range field.Names {
			name := id.Name
			if name == "_" {
				name = w.temporary("a")
				pieces = append(pieces, piece{id.Pos(), id.End(), name})
			}
			names = append(names, name)
		}
	}
	return names, pieces
}
