// Package debugging is replay -debug: a recorded run that waits at a step for a debugger.
//
// dlv, Delve's command, is started by debugging.go and attaches to the program, which waits in
// package rt (internal/rt/drive, halt.go); here.star is a script for it that goes on to the step
// and shows the frame there that is the program's:
//
//	$ cofferdam replay -debug -at preemption TestAccount.trace
//	cofferdam: stopped: preemption 1 is about to be made
//	Frame 10: ./acct.go:18 (PC: 5f6e1c)
//	=>  18:		a.mu.Lock()
//	(dlv) print a.balance
//	10
//	(dlv) continue
//
// Without dlv any other debugger may attach.
package debugging

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/cofferdam-go/cofferdam/cmd/cofferdam/command"
	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/scratch"
	"github.com/cofferdam-go/cofferdam/internal/trace"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

// Options are what replay -debug was asked for.
type Options struct {
	At     string // a step's number, failure, or preemption with a number
	Listen string // the address for dlv to serve editors at; "" for the terminal
}

// installDelve is how to get the debugger.
const installDelve = "go install github.com/go-delve/delve/cmd/dlv@latest"

// ownFrame is a script for dlv: it goes on to the step, and shows the frame there that is the
// program's.
//
//go:embed here.star
var ownFrame string

// halt is where the run is to wait. It waits at the failure, too, if a debugger is still there.
func (o *Options) halt(c *command.Command, r *trace.Reader) (wire.Halt, error) {
	failure, err := explore.FailureEvent(r)
	if err != nil {
		return wire.Halt{}, err
	}
	var halt wire.Halt
	if failure > 0 {
		halt.Events = []uint64{failure}
	}
	point, number, numbered := strings.Cut(o.At, ":")
	switch {
	case o.At == "failure" && failure == 0:
		return halt, c.Errorf("the recorded run did not fail: say with -at at which step to stop")
	case o.At == "failure":
	case point == "preemption":
		halt.Preemption = 1
		if numbered {
			if halt.Preemption, err = strconv.Atoi(number); err != nil || halt.Preemption < 1 {
				return halt, c.Errorf("-at %s: preemptions are numbered from 1", o.At)
			}
		}
		if n := preemptions(r); halt.Preemption > n {
			return halt, c.Errorf("-at %s: the schedule has %d", o.At, n)
		}
	default:
		step, err := strconv.ParseUint(o.At, 10, 64)
		if err != nil {
			return halt, c.Errorf("-at %s: give the number of a step, failure, or preemption:1", o.At)
		}
		if step < 1 || step > r.Len() {
			return halt, c.Errorf("-at %d: the run has the steps 1 to %d", step, r.Len())
		}
		switch {
		case step < failure || failure == 0:
			halt.Events = append([]uint64{step}, halt.Events...)
		case step > failure:
			halt.Events = append(halt.Events, step)[1:] // the failure is past
		}
	}
	return halt, nil
}

// preemptions are those of the schedule that a run took.
func preemptions(r *trace.Reader) int {
	text := r.Header.Schedule
	if r.Outcome != nil && r.Outcome.Schedule != "" {
		text = r.Outcome.Schedule
	}
	schedule, err := sched.ParseSchedule(text)
	if err != nil {
		return 0
	}
	return schedule.Preemptions()
}

// Run replays a run, has it wait for a debugger, and returns what came of it: nil if it was ended in
// the debugger. A run that differs already without one is returned as it is.
func (o *Options) Run(ctx context.Context, c *command.Command, inv *command.Invocation, r *trace.Reader) (*explore.Replayed, error) {
	halt, err := o.halt(c, r)
	if err == nil {
		err = explore.Debuggable()
	}
	if err != nil {
		return nil, err
	}
	inv.Status.Phase("building for a debugger")
	config, _ := explore.Again("", &r.Header)
	config.Progress = inv.Status.Detail
	build, without, err := explore.NewDebugged(ctx, config, inv.Environment, r)
	if err != nil {
		return nil, err
	}
	defer build.Close()
	if without.Parting != nil {
		return without, nil
	}
	inv.Status.Phase("replaying")
	program := build.Programs[0]
	session, err := o.start(ctx, inv, program, r, &halt)
	if err != nil {
		return nil, err
	}
	again, err := program.Debug(session.ctx, r, &explore.Halt{Halt: halt, Reached: session.reached, Output: inv.Stderr})
	ended := session.end()
	switch died := new(*explore.DeathError); {
	case errors.As(ended, new(*command.Interruption)):
		return nil, ended
	case ended != nil:
		return nil, fmt.Errorf("the debugger: %w", ended)
	case errors.As(err, died):
		fmt.Fprintln(inv.Stderr, "cofferdam: the program was ended before the end of the run")
		return nil, nil
	}
	return again, err
}

