package alias

import (
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// A summary is what a function does with a slice, or with the address of an element, that it is given as a parameter.
type summary struct {
	escapes string // why it is kept; "" if it is forgotten when the function returns
	reaches bool   // elements are used
	changes bool   // and may be changed
	returns bool   // it may be among the results
}

// summarise looks at a parameter. One that is kept stays so.
func (f *finder) summarise(p *ssa.Parameter, s *summary) {
	if s.escapes != "" {
		return
	}
	w := f.newWalk(p, nil)
	now := summary{escapes: w.why, reaches: len(w.uses) > 0, changes: len(w.writes) > 0, returns: len(w.returns) > 0}
	if now.escapes == "" && len(w.stores) > 0 {
		now.escapes = "a function that is called with it keeps it"
	}
	if now != *s {
		*s = now
		f.again = true
	}
}

// summariseAll looks at all parameters that were asked for.
func (f *finder) summariseAll() {
	for i := 0; i < len(f.asked); i++ { // which may become more
		f.summarise(f.asked[i], f.summaries[f.asked[i]])
	}
}

// summaryOf returns what is known of a parameter so far.
func (f *finder) summaryOf(p *ssa.Parameter) *summary {
	s := f.summaries[p]
	if s == nil {
		s = new(summary)
		f.summaries[p] = s
		f.asked = append(f.asked, p)
		f.again = true
	}
	return s
}

// bodyOf returns the function that a call is of, with its body; nil if it is not known or has none.
func bodyOf(c *ssa.CallCommon) *ssa.Function {
	fn := c.StaticCallee()
	if fn == nil {
		return nil
	}
	if o := fn.Origin(); o != nil && len(fn.Blocks) == 0 {
		fn = o
	}
	if len(fn.Blocks) == 0 || len(fn.Params) != len(c.Args) {
		return nil
	}
	return fn
}

// call looks at a call that has a value as an argument.
func (w *walk) call(v ssa.Value, i *ssa.Call) {
	if b, ok := i.Call.Value.(*ssa.Builtin); ok {
		w.builtin(v, i, b.Name())
		return
	}
	if i.Call.Value == v {
		w.escape(i, "it is used in a way that is not known")
		return
	}
	fn := bodyOf(&i.Call)
	switch {
	case fn != nil:
		for n, a := range i.Call.Args {
			if a == v {
				w.given(i, fn.Params[n])
			}
		}
	case i.Call.IsInvoke() || i.Call.StaticCallee() == nil:
		w.escape(i, "it is given to a function that is not known")
	case !w.IsQuiet(i) || w.mayKeep(&i.Call, v):
		w.escape(i, "it is given to "+i.Call.StaticCallee().Name()+", which may keep it")
	default:
		w.reach(i, true)
		w.part(i)
	}
}

// given follows a value into a function.
func (w *walk) given(i *ssa.Call, p *ssa.Parameter) {
	s := w.summaryOf(p)
	switch {
	case s.escapes != "":
		w.escape(i, "it is given to "+p.Parent().Name()+", which keeps it")
		return
	case s.returns:
		w.derive(i)
	}
	if s.reaches {
		w.reach(i, s.changes)
	}
}

// builtin looks at a call of a built-in function.
func (w *walk) builtin(v ssa.Value, i *ssa.Call, name string) {
	args := i.Call.Args
	switch name {
	case "len", "cap":
	case "append":
		w.reach(i, args[0] == v)
		if args[0] == v || holdsSlice(elementOf(args[0].Type())) {
			w.derive(i)
		}
		if args[0] == v {
			w.moved(i, args[1])
		}
	case "copy":
		w.reach(i, args[0] == v)
		switch {
		case !holdsSlice(elementOf(args[0].Type())):
		case args[0] == v:
			w.moved(i, args[1])
		default:
			w.escape(i, "slices in it are copied")
		}
	case "clear":
		w.reach(i, true)
	case "ssa:wrapnilchk":
		w.derive(i)
	default:
		w.escape(i, "it is given to "+name)
	}
}

// moved looks at elements that are put beside those of a slice, if they are or have slices themselves.
func (w *walk) moved(i *ssa.Call, from ssa.Value) {
	if !holdsSlice(elementOf(from.Type())) || w.derived[from] {
		return
	}
	if why := w.origin(from, i, w.isLoadedFromHome); why != "" {
		w.escape(i, why)
	}
}

// elementOf is the type of a slice's elements; strings can be appended to slices of bytes.
func elementOf(t types.Type) types.Type {
	if s, ok := t.Underlying().(*types.Slice); ok {
		return s.Elem()
	}
	return types.Typ[types.Byte]
}
