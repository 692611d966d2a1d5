package explore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/wire"
)

// A child is an instrumented program that takes orders.
type child struct {
	cmd     *exec.Cmd
	orders  *os.File
	in      *json.Encoder
	reports *os.File
	out     *json.Decoder
	output  *tail
	halted  func(pid int)      // called when the run waits for a debugger
	end     context.CancelFunc // ends it, whatever it does
}

// start starts the program, with the file of a ring if it is to record. What it prints is
// kept only as far as it may explain a death: a thousand runs a second print the same thing a
// thousand times a second. It sees the day of the options, or today.
func (p *Program) start(ctx context.Context, o *Options, events *os.File) (*child, error) {
	ordersR, orders, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("starting the instrumented program: %w", err)
	}
	reports, reportsW, err := os.Pipe()
	if err != nil {
		ordersR.Close()
		orders.Close()
		return nil, fmt.Errorf("starting the instrumented program: %w", err)
	}
	c := &child{orders: orders, in: json.NewEncoder(orders), reports: reports, out: json.NewDecoder(reports), output: &tail{}}
	ctx, c.end = context.WithCancel(ctx)
	c.cmd = exec.CommandContext(ctx, p.Path, p.arguments()...)
	c.cmd.Dir = p.workingDirectory()
	c.cmd.Env = append(p.build.environment(), "PWD="+c.cmd.Dir, "GOTRACEBACK=all", wire.Env+"="+give(c.cmd, ordersR, reportsW, events), fmt.Sprintf("%s=%d", wire.DayEnv, p.day(o)))
	c.cmd.Stdout, c.cmd.Stderr = c.output, c.output
	if o.Halt != nil && o.Halt.Output != nil {
		both := io.MultiWriter(c.output, o.Halt.Output)
		c.cmd.Stdout, c.cmd.Stderr = both, both
	}
	c.cmd.Cancel = func() error { return endWithStacks(c.cmd.Process) }
	if o.Halt != nil {
		c.cmd.Cancel = func() error { return c.cmd.Process.Kill() } // a person knows where it is
	}
	c.cmd.WaitDelay = time.Second
	keepInterruptsFrom(c.cmd)
	p.build.Limits.prepare(c.cmd)
	err = c.cmd.Start()
	ordersR.Close()
	reportsW.Close()
	if err == nil {
		if err = p.build.Limits.apply(c.cmd); err != nil {
			_ = c.cmd.Process.Kill()
			_ = c.cmd.Wait() // it was killed
		}
	}
	if err != nil {
		c.end()
		orders.Close()
		reports.Close()
		return nil, fmt.Errorf("starting the instrumented program: %w", err)
	}
	return c, nil
}

// arguments are those of the program. Tests get what go test gives them; those that run in
// parallel with others shall do so on any machine.
func (p *Program) arguments() []string {
	if p.build.config.Tests {
		return append([]string{"-test.parallel=4", "-test.timeout=10m0s"}, p.build.args...)
	}
	return p.build.args
}

// workingDirectory is where go test, or go run, would run the program.
func (p *Program) workingDirectory() string {
	if p.build.config.Tests {
		return p.Dir
	}
	if dir, err := filepath.Abs(p.build.config.Dir); err == nil {
		return dir
	}
	return p.build.config.Dir
}

// environment is that of the programs.
func (b *Build) environment() []string {
	if b.Environment != nil {
		return slices.Clone(b.Environment)
	}
	return os.Environ()
}

// order sends an order and returns its last report. progress may be nil. What is to be done when
// the run waits for a debugger is the child's halted.
func (c *child) order(o *wire.Order, progress func(*wire.Progress)) (*wire.Report, error) {
	if c.in.Encode(o) != nil {
		// The program has ended before it could read the order. Had the order been written a
		// moment before, its reports would end here, and that is what is told.
		return nil, c.died(io.EOF)
	}
	for {
		var r wire.Report
		switch err := c.out.Decode(&r); {
		case err != nil:
			return nil, c.died(err)
		case r.Error != "":
			return nil, errors.New(r.Error)
		case r.Halted:
			c.halted(c.cmd.Process.Pid)
		case r.Progress == nil:
			return &r, nil
		case progress != nil:
			progress(r.Progress)
		}
	}
}

// once has the program obey one order, and end.
func (c *child) once(o *wire.Order) (*wire.Done, error) {
	defer c.close()
	report, err := c.order(o, nil)
	if err != nil {
		return nil, err
	}
	return report.Done, nil
}

func (c *child) died(err error) error {
	defer c.end()
	c.orders.Close()
	c.reports.Close()
	if wait := c.cmd.Wait(); wait != nil {
		err = wait
	}
	return &DeathError{Cause: err, Output: c.output.String(), Crash: c.output.Crash()}
}

// close lets the program end.
func (c *child) close() {
	defer c.end()
	c.orders.Close()
	_, _ = io.Copy(io.Discard, c.reports)
	c.reports.Close()
	_ = c.cmd.Wait() // it has answered all that it was asked
}
