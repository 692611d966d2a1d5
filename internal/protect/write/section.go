package write

import (
	"fmt"
	"go/token"
	"slices"
	"strconv"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/protect/copying"
	"github.com/cofferdam-go/cofferdam/internal/protect/facts"
	"github.com/cofferdam-go/cofferdam/internal/protect/plan"
)

// A sectionWriter writes the sections of one group.
type sectionWriter struct {
	*fileWriter
	group  *plan.Group
	name   string // what its names begin with
	detect bool
	handle string // how the names of guards begin
}

func newSectionWriter(f *fileWriter, g *plan.Group, number int) *sectionWriter {
	return &sectionWriter{fileWriter: f, group: g, name: f.prefix + "s" + strconv.Itoa(number), detect: f.plan.Mode == plan.Detect, handle: "g"}
}

// write rewrites the sections.
//
//	x.mu.Lock()       x.mu.Lock(); on := true; v := x.n; b := v
//	x.n++             v++
//	f()               if on { on = false; Put(&x.n, v, b) }; f(); if !on { on = true; v = x.n; b = v }
//	x.mu.Unlock()     if on { on = false; Put(&x.n, v, b) }; x.mu.Unlock()
func (w *sectionWriter) write() {
	g := w.group
	if g.OnlyReaches {
		w.reach()
		return
	}
	w.addLabels()
	w.awaitPanics()
	for i, a := range g.Acquires {
		if i == 0 {
			w.edits.InsertAfter(a.End(), "; "+w.declare())
		} else if take := w.take(); take != "" {
			w.edits.InsertAfter(a.End(), "; "+take)
		}
	}
	for _, r := range g.Releases {
		w.edits.InsertBefore(r.Pos(), w.publish(beforeRelease)+"; ")
		w.edits.InsertAfter(r.End(), w.wake())
	}
	for _, s := range g.Steps {
		w.step(s)
	}
}

// wrapDeferred has a deferred release publish first. It comes before all else that is
// written: what a section of another lock does after the statement is not part of the call.
func (w *sectionWriter) wrapDeferred() {
	if d := w.group.Deferred; d != nil && !w.group.OnlyReaches {
		w.edits.InsertBefore(d.Call.Pos(), "func() { "+w.publish(beforeRelease)+"; ")
		w.edits.InsertAfter(d.Call.End(), w.wake()+" }()")
	}
}

func (w *sectionWriter) id(what string, i int) string { return w.name + what + strconv.Itoa(i) }

// shared is the expression for the variable itself, and address that for its address.
func (w *sectionWriter) shared(i int) string {
	if v := w.group.Vars[i]; !v.ByPointer {
		return v.Place.String()
	}
	return "*" + w.id("p", i)
}

func (w *sectionWriter) address(i int) string {
	if v := w.group.Vars[i]; !v.ByPointer {
		return "&" + v.Place.String()
	}
	return w.id("p", i)
}

// addLabels adds the labels of the variables to the file.
func (w *sectionWriter) addLabels() {
	for i, v := range w.group.Vars {
		if v.OnPages == nil {
			w.addLabel(w.id("l", i), v)
		}
	}
}

// addLabel declares a label before all variables of the package. A variable whose first
// value needs a section would have to wait for a label that comes later, and others would
// be initialised before it.
func (w *sectionWriter) addLabel(name string, v *plan.Variable) {
	more := ""
	if v.Blind && v.Written && !w.detect {
		more = ", Blind: true"
	}
	if v.Exact {
		more += fmt.Sprintf(", Reads: %t, Writes: %t", !v.Blind || !v.Written, v.Written)
	}
	if v.Written && !w.detect && v.Merge != "" && v.Merge != "theirs" {
		more += fmt.Sprintf(", Merge: %q", v.Merge)
	}
	if v.Written && !w.detect && v.Resolver != "" {
		// The function may use variables of the package. Named in the label's declaration it
		// would have them initialised before others.
		w.tail = append(w.tail, fmt.Sprintf("func init() { %s.By = %s.ResolveBy(%s) }", name, w.hooks(), v.Resolver))
	}
	if v.Suspects != "" {
		more += fmt.Sprintf(", Suspects: %q", v.Suspects)
	}
	w.edits.ImportInLine(w.hooks(), "cofferdamrt/tolerate")
	first := w.firstFile(facts.IsTestFile(w.file.Name))
	first.edits.ImportInLine(w.hooks(), "cofferdamrt/tolerate")
	first.edits.InsertBefore(first.afterImports(), fmt.Sprintf("; var %s = %s.Label{Name: %q, Lock: %q%s}", name, w.hooks(), v.Datum, w.group.LockName, more))
}

