// Package splitsection is an analyzer that reports data which is read in one section of its lock
// and written, by what was read, in a later one. What other goroutines do in between is lost:
//
//	c.mu.Lock()
//	b, ok := c.buckets[k]
//	c.mu.Unlock()
//	if !ok {
//		b = &bucket{}
//		c.mu.Lock()
//		c.buckets[k] = b      // by what an earlier section has read
//		c.mu.Unlock()
//	}
//	b.count()                     // what another goroutine counts in its own is lost
//
// A second look at the data in the later section, before the write, makes it right, and is not reported. Nor
// is a write of a variable by a value that is not computed from what was read, such as that of a flag: no
// other goroutine's work is lost. Nor is one that something else keeps other goroutines from: another lock
// that is held for both sections, a mark that the first one leaves, that one goroutine alone writes, that a
// single flight runs both, or that the data was taken out before. Which lock guards what is that of package
// guards.
//
// Nor is, without -splitsection.doubtful, a write of which nothing shows that it can be made twice at once: a
// goroutine of the package makes it, or the key is a pointer of the caller's own, or the object is of a type
// that the package keeps to itself. Nor one by which nothing is seen to be lost: a cache that is filled twice
// has the same value. What is lost is a value that is computed from what was read, or an object with a state
// of its own, such as the bucket.
//
// splitsection.go has the analyzer, between.go what keeps others from what is between two sections, loss.go
// what is lost.
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

var doubtful bool

func init() {
	Analyzer.Flags.BoolVar(&doubtful, "doubtful", false, "report also what users of the package are not seen to run at any time, or to lose something by")
}

func run(pass *analysis.Pass) (any, error) {
	known := pass.ResultOf[guards.Analyzer].(*guards.Result)
	if known.Guards == nil {
		return nil, nil
	}
	for _, split := range Find(known.Guards, known.Least) {
		if known.Ignored(split.Write) || split.Doubtful && !doubtful {
			continue
		}
		pass.Report(analysis.Diagnostic{
			Pos:     split.Write,
			Message: fmt.Sprintf("write of %s by what an earlier section of %s has read: other goroutines may have changed it in between", split.Data, split.Lock),
			Related: []analysis.RelatedInformation{{Pos: split.Read, Message: "the read of " + split.Data}},
		})
	}
	return nil, nil
}

// A Split is data that one section of a lock reads, and a later one writes by what was read.
type Split struct {
	Data, Lock  string
	Read, Write token.Pos
	// Doubtful: nothing shows that the write can be made twice at once, or that something is lost then.
	Doubtful bool
}

// Find returns what is split among the data that locks guard with some confidence.
func Find(known *guard.Guards, least float64) []Split {
	var all []Split
	for _, g := range known.AtLeast(least) {
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
		c := &checker{known: known, guard: g, lock: lock, found: map[token.Pos]bool{}}
		for _, group := range whole.Broken(known.Analysis, data, lock) {
			c.check(group)
		}
		all = append(all, c.splits...)
	}
	return all
}

// A checker looks at the sections of one lock.
type checker struct {
	known  *guard.Guards
	guard  *guard.Guard
	lock   *types.Var
	found  map[token.Pos]bool
	splits []Split
}

// check finds the writes of a group whose reads lie in another section.
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

// pair takes a write by what a read has seen for a split, if each lies in a section of its own,
// nothing looks at the data again in the later one, and something can be lost that others write between
// them.
func (c *checker) pair(read, write *whole.Member) {
	if read.Kind != lockset.Read || write.Kind != lockset.Write || read.Variable != write.Variable {
		return
	}
	inSection := !read.Open && !write.Open && !read.Unknown && !write.Unknown && !read.ByCall() && !write.ByCall()
	if !inSection || c.found[write.At] || areOtherFields(read.Instr, write.Instr) || !isLost(read, write) || c.looksAgain(read, write) || c.isKept(read, write) {
		return
	}
	c.found[write.At] = true
	c.splits = append(c.splits, Split{Data: c.name(write.Variable), Lock: c.guard.Lock.Name, Read: read.At, Write: write.At, Doubtful: !c.isOfUsers(read, write) || !c.loses(read, write)})
}

// areOtherFields reports whether a load and a store are of two fields of a struct. Those of one that another
// package declares are no variables of the program.
func areOtherFields(load, store ssa.Instruction) bool {
	from, ok := load.(*ssa.UnOp)
	to, also := store.(*ssa.Store)
	if !ok || !also {
		return false
	}
	x, ok := from.X.(*ssa.FieldAddr)
	y, also := to.Addr.(*ssa.FieldAddr)
	return ok && also && x.Field != y.Field && types.Identical(x.X.Type(), y.X.Type())
}

func (c *checker) name(v *types.Var) string {
	if _, d := c.known.Of(v); d != nil {
		return d.Name
	}
	return v.Name()
}

// looksAgain reports whether the data is read again, with the lock, on all ways that lead to the write from
// where the lock is released.
func (c *checker) looksAgain(read, write *whole.Member) bool {
	v := c.variable(write.Variable)
	if v == nil {
		return false
	}
	looks := map[ssa.Instruction]bool{}
	for _, i := range readsOf(v, write.Instr.Parent()) {
		looks[i] = i != write.Instr && !feeds(i, write.Instr) && c.hasLock(v, i)
	}
	return !c.known.Analysis.ReleasedSince(read.Instr, write.Instr, c.lock, func(i ssa.Instruction) bool { return looks[i] })
}

// isLost reports whether a write replaces what another goroutine may have put there meanwhile: an
// element that was missed, or a value by one that is computed from what was read. A flag that is set, or
// a reference that is dropped, is meant to be so afterwards, whatever was there. So is an element that is
// written whatever was read, if only the function has not returned before.
func isLost(read, write *whole.Member) bool {
	if whole.ComputedFrom(write.Instr, read.Instr) {
		return true
	}
	if store, ok := write.Instr.(*ssa.Store); ok {
		if _, ofElement := store.Addr.(*ssa.IndexAddr); !ofElement {
			return false
		}
	}
	return whole.ChosenBy(write.Instr, read.Instr)
}

// readsOf are the instructions of a function that read a variable, or what it refers to.
func readsOf(v *lockset.Variable, fn *ssa.Function) []ssa.Instruction {
	all := accessesOf(v, fn, lockset.Read)
	for _, u := range v.Uses {
		if u.Instr.Parent() == fn {
			all = append(all, u.Instr)
		}
	}
	return all
}

// writesOf are the instructions of a function that write a variable, or what it refers to.
func writesOf(v *lockset.Variable, fn *ssa.Function) []ssa.Instruction {
	return accessesOf(v, fn, lockset.Write)
}

func accessesOf(v *lockset.Variable, fn *ssa.Function, kind lockset.Kind) []ssa.Instruction {
	var all []ssa.Instruction
	for _, s := range v.Sites {
		for _, o := range s.Observations {
			if o.Kind == kind && o.Instr.Parent() == fn {
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
