package rt

import (
	"runtime"
	"strconv"

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
	shown := stacktext.Program(string(text), s.originOf)
	c.leave()
	return shown
}

// An origin is where a goroutine comes from.
type origin struct {
	number uint64     // that the runtime gave it
	entry  uintptr    // of the function that it begins with; 0 if that is none of the program's
	pcs    [8]uintptr // where it was started, the innermost call first
	depth  int        // how many there are
}

// originOf says where a goroutine comes from that stacks show by a number: the call that it
// begins with, for one that has not begun, and what created it.
func (s *scheduler) originOf(number string) (begins, creator string) {
	for _, d := range s.all {
		if d.state == ended || strconv.FormatUint(d.origin.number, 10) != number {
			continue
		}
		if f := runtime.FuncForPC(d.origin.entry); f != nil && d.g == 0 {
			file, line := f.FileLine(d.origin.entry)
			begins = f.Name() + "()\n\t" + file + ":" + strconv.Itoa(line) + "\n"
		}
		return begins, s.creatorOf(d)
	}
	return "", ""
}

// creatorOf says what created a goroutine; "" if that is not in the program.
func (s *scheduler) creatorOf(d *goroutine) string {
	if d.parent == 0 || d.origin.depth == 0 {
		return ""
	}
	frames := runtime.CallersFrames(d.origin.pcs[:d.origin.depth])
	for more := true; more; {
		var f runtime.Frame
		if f, more = frames.Next(); f.Function != "" && !stacktext.OfHooks(f.Function) {
			return f.Function + " in goroutine " + strconv.FormatUint(s.all[d.parent-1].origin.number, 10) +
				"\n\t" + f.File + ":" + strconv.Itoa(f.Line) + " +0x" + strconv.FormatUint(uint64(f.PC-f.Entry), 16) + "\n"
		}
	}
	return ""
}
