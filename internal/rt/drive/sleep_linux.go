package drive

import (
	"strconv"
	"syscall"
)

// What follows is called beside a run, by a goroutine that is not under control. It uses
// package syscall alone: most others of the standard library have hooks, which would take
// note of it.

// processorTime is for how many nanoseconds the process has had a processor.
func processorTime() int64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return u.Utime.Nano() + u.Stime.Nano()
}

// threads is where the system tells of the threads of a process.
const threads = "/proc/self/task"

// threadsBusy reports whether a thread other than the calling one could go on if it had a
// processor, or waits for a disk.
func threadsBusy() bool {
	dir, err := syscall.Open(threads, syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer syscall.Close(dir)
	own := strconv.Itoa(syscall.Gettid())
	var buf [4096]byte
	for {
		n, err := syscall.ReadDirent(dir, buf[:])
		if err != nil || n <= 0 {
			return false
		}
		_, _, names := syscall.ParseDirent(buf[:n], -1, nil)
		for _, name := range names {
			if name != own && threadBusy(threads+"/"+name+"/stat") {
				return true
			}
		}
	}
}

// threadBusy reports that of one thread, by the file that tells what it does.
func threadBusy(file string) bool {
	fd, err := syscall.Open(file, syscall.O_RDONLY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return false // it has ended
	}
	defer syscall.Close(fd)
	var buf [128]byte
	n, err := syscall.Read(fd, buf[:])
	if err != nil {
		return false
	}
	// The state follows the name, which may have parentheses in it.
	for at := n - 3; at >= 0; at-- {
		if buf[at] == ')' {
			state := buf[at+2]
			return state == 'R' || state == 'D'
		}
	}
	return false
}

// hasChildren reports whether the process has children that run, or have ended and were not
// waited for. It leaves them to the calls that wait for them.
func hasChildren() bool {
	const all, leave = 0, 0x01000000 // P_ALL, WNOWAIT
	_, _, err := syscall.Syscall6(syscall.SYS_WAITID, all, 0, 0, syscall.WEXITED|syscall.WNOHANG|leave, 0, 0)
	return err == 0
}
