package files

import (
	"errors"
	"io/fs"

	"github.com/cofferdam-go/cofferdam/internal/emu/abi"
)

// hostErrno is the error of an operation on the host's files.
func hostErrno(err error) abi.Errno {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return abi.ENOENT
	case errors.Is(err, fs.ErrPermission):
		return abi.EACCES
	default:
		// What is looked up below a file.
		return abi.ENOTDIR
	}
}
