package explore

import (
	"fmt"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// Limits are what a process of a program may take of its machine. The zero value limits nothing.
type Limits struct {
	// Memory is how many bytes of data it may have; 0 for any number.
	Memory uint64
	// NoNetwork has it see a network of its own, with nothing in it. Connections within the program
	// are not the machine's, and are there all the same.
	NoNetwork bool
}

// prepare says how a process is to be started.
func (l Limits) prepare(cmd *exec.Cmd) {
	if !l.NoNetwork {
		return
	}
	// A user namespace of its own lets anybody have a network of its own.
	cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWNET | syscall.CLONE_NEWUSER
	cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: syscall.Getuid(), HostID: syscall.Getuid(), Size: 1}}
	cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: syscall.Getgid(), HostID: syscall.Getgid(), Size: 1}}
}

// apply limits a process that has started and waits for its first order.
func (l Limits) apply(cmd *exec.Cmd) error {
	if l.Memory == 0 {
		return nil
	}
	limit := unix.Rlimit{Cur: l.Memory, Max: l.Memory}
	if err := unix.Prlimit(cmd.Process.Pid, unix.RLIMIT_DATA, &limit, nil); err != nil {
		return fmt.Errorf("limiting the memory of the program: %w", err)
	}
	return nil
}

// CheckLimits reports why the limits cannot be kept on this machine; nil if they can.
func CheckLimits(l Limits) error {
	cmd := exec.Command("/proc/self/exe", "version")
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	l.prepare(cmd)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("a network of its own is not allowed for a process here: %w", err)
	}
	err := l.apply(cmd)
	_ = cmd.Process.Kill()
	_ = cmd.Wait() // it was killed
	return err
}
