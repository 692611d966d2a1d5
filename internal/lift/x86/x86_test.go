package x86

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/emu/drive"
	"github.com/cofferdam-go/cofferdam/internal/emu/linux"
	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/sli"
	"github.com/cofferdam-go/cofferdam/internal/sli/exec"
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

const (
	examples = "../../../examples/binary/bin/"
	misuses  = "../../emu/drive/testdata/"
)

// A failingRun is a run of a program that fails, and the program lifted.
type failingRun struct {
	*Program
	log     *exec.Log
	failure exec.Failure
}

// fail explores a program until it fails, and lifts it. It is nil where programs that need
// the host's C library cannot be run.
func fail(t *testing.T, path string) *failingRun {
	t.Helper()
	if _, err := os.Stat("/lib64/ld-linux-x86-64.so.2"); err != nil {
		t.Log("nothing was run: this machine has no dynamic linker for x86-64")
		return nil
	}
	p, err := drive.Load(trace.Binary{Path: path, Args: []string{filepath.Base(path)}}, 100_000)
	if err != nil {
		t.Fatal(err)
	}
	done, err := p.Explore(context.Background(), &drive.Options{Method: sched.MethodPCT, Seed: 1, Budget: time.Minute})
	if err != nil || done.Outcome == nil {
		t.Fatalf("%s: %v, %v", path, done, err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var run *Run
	var image *Image
	f, process, err := p.Observe(done.Outcome.Schedule, &drive.Observer{
		Begins: func(process *linux.Process) {
			if image, err = NewImage(path, data, process.Program().Base); err != nil {
				t.Fatal(err)
			}
			run = NewRun(process, image)
		},
		Allocates: func(th *linux.Thread, a, n uint64) { run.Allocated(th, a, n) },
		Frees:     func(th *linux.Thread, a, n uint64) { run.Freed(th, a, n) },
	})
	if err != nil {
		t.Fatal(err)
	}
	at := run.FailureOf(f)
	if at == nil {
		t.Fatalf("%s: %v has no instruction", path, f)
	}
	program, err := Lift(Config{
		Image: image, Entries: run.Entries(), Observed: run.Observed(), Failure: at,
		Slot: func(a uint64) uint64 { w, _ := process.Mem.Word(a); return w },
	})
	if err != nil {
		t.Fatal(err)
	}
	return &failingRun{program, run.Log(f.G), at.Engine(f.G)}
}

// TestRunsAreFollowedWithEveryAddressRight: all steps of all threads are accounted for, and
// the addresses that lifted code computes are those of the run.
func TestRunsAreFollowedWithEveryAddressRight(t *testing.T) {
	for _, path := range []string{examples + "privatize.O2", examples + "glibc.O2", examples + "glibc.O0", examples + "thunderbird.O0", misuses + "doublefree"} {
		r := fail(t, path)
		if r == nil {
			return
		}
		replay := exec.NewReplay(r.Program.Program, r.log, r.failure)
		accounted := map[uint64]bool{}
		for g := uint32(1); g <= 4; g++ {
			var addr ir.Value
			replay.Run(g, func(thread *exec.Thread, step *exec.Step) bool {
				addr = ir.Value{}
				if step.Instr.IsAccess() || step.Instr.Private {
					addr = thread.Eval(step.Instr.Operand)
				}
				return true
			}, func(_ *exec.Thread, step *exec.Step) bool {
				if !step.MadeEvent || step.BeyondTrace {
					return true
				}
				accounted[step.Time] = true
				event, _ := r.log.Event(step.Time)
				if addr.Size != 0 && (!addr.Known || addr.Uint() != event.Addr) {
					t.Errorf("%s: %v is at %v, in the run at %#x", path, step.Instr, addr, event.Addr)
				}
				for _, time := range step.Others {
					accounted[time] = true
				}
				return true
			})
		}
		for _, e := range r.log.Events {
			if e.IsAccess() && !accounted[e.Seq] && len(r.InstrsAt(e.Site)) > 0 {
				t.Errorf("%s: nothing makes event %d of thread %d at %#x", path, e.Seq, e.G, e.Addr)
				break
			}
		}
	}
}

func TestEveryBugOfThePaperHasAFix(t *testing.T) {
	for name, want := range map[string]struct{ cost int }{
		examples + "toctou.O2": {23}, examples + "toctou.O0": {23}, examples + "twovar.O2": {24}, examples + "publish.O2": {46}, examples + "privatize.O2": {56},
		examples + "glibc.O2": {36}, examples + "thunderbird.O2": {24}, misuses + "useafterfree": {33}, misuses + "doublefree": {22},
	} {
		r := fail(t, name)
		if r == nil {
			return
		}
		a, err := sli.Analyse(r.Program.Program, r.log, r.failure, sli.Options{Rounds: -1})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if len(a.Fixes) == 0 || a.Fixes[0].Discarded != 0 {
			t.Errorf("%s: %d fixes, %v", name, len(a.Fixes), a.Reasons)
			continue
		}
		if a.Fixes[0].Cost != want.cost {
			t.Errorf("%s: the best fix costs %d, want %d", name, a.Fixes[0].Cost, want.cost)
		}
	}
}

func TestAWholeProgramIsLiftedAndSound(t *testing.T) {
	path := examples + "thunderbird.O2"
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	image, err := NewImage(path, data, 0x555555554000)
	if err != nil {
		t.Fatal(err)
	}
	p, err := Lift(Config{Image: image, Entries: image.Functions()})
	if err != nil {
		t.Fatal(err)
	}
	if p.Instructions < 80 || len(p.Opaque) > 0 {
		t.Errorf("%d instructions, opaque are %v", p.Instructions, p.Opaque)
	}
}

// TestJumpTablesAreRead: a switch in machine code, with a table of distances.
func TestJumpTablesAreRead(t *testing.T) {
	code := []byte{
		0x83, 0xff, 0x01, // cmp edi, 1
		0x77, 0x17, // ja default
		0x89, 0xff, // mov edi, edi
		0x48, 0x8d, 0x15, 0x15, 0x00, 0x00, 0x00, // lea rdx, [rip+table]
		0x48, 0x63, 0x04, 0xba, // movsxd rax, [rdx+rdi*4]
		0x48, 0x01, 0xd0, // add rax, rdx
		0xff, 0xe0, // jmp rax
		0x6a, 0x01, 0x58, 0xc3, // case 0: push 1; pop rax; ret
		0xc3, // case 1: ret
		0xc3, // default: ret
		0x90, 0x90, 0x90, 0x90, 0x90, 0x90,
		0xf4, 0xff, 0xff, 0xff, // table: case 0, which is 12 before
		0xf8, 0xff, 0xff, 0xff, // case 1
		0x00, 0x10, 0x00, 0x00, // no code
	}
	const at = 0x400000
	im := &Image{Base: at, slots: map[uint64]string{}, segments: []segment{{at, at + uint64(len(code)), true, code}}}
	p, err := Lift(Config{Image: im, Entries: []uint64{at}})
	if err != nil {
		t.Fatal(err)
	}
	if got := p.tables[at+21]; len(got) != 2 || got[0] != at+23 || got[1] != at+27 {
		t.Errorf("the jump goes to %#x", got)
	}
	if len(p.Funcs[0].Blocks) < 6 {
		t.Errorf("only %d blocks:\n%v", len(p.Funcs[0].Blocks), p.Funcs[0])
	}
}

// TestAnotherFailureIsLiftedAsIfItWereTheFirst: what is lifted for one failure and then for
// others, in the same function and elsewhere, is what is lifted for these at once.
func TestAnotherFailureIsLiftedAsIfItWereTheFirst(t *testing.T) {
	data, err := os.ReadFile(examples + "twovar.O0")
	if err != nil {
		t.Fatal(err)
	}
	image, err := NewImage("twovar.O0", data, 0)
	if err != nil {
		t.Fatal(err)
	}
	lift := func(pc uint64) *Program {
		p, err := Lift(Config{Image: image, Entries: image.Functions(), Failure: &Failure{PC: pc, Cause: ir.Abort, AtCall: true}})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	text := func(p *Program) string {
		var b strings.Builder
		for _, fn := range p.Funcs {
			for _, block := range fn.Blocks {
				for _, in := range block.Instrs {
					fmt.Fprintf(&b, "%d %v\n", in.ID, in)
				}
			}
		}
		return b.String()
	}
	var calls []uint64
	for _, fn := range lift(0).Funcs {
		for _, block := range fn.Blocks {
			for _, in := range block.Instrs {
				if in.Op == ir.Call || in.Op == ir.Sync {
					calls = append(calls, Address(in))
				}
			}
		}
	}
	if len(calls) < 4 {
		t.Fatalf("%d calls", len(calls))
	}
	p := lift(calls[0])
	for _, pc := range append(calls[1:], calls[0]) {
		if err := p.FailAt(&Failure{PC: pc, Cause: ir.Abort, AtCall: true}); err != nil {
			t.Fatal(err)
		}
		if got, want := text(p), text(lift(pc)); got != want {
			t.Errorf("for the call at %#x:\n%s\nwant\n%s", pc, got, want)
		}
	}
}
