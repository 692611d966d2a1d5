// Package stamptest has what the tests of STAMP's programs share. It is for tests alone.
package stamptest

import (
	"testing"
	"time"

	"github.com/cofferdam-go/cofferdam/stm"
)

// Modes are those of package stm, by name.
var Modes = []struct {
	Name string
	Mode stm.Mode
}{
	{"eager", stm.Eager},
	{"timer", stm.Timer},
	{"helper", stm.Helper},
	{"clone", stm.Clone},
}

// Verify fails if a result was found wrong, or has no time.
func Verify(t *testing.T, err error, elapsed time.Duration) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
	if elapsed <= 0 {
		t.Error("the time was not taken")
	}
}

// A Program is one of STAMP's, with its input, in the forms that it has.
type Program[Result any] struct {
	Sequential    func() Result
	Mutex         func(goroutines int) Result
	Transactional func(goroutines int, o stm.Options) Result
	Atomic        func(goroutines int) Result
	Verify        func(*testing.T, Result)
}

// Run runs a program in every form and mode, by several numbers of goroutines.
func (p Program[Result]) Run(t *testing.T) {
	t.Run("sequential", func(t *testing.T) { p.Verify(t, p.Sequential()) })
	t.Run("mutex", func(t *testing.T) { p.Verify(t, p.Mutex(2)) })
	t.Run("atomic", func(t *testing.T) { p.Verify(t, p.Atomic(2)) })
	for _, mode := range Modes {
		t.Run(mode.Name, func(t *testing.T) {
			for _, goroutines := range []int{1, 2, 4} {
				p.Verify(t, p.Transactional(goroutines, stm.Options{Mode: mode.Mode}))
			}
		})
	}
}
