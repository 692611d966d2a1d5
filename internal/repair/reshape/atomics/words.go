package atomics

import (
	"go/ast"
	"go/token"
	"go/types"
	"go/version"
	"slices"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/locks"
	"github.com/cofferdam-go/cofferdam/internal/repair/reshape/change"
	"github.com/cofferdam-go/cofferdam/internal/repair/reshape/syntax"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// atomicTypes are the types of sync/atomic for those of plain variables, and the types that
// their values are converted to.
var atomicTypes = map[types.BasicKind]struct{ name, converted string }{
	types.Bool: {"Bool", ""}, types.Int: {"Int64", "int64"}, types.Int64: {"Int64", ""}, types.Int32: {"Int32", ""},
	types.Uint: {"Uint64", "uint64"}, types.Uint64: {"Uint64", ""}, types.Uint32: {"Uint32", ""},
}

// A plainWord is a counter or a flag that is only added to, set and read: no access depends on
// another that it would have to be one step with.
type plainWord struct {
	variable *types.Var
	kind     *types.Basic
	accesses []wordAccess
	file     *source.File
	declared ast.Node // *ast.Field or *ast.ValueSpec
}

// A wordAccess is one access to a plainWord.
type wordAccess struct {
	file     *source.File
	e        ast.Expr // the variable
	parent   ast.Node
	function ast.Node
	fresh    bool // to what the function has just made
	verb     string
}

// atomicWords makes atomic variables of counters and flags that are only added to, set and read.
// Where that is all, it is a smaller change than a lock: no way through the program has to
// release anything. Fields beside it that the same functions count get the same.
func (r *finder) atomicWords() []*change.Change {
	var changes []*change.Change
	for _, v := range r.RacedVariables() {
		word := r.plainWordOf(v)
		if word == nil {
			continue
		}
		words := []*plainWord{word}
		var beside []*plainWord
		for _, field := range r.FieldsBeside(v, func(f *types.Var) bool { return wordKind(f) != nil }) {
			switch other := r.plainWordOf(field); {
			case other == nil:
			case other.writtenWith(word):
				words = append(words, other)
			case other.isWritten() && !r.Minimal:
				beside = append(beside, other)
			}
		}
		if readTogether(words) || r.announces(words) {
			continue
		}
		// Others that have the same mistake are not left for the next report.
		for _, other := range beside {
			if all := append(slices.Clone(words), other); !readTogether(all) && !r.announces(all) {
				words = all
			}
		}
		changes = append(changes, r.declareAtomic(words)...)
	}
	return changes
}

// wordKind is the type of a variable, if sync/atomic has one for it.
func wordKind(v *types.Var) *types.Basic {
	b, ok := types.Unalias(v.Type()).(*types.Basic)
	if !ok || atomicTypes[b.Kind()].name == "" {
		return nil
	}
	return b
}

// plainWordOf is a variable as a plainWord; nil if it is none.
func (r *finder) plainWordOf(v *types.Var) *plainWord {
	word := &plainWord{variable: v, kind: wordKind(v)}
	if word.kind == nil || v.Exported() || !v.IsField() && v.Parent() != v.Pkg().Scope() {
		return nil
	}
	ok := true
	for _, f := range r.Code.Files() {
		syntax.Inspect(f, func(n ast.Node, around []ast.Node) {
			id, isIdent := n.(*ast.Ident)
			if !isIdent || !ok {
				return
			}
			if f.Info.Defs[id] == types.Object(v) {
				word.file, word.declared = f, around[len(around)-1]
			}
			if used, isVar := f.Info.Uses[id].(*types.Var); isVar && syntax.Same(used.Origin(), v) {
				ok = word.access(f, id, around)
			}
		})
	}
	if !ok || word.declared == nil || !word.declaredAlone() || !r.independent(word) {
		return nil
	}
	return word
}

// access notes an access; it is false if the access cannot be an atomic one.
func (word *plainWord) access(f *source.File, id *ast.Ident, around []ast.Node) bool {
	e, parents := ast.Expr(id), around
	if selector, ok := parents[len(parents)-1].(*ast.SelectorExpr); ok && selector.Sel == id {
		e, parents = selector, parents[:len(parents)-1]
	}
	function, _ := syntax.FunctionAround(parents)
	p, ok := syntax.PathOf(f.Info, e)
	if !ok || function == nil {
		return false
	}
	a := wordAccess{file: f, e: e, parent: parents[len(parents)-1], function: function, verb: "Load"}
	a.fresh = word.variable.IsField() && syntax.FreshIn(f, p.Root, parents)
	signed := word.kind.Info()&types.IsUnsigned == 0
	switch parent := a.parent.(type) {
	case *ast.UnaryExpr:
		ok = parent.Op != token.AND
	case *ast.KeyValueExpr:
		ok = parent.Key != e
	case *ast.RangeStmt:
		ok = parent.X == e
	case *ast.IncDecStmt:
		a.verb = "Add"
	case *ast.AssignStmt:
		if !slices.Contains(parent.Lhs, e) {
			break
		}
		ok = len(parent.Lhs) == 1 && !syntax.MentionsField(f, parent.Rhs[0], word.variable)
		switch parent.Tok {
		case token.ASSIGN:
			a.verb = "Store"
		case token.ADD_ASSIGN:
			a.verb = "Add"
		case token.SUB_ASSIGN:
			a.verb, ok = "Add", ok && signed
		default:
			ok = false
		}
	}
	word.accesses = append(word.accesses, a)
	return ok
}

// declaredAlone reports whether the variable has a declaration of its own, without a first value
// and without a tag that gives it a meaning elsewhere.
func (word *plainWord) declaredAlone() bool {
	switch d := word.declared.(type) {
	case *ast.Field:
		return len(d.Names) == 1 && d.Tag == nil
	case *ast.ValueSpec:
		return len(d.Names) == 1 && len(d.Values) == 0 && d.Type != nil
	}
	return false
}

// independent reports whether the accesses are independent of each other, and of any lock. A
// function that reads the variable twice, or reads and writes it, by itself or by what it calls,
// may decide by what it has read; only additions need not know of each other.
func (r *finder) independent(word *plainWord) bool {
	by := make(map[ast.Node]map[string]int) // what functions do, by verb
	writes := 0
	for _, a := range word.accesses {
		if a.fresh {
			continue
		}
		flow := r.Code.Locks().Flow(a.function)
		if flow == nil || len(flow.Held(a.e)) > 0 || len(flow.Held(a.parent)) > 0 {
			return false // a lock guards it, or should
		}
		if by[a.function] == nil {
			by[a.function] = make(map[string]int)
		}
		by[a.function][a.verb]++
		if a.verb != "Load" {
			writes++
		}
	}
	if writes == 0 || r.lockBeside(word.variable) {
		return false
	}
	for _, f := range r.Code.Files() {
		if strings.HasSuffix(f.Name, "_test.go") {
			continue // tests look at what they have done
		}
		for _, d := range f.Syntax.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil && r.dependent(f, fn, by) {
				return false
			}
		}
	}
	return true
}

