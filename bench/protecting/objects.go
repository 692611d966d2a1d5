package protecting

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"

	"github.com/cofferdam-go/cofferdam/bench/command"
	"github.com/cofferdam-go/cofferdam/bench/measure"
)

// Objects is go run ./bench protect-objects.
var Objects = &command.Benchmark{
	Name:  "protect-objects",
	About: "what many protected objects cost, in memory and for a section",
	Usage: "[-objects N] [-runs N] ",
	Help: `Builds a program with many objects, each with its lock, as it is and by cofferdam build
-protect in the modes tolerate, isolate and auto, and runs them in turn. Prints the memory of
the process, and what a section takes of a processor, on an object that is chosen at random.`,
	Quick: "fewer rounds, for a look",
	New: func(flags *flag.FlagSet) command.Measurement {
		o := &manyObjects{}
		flags.IntVar(&o.Objects, "objects", 100_000, "how many objects")
		command.Rounds(flags, &o.runs, "default 21, with -quick 5")
		return o
	},
}

// A manyObjects is one run of the command, and what -json writes.
type manyObjects struct {
	Objects int
	Results []objectsResult
	Report  measure.Report // its targets
	runs    int
}

// An objectsResult is what one variant took: the least memory, and the median time. Where the objects lie differs from
// process to process, and a section on one that is not in the cache takes several times as long: the best round of a
// variant is the luckiest placement and no measure of its code.
type objectsResult struct {
	Variant measure.Variant
	Bytes   int
	Nanos   float64
	// Ratio is that of the time to the time of the program as it is.
	Ratio measure.Ratio
}

// Check completes the flags.
func (o *manyObjects) Check(quick bool) error {
	if o.Objects < 1 {
		return errors.New("-objects has to be 1 or more")
	}
	if quick {
		return command.CheckRounds(&o.runs, 5)
	}
	return command.CheckRounds(&o.runs, 21)
}

// padded is the program as it is, but for objects that are as large as isolated ones: what it takes more is for memory alone.
const padded measure.Variant = "padded"

// sectionsOfObjects is how many sections a round has.
const sectionsOfObjects = 2_000_000

// Measure runs the command.
func (o *manyObjects) Measure(c *command.Session) (any, error) {
	variants := []measure.Variant{measure.Heap, measure.Again, padded, tolerate, isolate, auto}
	files := make([]string, len(variants))
	for i, v := range variants {
		files[i] = c.Temp("objects" + strconv.Itoa(i))
		if err := buildObjects(c, v, files[i]); err != nil {
			return nil, err
		}
	}
	o.Report.Machine = measure.ThisMachine()
	load := measure.StartLoad()
	rounds := make([][]objectsRound, len(variants))
	for range o.runs {
		for i, f := range files {
			r, err := o.round(c, f)
			if err != nil {
				return nil, err
			}
			rounds[i] = append(rounds[i], r)
		}
	}
	for i, v := range variants {
		o.Results = append(o.Results, summary(v, rounds[i], rounds[0]))
	}
	o.Report.Machine.Others = load.Others()
	o.print(c)
	return o, nil
}

func buildObjects(c *command.Session, v measure.Variant, file string) error {
	const program = "./protecting/objects"
	switch v {
	case measure.Heap, measure.Again:
		return c.Build(file, program)
	case padded:
		return c.Build(file, program, "-tags=padded")
	}
	tool, err := c.Cofferdam()
	if err != nil {
		return err
	}
	root, err := c.Root()
	if err != nil {
		return err
	}
	build := exec.CommandContext(c.Context, tool, "build", "-protect="+string(v), "-o", file, program)
	build.Dir = filepath.Join(root, "bench")
	var stderr bytes.Buffer
	build.Stderr = &stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("cofferdam build -protect=%s: %w\n%s", v, err, bytes.TrimSpace(stderr.Bytes()))
	}
	if !bytes.Contains(stderr.Bytes(), []byte("2 of 2 guarded variables are protected")) {
		return fmt.Errorf("-protect=%s does not protect what is measured:\n%s", v, stderr.Bytes())
	}
	return nil
}

// An objectsRound is what the program prints.
type objectsRound struct {
	Bytes int
	Nanos float64
	Moves int64
}

func (o *manyObjects) round(c *command.Session, file string) (objectsRound, error) {
	cmd := exec.CommandContext(c.Context, file, strconv.Itoa(o.Objects), strconv.Itoa(sectionsOfObjects))
	cmd.Env = append(os.Environ(), "COFFERDAM_FINDINGS="+c.Temp(""))
	var r objectsRound
	out, err := cmd.Output()
	if err != nil {
		return r, fmt.Errorf("running the program: %w", err)
	}
	return r, json.Unmarshal(out, &r)
}

// summary returns what the rounds of a variant come to.
func summary(v measure.Variant, rounds, plain []objectsRound) objectsResult {
	timing, plainTiming := timingOf(v, rounds), timingOf(measure.Heap, plain)
	result := objectsResult{Variant: v, Bytes: rounds[0].Bytes, Nanos: timing.Median * 1e9, Ratio: measure.Compare(timing, plainTiming)}
	for _, r := range rounds {
		result.Bytes = min(result.Bytes, r.Bytes)
	}
	return result
}

func timingOf(v measure.Variant, rounds []objectsRound) measure.Timing {
	t := measure.Timing{Variant: v}
	for _, r := range rounds {
		t.Seconds = append(t.Seconds, r.Nanos/1e9)
	}
	t.Median = measure.Median(t.Seconds)
	return t
}

func (o *manyObjects) print(c *command.Session) {
	plain := o.Results[0]
	fmt.Fprintf(c.Out, "%d objects with a lock each; medians of %d rounds. The second row is the program against itself, the third with objects as\nlarge as isolated ones, and no protection.\n\n", o.Objects, o.runs)
	over := func(ratio float64) float64 { return 100 * (ratio - 1) }
	more := func(ratio float64) string { return fmt.Sprintf("%+.1f", over(ratio)) }
	t := measure.Table{Head: []string{"protect", "MiB", "bytes more an object", "ns a section", "% more", "from", "to"}}
	for _, r := range o.Results {
		t.Row(string(r.Variant), fmt.Sprintf("%.1f", float64(r.Bytes)/(1<<20)), (r.Bytes-plain.Bytes)/o.Objects, fmt.Sprintf("%.1f", r.Nanos), more(r.Ratio.Mid), more(r.Ratio.Low), more(r.Ratio.High))
	}
	t.Write(c.Out)
	// Twice the memory of the program as it is, and a page for each 32 objects.
	const page, together = 4096, 32
	most := float64(2*plain.Bytes+o.Objects/together*page) / (1 << 20)
	for _, r := range o.Results[3:] {
		mib := float64(r.Bytes) / (1 << 20)
		o.Report.Targets = append(o.Report.Targets,
			measure.Target{Name: string(r.Variant) + ", memory", Unit: "MiB", Limit: most, Measured: mib, Low: mib, High: mib}.Judge(),
			measure.Target{Name: string(r.Variant) + ", a section", Unit: "%", Limit: 25, Measured: over(r.Ratio.Mid), Low: over(r.Ratio.Low), High: over(r.Ratio.High)}.Judge())
	}
	o.Report.Conclude(c.Out)
}
