// Package protected holds protected programs against plain ones: random programs that are
// free of races have to print the same, and nothing may be found in them.
//
//	programs --> plain build -------> what they print
//	   |                                    |
//	   `-----> protected build, in each --> the same, or a Difference
//	           mode                   `---> a violation is one, too
//
// A [Trial] has many programs in one build, because building takes longer than all the rest.
// A program that differs is made smaller by the draws that it was made from.
package protected

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/gotool"
	"github.com/cofferdam-go/cofferdam/internal/protect"
	"github.com/cofferdam-go/cofferdam/internal/randprog"
	"github.com/cofferdam-go/cofferdam/internal/randprog/sharing"
)

// A Way is how a program is protected.
type Way struct {
	Mode protect.Mode
	Maps bool
}

func (w Way) String() string {
	if w.Maps {
		return string(w.Mode) + " -maps"
	}
	return string(w.Mode)
}

// Ways are all that a program has to mean the same in.
var Ways = []Way{{Mode: protect.Tolerate}, {Mode: protect.Tolerate, Maps: true}, {Mode: protect.Auto}, {Mode: protect.Isolate}, {Mode: protect.Exact}, {Mode: protect.Detect}}

// A Trial holds programs against themselves.
type Trial struct {
	// Dir is an empty directory for the programs.
	Dir  string
	Ways []Way
	// Calls has the compiler inline nothing in the programs, which saves it a quarter of its time. What is
	// rewritten, and what it is rewritten to, is the same.
	Calls bool
}

// A Difference is a program that means something else when it is protected.
type Difference struct {
	Program   sharing.Program
	Way       Way
	Plain     string // the first line that differs, plainly and protected
	Protected string // or the violation that was told
}

func (d Difference) String() string {
	return fmt.Sprintf("-protect=%s\nplain:     %s\nprotected: %s\n%s", d.Way, d.Plain, d.Protected, d.Program.Source)
}

// A Result is what came of some programs.
type Result struct {
	// Sections is how often sections stand in the programs, in all ways together, Protected
	// how many of them had copies or used pages, and Whole how many from lock to unlock.
	Sections, Protected, Whole int
	Differences                []Difference
}

// Run holds programs against themselves.
func (t *Trial) Run(ctx context.Context, programs []sharing.Program) (*Result, error) {
	if err := t.write(sharing.Files(programs)); err != nil {
		return nil, err
	}
	plain, _, err := t.output(ctx, "plain", nil)
	if err != nil {
		return nil, fmt.Errorf("the programs by themselves: %w", err)
	}
	loaded, err := protect.Load(protect.Config{Dir: t.Dir, Patterns: []string{"."}, Flags: t.compiling()})
	if err != nil {
		return nil, err
	}
	result := new(Result)
	for i, way := range t.Ways {
		protected, told, err := t.runProtected(ctx, loaded, fmt.Sprint("protected", i), way, result)
		if err != nil {
			return nil, fmt.Errorf("-protect=%s: %w", way, err)
		}
		different := compare(programs, way, plain, protected)
		if len(different) == 0 { // what was told may be of that
			different = violations(programs, way, told)
		}
		result.Differences = append(result.Differences, different...)
	}
	return result, nil
}

// write puts files into the directory, in the place of all that is there.
func (t *Trial) write(files map[string]string) error {
	if err := os.RemoveAll(t.Dir); err != nil {
		return err
	}
	for name, text := range files {
		name = filepath.Join(t.Dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			return err
		}
	}
	return nil
}

// runProtected builds and runs the programs in one way.
func (t *Trial) runProtected(ctx context.Context, loaded *protect.Loaded, name string, way Way, result *Result) (printed, told string, _ error) {
	build, err := loaded.Prepare(way.Mode, way.Maps)
	if err != nil {
		return "", "", err
	}
	defer build.Close()
	for _, s := range build.Sections {
		if filepath.Base(s.At.Filename) == sharing.World {
			continue
		}
		result.Sections++
		if s.IsProtected() {
			result.Protected++
			if len(s.Gaps)+len(s.Left) == 0 {
				result.Whole++
			}
		}
	}
	return t.output(ctx, name, build.Flags)
}

