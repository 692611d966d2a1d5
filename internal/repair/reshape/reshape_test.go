package reshape

import (
	"flag"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/txtar"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/load"
	"github.com/cofferdam-go/cofferdam/internal/repair/cover"
	"github.com/cofferdam-go/cofferdam/internal/repair/reshape/change"
	"github.com/cofferdam-go/cofferdam/internal/source"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

var update = flag.Bool("update", false, "rewrite what the changes are to be")

// std reads packages of the standard library, once for all tests.
var std = sync.OnceValue(func() types.Importer { return importer.Default() })

// TestChanges holds the changes for failures against what they are to be. An archive has a
// failure in its comment, a program in p.go, and the program after each change as 1.go, 2.go;
// none, if there must be no change. The comment's lines say what the run showed, a place being
// the first line with some text:
//
//	go 1.21                              the version of the module
//	panic close of closed channel: TEXT
//	race: TEXT | TEXT
//	waits lock order: TEXT               and the locks of that goroutine:
//	holds: TEXT
//	heldby returned: TEXT
//	stack: TEXT                          a call of that goroutine
//	split VARIABLE: TEXT | TEXT          functions that take updates of a variable apart
//	declined: TEXT                       no such line of the run, but what is said of no change
func TestChanges(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no archives", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			run := newRun(t, string(archive.Comment), archive.Files[0].Data)
			var got []txtar.File
			for i, c := range Changes(run) {
				if c.Words == "" || c.Mistake == "" || c.Reason == "" || len(c.Patch.Places) == 0 {
					t.Errorf("a change without words or places: %+v", c)
				}
				got = append(got, txtar.File{Name: fmt.Sprintf("%d.go", i+1), Data: c.Patch.Files["p.go"]})
			}
			for _, line := range strings.Split(string(archive.Comment), "\n") {
				if want, ok := strings.CutPrefix(line, "declined: "); ok && !strings.Contains(strings.Join(run.Declined, "\n"), want) {
					t.Errorf("%q is not among what was declined: %q", want, run.Declined)
				}
			}
			if *update {
				archive.Files = append(archive.Files[:1], got...)
				if err := os.WriteFile(file, txtar.Format(archive), 0o666); err != nil {
					t.Fatal(err)
				}
				return
			}
			want := archive.Files[1:]
			if len(got) != len(want) {
				t.Fatalf("%d changes, want %d", len(got), len(want))
			}
			for i := range got {
				if diff := cmp.Diff(string(want[i].Data), string(got[i].Data)); diff != "" {
					t.Errorf("change %d:\n%s", i+1, diff)
				}
			}
		})
	}
}

// newRun makes the run that a comment describes.
func newRun(t *testing.T, comment string, text []byte) *change.Run {
	t.Helper()
	version := "1.26"
	run := &change.Run{Failure: &trace.Failure{}, Started: make(map[change.Line]bool)}
	var lines []change.Line
	run.Site = func(site uint32) (change.Line, bool) {
		if site == 0 {
			return change.Line{}, false
		}
		return lines[site-1], true
	}
	at := func(place string) trace.Point {
		for i, line := range strings.Split(string(text), "\n") {
			if strings.Contains(line, strings.TrimSpace(place)) {
				lines = append(lines, change.Line{File: "p.go", Line: i + 1})
				return trace.Point{Site: uint32(len(lines))}
			}
		}
		t.Fatalf("no line has %q", place)
		return trace.Point{}
	}
	f := run.Failure
	for _, line := range strings.Split(strings.TrimSpace(comment), "\n") {
		what, place, _ := strings.Cut(line, ": ")
		verb, detail, _ := strings.Cut(what, " ")
		switch verb {
		case "go":
			version = detail
		case "panic":
			f.Kind, f.Point = event.FailurePanic, at(place)
			if err := f.Cause.UnmarshalText([]byte(detail)); err != nil {
				t.Fatal(err)
			}
		case "race":
			one, other, _ := strings.Cut(place, " | ")
			f.Kind, f.Point, f.Others = event.FailureRace, at(one), []trace.Point{at(other)}
		case "waits":
			f.Kind = event.FailureDeadlock
			w := trace.Waiter{Point: at(place)}
			if err := w.Shape.UnmarshalText([]byte(detail)); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(place, "<-") {
				w.Op = event.Send
			}
			f.Waiting = append(f.Waiting, w)
		case "holds":
			w := &f.Waiting[len(f.Waiting)-1]
			w.Holds = append(w.Holds, trace.Hold{Point: at(place)})
		case "stack":
			w := &f.Waiting[len(f.Waiting)-1]
			w.Stack = append(w.Stack, trace.Call{File: "p.go", Line: lines[at(place).Site-1].Line})
		case "heldby":
			w := &f.Waiting[len(f.Waiting)-1]
			w.HeldBy = append(w.HeldBy, trace.Hold{Point: at(place), Returned: detail == "returned", Ended: detail == "ended"})
		}
	}
	run.Failures = []trace.Failure{*f}
	run.Code = newCode(t, text, version)
	file := run.Code.File("p.go")
	for _, line := range strings.Split(comment, "\n") {
		if split, ok := strings.CutPrefix(line, "split "); ok {
			name, places, _ := strings.Cut(split, ":")
			update := change.SplitUpdate{Variable: variableNamed(file, name)}
			for _, place := range strings.FieldsFunc(places, func(r rune) bool { return r == '|' }) {
				update.Functions = append(update.Functions, functionAt(file, lines[at(place).Site-1].Line))
			}
			run.Split = append(run.Split, update)
		}
	}
	ast.Inspect(file.Syntax, func(n ast.Node) bool {
		if start, ok := n.(*ast.GoStmt); ok {
			run.Started[change.Line{File: "p.go", Line: file.Line(start.Pos())}] = true
		}
		return true
	})
	return run
}

