package batch

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/protect/copying"
	"github.com/cofferdam-go/cofferdam/internal/protect/facts"
)

// A Section is the sections of one lock in a function, as package plan has followed them.
type Section struct {
	Finder
	Facts *facts.Facts
	Sizes types.Sizes
	// Function is what it is in.
	Function facts.FuncKey
	// Spell writes a type, if the file can.
	Spell func(types.Type) (string, bool)
	// Refused returns why there is to be no copy of what belongs to a variable, "" if there may be. Whole reports whether a map is copied
	// as a whole.
	Refused func(*types.Var) string
	Whole   func(*types.Var) bool
	// Claimed reports whether an expression is written in another way already.
	Claimed func(ast.Expr) bool
	Steps   []*Step
	// Reading says that the sections only have the lock for reading, LosesByPanic that a panic may end one before what it has
	// written can be published.
	Reading, LosesByPanic bool

	// Batches are those that it has, and Left what is used as it is, with the reason.
	Batches []*Batch
	Left    []Left

	units map[*Element]string // the path of each element's unit
}

// A Step is one of a section.
type Step struct {
	Stmt  ast.Stmt
	Nodes []ast.Node // what it evaluates
	Does  *facts.Statement
	// Opaque is why it must find all published whatever there are copies of, Loop says that it is the header of a loop, and Loops are
	// those of the section that it is in.
	Opaque string
	Loop   bool
	Loops  []ast.Stmt
	// Uses has for each batch what the step has to do with it.
	Uses []Use
	// Assignments are written in another way, if they are to copies.
	Assignments []Assignment

	elements  []*Element
	unordered string // why these cannot be calls
}

// A Left is a batch that the section does not have.
type Left struct {
	*Batch
	Why string
}

// A Batch is the copies of one kind of memory, or of the entries of one map.
type Batch struct {
	Holder *types.Var // the variable or field that the memory belongs to, or the map
	// Type is that of a unit, or of an entry, Spelling how the file writes it. Key is the type of the map's keys, as the file writes
	// it; "" if the copies are of memory.
	Type          types.Type
	Spelling, Key string
	Written       bool
	Merge         copying.Merge
	// Room is how many copies there can be at a time, and Crowds says that the section may need more.
	Room   int
	Crowds bool

	ofMap      bool
	footprint  facts.Footprint
	base, path string
	field      *types.Var // the last one on the way to a unit
}

// IsField reports whether the copies are of the fields of nodes themselves.
func (b *Batch) IsField() bool { return b.field == b.Holder }

// A Use says what a step has to do with a batch: nothing, or one of two things.
type Use struct {
	// Units are the expressions that use copies, Entries the uses of entries.
	Units   []ast.Expr
	Entries []EntryOf
	// Publishes says that the step must find all published, and Why.
	Publishes bool
	Why       string
}

// Count is how many copies a step may need.
func (u Use) Count() int { return len(u.Units) + len(u.Entries) }

// Places are the expressions that stand where copies are used.
func (u Use) Places() []ast.Expr {
	list := slices.Clone(u.Units)
	for _, e := range u.Entries {
		list = append(list, e.Map)
	}
	return list
}

func publishes(why string) Use { return Use{Publishes: true, Why: why} }

const (
	// Room is tolerate.Room, and widestUnit the size in bytes of the largest unit that a section has so many copies of.
	Room       = 8
	widestUnit = 64
)

// UsedOnce is why there are no copies of what is used once: nothing can come between.
const UsedOnce = "one access needs no copy"

