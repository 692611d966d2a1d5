package plan

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/types/typeutil"

	"github.com/cofferdam-go/cofferdam/internal/guard"
	"github.com/cofferdam-go/cofferdam/internal/load"
	"github.com/cofferdam-go/cofferdam/internal/locks"
	"github.com/cofferdam-go/cofferdam/internal/protect/facts"
	"github.com/cofferdam-go/cofferdam/internal/protect/outline"
	"github.com/cofferdam-go/cofferdam/internal/protect/rule"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// newUnit reads a package, and finds its functions and sections.
func newUnit(p *planner, pkg *packages.Package) (*unit, error) {
	u := &unit{
		planner: p, pkg: pkg, info: pkg.TypesInfo, sizes: pkg.TypesSizes,
		functions: make(map[facts.FuncKey]function), statements: make(map[*ast.FuncDecl]*facts.Statement),
	}
	for i, syntax := range pkg.Syntax {
		if !facts.Rewritable(pkg, syntax) {
			continue
		}
		text, err := os.ReadFile(pkg.Fset.File(syntax.FileStart).Name())
		if err != nil {
			return nil, err
		}
		f, err := source.NewFile(pkg.Fset, syntax, text)
		if err != nil {
			return nil, err
		}
		f.Package, f.Types, f.Info = pkg, pkg.Types, pkg.TypesInfo
		u.files = append(u.files, f)
		u.index = append(u.index, i)
		for _, d := range syntax.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && d.Body != nil {
				if o, ok := u.info.Defs[d.Name].(*types.Func); ok {
					u.functions[facts.FuncKeyOf(o)] = function{d, len(u.files) - 1}
				}
			}
		}
	}
	for i := range u.files {
		u.findBodies(i)
	}
	return u, nil
}

// noteAllUnfollowed does so for all bodies, when it is known which functions return with a
// lock.
func (u *unit) noteAllUnfollowed() {
	for _, b := range u.all {
		u.noteUnfollowed(b)
		if len(b.alone) > 0 && !slices.Contains(u.bodies, b) {
			u.bodies = append(u.bodies, b)
		}
	}
}

// findBodies finds the sections of a file.
func (u *unit) findBodies(file int) {
	for _, d := range u.files[file].Syntax.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Body != nil {
				u.findBody(file, d.Body, cmp.Or(facts.Directive(d.Doc), u.leftAlone(d), u.renames(d), u.declarationLeftOut(d)))
			}
		case *ast.GenDecl:
			u.findLiterals(file, d, cmp.Or(u.leftAlone(d), u.renames(d), u.declarationLeftOut(d)))
		}
	}
}

// leftAlone returns why a declaration is to be left as it is.
func (u *unit) leftAlone(d ast.Decl) string {
	from, to := u.facts.Fset.PositionFor(d.Pos(), false), u.facts.Fset.PositionFor(d.End(), false)
	for _, a := range u.Alone {
		if a.File == from.Filename && from.Line <= a.Line && a.Line <= to.Line {
			return a.Why
		}
	}
	return ""
}

// written are the names of the language that are written into sections.
var written = []string{"true", "false", "nil"}

// renames returns why nothing can be written into a declaration: one of the names means
// something else there.
func (u *unit) renames(d ast.Decl) string {
	for _, name := range written {
		if u.pkg.Types.Scope().Lookup(name) != nil {
			return "the package has another meaning of " + name
		}
	}
	why := ""
	ast.Inspect(d, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && u.info.Defs[id] != nil && slices.Contains(written, id.Name) {
			if v, ok := u.info.Defs[id].(*types.Var); !ok || !v.IsField() {
				why = "the function has another meaning of " + id.Name
			}
		}
		return why == ""
	})
	return why
}

