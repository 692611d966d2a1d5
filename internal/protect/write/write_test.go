package write_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"

	"github.com/cofferdam-go/cofferdam/internal/load"
	"github.com/cofferdam-go/cofferdam/internal/protect/facts"
	"github.com/cofferdam-go/cofferdam/internal/protect/outline"
	"github.com/cofferdam-go/cofferdam/internal/protect/plan"
	"github.com/cofferdam-go/cofferdam/internal/protect/write"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// The plans of these tests are made by hand, so that each says one thing: what is written
// follows from the plan, and from nothing else.

const program = `package p

import "sync"

type E struct{ n int }

type T struct {
	mu sync.Mutex
	n  int
	s  string
	m  map[int]int
}

func (t *T) add(d int) {
	t.n += d
}

func section(t *T, e *E, c chan int) {
	t.mu.Lock()
	t.n++
	t.s = "x"
	c <- t.n
	t.m[1] = 2
	t.add(1)
	e.n++
	for <-c > 0 {
		t.n++
		continue
	}
	t.mu.Unlock()
}

func outside(t *T) *T { t.n = 0; return &T{n: 1} }
`

// A sample is the program with a plan that has nothing in it.
type sample struct {
	t    *testing.T
	pkg  *packages.Package
	file *plan.File
	plan *plan.Plan
}

