//go:build unix

package drive

import (
	"syscall"

	"github.com/cofferdam-go/cofferdam/internal/wire"
)

// keepFromPrograms keeps the pipes from the programs that this one starts: one that outlives it
// would leave the tool waiting for a report.
func keepFromPrograms(pipes wire.Pipes) {
	syscall.CloseOnExec(int(pipes.Orders))
	syscall.CloseOnExec(int(pipes.Reports))
	if pipes.Events != 0 {
		syscall.CloseOnExec(int(pipes.Events))
	}
}