// dependent reports whether a function accesses a word at several places that may depend on each
// other; by is what functions do themselves.
func (r *finder) dependent(f *source.File, fn *ast.FuncDecl, by map[ast.Node]map[string]int) bool {
	places, additions := 0, 0
	count := func(did map[string]int, times int) {
		total := did["Load"] + did["Store"] + did["Add"]
		if total == 0 {
			return
		}
		places += min(total, times)
		if did["Load"]+did["Store"] == 0 {
			additions += min(total, times)
		}
	}
	ast.Inspect(fn, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			return false
		case *ast.FuncLit, *ast.FuncDecl:
			count(by[n], len(by[n])+by[n]["Load"]+by[n]["Store"]+by[n]["Add"])
		case *ast.CallExpr:
			if d, in := r.Declaration(f, n); d != nil && d != fn && d.Body != nil {
				count(r.doneBy(in, d, by), 1)
			}
		}
		return true
	})
	return places > 1 && additions < places
}

// doneBy is what a function does with a word, by itself and by what it calls.
func (r *finder) doneBy(f *source.File, d *ast.FuncDecl, by map[ast.Node]map[string]int) map[string]int {
	all := make(map[string]int)
	r.Reaches(f, d, func(_ *source.File, n ast.Node) bool {
		for verb, times := range by[n] {
			all[verb] += times
		}
		return false
	})
	return all
}

// lockBeside reports whether the struct that has a field has a lock too.
func (r *finder) lockBeside(v *types.Var) bool {
	return v.IsField() && len(r.FieldsBeside(v, func(f *types.Var) bool { return locks.IsLock(f.Type()) })) > 0
}

// isWritten reports whether the program writes the word once others may know of it.
func (word *plainWord) isWritten() bool {
	return slices.ContainsFunc(word.accesses, func(a wordAccess) bool {
		return a.verb != "Load" && !a.fresh && !strings.HasSuffix(a.file.Name, "_test.go")
	})
}

// writtenWith reports whether a function that accesses one word writes the other.
func (word *plainWord) writtenWith(other *plainWord) bool {
	return slices.ContainsFunc(word.accesses, func(a wordAccess) bool {
		return a.verb != "Load" && !a.fresh && slices.ContainsFunc(other.accesses, func(b wordAccess) bool { return a.function == b.function })
	})
}

