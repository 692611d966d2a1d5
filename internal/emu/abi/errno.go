package abi

// An Errno is an error of a system call.
type Errno uint64

const (
	EPERM        Errno = 1
	ENOENT       Errno = 2
	ESRCH        Errno = 3
	EINTR        Errno = 4
	EIO          Errno = 5
	E2BIG        Errno = 7
	ENOEXEC      Errno = 8
	EBADF        Errno = 9
	ECHILD       Errno = 10
	EAGAIN       Errno = 11
	ENOMEM       Errno = 12
	EACCES       Errno = 13
	EFAULT       Errno = 14
	EEXIST       Errno = 17
	ENOTDIR      Errno = 20
	EISDIR       Errno = 21
	EINVAL       Errno = 22
	ENOTTY       Errno = 25
	ESPIPE       Errno = 29
	EPIPE        Errno = 32
	ERANGE       Errno = 34
	ENAMETOOLONG Errno = 36
	ENOSYS       Errno = 38
	ENOTEMPTY    Errno = 39
	ELOOP        Errno = 40
	ENODATA      Errno = 61
	EOVERFLOW    Errno = 75
	ENOTSOCK     Errno = 88
	ENOPROTOOPT  Errno = 92
	EAFNOSUPPORT Errno = 97
	ETIMEDOUT    Errno = 110
	EDESTADDRREQ Errno = 89
	EMSGSIZE     Errno = 90
	EOPNOTSUPP   Errno = 95
	EADDRINUSE   Errno = 98
	ECONNRESET   Errno = 104
	EISCONN      Errno = 106
	ENOTCONN     Errno = 107
	ECONNREFUSED Errno = 111
)

// Result is what a system call returns for an error.
func (e Errno) Result() uint64 { return -uint64(e) }
