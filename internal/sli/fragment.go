package sli

import (
	"sort"

	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
)

// A Section is a part of a function that a fix makes a critical section: a fragment
// of its control flow (section 6.1). The lock is taken when an entry is reached from
// outside, and released on every way that leaves the instructions.
type Section struct {
	Func *ir.Func
	// Instrs are the fragment, in the order of the function's code.
	Instrs  []*ir.Instr
	Entries []*ir.Instr
	// Role says why the section is there.
	Role Role
	// Accesses are what the section is there for. Those of functions that are called
	// in it are among them.
	Accesses []*Access
	// Size is s_i of the cost: how many accesses the section's code holds, with the code of
	// the functions it calls, each once.
	Size int
	// AcrossRounds says that several rounds of a loop, which is around the section in its function,
	// belong together: the section is to go around the loop.
	AcrossRounds bool
	// Waits are the operations inside it that take or wait for something of the
	// program's own.
	Waits []*ir.Instr
}

// A Role is why a section is in a fix.
type Role uint8

const (
	Reading  Role = iota + 1 // the loads of the read operation
	Updating                 // while the data is in a state in which the read operation crashes
	Writing                  // a store, or in a race any access, that must not come between the loads
)

func (r Role) String() string {
	switch r {
	case Reading:
		return "reads together"
	case Updating:
		return "update in progress"
	case Writing:
		return "other access"
	}
	return "?"
}

// An Access is a load or store of the program that a fix concerns.
type Access struct {
	ir.Point
	Store bool
	// Data is the instruction's own word for what it touches.
	Data string
	// Events are some of the times it happened, Addrs where.
	Events []uint64
	Addrs  []uint64
	// Locks were held every time it happened that was looked at.
	Locks []Held
}

// successorsOf are where an instruction can lead within its function.
func successorsOf(in *ir.Instr) []*ir.Instr {
	if !in.EndsBlock() {
		return []*ir.Instr{in.Block.Instrs[in.Index()+1]}
	}
	var all []*ir.Instr
	for _, s := range in.Block.Succs {
		all = append(all, s.Instrs[0])
	}
	return all
}

// A flowEdge is a way from one instruction to another.
type flowEdge struct{ from, to *ir.Instr }

// instrsBetween is every instruction that can be reached from one of roots and can reach
// one of them, over ways that are not cut.
func instrsBetween(fn *ir.Func, roots []*ir.Instr, cut func(from, to *ir.Instr) bool) map[*ir.Instr]bool {
	down, up := map[*ir.Instr]bool{}, map[*ir.Instr]bool{}
	back := map[*ir.Instr][]*ir.Instr{}
	for _, block := range fn.Blocks {
		for _, in := range block.Instrs {
			for _, w := range successorsOf(in) {
				if !cut(in, w) {
					back[w] = append(back[w], in)
				}
			}
		}
	}
	spread := func(seen map[*ir.Instr]bool, next func(*ir.Instr) []*ir.Instr) {
		list := append([]*ir.Instr(nil), roots...)
		for _, in := range roots {
			seen[in] = true
		}
		for len(list) > 0 {
			in := list[len(list)-1]
			list = list[:len(list)-1]
			for _, w := range next(in) {
				if !seen[w] {
					seen[w] = true
					list = append(list, w)
				}
			}
		}
	}
	spread(down, func(in *ir.Instr) []*ir.Instr {
		var all []*ir.Instr
		for _, w := range successorsOf(in) {
			if !cut(in, w) {
				all = append(all, w)
			}
		}
		return all
	})
	spread(up, func(in *ir.Instr) []*ir.Instr { return back[in] })
	both := map[*ir.Instr]bool{}
	for in := range down {
		if up[in] {
			both[in] = true
		}
	}
	return both
}

// loadsFragment turns a set of instructions of one function into a fragment, of which
// first is an entry. More entries are added for what cannot be reached from there; no
// entry can be reached from another, because a fragment ends where it would begin
// anew: otherwise loads in a loop would make a section of the whole loop.
func loadsFragment(fn *ir.Func, first *ir.Instr, set []*ir.Instr) *Section {
	entries := map[*ir.Instr]bool{first: true}
	cut := func(_, to *ir.Instr) bool { return entries[to] }
	reach := func() map[*ir.Instr]bool {
		seen := map[*ir.Instr]bool{}
		var list []*ir.Instr
		for e := range entries {
			seen[e] = true
			list = append(list, e)
		}
		for len(list) > 0 {
			in := list[len(list)-1]
			list = list[:len(list)-1]
			for _, w := range successorsOf(in) {
				if !seen[w] {
					seen[w] = true
					list = append(list, w)
				}
			}
		}
		return seen
	}
	for _, in := range set {
		if !reach()[in] {
			entries[in] = true
		}
	}
	all := instrsBetween(fn, append([]*ir.Instr{first}, set...), cut)
	return newSection(fn, all, entries)
}

