package native

import (
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// followWithin is how long a process is followed: it is killed then, whatever it is at. A
// thread that comes to a breakpoint does so at once, mostly, and is looked for a few times
// before its sleep is looked at. It is taken to wait if it sleeps in the same system call at
// so many looks, one after each interval.
const (
	followWithin = 20 * time.Second
	quickLooks   = 40
	sleepLooks   = 5
	lookInterval = 200 * time.Microsecond
)

// Follow runs a program under ptrace, one thread at a time, in the order of a route.
//
// Threads stop at breakpoints. All but one are stopped at any time: one that waits in the
// kernel is stopped there, and makes its system call again when it goes on, which finds what
// has changed meanwhile.
func Follow(l *Launched, route *Route) (*Followed, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd := exec.Command(l.Path)
	cmd.Args, cmd.Env, cmd.Dir = l.Args, l.Env, l.Dir
	if l.Stdin != nil {
		cmd.Stdin = l.Stdin
	}
	tracee, err := Launch(cmd)
	if err != nil {
		return nil, err
	}
	f := &follower{tracee: tracee, threads: []*followed{{tid: tracee.pid}}, original: map[uint64]byte{}}
	defer f.kill()
	late := time.AfterFunc(followWithin, func() {
		f.late.Store(true)
		tracee.cmd.Process.Kill()
	})
	defer late.Stop()
	if err := f.prepare(l.Path, route); err != nil {
		return nil, err
	}
	return f.follow(route)
}

// A follower has the threads of a process follow a route.
type follower struct {
	tracee   *Tracee
	threads  []*followed // by number, from 1
	base     uint64
	original map[uint64]byte // what breakpoints have replaced
	late     atomic.Bool     // the time was up, and the process was killed
	killer   syscall.Signal  // that ended the process
	ended    bool
}

// A followed thread.
type followed struct {
	tid      int
	over     bool // it has ended
	standing uint64
	counts   map[uint64]int
	signal   int  // to be delivered when it goes on
	stopping bool // it was sent SIGSTOP, and has not stopped by it yet
}

func (f *follower) kill() {
	f.tracee.cmd.Process.Kill()
	if f.tracee.mem != nil {
		f.tracee.mem.Close()
	}
	// The first thread is the last that can be waited for.
	for i := len(f.threads) - 1; i >= 0; i-- {
		var status syscall.WaitStatus
		for tid := f.threads[i].tid; ; {
			if _, err := syscall.Wait4(tid, &status, syscall.WALL, nil); err != nil && err != syscall.EINTR || status.Exited() || status.Signaled() {
				break
			}
		}
	}
}

// prepare asks to be told of threads and sets breakpoints.
func (f *follower) prepare(path string, route *Route) error {
	const exitKill = 1 << 20
	if err := syscall.PtraceSetOptions(f.tracee.pid, exitKill|syscall.PTRACE_O_TRACECLONE); err != nil {
		return fmt.Errorf("%w: %v", ErrRefused, err)
	}
	base, err := loadedAt(f.tracee.pid, path)
	if err != nil {
		return err
	}
	f.base = base
	places := []uint64{route.At}
	for _, leg := range route.Legs {
		places = append(places, leg.At)
	}
	for _, at := range places {
		if at == 0 || f.original[at+base] != 0 {
			continue
		}
		var b [1]byte
		if err := f.tracee.Read(b[:], at+base); err != nil {
			return err
		}
		f.original[at+base] = b[0]
		if err := f.tracee.Write([]byte{breakpoint}, at+base); err != nil {
			return err
		}
	}
	return nil
}

const breakpoint = 0xcc

// loadedAt is what the addresses of a program's file are moved by in a process.
func loadedAt(pid int, path string) (uint64, error) {
	file, err := elf.Open(path)
	if err != nil {
		return 0, fmt.Errorf("following %s: %w", path, err)
	}
	defer file.Close()
	if file.Type == elf.ET_EXEC {
		return 0, nil
	}
	resolved, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil {
		return 0, fmt.Errorf("following %s: %w", path, err)
	}
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return 0, fmt.Errorf("following %s: %w", path, err)
	}
	for line := range strings.Lines(string(maps)) {
		var start, end uint64
		if _, err := fmt.Sscanf(line, "%x-%x", &start, &end); err == nil && strings.HasSuffix(strings.TrimSpace(line), resolved) {
			return start, nil
		}
	}
	return 0, fmt.Errorf("following %s: it is not mapped", path)
}

// stop is why a thread stopped.
type stop uint8

const (
	arrived stop = iota // where it was to stop
	waits
	finished // the thread, or the process
)

