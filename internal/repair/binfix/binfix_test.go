package binfix

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/binpatch"
	"github.com/cofferdam-go/cofferdam/internal/emu/drive"
	"github.com/cofferdam-go/cofferdam/internal/event"
	lifting "github.com/cofferdam-go/cofferdam/internal/lift/x86"
	"github.com/cofferdam-go/cofferdam/internal/native"
	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
	"github.com/cofferdam-go/cofferdam/internal/trace"
	"github.com/cofferdam-go/cofferdam/internal/x86"
)

const (
	examples = "../../../examples/binary/bin/"
	misuses  = "../../emu/drive/testdata/"
)

// fix fixes a program, with a short proof. It is nil where programs that need the host's C
// library cannot be run.
func fix(t *testing.T, path string, copied bool, schedules int) *Result {
	t.Helper()
	if _, err := os.Stat("/lib64/ld-linux-x86-64.so.2"); err != nil {
		t.Log("nothing was run: this machine has no dynamic linker for x86-64")
		return nil
	}
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Fix(context.Background(), &Options{
		Binary: trace.Binary{Path: path, Args: []string{filepath.Base(path)}}, Steps: 100_000, Copy: copied, Native: 2,
		Search: drive.Options{Method: sched.MethodPCT, Seed: 1, Budget: time.Minute},
		Proof:  time.Minute, Schedules: schedules, Until: time.Now().Add(time.Minute), Temp: t.TempDir(), Progress: func(string, string) {},
	})
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return r
}

func TestPatchesOfCrashesAreProven(t *testing.T) {
	for _, c := range []struct {
		path      string
		copied    bool
		schedules int
		want      []string
	}{
		{examples + "toctou.O2", false, 150, []string{"in 0x870, no other thread may come between these:\n    >    888  mov ecx", "in 0x840, this may not come between those of another thread:\n    >    85c  mov"}},
		{examples + "publish.O0", true, 150, []string{"no other thread may see this half done"}},
		{examples + "thunderbird.O2", false, 1500, []string{"Tried and dropped:\n  cost 24, 2 sections: the patched program fails: crash, SIGSEGV: "}},
		{misuses + "useafterfree", false, 150, []string{"points to no memory that is in use"}},
		{misuses + "doublefree", false, 150, []string{"points to no memory that is in use"}},
		// The failing instruction reads its operand in time, and writes it too late.
		{"testdata/session", false, 150, []string{"points to no memory that is in use"}},
		// The store that would have prevented it is not in the run that fails.
		{"testdata/logout", false, 150, []string{"840  call 0x690\n", "845  mov qword ptr [0x2038], 0x0\n"}},
		{"testdata/accessors", false, 150, []string{"79b  call 0x789\n", "7a3  call 0x790\n"}},
	} {
		r := fix(t, c.path, c.copied, c.schedules)
		if r == nil {
			return
		}
		var out bytes.Buffer
		r.Explain(&out)
		if r.Proven == nil {
			t.Errorf("%s is not fixed: %s", c.path, &out)
			continue
		}
		p := r.Proven.Proof
		if p.Schedules < uint64(c.schedules) && !p.Complete || p.Native != 2 && p.Skipped == "" || len(r.Proven.File) > 64<<10 {
			t.Errorf("%s: %+v, %d bytes", c.path, p, len(r.Proven.File))
		}
		checkConfirmation(t, c.path, r.Confirmation)
		for _, want := range append(c.want, "Proof: the failing schedule no longer fails, nor does any of ", " on the processor.") {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: nothing says %q:\n%s", c.path, want, &out)
			}
		}
	}
}

