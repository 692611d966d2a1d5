package binpatch

import (
	"fmt"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/x86"
)

// An Image is a program's file, by the addresses that it has in it.
type Image interface {
	Decode(pc uint64, in *x86.Inst) bool
	Bytes(addr uint64, n int) []byte
}

// A Section is instructions that are to be executed under the lock. The lock is taken where
// an entry is reached, and released wherever control leaves the instructions, or comes to an
// entry again.
type Section struct {
	Instructions []uint64 `json:"instructions"`
	Entries      []uint64 `json:"entries"`
}

// jumpSize is how long a jump is.
const jumpSize = 5

// An entry is a place of the program that is overwritten.
type entry struct {
	at      uint64
	section int
	trap    bool // by a breakpoint, because there is no room for a jump
}

// A plan is what is to be overwritten, and what has to be moved out of the way for that.
type plan struct {
	image    Image
	sections []map[uint64]bool // instructions
	starts   []map[uint64]bool // entries
	entries  []entry
	// displaced are instructions that a jump overwrites besides the one it begins at.
	displaced map[uint64]bool
	targets   map[uint64]bool
}

// newPlan merges sections that have instructions in common, and finds room for jumps.
// targets are all places that the program may jump to or call.
func newPlan(image Image, sections []Section, targets map[uint64]bool) (*plan, error) {
	p := &plan{image: image, displaced: map[uint64]bool{}, targets: targets}
	for _, s := range sections {
		p.add(setOf(s.Instructions), setOf(s.Entries))
	}
	for i := range p.sections {
		for _, at := range sortedKeys(p.starts[i]) {
			if err := p.enter(i, at); err != nil {
				return nil, err
			}
		}
	}
	return p, nil
}

// add adds a section, as a part of those it has instructions in common with.
func (p *plan) add(instructions, entries map[uint64]bool) {
	for i := 0; i < len(p.sections); i++ {
		if !overlap(p.sections[i], instructions) {
			continue
		}
		// An entry in the middle of the other section is none any more.
		for pc := range p.starts[i] {
			if !instructions[pc] || entries[pc] {
				entries[pc] = true
			}
		}
		for pc := range entries {
			if p.sections[i][pc] && !p.starts[i][pc] {
				delete(entries, pc)
			}
		}
		if len(entries) == 0 { // each begins in the middle of the other: a loop
			for pc := range p.starts[i] {
				entries[pc] = true
			}
		}
		for pc := range p.sections[i] {
			instructions[pc] = true
		}
		p.sections, p.starts = slices.Delete(p.sections, i, i+1), slices.Delete(p.starts, i, i+1)
		i = -1
	}
	p.sections, p.starts = append(p.sections, instructions), append(p.starts, entries)
}

// maxEarlier is how many instructions a section is made longer by, so that a jump fits.
const maxEarlier = 6

// enter finds a way to take control at an entry: a jump there, a jump some instructions
// earlier if control comes from nowhere else, or a breakpoint.
func (p *plan) enter(section int, at uint64) error {
	if p.displaced[at] {
		return nil // reached from the copy of what stands before it alone
	}
	if p.hasRoom(at) {
		p.jumpAt(section, at)
		return nil
	}
	var added []uint64
	for pc := at; len(added) < maxEarlier && !p.targets[pc]; {
		before, ok := p.before(pc)
		if !ok || p.isTaken(before) {
			break
		}
		pc = before
		added = append(added, pc)
		if p.hasRoom(pc) {
			for _, more := range added {
				p.sections[section][more] = true
			}
			delete(p.starts[section], at)
			p.starts[section][pc] = true
			p.jumpAt(section, pc)
			return nil
		}
	}
	var in x86.Inst
	if !p.image.Decode(at, &in) {
		return fmt.Errorf("there is no instruction at %#x", at)
	}
	p.entries = append(p.entries, entry{at: at, section: section, trap: true})
	return nil
}

func (p *plan) jumpAt(section int, at uint64) {
	p.entries = append(p.entries, entry{at: at, section: section})
	for pc := at; ; {
		var in x86.Inst
		if !p.image.Decode(pc, &in) {
			return
		}
		if pc += uint64(in.Len); pc >= at+jumpSize {
			return
		}
		p.displaced[pc] = true
	}
}

// isTaken reports whether an instruction belongs to a section or was moved out of the way.
func (p *plan) isTaken(pc uint64) bool {
	return p.displaced[pc] || slices.ContainsFunc(p.sections, func(s map[uint64]bool) bool { return s[pc] })
}

// hasRoom reports whether a jump can overwrite what is at an address: nothing jumps to the
// instructions after the first, and none of them is overwritten already.
func (p *plan) hasRoom(at uint64) bool {
	if p.displaced[at] {
		return false
	}
	for pc := at; pc < at+jumpSize; {
		var in x86.Inst
		if !p.image.Decode(pc, &in) || pc != at && p.targets[pc] {
			return false
		}
		ends := in.Op == x86.RET || in.Op == x86.JMP || in.Op == x86.UD2 || in.Op == x86.HLT
		pc += uint64(in.Len)
		if ends && pc < at+jumpSize {
			return p.isPadding(pc, at+jumpSize)
		}
	}
	for _, e := range p.entries {
		if !e.trap && e.at > at && e.at < at+jumpSize {
			return false
		}
	}
	return true
}

func (p *plan) isEntry(pc uint64) bool {
	return slices.ContainsFunc(p.starts, func(s map[uint64]bool) bool { return s[pc] })
}

// isPadding reports whether there is nothing but what compilers put between functions.
func (p *plan) isPadding(from, to uint64) bool {
	for pc := from; pc < to; {
		var in x86.Inst
		if !p.image.Decode(pc, &in) || in.Op != x86.NOP && in.Op != x86.INT3 || p.targets[pc] {
			return false
		}
		pc += uint64(in.Len)
	}
	return true
}

// before is the instruction in front of one, if it does not jump or call. Code can be read
// forwards only: the one beginning that many others lead to is taken.
func (p *plan) before(pc uint64) (uint64, bool) {
	found := map[uint64]int{}
	for back := uint64(1); back <= 48 && back <= pc; back++ {
		var in x86.Inst
		at, last := pc-back, uint64(0)
		for at < pc && p.image.Decode(at, &in) {
			last = at
			at += uint64(in.Len)
		}
		if at == pc && last != 0 {
			found[last]++
		}
	}
	best := uint64(0)
	for at, n := range found {
		if n > found[best] || n == found[best] && at < best {
			best = at
		}
	}
	var in x86.Inst
	if best == 0 || !p.image.Decode(best, &in) || in.EndsBlock() || in.Op == x86.NOP || in.Op == x86.ENDBR64 {
		return 0, false
	}
	return best, true
}

func setOf(list []uint64) map[uint64]bool {
	set := map[uint64]bool{}
	for _, pc := range list {
		set[pc] = true
	}
	return set
}

func overlap(a, b map[uint64]bool) bool {
	for pc := range a {
		if b[pc] {
			return true
		}
	}
	return false
}

func sortedKeys(set map[uint64]bool) []uint64 {
	all := make([]uint64, 0, len(set))
	for pc := range set {
		all = append(all, pc)
	}
	slices.Sort(all)
	return all
}