// findBody finds the sections of a body and of the function literals in it, which are
// left alone if there is a reason.
func (u *unit) findBody(file int, block *ast.BlockStmt, why string) {
	b := &body{file: file, block: block}
	for _, op := range u.acquisitions(block) {
		f := outline.Follow(u.facts, u.pkg, block, op.Lock)
		unstable := slices.IndexFunc(f.Outlines, func(o *outline.Outline) bool { return !u.isSettled(block, o) })
		switch {
		case f.Why != "" || why != "":
			u.leaveAlone(b, f, op, why)
		case u.leftOut(rule.OfLock, u.names.Both(u.lockName(op.Place))...) != "":
			u.leaveAlone(b, f, op, u.leftOut(rule.OfLock, u.names.Both(u.lockName(op.Place))...))
		case unstable >= 0:
			u.leaveAlone(b, f, op, f.Outlines[unstable].Lock.Root.Name()+" is assigned to")
		default:
			b.outlines = append(b.outlines, f.Outlines...)
		}
	}
	for _, o := range b.outlines {
		for _, s := range o.Inside {
			s.Does = u.facts.Statement(u.pkg, block, s.Spans, s.Nodes...)
		}
	}
	u.all = append(u.all, b)
	u.findHelper(b)
	u.findGivenLocks(b)
	if len(b.outlines)+len(b.alone) > 0 {
		u.bodies = append(u.bodies, b)
	}
	u.findLiterals(file, block, why)
}

func (u *unit) findLiterals(file int, n ast.Node, why string) {
	ast.Inspect(n, func(n ast.Node) bool {
		l, ok := n.(*ast.FuncLit)
		if ok {
			u.findBody(file, l.Body, why)
		}
		return !ok
	})
}

// acquisitions returns the first operation by which a body takes each lock, or tries to.
func (u *unit) acquisitions(block *ast.BlockStmt) []facts.Operation {
	var all []facts.Operation
	ast.Inspect(block, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.CallExpr:
			o, ok := u.facts.Operation(u.pkg, n)
			if ok && !o.Releases() && !slices.ContainsFunc(all, func(old facts.Operation) bool { return old.On(o.Lock) }) {
				all = append(all, o)
			}
		}
		return true
	})
	return all
}

// leaveAlone notes that a body's sections of a lock stay as they are.
func (u *unit) leaveAlone(b *body, f *outline.Flow, op facts.Operation, why string) {
	if why == "" {
		why = f.Why
	}
	first := b.block.Pos()
	ast.Inspect(b.block, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok {
			if o, ok := u.facts.Operation(u.pkg, c); ok && o.On(op.Lock) && first == b.block.Pos() {
				first = c.Pos()
			}
		}
		return true
	})
	if f.At.IsValid() && u.line(f.At) != u.line(first) {
		why += fmt.Sprintf(" (line %d)", u.line(f.At))
	}
	s := Section{At: u.facts.Fset.PositionFor(first, false), Lock: u.lockName(op.Place), LockKey: u.facts.KeyOf(op.Place.Last()), Times: 1, Why: why}
	b.alone = append(b.alone, aloneSection{s, op.Place.Last()})
}

// findHelper notes a function that returns with a lock: it takes one, and has no call that
// releases it. The release may be a value that it returns.
//
//	func (x *T) enter() func() { x.mu.Lock(); return x.mu.Unlock }
func (u *unit) findHelper(b *body) {
	d := u.declarationOf(b.block)
	if d == nil {
		return
	}
	var taken []*types.Var
	released := make(map[*types.Var]bool)
	ast.Inspect(b.block, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok {
			switch v, release := u.facts.LockField(u.pkg, c); {
			case v == nil:
			case release:
				released[v] = true
			default:
				taken = append(taken, v)
			}
		}
		return true
	})
	for _, v := range taken {
		if !released[v] {
			u.helpers[facts.FuncKeyOf(d)] = v
		}
	}
}

// declarationOf returns the function that a body is of, nil for that of a literal.
func (u *unit) declarationOf(block *ast.BlockStmt) *types.Func {
	for _, f := range u.files {
		for _, d := range f.Syntax.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && d.Body == block {
				fn, _ := u.info.Defs[d.Name].(*types.Func)
				return fn
			}
		}
	}
	return nil
}

// noteUnfollowed notes the sections of a body whose lock has no name that a section could
// use, or is taken by a function that returns with it.
//
//	shards[i].mu.Lock()      an element
//	t.owner.mu.Lock()        by way of a pointer
//	locker.Lock()            by way of an interface
//	t.lock()                 a function that takes it
//	with(&t.mu, f)           a function that takes what it is given
func (u *unit) noteUnfollowed(b *body) {
	ast.Inspect(b.block, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return n.Body == b.block
		case *ast.CallExpr:
			lock, why := u.unfollowed(n)
			if lock == nil {
				break
			}
			s := Section{At: u.facts.Fset.PositionFor(n.Pos(), false), Lock: u.lockName(facts.Place{Root: lock}), LockKey: u.facts.KeyOf(lock), Times: 1, Why: why}
			b.alone = append(b.alone, aloneSection{s, lock})
		}
		return true
	})
}

