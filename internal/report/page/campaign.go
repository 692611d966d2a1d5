package page

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Campaign is how far a campaign is, and what it has found.
type Campaign struct {
	Figures  []Fact
	Growth   *GrowthChart
	Targets  []CampaignTarget
	Findings []CampaignFinding
}

// A CampaignTarget is a test of a campaign.
type CampaignTarget struct {
	Package, Test, State, Tone  string
	Runs, Distinct, Pairs, Both int
	// LastNew is how long ago something new was seen, and Quiet that in seconds.
	LastNew string
	Quiet   int64
	Open    int // findings
	Note    string
}

// A CampaignFinding is what a campaign has found.
type CampaignFinding struct {
	ID, Status, Tone    string
	Kind, What, Place   string
	More                string // what else there is to say
	Package, Test, Note string
	// Link is to the page of its run; "" if there is none.
	Link        string
	First, Last string
}

// A GrowthChart is how many pairs of accesses were seen, and how many of them in both orders, over
// time, of all targets together.
type GrowthChart struct {
	Note          string
	Width, Height int
	Grid          []ChartLine
	Pairs, Both   string // points of lines
	Times         []ChartTime
}

// A GrowthPoint is how far the coverage was at a time.
type GrowthPoint struct {
	At          time.Time
	Pairs, Both int
}

// NewGrowthChart makes the chart of what targets have seen, of each the points at which there was
// more. It is nil where nothing has grown.
func NewGrowthChart(targets [][]GrowthPoint) *GrowthChart {
	const width, height, foot = chartWidth, chartHeight, 22
	sum := summed(targets)
	if len(sum) < 2 {
		return nil
	}
	begin, last := sum[0].At, sum[len(sum)-1]
	span := last.At.Sub(begin)
	if span <= 0 || last.Pairs == 0 {
		return nil
	}
	x := func(at time.Time) int { return int(float64(at.Sub(begin)) / float64(span) * width) }
	y := func(n int) int { return height - foot - int(float64(n)/float64(last.Pairs)*(height-foot-18)) }
	c := &GrowthChart{
		Width: width, Height: height,
		Note: fmt.Sprintf("%s pairs of accesses seen, %s of them in both orders, in %s", Number(last.Pairs), Number(last.Both), duration(span)),
		Grid: []ChartLine{{Y: y(0), Text: "0"}, {Y: y(last.Pairs), Text: Number(last.Pairs) + " pairs"}},
		Times: []ChartTime{
			{Text: begin.Format(time.DateTime), Anchor: "start"},
			{X: width, Text: last.At.Format(time.DateTime), Anchor: "end"},
		},
	}
	// What was seen stays seen until there is more: the lines have steps.
	var pairs, both []string
	for i, p := range sum {
		if i > 0 {
			pairs = append(pairs, fmt.Sprintf("%d,%d", x(p.At), y(sum[i-1].Pairs)))
			both = append(both, fmt.Sprintf("%d,%d", x(p.At), y(sum[i-1].Both)))
		}
		pairs = append(pairs, fmt.Sprintf("%d,%d", x(p.At), y(p.Pairs)))
		both = append(both, fmt.Sprintf("%d,%d", x(p.At), y(p.Both)))
	}
	c.Pairs, c.Both = strings.Join(pairs, " "), strings.Join(both, " ")
	return c
}

// summed are the points of all targets together.
func summed(targets [][]GrowthPoint) []GrowthPoint {
	var all []GrowthPoint // as differences
	for _, points := range targets {
		before := GrowthPoint{}
		for _, p := range points {
			all = append(all, GrowthPoint{p.At, p.Pairs - before.Pairs, p.Both - before.Both})
			before = p
		}
	}
	slices.SortStableFunc(all, func(a, b GrowthPoint) int { return a.At.Compare(b.At) })
	var sum []GrowthPoint
	total := GrowthPoint{}
	for _, g := range all {
		total = GrowthPoint{g.At, total.Pairs + g.Pairs, total.Both + g.Both}
		if n := len(sum); n > 0 && sum[n-1].At.Equal(g.At) {
			sum[n-1] = total
			continue
		}
		sum = append(sum, total)
	}
	return sum
}
