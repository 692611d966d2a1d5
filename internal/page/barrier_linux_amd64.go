package page

import "syscall"

// The system call membarrier(2), which Linux has had since 4.14 in this form. Some containers refuse it.
const (
	sysMembarrier = 324

	membarrierPrivateExpedited         = 1 << 3
	membarrierRegisterPrivateExpedited = 1 << 4
)

// PrepareBarrier asks the kernel for [Barrier], and reports whether it can be had. It may take some milliseconds.
func PrepareBarrier() bool {
	_, _, errno := syscall.Syscall(sysMembarrier, membarrierRegisterPrivateExpedited, 0, 0)
	return errno == 0 && Barrier()
}

// Barrier is a fence on every processor that runs a thread of the program: what a goroutine has stored before
// its processor comes to it can be seen when Barrier returns. It takes a microsecond, and up to ten where
// other processors have to be interrupted. It reports whether the kernel has done it.
func Barrier() bool {
	_, _, errno := syscall.RawSyscall(sysMembarrier, membarrierPrivateExpedited, 0, 0)
	return errno == 0
}
