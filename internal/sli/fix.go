package sli

import (
	"fmt"
	"sort"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/sli/exec"
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
)

// A Fix is a set of critical sections of one lock. With them the read operation does
// not run in parallel with the stores that disturb it, nor while the data is in a
// state in which it crashes.
type Fix struct {
	// Machines lead to this fix; the first is the smallest.
	Machines []*Machine
	Sections []*Section
	// Discarded counts the crashing regions that begin and end in different
	// goroutines, or have no beginning or no end: no section covers them (n_u).
	Discarded int
	// Omitted counts, for an access that was raced with, the loads of the same call
	// that decide about it, can be disturbed themselves and are in no section.
	Omitted int
	// WholeUpdates says that stores stay together with the loads that they depend on, beyond
	// what the paper does.
	WholeUpdates bool
	// AsPublished says that the paper's algorithm gives it: sections for a crash, with single stores
	// kept out. The others are for races, lost updates, whole updates and all rounds of a loop.
	AsPublished bool
	// Plain says that it is no more than a section around each of two accesses that race.
	Plain bool
	Cost  int
	// Price says for a person what the cost is made of, Reasons what is good or bad about the sections as
	// they were derived: those that are written may be others.
	Price   string
	Reasons []string
	key     string
}

// Data are the program's words for what the sections are there for, each once.
func (f *Fix) Data() []string {
	var all []string
	seen := map[string]bool{}
	for _, s := range f.Sections {
		for _, access := range s.Accesses {
			if access.Data != "" && !seen[access.Data] {
				seen[access.Data] = true
				all = append(all, access.Data)
			}
		}
	}
	return all
}

// A grouping says what the sections of a fix keep together beyond what the paper's keep.
type grouping struct {
	wholeUpdates bool // stores, with the loads of the same memory that they depend on
	aroundLoops  bool // the loads of several rounds of a loop
}

// isPublished reports whether the sections are the paper's.
func (g grouping) isPublished() bool { return g == grouping{} }

// buildFix turns what a machine's specialisations found into sections.
func (a *analyser) buildFix(derivation *deriver, conflicts *machineConflicts, specialisations []*specialisation, locator *eventLocator, order *happensBefore, together grouping) *Fix {
	if len(conflicts.loads) == 0 || len(conflicts.writes) == 0 {
		return nil
	}
	f := &Fix{Machines: []*Machine{conflicts.machine}, Discarded: len(conflicts.discarded), WholeUpdates: together.wholeUpdates}
	read := a.readSection(derivation, conflicts, specialisations, order, together)
	if read == nil {
		return nil
	}
	f.Sections = append(f.Sections, read)
	for _, region := range conflicts.regions {
		if s := locator.spans[[2]uint64{region.start.Seq, region.end.Seq}].section(); s != nil {
			s.Role = Updating
			f.Sections = append(f.Sections, s)
		} else {
			f.Discarded++
		}
	}
	f.mergeOverlapping()
	for _, access := range a.disturbingAccesses(conflicts, locator, order) {
		s := f.sectionHolding(access.Point)
		if s == nil || together.wholeUpdates {
			s = singleFragment(access.Instr)
			if together.wholeUpdates {
				s = a.sectionOver(a.operationOf(access), s)
			}
			s.Role = Writing
			f.Sections = append(f.Sections, s)
		}
		s.Accesses = append(s.Accesses, access)
	}
	f.dropContained()
	f.mergeOverlapping()
	f.computeCost(a.options)
	return f
}

// disturbingAccesses are the accesses that disturb the read operation, each once.
func (a *analyser) disturbingAccesses(conflicts *machineConflicts, locator *eventLocator, order *happensBefore) []*Access {
	var all []*Access
	byPoint := map[ir.Point]*Access{}
	for _, seq := range sortedKeys(conflicts.writes) {
		event, p := conflicts.writes[seq], locator.points[seq]
		if p.Instr == nil {
			continue
		}
		access := byPoint[p]
		if access == nil {
			access = &Access{Point: p, Store: event.Writes(), Data: p.Instr.Data}
			byPoint[p] = access
			all = append(all, access)
		}
		access.addOccurrence(event.Seq, event.Addr, order.stampOf(event, a.replay.Trace.Last()))
	}
	return all
}

// hasManyWriters reports whether something that the machine loads is written by more than
// one goroutine.
func (res *machineConflicts) hasManyWriters() bool {
	for _, event := range res.writes {
		if len(res.writersOf[event.Addr]) > 1 {
			return true
		}
	}
	return false
}

