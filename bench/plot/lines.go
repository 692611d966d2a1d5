package plot

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

func (l Lines) draw() *chart {
	c := newChart(l.Title, l.XLabel, l.YLabel, l.Series, l.Limits)
	// The values of X stand at equal distances: in 0, 1, 5, 10, 25, 50 the small
	// ones would otherwise lie over each other.
	slot := float64(width-left-right) / float64(max(len(l.X), 1))
	place := func(i int) float64 { return left + slot*(float64(i)+0.5) }
	for i, v := range l.X {
		c.line(place(i), height-bottom, place(i), height-bottom+4, "axis")
		c.text(place(i), height-bottom+18, "middle", "tick", strconv.FormatFloat(v, 'g', -1, 64))
	}
	for i, s := range l.Series {
		var path []string
		for j, p := range s.Points {
			if math.IsNaN(p.Mid) {
				continue
			}
			// Side by side, so that one error bar does not hide another.
			px := place(j) + 5*(float64(i)-float64(len(l.Series)-1)/2)
			c.whisker(px, c.y.at(p.Low), c.y.at(p.High))
			c.add(`<circle cx="%.1f" cy="%.1f" r="3.2" fill="%s"/>`, px, c.y.at(p.Mid), colour(i))
			path = append(path, fmt.Sprintf("%.1f,%.1f", px, c.y.at(p.Mid)))
		}
		c.add(`<polyline points="%s" fill="none" stroke="%s" stroke-width="1.8"/>`, strings.Join(path, " "), colour(i))
	}
	return c.finish(l.Series, l.Limits, func(c *chart, x, y float64, i int) {
		c.add(`<line x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f" stroke="%s" stroke-width="2.4"/>`, x, y, x+16, y, colour(i))
	})
}
