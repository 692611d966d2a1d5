package linux

import (
	"errors"
	"io/fs"
)

// An errno is an error of a system call.
type errno uint64

const (
	EPERM        errno = 1
	ENOENT       errno = 2
	ESRCH        errno = 3
	EINTR        errno = 4
	EIO          errno = 5
	EBADF        errno = 9
	ECHILD       errno = 10
	EAGAIN       errno = 11
	ENOMEM       errno = 12
	EACCES       errno = 13
	EFAULT       errno = 14
	EEXIST       errno = 17
	ENOTDIR      errno = 20
	EISDIR       errno = 21
	EINVAL       errno = 22
	ENOTTY       errno = 25
	ESPIPE       errno = 29
	EPIPE        errno = 32
	ERANGE       errno = 34
	ENAMETOOLONG errno = 36
	ENOSYS       errno = 38
	ENOTEMPTY    errno = 39
	ELOOP        errno = 40
	ENODATA      errno = 61
	EOVERFLOW    errno = 75
	ENOTSOCK     errno = 88
	ENOPROTOOPT  errno = 92
	EAFNOSUPPORT errno = 97
	ETIMEDOUT    errno = 110
)

// result is what a system call returns for an error.
func (e errno) result() uint64 { return -uint64(e) }

// hostErrno is the error of an operation on the host's files.
func hostErrno(err error) errno {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ENOENT
	case errors.Is(err, fs.ErrPermission):
		return EACCES
	default:
		// What is looked up below a file.
		return ENOTDIR
	}
}
