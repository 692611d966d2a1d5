package draw

import (
	"fmt"
	"html"
	"strings"

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

// SVG draws the machine. States lie in layers, each below everything that leads to it,
// so that all edges point down.
func SVG(machine *sli.Machine) string {
	layers, layer := layersOf(machine)
	type box struct{ x, y, w int }
	boxes := map[*sli.State]box{}
	text := func(state *sli.State) string {
		switch {
		case state.Predicate != nil:
			return state.Predicate.String()
		case state.Crash:
			return "crash"
		}
		return "no-crash"
	}
	deep := make([]int, len(layers)+1) // the most lines on an edge into a layer
	note := func(edge sli.Edge, word string) {
		deep[layer[edge.To]] = max(deep[layer[edge.To]], strings.Count(edgeLabel(edge, word), "\n")+1)
	}
	note(machine.Start, "")
	for _, state := range machine.States() {
		if state.Predicate != nil {
			note(state.Yes, "yes")
			note(state.No, "no")
		}
	}
	width, y := 0, svgLine*2
	for i, states := range layers {
		y += svgLayer + deep[i]*svgLine
		x := svgGap
		for _, state := range states {
			w := len(text(state))*svgLetter + 2*svgGap
			boxes[state] = box{x, y, w}
			x += w + svgGap
		}
		width = max(width, x)
		y += svgBox
	}
	for _, states := range layers { // centre each layer
		last := boxes[states[len(states)-1]]
		shift := (width - last.x - last.w - svgGap) / 2
		for _, state := range states {
			b := boxes[state]
			b.x += shift
			boxes[state] = b
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="monospace" font-size="12">`+"\n", width, y+svgGap)
	b.WriteString(`<defs><marker id="tip" markerWidth="8" markerHeight="8" refX="7" refY="4" orient="auto"><path d="M0,0 L8,4 L0,8 z"/></marker></defs>` + "\n")
	line := func(x1, y1 int, edge sli.Edge, word string, side int) {
		to := boxes[edge.To]
		x2, y2 := to.x+to.w/2, to.y
		fmt.Fprintf(&b, `<line x1="%d" y1="%d" x2="%d" y2="%d" stroke="black" marker-end="url(#tip)"/>`+"\n", x1, y1, x2, y2)
		for i, l := range strings.Split(edgeLabel(edge, word), "\n") {
			fmt.Fprintf(&b, `<text x="%d" y="%d">%s</text>`+"\n", x1+side+(x2-x1)/4, y1+svgLine*(i+1)+4, html.EscapeString(l))
		}
	}
	first := boxes[machine.Start.To]
	fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="middle">%s</text>`+"\n", first.x+first.w/2, svgLine, html.EscapeString(machine.At.String()))
	line(first.x+first.w/2, svgLine+4, machine.Start, "", 6)
	for _, state := range machine.States() {
		p := boxes[state]
		cx, cy := p.x+p.w/2, p.y+svgBox/2
		if state.Predicate != nil {
			fmt.Fprintf(&b, `<polygon points="%d,%d %d,%d %d,%d %d,%d" fill="white" stroke="black"/>`+"\n", p.x, cy, cx, p.y, p.x+p.w, cy, cx, p.y+svgBox)
			line(cx-p.w/8, cy+svgBox*3/8, state.Yes, "yes", -4*svgLetter)
			line(cx+p.w/8, cy+svgBox*3/8, state.No, "no", 6)
		} else {
			fill := "#e8f5e9"
			if state.Crash {
				fill = "#ffebee"
			}
			fmt.Fprintf(&b, `<ellipse cx="%d" cy="%d" rx="%d" ry="%d" fill="%s" stroke="black"/>`+"\n", cx, cy, p.w/2, svgBox/2, fill)
		}
		fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="middle">%s</text>`+"\n", cx, cy+4, html.EscapeString(text(state)))
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// layersOf puts each state as far down as the longest way to it.
func layersOf(machine *sli.Machine) ([][]*sli.State, map[*sli.State]int) {
	layer := map[*sli.State]int{}
	var place func(state *sli.State, at int)
	place = func(state *sli.State, at int) {
		if n, ok := layer[state]; ok && n >= at {
			return
		}
		layer[state] = at
		if state.Predicate != nil {
			place(state.Yes.To, at+1)
			place(state.No.To, at+1)
		}
	}
	place(machine.Start.To, 0)
	var layers [][]*sli.State
	for _, state := range machine.States() {
		for len(layers) <= layer[state] {
			layers = append(layers, nil)
		}
		layers[layer[state]] = append(layers[layer[state]], state)
	}
	return layers, layer
}