// variableNamed is the first field or variable that has a name.
func variableNamed(f *source.File, name string) (v *types.Var) {
	ast.Inspect(f.Syntax, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && id.Name == name && v == nil {
			v, _ = f.Info.Defs[id].(*types.Var)
		}
		return v == nil
	})
	return v
}

// functionAt is the declared function that a line is in.
func functionAt(f *source.File, line int) ast.Node {
	for _, d := range f.Syntax.Decls {
		if f.Line(d.Pos()) <= line && line <= f.Line(d.End()) {
			return d
		}
	}
	return nil
}

func newCode(t *testing.T, text []byte, version string) *cover.Code {
	t.Helper()
	k := &packages.Package{PkgPath: "p", Fset: token.NewFileSet(), TypesInfo: load.NewInfo(), Module: &packages.Module{GoVersion: version}}
	f, err := parser.ParseFile(k.Fset, "p.go", text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	k.Syntax = append(k.Syntax, f)
	if k.Types, err = (&types.Config{Importer: std()}).Check("p", k.Fset, k.Syntax, k.TypesInfo); err != nil {
		t.Fatal(err)
	}
	p, err := source.Read([]*packages.Package{k}, map[string][]byte{"p.go": text})
	if err != nil {
		t.Fatal(err)
	}
	return cover.NewCode(p)
}

// TestOneOrderIsCheckedInTheChangedProgram: a lock that a called function takes cannot be moved,
// and the change must not pass for the end of the other order.
func TestOneOrderIsCheckedInTheChangedProgram(t *testing.T) {
	text := []byte(`package p

import "sync"

var a, b sync.Mutex

func left() {
	a.Lock()
	b.Lock() // left
	b.Unlock()
	a.Unlock()
}

func right() {
	b.Lock() // right
	a.Lock()
	a.Unlock()
	b.Unlock()
}

func over() {
	b.Lock()
	takeA()
	b.Unlock()
}

func takeA() {
	a.Lock()
	a.Unlock()
}
`)
	run := newRun(t, "waits lock order: b.Lock() // left\nholds: a.Lock()\nwaits lock order: takeA()", text)
	changes := Changes(run)
	if len(changes) != 1 {
		t.Fatalf("%d changes", len(changes))
	}
	if why := changes[0].Check(newCode(t, changes[0].Patch.Files["p.go"], "1.26")); why != "" {
		t.Errorf("left takes b first now: %s", why)
	}
	if why := changes[0].Check(run.Code); why != "left still takes b while it holds a" {
		t.Errorf("of the program as it was: %q", why)
	}
}

// TestPairsTakenByWayOfACallAreSeen: that two locks of a kind are taken in one step helps only if no
// function takes two in another way.
func TestPairsTakenByWayOfACallAreSeen(t *testing.T) {
	const shown = "waits lock order: b.mu.Lock()\nholds: a.mu.Lock()\n"
	const program = `package p

import "sync"

type account struct {
	mu sync.Mutex
	n  int
}

func swap(a, b *account) {
	a.mu.Lock()
	b.mu.Lock()
	a.n, b.n = b.n, a.n
	b.mu.Unlock()
	a.mu.Unlock()
}

func (a *account) add() {
	a.mu.Lock()
	a.n++
	a.mu.Unlock()
}

func (a *account) addBoth(b *account) {
	a.mu.Lock()
	a.n++
	CALL
	a.mu.Unlock()
}
`
	for call, want := range map[string]bool{"b.n++": false, "b.add()": true} {
		run := newRun(t, shown, []byte(strings.Replace(program, "CALL", call, 1)))
		changes := Changes(run)
		if len(changes) != 1 || changes[0].Check == nil {
			t.Fatalf("%s: %d changes", call, len(changes))
		}
		if why := changes[0].Check(run.Code); (why != "") != want {
			t.Errorf("%s: %q", call, why)
		}
	}
}
