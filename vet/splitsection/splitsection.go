// Package splitsection is an analyzer that reports data which is read in one section of its lock
// and written, by what was read, in a later one. What other goroutines do in between is lost:
//
//	c.mu.Lock()
//	_, ok := c.m[k]
//	c.mu.Unlock()
//	if !ok {
//		v := compute(k)
//		c.mu.Lock()
//		c.m[k] = v      // by what an earlier section has read
//		c.mu.Unlock()
//	}
//
// A second look at the data in the later section, before the write, makes it right, and is not
// reported. Which lock guards what is that of package guards.
//
// splitsection.go has the analyzer.
package splitsection

import (
	"fmt"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/guard"
	"github.com/cofferdam-go/cofferdam/internal/guard/lockset"
	"github.com/cofferdam-go/cofferdam/internal/guard/whole"
	"github.com/cofferdam-go/cofferdam/vet/guards"
)

// Analyzer reports sections that belong together.
var Analyzer = &analysis.Analyzer{
	Name: "splitsection",
	Doc: `report data that is checked in one section of its lock and used in another

What other goroutines do between the two sections is overwritten, or makes the
check untrue.`,
	URL:      "https://pkg.go.dev/github.com/cofferdam-go/cofferdam/vet/splitsection",
	Run:      run,
	Requires: []*analysis.Analyzer{guards.Analyzer},
}

func run(pass *analysis.Pass) (any, error) {
	known := pass.ResultOf[guards.Analyzer].(*guards.Result)
	if known.Guards == nil {
		return nil, nil
	}
	for _, g := range known.Guards.AtLeast(known.Least) {
		lock, ok := g.Lock.Object.(*types.Var)
		if !ok {
			continue
		}
		var data []*types.Var
		for _, d := range g.Data {
			if v, ok := d.Object.(*types.Var); ok {
				data = append(data, v)
			}
		}
		c := &checker{pass: pass, known: known, guard: g, lock: lock, reported: map[token.Pos]bool{}}
		for _, group := range whole.Broken(known.Guards.Analysis, data, lock) {
			c.check(group)
		}
	}
	return nil, nil
}

// A checker looks at the sections of one lock.
type checker struct {
	pass     *analysis.Pass
	known    *guards.Result
	guard    *guard.Guard
	lock     *types.Var
	reported map[token.Pos]bool
}

// check reports the writes of a group whose reads lie in another section.
func (c *checker) check(group *whole.Group) {
	for _, tear := range group.Torn {
		if !tear.OfSeveral && !tear.InSequence {
			c.pair(tear.First, tear.Second)
		}
	}
	for _, write := range group.Split {
		for _, read := range group.Members {
			if read.Kind == lockset.Read && read.Variable == write.Variable {
				c.pair(read, write)
			}
		}
	}
}

// pair reports a write by what a read has seen, if each lies in a section of its own and nothing
// looks at the data again in the later one.
func (c *checker) pair(read, write *whole.Member) {
	if read.Kind != lockset.Read || write.Kind != lockset.Write || read.Variable != write.Variable {
		return
	}
	inSection := !read.Open && !write.Open && !read.Unknown && !write.Unknown && !read.ByCall() && !write.ByCall()
	if !inSection || c.reported[write.At] || c.known.Ignored(write.At) || c.looksAgain(read, write) {
		return
	}
	if !c.known.Guards.Analysis.ReleasedBetween(read.Instr, write.Instr, c.lock) {
		return
	}
	c.reported[write.At] = true
	c.pass.Report(analysis.Diagnostic{
		Pos:     write.At,
		Message: fmt.Sprintf("write of %s by what an earlier section of %s has read: other goroutines may have changed it in between", c.name(write.Variable), c.guard.Lock.Name),
		Related: []analysis.RelatedInformation{{Pos: read.At, Message: "the read of " + c.name(read.Variable)}},
	})
}

func (c *checker) name(v *types.Var) string {
	if _, d := c.known.Guards.Of(v); d != nil {
		return d.Name
	}
	return v.Name()
}

// looksAgain reports whether the data is read in the section of the write, before it.
func (c *checker) looksAgain(read, write *whole.Member) bool {
	analysis := c.known.Guards.Analysis
	for _, v := range analysis.Variables {
		if v.Object != write.Variable {
			continue
		}
		for _, i := range readsOf(v, write.Instr.Parent()) {
			if i != read.Instr && i != write.Instr && !feeds(i, write.Instr) && analysis.ReleasedBetween(read.Instr, i, c.lock) &&
				i.Block().Dominates(write.Instr.Block()) && !analysis.ReleasedBetween(i, write.Instr, c.lock) {
				return true
			}
		}
	}
	return false
}

// readsOf are the instructions of a function that read a variable, or what it refers to.
func readsOf(v *lockset.Variable, fn *ssa.Function) []ssa.Instruction {
	var all []ssa.Instruction
	for _, u := range v.Uses {
		if u.Instr.Parent() == fn {
			all = append(all, u.Instr)
		}
	}
	for _, s := range v.Sites {
		for _, o := range s.Observations {
			if o.Kind == lockset.Read && o.Instr.Parent() == fn {
				all = append(all, o.Instr)
			}
		}
	}
	return all
}

// feeds reports whether a load is only that of the map or slice which is written: that is no
// look at what is in it.
func feeds(i, write ssa.Instruction) bool {
	load, ok := i.(*ssa.UnOp)
	if !ok {
		return false
	}
	update, ok := write.(*ssa.MapUpdate)
	return ok && update.Map == ssa.Value(load)
}
