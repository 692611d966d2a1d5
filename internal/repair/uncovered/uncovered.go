// Package uncovered tells what a fix leaves without the lock that it takes, and why: every access to
// the data of the lock, in all packages at hand, has the lock, or is listed.
//
//	func (c *Cache) Get(k string) int {      func (c *Cache) Keys() map[string]int {
//		c.mu.Lock()                          	return c.m      "it is handed to code without
//		defer c.mu.Unlock()                  }                   the lock, and changed in place"
//		return c.m[k]
//	}
//
// It reads the changed program, and names lines of the program without changes, which is what a
// person has. Packages lockset and whole find the accesses; the words for them are here.
//
//	uncovered.go  an access, and those to the lock's own data
//	beside.go     those to what stands beside the data
//	library.go    those that a library makes by methods that take the lock one by one
package uncovered

import (
	"bytes"
	"fmt"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/guard/lockset"
	"github.com/cofferdam-go/cofferdam/internal/guard/whole"
	"github.com/cofferdam-go/cofferdam/internal/repair/cover"
)

// An Access is one to the data of a fix's lock, or to what stands beside it, that may be made without
// the lock.
type Access struct {
	File string `json:"file"`
	Line int    `json:"line"`
	Func string `json:"function"`
	Data string `json:"data"`
	// Write says that it writes.
	Write bool `json:"write"`
	// Why is why it is not covered.
	Why string `json:"why"`
}

func (x *Access) String() string {
	verb := "read"
	if x.Write {
		verb = "write"
	}
	return fmt.Sprintf("%s of %s in %s (%s:%d): %s", verb, x.Data, x.Func, filepath.Base(x.File), x.Line, x.Why)
}

// mostLines is how many lines of accesses a person is shown.
const mostLines = 12

// Lines are accesses in words, those of one function for one reason in one line. What is too much to
// read is counted.
func Lines(all []Access) []string {
	var lines []string
	left := 0
	for len(all) > 0 {
		first := all[0]
		alike := func(x Access) bool {
			return x.File == first.File && x.Func == first.Func && x.Write == first.Write && x.Why == first.Why
		}
		var data []string
		from, to := first.Line, first.Line
		for _, x := range all {
			if alike(x) {
				from, to = min(from, x.Line), max(to, x.Line)
				if !slices.Contains(data, x.Data) {
					data = append(data, x.Data)
				}
			}
		}
		count := len(all)
		all = slices.DeleteFunc(slices.Clone(all), alike)
		if len(lines) == mostLines {
			left += count - len(all)
			continue
		}
		verb, place := "read", cover.Place{File: first.File, From: from, To: to}
		if first.Write {
			verb = "write"
		}
		lines = append(lines, fmt.Sprintf("%s of %s in %s (%s): %s", verb, strings.Join(data, ", "), first.Func, place, first.Why))
	}
	if left > 0 {
		lines = append(lines, fmt.Sprintf("and %d more, which -json has", left))
	}
	return lines
}

// Add adds accesses to others, each line once for each of its data.
func Add(all []Access, more ...Access) []Access {
	for _, x := range more {
		same := func(y Access) bool { return y.File == x.File && y.Line == x.Line && y.Data == x.Data }
		if i := slices.IndexFunc(all, same); i >= 0 {
			all[i].Write = all[i].Write || x.Write
			continue
		}
		all = append(all, x)
	}
	return all
}

// A Program is one that a fix has changed.
type Program struct {
	Code *cover.Code
	Held *lockset.Analysis
}

// access tells of an access at a position.
func (p *Program) access(at token.Pos, in *ssa.Function, data *types.Var, writes bool, why string) Access {
	file, line := p.lineOf(at)
	return Access{File: file, Line: line, Func: FunctionName(in), Data: data.Name(), Write: writes, Why: why}
}

// lineOf is where a position is in the program without changes.
func (p *Program) lineOf(at token.Pos) (file string, line int) {
	pos := p.Code.Fset.Position(at)
	return pos.Filename, p.Code.LineBefore(pos.Filename, pos.Line)
}

// Place is where a position is in the program without changes, in words.
func (p *Program) Place(at token.Pos) string {
	file, line := p.lineOf(at)
	return fmt.Sprintf("%s:%d", filepath.Base(file), line)
}

// isTest reports whether a position is in test code.
func (p *Program) isTest(at token.Pos) bool { return IsTestFile(p.Code.Fset.Position(at).Filename) }

// IsTestFile reports whether a file is one of tests.
func IsTestFile(name string) bool { return strings.HasSuffix(name, "_test.go") }

// FunctionName is the name of the function that a function stands in, without its package.
func FunctionName(fn *ssa.Function) string {
	fn = lockset.Outermost(fn)
	if fn.Pkg != nil {
		return fn.RelString(fn.Pkg.Pkg)
	}
	return fn.Name()
}

// Copied says where objects with a field are copied or overwritten as a whole, so that a lock beside
// the field would be no lock; "" if they are not, but for what a new lock has written otherwise.
func (p *Program) Copied(field *types.Var, otherwise func(at token.Pos) bool) string {
	at := whole.Copying(p.Held, field, func(o *lockset.Observation) bool { return otherwise != nil && otherwise(o.Instr.Pos()) })
	if at == nil {
		return ""
	}
	return fmt.Sprintf("the object that has the lock is copied in %s (%s), and the lock with it", FunctionName(at.Instr.Parent()), p.Place(at.At))
}

// Touches reports whether a change of files, which were some texts before, changes a function of the changed program.
func Touches(changed *cover.Code, before map[string][]byte, fn *ssa.Function) bool {
	syntax := lockset.Outermost(fn).Syntax()
	if syntax == nil {
		return false
	}
	for name, text := range before {
		if f := changed.ByOriginal(name); f != nil && f == changed.FileOf(syntax) {
			return !bytes.Contains(text, []byte(f.TextOf(syntax)))
		}
	}
	return false
}

