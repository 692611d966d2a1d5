//go:build linux && amd64

package page

import (
	"syscall"
	"unsafe"
)

// The system calls that package syscall has no function for, or none that takes an
// address. Package golang.org/x/sys/unix has them all, but a protected program has
// this package as one of its standard library, which imports nothing else.

const (
	sysMemfdCreate = 319
	sysUserfaultfd = 323

	memfdCloexec      = 1
	mapFixedNoreplace = 0x100000
	madvDontdump      = 16
	fallocKeepSize    = 1
	fallocPunchHole   = 2
)

// memfdCreate returns a file without a name that is only memory.
func memfdCreate(name string) (int, error) {
	text, err := syscall.BytePtrFromString(name)
	if err != nil {
		return -1, err
	}
	fd, _, errno := syscall.Syscall(sysMemfdCreate, uintptr(unsafe.Pointer(text)), memfdCloexec, 0)
	if errno != 0 {
		return -1, errno
	}
	return int(fd), nil
}

// eventfd returns a counter that can be waited for.
func eventfd() (int, error) {
	fd, _, errno := syscall.Syscall(syscall.SYS_EVENTFD2, 0, syscall.O_CLOEXEC|syscall.O_NONBLOCK, 0)
	if errno != 0 {
		return -1, errno
	}
	return int(fd), nil
}

// mmap maps memory at an address, or anywhere for 0.
func mmap(fd int, at, size uintptr, prot, flags int) (unsafe.Pointer, error) {
	p, _, errno := syscall.Syscall6(syscall.SYS_MMAP, at, size, uintptr(prot), uintptr(flags), uintptr(fd), 0)
	if errno != 0 {
		return nil, errno
	}
	return unsafe.Add(unsafe.Pointer(nil), p), nil
}

// munmap takes back what mmap did. That it fails cannot be helped.
func munmap(p unsafe.Pointer, size uintptr) {
	syscall.Syscall(syscall.SYS_MUNMAP, uintptr(p), size, 0)
}
