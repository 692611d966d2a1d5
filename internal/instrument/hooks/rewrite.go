package hooks

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strconv"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/load"
	"github.com/cofferdam-go/cofferdam/internal/source"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// A Mode is how much of a package is brought under control.
type Mode uint8

const (
	// Plain packages are built as they are.
	Plain Mode = iota
	// Sync packages hand goroutines, channels and atomics to the scheduler.
	Sync
	// Memory packages do so with every access to memory that may be shared.
	Memory
	// Library packages do so too, for the program that calls them: their accesses and atomics
	// have no site, and their functions and allocations no hooks.
	Library
)

// library is the site of what the standard library does for the program.
const library = "0"

// A Missed construct was left as it is, though it does what is otherwise under
// control.
type Missed struct {
	Package string
	File    string
	Line    int
	What    string
	Why     string
}

// A rewriter rewrites one file.
//
// Its methods return text: the source of a node with the hooks in it. Each rewrite
// asks for the text of the parts it keeps, so rewrites nest as the syntax does, and
// what no rewrite is about comes out byte for byte.
type rewriter struct {
	pkg  *load.Checked
	info *types.Info
	file *source.File
	mode Mode

	rt    string // what the file calls the hooks' package
	fresh string // how variables of ours begin
	names int    // how many there are

	// perIteration says that the file's loops declare their variables anew in each
	// iteration, as they do since Go 1.22.
	perIteration bool
	in           Scope // what to rewrite
	// gotos are the labels that a goto jumps to.
	gotos map[types.Object]bool

	vars     *variables
	bodiless map[*types.Func]bool
	function string
	literals int          // how many function literals it has had so far
	literal  bool         // whether it is one
	results  []*types.Var // of the innermost function, if they have names

	// early is where what has to be evaluated ahead of the statement goes, nil if there is
	// no place for it; aheadOf are the calls for which that is so.
	early   *early
	aheadOf map[ast.Expr]bool

	sites  []trace.Site
	last   string // the newest site, as an argument
	missed []Missed
	hooks  int      // in the innermost function so far
	calls  int      // in the innermost function so far
	used   bool     // the text differs from the source
	tail   []string // declarations to add at the end
}

// rewrite returns the file's source with hooks. Sites are numbered from 1 and
// stand in the text between marks; number puts the final ones in.
func (r *rewriter) rewrite() string {
	f := r.file.Syntax
	parts := r.parts(f)
	edits := r.file.Edit()
	borrows := r.redirect(edits)
	if !r.used && !borrows {
		return string(r.file.Text)
	}
	if r.used {
		edits.ImportInLine(r.rt, "cofferdamrt")
	}
	r.used = true
	for _, p := range parts {
		edits.ReplaceBetween(p.pos, p.end, p.text)
	}
	if len(r.tail) > 0 {
		edits.Append(strings.Join(r.tail, "\n"))
	}
	text, err := edits.Bytes()
	if err != nil {
		panic(err) // declarations do not overlap
	}
	return string(text)
}

const (
	siteMark = "\x01site"
	siteEnd  = "\x02"
)

// site returns the number of a new site, as an argument of a hook.
func (r *rewriter) site(kind event.Kind, n ast.Node) string {
	if e, ok := n.(ast.Expr); ok {
		n = ast.Unparen(e) // the analysis knows expressions without their parentheses
	}
	return r.siteAt(kind, n.Pos(), n.End())
}

// lastSite returns the number of the newest site again.
func (r *rewriter) lastSite() string { return r.last }

// accesses reports whether accesses to memory have hooks.
func (r *rewriter) accesses() bool { return r.mode == Memory || r.mode == Library }

// accessTo is site for an access to a value of a type.
func (r *rewriter) accessTo(t types.Type, kind event.Kind, n ast.Node) string {
	id := r.site(kind, n)
	if id != library {
		r.sites[len(r.sites)-1].Type = layout(t, r.pkg.TypesSizes)
	}
	return id
}

