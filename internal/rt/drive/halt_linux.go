package drive

import "syscall"

// What follows uses package syscall alone, as sleep_linux.go does.

// admitDebuggers lets any process of the user attach to this one. Where the Yama module is on,
// only ancestors may otherwise, and a debugger that the tool starts is a sibling.
func admitDebuggers() {
	const setPtracer, any = 0x59616d61, ^uintptr(0) // PR_SET_PTRACER, PR_SET_PTRACER_ANY
	_, _, _ = syscall.Syscall(syscall.SYS_PRCTL, setPtracer, any, 0)
}

// pauseThread has the calling thread wait for a moment.
func pauseThread() {
	pause := syscall.NsecToTimespec(10_000_000)
	_ = syscall.Nanosleep(&pause, nil)
}

// traced reports whether a debugger is attached to the calling thread.
func traced() bool {
	fd, err := syscall.Open("/proc/thread-self/status", syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer syscall.Close(fd)
	var buf [2048]byte
	n, err := syscall.Read(fd, buf[:])
	return err == nil && tracedBy(buf[:n]) != 0
}

// tracedBy returns the number of the process that traces a thread, by what the system tells of the
// thread; 0 if there is none.
func tracedBy(status []byte) int {
	const label = "TracerPid:\t"
	for at := range status {
		if rest := status[at:]; len(rest) > len(label) && string(rest[:len(label)]) == label {
			n := 0
			for _, c := range rest[len(label):] {
				if c < '0' || c > '9' {
					break
				}
				n = 10*n + int(c-'0')
			}
			return n
		}
	}
	return 0
}
