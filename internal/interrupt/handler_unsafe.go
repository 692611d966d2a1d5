//go:build linux && amd64

package interrupt

import (
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

// install puts the handler before the runtime's. It does so again if os/signal has had the
// runtime install its own anew.
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
	for _, a := range []sigaction{old, fault} {
		if a.handler <= ignored || a.flags&onstack == 0 || a.flags&siginfo == 0 {
			return fmt.Errorf("a signal handler is not the Go runtime's")
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
	control.textFrom, control.textTo = 0, 0
	if old.handler != control.fault {
		return nil
	}
	control.trap = old.handler
	if err := rtSigaction(syscall.SIGTRAP, ours(steppedPC()), nil); err != nil {
		return err
	}
	control.textFrom, control.textTo = text(handlerPC())
	return nil
}

// ours is how a handler of this package is installed.
func ours(handler uintptr) *sigaction {
	return &sigaction{handler: handler, flags: siginfo | onstack | restart | restorer, restorer: restorerPC(), mask: ^uint64(0)}
}

// text returns where the code is mapped that an address is in, nothing if that is not told.
func text(pc uintptr) (from, to uintptr) {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return 0, 0
	}
	for line := range strings.Lines(string(maps)) {
		if _, err := fmt.Sscanf(line, "%x-%x", &from, &to); err == nil && from <= pc && pc < to {
			return from, to
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
