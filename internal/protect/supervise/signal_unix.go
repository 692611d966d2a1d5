//go:build unix

package supervise

import "syscall"

// signal sends a signal to a process of the program. The number of one that has ended may be
// another one's by now.
func signal(pid int, s syscall.Signal) {
	if group, err := syscall.Getpgid(pid); err == nil && group == syscall.Getpgrp() {
		_ = syscall.Kill(pid, s) // it may have ended
	}
}
