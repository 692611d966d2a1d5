//go:build linux && amd64

package page

import (
	"errors"
	"fmt"
	"syscall"
	"unsafe"
)

// The userfaultfd interface, as far as it is used; see ioctl_userfaultfd(2).
const (
	uffdUserModeOnly = 1

	uffdAPI             = 0xaa
	uffdFeatureSigbus   = 1 << 7
	uffdFeatureMinor    = 1 << 10 // UFFD_FEATURE_MINOR_SHMEM
	uffdFeatureWP       = 1 << 12 // UFFD_FEATURE_WP_HUGETLBFS_SHMEM
	uffdModeMissing     = 1 << 0
	uffdModeWP          = 1 << 1
	uffdModeMinor       = 1 << 2
	uffdContinueModeWP  = 1 << 1
	uffdioAPI           = 0xc018aa3f
	uffdioRegister      = 0xc020aa00
	uffdioWriteprotect  = 0xc018aa06
	uffdioContinue      = 0xc020aa07
	uffdFeaturesWanted  = uffdFeatureSigbus | uffdFeatureMinor | uffdFeatureWP
	sigactionSiginfo    = 0x4
	sigactionOnstack    = 0x08000000
	sigactionRestart    = 0x10000000
	sigactionRestorer   = 0x04000000
	sigactionEverything = ^uint64(0)
)

type uffdioAPIArg struct{ api, features, ioctls uint64 }

type uffdioRange struct{ start, len, mode, out uint64 }

// useUserfaultfd protects by dropping page-table entries: a page of the memory
// file that is not mapped in the shared view raises SIGBUS. A page that is not
// even in the file does so in both views, which catches pointers that outlived
// their guard.
//
// USER_MODE_ONLY needs no privilege. A system call that is given protected
// memory fails with EFAULT.
func useUserfaultfd() (err error) {
	r, _, errno := syscall.Syscall(sysUserfaultfd, syscall.O_CLOEXEC|uffdUserModeOnly, 0, 0)
	if errno != 0 {
		return fmt.Errorf("userfaultfd: %w", errno)
	}
	fd := int(r)
	defer func() {
		if err != nil {
			syscall.Close(fd)
		}
	}()
	api := uffdioAPIArg{api: uffdAPI, features: uffdFeaturesWanted}
	if err := uffdIoctl(fd, uffdioAPI, unsafe.Pointer(&api)); err != nil {
		return fmt.Errorf("userfaultfd: minor faults of shared memory as SIGBUS: %w", err)
	}
	whole := run{0, uint32(Bytes / Size)}
	for _, v := range []struct {
		bit  uintptr
		mode uint64
	}{{0, uffdModeMissing | uffdModeMinor | uffdModeWP}, {OwnBit, uffdModeMissing}} {
		if err := syscall.Mprotect(view(v.bit, whole), syscall.PROT_READ|syscall.PROT_WRITE); err != nil {
			return fmt.Errorf("userfaultfd: %w", err)
		}
		reg := uffdioRange{uint64(uintptr(Base) + v.bit), uint64(Bytes), v.mode, 0}
		if err := uffdIoctl(fd, uffdioRegister, unsafe.Pointer(&reg)); err != nil {
			return fmt.Errorf("userfaultfd: registering the arena: %w", err)
		}
	}
	if err := tryUserfaultfd(fd); err != nil {
		return fmt.Errorf("userfaultfd: %w", err)
	}
	ctl.uffd = int64(fd)
	ctl.sealCall, ctl.sealArg = syscall.SYS_MADVISE, syscall.MADV_DONTNEED
	return hook(syscall.SIGBUS)
}

// tryUserfaultfd does with page 0, which is nobody's, what the handler and seal
// will do: kernels differ in what they take.
func tryUserfaultfd(fd int) error {
	zero := run{0, 1}
	if err := syscall.Fallocate(memory, 0, 0, Size); err != nil {
		return err
	}
	page := uffdioRange{start: uint64(uintptr(Base)), len: Size, mode: uffdContinueModeWP}
	if err := uffdIoctl(fd, uffdioContinue, unsafe.Pointer(&page)); err != nil {
		return fmt.Errorf("mapping a page for reading: %w", err)
	}
	page.mode = 0
	if err := uffdIoctl(fd, uffdioContinue, unsafe.Pointer(&page)); !errors.Is(err, syscall.EEXIST) {
		return fmt.Errorf("mapping a page twice: %v, not EEXIST", err)
	}
	if err := uffdIoctl(fd, uffdioWriteprotect, unsafe.Pointer(&page)); err != nil {
		return fmt.Errorf("making a page writable: %w", err)
	}
	if err := syscall.Madvise(view(0, zero), syscall.MADV_DONTNEED); err != nil {
		return fmt.Errorf("dropping a page: %w", err)
	}
	return syscall.Fallocate(memory, fallocPunchHole|fallocKeepSize, 0, Size)
}

func uffdIoctl(fd int, request uintptr, arg unsafe.Pointer) error {
	if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, uintptr(fd), request, uintptr(arg)); errno != 0 {
		return errno
	}
	return nil
}

// useMprotect protects by mprotect, which raises SIGSEGV. Each extent whose
// protection differs from its neighbour's is a mapping of its own, of which the
// kernel allows 65,530 by default.
func useMprotect() error {
	for _, bit := range []uintptr{0, OwnBit} {
		if err := syscall.Mprotect(view(bit, run{0, uint32(Bytes / Size)}), syscall.PROT_NONE); err != nil {
			return fmt.Errorf("mprotect: %w", err)
		}
	}
	ctl.sealCall, ctl.sealArg = syscall.SYS_MPROTECT, syscall.PROT_NONE
	return hook(syscall.SIGSEGV)
}

type sigaction struct {
	handler  uintptr
	flags    uint64
	restorer uintptr
	mask     uint64
}

// hook installs the handler before the one that is there, which is the Go
// runtime's and gets every fault that is not ours. All signals are blocked in
// the handler, as in the runtime's.
//
// The signals in question are never reset by os/signal: they are synchronous.
func hook(sig syscall.Signal) error {
	event, err := eventfd()
	if err != nil {
		return fmt.Errorf("eventfd: %w", err)
	}
	ctl.event = int64(event)
	var old sigaction
	if err := rtSigaction(sig, nil, &old); err != nil {
		return err
	}
	const ignored = 1 // SIG_IGN; SIG_DFL is 0
	if old.handler <= ignored || old.flags&sigactionOnstack == 0 {
		return fmt.Errorf("the handler of %v is not the Go runtime's", sig)
	}
	ctl.next = old.handler
	return rtSigaction(sig, &sigaction{
		handler:  handlerPC(),
		flags:    sigactionSiginfo | sigactionOnstack | sigactionRestart | sigactionRestorer,
		restorer: restorerPC(),
		mask:     sigactionEverything,
	}, nil)
}

func rtSigaction(sig syscall.Signal, new, old *sigaction) error {
	_, _, errno := syscall.RawSyscall6(syscall.SYS_RT_SIGACTION, uintptr(sig),
		uintptr(unsafe.Pointer(new)), uintptr(unsafe.Pointer(old)), 8, 0, 0)
	if errno != 0 {
		return fmt.Errorf("sigaction %v: %w", sig, errno)
	}
	return nil
}

// Assembly; see the contracts there.
func handlerPC() uintptr
func restorerPC() uintptr
