package audit_test

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/load"
	"github.com/cofferdam-go/cofferdam/internal/locks"
	"github.com/cofferdam-go/cofferdam/internal/locks/audit"
)

// program is what is known of the locks of a package with one file.
func program(t *testing.T, text string) *locks.Program {
	t.Helper()
	fset, info := token.NewFileSet(), load.NewInfo()
	f, err := parser.ParseFile(fset, "p.go", text, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (&types.Config{Importer: importer.Default()}).Check("p", fset, []*ast.File{f}, info); err != nil {
		t.Fatal(err)
	}
	return locks.NewProgram(locks.Unit{Info: info, Files: []*ast.File{f}})
}

func TestChangeThatMakesTheUseOfLocksWorse(t *testing.T) {
	const head = "package p\n\nimport \"sync\"\n\nvar a, b sync.Mutex\nvar rw sync.RWMutex\n\n"
	for _, test := range []struct{ name, before, after, want string }{
		{"nothing", "func F() { a.Lock(); a.Unlock() }\n", "func F() { a.Lock(); defer a.Unlock() }\n", ""},
		{"a leak", "func F() {}\n", "func F() { a.Lock() }\n", "F would leave a held on some way out"},
		{"a leak that was there", "func F() { a.Lock() }\n", "func F() { a.Lock(); println() }\n", ""},
		{"a release too many", "func F() {}\n", "func F() { a.Unlock() }\n", "F would release a, which it does not hold on every way"},
		{"the other mode", "func F() {}\n", "func F() { rw.RLock(); rw.Unlock() }\n", "F would release rw in another mode than it took it in"},
		{"twice", "func F() {}\n", "func F() { a.Lock(); a.Lock(); a.Unlock() }\n", "F would take a twice"},
		{
			"both orders", "func F() { a.Lock(); b.Lock(); b.Unlock(); a.Unlock() }\n",
			"func F() { a.Lock(); b.Lock(); b.Unlock(); a.Unlock() }\nfunc G() { b.Lock(); a.Lock(); a.Unlock(); b.Unlock() }\n",
			"G would take p.a while it holds p.b, and F takes them the other way round: the two can wait for each other for ever",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := audit.Worse(program(t, head+test.before), program(t, head+test.after)); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}
