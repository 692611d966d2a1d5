package outline

import (
	"go/ast"
	"go/token"
	"slices"
)

// A target is a statement that a break or continue can be about.
type target struct {
	label      string
	loop       bool
	function   bool  // a loop whose rounds are calls by the function that it ranges over
	last       bool  // nothing of the function follows
	begin      state // of its blocks
	breaks     []state
	repetition []state
	continues  []*ast.BranchStmt
}

// leave returns the state where a way leaves a block. If nothing of the function follows, then
// a way on which a deferred call releases the lock ends here, as it would by a return:
//
//	switch {
//	case c:
//		x.mu.Lock()
//		defer x.mu.Unlock()
//		x.n++
//	case d:               the lock is not held on this way
//	}
func (f *Flow) leave(s state, last bool) state {
	if last && s.outline != nil && s.endsWell() {
		return state{dead: true}
	}
	return s
}

func (f *Flow) branch(st *ast.BranchStmt, s state) state {
	if st.Tok == token.FALLTHROUGH {
		// The next clause is followed as from the switch.
		f.merge(st, f.find(nil, false).begin, s)
		return state{dead: true}
	}
	if st.Tok == token.GOTO {
		if s != (state{}) && !s.dead {
			f.fail(st, "the section has a goto")
		}
		return state{dead: true}
	}
	t := f.find(st.Label, st.Tok == token.CONTINUE)
	switch {
	case t == nil:
		f.fail(st, "a jump leads nowhere")
	case st.Tok == token.CONTINUE:
		t.repetition = append(t.repetition, s)
		t.continues = append(t.continues, st)
	default:
		t.breaks = append(t.breaks, f.leave(s, t.last))
	}
	return state{dead: true}
}

// find returns what a break, or a continue, is about.
func (f *Flow) find(label *ast.Ident, loop bool) *target {
	for i := len(f.targets) - 1; i >= 0; i-- {
		t := f.targets[i]
		if label != nil && t.label == label.Name || label == nil && (t.loop || !loop) {
			return t
		}
	}
	return nil
}

// inIterator reports whether a statement is in a loop over a function, which goes on when the
// statement returns or panics, before all deferred calls.
//
//	for v := range x.all {
//		x.mu.Lock()
//		defer x.mu.Unlock()
//		x.n++
//		return              x.all may use x.n now, with the lock
//	}
func (f *Flow) inIterator() bool {
	return slices.ContainsFunc(f.targets, func(t *target) bool { return t.function })
}
