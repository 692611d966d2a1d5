package lanes

import (
	"fmt"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/trace"
	"github.com/cofferdam-go/cofferdam/internal/trace/show"
)

// variable is the index of the name that the program has for what an event is on. Memory keeps
// the name of the expression that reached it first, so that its accesses are found together
// whatever each of them calls it.
func (b *builder) variable(e *event.Event) int {
	if e.Addr == 0 {
		return -1
	}
	name := b.memoryName[e.Addr]
	if name == "" {
		s, ok := b.r.Site(e.Site)
		if !ok || !b.relevance.Own(s.File) || s.Expr == "" {
			return -1
		}
		if name = variableName(b.r, &s, e); name == "" {
			return -1
		}
		name = b.apart(name, e)
		b.memoryName[e.Addr] = name
	}
	return intern(b.variableOf, name, &b.run.Variables)
}

// mostNumbered is how many locks of one name have numbers of their own.
const mostNumbered = 16

// apart keeps two locks apart that are a.mu to the goroutines that take them, or a deadlock would be
// told of one: the second is a.mu #2, and the first becomes a.mu #1 when all is known. The same is
// true of channels and whatever else synchronises. Memory is not numbered: x[i] is one thing to
// look for, and each step tells the object.
func (b *builder) apart(name string, e *event.Event) string {
	switch class(e.Kind) {
	case "lock", "channel", "sync":
	default:
		return name
	}
	b.namesakes[name]++
	switch n := b.namesakes[name]; {
	case n == 1:
		return name
	case n > mostNumbered:
		return fmt.Sprintf("%s #%d and on", name, mostNumbered+1)
	default:
		return fmt.Sprintf("%s #%d", name, n)
	}
}

// numberFirst gives the first of several of one name its number.
func (b *builder) numberFirst() {
	for i, name := range b.run.Variables {
		if b.namesakes[name] > 1 {
			b.run.Variables[i] = name + " #1"
		}
	}
}

// variableName is what an expression calls the memory, lock or channel that it works on.
func variableName(r *trace.Reader, s *trace.Site, e *event.Event) string {
	expr := strings.Join(strings.Fields(s.Expr), " ")
	switch class(e.Kind) {
	case "read", "write":
		return expr
	case "lock":
		name, _ := show.LockName(r, s.ID)
		return name
	case "channel":
		if name, _, sends := strings.Cut(expr, " <- "); sends {
			return name
		}
		if name, receives := strings.CutPrefix(expr, "<-"); receives {
			return name
		}
		return strings.TrimSuffix(strings.TrimPrefix(expr, "close("), ")")
	case "atomic", "sync":
		if at := strings.LastIndex(expr, "."); at > 0 && strings.HasSuffix(expr, ")") {
			return expr[:at]
		}
		return expr
	}
	return ""
}
