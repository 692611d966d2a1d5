package write

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/protect/plan"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// The names of what is declared for fields that are isolated where they are.

func (u *packageWriter) wicketName() string { return u.names + "wicket" }
func (u *packageWriter) wicketOf(d *plan.PageDatum) string {
	return fmt.Sprintf("%sy%d", u.names, d.Wicket)
}

// callWicket begins the call of the method that loads or stores a field, or returns what it is stored to.
func (u *packageWriter) callWicket(d *plan.PageDatum, method string) string {
	switch method {
	case "Load":
		return u.pageName("l", d) + "("
	case "Store":
		return u.pageName("s", d) + "("
	case "Target":
		return u.pageName("a", d) + "().Target("
	default:
		panic("protect: no method " + method + " for a field behind a wicket")
	}
}

// update writes a statement that updates a field without the lock. What it is updated by is evaluated before; what
// is between Begin and End must neither wait nor panic.
//
//	t.n++           { k := t.a(); p := k.Begin(); *k.P++; p.End() }
//	t.n += f()      { k := t.a(); w := f(); p := k.Begin(); *k.P += w; p.End() }
//
// The target stands before whatever a section of another lock has to do before the statement, as a statement of its own.
func (f *fileWriter) update(edits *source.Edits, s plan.Site) {
	target, value, passage := f.names+"k", f.names+"w", f.names+"p"
	begin := fmt.Sprintf("%s := %s.Begin(); *%s.P", passage, target, target)
	end := "; " + passage + ".End() }"
	edits.InsertBefore(s.Update.Pos(), fmt.Sprintf("{ %s := %s.%s(); ", target, edits.ChangedText(s.Node.(*ast.SelectorExpr).X), f.pageName("a", s.Datum)))
	assign, ok := s.Update.(*ast.AssignStmt)
	if !ok || f.pkg.TypesInfo.Types[assign.Rhs[0]].Value != nil { // declared, a constant would have a type of its own
		edits.Supersede(s.Node, begin)
		edits.InsertAfter(s.Update.End(), end)
		return
	}
	edits.SupersedeBetween(s.Node.Pos(), assign.Rhs[0].Pos(), value+" := ")
	edits.InsertAfter(s.Update.End(), "; "+begin+" "+assign.Tok.String()+" "+value+end)
}

// findWicket declares the way to the guard of a field, unless another field has declared it, and to the field if it
// is handed to clones.
func (w *sectionWriter) findWicket(i int, v *plan.Variable) []string {
	var list []string
	if first := w.firstBehind(v.OnPages.Wicket); first == i {
		list = append(list, fmt.Sprintf("%s := &%s.%s", w.id("g", i), v.Parent(), w.wicketOf(v.OnPages)))
		if v.Passive || !slices.ContainsFunc(w.group.Vars, func(o *plan.Variable) bool { return w.sharesWicket(o, v) && !o.Passive }) {
			list = append(list, "_ = "+w.id("g", i))
		}
	}
	handedOn := func(c plan.ClonedCall) bool { return slices.Contains(c.Vars, i) }
	if slices.ContainsFunc(w.group.Steps, func(s *plan.StepPlan) bool { return slices.ContainsFunc(s.Calls, handedOn) }) {
		list = append(list, fmt.Sprintf("%s := &%s", w.id("p", i), v.Place))
	}
	return list
}

func (w *sectionWriter) sharesWicket(a, b *plan.Variable) bool {
	return a.OnPages != nil && a.OnPages.Wicket == b.OnPages.Wicket
}

// firstBehind is the first variable of the group that is behind a wicket.
func (w *sectionWriter) firstBehind(wicket int) int {
	return slices.IndexFunc(w.group.Vars, func(v *plan.Variable) bool { return v.OnPages != nil && v.OnPages.Wicket == wicket })
}

// callWickets calls a method of the guards of the variables that are behind wickets. Variables that share one
// have one section: it writes, if any of them is written.
func (w *sectionWriter) callWickets(writing, reading string) []string {
	var list []string
	var done []int
	for _, v := range w.group.Vars {
		if v.OnPages == nil || v.OnPages.Wicket == 0 || v.OnPages.Node || v.Passive || slices.Contains(done, v.OnPages.Wicket) {
			continue
		}
		done = append(done, v.OnPages.Wicket)
		written, read := w.masks(v.OnPages.Wicket)
		name := w.id(w.handle, w.firstBehind(v.OnPages.Wicket))
		call := callWicketGuard(name, writing, reading, written, read)
		if written == 0 && !w.group.Shared() {
			call = callWicketAlone(name, writing, read)
		}
		if call != "" {
			list = append(list, call)
		}
	}
	return list
}

