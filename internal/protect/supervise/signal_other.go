//go:build !unix

package supervise

import (
	"os"
	"syscall"
)

// signal sends a signal to a process of the program, as far as there are signals: Windows
// can only end a process.
func signal(pid int, s syscall.Signal) {
	p, err := os.FindProcess(pid)
	if err != nil {
		return // it has ended
	}
	if p.Signal(s) != nil {
		_ = p.Kill() // it may have ended
	}
	_ = p.Release() // nothing is lost if that fails
}
