package guard

import (
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/guard/lockset"
)

// A subject is a variable with the sites that count for it. Those of a struct without a name
// are the sites of its parts, too, which nothing else has:
//
//	stats struct{ hits, misses int } // guarded by mu
//	s.stats.hits++                   // a write of stats
//
// So are those of a struct with a name if a comment says that a lock guards the variable.
type subject struct {
	*lockset.Variable
	sites []*lockset.Site
	// parts are the fields that the sites of the struct's parts access.
	parts []*lockset.Variable
	// partOf are the parts by the instructions that access them.
	partOf map[ssa.Instruction]*lockset.Variable
}

// subjectsOf returns the variables with their sites.
func (c *chooser) subjectsOf(variables []*lockset.Variable) []*subject {
	accessed := make(map[ssa.Instruction]*lockset.Variable)
	for _, v := range variables {
		for _, s := range v.Naming() {
			for _, o := range s.Observations {
				accessed[o.Instr] = v
			}
		}
	}
	var all []*subject
	for _, v := range variables {
		s := &subject{Variable: v, sites: v.Naming()}
		if isUnnamedStruct(v.Object.Type()) || c.isStated(v.Object) {
			s.addParts(c, accessed)
		}
		all = append(all, s)
	}
	return all
}

func isUnnamedStruct(t types.Type) bool {
	_, ok := types.Unalias(t).(*types.Struct)
	return ok
}

// isStated reports whether a comment says that a lock beside a variable guards it.
func (c *chooser) isStated(v *types.Var) bool {
	return slices.ContainsFunc(c.declarations.locksBeside(v), func(l *types.Var) bool {
		return l.IsField() && slices.ContainsFunc(c.declarations.signsBetween(v, l, c.besideWay(l)), Sign.states)
	})
}

// addParts adds the sites of the parts, by line.
func (s *subject) addParts(c *chooser, accessed map[ssa.Instruction]*lockset.Variable) {
	type line struct {
		file string
		line int
	}
	s.sites = slices.Clone(s.sites)
	byLine := make(map[line]*lockset.Site)
	s.partOf = make(map[ssa.Instruction]*lockset.Variable)
	for _, o := range s.Parts {
		part := accessed[o.Instr]
		if part == nil || part.Atomic || part == s.Variable {
			continue
		}
		s.partOf[o.Instr] = part
		if !slices.Contains(s.parts, part) {
			s.parts = append(s.parts, part)
		}
		at := c.fset.Position(o.At)
		k := line{at.Filename, at.Line}
		site := byLine[k]
		if site == nil {
			site = &lockset.Site{At: at, Func: o.Instr.Parent()}
			byLine[k] = site
			s.sites = append(s.sites, site)
		}
		site.Kind = max(site.Kind, o.Kind)
		site.Observations = append(site.Observations, o)
	}
}

// conflicts reports whether an observation can happen together with another one of the same
// part, one of them a write.
func (s *subject) conflicts(o lockset.Observation) bool {
	part := s.partOf[o.Instr]
	if part == nil {
		return s.Conflicts(o)
	}
	return slices.ContainsFunc(s.Parts, func(p lockset.Observation) bool {
		return s.partOf[p.Instr] == part && (o.Kind == Write || p.Kind == Write) && !o.Excludes(p)
	})
}

// isOfSamePart reports whether two observations may be of the same part of a struct. The parts of a struct
// that another package declares are no variables of the program, and are told apart by where they are.
func (s *subject) isOfSamePart(o, p lockset.Observation) bool {
	x, y := s.partOf[o.Instr], s.partOf[p.Instr]
	if x != nil && y != nil {
		return x == y
	}
	at, ok := addressOf(o.Instr).(*ssa.FieldAddr)
	other, also := addressOf(p.Instr).(*ssa.FieldAddr)
	return !ok || !also || at.Field == other.Field || !types.Identical(at.X.Type(), other.X.Type())
}

// addressOf is what an instruction loads from or stores to, nil if it does neither.
func addressOf(i ssa.Instruction) ssa.Value {
	switch i := i.(type) {
	case *ssa.UnOp:
		return i.X
	case *ssa.Store:
		return i.Addr
	}
	return nil
}

// preferParts decides for a struct whose parts are guarded by themselves as well which of them
// are told: the struct, unless more speaks for a part. A struct that is accessed as a whole, or
// of which a comment says that it is guarded, always is.
func (c *chooser) preferParts(s *subject, chosen map[*lockset.Variable]*choice) {
	whole := chosen[s.Variable]
	if whole == nil || len(s.parts) == 0 {
		return
	}
	must := len(s.Variable.Naming()) > 0 || slices.ContainsFunc(whole.datum.Evidence.Signs, Sign.states)
	better := func(p *lockset.Variable) bool {
		part := chosen[p]
		return part != nil && part.lock == whole.lock && part.datum.Confidence > whole.datum.Confidence+1e-9
	}
	if !must && slices.ContainsFunc(s.parts, better) {
		delete(chosen, s.Variable)
		return
	}
	for _, p := range s.parts {
		if part := chosen[p]; part != nil && part.lock == whole.lock && s.covers(p) {
			delete(chosen, p)
		}
	}
}

// covers reports whether all that accesses a part accesses it as a part of this struct.
func (s *subject) covers(part *lockset.Variable) bool {
	for _, site := range part.Naming() {
		for _, o := range site.Observations {
			if s.partOf[o.Instr] != part {
				return false
			}
		}
	}
	return true
}
