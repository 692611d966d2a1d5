package write

import (
	"fmt"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/protect/plan"
)

func (w *sectionWriter) slotID(i int, what string) string { return w.id("o", i) + what }

// publishSlot publishes the object that a slot has, if there is one.
func (w *sectionWriter) publishSlot(i int) string { return w.slotID(i, "f") + "()" }

// declareSlots declares the slots of a group: the object, the copy, what it was, a
// pointer to the copy, and a function that publishes it.
func (w *sectionWriter) declareSlots() []string {
	var list []string
	for i, s := range w.group.Slots {
		var fields, puts []string
		for j, v := range s.Fields {
			fields = append(fields, fmt.Sprintf("f%d %s", j, v.Spelling))
			name := w.slotID(i, "l") + fmt.Sprint(j)
			w.addLabel(name, v)
			shared := w.slotID(i, "p") + v.Selectors()
			own, before := fmt.Sprintf("%s.f%d", w.slotID(i, "v"), j), fmt.Sprintf("%s.f%d", w.slotID(i, "b"), j)
			puts = append(puts, w.putAs(spelling{shared, "&" + shared, own, before, "&" + name}, v))
		}
		typ := "struct { " + strings.Join(fields, "; ") + " }"
		p, c := w.slotID(i, "p"), w.slotID(i, "c")
		list = append(list, fmt.Sprintf("var %s %s; var %s, %s %s; var %s *%s; %s := func() { if %s != nil { %s; %s, %s = nil, nil } }; _, _ = %s, %s",
			p, s.Spelling, w.slotID(i, "v"), w.slotID(i, "b"), typ, c, typ, w.slotID(i, "f"), p, strings.Join(puts, "; "), p, c, w.slotID(i, "b"), c))
	}
	return list
}

// useSlots has a step use the copies of objects, and publishes the copy of an object whose
// fields the step reaches in another way.
func (w *sectionWriter) useSlots(s *plan.StepPlan) {
	for i, use := range s.SlotUses {
		switch {
		case use.Publishes:
			w.edits.InsertBefore(s.Begin(), w.publishSlot(i)+"; ")
			w.atEndOfLoop(s, w.publishSlot(i))
		case use.Object != nil:
			w.fillSlot(i, s, use)
		}
	}
}

// fillSlot has a slot hold the object that a step uses.
//
//	e.n--      if o != e { put(); if e != nil { o = e; v.n = e.n; b = v; c = &v } }; c.n--
func (w *sectionWriter) fillSlot(i int, s *plan.StepPlan, use plan.SlotUse) {
	object, name, own := w.slotID(i, "p"), use.Object.Name(), w.slotID(i, "v")
	take := fmt.Sprintf("%s = %s", object, name)
	for j, v := range w.group.Slots[i].Fields {
		take += fmt.Sprintf("; %s.f%d = %s", own, j, w.load(v, name+v.Selectors(), "&"+name+v.Selectors(), ""))
	}
	w.edits.InsertBefore(s.Begin(), fmt.Sprintf("if %s != %s { %s; if %s != nil { %s; %s = %s; %s = &%s } }; ",
		object, name, w.publishSlot(i), name, take, w.slotID(i, "b"), own, w.slotID(i, "c"), own))
	for _, r := range use.Redirects {
		w.edits.Replace(r.Node, fmt.Sprintf("%s.f%d%s", w.slotID(i, "c"), r.Var, r.Rest.Selectors()))
	}
}