// declare begins the first section.
func (w *sectionWriter) declare() string {
	var list []string
	add := func(name, value string) { list = append(list, fmt.Sprintf("%s := %s; _ = %s", name, value, name)) }
	switch {
	case w.group.Stranded:
		list = append(list, w.name+" = true")
	case w.group.Flagged:
		add(w.name, "true")
	}
	for i, v := range w.group.Vars {
		if v.OnPages != nil {
			continue
		}
		if v.ByPointer {
			list = append(list, fmt.Sprintf("%s := &%s", w.id("p", i), v.Place))
		}
		w.copies(i, v, add)
	}
	list = slices.Concat(list, w.findPages(), w.keepHandles(), w.enter(), w.declareSlots(), w.declareBatches())
	if w.group.Rescues {
		list = append(list, "defer func() { "+w.publish(interrupting)+" }()")
	}
	return strings.Join(list, "; ")
}

// copies calls set for the names that a variable's copy consists of, with their values:
// the copy, what it was when it was taken, and how many entries its map had.
func (w *sectionWriter) copies(i int, v *plan.Variable, set func(name, value string)) {
	switch {
	case w.detect:
		set(w.id("b", i), w.load(v, w.shared(i), w.address(i), w.id("l", i)))
	case v.Written:
		set(w.id("v", i), w.load(v, w.shared(i), w.address(i), w.id("l", i)))
		set(w.id("b", i), w.id("v", i))
	default:
		set(w.id("v", i), w.load(v, w.shared(i), w.address(i), w.id("l", i)))
	}
	if v.CopiesEntries {
		set(w.id("n", i), "-1")
	}
	if w.unites(v) {
		set(w.id("u", i), w.id("v", i))
	}
}

// load is the value of a variable that a copy begins with.
func (w *sectionWriter) load(v *plan.Variable, shared, address, label string) string {
	if v.Exact {
		return fmt.Sprintf("%s.TakeExact(%s, &%s)", w.hooks(), address, label)
	}
	if w.leaves(v) == nil {
		return w.hooks() + ".Take(" + address + ")"
	}
	return shared
}

// take begins a section, or goes on with it after what had to find all published. It is
// "" if there is nothing to take.
func (w *sectionWriter) take() string {
	if len(w.group.Vars) == 0 {
		return ""
	}
	var list []string
	set := func(name, value string) { list = append(list, name+" = "+value) }
	if w.group.Flagged {
		set(w.name, "true")
	}
	for i, v := range w.group.Vars {
		if v.OnPages == nil {
			w.copies(i, v, set)
		}
	}
	if !w.group.Flagged {
		return strings.Join(append(list, w.enter()...), "; ")
	}
	list = append(list, w.resume()...)
	return fmt.Sprintf("if !%s { %s }", w.name, strings.Join(list, "; "))
}

// A reason for publishing.
type reason int

const (
	beforeRelease reason = iota // the section ends
	interrupting                // it goes on later
	relenting                   // the same, and what it has on pages it keeps unless it waits
)

// reasonOf returns why a section publishes for a step.
func reasonOf(s *plan.StepPlan) reason {
	if s.Relents {
		return relenting
	}
	return interrupting
}

// reasonOfDeferred returns why a section publishes for the call that a step defers. If no deferred call releases the lock the section
// can only have ended by a panic then, and is over.
func reasonOfDeferred(s *plan.StepPlan) reason {
	if !s.ReleasesByPanic {
		return interrupting
	}
	return reasonOf(s)
}

