//go:build unix

package explore

import (
	"os"
	"os/exec"
	"syscall"

	"github.com/cofferdam-go/cofferdam/internal/wire"
)

// endWithStacks ends a program, which prints the stacks of its goroutines.
func endWithStacks(p *os.Process) error { return p.Signal(syscall.SIGQUIT) }

// keepInterruptsFrom has an interrupt at the terminal be for the tool alone, which ends the
// program when it has understood.
func keepInterruptsFrom(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// give has a program inherit its ends of the pipes and the file of a ring, if there is one,
// and returns what tells it their numbers.
func give(cmd *exec.Cmd, orders, reports, events *os.File) string {
	cmd.ExtraFiles = []*os.File{orders, reports}
	pipes := wire.Pipes{Orders: 3, Reports: 4} // the first behind standard error
	if events != nil {
		cmd.ExtraFiles = append(cmd.ExtraFiles, events)
		pipes.Events = 5
	}
	return pipes.String()
}