// unfollowed returns the lock that a call takes, and why its section is not followed; nil for
// calls that take none, or one that is followed.
func (u *unit) unfollowed(c *ast.CallExpr) (*types.Var, string) {
	if _, ok := u.facts.Operation(u.pkg, c); ok {
		return nil, ""
	}
	if v, release := u.facts.LockField(u.pkg, c); v != nil && !release {
		return v, u.whyUnfollowed(c)
	}
	if fn, ok := typeutil.Callee(u.info, c).(*types.Func); ok {
		if v := u.helpers[facts.FuncKeyOf(fn)]; v != nil {
			return v, "the lock is taken by " + facts.FuncName(fn)
		}
		for _, i := range u.givenLocks[facts.FuncKeyOf(fn)] {
			if i < len(c.Args) {
				if v := u.facts.LockOf(u.pkg, c.Args[i]); v != nil {
					return v, "the lock is taken by " + facts.FuncName(fn)
				}
			}
		}
	}
	return nil, ""
}

// whyUnfollowed returns why the lock has no name that a section could use, of which a call is a method.
func (u *unit) whyUnfollowed(c *ast.CallExpr) string {
	method := typeutil.Callee(u.info, c).(*types.Func)
	switch {
	case types.IsInterface(method.Signature().Recv().Type()):
		return "the lock is reached by way of an interface"
	case !locks.IsStandard(method):
		return "the lock is not of package sync"
	}
	return "the lock is reached by way of a pointer or an element"
}

// lockName names a lock as its guard does.
func (u *unit) lockName(lock facts.Place) string {
	return cmp.Or(u.names.Lock(u.facts.KeyOf(lock.Last())), lock.String())
}

// short writes a place in the source without the directory.
func short(p token.Position) string {
	return filepath.Base(p.Filename) + ":" + strconv.Itoa(p.Line)
}

// entry returns the function of a file that the program begins in, or nil.
func (u *unit) entry(f *source.File) *ast.FuncDecl {
	name := "main"
	switch {
	case u.Tests && facts.IsTestFile(f.Name):
		name = "TestMain"
	case u.Tests || u.pkg.Name != "main":
		return nil
	}
	for _, d := range f.Syntax.Decls {
		if d, ok := d.(*ast.FuncDecl); ok && d.Recv == nil && d.Body != nil && d.Name.Name == name {
			return d
		}
	}
	return nil
}

// fileAt returns the file that a position is in.
func (u *unit) fileAt(p token.Pos) *source.File {
	i := slices.IndexFunc(u.files, func(f *source.File) bool { return f.Syntax.FileStart <= p && p <= f.Syntax.FileEnd })
	return u.files[i]
}

// functionOf returns the function that a group is in.
func (u *unit) functionOf(g *Group) facts.FuncKey {
	return u.facts.FunctionAt(u.info, u.pkg.Types, u.fileAt(g.First.Pos()).Syntax, g.First.Pos())
}

// means reports whether the name of a variable means that variable at a place of the
// source.
func (u *unit) means(v *types.Var, at token.Pos) bool { return u.fileAt(at).Means(v, at) }

// leftOut returns why something that has these names is not to be protected.
func (o *Options) leftOut(kind rule.Kind, names ...string) string {
	return rule.LeftOut(o.Only, o.Skip, kind, names...)
}

// declarationLeftOut returns why the sections of a declaration are not to be protected.
func (u *unit) declarationLeftOut(d ast.Decl) string {
	why := u.leftOut(rule.OfPackage, u.pkg.PkgPath)
	names := []string{u.pkg.Name} // a literal that a variable begins with
	if fn, ok := d.(*ast.FuncDecl); ok {
		name := strings.NewReplacer("(*", "", ")", "").Replace(load.FuncName(fn))
		names = []string{name, u.pkg.Name + "." + name}
	}
	return cmp.Or(why, u.leftOut(rule.OfFunction, names...))
}

// datumLeftOut returns why a variable is not to be protected.
func (p *planner) datumLeftOut(g *guard.Guard, d *guard.Datum) string {
	return cmp.Or(p.leftOut(rule.OfLock, p.names.Both(p.names.OfLock(g))...), p.leftOut(rule.OfVariable, p.names.Both(p.names.OfDatum(d))...))
}
