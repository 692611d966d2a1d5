package binfix

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/emu/drive"
	"github.com/cofferdam-go/cofferdam/internal/emu/linux"
	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/trace"
	"github.com/cofferdam-go/cofferdam/internal/x86"
)

// A Proof is what a patch has stood.
type Proof struct {
	// Schedules were tried in the emulator. Complete: they are all with at most Bound
	// preemptions; otherwise they were chosen by PCT.
	Schedules uint64 `json:"schedules"`
	Complete  bool   `json:"complete"`
	Bound     int    `json:"bound"`
	// Saturated is how many of the last schedules showed nothing new, if the search by PCT
	// ended because of that.
	Saturated uint64 `json:"saturated,omitempty"`
	// Outside: child processes or connections did what they did, in one order of many.
	Outside bool `json:"outside,omitempty"`
	// Cut are the runs that were cut off because they were too long.
	Cut     int           `json:"cut,omitempty"`
	Elapsed time.Duration `json:"elapsed_ns"`
	// Native is how often the patched program was run on the processor; Skipped says why it
	// was not.
	Native  int    `json:"native"`
	Skipped string `json:"skipped,omitempty"`
}

const (
	bound = 2
	// nativeWithin is how long a native run may take.
	nativeWithin = 20 * time.Second
)

// prove tries a candidate. Its Reason says why it is no fix; the error is of the tools.
func (f *fixer) prove(ctx context.Context, c *Candidate) error {
	start := time.Now()
	file := filepath.Join(f.Temp, "fix.so")
	binary := f.Binary
	if f.Copy {
		file = filepath.Join(f.Temp, filepath.Base(binary.Path))
		binary.Path = file
	} else {
		binary.Env = withPreload(binary.Env, file)
	}
	if err := os.WriteFile(file, c.File, 0o755); err != nil {
		return err
	}
	patched, err := drive.Load(binary, f.Steps)
	if err != nil {
		return err
	}
	if err := f.requirePatched(patched, c); err != nil {
		return err
	}
	if err := f.emulated(ctx, patched, c); err != nil || c.Reason != "" {
		return err
	}
	c.Proof.Elapsed = time.Since(start)
	return f.native(ctx, &binary, c)
}

// withPreload has the dynamic linker load a file first.
func withPreload(env []string, file string) []string {
	const name = "LD_PRELOAD="
	var all []string
	for _, v := range env {
		if before, ok := strings.CutPrefix(v, name); ok {
			file += ":" + before
		} else {
			all = append(all, v)
		}
	}
	return append(all, name+file)
}

// requirePatched makes sure that the program was patched: what was not would prove nothing. It has
// runs judged by whether a thread gave up waiting for the lock.
func (f *fixer) requirePatched(patched *drive.Program, c *Candidate) error {
	process := patched.Process()
	at := process.Program().Base + c.Patch.Entry()
	overwritten := make([]byte, 5)
	process.Mem.ReadAt(overwritten, at)
	timeouts := c.Patch.Timeouts(at, overwritten)
	const breakpoint = 0xcc
	if timeouts == 0 && (c.Patch.Traps() < c.Patch.Entries() || overwritten[0] != breakpoint) {
		return errors.New("the patch was not applied in the emulator: the program does not load what LD_PRELOAD says; try -copy")
	}
	if timeouts != 0 {
		patched.Hide(c.Patch.HeldState(timeouts))
	}
	patched.Judge(func(p *linux.Process) string {
		var count [4]byte
		if timeouts != 0 && p.Mem.ReadAt(count[:], timeouts) && binary.LittleEndian.Uint32(count[:]) != 0 {
			return "a thread waits for the sections' lock for a second"
		}
		return ""
	})
	return nil
}

