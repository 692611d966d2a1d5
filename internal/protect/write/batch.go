package write

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/protect/batch"
	"github.com/cofferdam-go/cofferdam/internal/protect/plan"
)

func (w *sectionWriter) batchID(i int, what string) string { return w.id("h", i) + what }

// publishBatch publishes what a batch has.
func (w *sectionWriter) publishBatch(i int) string {
	return fmt.Sprintf("if %s.N > 0 { %s() }", w.batchID(i, ""), w.batchID(i, "f"))
}

// declareBatches declares the batches of a group, each with a function that publishes it.
func (w *sectionWriter) declareBatches() []string {
	var list []string
	for i, b := range w.group.Batches {
		h, f, label, n := w.batchID(i, ""), w.batchID(i, "f"), w.batchID(i, "l"), w.batchID(i, "n")
		w.addLabel(label, b.Variable)
		if b.Key != "" {
			list = append(list, fmt.Sprintf("var %s %s.Entries[%s, %s]; %s := func() { %s.Publish(&%s) }; _ = %s",
				h, w.hooks(), b.Key, b.Variable.Spelling, f, h, label, f))
			continue
		}
		at := func(field string) string { return fmt.Sprintf("%s.%s[%s]", h, field, n) }
		put := w.putAs(spelling{"*" + at("At"), at("At"), at("Own"), at("Before"), "&" + label}, b.Variable)
		typ := fmt.Sprintf("%s.Batch[%s, [%d]*%s, [%d]%s]", w.hooks(), b.Variable.Spelling, b.Room, b.Variable.Spelling, b.Room, b.Variable.Spelling)
		list = append(list, fmt.Sprintf("var %s %s; %s := func() { for %s := 0; %s < %s.N; %s++ { %s }; %s.N = 0 }; _ = %s",
			h, typ, f, n, n, h, n, put, h, f))
	}
	return list
}

// makeRoom has a step find batches published that it reaches in another way, or that have no room for what it uses.
//
//	x.s[i]++      if h.N > 7 { Crowded(); put() }; x.s[i]++
func (w *sectionWriter) makeRoom(s *plan.StepPlan) {
	if s.Interrupts {
		return // all is published
	}
	for i, use := range s.BatchUses {
		switch {
		case use.Publishes:
			w.edits.InsertBefore(s.Begin(), w.publishBatch(i)+"; ")
			w.atEndOfLoop(s, w.publishBatch(i))
		case use.Count() > 0 && w.group.Batches[i].Crowds:
			w.edits.InsertBefore(s.Begin(), fmt.Sprintf("if %s.N > %d { %s.Crowded(); %s() }; ", w.batchID(i, ""), batch.Room-use.Count(), w.hooks(), w.batchID(i, "f")))
		}
	}
}

// A replacement is other text for a node, made when all that is inside has been changed.
type replacement struct {
	node ast.Node
	text func() string
}

// useBatches has the steps of a file use the copies of batches. It comes after all other changes, and from the inside out.
func (f *fileWriter) useBatches() {
	var all []replacement
	for i, g := range f.file.Groups {
		w := newSectionWriter(f, g, i+1)
		for _, s := range g.Steps {
			all = append(all, w.replacements(s)...)
		}
	}
	slices.SortStableFunc(all, func(a, b replacement) int {
		return int(a.node.End()-a.node.Pos()) - int(b.node.End()-b.node.Pos())
	})
	for _, r := range all {
		f.edits.Supersede(r.node, r.text())
	}
}

// replacements are what a step becomes.
//
//	x.s[i]             (*h.Of(&x.s[i]))
//	x.s[i] = f()       func(w T) { (*h.Of(&x.s[i])) = w }(f())
func (w *sectionWriter) replacements(s *plan.StepPlan) []replacement {
	var list []replacement
	units := false
	if s.Interrupts {
		return nil
	}
	for i, use := range s.BatchUses {
		of := ".Of"
		if w.leaves(w.group.Batches[i].Variable) == nil {
			of = ".OfWide"
		}
		for _, unit := range use.Units {
			units = true
			list = append(list, replacement{unit, func() string {
				return "(*" + w.batchID(i, of) + "(&" + w.edits.ChangedText(unit) + "))"
			}})
		}
		for _, e := range use.Entries {
			list = append(list, w.replaceEntry(i, e))
		}
	}
	for _, a := range s.Assignments {
		if units {
			list = append(list, replacement{a.AssignStmt, func() string { return w.assignLater(a.AssignStmt) }})
		}
	}
	return list
}

// assignLater writes an assignment as a call, so that the values are evaluated first.
func (w *sectionWriter) assignLater(a *ast.AssignStmt) string {
	target, value := a.Lhs[0], w.id("w", 0)
	return fmt.Sprintf("func(%s %s) { %s %s %s }(%s)", value, w.spell(w.pkg.TypesInfo.TypeOf(target)), w.edits.ChangedText(target), a.Tok, value, w.edits.ChangedText(a.Rhs[0]))
}

// replaceEntry is how a use of an entry uses its copy.
func (w *sectionWriter) replaceEntry(i int, e batch.EntryOf) replacement {
	use := e.Use
	call := func(node ast.Node, method string, value func() string) replacement {
		return replacement{node, func() string {
			return fmt.Sprintf("%s.%s(%s, %s%s)", w.batchID(i, ""), method, w.edits.ChangedText(e.Map), w.edits.ChangedText(use.Key), value())
		}}
	}
	none := func() string { return "" }
	changed := func(x ast.Expr, op string) func() string {
		entry, typ := w.id("w", 0), w.group.Batches[i].Variable.Spelling
		return func() string {
			value := "1"
			if x != nil {
				value = w.edits.ChangedText(x)
			}
			return fmt.Sprintf(", func(%s %s) %s { return %s %s (%s) }", entry, typ, typ, entry, op, value)
		}
	}
	switch u := use.Update.(type) {
	case *ast.IncDecStmt:
		return call(u, "Update", changed(nil, u.Tok.String()[:1]))
	case *ast.AssignStmt:
		return call(u, "Update", changed(u.Rhs[0], operator(u.Tok)))
	}
	switch {
	case use.Put != nil:
		return call(use.Put, "Put", func() string { return ", " + w.edits.ChangedText(use.Put.Rhs[0]) })
	case use.Call != nil:
		return call(use.Call, "Delete", none)
	case use.Found:
		return call(use.Index, "Find", none)
	}
	return call(use.Index, "Get", none)
}

// operator is that of an assignment: + of +=
func operator(t token.Token) string { return strings.TrimSuffix(t.String(), "=") }