func newSample(t *testing.T) *sample {
	t.Helper()
	dir := t.TempDir()
	name := filepath.Join(dir, "p.go")
	for file, text := range map[string]string{name: program, filepath.Join(dir, "go.mod"): "module example.com/p\n\ngo 1.26\n"} {
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	pkgs, err := load.Packages(load.Config{Dir: dir, Patterns: []string{"."}})
	if err != nil {
		t.Fatal(err)
	}
	p := pkgs[0]
	f, err := source.NewFile(p.Fset, p.Syntax[0], []byte(program))
	if err != nil {
		t.Fatal(err)
	}
	f.Package, f.Types, f.Info = p, p.Types, p.TypesInfo
	s := &sample{t: t, pkg: p, file: &plan.File{File: f}}
	s.plan = &plan.Plan{Options: plan.Options{Mode: plan.Tolerate}, Packages: []*plan.Package{{Package: p, Files: []*plan.File{s.file}}}}
	return s
}

// function returns a function of the program.
func (s *sample) function(name string) *ast.FuncDecl {
	for _, d := range s.file.Syntax.Decls {
		if d, ok := d.(*ast.FuncDecl); ok && d.Name.Name == name {
			return d
		}
	}
	s.t.Fatalf("there is no function %s", name)
	return nil
}

// expr returns the first expression in a node with a text.
func (s *sample) expr(in ast.Node, text string) ast.Expr {
	s.t.Helper()
	var found ast.Expr
	ast.Inspect(in, func(n ast.Node) bool {
		if e, ok := n.(ast.Expr); ok && found == nil && s.file.TextOf(e) == text {
			found = e
		}
		return found == nil
	})
	if found == nil {
		s.t.Fatalf("there is no %s", text)
	}
	return found
}

// place returns the place of an expression in function section.
func (s *sample) place(text string) facts.Place {
	s.t.Helper()
	p, ok := facts.PlaceOf(s.pkg.TypesInfo, s.expr(s.function("section"), text))
	if !ok {
		s.t.Fatalf("%s is no place", text)
	}
	return p
}

func (s *sample) variable(text string) *plan.Variable {
	return &plan.Variable{Place: s.place(text), Datum: "T." + text, Written: true}
}

// group returns the section of function section, with one step for each statement.
func (s *sample) group(vars ...*plan.Variable) *plan.Group {
	list := s.function("section").Body.List
	first, last := list[0].(*ast.ExprStmt), list[len(list)-1].(*ast.ExprStmt)
	g := &plan.Group{LockName: "T.mu", Outline: &outline.Outline{Lock: s.place("t.mu"), First: first, Acquires: []*ast.ExprStmt{first}, Releases: []*ast.ExprStmt{last}}, Vars: vars}
	for _, st := range list[1 : len(list)-1] {
		g.Steps = append(g.Steps, &plan.StepPlan{Step: &outline.Step{Stmt: st}, Resumes: true})
	}
	s.file.Groups = append(s.file.Groups, g)
	return g
}

// write returns the lines of the new text that have something new, with the names of
// package and section taken away.
func (s *sample) write() []string {
	s.t.Helper()
	texts, err := write.Files(s.plan, write.Watching{Findings: "f.json", Limit: 0, Baseline: "", Log: false, Strict: true})
	if err != nil {
		s.t.Fatal(err)
	}
	text, ok := texts[s.file.Name]
	if !ok {
		return nil
	}
	if _, err := parser.ParseFile(token.NewFileSet(), "p.go", text.Text, 0); err != nil {
		s.t.Fatalf("%v\n%s", err, text.Text)
	}
	before := strings.Split(program, "\n")
	var changed []string
	for i, line := range strings.Split(text.Text, "\n") {
		if (i >= len(before) || line != before[i]) && line != "" {
			line = strings.NewReplacer("cofferdam0s1", "", "cofferdamrt", "rt", "cofferdam", "").Replace(strings.TrimSpace(line))
			changed = append(changed, line)
		}
	}
	return changed
}

// want compares what was written, line by line.
func (s *sample) want(lines ...string) {
	s.t.Helper()
	got := s.write()
	if strings.Join(got, "\n") != strings.Join(lines, "\n") {
		s.t.Errorf("it writes\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), strings.Join(lines, "\n\t"))
	}
}

func TestAnEmptyPlanChangesNothing(t *testing.T) {
	if got := newSample(t).write(); got != nil {
		t.Errorf("it writes\n%s", strings.Join(got, "\n"))
	}
}

func TestASectionTakesAndPublishesItsCopies(t *testing.T) {
	s := newSample(t)
	g := s.group(s.variable("t.n"))
	g.Steps[0].Redirects = []plan.Redirect{{Node: s.expr(g.Steps[0].Stmt, "t.n")}}
	s.want(
		`package p; import rt "rt/tolerate"`,
		`import "sync"; var l0 = rt.Label{Name: "T.t.n", Lock: "T.mu"}`,
		`t.mu.Lock(); v0 := t.n; _ = v0; b0 := v0; _ = b0`,
		`v0++`,
		`if v0 != b0 || t.n != b0 { rt.Put64(&t.n, v0, b0, &l0) }; t.mu.Unlock()`,
	)
}

func TestACopyThatIsOnlyReadIsCompared(t *testing.T) {
	s := newSample(t)
	v := s.variable("t.s")
	v.Written, v.Suspects = false, "p.go:9 in f"
	s.group(v)
	s.want(
		`package p; import rt "rt/tolerate"`,
		`import "sync"; var l0 = rt.Label{Name: "T.t.s", Lock: "T.mu", Suspects: "p.go:9 in f"}`,
		`t.mu.Lock(); v0 := t.s; _ = v0`,
		`if !rt.SameString(t.s, v0) { rt.Settle(&t.s, v0, v0, &l0) }; t.mu.Unlock()`,
	)
}

func TestAnInterruptedSectionPublishesAndTakesAnew(t *testing.T) {
	s := newSample(t)
	v := s.variable("t.n")
	v.ByPointer, v.Blind = true, true
	g := s.group(v)
	g.Flagged = true
	g.Steps[2].Interrupts = true
	loop := g.Steps[6]
	body := loop.Stmt.(*ast.ForStmt).Body
	loop.Interrupts, loop.Loop, loop.Bodies, loop.BodyEnd = true, true, []token.Pos{body.Lbrace + 1}, body.Rbrace
	loop.Continues = []*ast.BranchStmt{body.List[1].(*ast.BranchStmt)}
	s.want(
		`package p; import rt "rt/tolerate"`,
		`import "sync"; var l0 = rt.Label{Name: "T.t.n", Lock: "T.mu", Blind: true}`,
		`t.mu.Lock();  := true; _ = ; p0 := &t.n; v0 := *p0; _ = v0; b0 := v0; _ = b0`,
		`if  {  = false; if v0 != b0 || *p0 != b0 { rt.Put64(p0, v0, b0, &l0) } }; c <- t.n; if ! {  = true; v0 = *p0; b0 = v0 }`,
		`if  {  = false; if v0 != b0 || *p0 != b0 { rt.Put64(p0, v0, b0, &l0) } }; for <-c > 0 { if ! {  = true; v0 = *p0; b0 = v0 };`,
		`if  {  = false; if v0 != b0 || *p0 != b0 { rt.Put64(p0, v0, b0, &l0) } }; continue`,
		`; if  {  = false; if v0 != b0 || *p0 != b0 { rt.Put64(p0, v0, b0, &l0) } } }; if ! {  = true; v0 = *p0; b0 = v0 }`,
		`if  {  = false; if v0 != b0 || *p0 != b0 { rt.Put64(p0, v0, b0, &l0) } }; t.mu.Unlock()`,
	)
}

func TestAStepThatEndsIsNotResumed(t *testing.T) {
	s := newSample(t)
	g := s.group(s.variable("t.n"))
	g.Steps[2].Interrupts, g.Steps[2].Resumes = true, false
	for _, line := range s.write() {
		if strings.Contains(line, "c <- t.n") && strings.Contains(line, "c <- t.n;") {
			t.Errorf("it goes on after the step: %s", line)
		}
	}
}

func TestDetectComparesAndCopiesNothing(t *testing.T) {
	s := newSample(t)
	s.plan.Mode = plan.Detect
	s.group(s.variable("t.n"))
	s.want(
		`package p; import rt "rt/tolerate"`,
		`import "sync"; var l0 = rt.Label{Name: "T.t.n", Lock: "T.mu"}`,
		`t.mu.Lock(); b0 := t.n; _ = b0`,
		`if t.n != b0 { rt.Check(&t.n, b0, &l0) }; t.mu.Unlock()`,
	)
}

func TestAMapIsCopiedBeforeItIsChanged(t *testing.T) {
	s := newSample(t)
	v := s.variable("t.m")
	v.CopiesEntries = true
	g := s.group(v)
	g.Steps[3].MapCopies = []int{0}
	g.Steps[3].Redirects = []plan.Redirect{{Node: s.expr(g.Steps[3].Stmt, "t.m")}}
	s.want(
		`package p; import rt "rt/tolerate"`,
		`import "sync"; var l0 = rt.Label{Name: "T.t.m", Lock: "T.mu"}`,
		`t.mu.Lock(); v0 := t.m; _ = v0; b0 := v0; _ = b0; n0 := -1; _ = n0`,
		`if n0 < 0 && rt.SamePointer(v0, b0) { n0, v0 = rt.CloneMap(v0) }; v0[1] = 2`,
		`rt.PutMap(&t.m, v0, b0, n0, &l0); t.mu.Unlock()`,
	)
}

func TestADeferredReleasePublishesFirst(t *testing.T) {
	s := newSample(t)
	g := s.group(s.variable("t.n"))
	// The last statement stands for the deferred one.
	call := g.Releases[0].X.(*ast.CallExpr)
	g.Deferred, g.Releases = &ast.DeferStmt{Defer: call.Pos(), Call: call}, nil
	g.Steps[2].Defers = true
	got := s.write()
	if want := `func() { if v0 != b0 || t.n != b0 { rt.Put64(&t.n, v0, b0, &l0) }; t.mu.Unlock() }()`; len(got) < 5 || got[4] != want {
		t.Errorf("it writes\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), want)
	}
	if want := `c <- t.n; defer func() { if v0 != b0 || t.n != b0 { rt.Put64(&t.n, v0, b0, &l0) } }()`; len(got) < 4 || got[3] != want {
		t.Errorf("it writes\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), want)
	}
}

func TestASectionThatMayPanicPublishesByADeferredCall(t *testing.T) {
	s := newSample(t)
	g := s.group(s.variable("t.n"))
	g.Rescues, g.Flagged = true, true
	got := s.write()
	if want := `; defer func() { if  {  = false; if v0 != b0 || t.n != b0 { rt.Put64(&t.n, v0, b0, &l0) } } }()`; len(got) < 3 || !strings.HasSuffix(got[2], want) {
		t.Errorf("it writes\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), want)
	}
}

func TestASlotHoldsOneObjectAtATime(t *testing.T) {
	s := newSample(t)
	g := s.group()
	field := s.variable("e.n")
	field.Spelling = "int"
	g.Slots = []*plan.Slot{{Spelling: "*E", Fields: []*plan.Variable{field}}}
	use := plan.SlotUse{Object: field.Root, Redirects: []plan.Redirect{{Node: s.expr(g.Steps[5].Stmt, "e.n")}}}
	g.Steps[5].SlotUses = []plan.SlotUse{use}
	g.Steps[4].SlotUses = []plan.SlotUse{{Publishes: true}}
	g.Steps[0].SlotUses = []plan.SlotUse{{}}
	s.want(
		`package p; import rt "rt/tolerate"`,
		`import "sync"; var o0l0 = rt.Label{Name: "T.e.n", Lock: "T.mu"}`,
		`t.mu.Lock(); var o0p *E; var o0v, o0b struct { f0 int }; var o0c *struct { f0 int }; o0f := func() { if o0p != nil { if o0v.f0 != o0b.f0 || o0p.n != o0b.f0 { rt.Put64(&o0p.n, o0v.f0, o0b.f0, &o0l0) }; o0p, o0c = nil, nil } }; _, _ = o0b, o0c`,
		`o0f(); t.add(1)`,
		`if o0p != e { o0f(); if e != nil { o0p = e; o0v.f0 = e.n; o0b = o0v; o0c = &o0v } }; o0c.f0++`,
		`o0f(); t.mu.Unlock()`,
	)
}

func TestACloneGetsTheAddressesOfTheCopies(t *testing.T) {
	s := newSample(t)
	g := s.group(s.variable("t.n"))
	add := s.function("add")
	recv := s.pkg.TypesInfo.Defs[add.Recv.List[0].Names[0]].(*types.Var)
	inner := &plan.Variable{Place: facts.Place{Root: recv, Fields: g.Vars[0].Fields}, Spelling: "int"}
	clone := &plan.Clone{Number: 1, Function: "add", File: s.file, Decl: add, Vars: []*plan.Variable{inner}}
	clone.Redirects = []plan.Redirect{{Node: s.expr(add, "t.n")}}
	s.plan.Packages[0].Clones = []*plan.Clone{clone}
	g.Steps[4].Calls = []plan.ClonedCall{{Expr: s.expr(g.Steps[4].Stmt, "t.add(1)").(*ast.CallExpr), Clone: clone, Vars: []int{0}}}
	s.want(
		`package p; import rt "rt/tolerate"`,
		`import "sync"; var l0 = rt.Label{Name: "T.t.n", Lock: "T.mu"}`,
		`t.mu.Lock(); v0 := t.n; _ = v0; b0 := v0; _ = b0`,
		`t.0c1add(&v0, 1)`,
		`if v0 != b0 || t.n != b0 { rt.Put64(&t.n, v0, b0, &l0) }; t.mu.Unlock()`,
		`/*line :14:1*/func (t *T) 0c1add(0c1addq0 *int, d int) {`,
		`(*0c1addq0) += d`,
		`}`,
	)
}

// onPages puts T.n on pages.
func (s *sample) onPages() *plan.PageDatum {
	var at facts.Declaration
	ast.Inspect(s.file.Syntax, func(n ast.Node) bool {
		if st, ok := n.(*ast.StructType); ok && len(st.Fields.List) > 1 {
			at = facts.Declaration{Package: s.pkg, File: s.file.Syntax, Struct: st, Name: st.Fields.List[1].Names[0]}
		}
		return true
	})
	d := &plan.PageDatum{Number: 1, Datum: "T.n", Lock: "T.mu", LockAt: token.Position{Filename: "p.go", Line: 8}, Home: s.pkg.PkgPath,
		Owner: "T", Field: "n", Type: types.Typ[types.Int], Declared: at}
	s.plan.OnPages = []*plan.PageDatum{d}
	return d
}

func TestDataOnPagesHasTwoViews(t *testing.T) {
	s := newSample(t)
	d := s.onPages()
	v := &plan.Variable{Place: s.place("t.n"), OnPages: d, Written: true}
	g := s.group(v)
	g.Flagged = true
	g.Steps[0].Redirects = []plan.Redirect{{Node: s.expr(g.Steps[0].Stmt, "t.n")}}
	g.Steps[2].Interrupts = true
	g.Steps[2].Redirects = []plan.Redirect{{Node: s.expr(g.Steps[2].Stmt, "t.n")}}
	outside := s.function("outside")
	literal := s.expr(outside, "n: 1")
	s.file.Sites = []plan.Site{
		{Node: s.expr(outside, "t.n"), Datum: d}, {Node: literal, Datum: d},
		{Node: s.expr(s.function("add"), "t.n"), Datum: d},
	}
	s.want(
		`package p; import aside "rt/protect/aside"`,
		`type T struct { x1 aside.Object[t1];`,
		`_  int`,
		`t.x1.Get().View().n += d`,
		`t.mu.Lock();  := true; _ = ; g0 := t.x1.Get(); g0.Lock()`,
		`g0.Own.n++`,
		`if  {  = false; g0.Unlock() }; c <- g0.Own.n; if ! {  = true; g0.Lock() }`,
		`if  {  = false; g0.Leave() }; t.mu.Unlock(); g0.Wake()`,
		`func outside(t *T) *T { t.x1.Get().View().n = 0; return &T{x1: aside.Make(t1{n: 1})} }`,
		`type t1 struct { n int }`,
		`func (t1) CofferdamNames() (string, string, string, int) { return "T", "T.mu", "p.go", 8 }`,
	)
}

// TestAFieldBehindAWicketStays: sections enter its guard, and use it as it is; other code calls methods.
func TestAFieldBehindAWicketStays(t *testing.T) {
	s := newSample(t)
	d := s.onPages()
	d.Wicket = 1
	g := s.group(&plan.Variable{Place: s.place("t.n"), OnPages: d, Written: true})
	g.Flagged, g.Relents = true, true
	g.Steps[0].Redirects = []plan.Redirect{{Node: s.expr(g.Steps[0].Stmt, "t.n")}}
	g.Steps[2].Interrupts, g.Steps[2].Relents = true, true
	g.Steps[2].Redirects = []plan.Redirect{{Node: s.expr(g.Steps[2].Stmt, "t.n")}}
	outside, add := s.function("outside"), s.function("add")
	s.file.Sites = []plan.Site{
		{Node: s.expr(outside, "t.n"), Datum: d, Store: outside.Body.List[0].(*ast.AssignStmt)}, {Node: s.expr(outside, "n: 1"), Datum: d},
		{Node: s.expr(add, "t.n"), Datum: d, Update: add.Body.List[0]},
	}
	s.want(
		`package p; import wicket "rt/protect/wicket"`,
		`type T struct { y1 wicket.Guard;`,
		`{ k := t.a1(); w := d; p := k.Begin(); *k.P += w; p.End() }`,
		`t.mu.Lock();  := true; _ = ; g0 := &t.y1; g0.Lock(1, 0)`,
		`if  {  = false; g0.Relent() }; c <- t.n; if ! {  = true; g0.Resume(1, 0) }`,
		`if  {  = false; g0.Leave() } else { g0.LeaveMine() }; t.mu.Unlock(); g0.Wake()`,
		`func outside(t *T) *T { t.s1(0); return &T{n: 1} }`,
		`type t1 struct{}`,
		`func (t1) CofferdamNames() (string, string, string, int) { return "T.n", "T.mu", "p.go", 8 }`,
		`func (t *T) l1() int { return wicket.Load[t1](&t.y1, 1, &t.n) }`,
		`func (t *T) s1(w int) { wicket.Store[t1](&t.y1, 1, &t.n, w) }`,
		`func (t *T) a1() wicket.Target[t1, int] { return wicket.To[t1](&t.y1, 1, &t.n) }`,
	)
}

// TestASectionStaysInItsGuardForAStepThatIsNotKnownToWait: it leaves the guard where it ends,
// also if the step has returned or panicked.
func TestASectionStaysInItsGuardForAStepThatIsNotKnownToWait(t *testing.T) {
	s := newSample(t)
	g := s.group(&plan.Variable{Place: s.place("t.n"), OnPages: s.onPages(), Written: true})
	g.Flagged, g.Relents = true, true
	g.Steps[2].Interrupts, g.Steps[2].Relents = true, true
	text := strings.Join(s.write(), "\n")
	for _, want := range []string{
		`if  {  = false; g0.Relent() }; c <- t.n; if ! {  = true; g0.Resume() }`,
		`if  {  = false; g0.Leave() } else { g0.LeaveMine() }; t.mu.Unlock(); g0.Wake()`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %s:\n%s", want, text)
		}
	}
}

func TestASectionThatOnlyReadsEntersForReading(t *testing.T) {
	s := newSample(t)
	s.group(&plan.Variable{Place: s.place("t.n"), OnPages: s.onPages()})
	text := strings.Join(s.write(), "\n")
	for _, want := range []string{"g0.RLock()", "g0.RUnlock(); t.mu.Unlock()"} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %s:\n%s", want, text)
		}
	}
	if strings.Contains(text, "Wake") {
		t.Errorf("a reader wakes:\n%s", text)
	}
}

func TestASectionThatOnlyReachesEntersNothing(t *testing.T) {
	s := newSample(t)
	g := s.group(&plan.Variable{Place: s.place("t.n"), OnPages: s.onPages(), Passive: true})
	g.OnlyReaches = true
	g.Steps[2].Redirects = []plan.Redirect{{Node: s.expr(g.Steps[2].Stmt, "t.n")}}
	text := strings.Join(s.write(), "\n")
	for want, there := range map[string]bool{
		"t.mu.Lock(); g0 := t.x1.Get(); _ = g0": true, "c <- g0.Own.n": true, "Lock(); g0.Lock": false, "Leave": false,
	} {
		if strings.Contains(text, want) != there {
			t.Errorf("%q is there: %t\n%s", want, !there, text)
		}
	}
}

func TestAVariableOnPagesIsDeclaredBeforeAllOthers(t *testing.T) {
	s := newSample(t)
	d := s.onPages()
	d.Owner, d.Field, d.Root, d.Value = "", "", "n", "3"
	got := s.write()
	want := `import "sync"; var g1 = aside.NewGuard("T.mu", "p.go", 8); var p1, o1 = aside.New[int](g1, "T.n", 3)`
	if len(got) < 2 || got[1] != want {
		t.Errorf("it writes\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), want)
	}
}

func TestMainTellsWhatWasFound(t *testing.T) {
	s := newSample(t)
	s.file.Entry = s.function("outside")
	got := s.write()
	if want := `func outside(t *T) *T { defer watch.Start(watch.Config{Summary: ": 0 of 0 guarded variables are protected (tolerate)\n", Findings: "f.json", Limit: 0, Baseline: "", Log: false, Strict: true})(); t.n = 0; return &T{n: 1} }`; len(got) != 2 || got[1] != want {
		t.Errorf("it writes\n\t%s\nwant\n\t%s", strings.Join(got, "\n\t"), want)
	}
	s.plan.Tests = true
	if got := s.write(); len(got) != 2 || !strings.Contains(got[1], "{ defer watch.Test()();") {
		t.Errorf("tests have\n\t%s", strings.Join(got, "\n\t"))
	}
}

func TestTwoEditsOfOneExpressionAreRefused(t *testing.T) {
	s := newSample(t)
	g := s.group(s.variable("t.n"))
	e := s.expr(g.Steps[0].Stmt, "t.n")
	g.Steps[0].Redirects = []plan.Redirect{{Node: e}, {Node: e}}
	if _, err := write.Files(s.plan, write.Watching{}); err == nil || !strings.Contains(err.Error(), "overlap") {
		t.Errorf("the error is %v", err)
	}
}
