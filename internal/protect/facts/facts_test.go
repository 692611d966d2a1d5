package facts_test

import (
	"fmt"
	"go/ast"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/txtar"

	"github.com/cofferdam-go/cofferdam/internal/load"
	"github.com/cofferdam-go/cofferdam/internal/protect/facts"
)

// TestFacts holds what is known of small programs. An archive is a package; its comment
// says what it shows, and has facts after an empty line, each a question and its answer:
//
//	effect f         what calling the function means: opaque, acquires, names, points to
//	statement f      the accesses of its body, in order
//	exposure x       which pointers may lead to a variable, or to a field T.x
//	within f x       which may lead to it while f runs
//	linked x         why other variables may be the same, or no
//	pinned x         why it must stay where it is, or no
//	type T           why the fields of a type must stay in it, or no
//	aliased x        whether its map has several names
//	elements x       why the elements of its slice have another name, or own, and how often they are used
//	stable f.x       whether a local variable stands for the same object throughout
//	operations f     the operations on locks, with the places
//	declared x       why a variable or field cannot be declared anew, or no
//	uses x           how many nodes name it
//	touches f        the memory that its body reaches by itself
//	panics f         whether calling it may panic
//	names f x        whether the function's body, or what it calls, names it
//	beside x y       whether two fields are of one type, or both are variables
func TestFacts(t *testing.T) {
	archives, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatalf("no test files: %v", err)
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "go.mod"), "module example.com/m\n\ngo 1.26\n")
	questions := make(map[string][]string)
	for _, name := range archives {
		a, err := txtar.ParseFile(name)
		if err != nil {
			t.Fatal(err)
		}
		row := strings.TrimSuffix(filepath.Base(name), ".txtar")
		_, lines, _ := strings.Cut(string(a.Comment), "\n\n")
		questions[row] = strings.Split(strings.TrimSpace(lines), "\n")
		for _, f := range a.Files {
			write(t, filepath.Join(dir, row, f.Name), string(f.Data))
		}
	}
	pkgs, err := load.Packages(load.Config{Dir: dir, Patterns: []string{"./..."}})
	if err != nil {
		t.Fatal(err)
	}
	prog, _ := load.SSA(pkgs)
	known := facts.Gather(pkgs, prog)
	for _, p := range pkgs {
		row := strings.TrimPrefix(p.PkgPath, "example.com/m/")
		if questions[row] == nil {
			continue // another package of a row
		}
		t.Run(row, func(t *testing.T) {
			a := answerer{t, known, p}
			for _, line := range questions[row] {
				question, want, _ := strings.Cut(line, ": ")
				if got := a.answer(question); got != want {
					t.Errorf("%s: %s\nwant: %s", question, got, want)
				}
			}
		})
	}
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

type answerer struct {
	t     *testing.T
	known *facts.Facts
	pkg   *packages.Package
}

func (a answerer) answer(question string) string {
	a.t.Helper()
	kind, name, _ := strings.Cut(question, " ")
	switch kind {
	case "effect":
		return a.effect(name)
	case "statement":
		return a.statement(name)
	case "touches":
		return a.touches(name)
	case "exposure":
		return [...]string{"hidden", "pointed", "forged"}[a.known.Exposure(a.variable(name))]
	case "within":
		function, x, _ := strings.Cut(name, " ")
		_, fn := a.decl(function)
		return [...]string{"hidden", "pointed", "forged"}[a.known.FootprintIn(facts.FuncKeyOf(fn), a.variable(x)).Exposure]
	case "linked":
		return orNo(a.known.Linked(a.variable(name)))
	case "immovable":
		return orNo(a.known.Immovable(a.variable(name)))
	case "pinned":
		return orNo(a.known.Pinned(a.variable(name)))
	case "type":
		return orNo(a.known.PinnedType(a.pkg.Types.Scope().Lookup(name).(*types.TypeName)))
	case "aliased":
		return fmt.Sprint(a.known.AliasedMap(a.variable(name)))
	case "elements":
		if why, _ := a.known.SharedElements(a.variable(name)); why != "" {
			return why
		}
		uses := 0
		for _, n := range a.known.ElementNames(a.known.KeyOf(a.variable(name))) {
			uses += len(n.Uses)
		}
		return fmt.Sprintf("own, used %d times", uses)
	case "stable":
		return fmt.Sprint(a.known.Stable(a.variable(name)))
	case "operations":
		return a.operations(name)
	case "declared":
		d, ok := a.known.Declaration(a.variable(name))
		if !ok {
			return "elsewhere"
		}
		if here, _ := a.known.DeclarationIn(a.pkg, a.known.KeyOf(a.variable(name))); here != d {
			a.t.Errorf("%s is declared in two ways", name)
		}
		return strings.TrimSpace(orNo(d.Fixed) + " " + d.Constant())
	case "names":
		function, x, _ := strings.Cut(name, " ")
		d, _ := a.decl(function)
		return fmt.Sprint(a.known.Touches(d.Body, a.known.KeyOf(a.variable(x))))
	case "panics":
		_, fn := a.decl(name)
		return fmt.Sprint(a.known.EffectOf(fn).Panics)
	case "beside":
		x, y, _ := strings.Cut(name, " ")
		at, _ := a.known.Declaration(a.variable(x))
		other, _ := a.known.Declaration(a.variable(y))
		return fmt.Sprint(at.Beside(other))
	case "uses":
		return fmt.Sprint(len(a.known.Uses(a.pkg, a.known.KeyOf(a.variable(name)))))
	}
	a.t.Fatalf("there is no question %q", question)
	return ""
}

