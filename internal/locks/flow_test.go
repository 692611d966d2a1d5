package locks

import (
	"go/ast"
	"slices"
	"testing"
)

const store = `package p

import "sync"

type store struct {
	mu, other sync.Mutex
	next      *store
	n         int
}

var global sync.Mutex

func (s *store) get(c bool) (int, bool) {
	if c {
		return 0, false
	}
	s.mu.Lock()
	for i := 0; i < 3; i++ {
		s.n++
	}
	switch s.n {
	case 1:
		s.n = 0
	}
	if s.n > 0 {
		s.mu.Unlock()
		return 1, false
	}
	{
		s.next.mu.Lock()
		s.next.mu.Unlock()
	}
	func() {
		global.Lock()
		global.Unlock()
	}()
	return s.n, true
}

func (s *store) put() {
	defer func() {
		s.mu.Unlock()
	}()
	s.n++
	panic("not yet")
	s.n--
}
`

// declaration returns the declaration of a function.
func declaration(t *testing.T, u Unit, name string) *ast.FuncDecl {
	t.Helper()
	for _, d := range u.Files[0].Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Name.Name == name {
			return f
		}
	}
	t.Fatalf("no function %s", name)
	return nil
}

func TestHeldBeforeStatementsThatContainOthers(t *testing.T) {
	_, u := check(t, store)
	p := NewProgram(u)
	get := declaration(t, u, "get")
	flow := p.Flow(get)
	for i, want := range []string{"nothing", "nothing", "s.mu", "s.mu", "s.mu", "s.mu", "s.mu", "s.mu"} {
		if got := flow.Held(get.Body.List[i]).String(); got != want {
			t.Errorf("before statement %d, a %T, %s is held, want %s", i, get.Body.List[i], got, want)
		}
	}
	put := declaration(t, u, "put")
	if paths := p.Flow(put).Before(put.Body.List[3]); paths != nil {
		t.Errorf("a statement after a panic is reached with %v", paths)
	}
}

func TestExitsSayWhatIsHeldAndWhatIsReturned(t *testing.T) {
	_, u := check(t, store)
	p := NewProgram(u)
	var got []string
	for _, e := range p.Flow(declaration(t, u, "get")).Exits {
		got = append(got, map[Outcome]string{True: "true", False: "false", Anything: "anything"}[e.Outcome]+": "+e.Held.String())
	}
	if want := []string{"false: nothing", "false: nothing", "true: s.mu"}; !slices.Equal(got, want) {
		t.Errorf("exits %q, want %q", got, want)
	}
	exits := p.Flow(declaration(t, u, "put")).Exits
	if len(exits) != 1 || !exits[0].Panics || exits[0].Released.String() != "s.mu" {
		t.Errorf("put ends with %+v", exits)
	}
}

func TestLiteralsBelongToTheFunctionAroundThem(t *testing.T) {
	_, u := check(t, store)
	p := NewProgram(u)
	get := declaration(t, u, "get")
	var literal *ast.FuncLit
	ast.Inspect(get, func(n ast.Node) bool {
		if l, ok := n.(*ast.FuncLit); ok {
			literal = l
		}
		return true
	})
	if p.Flow(literal) != p.Flow(get) || p.Flow(get).Function() != ast.Node(get) {
		t.Error("a literal has a flow of its own")
	}
	if got := p.Flow(get).Held(literal.Body.List[1]).String(); got != "global, s.mu" {
		t.Errorf("in the literal %s is held", got)
	}
	if p.Flow(u.Files[0]) != nil {
		t.Error("a file has a flow")
	}
}

func TestClassesHaveTheNameOfTheirDeclaration(t *testing.T) {
	_, u := check(t, store)
	p := NewProgram(u)
	get := declaration(t, u, "get")
	block := get.Body.List[5].(*ast.BlockStmt)
	op, ok := p.Op(u.Info, block.List[0].(*ast.ExprStmt).X.(*ast.CallExpr))
	if !ok || op.String() != "acquire s.next.mu" || op.Lock.IsGlobal() {
		t.Fatalf("operation %v", op)
	}
	if name := p.ClassName(p.Places.ClassOf(op)); name != "p.store.mu" {
		t.Errorf("its class is %s", name)
	}
}