// Find finds the batches of a section.
func (s *Section) Find() {
	for _, step := range s.Steps {
		if step.Opaque == "" {
			step.elements = slices.DeleteFunc(s.Finder.Find(step.Nodes), func(e *Element) bool {
				return slices.ContainsFunc(e.Parts, func(p Part) bool { return s.Claimed(p.Expr) })
			})
			step.Assignments, step.unordered = s.rewritten(step.Stmt, step.elements)
		}
	}
	s.addMemory()
	s.addEntries()
	s.Batches = slices.DeleteFunc(s.Batches, func(b *Batch) bool {
		why := s.useless(b)
		if why != "" {
			s.Left = append(s.Left, Left{b, why})
		}
		return why != ""
	})
	for _, step := range s.Steps {
		for _, b := range s.Batches {
			step.Uses = append(step.Uses, s.use(b, step))
		}
	}
	s.makeRoom()
}

// makeRoom finds out how many copies the sections need of each batch. A step that is in no loop comes once, and what a section has
// copies of at its end is published.
func (s *Section) makeRoom() {
	for i, b := range s.Batches {
		for _, step := range s.Steps {
			b.Room += step.Uses[i].Count()
			b.Crowds = b.Crowds || slices.ContainsFunc(step.Uses[i].Places(), step.repeats)
		}
		if b.Crowds = b.Crowds || b.Room > Room; b.Crowds {
			b.Room = Room
		}
	}
}

// addMemory adds a batch for each kind of memory that transparent steps use. Where a unit is a part of another, both are the other.
func (s *Section) addMemory() {
	s.units = make(map[*Element]string)
	paths := make(map[string][]string)
	for _, step := range s.Steps {
		for _, e := range step.elements {
			paths[e.Base] = append(paths[e.Base], e.Whole().Path)
		}
	}
	for _, step := range s.Steps {
		for _, e := range step.elements {
			s.units[e] = unitOf(e.Whole().Path, paths[e.Base])
			unit, ok := e.PartAt(s.units[e])
			known := slices.ContainsFunc(s.Batches, func(b *Batch) bool { return b.base == e.Base && b.path == unit.Path })
			if !ok || known {
				continue
			}
			b := &Batch{Holder: unit.Variable, Type: unit.Type, base: e.Base, path: unit.Path, field: unit.Field}
			b.footprint = s.footprint(b)
			s.add(b)
		}
	}
}

// unitOf returns the shortest of the paths that lead to what a path leads through.
func unitOf(path string, paths []string) string {
	unit := path
	for _, p := range paths {
		rest, ok := strings.CutPrefix(path, p)
		if ok && len(p) < len(unit) && (rest == "" || rest[0] == '.' || rest[0] == '[') {
			unit = p
		}
	}
	return unit
}

// footprint describes the units of a batch. That to which a field leads is reached by way of the field, or by a pointer to it; of
// an array in the field it may be an element.
func (s *Section) footprint(b *Batch) facts.Footprint {
	behind := s.Facts.FootprintBehind(b.Holder.Name(), b.Type)
	if b.field == nil {
		return behind
	}
	m := s.Facts.FootprintIn(s.Function, b.field)
	if strings.HasSuffix(b.path, "]") && m.Exposure != facts.Hidden {
		m.Keys, m.Types = append(m.Keys, behind.Keys...), append(m.Types, behind.Types...)
	}
	return m
}

// add adds a batch, if there can be one.
func (s *Section) add(b *Batch) {
	var ok bool
	b.Spelling, ok = s.Spell(b.Type)
	why := s.Refused(b.Holder)
	switch {
	case why != "":
	case !ok:
		why = "its type has no name there"
	case copying.Unfit(b.Type, s.Sizes) != "":
		why = copying.Unfit(b.Type, s.Sizes)
	case s.Sizes.Sizeof(b.Type) > widestUnit, s.Sizes.Sizeof(b.Type) == 0:
		why = fmt.Sprintf("it has %d bytes", s.Sizes.Sizeof(b.Type))
	}
	if why != "" {
		s.Left = append(s.Left, Left{b, why})
		return
	}
	s.Batches = append(s.Batches, b)
}

