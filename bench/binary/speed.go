package binary

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/cofferdam-go/cofferdam/bench/command"
	"github.com/cofferdam-go/cofferdam/internal/emu"
	"github.com/cofferdam-go/cofferdam/internal/emu/linux"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// A Speed is how fast a program was executed. Seconds are of processor time, since a busy
// machine makes the others mean nothing.
type Speed struct {
	Name         string  `json:"name"`
	Instructions uint64  `json:"instructions"`
	Plain        float64 `json:"plainSeconds"`
	Recorded     float64 `json:"recordedSeconds"`
	Events       uint64  `json:"events"`
	TraceBytes   uint64  `json:"traceBytes"`
}

// Targets, in millions of instructions a second.
const (
	plainTarget    = 50.0
	recordedTarget = 20.0
)

// workloads are programs that take a while, with numbers as their input.
var workloads = [][]string{{"/usr/bin/pigz", "-c"}, {"/bin/sed", "-e", "s/1/one/g"}, {"/usr/bin/sort", "-rn"}, {"/usr/bin/perl", "-ne", "$h{$_%97}+=$_; END{print $h{$_} for sort keys %h}"}}

func measureSpeed(s *command.Session) ([]Speed, error) {
	lines := 20_000
	if s.Quick {
		lines = 2_000
	}
	input := numbers(lines)
	fmt.Fprintf(s.Out, "Millions of instructions a second of processor time\n\n%-10s %14s %8s %9s %14s %12s\n", "", "instructions", "plain", "recorded", "events", "bytes/event")
	var all []Speed
	slowest := struct{ plain, recorded float64 }{math.Inf(1), math.Inf(1)}
	for _, w := range workloads {
		if s.Context.Err() != nil {
			break
		}
		if _, err := os.Stat(w[0]); err != nil {
			fmt.Fprintf(s.Out, "%-10s is not here\n", filepath.Base(w[0]))
			continue
		}
		one, err := speed(w, input)
		if err != nil {
			return all, err
		}
		all = append(all, one)
		rate := func(seconds float64) float64 { return float64(one.Instructions) / seconds / 1e6 }
		slowest.plain, slowest.recorded = min(slowest.plain, rate(one.Plain)), min(slowest.recorded, rate(one.Recorded))
		fmt.Fprintf(s.Out, "%-10s %14s %8.1f %9.1f %14s %12.2f\n", one.Name, grouped(one.Instructions), rate(one.Plain), rate(one.Recorded), grouped(one.Events), float64(one.TraceBytes)/float64(one.Events))
	}
	fmt.Fprintf(s.Out, "\nTargets, for the slowest: %.0f plain, %s; %.0f recorded, %s.\n", plainTarget, verdict(slowest.plain >= plainTarget), recordedTarget, verdict(slowest.recorded >= recordedTarget))
	fmt.Fprintln(s.Out)
	return all, nil
}

func speed(args []string, input []byte) (Speed, error) {
	one := Speed{Name: filepath.Base(args[0])}
	plain, err := start(args, input, io.Discard)
	if err != nil {
		return one, err
	}
	before := processorTime()
	plain.Run()
	one.Plain = (processorTime() - before).Seconds()
	one.Instructions = plain.Instructions()

	recorded, err := start(args, input, io.Discard)
	if err != nil {
		return one, err
	}
	count := &counter{}
	before = processorTime()
	w := trace.NewWriter(count, trace.Header{Program: args[0], Args: args})
	r := emu.Record(recorded, w)
	recorded.Run()
	err = r.Finish(recorded)
	one.Recorded = (processorTime() - before).Seconds()
	one.Events, one.TraceBytes = r.Events(), count.n
	return one, err
}

// start loads a program.
func start(args []string, input []byte, out io.Writer) (*linux.Process, error) {
	return linux.New(linux.Config{Path: args[0], Args: args, Env: environment, Stdin: bytes.NewReader(input), Stdout: out, Stderr: io.Discard})
}

// numbers are the lines of an input.
func numbers(n int) []byte {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintln(&b, i*7919%n)
	}
	return b.Bytes()
}

type counter struct{ n uint64 }

func (c *counter) Write(b []byte) (int, error) {
	c.n += uint64(len(b))
	return len(b), nil
}

// processorTime is what this process has used of it.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
