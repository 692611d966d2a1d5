//go:build linux && amd64

package interrupt

import (
	"fmt"
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
	return rtSigaction(syscall.SIGURG, &sigaction{
		handler: handlerPC(), flags: siginfo | onstack | restart | restorer, restorer: restorerPC(), mask: ^uint64(0),
	}, nil)
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
func restorerPC() uintptr
