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
		return r.allocation(e, "New", r.spliced(e, r.arguments(e)...))
	case "make":
		text := r.spliced(e, r.arguments(e)...)
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
	if r.mode == Memory {
		switch name {
		case "append":
			return r.append(e)
		case "copy":
			return r.copy(e)
		case "clear":
			parts := r.arguments(e)
			switch core(r.typeOf(e.Args[0])).(type) {
			case *types.Map:
				parts[0].text = r.hook("MW", parts[0].text, r.site(event.MapWrite, e))
			case *types.Slice:
				parts[0].text = r.hook("Clear", parts[0].text, r.site(event.Store, e))
			default:
				r.miss(e, "clear", "the operand's type parameter stands for maps and slices both")
			}
			return r.spliced(e, parts...)
		case "delete":
			parts := r.arguments(e)
			parts[0].text = r.hook("MW", parts[0].text, r.site(event.MapWrite, e))
			return r.spliced(e, parts...)
		}
	}
	return r.spliced(e, r.arguments(e)...)
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
		return r.renamed(e, "LenChan", r.site(event.ChanLen, e))
	case isMap(t):
		return r.spliced(e, r.part(x, r.mapOperand(x, "MR", event.MapRead, e)))
	}
	return r.spliced(e, r.part(x, r.value(x)))
}

// unevaluated returns the text of a call whose argument is only looked at for its
// type, unless it contains calls.
func (r *rewriter) unevaluated(e *ast.CallExpr) string {
	if !r.hasCall(e.Args[0]) {
		return r.verbatim(e)
	}
	return r.spliced(e, r.arguments(e)...)
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
//	append(s, a, b)   ->   append(cofferdamrt.Append(s, 2, 7), a, b)
//	append(s, t...)   ->   cofferdamrt.AppendSlice(s, t, 7)
func (r *rewriter) append(e *ast.CallExpr) string {
	if len(e.Args) == 0 || !isSlice(r.typeOf(e.Args[0])) || r.info.Types[e.Args[0]].IsNil() {
		return r.spliced(e, r.arguments(e)...)
	}
	switch {
	case !e.Ellipsis.IsValid():
		parts := r.arguments(e)
		parts[0].text = r.hook("Append", parts[0].text, strconv.Itoa(len(e.Args)-1), r.site(event.Store, e))
		return r.spliced(e, parts...)
	case r.info.Types[e.Args[1]].IsNil():
		return r.spliced(e, r.arguments(e)...)
	}
	hook := "AppendSlice"
	switch t := r.typeOf(e.Args[1]); {
	case isSlice(t):
	case isString(t):
		hook = "AppendString"
	default:
		r.miss(e, "append", "the type parameter stands for strings and bytes both")
		return r.spliced(e, r.arguments(e)...)
	}
	return r.renamed(e, hook, r.site(event.Store, e))
}

// copy returns the text of a copy:
//
//	copy(a, b)   ->   cofferdamrt.Copy(a, b, 7)
func (r *rewriter) copy(e *ast.CallExpr) string {
	if len(e.Args) != 2 {
		return r.spliced(e, r.arguments(e)...)
	}
	hook := "Copy"
	switch t := r.typeOf(e.Args[1]); {
	case isSlice(t):
	case isString(t):
		hook = "CopyString"
	default:
		r.miss(e, "copy", "the type parameter stands for strings and bytes both")
		return r.spliced(e, r.arguments(e)...)
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
	parts := append(r.arguments(e), r.part(e.Fun, r.rt+"."+hook), part{last, e.Rparen, end})
	return r.spliced(e, parts...)
}
