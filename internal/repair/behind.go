package repair

import (
	"go/ast"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/guard"
	"github.com/cofferdam-go/cofferdam/internal/guard/lockset"
	"github.com/cofferdam-go/cofferdam/internal/guard/whole"
	"github.com/cofferdam-go/cofferdam/internal/lift/gossa"
	"github.com/cofferdam-go/cofferdam/internal/repair/cover"
	"github.com/cofferdam-go/cofferdam/internal/sli"
)

// Data that a function has by way of a parameter is another function's, and so is its lock:
//
//	func (s *set) add(k string) { (*s)[k] = true }       the race is here,
//	func (c *Cache) Put(k string) { c.keys.add(k) }      the data is Cache.keys, and the lock Cache.mu
//	func (c *Cache) Len() int {
//		c.mu.Lock()
//		defer c.mu.Unlock()
//		return len(c.keys)
//	}
//
// A lock in add would be one beside Cache.mu, and Len would not have it. So the section is moved
// to the call by which the function was given the data.

// regionsOfCalls are the regions of a derivation with each access where its data is named; nil if
// the derivation's own sections have them there.
func (r *failedRun) regionsOfCalls(derived *sli.Fix) []*cover.Region {
	moved := false
	var all []*cover.Region
	for _, s := range derived.Sections {
		region := r.region(s)
		if region == nil {
			return nil
		}
		calls := r.callsGivenData(s)
		if len(calls) == 0 {
			all = append(all, region)
			continue
		}
		moved = true
		for _, at := range calls {
			call := r.callRegion(at)
			if call == nil {
				return nil
			}
			call.Write, call.Accesses = region.Write, region.Accesses
			all = append(all, call)
		}
	}
	if !moved {
		return nil
	}
	return cover.Merge(all)
}

// callsGivenData are the calls that gave the function of a section the data which the section
// accesses.
func (r *failedRun) callsGivenData(s *sli.Section) []ssa.CallInstruction {
	var all []ssa.CallInstruction
	for _, x := range s.Accesses {
		_, calls := r.behind(x)
		for _, call := range calls {
			if call.Parent() != r.lifted.Function(s.Func) && !slices.Contains(all, call) {
				all = append(all, call)
			}
		}
	}
	return all
}

// behind is what an access touches, and the calls by which its function has that; none if the
// access itself names it.
func (r *failedRun) behind(x *sli.Access) (gossa.Data, []ssa.CallInstruction) {
	data := r.lifted.Origin(x.Instr).Data
	if data.Parameter == nil {
		return data, nil
	}
	callers := r.functionsOf(x)
	from := slices.Index(callers, data.Parameter.Parent())
	if from < 0 {
		return data, nil
	}
	return r.lifted.Behind(data, callers[from+1:])
}

// functionsOf are the functions that were in progress at an access, the innermost first, as far out as
// they are the program's own.
func (r *failedRun) functionsOf(x *sli.Access) []*ssa.Function {
	if len(x.Events) == 0 {
		return nil
	}
	e, err := r.reader.At(x.Events[0])
	if err != nil {
		return nil
	}
	stack, err := r.reader.Stack(e.Frame)
	if err != nil {
		return nil
	}
	var all []*ssa.Function
	for _, frame := range stack {
		lifted := r.lifted.Program.FuncAt(frame.Site)
		if lifted == nil || r.lifted.Function(lifted) == nil {
			break
		}
		all = append(all, r.lifted.Function(lifted))
	}
	return all
}

// An object that is replaced cannot have the lock for its data: what has the old object has another
// lock than what has the new one.
//
//	func (i *inner) add(k int) { i.n += k }              the race is here,
//	func (t *T) Add(k int) { t.in.add(k) }               and the lock is to be one of T,
//	func (t *T) Clear() { t.in = new(inner) }            which guards n, and which inner it is
//
// So the section is moved out of the methods of such objects, to the call by which they were named.

