package drive

import (
	"testing"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/x86"
)

// TestASleepMayEndWhileAThreadIsReady: by chance and by all schedules, if stalls are allowed
// that are long enough; the run is then recorded and repeated.
func TestASleepMayEndWhileAThreadIsReady(t *testing.T) {
	if !dynamic(t) {
		return
	}
	for _, method := range []sched.Method{sched.MethodPCT, sched.MethodDFS} {
		for stall, fails := range map[time.Duration]bool{0: false, time.Microsecond: false, 100 * time.Millisecond: true} {
			p := load(t, "testdata/timeout")
			done := explored(t, p, &Options{Method: method, Preemptions: 2, Seed: 1, Budget: time.Minute, Runs: 2000, Stall: stall})
			f := done.Outcome.Worst()
			if (f != nil) != fails || f != nil && f.Cause != event.DoubleFree && f.Cause != event.UseAfterFree {
				t.Errorf("%v, stalls of %v: %v after %d runs", method, stall, f, done.Runs)
				continue
			}
			if held := done.Search.Held.Stall; f == nil && held != (stall > 0) {
				t.Errorf("%v, stalls of %v: that they were limited is %v", method, stall, held)
			}
			if f != nil {
				checkRecorded(t, p, done.Outcome, true)
			}
		}
	}
}

func TestAFailureBehindACallIsNotTheCalls(t *testing.T) {
	if !dynamic(t) {
		return
	}
	p := load(t, "testdata/aftercall")
	done := explored(t, p, &Options{Method: sched.MethodPCT, Seed: 1, Budget: time.Minute})
	if done.Outcome == nil {
		t.Fatalf("%+v", done)
	}
	site := p.process.Code.Sites()[done.Outcome.Worst().Site]
	if site.Inst == nil || site.Inst.Op != x86.MOV {
		t.Errorf("it failed at %+v", site)
	}
}
