package repair

import (
	"go/ast"
	"go/types"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/guard/lockset"
	"github.com/cofferdam-go/cofferdam/internal/lift/gossa"
	"github.com/cofferdam-go/cofferdam/internal/repair/cover"
	"github.com/cofferdam-go/cofferdam/internal/repair/uncovered"
	"github.com/cofferdam-go/cofferdam/internal/sli"
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// regions turns the sections that the engine derived into regions of the source. It returns
// nil if a section is not in the source.
func (r *failedRun) regions(derived *sli.Fix) []*cover.Region {
	var all []*cover.Region
	for _, s := range derived.Sections {
		region := r.region(s)
		if region == nil {
			return nil
		}
		all = append(all, region)
	}
	return all
}

// region is the region of a section, nil if the section is not in the source.
func (r *failedRun) region(s *sli.Section) *cover.Region {
	fn := r.lifted.Function(s.Func)
	if fn == nil || fn.Syntax() == nil {
		return nil
	}
	var nodes []ast.Node
	elements := false
	for _, in := range s.Instrs {
		o := r.lifted.Origin(in)
		if o.Node == nil || in.Op != ir.Load && in.Op != ir.Store && in.Op != ir.Update && in.Op != ir.Call {
			continue
		}
		nodes = append(nodes, o.Node)
		elements = elements || lockset.IsLoopElement(o.Instr)
	}
	region := r.code.Region(fn.Syntax(), nodes)
	if region == nil {
		return nil
	}
	region.Data, region.Elements, region.Test, region.AcrossRounds = nil, elements, s.Func.TestCode, s.AcrossRounds
	region.Write = s.Role == sli.Updating
	for _, x := range s.Accesses {
		region.Write = region.Write || x.Store
		if o := r.lifted.Origin(x.Instr); o.Node != nil {
			region.Data = append(region.Data, o.Node)
		}
		var access cover.Access
		for _, h := range x.Locks {
			access.Held = append(access.Held, cover.HeldLock{Lock: r.lockAt[h.Lock], Read: h.Read})
		}
		region.Accesses = append(region.Accesses, access)
	}
	return region
}

// dataOf collects what the accesses of sections touch, and the locks that they hold or that guard
// it elsewhere. A section may come to objects of the test by what it calls: its lock is not for these.
func (r *failedRun) dataOf(derived *sli.Fix) *cover.Data {
	d := new(cover.Data)
	var touched []gossa.Data
	for _, s := range derived.Sections {
		for _, x := range s.Accesses {
			at, _ := r.behind(x)
			touched = append(touched, at)
			for _, h := range x.Locks {
				if lock := r.lockAt[h.Lock]; lock != nil {
					d.AddHeld(lock)
				}
			}
		}
	}
	ofProgram := slices.ContainsFunc(touched, func(at gossa.Data) bool { return (at.Field != nil || at.Global != nil) && !r.isOfTest(at) })
	for _, at := range touched {
		if !ofProgram || !r.isOfTest(at) {
			r.addData(d, at)
		}
	}
	r.addGuards(d)
	return d
}

// isOfTest reports whether an access touches a field or a variable that test code declares.
func (r *failedRun) isOfTest(at gossa.Data) bool {
	declared := at.Global
	if at.Field != nil {
		declared = at.Field
	}
	return declared != nil && uncovered.IsTestFile(r.code.Fset.Position(declared.Pos()).Filename)
}

// addData adds what an access touches.
func (r *failedRun) addData(d *cover.Data, at gossa.Data) {
	switch {
	case at.Field != nil:
		owner := at.Struct
		if _, unnamed := types.Unalias(owner).(*types.Struct); unnamed {
			if outer := r.code.OwnerOf(at.Field); outer != nil {
				owner = outer
			}
		}
		d.AddField(owner, at.Field)
	case at.Global != nil:
		d.AddGlobal(at.Global)
	case at.Local != nil:
		if v := r.code.VariableAt(at.Local.Pos(), at.Local.Name()); v != nil {
			d.AddLocal(v)
		}
	}
}

// racesLeft counts the data races of the run of which an access is in no region.
func (r *failedRun) racesLeft(regions []*cover.Region) int {
	covered := func(at *trace.Point) bool {
		site, ok := r.reader.Site(at.Site)
		return ok && slices.ContainsFunc(regions, func(region *cover.Region) bool { return region.Covers(site.File, site.Line) })
	}
	n := 0
	for i := range r.reader.Outcome.Failures {
		f := &r.reader.Outcome.Failures[i]
		if f.Kind == event.FailureRace && len(f.Others) == 1 && !(covered(&f.Point) && covered(&f.Others[0])) {
			n++
		}
	}
	return n
}
