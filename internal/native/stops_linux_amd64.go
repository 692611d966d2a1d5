package native

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"
)

// Why threads that are followed stop.

// wait waits until a thread stops, ends, or waits itself, and is stopped then.
func (f *follower) wait(t *followed) (status syscall.WaitStatus, why stop, err error) {
	if f.ended || t.over {
		return 0, finished, nil
	}
	asleep, call := 0, ""
	for looks := 0; ; looks++ {
		n, err := syscall.Wait4(t.tid, &status, syscall.WALL|syscall.WNOHANG, nil)
		switch {
		case err == syscall.EINTR:
			continue
		case err != nil:
			return 0, finished, ended(err, f)
		case n == t.tid:
			return status, arrived, nil
		case looks < quickLooks:
			syscall.RawSyscall(syscall.SYS_SCHED_YIELD, 0, 0, 0)
			continue
		}
		if now := f.sleepingIn(t); now == "" || now != call {
			asleep, call = 0, now
		} else if asleep++; asleep >= sleepLooks {
			return f.halt(t)
		}
		time.Sleep(lookInterval)
	}
}

// sleepingIn is the system call that a thread sleeps in, "" if it does not.
func (f *follower) sleepingIn(t *followed) string {
	dir := fmt.Sprintf("/proc/%d/task/%d/", f.tracee.pid, t.tid)
	stat, err := os.ReadFile(dir + "stat")
	if err != nil {
		return ""
	}
	_, rest, ok := strings.Cut(string(stat), ") ")
	if !ok || rest[0] != 'S' {
		return ""
	}
	call, err := os.ReadFile(dir + "syscall")
	if err != nil || strings.HasPrefix(string(call), "running") {
		return "unknown"
	}
	return string(call)
}

// halt stops a thread that waits. It may have come to something else before the signal does,
// which then comes when it goes on.
func (f *follower) halt(t *followed) (status syscall.WaitStatus, why stop, err error) {
	if _, _, errno := syscall.RawSyscall(syscall.SYS_TGKILL, uintptr(f.tracee.pid), uintptr(t.tid), uintptr(syscall.SIGSTOP)); errno != 0 {
		return 0, finished, ended(errno, f)
	}
	t.stopping = true
	if status, err = f.stopped(t.tid); err != nil || f.ended {
		return 0, finished, err
	}
	if !status.Stopped() || status.StopSignal() != syscall.SIGSTOP {
		return status, arrived, nil
	}
	t.stopping = false
	return status, waits, nil
}

// stopped waits for a thread that is about to stop, or to end.
func (f *follower) stopped(tid int) (status syscall.WaitStatus, err error) {
	for {
		if _, err = syscall.Wait4(tid, &status, syscall.WALL, nil); err != syscall.EINTR {
			return status, ended(err, f)
		}
	}
}

// handle takes note of why a thread stopped. It returns the breakpoint that it came to, 0 if
// it is none.
func (f *follower) handle(t *followed, status syscall.WaitStatus) (place uint64, err error) {
	switch {
	case status.Signaled():
		f.ended, f.killer, t.over = true, status.Signal(), true
		return 0, nil
	case status.Exited():
		t.over = true
		f.ended = f.ended || t.tid == f.tracee.pid
		return 0, nil
	}
	switch sig := status.StopSignal(); {
	case sig == syscall.SIGTRAP && status.TrapCause() == syscall.PTRACE_EVENT_CLONE:
		return 0, f.cloned(t)
	case sig == syscall.SIGTRAP && status.TrapCause() > 0:
		return 0, nil
	case sig == syscall.SIGTRAP:
		return f.trapped(t)
	case sig == syscall.SIGSTOP && t.stopping:
		t.stopping = false
	default:
		t.signal = int(sig)
	}
	return 0, nil
}

// cloned makes the thread known that another has created, and is stopped.
func (f *follower) cloned(t *followed) error {
	tid, err := syscall.PtraceGetEventMsg(t.tid)
	if err != nil {
		return fmt.Errorf("following a new thread: %w", err)
	}
	if _, err := f.stopped(int(tid)); err != nil {
		return fmt.Errorf("following a new thread: %w", err)
	}
	f.threads = append(f.threads, &followed{tid: int(tid)})
	return nil
}

// trapped is a thread that has executed a breakpoint: it stands in front of what that has
// replaced.
func (f *follower) trapped(t *followed) (place uint64, err error) {
	var regs syscall.PtraceRegs
	if err := syscall.PtraceGetRegs(t.tid, &regs); err != nil {
		return 0, fmt.Errorf("following a thread: %w", err)
	}
	at := regs.Rip - 1
	if _, ok := f.original[at]; !ok {
		t.signal = int(syscall.SIGTRAP) // the program's own
		return 0, nil
	}
	regs.Rip = at
	if err := syscall.PtraceSetRegs(t.tid, &regs); err != nil {
		return 0, fmt.Errorf("following a thread: %w", err)
	}
	if t.counts == nil {
		t.counts = map[uint64]int{}
	}
	t.counts[at]++
	t.standing = at
	return at, nil
}
