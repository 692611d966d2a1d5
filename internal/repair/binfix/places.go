package binfix

import (
	"slices"
	"time"

	lifting "github.com/cofferdam-go/cofferdam/internal/lift/x86"
	"github.com/cofferdam-go/cofferdam/internal/sli/exec"
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
)

// maxCallers is how many callers of what ended the program are looked at.
const maxCallers = 8

// places are where a failure can be looked at, the likeliest first.
func (f *fixer) places(c *failingCase) []*lifting.Failure {
	frames := c.framesThatShare(f.result.Program.IsShared)
	shares := map[uint64]bool{}
	last := c.lastFrame()
	if frames[last] {
		shares[c.at.PC] = true
	}
	for frame := last; ; {
		outer, call := c.run.Caller(frame)
		if call == 0 || outer == frame {
			return ordered(c.at, shares)
		}
		if frames[outer] {
			shares[call] = true
		}
		frame = outer
	}
}

// ordered are the places of a failure: where it is, and, if the program ended itself, the calls
// that led there. In a static program these begin far inside of the C library, where an analysis
// goes through all that a failed assertion does before it prints. A function that has itself
// used what threads share comes first, since no other can decide by it; shares has the calls
// that such functions made.
func ordered(at *lifting.Failure, shares map[uint64]bool) []*lifting.Failure {
	all := []*lifting.Failure{at}
	if at.Cause != ir.Abort {
		return all
	}
	for outer := at.Outer(); outer != nil && len(all) < maxCallers; outer = outer.Outer() {
		all = append(all, outer)
	}
	rank := func(at *lifting.Failure) int {
		if shares[at.PC] {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(all, func(a, b *lifting.Failure) int { return rank(a) - rank(b) })
	return all
}

// lastFrame is the frame in which the failing thread accessed something last.
func (c *failingCase) lastFrame() (last uint32) {
	c.log.All(0, func(e *exec.Event) bool {
		if e.IsAccess() && e.G == c.failure.G {
			last = e.Frame
		}
		return true
	})
	return last
}

// framesThatShare are the frames of the failing thread in which shared memory was accessed.
func (c *failingCase) framesThatShare(isShared func(addr uint64) bool) map[uint32]bool {
	frames := map[uint32]bool{}
	c.log.All(0, func(e *exec.Event) bool {
		if e.IsAccess() && e.G == c.failure.G && isShared(e.Addr) {
			frames[e.Frame] = true
		}
		return true
	})
	return frames
}

// liftCase lifts the program for the failure at the place that a case has it at.
func (f *fixer) liftCase(c *failingCase) error {
	start := time.Now()
	defer func() { f.result.Lifting += time.Since(start) }()
	if c.program != nil {
		return c.program.FailAt(c.at)
	}
	program, err := f.lift(c, c.run.Entries(), c.run.Observed())
	c.program = program
	return err
}

// lift lifts the functions that a run entered, and those that they call.
func (f *fixer) lift(c *failingCase, entries []uint64, observed map[uint64][]uint64) (*lifting.Program, error) {
	return lifting.Lift(lifting.Config{
		Image: f.result.Image, Entries: entries, Observed: observed, Failure: c.at,
		Slot: func(addr uint64) uint64 { w, _ := c.process.Mem.Word(addr); return w },
	})
}
