package syntax

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
	"github.com/cofferdam-go/cofferdam/internal/source"
)

const program = `package p

import "sync"

type s struct {
	mu sync.Mutex
	c  chan int
	p  *s
}

func f(x *s, list []int, wg *sync.WaitGroup) (n int, err error) {
	y := &s{c: make(chan int)}
	y.c = nil
	for _, v := range list {
		go func() { x.p.c <- v }()
		if v > 2 {
			break
		}
	}
	for {
		switch {
		case n > 2:
			break
		}
		<-x.c
		n++
		if n > 4 {
			return n, nil
		}
	}
}
`

func parse(t *testing.T) *source.File {
	t.Helper()
	k := &packages.Package{PkgPath: "p", Fset: token.NewFileSet(), TypesInfo: load.NewInfo()}
	f, err := parser.ParseFile(k.Fset, "p.go", program, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	k.Syntax = append(k.Syntax, f)
	if k.Types, err = (&types.Config{Importer: importer.Default()}).Check("p", k.Fset, k.Syntax, k.TypesInfo); err != nil {
		t.Fatal(err)
	}
	p, err := source.Read([]*packages.Package{k}, map[string][]byte{"p.go": []byte(program)})
	if err != nil {
		t.Fatal(err)
	}
	return p.File("p.go")
}

// TestQuestionsAboutNodes asks about nodes of a program, each by its text, what the package can
// tell of them.
func TestQuestionsAboutNodes(t *testing.T) {
	f := parse(t)
	seen := make(map[string]bool)
	Inspect(f, func(n ast.Node, around []ast.Node) {
		text := strings.Split(f.TextOf(n), "\n")[0]
		check := func(name, want string, got bool, expect bool) {
			if text == want && !seen[name+text] {
				seen[name+text] = true
				if got != expect {
					t.Errorf("%s of %q is %t", name, text, got)
				}
			}
		}
		if s, ok := n.(ast.Stmt); ok {
			list, _ := ListAround(s, around)
			check("ListAround", "n++", list != nil, true)
			_, loop := LoopAround(around)
			check("LoopAround", "n++", loop, true)
			check("LoopAround", "y.c = nil", loop, false)
			check("Leaves", "if n > 4 {", Leaves(s), true)
			check("Leaves", "for _, v := range list {", Leaves(s), false)
			check("Breaks", "if v > 2 {", Breaks([]ast.Stmt{s}), true)
			check("Breaks", "switch {", Breaks([]ast.Stmt{s}), false)
			check("MayWait", "<-x.c", MayWait(f, []ast.Stmt{s}), true)
			check("MayWait", "n++", MayWait(f, []ast.Stmt{s}), false)
			check("OthersWaitFor", "x.p.c <- v", OthersWaitFor(f, s), true)
		}
		if e, ok := n.(ast.Expr); ok {
			p, ok := PathOf(f.Info, e)
			check("PathOf", "x.p.c", ok && p.Variable.Name() == "c" && p.Root.Name == "x" && !p.Plain, true)
			check("Plain", "x.c", p.Plain, true)
			check("MayNeedLock", "x.c", MayNeedLock(f.Info, e), true)
			if id, ok := e.(*ast.Ident); ok {
				check("FreshIn", "y", FreshIn(f, id, around), true)
			}
		}
		if send, ok := n.(*ast.SendStmt); ok {
			v := f.Info.Uses[send.Value.(*ast.Ident)].(*types.Var)
			if GoroutineAround(around, v) == nil {
				t.Error("the send is in no goroutine")
			}
		}
	})
	if len(seen) < 14 {
		t.Errorf("only %d questions were asked", len(seen))
	}
}
