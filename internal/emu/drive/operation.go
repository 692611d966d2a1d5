package drive

import (
	"github.com/cofferdam-go/cofferdam/internal/emu/cpu"
	"github.com/cofferdam-go/cofferdam/internal/emu/linux"
	"github.com/cofferdam-go/cofferdam/internal/event"
)

// kernel is the address that stands for what system calls have in common: two of them
// depend on each other. No program has anything there.
const kernel = 8

// meeting are the system calls by which threads meet, besides futex: those that give what
// another can take, or end something.
var meeting = map[string]bool{
	"clone": true, "clone3": true, "exit": true, "exit_group": true, "kill": true, "tkill": true, "tgkill": true,
	"read": true, "write": true, "readv": true, "writev": true, "pread64": true, "pwrite64": true, "close": true, "poll": true, "ppoll": true, "select": true, "pselect6": true,
	"pause": true, "rt_sigsuspend": true, "rt_sigtimedwait": true, "nanosleep": true, "clock_nanosleep": true,
	"open": true, "openat": true, "unlink": true, "unlinkat": true, "rename": true, "renameat": true, "renameat2": true, "mkdir": true, "rmdir": true, "ftruncate": true, "lseek": true,
	"connect": true, "accept": true, "accept4": true, "sendto": true, "recvfrom": true, "sendmsg": true, "recvmsg": true, "shutdown": true, "listen": true,
	"epoll_wait": true, "epoll_pwait": true, "epoll_ctl": true,
	"fork": true, "vfork": true, "wait4": true, "waitid": true,
}

// call returns the operation that the system call of a thread is, and whether it is a
// visible one.
func call(t *linux.Thread) (event.Op, bool) {
	name, args := t.Call()
	site := cpu.SiteOf(t.CPU.PC - 2)
	op := event.Op{Kind: event.Outside, G: t.Number, Site: site, Addr: kernel, Size: 8}
	switch {
	case name == "futex":
		return event.Op{Kind: event.AtomicUpdate, G: t.Number, Site: site, Addr: uintptr(args[0]), Size: 4}, true
	case name == "sched_yield":
		return event.Op{Kind: event.Gosched, G: t.Number, Site: site, Yield: true, Round: event.LongRound}, true
	case name == "exit_group":
		op.Kind = event.Exit
	case name == "nanosleep" || name == "clock_nanosleep":
		op.Kind, op.Addr, op.Size = event.Sleep, 0, 0
	case name == "clone" || name == "clone3":
		op.Kind = event.Go
	default:
		op.Kind = event.AtomicUpdate
	}
	return op, meeting[name]
}

// patience is how often a thread may look at the same places, and change nothing, before
// it is taken to wait for another.
const patience = 9

// A watcher notices threads that wait by looking again and again.
type watcher struct {
	sites []uint32
	times []int
}

// looks has an operation yield that is one look too many.
func (w *watcher) looks(op *event.Op) {
	if w.tooMany(op) {
		op.Yield, op.Round = true, event.LongRound
	}
}

// tooMany takes note of an operation, and reports whether it is one look too many.
func (w *watcher) tooMany(op *event.Op) bool {
	if !op.Kind.IsRead() {
		if op.Kind != event.AtomicCompare {
			w.sites, w.times = w.sites[:0], w.times[:0]
			return false
		}
	}
	for i, s := range w.sites {
		if s == op.Site {
			w.times[i]++
			return w.times[i] > patience
		}
	}
	w.sites, w.times = append(w.sites, op.Site), append(w.times, 1)
	return false
}