// compiling has the programs compiled without what only debuggers read, which is a sixth of the
// work: most of the time of a trial goes to the compiler.
func (t *Trial) compiling() []string {
	flags := "-gcflags=./...=-dwarf=false"
	if t.Calls {
		flags += " -l"
	}
	return []string{flags}
}

// patience is how long all programs of a build may run. They need less than a second.
const patience = 2 * time.Minute

// output builds the programs and runs them, and returns what they print, and the findings that are printed beside it.
// Of a program that ends the process, what it printed before counts.
func (t *Trial) output(ctx context.Context, name string, flags []string) (printed, told string, _ error) {
	tool := gotool.New(t.Dir, nil)
	build := tool.Command(ctx, slices.Concat([]string{"build", "-ldflags=-s -w", "-o", name}, t.compiling(), flags, []string{"."})...)
	if out, err := build.CombinedOutput(); err != nil {
		return "", "", fmt.Errorf("building: %w\n%s", err, out)
	}
	var stdout, stderr bytes.Buffer
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	run := exec.CommandContext(limited, filepath.Join(t.Dir, name))
	run.Stdout, run.Stderr = &stdout, &stderr
	if err := run.Run(); err != nil && ctx.Err() == nil {
		if len(flags) == 0 { // nothing behind it would be compared
			return "", "", fmt.Errorf("a program does not end well as it is: %w\n%s", err, stderr.Bytes()[:min(stderr.Len(), 2000)])
		}
		first, _, _ := strings.Cut(stderr.String()[max(0, strings.Index(stderr.String(), "fatal error")):], "\n")
		fmt.Fprintf(&stdout, "%v: %s\n", err, first)
	}
	return stdout.String(), stderr.String(), ctx.Err()
}

// compare finds the programs whose lines differ.
func compare(programs []sharing.Program, way Way, plain, protected string) []Difference {
	var all []Difference
	want, got := strings.Split(plain, "\n"), strings.Split(protected, "\n")
	last := -1
	for i := range want {
		line := ""
		if i < len(got) {
			line = got[i]
		}
		if line == want[i] {
			continue
		}
		number := -1
		fmt.Sscan(want[i], &number)
		if number >= 0 && number < len(programs) && number != last {
			last = number
			all = append(all, Difference{programs[number], way, want[i], line})
		}
		if i >= len(got)-1 {
			break // it has ended there
		}
	}
	return all
}

// named is a function of a program in a stack.
var named = regexp.MustCompile(`\.P(\d+)\b`)

// violations finds the programs that something was found in, by the first one that stands in the stacks of a finding.
func violations(programs []sharing.Program, way Way, told string) []Difference {
	var all []Difference
	for i, finding := range strings.Split("\n"+told, "\nviolation: ") {
		if i == 0 {
			continue // what is told before
		}
		first, _, _ := strings.Cut(finding, "\n")
		d := Difference{Way: way, Protected: "violation: " + first}
		if m := named.FindStringSubmatch(finding); m != nil {
			if number, err := strconv.Atoi(m[1]); err == nil && number < len(programs) {
				d.Program = programs[number]
			}
		}
		if !slices.ContainsFunc(all, func(o Difference) bool { return o.Program.Name == d.Program.Name }) {
			all = append(all, d)
		}
	}
	return all
}

// smallerAtOnce is how many smaller programs are tried in one build.
const smallerAtOnce = 60

// Shrink makes the program of a difference smaller, as long as it differs and there are rounds
// left.
func (t *Trial) Shrink(ctx context.Context, d Difference, rounds int) (Difference, error) {
	one := &Trial{Dir: t.Dir, Ways: []Way{d.Way}, Calls: t.Calls}
	for ; rounds > 0; rounds-- {
		found := false
		smaller := randprog.Smaller(d.Program.Draws)
		for from := 0; from < len(smaller) && !found; from += smallerAtOnce {
			var programs []sharing.Program
			for i, draws := range smaller[from:min(from+smallerAtOnce, len(smaller))] {
				programs = append(programs, sharing.Again(fmt.Sprintf("P%d", i), d.Program.Palette, draws))
			}
			result, err := one.Run(ctx, programs)
			if err != nil {
				return d, err
			}
			if len(result.Differences) > 0 {
				d, found = result.Differences[0], true
			}
		}
		if !found {
			break
		}
	}
	return d, nil
}
