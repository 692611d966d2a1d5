package draw

import (
	"fmt"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/sli"
)

// Text is the machine as text, one line for each state.
func Text(machine *sli.Machine) string {
	var b strings.Builder
	names := map[*sli.State]string{}
	for _, state := range machine.States() {
		switch {
		case state.Predicate != nil:
			names[state] = fmt.Sprintf("s%d", len(names))
		case state.Crash:
			names[state] = "crash"
		default:
			names[state] = "no-crash"
		}
	}
	fmt.Fprintf(&b, "at %s: %s\n", machine.At, edgeText(machine.Start, names))
	for _, state := range machine.States() {
		if state.Predicate != nil {
			fmt.Fprintf(&b, "%s: if %s then %s else %s\n", names[state], state.Predicate, edgeText(state.Yes, names), edgeText(state.No, names))
		}
	}
	return b.String()
}

func edgeText(edge sli.Edge, names map[*sli.State]string) string {
	var b strings.Builder
	for _, o := range edge.Ops {
		fmt.Fprintf(&b, "%s; ", operation(o))
	}
	b.WriteString(names[edge.To])
	return b.String()
}

func operation(o sli.EdgeOp) string {
	if o.Load != nil {
		return "read " + o.Load.String()
	}
	return fmt.Sprintf("%s -> (%s)", o.Value, o.Addr)
}