func (r *rewriter) siteAt(kind event.Kind, pos, end token.Pos) string {
	if r.mode == Library && (kind.IsMemory() || kind.IsAtomic()) {
		r.hooks++
		r.used = true
		r.last = library
		return library
	}
	from, to := r.pkg.Fset.PositionFor(pos, false), r.pkg.Fset.PositionFor(end, false)
	r.hooks++
	r.used = true
	r.sites = append(r.sites, trace.Site{
		ID: uint32(len(r.sites) + 1), Kind: kind,
		Package: r.pkg.PkgPath, File: r.file.Name,
		Line: from.Line, Column: from.Column, EndLine: to.Line, EndColumn: to.Column,
		Function: r.function, Expr: excerpt(r.source(pos, end)),
	})
	r.last = siteMark + strconv.Itoa(len(r.sites)) + siteEnd
	return r.last
}

// maxExcerpt is how much source a site carries.
const maxExcerpt = 80

func excerpt(s string) string {
	s, _, more := strings.Cut(s, "\n")
	if len(s) > maxExcerpt {
		s, more = s[:maxExcerpt], true
	}
	if more {
		s = strings.TrimRight(s, " \t{") + " ..."
	}
	return strings.ToValidUTF8(s, "?")
}

// number replaces the marks of sites by their numbers, counted on from base.
func number(text string, base uint32) string {
	var b strings.Builder
	b.Grow(len(text))
	for {
		before, rest, ok := strings.Cut(text, siteMark)
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		n, after, _ := strings.Cut(rest, siteEnd)
		id, err := strconv.ParseUint(n, 10, 32)
		if err != nil {
			panic("a site's mark holds no number: " + err.Error())
		}
		b.WriteString(strconv.FormatUint(uint64(base)+id, 10))
		text = after
	}
}

// miss notes a construct that is left alone.
func (r *rewriter) miss(n ast.Node, what, why string) {
	r.missed = append(r.missed, Missed{
		Package: r.pkg.PkgPath, File: r.file.Name, Line: r.pkg.Fset.PositionFor(n.Pos(), false).Line, What: what, Why: why,
	})
}

// hook returns a call of a hook.
func (r *rewriter) hook(name string, args ...string) string {
	return r.rt + "." + name + "(" + strings.Join(args, ", ") + ")"
}

// name returns a variable that the file does not use.
func (r *rewriter) name() string {
	r.names++
	return r.fresh + strconv.Itoa(r.names)
}

func (r *rewriter) source(pos, end token.Pos) string { return r.file.Between(pos, end) }

// verbatim returns a node's source.
func (r *rewriter) verbatim(n ast.Node) string { return r.source(n.Pos(), n.End()) }

// newlines returns as many line breaks as there are in a range of the source: what
// keeps the lines where they are when the range itself is dropped.
func (r *rewriter) newlines(pos, end token.Pos) string {
	return strings.Repeat("\n", strings.Count(r.source(pos, end), "\n"))
}

// at returns a line directive that puts what follows it where pos is.
func (r *rewriter) at(pos token.Pos) string {
	p := r.pkg.Fset.Position(pos)
	return fmt.Sprintf("/*line :%d:%d*/", p.Line, max(p.Column, 1))
}

// line is the line of the file that holds pos.
func (r *rewriter) line(pos token.Pos) int { return r.file.Line(pos) }

// A part is a range of the source and the text that takes its place.
type part struct {
	pos, end token.Pos
	text     string
}

func (r *rewriter) part(n ast.Node, text string) part { return part{n.Pos(), n.End(), text} }

// insert returns a part that adds text before pos.
func insert(pos token.Pos, text string) part { return part{pos, pos, text} }

// splice returns a range of the source with parts of it replaced. It does not go by one
// buffer for the whole file, because a part's text is made from the texts of the parts within
// it, not always in their order and sometimes twice.
func (r *rewriter) splice(pos, end token.Pos, parts ...part) string {
	edits := r.file.Edit()
	for _, p := range parts {
		edits.ReplaceBetween(p.pos, p.end, p.text)
	}
	text, err := edits.Buffer().Range(r.file.Offset(pos), r.file.Offset(end))
	if err != nil {
		panic(err) // the parts of a node do not overlap
	}
	return text
}