// A session is one debugger's, or waits for one to come.
type session struct {
	ctx     context.Context
	cancel  context.CancelCauseFunc
	inv     *command.Invocation
	program string   // the file
	delve   string   // the command, "" if there is none
	args    []string // of dlv, behind attach, the process and the program
	dir     string   // of the script
	place   string   // where the run waits, in words
	over    chan error
}

// start makes a session for a program that is about to be run.
func (o *Options) start(ctx context.Context, inv *command.Invocation, program *explore.Program, r *trace.Reader, halt *wire.Halt) (*session, error) {
	s := &session{inv: inv, program: program.Path, place: fmt.Sprintf("preemption %d is about to be made", halt.Preemption)}
	if halt.Preemption == 0 {
		step, err := explore.StepAt(r, halt.Events[0])
		if err != nil {
			return nil, err
		}
		s.place = step.String()
		if worst := r.Outcome.Worst(); o.At == "failure" {
			s.place = fmt.Sprintf("step %d, goroutine %d: %s", step.Number, step.Goroutine, worst)
		}
	}
	s.ctx, s.cancel = context.WithCancelCause(ctx)
	var err error
	if s.delve, err = exec.LookPath("dlv"); err != nil {
		fmt.Fprintf(inv.Stderr, "cofferdam: there is no dlv on the PATH; to have it: %s\n", installDelve)
		return s, nil
	}
	if o.Listen != "" {
		s.args = []string{"--headless", "--api-version", "2", "--listen", o.Listen}
		return s, nil
	}
	if s.dir, err = scratch.Dir(); err != nil {
		return nil, err
	}
	script, commands := filepath.Join(s.dir, "here.star"), filepath.Join(s.dir, "init")
	text := fmt.Sprintf("own = [%s]\n\n%s", strings.Join(ownFunctions(r), ", "), ownFrame)
	if err = os.WriteFile(script, []byte(text), 0o600); err == nil {
		err = os.WriteFile(commands, []byte("source "+script+"\n"), 0o600)
	}
	s.args = []string{"--init", commands, "--allow-non-terminal-interactive=true"}
	return s, err
}

// ownFunctions are what the names of the program's functions begin with, in quotes. In the name of
// a function the last element of its package's path has no dots.
func ownFunctions(r *trace.Reader) []string {
	all := []string{`"main."`}
	for _, path := range r.Header.Own {
		dir, name := filepath.Split(path)
		all = append(all, strconv.Quote(dir+strings.ReplaceAll(name, ".", "%2e")+"."))
	}
	return all
}

// reached is called when the run waits for the debugger.
func (s *session) reached(pid int) {
	s.inv.Status.Close()
	fmt.Fprintf(s.inv.Stderr, "cofferdam: stopped: %s\n", s.place)
	if s.delve == "" {
		fmt.Fprintf(s.inv.Stderr, "cofferdam: process %d waits for a debugger. Attach one, and continue in it:\n  dlv attach %d %s\n", pid, pid, s.program)
		return
	}
	cmd := exec.CommandContext(s.ctx, s.delve, append([]string{"attach", strconv.Itoa(pid), s.program}, s.args...)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = s.inv.Inherited.Stdin, s.inv.Inherited.Stdout, s.inv.Inherited.Stderr
	// In a debugger an interrupt stops the program, to look at it. It goes to both processes.
	s.inv.Signals.To(func(os.Signal) {})
	s.over = make(chan error, 1)
	if err := cmd.Start(); err != nil {
		s.over <- err
		s.cancel(err)
		return
	}
	go func() {
		// A debugger that detaches lets the run go on to its end.
		err := cmd.Wait()
		s.inv.Signals.To(nil)
		if err != nil {
			s.cancel(err)
		}
		s.over <- err
	}()
}

// end ends a session whose program has ended: a debugger that is still there is left to the
// user. It returns what the debugger failed with.
func (s *session) end() error {
	var err error
	if s.over != nil {
		err = <-s.over
	}
	if s.dir != "" {
		err = errors.Join(err, scratch.Remove(s.dir))
	}
	if cause := context.Cause(s.ctx); err == nil && cause != nil {
		err = cause
	}
	s.cancel(nil)
	return err
}
