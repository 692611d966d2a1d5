package hooks

import (
	"go/ast"
	"go/types"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/load"
)

// untouchable are directives of functions that must stay as they are: their bodies
// may not call, or are not the ones that run.
var untouchable = []string{"//go:nosplit", "//go:norace", "//go:systemstack", "//go:nowritebarrier", "//go:yeswritebarrierrec", "//go:linkname", "//go:noescape", "//go:cgo_unsafe_args"}

// funcDecl returns the text of a function declaration.
func (r *rewriter) funcDecl(d *ast.FuncDecl) string {
	if d.Body == nil {
		return r.verbatim(d)
	}
	if d.Doc != nil {
		for _, c := range d.Doc.List {
			for _, u := range untouchable {
				if strings.HasPrefix(c.Text, u) && (len(c.Text) == len(u) || c.Text[len(u)] == ' ') && !r.onlyExported(c.Text) {
					return r.untouched(d, u)
				}
			}
		}
	}
	r.function, r.literals = load.FuncName(d), 0
	if r.in != nil && !r.in(filepath.Base(r.file.Name), r.function) {
		return r.verbatim(d)
	}
	params := []*ast.FieldList{d.Recv, d.Type.Params, d.Type.Results}
	body := r.body(d.Name, d.Type, params, d.Body)
	r.function = ""
	if d.Recv == nil && d.Name.Name == "main" && r.pkg.Name == "main" && r.mode == Memory {
		r.used = true
		inner := r.fresh + "Main"
		body = "{ " + r.hook("Main", inner) + " }; func " + inner + "() " + body
	}
	return r.spliced(d, r.part(d.Body, body))
}

// onlyExported reports whether a directive lets other packages call a function of the
// standard library by its linker name, and says nothing else:
//
//	//go:linkname appendRune
func (r *rewriter) onlyExported(directive string) bool {
	return r.mode == Library && len(strings.Fields(directive)) == 2 && strings.HasPrefix(directive, "//go:linkname ")
}

// untouched returns the source of a function that must stay as it is, and notes it
// if there would have been anything to do.
func (r *rewriter) untouched(d *ast.FuncDecl, mark string) string {
	before := *r
	r.parts(d.Body)
	missed := r.hooks > before.hooks
	*r = before
	if missed {
		r.miss(d.Name, "function "+d.Name.Name, "it is marked "+mark)
	}
	return r.verbatim(d)
}

// funcLit returns the text of a function literal.
func (r *rewriter) funcLit(e *ast.FuncLit) string {
	// As the compiler names them: f.func1, and f.func1.2 inside that.
	outer := r.function
	r.literals++
	n := r.literals
	if r.function += "."; !r.literal {
		r.function += "func"
	}
	r.function += strconv.Itoa(n)
	was := r.literal
	r.literals, r.literal = 0, true
	body := r.body(e, e.Type, []*ast.FieldList{e.Type.Params, e.Type.Results}, e.Body)
	r.function, r.literals, r.literal = outer, n, was
	return r.spliced(e, r.part(e.Body, body))
}

// body returns the text of a function's body. One that calls, or has hooks, gets a
// frame:
//
//	func f() {   ->   func f() { defer cofferdamrt.Leave(cofferdamrt.Enter(7));
//
// The deferred call comes first and so runs last, and it is not between a deferred
// function of the user's and the panic that it recovers.
//
// A result with a name that others may reach is loaded when all deferred functions have
// run:
//
//	func f() (n int) {   ->   func f() (n int) { defer ...; defer cofferdamrt.R(&n, 8);
func (r *rewriter) body(name ast.Node, t *ast.FuncType, params []*ast.FieldList, b *ast.BlockStmt) string {
	hooks, calls, results := r.hooks, r.calls, r.results
	r.hooks, r.calls, r.results = 0, 0, nil
	var ids []*ast.Ident
	var loads string
	for _, l := range params {
		if l == nil {
			continue
		}
		for _, f := range l.List {
			ids = append(ids, f.Names...)
			if l != t.Results {
				continue
			}
			for _, n := range f.Names {
				if x, ok := r.info.Defs[n].(*types.Var); ok {
					r.results = append(r.results, x)
					if r.mode == Memory && x.Name() != "_" && r.vars.local(x) {
						loads += " defer " + r.hook("R", "&"+x.Name(), r.accessTo(x.Type(), event.Load, n)) + ";"
					}
				}
			}
		}
	}
	vars := strings.TrimPrefix(r.declared(ids...), "; ")
	parts := r.parts(b)
	start := ""
	if r.mode == Memory && r.hooks+r.calls > 0 {
		start = " defer " + r.hook("Leave", r.hook("Enter", r.site(event.Call, name))) + ";"
	}
	start += loads
	if vars != "" {
		start += " " + vars + ";"
	}
	r.hooks, r.calls, r.results = hooks, calls, results
	return r.spliced(b, append(parts, insert(b.Lbrace+1, start))...)
}
