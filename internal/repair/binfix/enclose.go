package binfix

import (
	"slices"

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
func (f *fixer) enclosing(level int) *sli.Fix {
	var sections []*sli.Section
	for _, c := range f.cases {
		data := c.data()
		byFunc := map[*ir.Func][]*ir.Instr{}
		var order []*ir.Func
		beside := false
		c.log.All(0, func(e *exec.Event) bool {
			if e.Kind == exec.KindSpawn {
				beside = true
			}
			if !beside || !e.IsAccess() || !data[e.Addr/8] {
				return true
			}
			for _, in := range c.touching(e, level) {
				fn := in.Block.Func
				if in.Private || slices.Contains(byFunc[fn], in) {
					continue
				}
				if byFunc[fn] == nil {
					order = append(order, fn)
				}
				byFunc[fn] = append(byFunc[fn], in)
			}
			return true
		})
		for _, fn := range order {
			slices.SortFunc(byFunc[fn], func(a, b *ir.Instr) int { return a.ID - b.ID })
			s := sli.Enclose(fn, byFunc[fn])
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

// touching are the instructions that an access counts as, so many calls up from where it was
// made, or as far up as the program's own code goes.
func (c *failingCase) touching(e *exec.Event, level int) []*ir.Instr {
	instrs := c.program.InstrsAt(e.Site)
	for frame := e.Frame; level > 0; level-- {
		outer, pc := c.run.Caller(frame)
		calls := c.program.CallsAt(pc)
		if pc == 0 || len(calls) == 0 {
			break
		}
		frame, instrs = outer, calls
	}
	return instrs
}

// disturbed are words that the failing thread used in the function that it failed in, or in
// the one that called it, and that other threads wrote to: for failures of which no machine
// was derived, as where a loop goes through data that is replaced under it.
func (c *failingCase) disturbed() map[uint64]bool {
	written, used, last := map[uint64]bool{}, map[uint64]bool{}, uint32(0)
	c.log.All(0, func(e *exec.Event) bool {
		if e.IsAccess() && e.G == c.failure.G {
			last = e.Frame
		}
		return true
	})
	outer, _ := c.run.Caller(last)
	c.log.All(0, func(e *exec.Event) bool {
		switch {
		case !e.IsAccess():
		case e.G != c.failure.G && e.G != mainThread && e.Writes():
			written[e.Addr/8] = true
		case e.G == c.failure.G && (e.Frame == last || e.Frame == outer):
			used[e.Addr/8] = true
		}
		return true
	})
	both := map[uint64]bool{}
	for word := range used {
		if written[word] {
			both[word] = true
		}
	}
	return both
}

// mainThread is the thread that sets up what the others use.
const mainThread = 1

// data are the words that a failure is about: what its fixes guard, and all of the memory
// that was bad.
func (c *failingCase) data() map[uint64]bool {
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
		words = c.disturbed()
	}
	if e, _, ok := c.log.Allocation(c.failure.Addr, c.log.Last()+1); ok && c.failure.Addr != 0 {
		for at := e.Addr; at < e.Addr+uint64(min(e.Size, 4096)); at += 8 {
			words[at/8] = true
		}
	}
	return words
}