func (f *follower) follow(route *Route) (*Followed, error) {
	result := &Followed{}
	for _, leg := range route.Legs {
		t := f.thread(leg.Thread)
		if t == nil || t.over || f.ended {
			result.Why = fmt.Sprintf("thread %d is not there when it should go on", leg.Thread)
			return result, nil
		}
		why, err := f.run(t, leg.At, leg.Count)
		if err != nil {
			return nil, err
		}
		if f.late.Load() {
			result.Why = fmt.Sprintf("there was no time to follow it within %v", followWithin)
			return result, nil
		}
		if leg.At != 0 && why != arrived {
			result.Why = leg.missed()
			result.Signal = f.signalName()
			return result, nil
		}
		result.Legs++
	}
	err := f.last(route, result)
	if f.late.Load() && err == nil {
		result = &Followed{Legs: result.Legs, Why: fmt.Sprintf("it did not fail within %v", followWithin)}
	}
	return result, err
}

// last has the failing thread go on until the program fails, or sees that no thread can.
func (f *follower) last(route *Route, result *Followed) error {
	if route.Failing == 0 {
		for i := 0; i < len(f.threads); i++ {
			if t := f.threads[i]; !t.over && !f.ended {
				if why, err := f.run(t, 0, 0); err != nil || why != waits {
					return err
				}
			}
		}
		result.Deadlock = !f.ended
		return nil
	}
	t := f.thread(route.Failing)
	if t == nil || t.over || f.ended {
		result.Why = fmt.Sprintf("thread %d is not there when it should fail", route.Failing)
		return nil
	}
	if route.At != 0 {
		switch {
		case t.standing == route.At+f.base && t.counts[t.standing] == route.Count:
			result.Reached = true
		default:
			why, err := f.run(t, route.At, route.Count)
			if err != nil {
				return err
			}
			result.Reached = why == arrived
		}
	}
	if !f.ended && !t.over {
		if _, err := f.run(t, 0, 0); err != nil {
			return err
		}
	}
	result.Signal = f.signalName()
	return nil
}

func (f *follower) signalName() string {
	if f.killer == 0 {
		return ""
	}
	return signalNames[f.killer]
}

var signalNames = map[syscall.Signal]string{
	syscall.SIGSEGV: "SIGSEGV", syscall.SIGBUS: "SIGBUS", syscall.SIGABRT: "SIGABRT", syscall.SIGILL: "SIGILL", syscall.SIGTRAP: "SIGTRAP", syscall.SIGFPE: "SIGFPE",
}

func (f *follower) thread(n uint32) *followed {
	if n == 0 || int(n) > len(f.threads) {
		return nil
	}
	return f.threads[n-1]
}

// run has a thread go on until it comes to an instruction for the count-th time, waits or
// ends.
func (f *follower) run(t *followed, at uint64, count int) (stop, error) {
	for {
		if err := f.resume(t); err != nil {
			return finished, err
		}
		status, why, err := f.wait(t)
		if err != nil || why != arrived {
			return why, err
		}
		place, err := f.handle(t, status)
		if err != nil {
			return finished, err
		}
		if t.over || f.ended {
			return finished, nil
		}
		if place != 0 && at != 0 && place == at+f.base && t.counts[place] == count {
			return arrived, nil
		}
	}
}

// resume lets a thread go on. What a breakpoint has replaced is executed first.
func (f *follower) resume(t *followed) error {
	signal := t.signal
	t.signal = 0
	if t.standing == 0 {
		return ended(syscall.PtraceCont(t.tid, signal), f)
	}
	at := t.standing
	t.standing = 0
	if err := f.tracee.Write([]byte{f.original[at]}, at); err != nil {
		return ended(err, f)
	}
	if err := f.stepOver(t, at); err != nil || t.over || f.ended {
		return err
	}
	if err := f.tracee.Write([]byte{breakpoint}, at); err != nil {
		return ended(err, f)
	}
	again := t.signal
	t.signal = 0
	return ended(syscall.PtraceCont(t.tid, again), f)
}

// stepOver has a thread execute the instruction that it stands at. A SIGSTOP that was sent to
// it comes first, and then nothing is executed: that is tried again. Of any other signal the
// thread stands there still, or comes back there, and is counted anew.
func (f *follower) stepOver(t *followed, at uint64) error {
	for {
		if err := syscall.PtraceSingleStep(t.tid); err != nil {
			return ended(err, f)
		}
		status, err := f.stopped(t.tid)
		if err != nil || f.ended {
			return err
		}
		if status.Stopped() && status.StopSignal() == syscall.SIGTRAP && status.TrapCause() <= 0 {
			return nil
		}
		stopped := t.stopping
		if _, err := f.handle(t, status); err != nil || t.over || f.ended {
			return err
		}
		if stopped && !t.stopping {
			continue
		}
		var regs syscall.PtraceRegs
		if err := syscall.PtraceGetRegs(t.tid, &regs); err != nil {
			return ended(err, f)
		}
		if regs.Rip == at {
			t.counts[at]--
		}
		return nil
	}
}

// ended takes it for the end of the process that a thread is not there any more.
func ended(err error, f *follower) error {
	if err == syscall.ESRCH || err == syscall.ECHILD || err == syscall.EIO {
		f.ended = true
		return nil
	}
	return err
}