// TestSectionsOfLastResortAreInTheCallers: so many calls up from where the data is touched as
// the level says, and no further than the program's own code goes.
func TestSectionsOfLastResortAreInTheCallers(t *testing.T) {
	path, err := filepath.Abs("testdata/accessors")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat("/lib64/ld-linux-x86-64.so.2"); err != nil {
		t.Log("nothing was run: this machine has no dynamic linker for x86-64")
		return
	}
	ctx := context.Background()
	f := &fixer{result: &Result{}, Options: &Options{
		Binary: trace.Binary{Path: path, Args: []string{"accessors"}}, Steps: 100_000, Until: time.Now().Add(time.Minute), Progress: func(string, string) {},
		Search: drive.Options{Method: sched.MethodPCT, Seed: 1, Budget: time.Minute},
	}}
	if f.result.Program, err = drive.Load(f.Binary, f.Steps); err != nil {
		t.Fatal(err)
	}
	done, err := f.result.Program.Explore(ctx, &f.Search)
	if err != nil || done.Outcome == nil {
		t.Fatal(done, err)
	}
	c, err := f.observe(done.Outcome)
	if err != nil {
		t.Fatal(err)
	}
	f.cases = append(f.cases, c)
	if err := f.analyse(ctx, c, withoutRounds); err != nil {
		t.Fatal(err)
	}
	whole, err := f.wholeRun()
	if err != nil || whole == nil {
		t.Fatal(whole, err)
	}
	// 0x797 is add, which calls get at 0x789 and set at 0x790; 0x7ad is main, and 0x740 has the
	// same word of 8 bytes.
	for level, want := range []string{"0x740 0x789 0x790 0x7ad", "0x740 0x797 0x7ad", "0x740 0x797 0x7ad"} {
		var names []string
		for _, s := range f.enclosing(level, whole).Sections {
			names = append(names, s.Func.Name)
		}
		slices.Sort(names)
		if got := strings.Join(names, " "); got != want {
			t.Errorf("level %d: %s, want %s", level, got, want)
		}
	}
}

// TestAFunctionThatUsesSharedDataIsLookedAtFirst: of the calls that led to the end of a program,
// which are all looked at, each once.
func TestAFunctionThatUsesSharedDataIsLookedAtFirst(t *testing.T) {
	const inner, middle, outer = 0x100, 0x200, 0x300
	at := &lifting.Failure{PC: inner, Cause: ir.Abort, AtCall: true, Callers: []uint64{middle, outer}}
	var order []uint64
	for _, place := range ordered(at, map[uint64]bool{middle: true}) {
		order = append(order, place.PC)
	}
	if want := []uint64{middle, inner, outer}; !slices.Equal(order, want) {
		t.Errorf("%#x, want %#x", order, want)
	}
	if all := ordered(&lifting.Failure{PC: inner, Cause: ir.BadAccess, Callers: []uint64{outer}}, nil); len(all) != 1 {
		t.Errorf("a failure that is no end by the program itself has %d places", len(all))
	}
}

func TestADeadlockIsRefused(t *testing.T) {
	r := fix(t, misuses+"lockorder", false, 100)
	if r == nil {
		return
	}
	if r.Proven != nil || !strings.Contains(r.Refusal, "no thread can go on") {
		t.Errorf("%v: %s", r.Proven, r.Refusal)
	}
	checkConfirmation(t, "lockorder", r.Confirmation)
}

// checkConfirmation: what fails in the emulator fails on the processor, if that can be tried.
func checkConfirmation(t *testing.T, program string, c *Confirmation) {
	t.Helper()
	switch {
	case c == nil:
		t.Errorf("%s: the schedule was not tried on the processor", program)
	case c.Why == refusedTracing, c.Why == drive.ErrHalves.Error():
		t.Logf("%s: %s", program, c)
	case !c.Confirmed || !strings.HasPrefix(c.String(), "On the processor, with the threads stopped and started in the same order, "):
		t.Errorf("%s: %s", program, c)
	}
}

func TestWhatConfirmsAFailure(t *testing.T) {
	crash := &trace.Failure{Kind: event.FailureCrash, Cause: event.BadMemory}
	used := &trace.Failure{Kind: event.FailureCrash, Cause: event.UseAfterFree}
	waits := &trace.Failure{Kind: event.FailureDeadlock}
	for _, c := range []struct {
		followed  native.Followed
		failure   *trace.Failure
		confirmed bool
	}{
		{native.Followed{Signal: "SIGSEGV"}, crash, true},
		{native.Followed{Reached: true}, crash, false},
		{native.Followed{Signal: "SIGSEGV", Why: "thread 2 is not there"}, crash, false},
		{native.Followed{Reached: true}, used, true},
		{native.Followed{}, used, false},
		{native.Followed{Deadlock: true}, waits, true},
		{native.Followed{}, waits, false},
	} {
		if got := judge(&c.followed, c.failure); got.Confirmed != c.confirmed || got.Confirmed == (got.Why != "") {
			t.Errorf("%+v: %+v", c.followed, got)
		}
	}
}

