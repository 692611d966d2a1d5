package locks

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/load"
)

// check type-checks a file that imports nothing but package sync.
func check(t *testing.T, src string) (*types.Package, Unit) {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, "a.go", src, 0)
	if err != nil {
		t.Fatal(err)
	}
	info := load.NewInfo()
	conf := types.Config{Importer: importer.ForCompiler(fset, "source", nil)}
	pkg, err := conf.Check("p", fset, []*ast.File{file}, info)
	if err != nil {
		t.Fatal(err)
	}
	return pkg, Unit{Info: info, Files: []*ast.File{file}}
}

const kinds = `package p

import "sync"

type (
	embeds   struct { sync.Mutex; n int }
	only     struct { sync.Mutex }
	deep     struct { *only; n int }
	wraps    struct { mu sync.Mutex }
	halfway  struct{}
	other    struct{}
	face     interface { Lock(); Unlock() }
	data     struct { mu sync.Mutex; n int }
)

func (*wraps) Lock()         {}
func (*wraps) Unlock()       {}
func (*wraps) TryLock() bool { return false }
func (*halfway) Lock()       {}
func (*other) Lock(int)      {}
func (*other) Unlock()       {}

var (
	mutex  sync.Mutex
	rw     *sync.RWMutex
	locker sync.Locker
)
`

func TestWhichTypesAreLocks(t *testing.T) {
	pkg, _ := check(t, kinds)
	for name, want := range map[string]bool{
		"mutex": true, "rw": true, "locker": true, "wraps": true, "face": true, "only": true,
		"embeds": false, "deep": false, "halfway": false, "other": false, "data": false,
	} {
		if got := IsLock(pkg.Scope().Lookup(name).Type()); got != want {
			t.Errorf("IsLock(%s) = %v", name, got)
		}
	}
	for name, want := range map[string]string{"embeds": "Mutex", "only": "Mutex", "deep": "only.Mutex", "wraps": "", "data": "", "face": ""} {
		var names []string
		for _, f := range Promoted(pkg.Scope().Lookup(name).Type()) {
			names = append(names, f.Name())
		}
		if got := strings.Join(names, "."); got != want {
			t.Errorf("%s has Lock from %q, want %q", name, got, want)
		}
	}
	if !IsRWMutex(pkg.Scope().Lookup("rw").Type()) || IsRWMutex(pkg.Scope().Lookup("mutex").Type()) {
		t.Error("an RWMutex is not told from a Mutex")
	}
}

func TestWhichMethodsOperateOnLocks(t *testing.T) {
	pkg, _ := check(t, kinds)
	for _, c := range []struct {
		of, method string
		want       string
	}{
		{"mutex", "Lock", "acquire write"}, {"mutex", "TryLock", "try write"}, {"mutex", "Unlock", "release write"},
		{"rw", "RLock", "acquire read"}, {"rw", "TryRLock", "try read"}, {"rw", "RUnlock", "release read"}, {"rw", "RLocker", ""},
		{"locker", "Lock", "acquire write"}, {"wraps", "Lock", "acquire write"}, {"wraps", "TryLock", "try write"},
		{"halfway", "Lock", ""}, {"other", "Lock", ""}, {"other", "Unlock", ""},
	} {
		o, _, _ := types.LookupFieldOrMethod(pkg.Scope().Lookup(c.of).Type(), true, pkg, c.method)
		got := ""
		if m, ok := MethodOf(o.(*types.Func)); ok {
			got = m.Verb.String() + " " + m.Mode.String()
		}
		if got != c.want {
			t.Errorf("%s.%s: %q, want %q", c.of, c.method, got, c.want)
		}
	}
}

// A field of a struct with a child and two locks, to make places of.
func fields() (root, child, mu, other *types.Var) {
	v := func(pos token.Pos, name string) *types.Var { return types.NewVar(pos, nil, name, types.Typ[types.Int]) }
	return v(1, "s"), v(2, "child"), v(3, "mu"), v(4, "other")
}

func TestPlacesAreInterned(t *testing.T) {
	places := NewPlaces()
	s, child, mu, _ := fields()
	p := places.Field(places.Field(places.Root(s), child), mu)
	if q := places.Field(places.Field(places.Root(s), child), mu); p != q {
		t.Error("the same steps from the same root are another place")
	}
	if p.String() != "s.child.mu" || p.Depth() != 2 || places.Class(p) != mu {
		t.Errorf("place %s, depth %d, class %v", p, p.Depth(), places.Class(p))
	}
	element := places.Extend(p, Step{Field: Element, Key: "1"})
	if places.Class(element) != mu || element.String() != "s.child.mu[]" {
		t.Errorf("element %s of class %v", element, places.Class(element))
	}
	if element == places.Extend(p, Step{Field: Element, Key: "2"}) {
		t.Error("elements with different keys are the same place")
	}
	if places.Unkeyed(element) != places.Extend(p, Step{Field: Element}) {
		t.Error("an element without its key is not any element")
	}
	if places.Unkeyed(nil) != nil {
		t.Error("no place has elements")
	}
	long := p
	for range maxDepth {
		if long = places.Field(long, child); long == nil {
			return
		}
	}
	t.Error("a place may be as long as it likes")
}