// emulated tries schedules of the patched program.
func (f *fixer) emulated(ctx context.Context, patched *drive.Program, c *Candidate) error {
	failure, err := patched.Try(f.result.Schedule)
	if err != nil {
		return err
	}
	if failure != nil {
		c.fails = true
		c.Reason = "by the schedule that failed it still fails: " + failure.Message + f.whyAborted(c, failure)
		return nil
	}
	f.Progress("trying all schedules of the patched program", "")
	o := f.Search
	o.Method, o.Preemptions, o.Budget, o.Runs = sched.MethodDFS, bound, f.Proof, f.Schedules
	o.Seed++
	done, err := patched.Explore(ctx, &o)
	if err != nil {
		return err
	}
	c.Proof.Schedules, c.Proof.Bound = uint64(done.Runs), bound
	// A search that has nothing left to try has tried all only if every run came to its end.
	c.Proof.Complete = done.Search.Exhausted && done.Cut == 0 && done.Search.Diverged == 0
	if done.Outcome == nil && !c.Proof.Complete {
		o.Method, o.Budget = sched.MethodPCT, time.Until(f.Until)
		f.Progress("trying schedules of the patched program by chance", "")
		if done, err = patched.Explore(ctx, &o); err != nil {
			return err
		}
		c.Proof.Schedules, c.Proof.Cut, c.Proof.Saturated = c.Proof.Schedules+uint64(done.Runs), done.Cut, done.Search.Saturated
		if done.Outcome == nil && done.Runs < f.Schedules && !done.Search.Exhausted && done.Search.Saturated == 0 {
			c.Reason = fmt.Sprintf("there was time for %d schedules of the patched program only: give more with -budget", done.Runs)
			return nil
		}
	}
	c.Proof.Outside = done.Search.Held.Outside
	if done.Outcome != nil {
		c.fails = true
		c.Reason = "the patched program fails: " + worst(done.Outcome) + f.whyAborted(c, done.Outcome.Worst())
	}
	return nil
}

// whyAborted says, of a patched program that aborts and whose sections call what may throw,
// that an exception cannot leave a section of a patched copy: no library is told of tables for
// unwinding its sections.
func (f *fixer) whyAborted(c *Candidate, failure *trace.Failure) string {
	im := f.result.Image
	if !f.Copy || failure.Cause != event.Aborted || !im.Imports("__cxa_throw") && !im.Imports("_Unwind_Resume") {
		return ""
	}
	for _, s := range c.Sections {
		for _, pc := range s.Instructions {
			var in x86.Inst
			if im.Decode(pc+im.Base, &in) && in.Op == x86.CALL {
				c.mayThrow = true
				return " (a section calls code that may throw an exception, which cannot leave a section of a patched copy: of a dynamic program, have a shared object made, without -copy)"
			}
		}
	}
	return ""
}

func worst(o *trace.Outcome) string {
	w := o.Worst()
	return w.Kind.String() + ", " + w.Message
}

// native runs the patched program on the processor.
func (f *fixer) native(ctx context.Context, b *trace.Binary, c *Candidate) error {
	f.Progress("running the patched program on the processor", "")
	for i := range f.Native {
		if err := ctx.Err(); err != nil {
			return err
		}
		f.Progress("running the patched program on the processor", fmt.Sprintf("%d of %d", i+1, f.Native))
		limited, cancel := context.WithTimeout(ctx, nativeWithin)
		cmd := exec.CommandContext(limited, b.Path)
		cmd.Args, cmd.Env, cmd.Dir, cmd.Stdin = b.Args, b.Env, b.Dir, strings.NewReader(string(b.Input))
		out, err := cmd.CombinedOutput()
		late := limited.Err() == context.DeadlineExceeded
		cancel()
		var exit *exec.ExitError
		switch {
		case late:
			c.Reason = fmt.Sprintf("run %d of the patched program on the processor did not end within %v", i+1, nativeWithin)
			return nil
		case errors.As(err, &exit):
			if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
				c.Reason = fmt.Sprintf("run %d of the patched program on the processor was killed: %v", i+1, status.Signal())
				return nil
			}
		case err != nil:
			c.Proof.Skipped = fmt.Sprintf("the program cannot be run here: %v", err)
			return nil
		}
		if strings.Contains(string(out), "for a section that was added") {
			c.Reason = fmt.Sprintf("in run %d of the patched program on the processor a thread waited a second for the lock", i+1)
			return nil
		}
		c.Proof.Native++
	}
	return nil
}
