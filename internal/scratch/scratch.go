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

// Remove removes a directory that Dir has made, with what is in it.
func Remove(dir string) error {
	live.mu.Lock()
	delete(live.dirs, dir)
	live.mu.Unlock()
	return os.RemoveAll(dir)
}

// RemoveAll removes the directories that are left. The process ends after it: no other
// directory can be made any more.
func RemoveAll() error {
	live.mu.Lock() // for good
	var errs []error
	for dir := range live.dirs {
		errs = append(errs, os.RemoveAll(dir))
	}
	return errors.Join(errs...)
}
