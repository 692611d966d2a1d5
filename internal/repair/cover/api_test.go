package cover

import (
	"errors"
	"go/ast"
	"go/types"
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/repair/dataname"
)

// code makes the code of one file, p.go.
func code(t *testing.T, text string) *Code {
	t.Helper()
	return parse(t, map[string][]byte{"p.go": []byte(text)})
}

// regionAt is the region of the first statement of a function whose text begins so.
func regionAt(t *testing.T, code *Code, text string) *Region {
	t.Helper()
	f := code.File("p.go")
	var found ast.Node
	ast.Inspect(f.Syntax, func(n ast.Node) bool {
		if s, ok := n.(ast.Stmt); ok && found == nil && strings.HasPrefix(f.TextOf(s), text) {
			found = s
		}
		return true
	})
	if found == nil {
		t.Fatalf("no statement %s", text)
	}
	r := code.Region(EnclosingFunction(f, found), []ast.Node{found})
	if r == nil {
		t.Fatalf("no region for %s", text)
	}
	return r
}

// field is a field of a struct of the package.
func field(t *testing.T, code *Code, owner, name string) (types.Type, *types.Var) {
	t.Helper()
	typ := code.File("p.go").Types.Scope().Lookup(owner).Type()
	o, _, _ := types.LookupFieldOrMethod(typ, true, code.File("p.go").Types, name)
	return typ, o.(*types.Var)
}

func words(all []*Lock) string {
	var list []string
	for _, l := range all {
		list = append(list, l.Words)
	}
	return strings.Join(list, "; ")
}

const counter = `package p

import "sync"

var total int

type Counter struct {
	mu   sync.Mutex
	n, m int
}

func (c *Counter) Add() {
	c.n++
	c.m++
}

func (c *Counter) Get() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	total++
	return c.n
}

func (c *Counter) Twice() {
	c.mu.Lock()
	c.n = 1
	c.mu.Unlock()
	c.mu.Lock()
	c.n = 2
	c.mu.Unlock()
}
`

func TestLocksAreListedTheBestFirst(t *testing.T) {
	c := code(t, counter)
	r := regionAt(t, c, "c.n++")
	var d Data
	d.AddField(field(t, c, "Counter", "n"))
	d.AddField(field(t, c, "Counter", "n"))
	if got, want := words(c.LocksFor(&d, []*Region{r})), "the mutex Counter.mu; a new mutex Counter.nMu; a new mutex counterMu of the package"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	_, mu := field(t, c, "Counter", "mu")
	d.AddHeld(mu)
	all := c.LocksFor(&d, []*Region{r})
	if !all[0].Exists() || all[0].Reason != "it already guards the data in other places" {
		t.Errorf("the first is %+v", all[0])
	}
	if all[1].Exists() || strings.Count(words(all), "Counter.mu") != 1 {
		t.Errorf("the locks are %s", words(all))
	}
}

