package repair

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/guard/whole"
	"github.com/cofferdam-go/cofferdam/internal/repair/cover"
	"github.com/cofferdam-go/cofferdam/internal/sli"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// Where the engine derives no machine, or none that leads to a fix, what else is known of the
// program proposes sections, and the proof decides:
//
//   - the calls of a library that make the accesses which race;
//   - updates that the program makes in several steps of sync/atomic or of a sync.Map;
//   - operations that came into each other: see operations.go.

// costPerSection is what a section of a proposal without a machine costs: a section and an access
// in it, as the engine counts.
const costPerSection = 11

// withoutMachine are the proposals, at most one, of sections that no machine led to.
func withoutMachine(regions []*cover.Region, data *cover.Data) []proposal {
	if len(regions) == 0 {
		return nil
	}
	return []proposal{{&sli.Fix{Cost: costPerSection * len(regions)}, regions, data}}
}

// fallbacks are the proposals that follow those of the engine.
func (r *failedRun) fallbacks() []proposal {
	var all []proposal
	add := func(regions []*cover.Region, data *cover.Data) {
		all = append(all, withoutMachine(regions, data)...)
	}
	for _, v := range r.locksHeld().Variables {
		if len(v.Operations) == 0 {
			continue
		}
		var regions []*cover.Region
		for _, g := range whole.Updates(r.locksHeld(), v.Object) {
			if region := r.groupRegion(g, false); region != nil && !r.inTest(g.Func) {
				regions = append(regions, region)
			}
		}
		add(regions, r.onlyData(v.Object))
	}
	return append(all, r.brokenOperations()...)
}

// onlyData is fields and variables of a package as data.
func (r *failedRun) onlyData(all ...*types.Var) *cover.Data {
	data := new(cover.Data)
	for _, v := range all {
		if !v.IsField() {
			data.AddGlobal(v)
		} else if owner := r.code.OwnerOf(v); owner != nil {
			data.AddField(owner, v)
		}
	}
	return data
}

// racingStatements are the proposals of sections around the accesses that race: those of the program, and
// the calls for which a library makes them. What races for a channel, such as two that close it, does so
// because of data that decides it, so sections around the data alone come first.
//
//	func (s *Set) Add(x int)    { s.mu.Lock(); s.m[x] = true; s.mu.Unlock() }
//	func (s *Set) Names() []int { return slices.Sorted(maps.Keys(s.m)) }      the library reads the map
//
// There is none if an access was made from neither.
func (r *failedRun) racingStatements() []proposal {
	var races, ofData []*trace.Failure
	for i := range r.reader.Outcome.Failures {
		f := &r.reader.Outcome.Failures[i]
		if f.Kind != event.FailureRace {
			continue
		}
		races = append(races, f)
		if !slices.ContainsFunc(append([]trace.Point{f.Point}, f.Others...), func(at trace.Point) bool { return at.Op == event.Close || at.Op == event.Send }) {
			ofData = append(ofData, f)
		}
	}
	if len(ofData) == 0 || len(ofData) == len(races) {
		return r.sectionsAroundRaces(races)
	}
	return append(r.sectionsAroundRaces(ofData), r.sectionsAroundRaces(races)...)
}

// sectionsAroundRaces are the proposals, at most one, of sections around the accesses of some races.
func (r *failedRun) sectionsAroundRaces(races []*trace.Failure) []proposal {
	var all []*cover.Region
	data := new(cover.Data)
	for _, f := range races {
		for _, at := range append([]trace.Point{f.Point}, f.Others...) {
			region := r.ownAccess(&at, data)
			if region == nil {
				region = r.ownCall(&at)
			}
			if region == nil {
				return nil
			}
			all = append(all, region)
		}
	}
	r.addGuards(data)
	return withoutMachine(cover.Merge(all), data)
}

// ownAccess is an access of the program's own source, nil if it is none. What it accesses is added
// to the data.
func (r *failedRun) ownAccess(at *trace.Point, data *cover.Data) *cover.Region {
	for _, in := range r.lifted.Program.InstrsAt(at.Site) {
		o := r.lifted.Origin(in)
		f := r.code.FileOf(o.Node)
		if f == nil {
			continue
		}
		if region := r.code.Region(cover.EnclosingFunction(f, o.Node), []ast.Node{o.Node}); region != nil {
			r.addData(data, o.Data)
			region.Write, region.Test = slices.Contains(trace.Writes(), at.Op), strings.HasSuffix(f.Name, "_test.go")
			return region
		}
	}
	return nil
}

// ownCall is the statement of the program that an access is made from: what the library does for
// a call has its site, or else the innermost call in progress.
func (r *failedRun) ownCall(at *trace.Point) *cover.Region {
	type line struct {
		file string
		line int
	}
	var lines []line
	if site, ok := r.reader.Site(at.Site); ok {
		lines = append(lines, line{site.File, site.Line})
	}
	for _, frame := range at.Stack {
		lines = append(lines, line{frame.File, frame.Line})
	}
	for _, frame := range lines {
		f := r.code.File(frame.file)
		if f == nil {
			continue
		}
		found := f.CallOnLine(f.Syntax, frame.line)
		if found == nil {
			return nil
		}
		region := r.code.Region(cover.EnclosingFunction(f, found), []ast.Node{found})
		if region != nil {
			region.Write, region.Test = true, strings.HasSuffix(f.Name, "_test.go")
		}
		return region
	}
	return nil
}