// spliced is splice over a whole node.
func (r *rewriter) spliced(n ast.Node, parts ...part) string {
	return r.splice(n.Pos(), n.End(), parts...)
}

// parts returns the rewritten children of a node.
func (r *rewriter) parts(n ast.Node) []part {
	var parts []part
	ast.Inspect(n, func(c ast.Node) bool {
		if c == n {
			return true
		}
		if c != nil {
			if text, changed := r.text(c); changed {
				parts = append(parts, r.part(c, text))
			}
		}
		return false
	})
	return parts
}

// text returns a node's text, and whether it can differ from its source.
func (r *rewriter) text(n ast.Node) (string, bool) {
	switch n := n.(type) {
	case *ast.CommentGroup, *ast.Comment, *ast.Field, *ast.FieldList, *ast.ImportSpec, *ast.TypeSpec, *ast.BranchStmt, *ast.EmptyStmt, *ast.BasicLit:
		return "", false
	case *ast.GenDecl:
		return r.globals(n), true
	case *ast.FuncDecl:
		return r.funcDecl(n), true
	case ast.Stmt:
		return r.stmt(n, false), true
	case ast.Expr:
		return r.value(n), true
	}
	panic(fmt.Sprintf("rewriting %T", n))
}

// globals returns the declaration of package-level variables.
func (r *rewriter) globals(d *ast.GenDecl) string {
	if d.Tok != token.VAR {
		return r.verbatim(d)
	}
	var parts []part
	for _, s := range d.Specs {
		for _, v := range s.(*ast.ValueSpec).Values {
			r.function = "init"
			parts = append(parts, r.part(v, r.value(v)))
		}
	}
	return r.spliced(d, parts...)
}

// typeOf returns an expression's type; it is invalid where cgo is involved.
func (r *rewriter) typeOf(e ast.Expr) types.Type {
	if t := r.info.TypeOf(e); t != nil {
		return t
	}
	return types.Typ[types.Invalid]
}

// builtin returns the name of the built-in function that an expression denotes.
func (r *rewriter) builtin(e ast.Expr) string {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		if b, ok := r.info.Uses[e].(*types.Builtin); ok {
			return b.Name()
		}
	case *ast.SelectorExpr:
		if b, ok := r.info.Uses[e.Sel].(*types.Builtin); ok {
			return "unsafe." + b.Name()
		}
	}
	return ""
}

// packageOf returns the path of the package that e.g. atomic.AddInt32 is qualified
// with, or "".
func (r *rewriter) packageOf(e *ast.SelectorExpr) string {
	if id, ok := e.X.(*ast.Ident); ok {
		if p, ok := r.info.Uses[id].(*types.PkgName); ok {
			return p.Imported().Path()
		}
	}
	return ""
}

// visible reports whether a local variable's name has its meaning at pos.
func (r *rewriter) visible(x *types.Var, pos token.Pos) bool {
	return r.file.Means(x, pos)
}

// universe reports whether a predeclared name has its meaning at pos.
func (r *rewriter) universe(name string, pos token.Pos) bool {
	return r.file.Means(types.Universe.Lookup(name), pos)
}

// hasCall reports whether evaluating e can run other code or block.
func (r *rewriter) hasCall(e ast.Node) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CallExpr:
			if tv := r.info.Types[n.Fun]; tv.IsType() || r.info.Types[n].Value != nil {
				return true
			}
			switch r.builtin(n.Fun) {
			case "len", "cap", "new", "make", "real", "imag", "complex", "min", "max", "unsafe.Sizeof", "unsafe.Alignof", "unsafe.Offsetof":
				return true
			}
			found = true
		case *ast.UnaryExpr:
			found = found || n.Op == token.ARROW
		}
		return !found
	})
	return found
}
