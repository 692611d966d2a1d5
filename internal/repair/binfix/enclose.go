package binfix

import (
	"slices"

	lifting "github.com/cofferdam-go/cofferdam/internal/lift/x86"
	"github.com/cofferdam-go/cofferdam/internal/sched"
	"github.com/cofferdam-go/cofferdam/internal/sli"
	"github.com/cofferdam-go/cofferdam/internal/sli/exec"
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
)

// maxLevels is how many callers of the code that touches the data are tried.
const maxLevels = 4

// enclosing is the fix of last resort: in each function that touches the data of a failure,
// while threads run beside one another, all that does so becomes one section. It is more
// than the failure shows to be needed, and right for operations that the engine sees only a
// part of, such as a reference count that is decremented and then looked at again.
//
// level is how many calls up the sections are: code that is not optimised, or has classes,
// does one operation in several functions, and their callers are where it begins and ends.
//
// What a failure kept from happening is not in its run: the store that should have come after
// a free, say. It is in whole, a run by the default schedule.
func (f *fixer) enclosing(level int, whole *lifting.Run) *sli.Fix {
	var sections []*sli.Section
	for _, c := range f.cases {
		t := &toucher{of: c, level: level, data: f.dataOf(c), byFunc: map[*ir.Func][]*ir.Instr{}}
		t.all(c.run, c.log)
		if whole != nil {
			t.all(whole, whole.Log(0))
		}
		for _, fn := range t.order {
			slices.SortFunc(t.byFunc[fn], func(a, b *ir.Instr) int { return a.ID - b.ID })
			s := sli.Enclose(fn, t.byFunc[fn])
			if !slices.ContainsFunc(s.Waits, func(in *ir.Instr) bool { return in.Sync.NeedsOthers() }) {
				sections = append(sections, s)
			}
		}
	}
	if len(sections) == 0 {
		return nil
	}
	return sli.FixOf(sli.Options{}, sections)
}

// wholeRun is a run by the default schedule, nil if it is too long. Functions that no failing
// run has come to are lifted besides.
func (f *fixer) wholeRun() (*lifting.Run, error) {
	run, _, _, err := f.watch(sched.Schedule{}.String())
	if err != nil || run.TooLong() {
		return nil, err
	}
	for _, c := range f.cases {
		entries := append(c.run.Entries(), run.Entries()...)
		slices.Sort(entries)
		observed := c.run.Observed()
		for pc, to := range run.Observed() {
			for _, target := range to {
				if !slices.Contains(observed[pc], target) {
					observed[pc] = append(observed[pc], target)
				}
			}
		}
		if c.program, err = f.lift(c, slices.Compact(entries), observed); err != nil {
			return nil, err
		}
	}
	return run, nil
}

// A toucher gathers the instructions that touch the data of a failure, by functions.
type toucher struct {
	of     *failingCase
	level  int
	data   map[uint64]bool
	byFunc map[*ir.Func][]*ir.Instr
	order  []*ir.Func
}

// all gathers those of a run.
func (t *toucher) all(run *lifting.Run, log *exec.Log) {
	beside := false
	log.All(0, func(e *exec.Event) bool {
		if e.Kind == exec.KindSpawn {
			beside = true
		}
		if !beside || !e.IsAccess() || !t.data[e.Addr/8] {
			return true
		}
		for _, in := range t.touching(run, e) {
			fn := in.Block.Func
			if in.Private || slices.Contains(t.byFunc[fn], in) {
				continue
			}
			if t.byFunc[fn] == nil {
				t.order = append(t.order, fn)
			}
			t.byFunc[fn] = append(t.byFunc[fn], in)
		}
		return true
	})
}

// touching are the instructions that an access counts as, so many calls up from where it was
// made, or as far up as the program's own code goes.
func (t *toucher) touching(run *lifting.Run, e *exec.Event) []*ir.Instr {
	program := t.of.program
	instrs := program.InstrsAt(e.Site)
	for frame, level := e.Frame, t.level; level > 0; level-- {
		outer, pc := run.Caller(frame)
		calls := program.CallsAt(pc)
		if pc == 0 || len(calls) == 0 {
			break
		}
		frame, instrs = outer, calls
	}
	return instrs
}

// disturbed are words that the failing thread used in the function that it failed in, or in
// the one that called it, and that other threads wrote to, in this run or in any: for failures
// of which no machine was derived, as where a loop goes through data that is replaced under
// it. If there are none, those count that were used by what the function has called: what code
// that is not optimised looks at, it looks at in functions of their own.
func (c *failingCase) disturbed(isShared func(addr uint64) bool) map[uint64]bool {
	last := c.lastFrame()
	outer, _ := c.run.Caller(last)
	if words := c.usedIn(func(frame uint32) bool { return frame == last || frame == outer }, isShared); len(words) > 0 {
		return words
	}
	return c.usedIn(func(frame uint32) bool {
		for range maxLevels {
			if frame == last {
				return true
			}
			frame, _ = c.run.Caller(frame)
		}
		return false
	}, isShared)
}

// usedIn are the shared words that the failing thread used in some of its frames.
func (c *failingCase) usedIn(isMeant func(frame uint32) bool, isShared func(addr uint64) bool) map[uint64]bool {
	written, used := map[uint64]bool{}, map[uint64]bool{}
	c.log.All(0, func(e *exec.Event) bool {
		switch {
		case !e.IsAccess():
		case e.G != c.failure.G && e.G != mainThread && e.Writes():
			written[e.Addr/8] = true
		case e.G == c.failure.G && isMeant(e.Frame):
			used[e.Addr/8] = true
		}
		return true
	})
	both := map[uint64]bool{}
	for word := range used {
		if written[word] || isShared(8*word) {
			both[word] = true
		}
	}
	return both
}

// mainThread is the thread that sets up what the others use.
const mainThread = 1

// dataOf are the words that a failure is about: what its fixes guard, and all of the memory
// that was bad.
func (f *fixer) dataOf(c *failingCase) map[uint64]bool {
	words := map[uint64]bool{}
	for _, fix := range c.fixes {
		for _, s := range fix.Sections {
			for _, a := range s.Accesses {
				for _, addr := range a.Addrs {
					words[addr/8] = true
				}
			}
		}
	}
	if len(words) == 0 {
		words = c.disturbed(f.result.Program.IsShared)
	}
	if e, _, ok := c.log.Allocation(c.failure.Addr, c.log.Last()+1); ok && c.failure.Addr != 0 {
		for at := e.Addr; at < e.Addr+uint64(min(e.Size, 4096)); at += 8 {
			words[at/8] = true
		}
	}
	return words
}
