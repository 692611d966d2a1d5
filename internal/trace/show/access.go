package show

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// Access names one side of a race: what was done, where and by which goroutine. Of memory the expression
// says what was accessed; everything else, a send for one, is an expression of its own; and what the
// standard library accesses is told with the call that leads to it.
//
//	store of s.total at web.go:40 by goroutine 12
//	close(f.out) at closed.go:27 by goroutine 4
//	store in l.buf.WriteString(s) at lib.go:18 by goroutine 4
func Access(r *trace.Reader, p *trace.Point) string {
	by := fmt.Sprintf(" by %s %d", Noun(r), p.G)
	what, at := AccessAt(r, p)
	if r.Header.Binary != nil {
		site, _ := r.Site(p.Site)
		return what + by + ": " + site.Function + ": " + site.Expr
	}
	if at != "" {
		what += " at " + at
	}
	return what + by
}

// AccessAt is what one side of a race does, and the file and line; "" where that is not known.
func AccessAt(r *trace.Reader, p *trace.Point) (what, at string) {
	site, ok := r.Site(p.Site)
	expr := strings.Join(strings.Fields(site.Expr), " ")
	switch {
	case r.Header.Binary != nil:
		return p.Op.String(), site.Function
	case expr != "" && p.Site >= event.CallSites && p.Op.IsMemory():
		return p.Op.String() + " in " + expr, place(&site)
	case expr != "" && p.Op.IsMemory():
		return p.Op.String() + " of " + expr, place(&site)
	case expr != "":
		return expr, place(&site)
	case ok && slices.Contains(r.Header.Own, site.Package):
		return p.Op.String(), place(&site)
	}
	what = p.Op.String() + " in " + Library(&site)
	if caller, ok := Caller(r, p.Frame); ok {
		what += " for " + caller.Function
	}
	return what, ""
}

// Calls are the calls in progress at a point, innermost first. Those of an operation are recorded from its
// caller on, so that its own line has to be put before them; those of a panic begin with the panic.
func Calls(r *trace.Reader, p *trace.Point) []trace.Call {
	if r.Header.Binary != nil {
		if s, ok := r.Site(p.Site); ok && len(p.Stack) == 0 {
			return []trace.Call{{Function: s.Function, File: s.File, Line: s.Line}}
		}
		return p.Stack
	}
	if p.Op == event.None {
		return p.Stack
	}
	if s, ok := r.Site(p.Site); ok {
		return append([]trace.Call{{Function: FunctionName(&s), File: s.File, Line: s.Line}}, p.Stack...)
	}
	if caller, ok := Caller(r, p.Frame); ok {
		return append([]trace.Call{{Function: FunctionName(&caller)}}, p.Stack...) // where in it is not known
	}
	return p.Stack
}

// FunctionName is the name of a site's function as stack traces have it.
func FunctionName(s *trace.Site) string {
	if s.Package == "" {
		return s.Function
	}
	return s.Package + "." + s.Function
}
