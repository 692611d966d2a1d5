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

// give has a program inherit its ends of the pipes, and returns what tells it their numbers.
func give(cmd *exec.Cmd, orders, reports *os.File) string {
	cmd.ExtraFiles = []*os.File{orders, reports}
	return wire.Pipes{Orders: 3, Reports: 4}.String() // the first behind standard error
}
