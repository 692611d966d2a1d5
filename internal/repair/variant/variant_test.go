package variant_test

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"

	"github.com/cofferdam-go/cofferdam/internal/load"
	"github.com/cofferdam-go/cofferdam/internal/locks"
	"github.com/cofferdam-go/cofferdam/internal/repair/variant"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

const head = `package p

import "sync"

type T struct {
	mu sync.RWMutex
	n  int
	c  chan int
}

`

// A program is a package with a type T and its lock, and the function Hold whose statements are to
// hold the lock.
type program struct {
	*source.Program
	file  *source.File
	locks *locks.Program
	hold  *ast.FuncDecl
	class *types.Var
}

func read(t *testing.T, text string) *program {
	t.Helper()
	text = head + text
	k := &packages.Package{PkgPath: "p", Fset: token.NewFileSet(), TypesInfo: load.NewInfo()}
	f, err := parser.ParseFile(k.Fset, "p.go", text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	k.Syntax = []*ast.File{f}
	if k.Types, err = (&types.Config{Importer: importer.Default()}).Check("p", k.Fset, k.Syntax, k.TypesInfo); err != nil {
		t.Fatal(err)
	}
	p, err := source.Read([]*packages.Package{k}, map[string][]byte{"p.go": []byte(text)})
	if err != nil {
		t.Fatal(err)
	}
	r := &program{Program: p, file: p.File("p.go"), locks: locks.NewProgram(locks.Unit{Info: k.TypesInfo, Files: k.Syntax})}
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Name.Name == "Hold" {
			r.hold = fn
		}
	}
	st := k.Types.Scope().Lookup("T").Type().Underlying().(*types.Struct)
	r.class = r.locks.Places.Canonical(st.Field(0))
	return r
}

// plan plans the variants for the statements of Hold, of which the receiver has the lock.
func (r *program) plan(t *testing.T, others ...variant.Section) *variant.Plan {
	t.Helper()
	receiver := r.hold.Recv.List[0].Names[0]
	at, why := r.locks.Place(r.file.Info, receiver)
	if at == nil {
		t.Fatal(why)
	}
	lock := variant.Lock{
		Words: "the mutex T.mu", Class: r.class, RW: true,
		Name: func(d *ast.FuncDecl) string {
			if d.Recv == nil {
				return ""
			}
			return d.Recv.List[0].Names[0].Name + ".mu"
		},
		Waits: func(stmts []ast.Stmt) string {
			why := ""
			ast.Inspect(&ast.BlockStmt{List: stmts}, func(n ast.Node) bool {
				if u, ok := n.(*ast.UnaryExpr); ok && u.Op == token.ARROW {
					why = "a receive"
				}
				return true
			})
			return why
		},
	}
	section := variant.Section{File: r.file, Func: r.hold, Statements: r.hold.Body.List, Object: at, Calls: true}
	return variant.New(r.Program, r.locks, lock, append([]variant.Section{section}, others...))
}

func TestPlanSaysWhyAFunctionCannotLeaveTheLockToItsCallers(t *testing.T) {
	for name, test := range map[string]struct{ text, want string }{
		"waits": {`
func (t *T) get() int { t.mu.Lock(); defer t.mu.Unlock(); return <-t.c }
func (t *T) Hold() { t.n = t.get() }`, "held during a receive"},
		"other object": {`
func (t *T) get() int { t.mu.Lock(); defer t.mu.Unlock(); return t.n }
func (t *T) Hold(o *T) { t.n = o.get() }`, "another object"},
		"several objects": {`
func (t *T) get(o *T) int { t.mu.Lock(); defer t.mu.Unlock(); o.mu.Lock(); defer o.mu.Unlock(); return t.n }
func (t *T) Hold(o *T) { t.n = t.get(o) }`, "several objects"},
		"several objects by calls": {`
func (t *T) one() int { t.mu.Lock(); defer t.mu.Unlock(); return t.n }
func (t *T) get(o *T) int { return t.one() + o.one() }
func (t *T) Hold(o *T) { t.n = t.get(o) }`, "several objects"},
		"left held": {`
func (t *T) get() int { t.mu.Lock(); return t.n }
func (t *T) Hold() { t.n = t.get(); t.mu.Unlock() }`, "does not release it"},
		"tries": {`
func (t *T) get() int { if t.mu.TryLock() { t.mu.Unlock() }; t.mu.Lock(); t.mu.Unlock(); return t.n }
func (t *T) Hold() { t.n = t.get() }`, "tries"},
		"later": {`
func (t *T) get() func() { t.mu.Lock(); t.mu.Unlock(); f := func() { t.mu.Lock(); t.n++; t.mu.Unlock() }; return f }
func (t *T) Hold() { t.get() }`, "later"},
		"call in a literal that is kept": {`
func (t *T) get() int { t.mu.Lock(); defer t.mu.Unlock(); return t.n }
func (t *T) Hold() func() int { t.n++; f := func() int { return t.get() }; return f }`, "may run later"},
		"call in a literal that a helper keeps": {`
func (t *T) get() int { t.mu.Lock(); defer t.mu.Unlock(); return t.n }
func (t *T) help() func() int { t.get(); f := func() int { return t.get() }; return f }
func (t *T) Hold() { t.help() }`, "may run later"},
		"value": {`
func (t *T) get() int { t.mu.Lock(); defer t.mu.Unlock(); return t.n }
func (t *T) Hold() { f := []func() int{t.get}[0]; t.n = f() }`, "may take"},
		"no name to hand on": {`
func (t *T) get(int) int { t.mu.Lock(); defer t.mu.Unlock(); return t.n }
func (t *T) Hold() { t.n = t.get(1) }`, "without names"},
		"cannot be named": {`
func get(t *T) int { t.mu.Lock(); defer t.mu.Unlock(); return t.n }
func (t *T) Hold() { t.n = get(t) }`, "cannot be named"},
		"by a helper": {`
func (t *T) get() int { t.mu.Lock(); defer t.mu.Unlock(); return <-t.c }
func (t *T) help() int { return t.get() }
func (t *T) Hold() { t.n = t.help() }`, "cannot leave it to its callers: it would be held during a receive"},
	} {
		t.Run(name, func(t *testing.T) {
			plan := read(t, test.text).plan(t)
			if err := plan.Why(0); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("why: %v, want one with %q", err, test.want)
			}
			if f := plan.Functions(); len(f) > 0 {
				t.Errorf("%s is changed all the same", f[0].Name.Name)
			}
		})
	}
}

