// Package guards measures how precise the inferred guards are on real modules: it
// downloads five well-known ones that use mutexes heavily, and fifteen others, at fixed versions, infers
// their guards, and compares each deviating access with a judgement that was made by
// reading the code.
//
// A judgement is a line of judged.txt: an access that is reported is "true" if it
// touches data that the lock is meant to guard without holding the lock, where
// another goroutine can get at the data; otherwise "false", with the reason. An
// access that nobody has judged is counted as such, so that a change of the
// inference shows.
package guards

import (
	"bufio"
	_ "embed"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/cofferdam-go/cofferdam/bench/command"
	"github.com/cofferdam-go/cofferdam/internal/guard"
	"github.com/cofferdam-go/cofferdam/internal/load"
)

// modules are what is measured.
var modules = []command.Module{
	{Path: "github.com/patrickmn/go-cache", Version: "v2.1.0+incompatible"},
	{Path: "github.com/hashicorp/golang-lru/v2", Version: "v2.0.7"},
	{Path: "github.com/hashicorp/memberlist", Version: "v0.5.1"},
	{Path: "github.com/prometheus/client_golang", Version: "v1.20.5"},
	{Path: "github.com/nats-io/nats.go", Version: "v1.38.0"},
}

// others are further ones. The reasons to doubt an access were found in all of these, so that their
// figures are no estimate for modules that were never looked at.
var others = []command.Module{
	{Path: "github.com/hashicorp/yamux", Version: "v0.1.2"},
	{Path: "github.com/allegro/bigcache/v3", Version: "v3.1.0"},
	{Path: "github.com/nsqio/nsq", Version: "v1.3.0", Packages: []string{"github.com/nsqio/nsq/nsqd"}},
	{Path: "github.com/nsqio/go-nsq", Version: "v1.1.0"},
	{Path: "github.com/eclipse/paho.mqtt.golang", Version: "v1.5.0", Packages: []string{"github.com/eclipse/paho.mqtt.golang"}},
	{Path: "github.com/rabbitmq/amqp091-go", Version: "v1.10.0", Packages: []string{"github.com/rabbitmq/amqp091-go"}},
	{Path: "github.com/segmentio/kafka-go", Version: "v0.4.47", Packages: []string{"github.com/segmentio/kafka-go"}},
	{Path: "github.com/hashicorp/go-plugin", Version: "v1.6.2", Packages: []string{"github.com/hashicorp/go-plugin"}},
	{Path: "github.com/libp2p/go-yamux/v4", Version: "v4.0.1"},
	{Path: "github.com/quic-go/quic-go", Version: "v0.48.1", Packages: []string{"github.com/quic-go/quic-go"}},
	{Path: "github.com/go-zookeeper/zk", Version: "v1.0.4", Packages: []string{"github.com/go-zookeeper/zk"}},
	{Path: "github.com/tidwall/buntdb", Version: "v1.3.2"},
	{Path: "github.com/coder/websocket", Version: "v1.8.12", Packages: []string{"github.com/coder/websocket"}},
	{Path: "github.com/hashicorp/serf", Version: "v0.10.1", Packages: []string{"github.com/hashicorp/serf/serf"}},
	{Path: "github.com/fsnotify/fsnotify", Version: "v1.8.0"},
}

// Benchmark is go run ./bench guards.
var Benchmark = &command.Benchmark{
	Name:  "guards",
	About: "how precise inferred guards are on twenty real modules",
	Usage: "[-list] [-min CONFIDENCE] ",
	Help: `Infers the guards of twenty modules, which it downloads through the module proxy, and
prints how many there are, how many accesses deviate, and how many of these are true
deviations according to bench/guards/judged.txt.`,
	Quick: "only two modules",
	New:   newMeasurement,
}

// options are the flags.
type options struct {
	list  bool
	least float64
}

func newMeasurement(flags *flag.FlagSet) command.Measurement {
	o := &options{}
	flags.BoolVar(&o.list, "list", false, "print every deviating access with its judgement")
	flags.Float64Var(&o.least, "min", 0.5, "leave out what is less sure than this `confidence`")
	return o
}

// Check has nothing to complete.
func (o *options) Check(bool) error { return nil }

// Measure runs the command.
func (o *options) Measure(s *command.Session) (any, error) {
	if s.Quick {
		return o.measureAll(s, "the first", modules[:2])
	}
	first, err := o.measureAll(s, "the first", modules)
	if err != nil {
		return first, err
	}
	fmt.Fprintln(s.Out)
	second, err := o.measureAll(s, "the other", others)
	return append(first, second...), err
}

