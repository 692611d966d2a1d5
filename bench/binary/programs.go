package binary

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/cofferdam-go/cofferdam/bench/command"
	"github.com/cofferdam-go/cofferdam/internal/emu/drive"
	"github.com/cofferdam-go/cofferdam/internal/emu/linux"
	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// A Program is one that was run in the emulator and without it.
type Program struct {
	Name         string `json:"name"`
	Missing      bool   `json:"missing,omitempty"` // it is not installed
	Threads      int    `json:"threads"`
	Instructions uint64 `json:"instructions"`
	Same         bool   `json:"same"` // output and exit code
	// Schedules is how many were explored, of a program with threads, and Reported what
	// was reported about it: nothing, one would hope.
	Schedules int      `json:"schedules,omitempty"`
	Reported  string   `json:"reported,omitempty"`
	Why       string   `json:"why,omitempty"`
	Notes     []string `json:"notes,omitempty"`
}

// A trial is a program with arguments, and one that makes its output comparable: of
// programs whose output depends on what is done in parallel.
type trial struct {
	args, reverse []string
}

var trials = []trial{
	{args: []string{"/usr/bin/perl", "-e", `my %h; $h{$_%7}+=$_ for 1..5000; print join(",",map{"$_=$h{$_}"} sort keys %h),"\n"; printf "%.12f\n", atan2(1,1)*4`}},
	{args: []string{"/bin/sed", "-e", "s/1/one/g", "-e", "5,9d"}},
	{args: []string{"/usr/bin/sort", "-rn", "--parallel=4"}},
	{args: []string{"/usr/bin/awk", "{s+=$1} END {print s, NR}"}},
	{args: []string{"/bin/sh", "-c", "read a; i=0; while [ $i -lt 5 ]; do i=$((i+1)); echo $i $a; done"}},
	{args: []string{"/usr/bin/python3", "-c", "import json,threading\nl=[]\nts=[threading.Thread(target=l.append,args=(i,)) for i in range(4)]\n[t.start() for t in ts]\n[t.join() for t in ts]\nprint(json.dumps({'a':sorted(l),'b':[x**0.5 for x in range(5)]}))"}},
	{args: []string{"/usr/bin/xz", "-T2", "-0", "-c"}, reverse: []string{"xz", "-dc"}},
	{args: []string{"/usr/bin/pigz", "-p4", "-c"}, reverse: []string{"gzip", "-dc"}},
	{args: []string{"/usr/bin/pbzip2", "-p4", "-c"}, reverse: []string{"bzip2", "-dc"}},
	{args: []string{"/usr/bin/zstd", "-T4", "-q", "-c"}, reverse: []string{"zstd", "-qdc"}},
	{args: []string{"/usr/bin/lbzip2", "-n4", "-c"}, reverse: []string{"bzip2", "-dc"}},
}

func runPrograms(s *command.Session) ([]Program, error) {
	input := numbers(3_000)
	fmt.Fprintf(s.Out, "Programs in the emulator\n\n%-10s %8s %14s\n", "", "threads", "instructions")
	var all []Program
	for _, t := range trials {
		if s.Context.Err() != nil {
			break
		}
		p := t.run(input)
		if err := t.explore(s, &p, input[:len(input)/10]); err != nil {
			return all, err
		}
		all = append(all, p)
		outcome := "the right output"
		switch {
		case p.Missing:
			fmt.Fprintf(s.Out, "%-10s is not here\n", p.Name)
			continue
		case !p.Same:
			outcome = "WRONG: " + p.Why
		}
		if p.Schedules > 0 && p.Reported == "" {
			outcome += fmt.Sprintf("; %d schedules, no report", p.Schedules)
		} else if p.Reported != "" {
			outcome += "; REPORTED: " + p.Reported
		}
		fmt.Fprintf(s.Out, "%-10s %8d %14s  %s\n", p.Name, p.Threads, grouped(p.Instructions), outcome)
		for _, n := range p.Notes {
			fmt.Fprintf(s.Out, "%-10s   %s\n", "", n)
		}
	}
	fmt.Fprintln(s.Out)
	return all, nil
}

func (t trial) run(input []byte) Program {
	p := Program{Name: filepath.Base(t.args[0])}
	if _, err := os.Stat(t.args[0]); err != nil {
		p.Missing = true
		return p
	}
	var out bytes.Buffer
	process, err := start(t.args, input, &out)
	if err != nil {
		p.Why = err.Error()
		return p
	}
	exit := process.Run()
	p.Threads, p.Instructions, p.Notes = len(process.Threads()), process.Instructions(), process.Notes()
	got, want := out.Bytes(), []byte(nil)
	if t.reverse != nil {
		got, err = output(t.reverse, got)
		want = input
	} else {
		want, err = output(t.args, input)
	}
	switch {
	case exit.Reason != linux.Exited || exit.Code != 0:
		p.Why = fmt.Sprintf("exit code %d, %v, %s", exit.Code, exit.Signal, exit.Text)
	case err != nil:
		p.Why = err.Error()
	case !bytes.Equal(got, want):
		p.Why = fmt.Sprintf("%d bytes of output, natively %d", len(got), len(want))
	default:
		p.Same = true
	}
	return p
}

// explore looks for schedules under which a program with several threads fails.
func (t trial) explore(s *command.Session, p *Program, input []byte) error {
	if p.Threads < 2 || t.reverse == nil {
		return nil
	}
	runs := 100
	if s.Quick {
		runs = 5
	}
	program, err := drive.Load(trace.Binary{Path: t.args[0], Args: t.args, Env: environment, Input: input}, 1_000_000)
	if err != nil {
		return err
	}
	done, err := program.Explore(s.Context, &drive.Options{Method: sched.MethodPCT, Seed: 1, Budget: time.Minute, Runs: runs})
	if err != nil {
		return err
	}
	p.Schedules = done.Runs
	if f := done.Outcome.Worst(); f != nil {
		p.Reported = f.String()
	}
	return nil
}

// environment is that of all programs.
var environment = []string{"LC_ALL=C", "PATH=/usr/bin:/bin"}

// output runs a program natively.
func output(args []string, input []byte) ([]byte, error) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = environment
	cmd.Stdin = bytes.NewReader(input)
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("running %s: %w", strings.Join(args, " "), err)
	}
	return out, err
}
