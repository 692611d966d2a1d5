package source

import (
	"go/ast"
	"go/types"
	"testing"
)

func TestCallsOfAFunctionAreToldFromItsOtherUses(t *testing.T) {
	f := parse(t, `package p

type T struct{ next, head *T }

func (t *T) called()   {}
func (t *T) started()  {}
func (t *T) deferred() {}
func (t *T) handedOn() {}
func (t *T) unused()   {}

func F(t *T) func() {
	t.called()
	go t.started()
	defer t.deferred()
	t.next = &T{head: t}
	return t.handedOn
}

func G(t *T) { func() { t.called() }() }

var early = outside()

func outside() int { return 0 }
`)
	p := NewProgram(f.Fset)
	p.Add(f)
	uses := NewUses(p)
	declared := func(name string) *ast.FuncDecl {
		for _, d := range f.Syntax.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Name.Name == name {
				return fn
			}
		}
		t.Fatalf("no function %s", name)
		return nil
	}
	for _, want := range []struct {
		name   string
		calls  int
		static bool
	}{{"called", 2, true}, {"started", 0, false}, {"deferred", 0, false}, {"handedOn", 0, false}, {"unused", 0, true}, {"outside", 0, false}} {
		if calls, static := uses.Calls(declared(want.name)); len(calls) != want.calls || static != want.static {
			t.Errorf("%s: %d calls, only called %t; want %d, %t", want.name, len(calls), static, want.calls, want.static)
		}
	}
	st := f.Types.Scope().Lookup("T").Type().Underlying().(*types.Struct)
	if next, head := st.Field(0), st.Field(1); !uses.Assigned(next) || uses.Assigned(head) {
		t.Error("next is assigned to, and head only set in a literal")
	}
}
