package plot

import (
	"encoding/xml"
	"flag"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the pictures in testdata anew")

var bars = Bars{
	Title:  "Figure 8: overhead over the same memory, all careful",
	XLabel: "structure", YLabel: "overhead in %",
	Groups: []string{"heap", "list", "hash", "tree"},
	Series: []Series{
		{"1 goroutine", []Point{{1, 2, 3}, {-4, -2.5, 1}, {5, 6, 7.2}, {0, 0.3, 0.8}}},
		{"8 goroutines", []Point{{2, 4, 6}, {-1, 1, 3}, {math.NaN(), math.NaN(), math.NaN()}, {9, 11, 14}}},
	},
	Limits: []Limit{{"target", 8}},
}

var lines = Lines{
	Title:  "Figure 9: overhead with a careless goroutine",
	XLabel: "operations by the careless goroutine in %", YLabel: "overhead in %",
	X: []float64{0, 1, 5, 10, 25, 50},
	Series: []Series{
		{"heap", []Point{{0, 1, 2}, {1, 2, 3}, {4, 5, 6}, {8, 9, 10}, {20, 24, 30}, {40, 45, 60}}},
		{"list & more", []Point{{0, 0, 1}, {1, 1, 1}, {2, 2, 3}, {4, 5, 6}, {8, 9, 10}, {20, 21, 22}}},
	},
	Limits: []Limit{{"15 %", 15}, {"60 %", 60}},
}

func TestPicturesAreAsBefore(t *testing.T) {
	for name, chart := range map[string]io.WriterTo{"bars.svg": bars, "lines.svg": lines} {
		var b strings.Builder
		if _, err := chart.WriteTo(&b); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if b.String() != string(want) {
			t.Errorf("%s has changed; look at it, then run go test -update", path)
		}
	}
}

func TestPicturesAreXML(t *testing.T) {
	for _, chart := range []io.WriterTo{bars, lines, Bars{}, Lines{}, Lines{X: []float64{3}, Series: []Series{{"a<b", []Point{{1, 1, 1}}}}}} {
		var b strings.Builder
		chart.WriteTo(&b)
		d := xml.NewDecoder(strings.NewReader(b.String()))
		for {
			_, err := d.Token()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("%v in\n%s", err, b.String())
			}
		}
		if strings.Contains(b.String(), "NaN") || strings.Contains(b.String(), "Inf") {
			t.Errorf("a place is not a number in\n%s", b.String())
		}
	}
}

func TestAxisHasRoundTicksAroundTheData(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		want      string
	}{
		{0, 8, "0 2 4 6 8"},
		{-2.5, 14, "-5 0 5 10 15"},
		{0.1, 0.92, "0.0 0.2 0.4 0.6 0.8 1.0"},
		{0, 0, "0.0 0.2 0.4 0.6 0.8 1.0"},
		{3, 1234, "0 500 1000 1500"},
	} {
		a := newAxis(c.low, c.high, 0, 100)
		var labels []string
		for _, v := range a.ticks() {
			labels = append(labels, a.label(v))
		}
		if got := strings.Join(labels, " "); got != c.want {
			t.Errorf("%v to %v: ticks %s, want %s", c.low, c.high, got, c.want)
		}
	}
}