// dropContained drops sections of single accesses that are made, in every way that was seen,
// inside another section.
func (f *Fix) dropContained() {
	kept := f.Sections[:0:0]
	for i, s := range f.Sections {
		inside := s.Role == Writing
		for _, access := range s.Accesses {
			held := false
			for j, o := range f.Sections {
				held = held || i != j && o.holds(access.Point) && !(s.Func == o.Func && i < j)
			}
			inside = inside && held
		}
		if !inside {
			kept = append(kept, s)
			continue
		}
		for _, access := range s.Accesses {
			for j, o := range f.Sections {
				if i != j && o.holds(access.Point) {
					o.Accesses = append(o.Accesses, access)
					break
				}
			}
		}
	}
	f.Sections = kept
}

// sectionHolding is the section that an access is made in, there or in a call from there.
func (f *Fix) sectionHolding(p ir.Point) *Section {
	for _, s := range f.Sections {
		if s.holds(p) {
			return s
		}
	}
	return nil
}

// holds reports whether a point is executed within the section, there or in a call from there.
func (s *Section) holds(p ir.Point) bool {
	for context, in := p.Context, p.Instr; context != nil && in != nil; context, in = context.Parent, context.Call {
		if s.Func == context.Func && s.Has(in) {
			return true
		}
	}
	return false
}

func (f *Fix) isCovered(p ir.Point) bool { return f.sectionHolding(p) != nil }

// sectionOver is one section for points that belong together; otherwise, if there is only
// one point or no call that all were made from.
func (a *analyser) sectionOver(points []ir.Point, otherwise *Section) *Section {
	if len(points) < 2 {
		return otherwise
	}
	context := points[0].Context
	for _, p := range points[1:] {
		if context = ir.CommonContext(context, p.Context); context == nil {
			return otherwise
		}
	}
	set := instrsIn(context, points)
	if set == nil {
		return otherwise
	}
	s := loadsFragment(context.Func, set[0], set)
	for _, p := range points[:len(points)-1] {
		s.Accesses = append(s.Accesses, &Access{Point: p, Data: p.Instr.Data})
	}
	return s
}

// instrsIn are the instructions of a context's function that points were reached by; nil if
// one was reached by no call in the program, as a function is that code outside calls.
func instrsIn(context *ir.Context, points []ir.Point) []*ir.Instr {
	var all []*ir.Instr
	for _, p := range points {
		in := p.Context.InstrIn(context, p.Instr)
		if in == nil {
			return nil
		}
		all = append(all, in)
	}
	return all
}

const maxOccurrences = 16

// addOccurrence notes one time that the access happened. Only locks that were held every time
// remain; one that was held for reading at any time counts as that.
func (x *Access) addOccurrence(seq, addr uint64, st *stamp) {
	var held []Held
	if st != nil {
		held = st.held
	}
	if len(x.Events) == 0 {
		x.Locks = append([]Held(nil), held...)
	} else {
		kept := x.Locks[:0]
		for _, h := range x.Locks {
			for _, g := range held {
				if g.Lock == h.Lock {
					h.Read = h.Read || g.Read
					kept = append(kept, h)
					break
				}
			}
		}
		x.Locks = kept
	}
	if len(x.Events) < maxOccurrences {
		x.Events = append(x.Events, seq)
		x.Addrs = append(x.Addrs, addr)
	}
}

func sortedKeys(m map[uint64]exec.Event) []uint64 {
	all := make([]uint64, 0, len(m))
	for k := range m {
		all = append(all, k)
	}
	sort.Slice(all, func(i, j int) bool { return all[i] < all[j] })
	return all
}

// mergeOverlapping makes one section of all that overlap.
func (f *Fix) mergeOverlapping() {
	for i := 0; i < len(f.Sections); i++ {
		for j := i + 1; j < len(f.Sections); j++ {
			if f.Sections[i].overlaps(f.Sections[j]) {
				f.Sections[i] = f.Sections[i].merge(f.Sections[j])
				f.Sections = append(f.Sections[:j], f.Sections[j+1:]...)
				i = -1
				break
			}
		}
	}
	for _, s := range f.Sections {
		seen := map[ir.Point]*Access{}
		kept := s.Accesses[:0]
		for _, access := range s.Accesses {
			if seen[access.Point] == nil {
				seen[access.Point] = access
				kept = append(kept, access)
			}
		}
		s.Accesses = kept
	}
	sort.SliceStable(f.Sections, func(i, j int) bool {
		if f.Sections[i].Role != f.Sections[j].Role {
			return f.Sections[i].Role < f.Sections[j].Role
		}
		return f.Sections[i].Instrs[0].ID < f.Sections[j].Instrs[0].ID
	})
	var keys []string
	for _, s := range f.Sections {
		var k strings.Builder
		for _, in := range s.Instrs {
			fmt.Fprintf(&k, "%d,", in.ID)
		}
		if s.AcrossRounds {
			k.WriteString("in all rounds")
		}
		keys = append(keys, k.String())
	}
	sort.Strings(keys)
	f.key = strings.Join(keys, ";")
}

