package binfix

import (
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/sli"
	"github.com/cofferdam-go/cofferdam/internal/sli/exec"
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
)

// enclosing is the fix of last resort: in each function that touches the data of a failure,
// while threads run beside one another, all that does so becomes one section. It is more
// than the failure shows to be needed, and right for operations that the engine sees only a
// part of, such as a reference count that is decremented and then looked at again.
func (f *fixer) enclosing() *sli.Fix {
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
			for _, in := range c.program.InstrsAt(e.Site) {
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
	if e, _, ok := c.log.Allocation(c.failure.Addr, c.log.Last()+1); ok && c.failure.Addr != 0 {
		for at := e.Addr; at < e.Addr+uint64(min(e.Size, 4096)); at += 8 {
			words[at/8] = true
		}
	}
	return words
}
