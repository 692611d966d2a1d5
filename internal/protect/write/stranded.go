package write

import (
	"fmt"
	"strings"
)

// awaitPanics has the function leave the guards of sections that end by a panic, by deferred calls that stand before the
// sections: see package plan. What they need is declared there. The way to the pages of an object has a type that other packages
// cannot name, so guards have another name there.
//
//	var on bool; var j *wicket.Guard; defer func() { if on { on = false; j.Unlock() } }()
func (w *sectionWriter) awaitPanics() {
	if !w.group.Stranded {
		return
	}
	list := []string{"var " + w.name + " bool"}
	handles := w.handles()
	for _, h := range handles {
		list = append(list, "var "+h.name+" *"+h.kind)
	}
	if w.firstNode() != nil {
		w.edits.ImportInLine(w.wicketName(), "cofferdamrt/protect/wicket")
		list = append(list, w.declareStamped())
	}
	leave := w.leaveByPanic(handles)
	w.edits.InsertAfter(w.group.Body.Lbrace+1, " "+strings.Join(append(list, leave), "; ")+"; ")
	for _, d := range w.group.Defers {
		w.edits.InsertAfter(d.End(), "; "+leave)
	}
}

// leaveByPanic is the deferred call.
func (w *sectionWriter) leaveByPanic(handles []handle) string {
	early := *w
	early.handle = "j"
	text := fmt.Sprintf("if %s { %s = false; %s }", w.name, w.name, strings.Join(early.leave(interrupting), "; "))
	if relented := early.leaveRelented(interrupting); len(relented) > 0 {
		text += " else "
		if len(handles) > 0 { // a section has begun
			text += fmt.Sprintf("if %s != nil ", handles[0].name)
		}
		text += "{ " + strings.Join(relented, "; ") + " }"
	}
	return "defer func() { " + text + " }()"
}

// A handle is a variable for the guard of an object, and is declared at the beginning of the function.
type handle struct {
	name, kind string
	value      string // when a section begins
}

// handles returns those of a group.
func (w *sectionWriter) handles() []handle {
	var list []handle
	for i, v := range w.group.Vars {
		switch d := v.OnPages; {
		case d == nil || d.Owner == "" || d.Node || v.Passive && !w.leadsWicket(i):
		case d.Wicket == 0:
			w.importAside()
			list = append(list, handle{w.id("j", i), w.asideName() + ".Guard", w.id("g", i) + ".Guard"})
		case w.leadsWicket(i):
			w.edits.ImportInLine(w.wicketName(), "cofferdamrt/protect/wicket")
			list = append(list, handle{w.id("j", i), w.wicketName() + ".Guard", w.id("g", i)})
		}
	}
	return list
}

// leadsWicket reports whether a variable is the first behind its wicket, which the sections enter.
func (w *sectionWriter) leadsWicket(i int) bool {
	d := w.group.Vars[i].OnPages
	if d.Wicket == 0 || w.firstBehind(d.Wicket) != i {
		return false
	}
	written, read := w.masks(d.Wicket)
	return written|read != 0
}

// keepHandles sets the handles when the first section begins.
func (w *sectionWriter) keepHandles() []string {
	if !w.group.Stranded {
		return nil
	}
	var list []string
	for _, h := range w.handles() {
		list = append(list, h.name+" = "+h.value)
	}
	return list
}