// measureAll measures some modules, and prints a table of them.
func (o *options) measureAll(s *command.Session, which string, todo []command.Module) ([]Counts, error) {
	t := tabwriter.NewWriter(s.Out, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "module\tlocks\tdata\twith\tunknown\tin doubt\tdeviating\ttrue\tfalse\tnot judged\tseconds\t")
	sum := Counts{Module: "all"}
	var report []Counts
	for _, m := range todo {
		fmt.Fprintln(s.Err, m)
		c, err := o.measure(s, m)
		if err != nil {
			return report, fmt.Errorf("%s: %w", m, err)
		}
		c.row(t)
		sum.add(c)
		report = append(report, c)
	}
	sum.row(t)
	t.Flush()
	if judged := sum.Right + sum.Wrong; judged > 0 {
		fmt.Fprintf(s.Out, "\n%d of %d judged deviations are true on %s modules: precision %.0f %%\n", sum.Right, judged, which, 100*float64(sum.Right)/float64(judged))
	}
	return report, nil
}

// Counts are the result for a module.
type Counts struct {
	Module  string `json:"module"`
	Locks   int    `json:"locks"`
	Data    int    `json:"data"`
	With    int    `json:"accessesWith"`
	Unknown int    `json:"accessesUnknown"`
	// Doubtful are accesses without the lock that may be meant to be so: they are not reported.
	Doubtful int     `json:"doubtful"`
	Right    int     `json:"trueDeviations"`
	Wrong    int     `json:"falseDeviations"`
	Unsure   int     `json:"deviationsNotJudged"`
	Seconds  float64 `json:"seconds"`
}

func (c *Counts) add(d Counts) {
	c.Locks += d.Locks
	c.Data += d.Data
	c.With += d.With
	c.Unknown += d.Unknown
	c.Doubtful += d.Doubtful
	c.Right += d.Right
	c.Wrong += d.Wrong
	c.Unsure += d.Unsure
	c.Seconds += d.Seconds
}

func (c *Counts) row(w io.Writer) {
	fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%.1f\t\n", c.Module, c.Locks, c.Data, c.With, c.Unknown, c.Doubtful,
		c.Right+c.Wrong+c.Unsure, c.Right, c.Wrong, c.Unsure, c.Seconds)
}

func (o *options) measure(s *command.Session, m command.Module) (Counts, error) {
	c := Counts{Module: m.Path}
	dir, err := os.MkdirTemp(s.Temp(""), "module-")
	if err != nil {
		return c, err
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module bench\n\ngo 1.26\n"), 0o666); err != nil {
		return c, err
	}
	patterns := m.Packages
	if len(patterns) == 0 {
		patterns = []string{m.Path + "/..."}
	}
	for _, pattern := range patterns {
		if _, err := s.Go(dir, "get", pattern+"@"+m.Version); err != nil {
			return c, err
		}
	}
	// The first load compiles what the module imports, which is not what is measured.
	config := load.Config{Dir: dir, Patterns: patterns}
	if _, err := load.Packages(config); err != nil {
		return c, err
	}
	start := time.Now()
	pkgs, err := load.Packages(config)
	if err != nil {
		return c, err
	}
	guards := guard.Infer(pkgs).AtLeast(o.least)
	c.Seconds = time.Since(start).Seconds()
	verdicts := judgements()
	c.Locks = len(guards)
	for _, g := range guards {
		c.Data += len(g.Data)
		for _, d := range g.Data {
			c.With += d.Evidence.ReadsWith + d.Evidence.WritesWith
			c.Unknown += d.Evidence.Unknown
			c.Doubtful += len(d.Deviations) - len(d.Firm())
			for _, v := range d.Firm() {
				_, file, _ := strings.Cut(filepath.ToSlash(v.At.Filename), "@"+m.Version+"/")
				j, ok := verdicts[judgementKey{m.Path, fmt.Sprintf("%s:%d", file, v.At.Line), d.Name}]
				switch {
				case !ok:
					c.Unsure++
					j.reason = "not judged"
				case j.right:
					c.Right++
				default:
					c.Wrong++
				}
				if o.list {
					fmt.Fprintf(s.Out, "%s %s:%d %s: %s of it in %s, %.2f: %t, %s\n", m.Path, file, v.At.Line, d.Name, v.Kind, v.Func, d.Confidence, j.right, j.reason)
				}
			}
		}
	}
	return c, nil
}

//go:embed judged.txt
var judged string

type judgementKey struct{ module, place, data string }

type judgement struct {
	right  bool
	reason string
}

// judgements reads judged.txt: module, place, data, true or false, reason.
func judgements() map[judgementKey]judgement {
	all := make(map[judgementKey]judgement)
	for s := bufio.NewScanner(strings.NewReader(judged)); s.Scan(); {
		f := strings.SplitN(s.Text(), " ", 5)
		if len(f) < 5 || f[0] == "#" {
			continue
		}
		all[judgementKey{f[0], f[1], f[2]}] = judgement{f[3] == "true", f[4]}
	}
	return all
}
