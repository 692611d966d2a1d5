package explore

import (
	"os"
	"os/exec"
	"syscall"

	"github.com/cofferdam-go/cofferdam/internal/wire"
)

// endWithStacks ends a program. Windows has no signal by which it would print the stacks of
// its goroutines.
func endWithStacks(p *os.Process) error { return p.Kill() }

// keepInterruptsFrom has an interrupt at the terminal be for the tool alone, which ends the
// program when it has understood.
func keepInterruptsFrom(cmd *exec.Cmd) {
	attributes(cmd).CreationFlags |= syscall.CREATE_NEW_PROCESS_GROUP
}

// give has a program inherit its ends of the pipes and the file of a ring, if there is one,
// and returns what tells it their numbers. Handles keep their numbers; that they can be
// inherited is a property of each.
func give(cmd *exec.Cmd, orders, reports, events *os.File) string {
	pipes := wire.Pipes{Orders: orders.Fd(), Reports: reports.Fd()}
	if events != nil {
		pipes.Events = events.Fd()
	}
	for _, fd := range []uintptr{pipes.Orders, pipes.Reports, pipes.Events} {
		if fd == 0 {
			continue
		}
		handle := syscall.Handle(fd)
		if err := syscall.SetHandleInformation(handle, syscall.HANDLE_FLAG_INHERIT, syscall.HANDLE_FLAG_INHERIT); err == nil {
			attributes(cmd).AdditionalInheritedHandles = append(attributes(cmd).AdditionalInheritedHandles, handle)
		}
	}
	return pipes.String()
}

func attributes(cmd *exec.Cmd) *syscall.SysProcAttr {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	return cmd.SysProcAttr
}