// outsideReplaced is a derivation with its sections outside of the methods of objects that are
// replaced; without regions if there are none of the kind.
func (r *failedRun) outsideReplaced(derived *sli.Fix) proposal {
	p := proposal{derivation: derived, data: r.dataOf(derived)}
	moved := false
	for _, owner := range p.data.Owners() {
		for _, v := range whole.Replaced(r.locksHeld(), owner) {
			if holder := r.code.OwnerOf(v); v.IsField() && holder != nil && holder != owner {
				p.data.AddField(holder, v)
				moved = true
			}
		}
	}
	if !moved {
		return proposal{}
	}
	var all []*cover.Region
	for _, s := range derived.Sections {
		region := r.region(s)
		if region == nil {
			return proposal{}
		}
		calls := r.callsFromOutside(s)
		if len(calls) == 0 {
			all = append(all, region)
			continue
		}
		for _, at := range calls {
			call := r.callRegion(at)
			if call == nil {
				return proposal{}
			}
			call.Write, call.Accesses = region.Write, region.Accesses
			all = append(all, call)
		}
	}
	p.regions = cover.Merge(all)
	return p
}

// callsFromOutside are the calls by which the run came from other code into methods of the object
// whose method a section is in; none if it is in no method.
func (r *failedRun) callsFromOutside(s *sli.Section) []ssa.CallInstruction {
	fn := r.lifted.Function(s.Func)
	if fn == nil || receiverNamed(fn) == nil {
		return nil
	}
	var all []ssa.CallInstruction
	for _, x := range s.Accesses {
		callers := r.functionsOf(x)
		from := slices.Index(callers, fn)
		for i := max(from, 0) + 1; from >= 0 && i < len(callers); i++ {
			if receiverNamed(callers[i]) == receiverNamed(fn) {
				continue
			}
			for _, call := range callsOf(callers[i], callers[i-1]) {
				if !slices.Contains(all, call) {
					all = append(all, call)
				}
			}
			break
		}
	}
	return all
}

// receiverNamed is the type that a function is a method of, nil if it is none.
func receiverNamed(fn *ssa.Function) *types.Named {
	recv := lockset.Outermost(fn).Signature.Recv()
	if recv == nil {
		return nil
	}
	t := recv.Type()
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		t = p.Elem()
	}
	n, _ := types.Unalias(t).(*types.Named)
	if n == nil {
		return nil
	}
	return n.Origin()
}

// callsOf are the calls of one function in another.
func callsOf(caller, callee *ssa.Function) []ssa.CallInstruction {
	var all []ssa.CallInstruction
	for _, b := range caller.Blocks {
		for _, i := range b.Instrs {
			if call, ok := i.(ssa.CallInstruction); ok && call.Common().StaticCallee() == callee {
				all = append(all, call)
			}
		}
	}
	return all
}

// callRegion is the region of a call, nil if it is not in the source.
func (r *failedRun) callRegion(call ssa.CallInstruction) *cover.Region {
	fn := call.Parent()
	if origin := fn.Origin(); origin != nil {
		fn = origin
	}
	node := r.code.AccessAt(call.Pos())
	if fn.Syntax() == nil || node == nil {
		return nil
	}
	region := r.code.Region(fn.Syntax(), []ast.Node{node})
	if region != nil {
		region.Test = r.inTest(fn)
	}
	return region
}

// sure is the confidence from which on an inferred guard is tried as the program's own choice. It is
// low because what is to be fixed speaks against the guard itself: one write that is made with the
// lock and without, and two reads with it, come to 0.36.
const sure = 0.25

// guards are what is inferred of the program of the run: which lock guards what.
func (r *failedRun) guards() *guard.Guards {
	if r.inferredGuards == nil {
		r.inferredGuards = guard.InferIn(r.ssa, r.packages)
	}
	return r.inferredGuards
}

// addGuards adds, to the locks that are held where some data is accessed, those that guard it
// elsewhere in the program: the run need not have come there.
func (r *failedRun) addGuards(d *cover.Data) {
	for _, v := range r.code.Variables(d.Names(r.code)) {
		if g, datum := r.guards().Of(v); g != nil && datum.Confidence >= sure && datum.Evidence.ReadsWith+datum.Evidence.WritesWith > 0 {
			if lock, ok := g.Lock.Object.(*types.Var); ok {
				d.AddHeld(r.code.Canonical(lock))
			}
		}
	}
}
