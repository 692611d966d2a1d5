package draw

import (
	"fmt"
	"html"
	"strings"
	"unicode/utf8"

	"github.com/cofferdam-go/cofferdam/internal/sli"
)

// Measures of the drawing, in pixels. Text is monospaced, so its width is known.
const (
	svgLetter = 7
	svgLine   = 14
	svgBox    = 40 // height of a state
	svgLayer  = 46 // between layers, besides the text on the edges
	svgGap    = 28
)

// SVG draws the machine, in the engine's notation.
func SVG(machine *sli.Machine) string {
	g := &Graph{Nodes: []GraphNode{{Kind: StartNode, Label: machine.At.String()}}}
	number := map[*sli.State]int{}
	for _, state := range machine.States() {
		n := GraphNode{Kind: FineNode, Label: "no-crash"}
		switch {
		case state.Predicate != nil:
			n = GraphNode{Kind: TestNode, Label: state.Predicate.String()}
		case state.Crash:
			n = GraphNode{Kind: CrashNode, Label: "crash"}
		}
		number[state] = len(g.Nodes)
		g.Nodes = append(g.Nodes, n)
	}
	edge := func(from int, e sli.Edge, word string) {
		g.Edges = append(g.Edges, GraphEdge{from, number[e.To], edgeLabel(e, word)})
	}
	edge(0, machine.Start, "")
	for _, state := range machine.States() {
		if state.Predicate != nil {
			edge(number[state], state.Yes, "yes")
			edge(number[state], state.No, "no")
		}
	}
	return g.SVG()
}

// A box is where a node lies.
type box struct{ x, y, w int }

// SVG draws the graph. Nodes lie in layers, each below everything that leads to it, so that all
// edges point down; the start is a line of text above them.
func (g *Graph) SVG() string {
	boxes, width, height := g.layout()
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="monospace" font-size="12">`+"\n", width, height)
	b.WriteString(`<defs><marker id="tip" markerWidth="8" markerHeight="8" refX="7" refY="4" orient="auto"><path d="M0,0 L8,4 L0,8 z"/></marker></defs>` + "\n")
	line := func(x1, y1 int, edge *GraphEdge, side int) {
		to := boxes[edge.To]
		x2, y2 := to.x+to.w/2, to.y
		fmt.Fprintf(&b, `<line x1="%d" y1="%d" x2="%d" y2="%d" stroke="black" marker-end="url(#tip)"/>`+"\n", x1, y1, x2, y2)
		for i, l := range strings.Split(edge.Label, "\n") {
			fmt.Fprintf(&b, `<text x="%d" y="%d">%s</text>`+"\n", x1+side+(x2-x1)/4, y1+svgLine*(i+1)+4, html.EscapeString(l))
		}
	}
	for i := range g.Nodes {
		n, p := &g.Nodes[i], boxes[i]
		cx, cy := p.x+p.w/2, p.y+svgBox/2
		edges := g.edgesFrom(i)
		switch n.Kind {
		case StartNode:
			for _, e := range edges {
				to := boxes[e.To]
				cx = to.x + to.w/2
				fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="middle">%s</text>`+"\n", cx, svgLine, html.EscapeString(n.Label))
				line(cx, svgLine+4, e, 6)
			}
			continue
		case TestNode:
			fmt.Fprintf(&b, `<polygon points="%d,%d %d,%d %d,%d %d,%d" fill="white" stroke="black"/>`+"\n", p.x, cy, cx, p.y, p.x+p.w, cy, cx, p.y+svgBox)
			for at, e := range edges { // yes to the left, no to the right
				if at == 0 {
					line(cx-p.w/8, cy+svgBox*3/8, e, -4*svgLetter)
				} else {
					line(cx+p.w/8, cy+svgBox*3/8, e, 6)
				}
			}
		case CrashNode, FineNode:
			fill := "#e8f5e9"
			if n.Kind == CrashNode {
				fill = "#ffebee"
			}
			fmt.Fprintf(&b, `<ellipse cx="%d" cy="%d" rx="%d" ry="%d" fill="%s" stroke="black"/>`+"\n", cx, cy, p.w/2, svgBox/2, fill)
		default:
			panic(fmt.Sprintf("draw: a node of kind %q", n.Kind))
		}
		fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="middle">%s</text>`+"\n", cx, cy+4, html.EscapeString(n.Label))
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// edgesFrom are the edges that leave a node.
func (g *Graph) edgesFrom(node int) []*GraphEdge {
	var all []*GraphEdge
	for i := range g.Edges {
		if g.Edges[i].From == node {
			all = append(all, &g.Edges[i])
		}
	}
	return all
}

// layout says where each node lies, by its number, and how large the drawing is.
func (g *Graph) layout() (boxes []box, width, height int) {
	layers, layer := g.layers()
	deep := make([]int, len(layers)+1) // the most lines on an edge into a layer
	for i := range g.Edges {
		e := &g.Edges[i]
		deep[layer[e.To]] = max(deep[layer[e.To]], strings.Count(e.Label, "\n")+1)
	}
	boxes = make([]box, len(g.Nodes))
	height = svgLine * 2
	for i, nodes := range layers {
		height += svgLayer + deep[i]*svgLine
		x := svgGap
		for _, n := range nodes {
			w := utf8.RuneCountInString(g.Nodes[n].Label)*svgLetter + 2*svgGap
			boxes[n] = box{x, height, w}
			x += w + svgGap
		}
		width = max(width, x)
		height += svgBox
	}
	for _, nodes := range layers { // centre each layer
		if len(nodes) == 0 {
			continue
		}
		last := boxes[nodes[len(nodes)-1]]
		for _, n := range nodes {
			boxes[n].x += (width - last.x - last.w - svgGap) / 2
		}
	}
	return boxes, width, height + svgGap
}

// layers puts each node but the start as far down as the longest way to it.
func (g *Graph) layers() (layers [][]int, layer []int) {
	layer = make([]int, len(g.Nodes))
	placed := make([]bool, len(g.Nodes))
	var place func(node, at int)
	place = func(node, at int) {
		if placed[node] && layer[node] >= at || at >= len(g.Nodes) { // the latter on a way that comes back
			return
		}
		placed[node], layer[node] = true, at
		for _, e := range g.edgesFrom(node) {
			place(e.To, at+1)
		}
	}
	for i := range g.Nodes {
		if g.Nodes[i].Kind == StartNode {
			for _, e := range g.edgesFrom(i) {
				place(e.To, 0)
			}
		}
	}
	for i := range g.Nodes {
		if g.Nodes[i].Kind == StartNode {
			continue
		}
		for len(layers) <= layer[i] {
			layers = append(layers, nil)
		}
		layers[layer[i]] = append(layers[layer[i]], i)
	}
	return layers, layer
}