// A Fix is a lock in a changed program, with the data that it is to guard.
type Fix struct {
	*Program
	Lock *types.Var
	Data []*types.Var
	// Uncoverable says why parts of functions could not be covered with the lock, Apart why what
	// belongs together in a function could not be one section.
	Uncoverable, Apart map[string]string
}

// Group returns the members of a group that may be made without the lock, or apart from others that
// they belong together with.
func (f *Fix) Group(g *whole.Group) []Access {
	var all []Access
	for _, m := range g.Members {
		if why := f.why(g, m); why != "" {
			all = Add(all, f.access(m.At, g.Func, m.Variable, m.Kind == lockset.Write, why))
		}
	}
	return all
}

// LeftBy tells what the lock does not cover of the data that another lock, which was added later, does not guard
// by itself, and what stands beside it; whole says that no update of the data is taken apart.
//
//	s.versionsMu.Lock()                      found in the second round
//	if v := s.versionLocked(k); v != n {     takes s.mu, that of the first round, and releases it
func (f *Fix) LeftBy(later *types.Var) (left []Access, isWhole bool) {
	alone := *f
	alone.Data = slices.DeleteFunc(slices.Clone(f.Data), func(v *types.Var) bool {
		return later != nil && len(whole.Broken(f.Held, []*types.Var{v}, later)) == 0
	})
	isWhole = true
	for _, g := range whole.Broken(f.Held, alone.Data, f.Lock) {
		if !f.isTest(g.Members[0].At) {
			isWhole = isWhole && len(g.Split) == 0
			left = Add(left, alone.Group(g)...)
		}
	}
	return Add(left, f.Beside()...), isWhole
}

// because adds a reason to what is the matter.
func because(what, reason string) string {
	if reason == "" {
		return what
	}
	return what + "; " + reason
}

// why says in which way a member of a group is not covered; "" if it is.
func (f *Fix) why(g *whole.Group, m *whole.Member) string {
	name := FunctionName(g.Func)
	// What a function does that is called is told of that function, unless it is a part of an update here.
	open := m.Open && (!m.ByCall() || slices.ContainsFunc(g.Parts, func(part *whole.Group) bool { return len(part.Members) > 1 && slices.Contains(part.Members, m) }))
	torn := slices.IndexFunc(g.Torn, func(t whole.Tear) bool { return t.Second == m })
	switch {
	case slices.Contains(g.Split, m):
		return because("the lock is released between the load and this store, which depends on it", f.Uncoverable[name])
	case m.Leaves && !open:
		return because(handedToOthers, f.Uncoverable[name])
	case open && f.Uncoverable[name] != "":
		return f.Uncoverable[name]
	case open:
		return "it is not among what the failing run shows"
	case torn >= 0 && g.Torn[torn].OfSeveral:
		return "it is used together for several objects, each of which has a lock of its own: what happens to one while another is accessed is seen by half"
	case torn >= 0 && g.Torn[torn].WithoutLock:
		return because("another lock orders it by itself, and no lock is held over it and what belongs to it", f.Apart[name])
	case torn >= 0 && g.Torn[torn].First == m && g.Torn[torn].InSequence:
		return because("the lock is released between the rounds of the loop, and others may see some of them done without the rest", f.Apart[name])
	case torn >= 0 && g.Torn[torn].First == m:
		return because("the lock is released between the rounds of the loop, whose results are used together", f.Apart[name])
	case torn >= 0:
		first, relation := g.Torn[torn].First, "which belongs to it"
		if g.Torn[torn].InSequence {
			relation = "and others may see one of them done without the other"
		}
		return because(fmt.Sprintf("the lock is released between the %s of %s (%s) and this one, %s", first.Kind, first.Variable.Name(), f.Place(first.At), relation), f.Apart[name])
	case m.Unknown && !m.ByCall():
		return "it cannot be told whether the lock that is held is that of the object with the data"
	}
	return ""
}

// SplitStore says that the lock is released within the update of a group; "" if it is not.
func (f *Fix) SplitStore(g *whole.Group) string {
	if len(g.Split) == 0 {
		return ""
	}
	store := g.Split[0]
	return fmt.Sprintf("it would take the update of %s in %s (%s) apart: the lock is released between the load and the store that depends on it",
		store.Variable.Name(), FunctionName(g.Func), f.Place(store.At))
}

// Unfit says why the lock, which is new, does not guard its data: the object that has it is copied
// with it, or another lock guards the data in a place that does not take this one, so that the two
// would not keep each other out; "" if nothing is wrong with it.
func (f *Fix) Unfit() string {
	if why := f.Copied(f.Lock, nil); why != "" {
		return why
	}
	lock := f.Held.Places.Canonical(f.Lock)
	for _, v := range f.Held.Variables {
		if !slices.ContainsFunc(f.Data, func(d *types.Var) bool { return d.Pos() == v.Object.Pos() }) {
			continue
		}
		for _, s := range v.Sites {
			for _, o := range s.Observations {
				fits := slices.ContainsFunc(o.Held, func(r lockset.Relation) bool { return f.Held.Places.Variable(r.Lock) == lock }) ||
					slices.Contains(o.OfUnknownObject, lock) || o.Unnamed || !v.Conflicts(o)
				if fits || len(o.Held) == 0 || f.isTest(o.At) {
					continue
				}
				return fmt.Sprintf("%s is guarded by %s in %s (%s), which does not take the new lock", v.Object.Name(),
					f.Held.Places.Variable(o.Held[0].Lock).Name(), FunctionName(s.Func), f.Place(o.At))
			}
		}
	}
	return ""
}
