package rt

import (
	"runtime"

	"github.com/cofferdam-go/cofferdam/internal/rt/stacktext"
)

// ShowCount counts the goroutines that the program would have without control: its own, and
// those of code that is not rewritten. It returns -1 to a caller that is not under control.
func ShowCount() int {
	c := enterLibrary()
	if c == nil {
		return -1
	}
	n := s.baseline - s.config.Bystanders
	if watching.Load() {
		n--
	}
	if s.newcomers(nil) {
		n += max(0, nativeCount()-s.baseline-s.natives)
	}
	for _, d := range s.all {
		if d.state != ended {
			n++
		}
	}
	c.leave()
	return n
}

// nativeCount counts all goroutines of the process.
func nativeCount() int {
	if Patched.Goroutines != nil {
		return Patched.Goroutines()
	}
	return runtime.NumGoroutine()
}

// firstNumber is the number that the runtime gives to the first goroutine of each run, which
// stacks show: the same in all runs of all processes. It is above those of goroutines that are
// started before.
const firstNumber = 1_000

// renumber has the goroutines of a run numbered from firstNumber on, unless there may be some
// with such numbers: left by an earlier run, or because the program starts so many.
func (s *scheduler) renumber() {
	if runs == 0 && Patched.Number != nil && Patched.Newest() < firstNumber {
		s.beforeAll = s.baseline
	}
	if s.baseline <= s.beforeAll && strays.count.Load() == 0 {
		Patched.Number(firstNumber)
	}
}

// ShowStacks returns what a goroutine that asks for its stack, or those of all, gets to see: those
// of the program, if it is under control, as they would be without. What asks from outside, as
// the report about a run that hangs does, sees all there is.
func ShowStacks(text []byte) []byte {
	c := enterLibrary()
	if c == nil {
		return text
	}
	c.leave()
	return stacktext.Program(string(text))
}
