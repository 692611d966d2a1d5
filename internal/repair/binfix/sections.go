package binfix

import (
	"fmt"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/binpatch"
	lifting "github.com/cofferdam-go/cofferdam/internal/lift/x86"
	"github.com/cofferdam-go/cofferdam/internal/sli"
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
	"github.com/cofferdam-go/cofferdam/internal/x86"
)

// A fileImage is an image by the addresses of the program's file.
type fileImage struct{ *lifting.Image }

func (im fileImage) Decode(pc uint64, in *x86.Inst) bool { return im.Image.Decode(pc+im.Base, in) }

func (im fileImage) Bytes(addr uint64, n int) []byte { return im.Image.Bytes(addr+im.Base, n) }

// sections turns the engine's sections into machine code. The result is why that is no fix,
// "" if it is one.
func (f *fixer) sections(c *Candidate) string {
	if c.Discarded > 0 {
		return fmt.Sprintf("%d times the data is bad from one thread to another, which no section covers", c.Discarded)
	}
	for _, s := range c.Fix.Sections {
		for _, w := range s.Waits {
			if w.Sync.NeedsOthers() {
				return fmt.Sprintf("a section would wait for another thread, in %s at %#x", w.Extern, f.offset(w))
			}
		}
		section := binpatch.Section{Instructions: f.addresses(s.Instrs), Entries: f.addresses(s.Entries)}
		c.Sections = append(c.Sections, section)
	}
	return ""
}

// addresses are those of instructions in the program's file, each once.
func (f *fixer) addresses(list []*ir.Instr) []uint64 {
	var all []uint64
	for _, in := range list {
		all = append(all, f.offset(in))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func (f *fixer) offset(in *ir.Instr) uint64 { return lifting.Address(in) - f.result.Image.Base }

// jumps are the places that tables of jumps lead to.
func (f *fixer) jumps() []uint64 {
	var all []uint64
	for _, c := range f.cases {
		for _, pc := range c.program.TableTargets() {
			all = append(all, pc-f.result.Image.Base)
		}
	}
	return all
}

// throws reports whether exceptions may come out of calls, for which a shared object has tables
// that the library for unwinding is told of. A patched copy has no such library to tell.
func (f *fixer) throws() bool {
	return !f.Copy && slices.ContainsFunc([]string{"__cxa_throw", "__cxa_begin_catch", "__cxa_rethrow", "_Unwind_Resume"}, f.result.Image.Imports)
}

// states counts the states of an analysis's machines.
func states(a *sli.Analysis) int {
	n := 0
	for _, m := range a.Machines {
		n += len(m.States())
	}
	return n
}
