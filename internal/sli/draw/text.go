package draw

import (
	"fmt"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/sli"
)

// Text is the machine as text, one line for each state.
func Text(m *sli.Machine) string {
	var b strings.Builder
	names := map[*sli.State]string{}
	for _, s := range m.States() {
		switch {
		case s.Predicate != nil:
			names[s] = fmt.Sprintf("s%d", len(names))
		case s.Crash:
			names[s] = "crash"
		default:
			names[s] = "no-crash"
		}
	}
	fmt.Fprintf(&b, "at %s: %s\n", m.At, edgeText(m.Start, names))
	for _, s := range m.States() {
		if s.Predicate != nil {
			fmt.Fprintf(&b, "%s: if %s then %s else %s\n", names[s], s.Predicate, edgeText(s.Yes, names), edgeText(s.No, names))
		}
	}
	return b.String()
}

func edgeText(e sli.Edge, names map[*sli.State]string) string {
	var b strings.Builder
	for _, o := range e.Ops {
		fmt.Fprintf(&b, "%s; ", operation(o))
	}
	b.WriteString(names[e.To])
	return b.String()
}

func operation(o sli.EdgeOp) string {
	if o.Load != nil {
		return "read " + o.Load.String()
	}
	return fmt.Sprintf("%s -> (%s)", o.Value, o.Addr)
}