func orNo(why string) string {
	if why == "" {
		return "no"
	}
	return why
}

// decl returns the declaration of a function f, or of a method T.f.
func (a answerer) decl(name string) (*ast.FuncDecl, *types.Func) {
	a.t.Helper()
	for _, f := range a.pkg.Syntax {
		for _, d := range f.Decls {
			d, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			fn := a.pkg.TypesInfo.Defs[d.Name].(*types.Func)
			full := d.Name.Name
			if r := fn.Signature().Recv(); r != nil {
				full = facts.Deref(r.Type()).(*types.Named).Obj().Name() + "." + full
			}
			if full == name {
				return d, fn
			}
		}
	}
	a.t.Fatalf("there is no function %s", name)
	return nil, nil
}

// variable returns a global x, a field T.x or g.x, or a local variable f.x.
func (a answerer) variable(name string) *types.Var {
	a.t.Helper()
	outer, inner, dotted := strings.Cut(name, ".")
	o := a.pkg.Types.Scope().Lookup(outer)
	if !dotted {
		return o.(*types.Var)
	}
	if f, ok := o.(*types.Func); ok {
		var found *types.Var
		for id, def := range a.pkg.TypesInfo.Defs {
			if v, ok := def.(*types.Var); ok && id.Name == inner && f.Scope().Contains(v.Pos()) {
				found = v
			}
		}
		return found
	}
	for f := range o.Type().Underlying().(*types.Struct).Fields() {
		if f.Name() == inner {
			return f
		}
	}
	a.t.Fatalf("there is no variable %s", name)
	return nil
}

func (a answerer) effect(name string) string {
	_, fn := a.decl(name)
	e := a.known.EffectOf(fn)
	if e == nil {
		return "not known"
	}
	var parts []string
	if e.Opaque != "" {
		parts = append(parts, "opaque "+e.Opaque)
	}
	if e.Acquires {
		parts = append(parts, "acquires")
	}
	var named []string
	for _, o := range a.everything() {
		m := a.known.Footprint(o.v)
		if e.NamesKey(m.Keys[0]) {
			named = append(named, o.name)
		}
		if why := e.MayPointTo(m); why != "" {
			parts = append(parts, o.name+": "+why)
		}
	}
	if len(named) > 0 {
		parts = append(parts, "names "+strings.Join(named, " "))
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, "; ")
}

type named struct {
	name string
	v    *types.Var
}

// everything returns the globals, and the fields of types, of the package.
func (a answerer) everything() []named {
	var all []named
	scope := a.pkg.Types.Scope()
	for _, name := range scope.Names() {
		o := scope.Lookup(name)
		if v, ok := o.(*types.Var); ok {
			all = append(all, named{name, v})
		}
		if _, ok := o.(*types.Func); ok {
			continue
		}
		if s, ok := o.Type().Underlying().(*types.Struct); ok {
			for f := range s.Fields() {
				all = append(all, named{name + "." + f.Name(), f})
			}
		}
	}
	return all
}

func (a answerer) statement(name string) string {
	d, _ := a.decl(name)
	s := a.known.Statement(a.pkg, d.Body, []facts.Span{facts.SpanOf(d.Body)}, d.Body)
	var list []string
	if s.Opaque != "" {
		list = append(list, "opaque "+s.Opaque)
	}
	for _, x := range s.Accesses {
		text := "?." + x.Last.Name()
		if x.Place.Known() {
			text = x.Place.String()
		}
		for _, mark := range []struct {
			text string
			on   bool
		}{{"assigned", x.Assigned}, {"defined", x.Defined}, {"entries", x.Entries}} {
			if mark.on {
				text += " " + mark.text
			}
		}
		list = append(list, text)
	}
	for _, c := range s.Calls {
		list = append(list, "calls "+facts.FuncName(c.Func))
	}
	return strings.Join(list, ", ")
}

func (a answerer) touches(name string) string {
	d, _ := a.decl(name)
	var list []string
	for _, t := range a.known.Body(d.Body).Touches {
		list = append(list, t.String())
	}
	if len(list) == 0 {
		return "nothing"
	}
	return strings.Join(list, ", ")
}

func (a answerer) operations(name string) string {
	d, _ := a.decl(name)
	var list []string
	ast.Inspect(d.Body, func(n ast.Node) bool {
		if c, ok := n.(*ast.CallExpr); ok {
			if o, ok := a.known.Operation(a.pkg, c); ok {
				list = append(list, o.Verb.String()+" "+o.Place.String())
			}
		}
		return true
	})
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(slices.Compact(list), ", ")
}