// readTogether reports whether a function reads several of some words: they belong together, and
// a lock keeps them so.
func readTogether(words []*plainWord) bool {
	reads := make(map[ast.Node]int)
	for i, word := range words {
		for _, a := range word.accesses {
			if a.verb == "Load" && !strings.HasSuffix(a.file.Name, "_test.go") {
				if reads[a.function] != 0 && reads[a.function] != i+1 {
					return true
				}
				reads[a.function] = i + 1
			}
		}
	}
	return false
}

// announces reports whether a function that writes one of some words writes another field of the
// struct as well: the word tells of what is in the field, and only a lock keeps the two together.
func (r *finder) announces(words []*plainWord) bool {
	others := r.FieldsBeside(words[0].variable, func(f *types.Var) bool {
		return !slices.ContainsFunc(words, func(word *plainWord) bool { return syntax.Same(word.variable, f) })
	})
	for _, word := range words {
		for _, a := range word.accesses {
			if a.verb == "Load" || a.fresh || strings.HasSuffix(a.file.Name, "_test.go") {
				continue
			}
			if slices.ContainsFunc(others, func(f *types.Var) bool { return r.writesIn(a.file, a.function, f) }) {
				return true
			}
		}
	}
	return false
}

// writesIn reports whether a function writes a field, or an element of what it holds.
func (r *finder) writesIn(f *source.File, function ast.Node, field *types.Var) bool {
	return r.Reaches(f, function, func(f *source.File, n ast.Node) bool {
		var left []ast.Expr
		switch n := n.(type) {
		case *ast.AssignStmt:
			left = n.Lhs
		case *ast.IncDecStmt:
			left = []ast.Expr{n.X}
		}
		return slices.ContainsFunc(left, func(e ast.Expr) bool {
			if element, ok := ast.Unparen(e).(*ast.IndexExpr); ok {
				e = element.X
			}
			p, ok := syntax.PathOf(f.Info, e)
			return ok && syntax.Same(p.Variable.Origin(), field)
		})
	})
}

// declareAtomic gives words types of sync/atomic, and rewrites all accesses.
func (r *finder) declareAtomic(words []*plainWord) []*change.Change {
	w := r.Rewrite()
	var names []string
	for _, word := range words {
		f := word.file
		if module := f.Package.Module; module == nil || version.Compare("go"+module.GoVersion, "go1.19") < 0 {
			return nil
		}
		atomic, err := w.Of(f).ImportStd("sync/atomic")
		if err != nil {
			return nil
		}
		var declared ast.Expr
		switch d := word.declared.(type) {
		case *ast.Field:
			declared = d.Type
		case *ast.ValueSpec:
			declared = d.Type
		}
		w.Of(f).Replace(declared, atomic+"."+atomicTypes[word.kind.Kind()].name)
		w.Note(f, word.declared)
		for _, a := range word.accesses {
			word.rewrite(w, a)
		}
		names = append(names, word.variable.Name())
	}
	verb := " is"
	if len(names) > 1 {
		verb = " are"
	}
	variables := strings.Join(names, ", ")
	return w.Finish(&change.Change{
		Atomic:  true,
		Words:   variables + verb + " atomic",
		Mistake: "goroutines add to, set or read " + variables + " at the same time, and that takes several steps",
		Reason:  "each access is one step, and none depends on another",
	})
}

// rewrite rewrites one access.
func (word *plainWord) rewrite(w *change.Rewriting, a wordAccess) {
	f := a.file
	converted := atomicTypes[word.kind.Kind()].converted
	value := func(e ast.Expr) string {
		if converted == "" || f.Info.Types[e].Value != nil {
			return f.TextOf(e)
		}
		return converted + "(" + f.TextOf(e) + ")"
	}
	method := f.TextOf(a.e) + "." + a.verb
	switch parent := a.parent.(type) {
	case *ast.IncDecStmt:
		step := "1"
		if parent.Tok == token.DEC {
			step = minusOne(word.kind)
			if converted != "" && word.kind.Info()&types.IsUnsigned != 0 {
				step = "^" + converted + "(0)"
			}
		}
		w.Of(f).Replace(parent, method+"("+step+")")
		return
	case *ast.AssignStmt:
		if a.verb == "Load" {
			break
		}
		argument := value(parent.Rhs[0])
		if parent.Tok == token.SUB_ASSIGN {
			argument = "-(" + argument + ")"
			if f.Info.Types[parent.Rhs[0]].Value != nil || converted != "" {
				argument = "-" + value(parent.Rhs[0])
			}
		}
		w.Of(f).Replace(parent, method+"("+argument+")")
		return
	}
	text := method + "()"
	if converted != "" {
		text = word.kind.Name() + "(" + text + ")"
	}
	w.Of(f).Replace(a.e, text)
}