// TestAnInstructionCannotBeStoppedInTheMiddle: a schedule that needs that is said to be not
// confirmed.
func TestAnInstructionCannotBeStoppedInTheMiddle(t *testing.T) {
	r := fix(t, misuses+"splitupdate", false, 100)
	if r != nil && (r.Confirmation.Confirmed || r.Confirmation.Why != drive.ErrHalves.Error()) {
		t.Errorf("%+v", r.Confirmation)
	}
}

func TestACorrectProgramIsLeftAlone(t *testing.T) {
	if _, err := os.Stat("/lib64/ld-linux-x86-64.so.2"); err != nil {
		t.Log("nothing was run: this machine has no dynamic linker for x86-64")
		return
	}
	r, err := Fix(context.Background(), &Options{
		Binary: trace.Binary{Path: misuses + "correct", Args: []string{"correct"}}, Steps: 100_000,
		Search: drive.Options{Method: sched.MethodPCT, Seed: 1, Budget: time.Minute, Runs: 50}, Progress: func(string, string) {},
	})
	if err != nil || r.Failure != nil || r.Proven != nil {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestAnExceptionThatMayLeaveASectionIsNamed: of a patched copy that aborts, has exceptions,
// and calls something in a section; and of no other.
func TestAnExceptionThatMayLeaveASectionIsNamed(t *testing.T) {
	for _, c := range []struct {
		path  string
		cause event.FailureCause
		op    x86.Op
		want  bool
	}{
		{"testdata/throws", event.Aborted, x86.CALL, true},
		{"testdata/throws", event.Aborted, x86.MOV, false},
		{"testdata/throws", event.BadMemory, x86.CALL, false},
		{"testdata/session", event.Aborted, x86.CALL, false},
	} {
		data, err := os.ReadFile(c.path)
		if err != nil {
			t.Fatal(err)
		}
		im, err := lifting.NewImage(c.path, data, 0)
		if err != nil {
			t.Fatal(err)
		}
		var in x86.Inst
		pc := uint64(0)
		for ; pc < uint64(len(data)) && !(im.Decode(pc, &in) && in.Op == c.op); pc++ {
		}
		candidate := &Candidate{Sections: []binpatch.Section{{Instructions: []uint64{pc}}}}
		f := &fixer{Options: &Options{Copy: true}, result: &Result{Image: im}}
		text := f.whyAborted(candidate, &trace.Failure{Cause: c.cause})
		if (text != "") != c.want || candidate.mayThrow != c.want {
			t.Errorf("%s, %v, %v: %q", c.path, c.cause, c.op, text)
		}
	}
}

// TestWhatLoadsNoSharedObjectIsToldAtOnce: a static program, and one that runs as another user.
func TestWhatLoadsNoSharedObjectIsToldAtOnce(t *testing.T) {
	data, err := os.ReadFile("testdata/logout.static")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "static")
	if err := os.WriteFile(path, data, 0o755); err != nil {
		t.Fatal(err)
	}
	o := &Options{Binary: trace.Binary{Path: path, Args: []string{"static"}}, Steps: 1000, Progress: func(string, string) {}}
	if _, err := Fix(context.Background(), o); err == nil || !strings.Contains(err.Error(), "is static") || !strings.Contains(err.Error(), "-copy") {
		t.Errorf("a static program: %v", err)
	}
	if _, err := os.Stat("/lib64/ld-linux-x86-64.so.2"); err != nil {
		t.Log("nothing more was tried: this machine has no dynamic linker for x86-64")
		return
	}
	if data, err = os.ReadFile("testdata/logout"); err != nil {
		t.Fatal(err)
	}
	o.Binary.Path = filepath.Join(t.TempDir(), "other")
	if err := errors.Join(os.WriteFile(o.Binary.Path, data, 0o755), os.Chmod(o.Binary.Path, 0o755|os.ModeSetuid)); err != nil {
		t.Fatal(err)
	}
	if _, err := Fix(context.Background(), o); err == nil || !strings.Contains(err.Error(), "ignores LD_PRELOAD") {
		t.Errorf("a program with an owner of its own: %v", err)
	}
}

func TestOtherPreloadsStay(t *testing.T) {
	got := withPreload([]string{"A=1", "LD_PRELOAD=/x.so", "B=2"}, "/fix.so")
	if want := "A=1 B=2 LD_PRELOAD=/fix.so:/x.so"; strings.Join(got, " ") != want {
		t.Errorf("%v", got)
	}
}
