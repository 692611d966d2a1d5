// Package scratch makes temporary directories, and removes those that are left when the
// process has to end at once.
//
// A command that is interrupted while it computes does not come back to the place where
// it would remove its directories; [RemoveAll] does it then. In all other cases the maker
// of a directory removes it with [Remove]:
//
//	dir, err := scratch.Dir()
//	if err != nil {
//		return err
//	}
//	defer scratch.Remove(dir)
package scratch

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

// live are the directories that were made and not yet removed.
var live struct {
	mu   sync.Mutex
	dirs map[string]bool
}

// Dir makes a temporary directory.
func Dir() (string, error) {
	live.mu.Lock()
	defer live.mu.Unlock()
	dir, err := os.MkdirTemp("", "cofferdam")
	if err != nil {
		return "", fmt.Errorf("making a temporary directory: %w", err)
	}
	if live.dirs == nil {
		live.dirs = make(map[string]bool)
	}
	live.dirs[dir] = true
	return dir, nil
}

// Remove removes a directory that Dir has made, with what is in it. Until that is done the directory
// is one of those that are left: the process may end meanwhile.
func Remove(dir string) error {
	err := remove(dir)
	live.mu.Lock()
	defer live.mu.Unlock()
	delete(live.dirs, dir)
	return err
}

// remove removes a directory. A process that was told to end, or one that it has started, may still
// write there for a moment.
func remove(dir string) error {
	const attempts, between = 200, 5 * time.Millisecond
	err := os.RemoveAll(dir)
	for n := 1; err != nil && n < attempts; n++ {
		time.Sleep(between)
		err = os.RemoveAll(dir)
	}
	return err
}

// RemoveAll removes the directories that are left. The process ends after it: no other
// directory can be made any more.
func RemoveAll() error {
	live.mu.Lock() // for good
	var errs []error
	for dir := range live.dirs {
		errs = append(errs, remove(dir))
	}
	return errors.Join(errs...)
}