// rangeFragment turns a range of a goroutine's steps within one function into a
// fragment. It does not go on beyond the end of the range, nor begin anew at its
// start, unless the range itself did.
func rangeFragment(fn *ir.Func, start, end *ir.Instr, steps []*ir.Instr) *Section {
	done := map[flowEdge]bool{}
	for i := 1; i < len(steps); i++ {
		done[flowEdge{steps[i-1], steps[i]}] = true
	}
	cut := func(from, to *ir.Instr) bool {
		return (from == end || to == start) && !done[flowEdge{from, to}]
	}
	return newSection(fn, instrsBetween(fn, steps, cut), map[*ir.Instr]bool{start: true})
}

// singleFragment is a section of one instruction.
func singleFragment(in *ir.Instr) *Section {
	return newSection(in.Block.Func, map[*ir.Instr]bool{in: true}, map[*ir.Instr]bool{in: true})
}

// newSection makes a section of a set of instructions, and counts what it holds. The code of a
// function that is called is counted once, however often it is called.
func newSection(fn *ir.Func, set, entries map[*ir.Instr]bool) *Section {
	s := &Section{Func: fn, Instrs: sorted(set), Entries: sorted(entries)}
	counted := map[*ir.Func]bool{}
	var count func(in *ir.Instr)
	count = func(in *ir.Instr) {
		switch {
		case in.IsAccess():
			s.Size++
		case in.Op == ir.Sync:
			s.Waits = append(s.Waits, in)
		case in.Op == ir.Call && in.Callee != nil && !counted[in.Callee]:
			counted[in.Callee] = true
			for _, block := range in.Callee.Blocks {
				for _, x := range block.Instrs {
					count(x)
				}
			}
		}
	}
	for _, in := range s.Instrs {
		count(in)
	}
	return s
}

func sorted(set map[*ir.Instr]bool) []*ir.Instr {
	all := make([]*ir.Instr, 0, len(set))
	for in := range set {
		all = append(all, in)
	}
	sort.Slice(all, func(i, j int) bool { return all[i].ID < all[j].ID })
	return all
}

// isSingleAccess reports whether the section makes at most one access, so that it is atomic
// without any lock. Two calls of a function with one access make two.
func (s *Section) isSingleAccess() bool {
	accessing := 0
	for _, in := range s.Instrs {
		if singleFragment(in).Size > 0 {
			accessing++
		}
	}
	return s.Size <= 1 && accessing <= 1
}

// Has reports whether the instruction is in the section.
func (s *Section) Has(in *ir.Instr) bool {
	i := sort.Search(len(s.Instrs), func(i int) bool { return s.Instrs[i].ID >= in.ID })
	return i < len(s.Instrs) && s.Instrs[i] == in
}

// overlaps reports whether the sections have instructions in common.
func (s *Section) overlaps(o *Section) bool {
	if s.Func != o.Func {
		return false
	}
	for _, in := range o.Instrs {
		if s.Has(in) {
			return true
		}
	}
	return false
}

// merge is one section for two that overlap.
func (s *Section) merge(o *Section) *Section {
	set, entries := map[*ir.Instr]bool{}, map[*ir.Instr]bool{}
	for _, x := range []*Section{s, o} {
		for _, in := range x.Instrs {
			set[in] = true
		}
	}
	within := func(x *Section, in *ir.Instr) bool {
		if !x.Has(in) {
			return false
		}
		for _, e := range x.Entries {
			if e == in {
				return false
			}
		}
		return true
	}
	for _, e := range s.Entries {
		if !within(o, e) {
			entries[e] = true
		}
	}
	for _, e := range o.Entries {
		if !within(s, e) {
			entries[e] = true
		}
	}
	if len(entries) == 0 { // each begins inside the other: a loop
		entries[s.Entries[0]] = true
	}
	m := newSection(s.Func, set, entries)
	m.Role = min(s.Role, o.Role)
	m.AcrossRounds = s.AcrossRounds || o.AcrossRounds
	m.Accesses = append(append([]*Access(nil), s.Accesses...), o.Accesses...)
	return m
}

// Enclose is one section of a function around some of its instructions: from the first that
// is reached to the last, with everything between.
func Enclose(fn *ir.Func, instrs []*ir.Instr) *Section {
	s := loadsFragment(fn, instrs[0], instrs)
	s.Role = Writing
	return s
}

// FixOf is a fix with given sections.
func FixOf(o Options, sections []*Section) *Fix {
	o = o.defaults()
	f := &Fix{Sections: sections}
	f.mergeOverlapping()
	f.computeCost(o)
	f.explain(o)
	return f
}
