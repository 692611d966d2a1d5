//go:build unix

package drive

import (
	"syscall"

	"github.com/cofferdam-go/cofferdam/internal/wire"
)

// closePipesOnExec keeps the pipes from the programs that this one starts: one that outlives it
// would leave the tool waiting for a report.
func closePipesOnExec() {
	syscall.CloseOnExec(wire.Orders)
	syscall.CloseOnExec(wire.Reports)
}
