// Package plot writes the two kinds of charts that the benchmarks need as SVG:
// grouped bars and lines, both with error bars. A chart is described by plain
// data and drawn into a fixed frame; there is nothing to configure.
//
// How a chart is drawn: axis.go chooses round numbers for the axis of values,
// chart.go draws the frame (title, axis, grid, legend, limit), bars.go and
// lines.go draw into it, svg.go writes elements.
//
// files.go writes charts into a directory.
package plot

import "io"

// A Point is a value with the range that it lies in.
type Point struct{ Low, Mid, High float64 }

// A Series is what has one colour and one line in the legend.
type Series struct {
	Name   string
	Points []Point // one per group, or per X; a Mid of NaN is left out
}

// A Limit is a line across the chart: what was to be reached.
type Limit struct {
	Name  string
	Value float64
}

// Bars are groups of bars side by side, one bar per series.
type Bars struct {
	Title, XLabel, YLabel string
	Groups                []string
	Series                []Series
	Limits                []Limit
}

// Lines are one line per series over common X values.
type Lines struct {
	Title, XLabel, YLabel string
	X                     []float64
	Series                []Series
	Limits                []Limit
}

// WriteTo writes the chart as SVG.
func (b Bars) WriteTo(w io.Writer) (int64, error) { return b.draw().writeTo(w) }

// WriteTo writes the chart as SVG.
func (l Lines) WriteTo(w io.Writer) (int64, error) { return l.draw().writeTo(w) }
