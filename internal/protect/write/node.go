package write

import (
	"fmt"
	"go/ast"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/protect/plan"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// stampedBy is the section by which a group stamps nodes, and readersOf what the sections of a lock share.
func (w *sectionWriter) stampedBy() string { return w.name + "t" }

func (u *packageWriter) readersOf(d *plan.PageDatum) string {
	return fmt.Sprintf("%sq%d", u.names, d.LockNumber)
}

// stamp has a use of a node in a section leave the stamp of the section.
//
//	n.next.val++       n.r1(&s).next.c2(&s).val++
func (f *fileWriter) stamp(edits *source.Edits, s plan.Site) {
	method := "r"
	if s.Writes {
		method = "c"
	}
	section := newSectionWriter(f, f.file.Groups[s.Group-1], s.Group).stampedBy()
	edits.InsertBefore(s.Node.(*ast.SelectorExpr).Sel.Pos(), fmt.Sprintf("%s(&%s).", f.pageName(method, s.Datum), section))
}

// firstNode returns a variable of the group that stands for nodes which its sections stamp, nil if there is none.
func (w *sectionWriter) firstNode() *plan.Variable {
	i := slices.IndexFunc(w.group.Vars, func(v *plan.Variable) bool { return v.OnPages != nil && v.OnPages.Node && !v.Passive })
	if i < 0 {
		return nil
	}
	return w.group.Vars[i]
}

// declareStamping declares the section by which nodes are stamped, and what it shares with others.
func (w *sectionWriter) declareStamping() []string {
	v := w.firstNode()
	if v == nil {
		return nil
	}
	w.edits.ImportInLine(w.wicketName(), "cofferdamrt/protect/wicket")
	var list []string
	if !w.group.Stranded {
		list = append(list, w.declareStamped())
	}
	if !v.Written && v.OnPages.LockDeclared.Type != nil {
		list = append(list, fmt.Sprintf("%s := &%s.%s", w.sharing(), w.group.Lock.Parent(), w.readersOf(v.OnPages)))
	}
	return list
}

func (w *sectionWriter) declareStamped() string {
	return fmt.Sprintf("var %s %s.Section", w.stampedBy(), w.wicketName())
}

// sharing is the pointer to what the sections share that only read.
func (w *sectionWriter) sharing() string { return w.name + "q" }

// callStamping calls a method of the section by which nodes are stamped.
func (w *sectionWriter) callStamping(writing, reading string) []string {
	v := w.firstNode()
	switch {
	case v == nil || !v.Written && reading == "":
		return nil
	case v.Written:
		return []string{w.stampedBy() + "." + writing + "()"}
	case reading == "RLock" && v.OnPages.LockDeclared.Type == nil:
		return []string{fmt.Sprintf("%s.RLock(&%s)", w.stampedBy(), w.readersOf(v.OnPages))}
	case reading == "RLock":
		return []string{fmt.Sprintf("%s.RLock(%s)", w.stampedBy(), w.sharing())}
	}
	return []string{w.stampedBy() + "." + reading + "()"}
}

// declareStamp declares the methods by which sections use a field of nodes, and what its lock has for sections that share it.
func (f *fileWriter) declareStamp(d *plan.PageDatum, method func(name, params, result, body string)) {
	self, by := f.names+"t", f.names+"s"
	stamps := func(name string, uses uint64) {
		method(name, fmt.Sprintf("%s *%s.Section", by, f.wicketName()), " *"+f.receiver(d),
			fmt.Sprintf("if %[1]s != nil && %[1]s.%[2]s.Lacks(%[3]s, %[4]d) { %[5]s.Take[%[6]s](&%[1]s.%[2]s, %[3]s, %[4]d) }; return %[1]s",
				self, f.wicketOf(d), by, uses, f.wicketName(), f.partName(d)))
	}
	stamps("r", d.Mask()<<readFrom)
	stamps("c", d.Mask()<<readFrom|d.Mask()<<writtenFrom)
	if !d.LockShared || f.readers[d.LockNumber] {
		return
	}
	f.readers[d.LockNumber] = true
	if d.LockDeclared.Type == nil {
		f.tail = append(f.tail, fmt.Sprintf("var %s %s.Readers", f.readersOf(d), f.wicketName()))
		return
	}
	at := f.bySyntax[d.LockDeclared.File]
	at.edits.ImportInLine(f.wicketName(), "cofferdamrt/protect/wicket")
	at.edits.InsertAfter(d.LockDeclared.Struct.Fields.Opening+1, fmt.Sprintf(" %s %s.Readers;", f.readersOf(d), f.wicketName()))
}

// Where the fields are that a section has read and written, in the uses of a stamp: see package wicket.
const (
	readFrom    = 16
	writtenFrom = 24
)