// masks returns which fields the sections write that are behind a wicket, and which they only read.
func (w *sectionWriter) masks(wicket int) (written, read uint64) {
	for _, v := range w.group.Vars {
		switch {
		case v.OnPages == nil || v.OnPages.Wicket != wicket || v.Passive:
		case v.Written:
			written |= v.OnPages.Mask()
		default:
			read |= v.OnPages.Mask()
		}
	}
	return written, read
}

// callWicketGuard writes the call of a guard's method. Those that begin a section have to know its fields.
func callWicketGuard(name, writing, reading string, written, read uint64) string {
	switch {
	case written == 0 && reading == "":
		return ""
	case written == 0 && reading == "RLock":
		return fmt.Sprintf("%s.RLock(%d)", name, read)
	case written == 0:
		return name + "." + reading + "()"
	case writing == "Lock", writing == "Resume":
		return fmt.Sprintf("%s.%s(%d, %d)", name, writing, written, read)
	}
	return name + "." + writing + "()"
}

// callWicketAlone is callWicketGuard for a section that only reads and has the lock to itself. It need not be counted
// among others, which takes two locked instructions: it ends by a store. Where others of its kind end before code
// that may wait, so does this one.
func callWicketAlone(name, method string, read uint64) string {
	switch method {
	case "Lock", "Resume":
		return fmt.Sprintf("%s.Lock(0, %d)", name, read)
	case "Relent":
		return name + ".Unlock()"
	case "LeaveMine":
		return ""
	}
	return name + "." + method + "()"
}

// declareWicket declares the guard of a field in its type, with the methods that use the field without the lock. It
// keeps its name and its place.
func (f *fileWriter) declareWicket(d *plan.PageDatum) {
	f.edits.ImportInLine(f.wicketName(), "cofferdamrt/protect/wicket")
	if !f.wickets[d.Wicket] {
		f.wickets[d.Wicket] = true
		kind := "Guard"
		if d.Node {
			kind = "Stamp"
		}
		f.edits.InsertAfter(d.Declared.Struct.Fields.Opening+1, fmt.Sprintf(" %s %s.%s;", f.wicketOf(d), f.wicketName(), kind))
	}
	names, self, value := f.partName(d), f.names+"t", f.names+"w"
	typ, pkg := f.fieldType(d), f.wicketName()
	field := fmt.Sprintf("&%s.%s, %d, &%s.%s", self, f.wicketOf(d), d.Mask(), self, d.Field)
	method := func(name, params, result, body string) {
		f.tail = append(f.tail, fmt.Sprintf("func (%s *%s) %s(%s)%s { %s }", self, f.receiver(d), f.pageName(name, d), params, result, body))
	}
	f.tail = append(f.tail, fmt.Sprintf("type %s struct{}\n\nfunc (%s) CofferdamNames() (string, string, string, int) { return %q, %s }", names, names, d.Datum, lockText(d)))
	kind := ""
	if d.Node {
		kind = "Node"
		f.declareStamp(d, method)
	}
	method("l", "", " "+typ, fmt.Sprintf("return %s.Load%s[%s](%s)", pkg, kind, names, field))
	method("s", value+" "+typ, "", fmt.Sprintf("%s.Store%s[%s](%s, %s)", pkg, kind, names, field, value))
	if d.Entries {
		f.declareEntries(d, fmt.Sprintf("&%s.%s, %d", self, f.wicketOf(d), d.Mask()), method)
	}
	f.declareParts(d, fmt.Sprintf("&%s.%s, %d", self, f.wicketOf(d), d.Mask()), func(name, params, result, body string) {
		f.tail = append(f.tail, fmt.Sprintf("func (%s *%s) %s%s(%s)%s { %s }", self, f.receiver(d), f.names, name, params, result, body))
	})
	method("a", "", fmt.Sprintf(" %s.%sTarget[%s, %s]", pkg, kind, names, typ), fmt.Sprintf("return %s.To%s[%s](%s)", pkg, kind, names, field))
}

// receiver writes the type that has a field, with the names of its parameters.
func (f *fileWriter) receiver(d *plan.PageDatum) string {
	for _, decl := range d.Declared.File.Decls {
		g, ok := decl.(*ast.GenDecl)
		if !ok || g.Tok != token.TYPE {
			continue
		}
		for _, spec := range g.Specs {
			if t := spec.(*ast.TypeSpec); t.Name == d.Declared.Type && t.TypeParams != nil {
				var params []string
				for _, p := range t.TypeParams.List {
					for _, name := range p.Names {
						params = append(params, name.Name)
					}
				}
				return d.Owner + "[" + strings.Join(params, ", ") + "]"
			}
		}
	}
	return d.Owner
}
