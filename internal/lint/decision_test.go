package lint

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"testing"
)

// spoken are names of fields and methods that hold sentences for people. What they say is
// never read back: a decision is made on the data that the sentence was made of.
var spoken = map[string]bool{
	"Note": true, "Message": true, "Sentence": true, "Explanation": true, "Advice": true, "Why": true, "Error": true,
	"note": true, "message": true, "sentence": true, "explanation": true, "advice": true, "why": true,
}

// readers are functions that look into a text.
var readers = map[string]bool{
	"strings.Contains": true, "strings.HasPrefix": true, "strings.HasSuffix": true, "strings.Cut": true, "strings.CutPrefix": true,
	"strings.CutSuffix": true, "strings.Index": true, "strings.EqualFold": true, "strings.Split": true, "strings.Fields": true,
	"strings.Count": true, "bytes.Contains": true, "bytes.HasPrefix": true, "fmt.Sscanf": true, "fmt.Sscan": true,
}

func TestNothingIsDecidedByTheTextOfAMessage(t *testing.T) {
	for _, folder := range folders() {
		for _, f := range products()[folder] {
			ast.Inspect(f.syntax, func(n ast.Node) bool {
				if what := reads(n); what != "" {
					t.Errorf("%s: a decision by the text of %s: decide on the data that it was made of", f.at(n), what)
				}
				return true
			})
		}
	}
}

// reads returns the sentence that an expression or a switch looks into, "" if it does
// not. Whether there is a sentence at all may be asked, and it may be cut into its lines.
func reads(n ast.Node) string {
	switch n := n.(type) {
	case *ast.CallExpr:
		if readers[qualified(n.Fun)] && len(n.Args) > 1 && !isText(n.Args[1], `"\n"`) {
			return sentence(n.Args[0])
		}
	case *ast.BinaryExpr:
		if n.Op != token.EQL && n.Op != token.NEQ {
			return ""
		}
		for _, sides := range [][2]ast.Expr{{n.X, n.Y}, {n.Y, n.X}} {
			if isText(sides[1]) && !isText(sides[1], `""`) {
				return sentence(sides[0])
			}
		}
	case *ast.SwitchStmt:
		for _, clause := range n.Body.List {
			if slices.ContainsFunc(clause.(*ast.CaseClause).List, func(e ast.Expr) bool { return isText(e) }) {
				return sentence(n.Tag)
			}
		}
	}
	return ""
}

// isText reports whether an expression is a string literal, one of these if there are any.
func isText(e ast.Expr, literals ...string) bool {
	lit, ok := e.(*ast.BasicLit)
	return ok && lit.Kind == token.STRING && (len(literals) == 0 || slices.Contains(literals, lit.Value))
}

// sentence returns the name of the sentence that an expression is, "" if it is none.
func sentence(e ast.Expr) string {
	if call, ok := e.(*ast.CallExpr); ok && len(call.Args) == 0 {
		e = call.Fun
	}
	if s, ok := e.(*ast.SelectorExpr); ok && spoken[s.Sel.Name] {
		return s.Sel.Name
	}
	return ""
}

// qualified is a function's name with its package's.
func qualified(e ast.Expr) string {
	if s, ok := e.(*ast.SelectorExpr); ok {
		if pkg, ok := s.X.(*ast.Ident); ok {
			return pkg.Name + "." + s.Sel.Name
		}
	}
	return ""
}

func TestDecisionsByTextAreSeen(t *testing.T) {
	for source, want := range map[string]string{
		`strings.HasPrefix(res.Note, "all schedules")`: "Note",
		`strings.Contains(err.Error(), "deadlock")`:    "Error",
		`f.Message == "deadlock"`:                      "Message",
		`"deadlock" != f.Message`:                      "Message",
		`f.Message == ""`:                              "",
		`strings.Cut(f.Message, "\n")`:                 "",
		`strings.HasPrefix(file.Name, "x")`:            "",
		`d.Why == NotReady`:                            "",
	} {
		e, err := parser.ParseExpr(source)
		if err != nil {
			t.Fatal(err)
		}
		if got := reads(e); got != want {
			t.Errorf("%s reads %q, want %q", source, got, want)
		}
	}
}

// TestOnlyGotoolRunsTheGoCommand: how it is found, interrupted and understood is the same
// everywhere.
func TestOnlyGotoolRunsTheGoCommand(t *testing.T) {
	for _, folder := range folders() {
		for _, f := range products()[folder] {
			if folder == "internal/gotool" {
				continue
			}
			ast.Inspect(f.syntax, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok || !strings.HasPrefix(qualified(call.Fun), "exec.Command") {
					return true
				}
				for _, arg := range call.Args[:min(2, len(call.Args))] {
					if lit, ok := arg.(*ast.BasicLit); ok && lit.Value == `"go"` {
						t.Errorf("%s: the go command is run by package gotool alone", f.at(call))
					}
				}
				return true
			})
		}
	}
}

// printing are packages that make source text of syntax trees. A rewriter edits the text
// by the buffer of package source, which keeps what is not changed byte for byte.
//
// format.Source of a text that a buffer made is what package repair still has.
var printing = []string{"go/format", "go/printer", "golang.org/x/tools/go/ast/astutil", "golang.org/x/tools/imports"}

func TestOnlySourceWritesSource(t *testing.T) {
	for _, folder := range folders() {
		if folder == "internal/source" || folder == "internal/repair" {
			continue
		}
		for _, f := range products()[folder] {
			for _, i := range f.syntax.Imports {
				if name := strings.Trim(i.Path.Value, `"`); match(printing, name) {
					t.Errorf("%s imports %s: source is written by package source alone", f.path, name)
				}
			}
		}
	}
}

// support are packages for tests alone.
var support = []string{"bench/stamp/stamptest", "internal/await", "internal/sli/slitest", "internal/locks/lockstest", "internal/report/runtest"}

// judges are packages for tests and for the long searches of the bench.
var judges = []string{"internal/judge", "internal/randprog", "internal/randprog/compound", "internal/randprog/sharing", "internal/truth", "internal/truth/disturbed", "internal/truth/fixes", "internal/truth/protected", "internal/txcompile/txprog"}

func TestSupportForTestsIsNotInTheProduct(t *testing.T) {
	for _, p := range list(t, "./...", "./bench/...") {
		for _, i := range p.Imports {
			if match(judges, own(i)) && !match(append([]string{"bench/..."}, judges...), own(p.ImportPath)) {
				t.Errorf("%s imports %s, which is for tests and the bench alone", own(p.ImportPath), own(i))
			}
			if match(support, own(i)) && !match(support, own(p.ImportPath)) {
				t.Errorf("%s imports %s, which is for tests alone", own(p.ImportPath), own(i))
			}
		}
	}
}
