package repair

import (
	"go/ast"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/repair/cover"
	"github.com/cofferdam-go/cofferdam/internal/repair/disturbed"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// Each access may have the lock, and an operation be taken apart all the same: its invariant lies
// between several places in memory, or behind what the recorded run does not tell the values of.
//
//	func (b *Bank) Move(from, to *Account, n int) {
//		from.add(-n)                      what Audit, of another goroutine, reads
//		to.add(n)                         here is what no run of one after the other has
//	}
//
// So, as a last resort, two operations that came into each other in the run and that have memory in
// common which one of them writes are proposed as sections: from the first access to such memory to
// the last. Which lock that can be, and whether it helps, is found out as for any proposal.
//
// An operation may be a whole handler of requests, of which one call was disturbed, in one variable:
//
//	func (s *Shop) ServeHTTP(w, r) {
//		ok := s.Take(r.Item)              reads the stock in one section, and writes it in another
//		answer(w, ok, s.Hits())           the lock is not to be held until here
//	}
//
// So the sections of single words of memory are proposed first, then those of the innermost calls that
// were disturbed, and the operations as a whole at the end.

const (
	// operationEvents is how many events, the last of the run, are searched for operations.
	operationEvents = 1 << 18
	wordBytes       = 8
)

// brokenOperations are proposals of sections for operations that came into each other, the smallest
// first.
func (r *failedRun) brokenOperations() []proposal {
	operations, locks := r.operations()
	pairs := disturbed.Pairs(operations)
	var all []proposal
	for _, word := range disturbed.Words(pairs) {
		all = append(all, r.sectionsAround(disturbed.OnWord(pairs, word), locks)...)
	}
	all = append(all, r.sectionsAround(disturbed.Innermost(pairs), locks)...)
	return append(all, r.sectionsAround(pairs, locks)...)
}

// sectionsAround are the proposals, at most one, of sections that keep accesses of operations together.
func (r *failedRun) sectionsAround(pairs []disturbed.Pair, locks []*types.Var) []proposal {
	data := new(cover.Data)
	for _, lock := range locks {
		data.AddHeld(lock)
	}
	parts := make(map[ast.Node]*operationPart) // by function
	var order []ast.Node
	for _, pair := range pairs {
		for _, touches := range pair {
			fn, part := r.partOf(touches, data)
			if part == nil {
				return nil
			}
			if parts[fn] == nil {
				parts[fn] = new(operationPart)
				order = append(order, fn)
			}
			parts[fn].nodes = append(parts[fn].nodes, part.nodes...)
			parts[fn].write, parts[fn].rounds = parts[fn].write || part.write, parts[fn].rounds || part.rounds
		}
	}
	var all []*cover.Region
	for _, fn := range order {
		region := r.code.Region(fn, parts[fn].nodes)
		if region == nil {
			return nil
		}
		region.Write, region.Update, region.AcrossRounds = parts[fn].write, parts[fn].write, parts[fn].rounds
		all = append(all, region)
	}
	return withoutMachine(cover.Merge(all), data)
}

// An operationPart is what a section in a function is to cover.
type operationPart struct {
	nodes []ast.Node
	write bool
	// rounds says that the same access was made several times, as in a loop.
	rounds bool
}

// operations are the operations of the run, with their accesses, and the locks that they take. What a
// library does with memory of its own, as the first call of a sync.Once does, has a site of its own and
// is no access of the operation that calls it.
func (r *failedRun) operations() (all []*disturbed.Operation, locks []*types.Var) {
	byFrame := make(map[uint32]*disturbed.Operation)
	_, last, _ := r.reader.Bounds()
	first := uint64(0)
	if last > operationEvents {
		first = last - operationEvents
	}
	kinds := append(trace.Accesses(), event.Lock, event.RLock)
	events := r.reader.Cursor(trace.Filter{Kinds: kinds, First: first})
	for events.Next() {
		e := events.Event()
		calls := r.ownCalls(e.Frame)
		if len(calls) == 0 {
			continue
		}
		if e.Kind == event.Lock || e.Kind == event.RLock {
			if lock := r.lockAt[e.Addr]; lock != nil && !slices.Contains(locks, lock) {
				locks = append(locks, lock)
			}
			continue
		}
		if site, ok := r.reader.Site(e.Site); !ok || r.code.File(site.File) == nil {
			continue
		}
		o := byFrame[calls[0].ID]
		if o == nil {
			o = &disturbed.Operation{Goroutine: e.G}
			byFrame[calls[0].ID] = o
			all = append(all, o)
		}
		o.Touches = append(o.Touches, disturbed.Touch{Seq: e.Seq, Word: e.Addr / wordBytes, Write: slices.Contains(trace.Writes(), e.Kind), Site: e.Site, Calls: calls})
	}
	return all, locks
}

// ownCalls are the calls of a stack from the first of the program's own code, tests excepted, on.
func (r *failedRun) ownCalls(frame uint32) []trace.Frame {
	if calls, ok := r.callsOfFrame[frame]; ok {
		return calls
	}
	stack, err := r.reader.Stack(frame)
	if err != nil {
		return nil
	}
	slices.Reverse(stack)
	i := slices.IndexFunc(stack, func(f trace.Frame) bool {
		fn := r.functionOf(f)
		return fn != nil && !r.inTest(fn)
	})
	var calls []trace.Frame
	if i >= 0 {
		calls = stack[i:]
	}
	if r.callsOfFrame == nil {
		r.callsOfFrame = make(map[uint32][]trace.Frame)
	}
	r.callsOfFrame[frame] = calls
	return calls
}

// functionOf is the function of a call, as it is declared; nil if it is not in the source.
func (r *failedRun) functionOf(f trace.Frame) *ssa.Function {
	lifted := r.lifted.Program.FuncAt(f.Site)
	if lifted == nil {
		return nil
	}
	fn := r.lifted.Function(lifted)
	if fn != nil && fn.Origin() != nil {
		fn = fn.Origin()
	}
	if fn == nil || fn.Syntax() == nil {
		return nil
	}
	return fn
}

// partOf is the innermost function that all of some accesses of an operation were made from, and
// what in it made them; nil if that is not in the source. What they access is added to the data.
func (r *failedRun) partOf(touches []disturbed.Touch, data *cover.Data) (ast.Node, *operationPart) {
	depth := disturbed.CommonDepth(touches)
	fn := r.functionOf(touches[0].Calls[depth-1])
	if fn == nil || r.inTest(fn) {
		return nil, nil
	}
	part := new(operationPart)
	for i, t := range touches {
		part.write = part.write || t.Write
		part.rounds = part.rounds || slices.ContainsFunc(touches[:i], func(o disturbed.Touch) bool { return o.Site == t.Site && o.Seq != t.Seq })
		for _, in := range r.lifted.Program.InstrsAt(t.Site) {
			r.addData(data, r.lifted.Origin(in).Data)
		}
		nodes := r.nodesOf(fn, t, depth)
		if len(nodes) == 0 {
			return nil, nil
		}
		part.nodes = append(part.nodes, nodes...)
	}
	return fn.Syntax(), part
}

// nodesOf are what in a function, the call at a depth of those in progress, made an access: the access
// itself, or the calls that may have led to it.
func (r *failedRun) nodesOf(fn *ssa.Function, t disturbed.Touch, depth int) []ast.Node {
	f := r.code.FileOf(fn.Syntax())
	if f == nil {
		return nil
	}
	if depth == len(t.Calls) {
		for _, in := range r.lifted.Program.InstrsAt(t.Site) {
			if o := r.lifted.Origin(in); o.Node != nil && encloses(fn.Syntax(), o.Node) {
				return []ast.Node{o.Node}
			}
		}
		site, _ := r.reader.Site(t.Site)
		if call := f.CallOnLine(fn.Syntax(), site.Line); call != nil {
			return []ast.Node{call}
		}
		return nil
	}
	inner := r.functionOf(t.Calls[depth])
	if inner == nil {
		return nil
	}
	if literal, ok := inner.Syntax().(*ast.FuncLit); ok && encloses(fn.Syntax(), literal) {
		return []ast.Node{literal}
	}
	var all []ast.Node
	ast.Inspect(fn.Syntax(), func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && slices.Contains(r.code.Locks().Callees(f.Info, call), ast.Node(inner.Syntax())) {
			all = append(all, call)
		}
		return true
	})
	return all
}

func encloses(outer, inner ast.Node) bool {
	return outer.Pos() <= inner.Pos() && inner.End() <= outer.End()
}
