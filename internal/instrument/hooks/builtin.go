package hooks

import (
	"go/ast"
	"go/types"
	"strconv"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// builtinCall returns the text of a call of a built-in function.
func (r *rewriter) builtinCall(e *ast.CallExpr, name string) string {
	switch name {
	case "close":
		return r.renamed(e, "Close", r.site(event.Close, e))
	case "len":
		return r.length(e)
	case "cap":
		if t := r.typeOf(e.Args[0]); isArray(t) || pointsToArray(t) {
			return r.unevaluated(e)
		}
	case "unsafe.Sizeof", "unsafe.Alignof", "unsafe.Offsetof":
		return r.verbatim(e)
	case "panic":
		r.calls++
	case "new":
		if r.info.Types[e.Args[0]].IsType() {
			return r.allocation(e, "New", r.verbatim(e))
		}
		return r.allocation(e, "New", r.spliced(e, r.arguments(e, 0)...))
	case "make":
		text := r.spliced(e, r.arguments(e, 0)...)
		switch core(r.typeOf(e)).(type) {
		case *types.Slice:
			return r.allocation(e, "NewSlice", text)
		case *types.Map:
			return r.allocation(e, "NewMap", text)
		case *types.Chan:
			return r.allocation(e, "NewChan", text)
		}
		return text
	}
	if !pureBuiltin(name) {
		r.together(e.Args...)
	}
	if r.accesses() {
		switch name {
		case "append":
			return r.append(e)
		case "copy":
			return r.copy(e)
		case "clear":
			parts := r.arguments(e, 0)
			switch core(r.typeOf(e.Args[0])).(type) {
			case *types.Map:
				parts[0].text = r.hook("ClearMap", parts[0].text, r.site(event.MapWrite, e))
			case *types.Slice:
				parts[0].text = r.hook("Clear", parts[0].text, r.site(event.Store, e))
			default:
				r.miss(e, "clear", "the operand's type parameter stands for maps and slices both")
			}
			return r.spliced(e, parts...)
		case "delete":
			m, key := e.Args[0], e.Args[1]
			return r.hook("Map", r.newlines(e.Pos(), m.Pos())+r.value(m)) + ".Delete(" + r.newlines(m.End(), key.Pos()) + r.value(key) + ", " + r.entrySite(event.MapWrite, e, m) + r.closing(key.End(), e.End())
		}
	}
	return r.spliced(e, r.arguments(e, 0)...)
}

// length returns the text of len(x). Of an array it is a constant that evaluates
// nothing.
func (r *rewriter) length(e *ast.CallExpr) string {
	x := e.Args[0]
	t := r.typeOf(x)
	switch {
	case isArray(t), pointsToArray(t):
		return r.unevaluated(e)
	case isChan(t):
		hook := "LenChan"
		if core(t).(*types.Chan).Dir() == types.SendOnly {
			hook = "LenSendChan"
		}
		return r.renamed(e, hook, r.site(event.ChanLen, e))
	case isMap(t):
		if r.accesses() {
			return r.renamed(e, "LenMap", r.site(event.MapRead, e))
		}
	}
	return r.spliced(e, r.part(x, r.value(x)))
}

// unevaluated returns the text of a call whose argument is only looked at for its
// type, unless it contains calls.
func (r *rewriter) unevaluated(e *ast.CallExpr) string {
	if !r.hasCall(e.Args[0]) {
		return r.verbatim(e)
	}
	return r.spliced(e, r.arguments(e, 0)...)
}

// allocation wraps the text of new and make.
func (r *rewriter) allocation(e *ast.CallExpr, hook, text string) string {
	if r.mode != Memory {
		return text
	}
	return r.hook(hook, text, r.site(event.Alloc, e))
}

// append returns the text of an append:
//
//	append(s, a, b)     ->   append(cofferdamrt.Append(s, 2, 7), a, b)
//	append(s, x.f, b)   ->   cofferdamrt.Grow(s).Append(7, cofferdamrt.R(&x.f, 6), b)
//	append(s, t...)     ->   cofferdamrt.AppendSlice(s, t, 7)
func (r *rewriter) append(e *ast.CallExpr) string {
	if len(e.Args) == 0 || !isSlice(r.typeOf(e.Args[0])) || r.info.Types[e.Args[0]].IsNil() {
		return r.spliced(e, r.arguments(e, 0)...)
	}
	switch {
	case !e.Ellipsis.IsValid():
		slice := r.value(e.Args[0])
		hooks := r.hooks
		parts := r.arguments(e, 1)
		if r.hooks == hooks && !r.hasCallIn(e.Args[1:]) {
			parts = append(parts, r.part(e.Args[0], r.hook("Append", slice, strconv.Itoa(len(e.Args)-1), r.site(event.Store, e))))
			return r.spliced(e, parts...)
		}
		first := e.Args[1].Pos()
		grow := part{e.Pos(), first, r.hook("Grow", r.newlines(e.Pos(), e.Args[0].Pos())+slice) + ".Append(" + r.site(event.Store, e) + ", " + r.newlines(e.Args[0].End(), first)}
		return r.spliced(e, append(parts, grow)...)
	case r.info.Types[e.Args[1]].IsNil():
		return r.spliced(e, r.arguments(e, 0)...)
	}
	hook := "AppendSlice"
	switch t := r.typeOf(e.Args[1]); {
	case isSlice(t):
	case isString(t):
		hook = "AppendString"
	default:
		r.miss(e, "append", "the type parameter stands for strings and bytes both")
		return r.spliced(e, r.arguments(e, 0)...)
	}
	return r.renamed(e, hook, r.site(event.Store, e))
}

// copy returns the text of a copy:
//
//	copy(a, b)   ->   cofferdamrt.Copy(a, b, 7)
func (r *rewriter) copy(e *ast.CallExpr) string {
	if len(e.Args) != 2 {
		return r.spliced(e, r.arguments(e, 0)...)
	}
	hook := "Copy"
	switch t := r.typeOf(e.Args[1]); {
	case isSlice(t):
	case isString(t):
		hook = "CopyString"
	default:
		r.miss(e, "copy", "the type parameter stands for strings and bytes both")
		return r.spliced(e, r.arguments(e, 0)...)
	}
	return r.renamed(e, hook, r.site(event.Store, e))
}

// renamed returns the text of a call with a hook in place of the function, which
// takes the same arguments and a site.
func (r *rewriter) renamed(e *ast.CallExpr, hook, site string) string {
	last := e.Args[len(e.Args)-1].End()
	end := ", " + site
	if lines := r.newlines(last, e.Rparen); lines != "" {
		end += "," + lines
	}
	parts := append(r.arguments(e, 0), r.part(e.Fun, r.rt+"."+hook), part{last, e.Rparen, end})
	return r.spliced(e, parts...)
}
