package write

import (
	"fmt"
	"go/types"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/protect/copying"
	"github.com/cofferdam-go/cofferdam/internal/protect/facts"
	"github.com/cofferdam-go/cofferdam/internal/protect/plan"
)

// How a variable is published. What is common is written out, so that it costs a few
// instructions; a function is called where a careless write is recognised.
//
//	x.n    if v != b || x.n != b { Put64(&x.n, v, b) }
//	x.p    if x.p != b { Settle(&x.p, v, b) } else if v != b { x.p = v }
//
// Numbers are published by a compare-and-swap, unless what the section has written stands: then there is nothing that
// a careless value would be merged with. For pointers it would cost more than all
// the rest, because the collector has to know of it, and there is none for strings,
// slices and interfaces: they are compared and then assigned. A careless write that
// falls between the two is lost. The elements of an array are published one by one.

// A leaf is a part of a variable that is published by itself: the variable, or a field
// of it.
type leaf struct {
	path string // from the variable to the field
	typ  types.Type
}

// maxLeaves is how many fields of a struct are written out.
const maxLeaves = 8

// leaves returns the parts of a variable, nil if they cannot be written out.
func (w *sectionWriter) leaves(v *plan.Variable) []leaf {
	var list []leaf
	var add func(path string, t types.Type) bool
	add = func(path string, t types.Type) bool {
		s, ok := t.Underlying().(*types.Struct)
		if !ok {
			list = append(list, leaf{path, t})
			return copying.SamenessOf(t) != copying.Unknown && len(list) <= maxLeaves
		}
		for f := range s.Fields() {
			if f.Name() == "_" || !f.Exported() && f.Pkg().Path() != w.pkg.Types.Path() || !add(path+"."+f.Name(), f.Type()) {
				return false
			}
		}
		return true
	}
	if !add("", v.Last().Type()) {
		return nil
	}
	return list
}

// differ is the condition that two values of a type are not the same.
func (w *sectionWriter) differ(t types.Type, a, b string) string {
	if how := copying.SamenessOf(t); how != copying.Comparison {
		return fmt.Sprintf("!%s.%s(%s, %s)", w.hooks(), how, a, b)
	}
	return a + " != " + b
}

// A spelling is how a variable of a section and its copies are written.
type spelling struct {
	shared, address string // the variable and its address
	own, before     string // the copy, and what it was
	label           string
}

// part is the spelling of a part of the variable.
func (s spelling) part(l leaf) spelling {
	if l.path == "" {
		return s
	}
	shared := strings.TrimPrefix(s.shared, "*") + l.path
	return spelling{shared, "&" + shared, s.own + l.path, s.before + l.path, s.label}
}

// put publishes one variable, or compares it if there are no copies.
func (w *sectionWriter) put(i int, v *plan.Variable) string {
	s := spelling{w.shared(i), w.address(i), w.id("v", i), w.id("b", i), "&" + w.id("l", i)}
	if w.unites(v) {
		return fmt.Sprintf("%s.PutUnion(%s, %s, %s, %s, %s, %s)", w.hooks(), s.address, s.own, s.before, w.id("u", i), w.id("n", i), s.label)
	}
	if v.CopiesEntries {
		return fmt.Sprintf("%s.PutMap(%s, %s, %s, %s, %s)", w.hooks(), s.address, s.own, s.before, w.id("n", i), s.label)
	}
	if !v.Written && !w.detect {
		s.before = s.own // a copy that is only read is what it was
	}
	if v.Exact {
		return fmt.Sprintf("%s.PutExact(%s, %s, %s, %s)", w.hooks(), s.address, s.own, s.before, s.label)
	}
	return w.putAs(s, v)
}

func (w *sectionWriter) putAs(s spelling, v *plan.Variable) string {
	leaves := w.leaves(v)
	switch {
	case leaves == nil && w.detect:
		return fmt.Sprintf("%s.Check(%s, %s, %s)", w.hooks(), s.address, s.before, s.label)
	case leaves == nil:
		return fmt.Sprintf("%s.PutWide(%s, &%s, &%s, %s)", w.hooks(), s.address, s.own, s.before, s.label)
	}
	var list []string
	for _, l := range leaves {
		list = append(list, w.putLeaf(s.part(l), l.typ, v.Written, v.Merge == copying.Keeping))
	}
	return strings.Join(list, "; ")
}

// putLeaf publishes a part of a variable. If what the section has written stands whatever careless code does, it is stored.
func (w *sectionWriter) putLeaf(s spelling, t types.Type, written, stands bool) string {
	theirs := w.differ(t, s.shared, s.before)
	switch {
	case w.detect:
		return fmt.Sprintf("if %s { %s.Check(%s, %s, %s) }", theirs, w.hooks(), s.address, s.before, s.label)
	case !written:
		return fmt.Sprintf("if %s { %s.Settle(%s, %s, %s, %s) }", theirs, w.hooks(), s.address, s.own, s.before, s.label)
	}
	ours := w.differ(t, s.own, s.before)
	if facts.IsArray(t) {
		return fmt.Sprintf("if %s || %s { %s.PutWide(%s, &%s, &%s, %s) }", ours, theirs, w.hooks(), s.address, s.own, s.before, s.label)
	}
	if swap := w.swap(t); swap != "" && !(stands && w.isOneWord(t)) {
		return fmt.Sprintf("if %s || %s { %s.%s(%s, %s, %s, %s) }", ours, theirs, w.hooks(), swap, s.address, s.own, s.before, s.label)
	}
	return fmt.Sprintf("if %s { %s.Settle(%s, %s, %s, %s) } else if %s { %s = %s }",
		theirs, w.hooks(), s.address, s.own, s.before, s.label, ours, s.shared, s.own)
}

// isOneWord reports whether a number is stored by one instruction.
func (w *sectionWriter) isOneWord(t types.Type) bool {
	sizes := w.pkg.TypesSizes
	return sizes.Sizeof(t) <= sizes.Sizeof(types.Typ[types.Uintptr])
}

// swap returns the function that publishes a number or a truth value by a
// compare-and-swap, "" for other types.
func (w *sectionWriter) swap(t types.Type) string {
	b, ok := t.Underlying().(*types.Basic)
	if !ok || b.Info()&(types.IsInteger|types.IsBoolean|types.IsFloat) == 0 {
		return ""
	}
	sizes := w.pkg.TypesSizes
	switch size := sizes.Sizeof(t); {
	case b.Info()&types.IsInteger == 0:
	case size == 8 && sizes.Sizeof(types.Typ[types.Uintptr]) == 8:
		return "Put64"
	case size == 4:
		return "Put32"
	}
	return "PutScalar"
}

// addAtomically writes additions without the lock as one step.
//
//	x.n++        tolerate.Add(&x.n, 1)
//	x.n -= d     tolerate.Subtract(&x.n, d)
func (f *fileWriter) addAtomically() {
	for _, a := range f.file.Additions {
		function := "Add"
		if a.Subtracts {
			function = "Subtract"
		}
		f.edits.InsertBefore(a.Target.Pos(), fmt.Sprintf("%s.%s(&", f.hooks(), function))
		if a.Amount == nil {
			f.edits.ReplaceBetween(a.Target.End(), a.Stmt.End(), ", 1)")
		} else {
			f.edits.ReplaceBetween(a.Target.End(), a.Amount.Pos(), ", ")
			f.edits.InsertBefore(a.Stmt.End(), ")")
		}
		f.edits.ImportInLine(f.hooks(), "cofferdamrt/tolerate")
	}
}
