package draw

import (
	"fmt"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/sli"
)

// DOT is the machine as a graph for Graphviz, drawn as the paper draws it: internal
// states are diamonds, terminal ones ovals, stores stand on the edges.
func DOT(m *sli.Machine) string {
	var b strings.Builder
	b.WriteString("digraph machine {\n\tnode [fontname=\"monospace\"];\n\tedge [fontname=\"monospace\"];\n")
	fmt.Fprintf(&b, "\tstart [shape=plaintext, label=%q];\n", m.At.String())
	names := map[*sli.State]string{}
	for i, s := range m.States() {
		names[s] = fmt.Sprintf("s%d", i)
		switch {
		case s.Predicate != nil:
			fmt.Fprintf(&b, "\t%s [shape=diamond, label=%q];\n", names[s], s.Predicate.String())
		case s.Crash:
			fmt.Fprintf(&b, "\t%s [shape=oval, label=\"crash\"];\n", names[s])
		default:
			fmt.Fprintf(&b, "\t%s [shape=oval, label=\"no-crash\"];\n", names[s])
		}
	}
	edge := func(from, word string, e sli.Edge) {
		fmt.Fprintf(&b, "\t%s -> %s [label=%q];\n", from, names[e.To], edgeLabel(e, word))
	}
	edge("start", "", m.Start)
	for _, s := range m.States() {
		if s.Predicate != nil {
			edge(names[s], "yes", s.Yes)
			edge(names[s], "no", s.No)
		}
	}
	b.WriteString("}\n")
	return b.String()
}

func edgeLabel(e sli.Edge, word string) string {
	var lines []string
	if word != "" {
		lines = append(lines, word)
	}
	for _, o := range e.Ops {
		lines = append(lines, operation(o))
	}
	return strings.Join(lines, "\n")
}
