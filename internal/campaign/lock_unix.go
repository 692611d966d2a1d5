//go:build unix

package campaign

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// lockFile opens a file that no other process has open in this way. The system lets go of it when
// the process ends, however it does.
func lockFile(name string) (*os.File, error) {
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, fmt.Errorf("locking it: %w", err)
	}
	err = unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if err == nil {
		return f, nil
	}
	f.Close()
	if errors.Is(err, unix.EWOULDBLOCK) {
		return nil, ErrBusy
	}
	return nil, fmt.Errorf("locking it: %w", err)
}

// unlockFile lets go of a file that lockFile has opened. To close it is not enough: a process that is
// being started at this moment has a copy of it until it executes its program.
func unlockFile(f *os.File) {
	_ = unix.Flock(int(f.Fd()), unix.LOCK_UN) // or the system does so at the end of the process
	f.Close()
}

// isLocked reports whether a process has a file by lockFile. It needs not be allowed to write to it.
func isLocked(name string) (bool, error) {
	f, err := os.Open(name)
	if err != nil {
		return false, fmt.Errorf("looking at its lock: %w", err)
	}
	defer unlockFile(f)
	switch err = unix.Flock(int(f.Fd()), unix.LOCK_SH|unix.LOCK_NB); {
	case errors.Is(err, unix.EWOULDBLOCK):
		return true, nil
	case err != nil:
		return false, fmt.Errorf("looking at its lock: %w", err)
	}
	return false, nil
}