func TestPlanIsWritten(t *testing.T) {
	for name, test := range map[string]struct {
		text  string
		want  []string
		write bool
	}{
		"read alone": {`
func (t *T) Get() int { t.mu.RLock(); defer t.mu.RUnlock(); return t.n }
func (t *T) Hold() int { return t.Get() }`,
			[]string{"t.mu.RLock()\ndefer t.mu.RUnlock()\nreturn t.getLocked()", "return t.getLocked() }"}, false},
		"name that is taken": {`
func (t *T) Get() int { t.mu.Lock(); defer t.mu.Unlock(); return t.n }
func (t *T) getLocked() {}
func (t *T) Hold() int { return t.Get() }`,
			[]string{"func (t *T) getLocked2() int"}, true},
		"goroutines of its own take the lock for themselves": {`
func (t *T) start() { t.mu.Lock(); t.n++; t.mu.Unlock(); go func() { t.mu.Lock(); t.n++; t.mu.Unlock() }() }
func (t *T) Hold() { t.start() }`,
			[]string{"// start is called with t.mu held.", "t.n++; go func() { t.mu.Lock(); t.n++; t.mu.Unlock() }()"}, true},
		"recursion, with a comment": {`
// Sum adds up.
func (t *T) sum(n int, more ...int) int { t.mu.Lock(); t.n += n; t.mu.Unlock(); if n == 0 { return 0 }; return t.sum(n-1, more...) }
func (t *T) Hold() int { return t.sum(3) }`,
			[]string{"// Sum adds up.\n//\n// It is called with t.mu held.\nfunc (t *T) sum("}, true},
		"a section that calls itself": {`
func (t *T) Hold(n int) int { if n == 0 { return t.n }; return t.Hold(n - 1) }`,
			[]string{"defer t.mu.RUnlock()\nreturn t.holdLocked(n)", "return t.holdLocked(n - 1) }"}, false},
		"used as a value as well": {`
func (t *T) get() int { t.mu.Lock(); defer t.mu.Unlock(); return t.n }
func use(t *T) func() int { return t.get }
func (t *T) Hold() int { return t.get() }`,
			[]string{"func (t *T) getLocked() int", "func use(t *T) func() int { return t.get }"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			p := read(t, test.text)
			plan := p.plan(t)
			if err := plan.Why(0); err != nil {
				t.Fatal(err)
			}
			if plan.Writes(0) != test.write {
				t.Errorf("the section writes: %v", plan.Writes(0))
			}
			edits := p.file.Edit()
			plan.Write(func(*source.File) *source.Edits { return edits })
			text, err := edits.Bytes()
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range test.want {
				if !strings.Contains(string(text), want) {
					t.Errorf("%q is not in\n%s", want, text)
				}
			}
		})
	}
}

// TestSectionsOfCalledFunctionsMoveToTheirCallers plans for a lock that the program does not have:
// functions take it that are to have sections.
func TestSectionsOfCalledFunctionsMoveToTheirCallers(t *testing.T) {
	p := read(t, `
func (t *T) Add() { t.n++ }
func (t *T) twice() { t.Add(); t.Add() }
func (t *T) Hold() { t.twice() }`)
	p.class = nil
	var add *ast.FuncDecl
	for _, d := range p.file.Syntax.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Name.Name == "Add" {
			add = fn
		}
	}
	at, _ := p.locks.Place(p.file.Info, add.Recv.List[0].Names[0])
	plan := p.plan(t, variant.Section{File: p.file, Func: add, Statements: add.Body.List, Object: at, Write: true})
	if err := plan.Why(0); err != nil {
		t.Fatal(err)
	}
	if !plan.Has(add) || plan.Has(p.hold) || !plan.Writes(0) {
		t.Errorf("the functions %v have variants, and the section writes: %v", plan.Functions(), plan.Writes(0))
	}
}
