//go:build linux && amd64

package interrupt

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"unsafe"
)

type sigaction struct {
	handler  uintptr
	flags    uint64
	restorer uintptr
	mask     uint64
}

const (
	siginfo  = 0x4
	onstack  = 0x08000000
	restart  = 0x10000000
	restorer = 0x04000000
	ignored  = 1 // SIG_IGN; SIG_DFL is 0
)

var errForeign = errors.New("a signal handler is not the Go runtime's")

// install puts the handler before the runtime's. It does so again if os/signal has had the
// runtime install its own anew, or none: a program that ignores the signal, which takes the
// runtime's requests for preemption from it, still has a sandbox.
func install() error {
	var old, fault sigaction
	if err := rtSigaction(syscall.SIGURG, nil, &old); err != nil {
		return err
	}
	if old.handler == handlerPC() {
		return nil
	}
	if err := rtSigaction(syscall.SIGSEGV, nil, &fault); err != nil {
		return err
	}
	if old.handler == ignored {
		old = sigaction{flags: onstack | siginfo}
	} else if old.handler == 0 {
		return errForeign
	}
	for _, a := range []sigaction{old, fault} {
		if a.handler == ignored || a.flags&onstack == 0 || a.flags&siginfo == 0 {
			return errForeign
		}
	}
	control.preempt, control.fault = old.handler, fault.handler
	if err := installStepped(); err != nil {
		return err
	}
	return rtSigaction(syscall.SIGURG, ours(handlerPC()), nil)
}

// installStepped puts the handler of single steps before the runtime's. If that is not the
// runtime's, or the program's code is not found, no goroutine is stepped.
func installStepped() error {
	var old sigaction
	if err := rtSigaction(syscall.SIGTRAP, nil, &old); err != nil {
		return err
	}
	if old.handler == steppedPC() {
		return nil
	}
	control.textSize, control.clockSize = 0, 0
	if old.handler != control.fault {
		return nil
	}
	control.trap = old.handler
	if err := rtSigaction(syscall.SIGTRAP, ours(steppedPC()), nil); err != nil {
		return err
	}
	code := handlerPC()
	control.textFrom, control.textSize = mapped(func(from, to uintptr, _ string) bool { return from <= code && code < to })
	control.clockFrom, control.clockSize = mapped(func(_, _ uintptr, name string) bool { return name == "[vdso]" })
	return nil
}

// traced reports whether a debugger has attached to the process.
func traced() bool {
	status, err := os.ReadFile("/proc/self/status")
	_, tracer, found := strings.Cut(string(status), "\nTracerPid:\t")
	return err == nil && found && !strings.HasPrefix(tracer, "0\n")
}

// ours is how a handler of this package is installed.
func ours(handler uintptr) *sigaction {
	return &sigaction{handler: handler, flags: siginfo | onstack | restart | restorer, restorer: restorerPC(), mask: ^uint64(0)}
}

// mapped returns where the part of the program's memory begins that is looked for, and how large it
// is, 0 if that is not told.
func mapped(isIt func(from, to uintptr, name string) bool) (from, size uintptr) {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return 0, 0
	}
	for line := range strings.Lines(string(maps)) {
		var to uintptr
		fields := strings.Fields(line)
		if _, err := fmt.Sscanf(line, "%x-%x", &from, &to); err == nil && isIt(from, to, fields[len(fields)-1]) {
			return from, to - from
		}
	}
	return 0, 0
}

func rtSigaction(sig syscall.Signal, new, old *sigaction) error {
	_, _, errno := syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(sig), uintptr(unsafe.Pointer(new)), uintptr(unsafe.Pointer(old)), 8, 0, 0)
	if errno != 0 {
		return fmt.Errorf("sigaction %v: %w", sig, errno)
	}
	return nil
}

// Assembly; see the contracts there.
func handlerPC() uintptr
func steppedPC() uintptr
func restorerPC() uintptr
