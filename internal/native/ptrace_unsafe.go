//go:build linux && amd64

package native

import (
	"fmt"
	"syscall"
	"unsafe"
)

const (
	ptraceGetFPRegs = 14
	ptraceSetFPRegs = 15
)

// fxState gets or sets the state of x87 and SSE, for which package syscall has nothing.
func fxState(pid, request int, fx *[512]byte) error {
	_, _, errno := syscall.Syscall6(syscall.SYS_PTRACE, uintptr(request), uintptr(pid), 0, uintptr(unsafe.Pointer(fx)), 0, 0)
	if errno != 0 {
		return fmt.Errorf("the vector registers of the traced process: %w", errno)
	}
	return nil
}
