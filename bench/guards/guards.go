// Package guards measures how precise the inferred guards are on real modules: it
// downloads five well-known ones that use mutexes heavily, at fixed versions, infers
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
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/guard"
	"github.com/cofferdam-go/cofferdam/internal/load"
)

// modules are what is measured.
var modules = []struct{ path, version string }{
	{"github.com/patrickmn/go-cache", "v2.1.0+incompatible"},
	{"github.com/hashicorp/golang-lru/v2", "v2.0.7"},
	{"github.com/hashicorp/memberlist", "v0.5.1"},
	{"github.com/prometheus/client_golang", "v1.20.5"},
	{"github.com/nats-io/nats.go", "v1.38.0"},
}

const usage = `usage: bench guards [-quick] [-list] [-min CONFIDENCE]

Infers the guards of five modules, which it downloads through the module proxy, and
prints how many there are, how many accesses deviate, and how many of these are true
deviations according to bench/guards/judged.txt.

`

// Main runs the benchmark and returns the exit code.
func Main(args []string, stdout, stderr io.Writer) int {
	flags := flag.NewFlagSet("guards", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprint(stderr, usage)
		flags.PrintDefaults()
	}
	quick := flags.Bool("quick", false, "only the first two modules")
	list := flags.Bool("list", false, "print every deviating access with its judgement")
	least := flags.Float64("min", 0.5, "leave out what is less sure than this `confidence`")
	switch err := flags.Parse(args); {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		return 2
	case flags.NArg() > 0:
		fmt.Fprintf(stderr, "bench guards: %q is not a flag\n", flags.Arg(0))
		return 2
	}
	todo := modules
	if *quick {
		todo = todo[:2]
	}
	t := tabwriter.NewWriter(stdout, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "module\tlocks\tdata\twith\tunknown\tdeviating\ttrue\tfalse\tnot judged\tseconds\t")
	var sum counts
	for _, m := range todo {
		fmt.Fprintf(stderr, "%s@%s\n", m.path, m.version)
		c, err := measure(m.path, m.version, *least, *list, stdout, stderr)
		if err != nil {
			fmt.Fprintf(stderr, "bench guards: %s@%s: %v\n", m.path, m.version, err)
			return 1
		}
		c.row(t, m.path)
		sum.add(c)
	}
	sum.row(t, "all")
	t.Flush()
	if judged := sum.right + sum.wrong; judged > 0 {
		fmt.Fprintf(stdout, "\n%d of %d judged deviations are true: precision %.0f %%\n", sum.right, judged, 100*float64(sum.right)/float64(judged))
	}
	return 0
}

// counts are the result for a module.
type counts struct {
	locks, data, with, unknown int
	right, wrong, unjudged     int
	time                       time.Duration
}

func (c *counts) add(d counts) {
	c.locks += d.locks
	c.data += d.data
	c.with += d.with
	c.unknown += d.unknown
	c.right += d.right
	c.wrong += d.wrong
	c.unjudged += d.unjudged
	c.time += d.time
}

func (c *counts) row(w io.Writer, name string) {
	fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%d\t%.1f\t\n", name, c.locks, c.data, c.with, c.unknown,
		c.right+c.wrong+c.unjudged, c.right, c.wrong, c.unjudged, c.time.Seconds())
}

func measure(path, version string, least float64, list bool, stdout, stderr io.Writer) (counts, error) {
	var c counts
	dir, err := os.MkdirTemp("", "bench-guards-")
	if err != nil {
		return c, err
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module bench\n\ngo 1.26\n"), 0o666); err != nil {
		return c, err
	}
	get := exec.Command("go", "get", path+"/...@"+version)
	get.Dir = dir
	if out, err := get.CombinedOutput(); err != nil {
		return c, fmt.Errorf("go get: %w\n%s", err, out)
	}
	// The first load compiles what the module imports, which is not what is measured.
	config := load.Config{Dir: dir, Patterns: []string{path + "/..."}}
	if _, err := load.Packages(config); err != nil {
		return c, err
	}
	start := time.Now()
	pkgs, err := load.Packages(config)
	if err != nil {
		return c, err
	}
	guards := guard.Infer(pkgs).AtLeast(least)
	c.time = time.Since(start)
	verdicts := judgements()
	c.locks = len(guards)
	for _, g := range guards {
		c.data += len(g.Data)
		for _, d := range g.Data {
			c.with += d.Evidence.ReadsWith + d.Evidence.WritesWith
			c.unknown += d.Evidence.Unknown
			for _, v := range d.Deviations {
				_, file, _ := strings.Cut(filepath.ToSlash(v.At.Filename), "@"+version+"/")
				j, ok := verdicts[judgementKey{path, fmt.Sprintf("%s:%d", file, v.At.Line), d.Name}]
				switch {
				case !ok:
					c.unjudged++
					j.reason = "not judged"
				case j.right:
					c.right++
				default:
					c.wrong++
				}
				if list {
					fmt.Fprintf(stdout, "%s %s:%d %s: %s of it in %s, %.2f: %t, %s\n", path, file, v.At.Line, d.Name, v.Kind, v.Func, d.Confidence, j.right, j.reason)
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
