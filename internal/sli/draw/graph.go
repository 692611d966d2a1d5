package draw

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/sli"
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
)

// A Graph is a machine for a page that lays it out itself, in words and as data: the machine of a
// function that reads a counter twice has the nodes
//
//	at meter.go:17  ->  does the second reading of count differ from the first?  -> it fails, it goes on
//
// It is written as JSON by fix, and read back by report.
type Graph struct {
	// Words are the sentences about the machine.
	Words []string    `json:"words"`
	Nodes []GraphNode `json:"nodes"`
	Edges []GraphEdge `json:"edges"`
	// Failed is the number of the event at which the recorded run fails; 0 if that is not known.
	Failed uint64 `json:"failed,omitempty"`
}

// A NodeKind is what a node stands for.
type NodeKind string

const (
	StartNode NodeKind = "start" // where the machine begins
	TestNode  NodeKind = "test"  // a state with a predicate
	CrashNode NodeKind = "crash"
	FineNode  NodeKind = "fine" // the goroutine does not fail
)

// A GraphNode is a state, or the start.
type GraphNode struct {
	Kind  NodeKind `json:"kind"`
	Label string   `json:"label"`
	// Reads are the readings that a predicate is about.
	Reads []GraphRead `json:"reads,omitempty"`
}

// A GraphRead is a reading of memory: where it is in a recorded run.
type GraphRead struct {
	Data  string   `json:"data"`
	Place string   `json:"place"`
	Sites []uint32 `json:"sites,omitempty"`
	// Rounds is how many rounds of a loop lie between the reading and the failure.
	Rounds int `json:"rounds,omitempty"`
	// Seq is the number of its event; 0 if that is not known.
	Seq uint64 `json:"seq,omitempty"`
}

// A GraphEdge leads from a node to another one.
type GraphEdge struct {
	From  int    `json:"from"`
	To    int    `json:"to"`
	Label string `json:"label,omitempty"`
}

// NewGraph makes the graph of a machine, with the names of a front end.
func NewGraph(machine *sli.Machine, names Names) *Graph {
	w := newPhrasing(loadsInOrder(machine), names)
	g := &Graph{Words: strings.Split(Words(machine, names), "\n")}
	g.Nodes = append(g.Nodes, GraphNode{Kind: StartNode, Label: "at " + names.Place(machine.At)})
	number := map[*sli.State]int{}
	for _, state := range machine.States() {
		number[state] = len(g.Nodes)
		g.Nodes = append(g.Nodes, w.node(state))
	}
	edge := func(from int, word string, e sli.Edge) {
		lines := slices.DeleteFunc([]string{word}, func(s string) bool { return s == "" })
		for i := range e.Ops {
			lines = append(lines, w.operation(&e.Ops[i]))
		}
		g.Edges = append(g.Edges, GraphEdge{from, number[e.To], strings.Join(lines, "\n")})
	}
	edge(0, "", machine.Start)
	for _, state := range machine.States() {
		if state.Predicate != nil {
			edge(number[state], "yes", state.Yes)
			edge(number[state], "no", state.No)
		}
	}
	return g
}

// node is a state in words.
func (w *phrasing) node(state *sli.State) GraphNode {
	switch {
	case state.Predicate == nil && state.Crash:
		return GraphNode{Kind: CrashNode, Label: "it fails"}
	case state.Predicate == nil:
		return GraphNode{Kind: FineNode, Label: "it goes on"}
	}
	n := GraphNode{Kind: TestNode, Label: w.condition(conditionOnWay{state.Predicate, true}) + "?"}
	for _, l := range state.Predicate.Loads() {
		n.Reads = append(n.Reads, w.read(l))
	}
	return n
}

func (w *phrasing) read(l *ir.Expr) GraphRead {
	return GraphRead{Data: dataOf(l.Label.Instr), Place: w.names.Place(l.Label.Point), Sites: l.Label.Instr.Sites, Rounds: l.Label.Rounds}
}

// operation is what is done on an edge.
func (w *phrasing) operation(o *sli.EdgeOp) string {
	if o.Load != nil {
		if o.Load.Label != nil {
			r := w.read(o.Load)
			return fmt.Sprintf("reads %s at %s", r.Data, r.Place)
		}
		return "reads memory"
	}
	return strings.TrimPrefix(strings.TrimSuffix(w.store(o), "."), "It ")
}

// ForgetSites leaves out which sites readings are at, where these are of no use.
func (g *Graph) ForgetSites() {
	for i := range g.Nodes {
		for j := range g.Nodes[i].Reads {
			g.Nodes[i].Reads[j].Sites = nil
		}
	}
}

// DOT is the graph for Graphviz.
func (g *Graph) DOT() string {
	var b strings.Builder
	b.WriteString("digraph machine {\n\tnode [fontname=\"sans-serif\"];\n\tedge [fontname=\"sans-serif\"];\n")
	shapes := map[NodeKind]string{StartNode: "plaintext", TestNode: "box", CrashNode: "oval", FineNode: "oval"}
	for i, n := range g.Nodes {
		fmt.Fprintf(&b, "\tn%d [shape=%s, label=%q];\n", i, shapes[n.Kind], n.Label)
	}
	for _, e := range g.Edges {
		fmt.Fprintf(&b, "\tn%d -> n%d [label=%q];\n", e.From, e.To, e.Label)
	}
	b.WriteString("}\n")
	return b.String()
}
