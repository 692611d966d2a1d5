package plot

import "math"

func (b Bars) draw() *chart {
	c := newChart(b.Title, b.XLabel, b.YLabel, b.Series, b.Limits)
	slot := float64(width-left-right) / float64(max(len(b.Groups), 1))
	bar := slot * 0.78 / float64(max(len(b.Series), 1))
	for g, name := range b.Groups {
		x := left + slot*float64(g)
		c.text(x+slot/2, height-bottom+20, "middle", "tick", name)
		for i, s := range b.Series {
			if g < len(s.Points) && !math.IsNaN(s.Points[g].Mid) {
				c.bar(x+slot*0.11+bar*float64(i), bar, s.Points[g], colour(i))
			}
		}
	}
	return c.finish(b.Series, b.Limits, func(c *chart, x, y float64, i int) {
		c.rect(x+4, y-5, 11, 11, colour(i))
	})
}

func (c *chart) bar(x, w float64, p Point, fill string) {
	zero, end := c.y.at(0), c.y.at(p.Mid)
	c.rect(x+0.5, min(zero, end), w-1, math.Abs(end-zero), fill)
	c.whisker(x+w/2, c.y.at(p.Low), c.y.at(p.High))
}
