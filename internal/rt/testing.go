package rt

import (
	"runtime"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/rt/frames"
)

// Logged is told what a test logs: of the last of it before a failure, that is why.
func Logged(text string) {
	if c := enter(); c != nil {
		if !c.dying && s.result.Reported.G == 0 {
			s.result.Reported.Message = text
		}
		c.leave()
	}
}

// ReportFailure says that a test of this name reports a failure, for the first time in a
// run. The run goes on: that it failed is told by what runs the test, when it has ended. Where it
// first did is in Result.Reported.
func ReportFailure(test string) {
	c := enter()
	if c == nil {
		return
	}
	defer c.leave()
	if c.dying || s.result.Reported.G != 0 {
		return
	}
	s.completeLast()
	var all [64]uintptr
	pcs := all[:runtime.Callers(2, all[:])]
	for len(pcs) > 1 && isTesting(pcs[0]) {
		pcs = pcs[1:]
	}
	site := uint32(0)
	if len(pcs) > 0 {
		site = s.frames.Site(pcs[0])
	}
	s.emit(c, event.Fail, site, 0, 0, 0)
	s.result.Reported = Failure{
		Kind: event.FailureTest, Test: test, Message: s.result.Reported.Message, G: c.id, Site: site, Frame: c.Frame, Step: s.steps, PCs: append([]uintptr(nil), pcs...),
	}
}

// Unseen calls f, of which nothing is seen: it neither waits nor panics, and is not what the program
// does.
func Unseen(f func()) {
	c := enterLibrary()
	f()
	if c != nil {
		c.leave()
	}
}

// OnlyWaits says that the caller has started a test, and does nothing but wait for its signal, by
// the operation that comes next. Whether it does so before the test begins or after is no
// difference that a program can see, and so no choice: a test with one goroutine has one
// schedule.
func OnlyWaits() {
	if c := enter(); c != nil {
		c.onlyWaits = true
		c.leave()
	}
}

// NothingRan says that the tests of the run have come to their end, and that none of them ran:
// they have subtests, and none that is selected.
func NothingRan() {
	if c := enter(); c != nil {
		s.result.NothingRan = true
		c.leave()
	}
}

// isTesting reports whether a return address is in package testing.
func isTesting(pc uintptr) bool {
	f, _ := runtime.CallersFrames([]uintptr{pc}).Next()
	return frames.PackageOf(f.Function) == "testing"
}

// Drive, if set, takes the place of running a program's tests: it is given their names
// and what runs some of them, and returns the exit code.
var Drive func(names []string, run func(which []int) (failed bool)) int