func TestLockForAVariableStandsBesideIt(t *testing.T) {
	c := code(t, "package p\n\nvar total int\n\nfunc F() {\n\tn := 0\n\tgo func() { n++ }()\n\tn++\n\ttotal++\n}\n")
	r := regionAt(t, c, "n++")
	var n *types.Var
	for id, o := range c.File("p.go").Info.Defs {
		if id.Name == "n" {
			n = c.VariableAt(o.Pos(), "n")
		}
	}
	if n == nil || c.VariableAt(n.Pos(), "m") != nil || c.VariableAt(0, "n") != nil {
		t.Fatal("the variable is not found where it is declared")
	}
	var d Data
	d.AddLocal(n)
	d.AddGlobal(c.File("p.go").Types.Scope().Lookup("total").(*types.Var))
	if got, want := words(c.LocksFor(&d, []*Region{r})), "a new mutex nMu beside the variable n; a new mutex totalMu of the package"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestMethodsOfAStructSuggestItsLocks(t *testing.T) {
	c := code(t, counter)
	if got := words(c.LocksFor(&Data{}, []*Region{regionAt(t, c, "c.n++"), regionAt(t, c, "total++")})); !strings.HasPrefix(got, "the mutex Counter.mu; ") {
		t.Errorf("got %s", got)
	}
}

func TestRegionThatWasSeenToHoldTheLockIsCovered(t *testing.T) {
	c := code(t, counter)
	_, mu := field(t, c, "Counter", "mu")
	l := c.existing(mu)
	held := Access{Held: []HeldLock{{Lock: mu}}}
	for _, test := range []struct {
		name     string
		at       string
		accesses []Access
		write    bool
		want     bool
	}{
		{"one access with the lock", "c.n++", []Access{held}, true, true},
		{"one without", "c.n++", []Access{held, {}}, true, false},
		{"two with the lock, which the function does not take", "c.n++", []Access{held, held}, true, true},
		{"two with the lock, which the function takes twice", "c.n = 1", []Access{held, held}, true, false},
		{"a store with the lock for reading", "c.n++", []Access{{Held: []HeldLock{{Lock: mu, Read: true}}}}, true, false},
		{"a load with the lock for reading", "c.n++", []Access{{Held: []HeldLock{{Lock: mu, Read: true}}}}, false, true},
	} {
		r := regionAt(t, c, test.at)
		r.Accesses, r.Write = test.accesses, test.write
		if got := c.seenHeld(r, l); got != test.want {
			t.Errorf("%s: %t, want %t", test.name, got, test.want)
		}
	}
	r := regionAt(t, c, "c.n++")
	r.Accesses = []Access{held}
	if _, err := c.Write([]*Region{r}, l, nil, nil); !errors.Is(err, ErrCovered) {
		t.Errorf("got %v, want ErrCovered", err)
	}
}

func TestRegionsThatOverlapOrAreNearBecomeOne(t *testing.T) {
	c := code(t, "package p\n\nvar a, b, x int\n\nfunc F() {\n\ta = 1\n\tx++\n\tb = 1\n\tfor i := range 3 {\n\t\ta = i\n\t}\n\tgo F()\n\tb = 2\n}\n")
	first, second, last := regionAt(t, c, "a = 1"), regionAt(t, c, "b = 1"), regionAt(t, c, "b = 2")
	if got := Merge([]*Region{first.clone(), second.clone(), last.clone()}); len(got) != 2 || !got[0].Covers("p.go", 7) || got[0].Covers("p.go", 9) || got[0].Covers("q.go", 7) {
		t.Errorf("of regions beside each other there are %d", len(got))
	}
	loop := c.Region(first.fn, []ast.Node{first.body.List[3]})
	inner := regionAt(t, c, "a = i")
	inner.Write = true
	if got := Merge([]*Region{loop, inner}); len(got) != 1 || !got[0].Write || got[0].first() != first.body.List[3] {
		t.Errorf("of a region within another there are %d", len(got))
	}
}

func TestPatchKnowsTheLocksThatItAdded(t *testing.T) {
	c := code(t, "package p\n\ntype T struct{ n, m int }\n\nfunc (t *T) Add() {\n\tt.n++\n\tt.m = t.n\n\tif t.n == 1 {\n\t\tt.m++\n\t}\n}\n")
	r := regionAt(t, c, "t.n++")
	r.Write = true
	var d Data
	d.AddField(field(t, c, "T", "n"))
	l := c.LocksFor(&d, []*Region{r})[0]
	patch, err := c.Write([]*Region{r}, l, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(patch.NewLocks) != 1 || patch.NewLocks[0].Words != "a new mutex T.mu" || patch.Added(l) {
		t.Errorf("the new locks are %+v", patch.NewLocks)
	}
	// In the changed program it is one that exists.
	now := parse(t, patch.Over(nil))
	_, mu := field(t, now, "T", "mu")
	own := now.existing(mu)
	if !patch.Added(own) || (*Patch)(nil).Added(own) {
		t.Error("the lock is not known as the one that was added")
	}
	second := regionAt(t, now, "t.m++")
	second.Write = true
	whole := now.WriteThroughout([]*Region{second}, own, nil, patch)
	if whole == nil {
		t.Fatal("the method cannot hold the lock throughout")
	}
	if text := string(whole.Files["p.go"]); !strings.Contains(text, "func (t *T) Add() {\n\tt.mu.Lock()\n\tdefer t.mu.Unlock()\n\tt.n++") || whole.Key() == patch.Key() {
		t.Errorf("the method is\n%s", text)
	}
	if string(whole.Before["p.go"]) != string(patch.Before["p.go"]) || len(whole.NewLocks) != 1 {
		t.Error("the first patch is not part of the second")
	}
	second.Test = true
	if now.WriteThroughout([]*Region{second}, own, nil, patch) != nil || now.WriteThroughout([]*Region{second}, own, nil, nil) != nil {
		t.Error("test code, or a lock that was not added, is held throughout")
	}
}

func TestFilesAreKnownByTheirOriginalNames(t *testing.T) {
	c := code(t, counter)
	c.Original = func(name string) string { return "cache/" + name }
	if c.ByOriginal("cache/p.go") != c.File("p.go") || c.ByOriginal("p.go") != nil {
		t.Error("the file is not found by its original name")
	}
	r := regionAt(t, c, "c.n++")
	r.Write = true
	_, mu := field(t, c, "Counter", "mu")
	patch, err := c.Write([]*Region{r}, c.existing(mu), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	if patch.Files["cache/p.go"] == nil || len(patch.Files) != 1 {
		t.Errorf("the patch has %d files", len(patch.Files))
	}
}

func TestLockTakenAtALine(t *testing.T) {
	c := code(t, counter)
	_, mu := field(t, c, "Counter", "mu")
	if got := c.LockTakenAt(c.File("p.go"), 18); got != mu {
		t.Errorf("line 18 takes %v", got)
	}
	if got := c.LockTakenAt(c.File("p.go"), 20); got != nil {
		t.Errorf("line 20 takes %v", got)
	}
}

func TestFieldOfAStructWithoutANameIsKnownByTheFieldsThatLeadToIt(t *testing.T) {
	c := code(t, "package p\n\ntype Metrics struct {\n\tHTTP struct{ Requests int }\n\tDB struct{ Requests int }\n}\n")
	_, db := field(t, c, "Metrics", "DB")
	requests := db.Type().(*types.Struct).Field(0)
	owner := c.OwnerOf(requests)
	if owner == nil || owner.Obj().Name() != "Metrics" || !dataname.HasField(owner, requests) {
		t.Fatalf("the owner of Requests is %v", owner)
	}
	d := new(Data)
	d.AddField(owner, requests)
	names := d.Names(c)
	if len(names) != 1 || names[0].Name != "DB.Requests" {
		t.Fatalf("it has the names %v", names)
	}
	if found := c.Variables(names); len(found) != 1 || found[0] != requests {
		t.Errorf("%v is %v", names, found)
	}
}

func TestPartOfASliceIsCopiedAndNotTheWhole(t *testing.T) {
	c := code(t, "package p\n\ntype Board struct {\n\tn    int\n\tlist []int\n}\n\nfunc (b *Board) Top(n int) []int {\n\treturn b.list[:n]\n}\n")
	r := regionAt(t, c, "return")
	r.Copied = []ast.Expr{r.first().(*ast.ReturnStmt).Results[0].(*ast.SliceExpr).X}
	typ, list := field(t, c, "Board", "list")
	d := new(Data)
	d.AddField(typ, list)
	patch, err := c.Write([]*Region{r}, c.newField(named(typ), []*types.Var{list}), d.Names(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	if text := string(patch.Files["p.go"]); !strings.Contains(text, "return slices.Clone(b.list[:n])") {
		t.Error(text)
	}
}

func TestCopyIsHandedOutOfASectionThatThereIs(t *testing.T) {
	c := code(t, `package p

import "sync"

type Board struct {
	mu   sync.Mutex
	list []int
}

func (b *Board) Top(ok bool) []int {
	b.mu.Lock()
	defer b.mu.Unlock()
	if ok {
		return b.list
	}
	return nil
}
`)
	r := regionAt(t, c, "return b.list")
	r.Copied = []ast.Expr{r.first().(*ast.ReturnStmt).Results[0]}
	typ, list := field(t, c, "Board", "list")
	_, mu := field(t, c, "Board", "mu")
	d := new(Data)
	d.AddField(typ, list)
	patch, err := c.Write([]*Region{r, r.clone()}, c.existing(mu), d.Names(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	text := string(patch.Files["p.go"])
	if !strings.Contains(text, "\t\treturn slices.Clone(b.list)\n") || strings.Count(text, "Lock()") != 1 {
		t.Error(text)
	}
	if len(patch.Places) != 0 || strings.Join(patch.CopiesIn(), ", ") != "Top (p.go:14)" {
		t.Errorf("sections in %v, copies in %v", patch.Places, patch.CopiesIn())
	}
}

func TestWhatATestIsHandedIsNotTheDataByName(t *testing.T) {
	c := code(t, "package p\n\ntype Board struct{ list []int }\n\nfunc (b *Board) All() []int { return b.list }\n\nfunc F(b *Board) int {\n\tfor range b.All() {\n\t}\n\tn := len(b.list)\n\treturn n\n}\n")
	d := new(Data)
	d.AddField(field(t, c, "Board", "list"))
	if r := regionAt(t, c, "for range"); d.IsNamedIn(r) {
		t.Error("a loop over what All returns does not name the field")
	}
	if r := regionAt(t, c, "n := len"); !d.IsNamedIn(r) {
		t.Error("len(b.list) names the field")
	}
}

func TestMissingElementIsLookedForAgainBeforeItIsStored(t *testing.T) {
	c := code(t, `package p

type Memo struct {
	values map[string]int
	f      func(string) int
}

func New(f func(string) int) *Memo { return &Memo{values: map[string]int{}, f: f} }

func (m *Memo) Get(k string) int {
	if v, ok := m.values[k]; ok {
		return v
	}
	v := m.f(k)
	m.values[k] = v
	return v
}

func (m *Memo) Next(k string) int {
	v, ok := m.values[k]
	if ok {
		return v
	}
	k += "!"
	v = m.f(k)
	m.values[k] = v
	return v
}
`)
	typ, values := field(t, c, "Memo", "values")
	d := new(Data)
	d.AddField(typ, values)
	region := func(method string) *Region {
		var nodes []ast.Node
		for _, decl := range c.File("p.go").Syntax.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || fn.Name.Name != method {
				continue
			}
			ast.Inspect(fn, func(n ast.Node) bool {
				if x, ok := n.(*ast.SelectorExpr); ok && x.Sel.Name == "values" {
					nodes = append(nodes, x)
				}
				return true
			})
			r := c.Region(fn, nodes)
			r.Write = true
			return r
		}
		t.Fatalf("no method %s", method)
		return nil
	}
	l := c.newField(named(typ), []*types.Var{values})
	patch, err := c.Write([]*Region{region("Get")}, l, d.Names(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	const want = `func (m *Memo) Get(k string) int {
	m.mu.Lock()
	if v, ok := m.values[k]; ok {
		m.mu.Unlock()
		return v
	}
	m.mu.Unlock()
	v := m.f(k)
	m.mu.Lock()
	if v, ok := m.values[k]; ok {
		m.mu.Unlock()
		return v
	}
	m.values[k] = v
	m.mu.Unlock()
	return v
}
`
	if text := string(patch.Files["p.go"]); !strings.Contains(text, want) {
		t.Error(text)
	}
	if _, err := c.Write([]*Region{region("Next")}, l, d.Names(c), nil); err == nil {
		t.Error("Next looks for one key and stores under another")
	}
}

func TestLockOnTopOfAnotherIsForOtherData(t *testing.T) {
	const text = `package p

type Tree struct {
	root *node
	size int
}

type node struct{ value int }

func (t *Tree) Put(n *node) {
	t.root = n
	n.value++
}
`
	tree := func(c *Code) (*types.Named, []*types.Var) {
		typ, root := field(t, c, "Tree", "root")
		return named(typ), []*types.Var{root}
	}
	before := code(t, text)
	owner, root := tree(before)
	guarded := new(Data)
	guarded.AddField(owner, root[0])
	base, err := before.Write([]*Region{regionAt(t, before, "t.root = n")}, before.newField(owner, root), guarded.Names(before), nil)
	if err != nil {
		t.Fatal(err)
	}
	c := code(t, string(base.Files["p.go"]))
	owner, root = tree(c)
	data := new(Data)
	data.AddField(owner, root[0])
	typ, value := field(t, c, "node", "value")
	data.AddField(typ, value)
	regions := []*Region{regionAt(t, c, "n.value++")}
	all := c.LocksFor(data, regions)
	if why := base.SecondFor(c.newField(owner, root), all, data.Names(c)); why == "" {
		t.Error("the struct gets a second lock for the same field")
	}
	_, size := field(t, c, "Tree", "size")
	other := new(Data)
	other.AddField(owner, size)
	if why := base.SecondFor(c.newField(owner, []*types.Var{size}), all, other.Names(c)); why != "" {
		t.Errorf("another field gets no lock of its own: %s", why)
	}
	patch, err := c.Write(regions, c.newGlobal(regions, data), data.Names(c), base)
	if err != nil {
		t.Fatal(err)
	}
	if text := string(patch.Files["p.go"]); !strings.Contains(text, "// guards node.value\n") {
		t.Errorf("the comment names data of the first lock:\n%s", text)
	}
}