// publish ends a section, or interrupts it.
func (w *sectionWriter) publish(why reason) string {
	var list []string
	if w.group.Flagged {
		list = append(list, w.name+" = false")
	}
	list = append(list, w.leave(why)...)
	for i, v := range w.group.Vars {
		if v.OnPages == nil {
			list = append(list, w.put(i, v))
		}
	}
	if w.group.Flagged {
		text := fmt.Sprintf("if %s { %s }", w.name, strings.Join(list, "; "))
		if otherwise := w.leaveRelented(why); len(otherwise) > 0 {
			text += " else { " + strings.Join(otherwise, "; ") + " }"
		}
		list = []string{text}
	}
	for i := range w.group.Slots {
		list = append(list, w.publishSlot(i))
	}
	for i := range w.group.Batches {
		list = append(list, w.publishBatch(i))
	}
	return strings.Join(list, "; ")
}

// step rewrites one step.
func (w *sectionWriter) step(s *plan.StepPlan) {
	if s.Defers {
		// Deferred calls run in the reverse order: this one before that.
		w.edits.InsertAfter(s.Stmt.End(), "; defer func() { "+w.publish(reasonOfDeferred(s))+" }()")
	}
	w.useSlots(s)
	w.makeRoom(s)
	w.copyMaps(s)
	for _, c := range s.Calls {
		w.redirectCall(w.edits, c, func(i int) string { return "&" + w.own(i) })
	}
	w.redirect(s)
	if s.Interrupts {
		w.interrupt(s)
	}
}

// redirect has a step use the copies, or the own view of pages.
func (w *sectionWriter) redirect(s *plan.StepPlan) {
	for _, r := range s.Redirects {
		if d := w.group.Vars[r.Var].OnPages; d != nil && d.Wicket != 0 {
			continue // it is where it was
		}
		if s.LoadsEarly(r.Node) {
			continue
		}
		w.edits.Replace(r.Node, w.own(r.Var)+r.Rest.Selectors())
	}
}

// interrupt publishes before a step, and takes again where the section goes on: in the
// blocks of the step, and after it.
func (w *sectionWriter) interrupt(s *plan.StepPlan) {
	why := reasonOf(s)
	w.loadEarly(s)
	w.edits.InsertBefore(s.Begin(), w.publish(why)+"; ")
	take := w.take()
	if take != "" {
		for _, at := range s.Bodies {
			w.edits.InsertAfter(at, " "+take+"; ")
		}
	}
	w.atEndOfLoop(s, w.publish(why))
	if take != "" && s.Resumes {
		w.edits.InsertAfter(s.Stmt.End(), "; "+take)
	}
}

// atEndOfLoop does something wherever the header of a loop is evaluated again.
func (w *sectionWriter) atEndOfLoop(s *plan.StepPlan, do string) {
	if !s.Loop {
		return
	}
	for _, c := range s.Continues {
		w.edits.InsertBefore(c.Pos(), do+"; ")
	}
	if s.BodyEnd != token.NoPos {
		w.edits.InsertBefore(s.BodyEnd, "; "+do+" ")
	}
}

// copyMaps copies the entries of the maps that a step changes, if that has not been
// done. A loop over a map does so before it begins: it has to see what its body changes. A map that the section
// has made itself is its own already.
//
//	x.m[k] = 1     if n < 0 && SamePointer(v, b) { n, v = CloneMap(v) }; v[k] = 1
func (w *sectionWriter) copyMaps(s *plan.StepPlan) {
	for _, i := range s.MapCopies {
		n, own, also := w.id("n", i), w.id("v", i), ""
		if w.unites(w.group.Vars[i]) {
			also = fmt.Sprintf("; _, %s = %s.CloneMap(%s)", w.id("u", i), w.hooks(), own)
		}
		w.edits.InsertBefore(s.Begin(), fmt.Sprintf("if %s < 0 && %s.SamePointer(%s, %s) { %s, %s = %s.CloneMap(%s)%s }; ", n, w.hooks(), own, w.id("b", i), n, own, w.hooks(), own, also))
	}
}

// unites reports whether the entries of a map are kept as they were, to find out what careless
// code has changed.
func (w *sectionWriter) unites(v *plan.Variable) bool {
	return v.CopiesEntries && v.Merge == copying.Uniting && !w.detect
}
