package plot

import (
	"fmt"
	"html"
	"io"
	"strings"
)

// An svg collects the elements of a picture.
type svg struct {
	b             strings.Builder
	width, height float64
}

func (s *svg) add(format string, args ...any) {
	fmt.Fprintf(&s.b, format, args...)
	s.b.WriteByte('\n')
}

func (s *svg) line(x1, y1, x2, y2 float64, class string) {
	s.add(`<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" class="%s"/>`, x1, y1, x2, y2, class)
}

func (s *svg) rect(x, y, w, h float64, fill string) {
	s.add(`<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`, x, y, w, h, fill)
}

// text writes at a place; anchor is start, middle or end.
func (s *svg) text(x, y float64, anchor, class, text string) {
	s.add(`<text x="%.1f" y="%.1f" text-anchor="%s" class="%s">%s</text>`, x, y, anchor, class, html.EscapeString(text))
}

// upright writes from bottom to top, centred on a place.
func (s *svg) upright(x, y float64, text string) {
	s.add(`<text transform="translate(%.1f %.1f) rotate(-90)" text-anchor="middle" class="label">%s</text>`, x, y, html.EscapeString(text))
}

// whisker is an error bar.
func (s *svg) whisker(x, low, high float64) {
	const half = 2.5
	s.line(x, low, x, high, "whisker")
	s.line(x-half, low, x+half, low, "whisker")
	s.line(x-half, high, x+half, high, "whisker")
}

const style = `<style>
text { font-family: system-ui, "Segoe UI", "DejaVu Sans", sans-serif; fill: #24292f; }
.title { font-size: 15px; font-weight: 600; }
.label { font-size: 12px; }
.tick { font-size: 11px; fill: #57606a; }
.grid { stroke: #e4e8ec; stroke-width: 1; }
.axis { stroke: #57606a; stroke-width: 1; }
.limit { stroke: #b42318; stroke-width: 1.2; stroke-dasharray: 5 4; }
.limitname { font-size: 11px; fill: #b42318; }
.whisker { stroke: #24292f; stroke-opacity: 0.7; stroke-width: 1; }
</style>`

func (s *svg) writeTo(w io.Writer) (int64, error) {
	n, err := fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %[1]g %[2]g">
%s
<rect width="100%%" height="100%%" fill="white"/>
%s</svg>
`, s.width, s.height, style, s.b.String())
	return int64(n), err
}