func TestRelationsTellOneObjectsLockFromAnothers(t *testing.T) {
	places := NewPlaces()
	s, child, mu, other := fields()
	root, mine := places.Root(s), places.Field(places.Root(s), mu)
	kid := places.Field(root, child)
	for _, c := range []struct {
		from, to *Place
		want     string
		words    string
	}{
		{root, mine, "mu", "mu"},
		{kid, mine, "^child.mu", "mu of what has it as child"},
		{places.Extend(kid, Step{Field: Element, Key: "1"}), mine, "^[].^child.mu", "mu of what has it in child"},
		{places.Field(kid, child), mine, "^child.^child.mu", "mu of what has what has it as child as child"},
		{mine, mine, "", ""},
		{kid, places.Field(kid, mu), "mu", "mu"},
	} {
		r := places.Relate(c.from, c.to)
		if r == nil || r.String() != c.want || r.Words() != c.words || places.Apply(c.from, r) != c.to {
			t.Errorf("from %s to %s: %v (%s), want %q (%s)", c.from, c.to, r, r.Words(), c.want, c.words)
		}
	}
	if r := places.Relate(root, places.Field(places.Root(other), mu)); r != nil {
		t.Errorf("two objects are related by %s", r)
	}
	first, second := places.Extend(kid, Step{Field: Element, Key: "1"}), places.Extend(kid, Step{Field: Element, Key: "2"})
	if r := places.Relate(first, places.Field(second, mu)); r != nil {
		t.Errorf("two elements are related by %s", r)
	}
	pairs := []Pair{{Callee: places.Root(other), Caller: kid}}
	if up := places.Up(places.Field(places.Root(other), mu), pairs); up == nil || up.String() != "s.child.mu" {
		t.Errorf("a callee's other.mu is %v for the caller", up)
	}
	if down := places.Down(mine, pairs); down == nil || down.String() != "other.^child.mu" {
		t.Errorf("a caller's s.mu is %v for the callee", down)
	}
}

func TestPathsWithDifferentLocksStayApart(t *testing.T) {
	places := NewPlaces()
	s, child, mu, _ := fields()
	lock := places.Field(places.Root(s), mu)
	c := Condition{Value: child}
	with := Path{Held: Set{{Lock: lock, Mode: Write}}}.Learn(Fact{c, true})
	without := Path{}.Learn(Fact{c, false})
	paths, _ := Merge(nil, []Path{with, without})
	if len(paths) != 2 {
		t.Fatalf("%d paths", len(paths))
	}
	if _, changed := Merge(paths, []Path{with}); changed {
		t.Error("a path that is known changes the state")
	}
	// The same locks with another fact: only what both know remains.
	paths, changed := Merge(paths, []Path{Path{}.Learn(Fact{c, true})})
	if _, known := paths[1].Known(c); len(paths) != 2 || !changed || known {
		t.Errorf("%d paths, changed %v, known %v", len(paths), changed, known)
	}
	if flat := Flatten(paths); flat.Held.String() != "maybe s.mu" {
		t.Errorf("together they hold %s", flat.Held)
	}
	many := paths
	for i := range maxPaths {
		many, _ = Merge(many, []Path{{Deferred: []Node{types.NewVar(token.Pos(i+10), nil, "d", nil)}}})
	}
	if len(many) > maxPaths {
		t.Errorf("%d paths are kept apart", len(many))
	}
}

func TestOutcomesAreWhatConditionsTest(t *testing.T) {
	v, _, _, _ := fields()
	for _, o := range []Outcome{Anything, True, False, Nil, NonNil} {
		if got := (Path{}).LearnOutcome(v, o).OutcomeOf(v); got != o {
			t.Errorf("outcome %d is learnt as %d", o, got)
		}
	}
	if True.Not() != False || False.Not() != True || Nil.Not() != Nil {
		t.Error("negation")
	}
}

// TestLargePackages: every function of large packages is followed, with operations
// recognised in plenty and no panic.
func TestLargePackages(t *testing.T) {
	pkgs, err := load.Packages(load.Config{Patterns: []string{"net/http", "database/sql", "log", "expvar", "os/exec"}})
	if err != nil {
		t.Fatal(err)
	}
	var units []Unit
	for _, p := range pkgs {
		units = append(units, Unit{Info: p.TypesInfo, Files: p.Syntax})
	}
	p := NewProgram(units...)
	functions, edges, found := 0, 0, make(map[Kind]int)
	for _, f := range p.Flows() {
		functions++
		edges += len(f.Edges)
		for _, x := range f.Findings {
			found[x.Kind]++
		}
	}
	if functions < 1000 || edges == 0 {
		t.Errorf("%d functions, %d edges", functions, edges)
	}
	// These packages are correct. What is found are helpers of database/sql: functions that
	// return how to unlock beside other results, and Rows.Scan, which remembers in a field
	// that it has the lock.
	if found[TakenTwice] > 2 || found[WrongMode] > 0 || found[LeftHeld] > 26 || found[NotHeld] > 12 {
		t.Errorf("found %v", found)
	}
}
