package draw

import (
	"fmt"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/sli"
)

// DOT is the machine as a graph for Graphviz, drawn as the paper draws it: internal
// states are diamonds, terminal ones ovals, stores stand on the edges.
func DOT(machine *sli.Machine) string {
	var b strings.Builder
	b.WriteString("digraph machine {\n\tnode [fontname=\"monospace\"];\n\tedge [fontname=\"monospace\"];\n")
	fmt.Fprintf(&b, "\tstart [shape=plaintext, label=%q];\n", machine.At.String())
	names := map[*sli.State]string{}
	for i, state := range machine.States() {
		names[state] = fmt.Sprintf("s%d", i)
		switch {
		case state.Predicate != nil:
			fmt.Fprintf(&b, "\t%s [shape=diamond, label=%q];\n", names[state], state.Predicate.String())
		case state.Crash:
			fmt.Fprintf(&b, "\t%s [shape=oval, label=\"crash\"];\n", names[state])
		default:
			fmt.Fprintf(&b, "\t%s [shape=oval, label=\"no-crash\"];\n", names[state])
		}
	}
	edge := func(from, word string, e sli.Edge) {
		fmt.Fprintf(&b, "\t%s -> %s [label=%q];\n", from, names[e.To], edgeLabel(e, word))
	}
	edge("start", "", machine.Start)
	for _, state := range machine.States() {
		if state.Predicate != nil {
			edge(names[state], "yes", state.Yes)
			edge(names[state], "no", state.No)
		}
	}
	b.WriteString("}\n")
	return b.String()
}

func edgeLabel(edge sli.Edge, word string) string {
	var lines []string
	if word != "" {
		lines = append(lines, word)
	}
	for _, o := range edge.Ops {
		lines = append(lines, operation(o))
	}
	return strings.Join(lines, "\n")
}