// use finds out what a step has to do with a batch.
func (s *Section) use(b *Batch, step *Step) Use {
	switch {
	case step.Opaque != "":
		return publishes(step.Opaque)
	case step.Does.Acquires:
		return publishes("takes another lock")
	case b.ofMap:
		return s.useOfEntries(b, step)
	}
	var use Use
	var at []token.Pos
	for _, e := range step.elements {
		if unit, ok := e.PartAt(b.path); ok && e.Base == b.base {
			use.Units, at = append(use.Units, unit.Expr), append(at, unit.At)
		}
	}
	switch {
	case len(use.Units) > 0 && step.unordered != "":
		return publishes(step.unordered)
	case step.Loop && slices.ContainsFunc(use.Units, step.isInRounds):
		return publishes("uses it in the header of a loop")
	case len(use.Units) > Room:
		return publishes("uses more of it than there is room for")
	}
	for _, t := range step.Does.Touches {
		own := slices.ContainsFunc(at, t.LeadsThrough)
		switch why := s.Facts.MayReach(t, b.footprint); {
		case own && t.Taken:
			return publishes("takes its address")
		case !own && why != "":
			return publishes(why)
		}
	}
	if why := s.calledReaching(b.footprint, step); why != "" {
		return publishes(why)
	}
	return use
}

// calledReaching returns how a function that a step calls may reach some memory, "" if none does.
func (s *Section) calledReaching(m facts.Footprint, step *Step) string {
	for _, c := range step.Does.Calls {
		if e := s.Facts.EffectOf(c.Func); e == nil || e.Names(m) || e.MayPointTo(m) != "" {
			return c.String() + ", which may use it"
		}
	}
	return ""
}

// useless returns why there should be no batch, and finds out whether the copies are written, and how their changes are merged.
func (s *Section) useless(b *Batch) string {
	uses, all, why := 0, 0, ""
	passes := passing{section: s}
	for _, step := range s.Steps {
		use, named := s.use(b, step), s.named(b, step)
		passes.add(step, use)
		all += named
		switch {
		case use.Count() > 0:
			uses += named
		case named > 0 && why == "":
			why = "a statement that uses it " + use.Why
		}
		s.addMerge(b, step, use)
	}
	if at, ok := s.Facts.Declaration(b.Holder); ok && b.IsField() && slices.Contains(copying.Merges, copying.Merge(at.Asked)) {
		b.Merge = copying.Merge(at.Asked)
	}
	switch {
	case b.Written && s.Reading:
		return "it is written in a section that may only read"
	case b.Written && s.LosesByPanic:
		return "what is written to it could be lost by a panic"
	case all < 2:
		return UsedOnce
	case uses < 2:
		return why
	case all == repeated && !b.Written:
		return passes.why()
	}
	return ""
}

// named is how often a step uses what would be in a batch, be it by copies or not.
func (s *Section) named(b *Batch, step *Step) (n int) {
	if b.ofMap {
		for _, a := range step.Does.Accesses {
			if s.isSame(a.Last, b.Holder) && s.entryOf(a) != nil {
				n += step.times(a.Node)
			}
		}
		return n
	}
	for _, e := range step.elements {
		if e.Base == b.base && s.units[e] == b.path {
			n += step.times(e.Whole().Expr)
		}
	}
	return n
}

// addMerge adds what a step does to copies of a batch.
func (s *Section) addMerge(b *Batch, step *Step, use Use) {
	add := func(u facts.Update) {
		m := copying.MergeOf(u)
		if b.Written && b.Merge != m {
			m = copying.Keeping
		}
		b.Written, b.Merge = true, m
	}
	for _, e := range step.elements {
		unit, ok := e.PartAt(b.path)
		if !ok || !slices.Contains(use.Units, unit.Expr) {
			continue
		}
		for _, t := range step.Does.Touches {
			if t.Write && t.LeadsThrough(unit.At) {
				add(t.Update)
			}
		}
	}
	for _, e := range use.Entries {
		if u, changes := s.updateOf(e.Use); changes {
			add(u)
		}
	}
}
