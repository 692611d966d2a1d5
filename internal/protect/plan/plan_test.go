package plan_test

import (
	"flag"
	"fmt"
	"go/ast"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/cofferdam-go/cofferdam/internal/guard"
	"github.com/cofferdam-go/cofferdam/internal/load"
	"github.com/cofferdam-go/cofferdam/internal/protect/facts"
	"github.com/cofferdam-go/cofferdam/internal/protect/plan"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

var update = flag.Bool("update", false, "write the plans that are made into the test files")

// makePlan plans for a module.
func makePlan(t *testing.T, dir string, o plan.Options) *plan.Plan {
	t.Helper()
	pkgs, err := load.Packages(load.Config{Dir: dir, Patterns: []string{"./..."}, Tests: o.Tests})
	if err != nil {
		t.Fatal(err)
	}
	guards := guard.Infer(pkgs)
	p, err := plan.Make(pkgs, facts.Gather(pkgs, guards.Program), guards, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func extract(t *testing.T, files []txtar.File) string {
	t.Helper()
	dir := t.TempDir()
	files = append(files, txtar.File{Name: "go.mod", Data: []byte("module example.com/m\n\ngo 1.26\n")})
	for _, f := range files {
		if err := os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestPlans holds the plans of small programs, with the reason for each decision. A line
// of the archive's comment "modes: a b" says in which modes; a line "maps: true" has
// the entries of maps copied.
func TestPlans(t *testing.T) {
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatalf("no test files: %v", err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			modes, maps := []string{"tolerate"}, false
			for line := range strings.SplitSeq(string(a.Comment), "\n") {
				if list, ok := strings.CutPrefix(line, "modes: "); ok {
					modes = strings.Fields(list)
				}
				maps = maps || line == "maps: true"
			}
			made := []txtar.File{a.Files[0]}
			dir := extract(t, made)
			for _, mode := range modes {
				p := makePlan(t, dir, plan.Options{Mode: plan.Mode(mode), Maps: maps, Least: 0.3})
				made = append(made, txtar.File{Name: mode, Data: []byte(render(p))})
			}
			if *update {
				a.Files = made
				if err := os.WriteFile(name, txtar.Format(a), 0o666); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(string(txtar.Format(&txtar.Archive{Files: a.Files})), string(txtar.Format(&txtar.Archive{Files: made}))); diff != "" {
				t.Errorf("another plan is made (-recorded +made):\n%s", diff)
			}
		})
	}
}

// render writes a plan, without what can be seen in the source.
func render(p *plan.Plan) string {
	var b strings.Builder
	for _, d := range p.OnPages {
		if d.Wicket != 0 {
			fmt.Fprintf(&b, "behind wicket %d: %s, guarded by %s\n", d.Wicket, d.Datum, d.Lock)
		} else {
			fmt.Fprintf(&b, "on pages: %s, guarded by %s\n", d.Datum, d.Lock)
		}
	}
	for _, pkg := range p.Packages {
		for _, f := range pkg.Files {
			for _, g := range f.Groups {
				renderGroup(&b, f.File, g)
			}
			for _, s := range f.Sites {
				fmt.Fprintf(&b, "site %d: %s%s\n", f.Line(s.Node.Pos()), f.TextOf(s.Node), how(s))
			}
		}
		for _, c := range pkg.Clones {
			fmt.Fprintf(&b, "clone %d of %s, for%s\n", c.Number, c.Function, variables(c.Vars))
			for _, r := range c.Redirects {
				fmt.Fprintf(&b, "\t%d: %s\n", c.File.Line(r.Node.Pos()), c.File.TextOf(r.Node))
			}
			for _, call := range c.Calls {
				fmt.Fprintf(&b, "\t%d: calls clone %d\n", c.File.Line(call.Expr.Pos()), call.Clone.Number)
			}
		}
	}
	for _, s := range p.Sections {
		if s.Why != "" {
			fmt.Fprintf(&b, "%d left alone: %s\n", s.At.Line, s.Why)
		}
		for _, l := range s.Left {
			fmt.Fprintf(&b, "%d left out: %s, %s\n", s.At.Line, l.Name, l.Why)
		}
	}
	return b.String() + p.String()
}

// how says what a use of a field behind a wicket is.
func how(s plan.Site) string {
	switch {
	case s.IsPlain():
		return ", as it is"
	case s.Datum.Wicket == 0:
		return ""
	case s.Part != nil:
		return ", a part in one call"
	case s.Update != nil:
		return ", updated"
	case s.Store != nil:
		return ", stored"
	}
	return ", loaded"
}

func renderGroup(b *strings.Builder, f *source.File, g *plan.Group) {
	fmt.Fprintf(b, "section %d of %s:%s", f.Line(g.First.Pos()), g.Lock, variables(g.Vars))
	for _, s := range g.Slots {
		fmt.Fprintf(b, "; slot for %s:%s", s.Spelling, variables(s.Fields))
	}
	for _, h := range g.Batches {
		fmt.Fprintf(b, "; batch of %s%s, merged by %s", h.Datum, variables([]*plan.Variable{h.Variable}), h.Variable.Merge)
	}
	if g.Flagged {
		b.WriteString(", flagged")
	}
	if g.Rescues {
		b.WriteString(", left by panics")
	}
	if g.Stranded {
		fmt.Fprintf(b, ", left by panics from the beginning of the function and after %d deferred calls", len(g.Defers))
	}
	if g.OnlyReaches {
		b.WriteString(", enters nothing")
	}
	b.WriteString("\n")
	for _, s := range g.Steps {
		renderStep(b, f, g, s)
	}
}

func renderStep(b *strings.Builder, f *source.File, g *plan.Group, s *plan.StepPlan) {
	fmt.Fprintf(b, "\t%d", f.Line(s.Stmt.Pos()))
	if s.Opaque != "" {
		fmt.Fprintf(b, " opaque: %s", s.Opaque)
		if s.Relents {
			b.WriteString(", stays in the guard")
		}
	} else if s.Interrupts {
		b.WriteString(" interrupts")
	}
	if s.Interrupts && !s.Resumes {
		b.WriteString(", ends")
	}
	if s.Defers {
		b.WriteString(", deferred")
	}
	write := func(n ast.Node) { fmt.Fprintf(b, " %s", f.TextOf(n)) }
	for _, r := range s.Redirects {
		write(r.Node)
	}
	for _, c := range s.Calls {
		fmt.Fprintf(b, " clone %d", c.Clone.Number)
	}
	for i, use := range s.SlotUses {
		switch {
		case use.Publishes:
			fmt.Fprintf(b, " publishes %s", g.Slots[i].Spelling)
		case use.Object != nil:
			fmt.Fprintf(b, " fills %s with %s:", g.Slots[i].Spelling, use.Object.Name())
			for _, r := range use.Redirects {
				write(r.Node)
			}
		}
	}
	for i, use := range s.BatchUses {
		switch {
		case use.Publishes && s.Opaque == "":
			fmt.Fprintf(b, " publishes %s, because it %s;", g.Batches[i].Datum, use.Why)
		case use.Count() > 0:
			fmt.Fprintf(b, " copies of %s:", g.Batches[i].Datum)
			for _, unit := range use.Units {
				write(unit)
			}
			for _, e := range use.Entries {
				fmt.Fprintf(b, " %s[%s]", f.TextOf(e.Map), f.TextOf(e.Use.Key))
			}
		}
	}
	if len(s.Assignments) > 0 {
		b.WriteString(" assigns later")
	}
	for _, i := range s.MapCopies {
		fmt.Fprintf(b, " copies the map %s", g.Vars[i].Place)
	}
	b.WriteString("\n")
}

func variables(all []*plan.Variable) string {
	text := ""
	for _, v := range all {
		text += " " + v.Place.String() + "("
		switch {
		case v.Written && v.Blind:
			text += "only written"
		case v.Written:
			text += "written"
		default:
			text += "read"
		}
		if v.ByPointer {
			text += " by pointer"
		}
		if v.CopiesEntries {
			text += " with entries"
		}
		switch {
		case v.OnPages == nil:
		case v.OnPages.Wicket != 0:
			text += " behind a wicket"
		default:
			text += " on pages"
		}
		if v.Passive {
			text += " passive"
		}
		text += ")"
	}
	return text
}
