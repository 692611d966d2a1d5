package plot

import "math"

// The frame that every chart is drawn into, in pixels.
const (
	width, height = 860, 420
	left, right   = 74, 176 // the legend is to the right
	top, bottom   = 46, 62
)

// colours can be told apart by people who do not see red or green; they are Okabe
// and Ito's without the yellow, which is too light for a line.
var colours = []string{"#0072b2", "#e69f00", "#009e73", "#d55e00", "#56b4e9", "#cc79a7", "#666666"}

func colour(i int) string { return colours[i%len(colours)] }

// A chart is a frame with its axis of values.
type chart struct {
	svg
	y axis
}

// newChart draws everything but the data.
func newChart(title, xLabel, yLabel string, series []Series, limits []Limit) *chart {
	low, high := bounds(series, limits)
	c := &chart{svg: svg{width: width, height: height}, y: newAxis(low, high, height-bottom, top)}
	c.text(left, 26, "start", "title", title)
	c.text(left+(width-left-right)/2, height-14, "middle", "label", xLabel)
	c.upright(20, top+(height-top-bottom)/2, yLabel)
	for _, v := range c.y.ticks() {
		c.line(left, c.y.at(v), width-right, c.y.at(v), "grid")
		c.text(left-8, c.y.at(v)+4, "end", "tick", c.y.label(v))
	}
	return c
}

// finish draws what lies over the data.
func (c *chart) finish(series []Series, limits []Limit, swatch func(c *chart, x, y float64, i int)) *chart {
	c.line(left, c.y.at(0), width-right, c.y.at(0), "axis")
	for _, l := range limits {
		y := c.y.at(l.Value)
		c.line(left, y, width-right, y, "limit")
		c.text(width-right+8, y+4, "start", "limitname", l.Name)
	}
	y := float64(top) + 6
	for i, s := range series {
		if nearLimit(c.y, limits, y) {
			y += 20
		}
		swatch(c, width-right+56, y, i)
		c.text(width-right+78, y+4, "start", "label", s.Name)
		y += 20
	}
	return c
}

// nearLimit reports whether the name of a limit stands at this height.
func nearLimit(a axis, limits []Limit, y float64) bool {
	for _, l := range limits {
		if math.Abs(a.at(l.Value)-y) < 14 {
			return true
		}
	}
	return false
}

// bounds are the least and the greatest value to be shown.
func bounds(series []Series, limits []Limit) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, s := range series {
		for _, p := range s.Points {
			if !math.IsNaN(p.Mid) {
				low, high = min(low, p.Low, p.Mid), max(high, p.High, p.Mid)
			}
		}
	}
	for _, l := range limits {
		low, high = min(low, l.Value), max(high, l.Value)
	}
	if low > high {
		return 0, 1
	}
	return low, high
}