// isTrivial reports whether every section is a single access: accesses are atomic
// already, so such a fix changes nothing (section 6.3).
func (f *Fix) isTrivial() bool {
	for _, s := range f.Sections {
		if !s.isSingleAccess() || s.AcrossRounds {
			return false
		}
	}
	return true
}

// computeCost is the formula of section 6.3: U for each region that no section covers, C_s
// for each section, 1 for each access in one.
func (f *Fix) computeCost(o Options) {
	f.Cost = o.Discarded*f.Discarded + o.Section*len(f.Sections)
	for _, s := range f.Sections {
		f.Cost += s.Size
	}
}

// addFix keeps a fix, unless it is there already.
func (a *analyser) addFix(f *Fix) {
	for _, g := range a.fixes {
		if g.key == f.key {
			g.Machines = append(g.Machines, f.Machines...)
			g.Omitted = min(g.Omitted, f.Omitted)
			g.AsPublished = g.AsPublished || f.AsPublished
			if f.Discarded < g.Discarded {
				g.Discarded = f.Discarded
				g.computeCost(a.options)
			}
			return
		}
	}
	a.fixes = append(a.fixes, f)
}

// rankFixes orders the fixes by their cost and says what is to be said about each. One that
// leaves out what decides about a racing access comes after those that do not: it may
// end the race and leave the error.
func (a *analyser) rankFixes() {
	sort.SliceStable(a.fixes, func(i, j int) bool {
		x, y := a.fixes[i], a.fixes[j]
		if x.Plain != y.Plain {
			return y.Plain
		}
		if (x.Omitted > 0) != (y.Omitted > 0) {
			return y.Omitted > 0
		}
		return x.Cost < y.Cost
	})
	for _, f := range a.fixes {
		f.explain(a.options)
	}
	a.analysis.Fixes = a.fixes
	if len(a.fixes) == 0 && len(a.analysis.Reasons) == 0 {
		a.addReason("no store of another %s can come between what the crashing %[1]s read, or only one that a lock would not keep out", a.options.Actor)
	}
}

// explain says for a person what the cost is made of, and what to look at.
func (f *Fix) explain(o Options) {
	size := 0
	for _, s := range f.Sections {
		size += s.Size
	}
	f.Price = fmt.Sprintf("cost %d: %s (%d each), %s in %s", f.Cost,
		counted(len(f.Sections), "section", "sections"), o.Section, counted(size, "access", "accesses"), pronoun(len(f.Sections), "it", "them"))
	if f.Discarded > 0 {
		f.Reasons = append(f.Reasons, fmt.Sprintf("%s, the data was in a state in which the operation crashes from one %s to another, or for good; no section covers that (%d each)", times(f.Discarded), o.Actor, o.Discarded))
	}
	if f.Omitted > 0 {
		f.Reasons = append(f.Reasons, fmt.Sprintf("%s about the access %s outside its section", counted(f.Omitted, "load that decides", "loads that decide"), pronoun(f.Omitted, "stays", "stay")))
	}
	waits := 0
	for _, s := range f.Sections {
		for _, w := range s.Waits {
			if w.Sync.NeedsOthers() {
				waits++
			}
		}
	}
	if waits > 0 {
		f.Reasons = append(f.Reasons, fmt.Sprintf("%s inside its sections may wait for another %s", counted(waits, "operation", "operations"), o.Actor))
	}
}

// counted is a number of things, in words.
func counted(n int, one, several string) string {
	if n == 1 {
		return "one " + one
	}
	return fmt.Sprintf("%d %s", n, several)
}

// times is how often something happened.
func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// pronoun is the word for one thing, or for several.
func pronoun(n int, one, several string) string {
	if n == 1 {
		return one
	}
	return several
}

// Merge is one fix with the sections of several, for failures that one lock is to end.
func Merge(o Options, fixes ...*Fix) *Fix {
	o = o.defaults()
	m := &Fix{}
	for _, f := range fixes {
		m.Machines = append(m.Machines, f.Machines...)
		for _, s := range f.Sections {
			c := *s
			c.Accesses = append([]*Access(nil), s.Accesses...)
			m.Sections = append(m.Sections, &c)
		}
		m.Discarded += f.Discarded
		m.Omitted += f.Omitted
	}
	m.mergeOverlapping()
	m.computeCost(o)
	m.explain(o)
	return m
}
