package reshape

import (
	"fmt"
	"go/ast"
	"path/filepath"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/repair/cover"
	"github.com/cofferdam-go/cofferdam/internal/source"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// A Run is a failing run, as far as the shape of its failure goes.
type Run struct {
	Code *cover.Code
	// Base is the patch that the run was made with, nil for none.
	Base     *cover.Patch
	Failure  *trace.Failure
	Failures []trace.Failure // all of the run
	// Site says where an operation of the run is in the source, and FileAtRun which file of Code a
	// name in a stack of the run stands for: that of a dependency is a copy. Nil means that no
	// name is another.
	Site      func(site uint32) (Line, bool)
	FileAtRun func(name string) string
	// Started has the lines whose go statements started goroutines in the run.
	Started map[Line]bool
	// Declined are mistakes that were seen and not changed, each with its place and the reason.
	// Changes fills it.
	Declined []string
}

// decline notes a mistake that is not changed.
func (r *Run) decline(f *source.File, n ast.Node, why string) {
	r.Declined = append(r.Declined, fmt.Sprintf("%s (%s:%d)", why, filepath.Base(f.Name), f.Line(n.Pos())))
}

// A Line is a line of a source file.
type Line struct {
	File string
	Line int
}

// A Change is a repair that may help.
type Change struct {
	// Words say what is changed, Mistake what is wrong without it, and Reason why it helps.
	Words, Mistake, Reason string
	// Check says what is wrong with the changed program; "" if nothing. Nil if there is nothing
	// to look for that other checks do not see.
	Check func(after *cover.Code) string
	Patch *cover.Patch
	// Atomic says that data becomes atomic, which goroutines accessed without any order.
	Atomic bool
}

// families are the repairs, the most promising first.
var families = []func(*Run) []*Change{
	(*Run).countBeforeStart,
	(*Run).startLater,
	(*Run).closeOnce,
	(*Run).guardSend,
	(*Run).checkAgain,
	(*Run).oneLockOrder,
	(*Run).releaseOnEveryWay,
	(*Run).releaseBeforeWait,
	(*Run).splitMethod,
	(*Run).releaseBeforeCallback,
	(*Run).signalUnderLock,
	(*Run).roomForAnswer,
	(*Run).selectDone,
	(*Run).atomicEverywhere,
	(*Run).atomicWords,
	(*Run).variableForEach,
	(*Run).keepFirstError,
	(*Run).waitForGoroutine,
}

// Changes returns the repairs that the shape of a failure calls for, the best first.
func (r *Run) Changes() []*Change {
	var all []*Change
	for _, family := range families {
		all = append(all, family(r)...)
	}
	return all
}

// blocked reports whether the failure is one of goroutines that wait for ever.
func (r *Run) blocked() bool {
	switch r.Failure.Kind {
	case event.FailureDeadlock, event.FailurePartialDeadlock, event.FailureLeak:
		return true
	}
	return false
}

// lineOf returns the innermost line of the program at a point.
func (r *Run) lineOf(at *trace.Point) (*source.File, int) {
	if line, ok := r.Site(at.Site); ok {
		if f := r.Code.File(line.File); f != nil {
			return f, line.Line
		}
	}
	for _, call := range at.Stack {
		if f := r.fileAtRun(call.File); f != nil {
			return f, call.Line
		}
	}
	return nil, 0
}

// fileAtRun is the file of the program that a stack of the run names; nil if it is none.
func (r *Run) fileAtRun(name string) *source.File {
	if r.FileAtRun != nil {
		name = r.FileAtRun(name)
	}
	return r.Code.File(name)
}

// started reports whether the run started a goroutine at a go statement.
func (r *Run) started(f *source.File, n *ast.GoStmt) bool {
	for line := f.Line(n.Pos()); line <= f.Line(n.Call.Lparen); line++ {
		if r.Started[Line{f.Name, line}] {
			return true
		}
	}
	return false
}

// A rewriting collects the edits of one change.
type rewriting struct {
	run    *Run
	files  map[*source.File]*source.Edits
	places []string
}

func (r *Run) rewrite() *rewriting {
	return &rewriting{run: r, files: make(map[*source.File]*source.Edits)}
}

// of returns the edits of a file.
func (w *rewriting) of(f *source.File) *source.Edits {
	if w.files[f] == nil {
		w.files[f] = f.Edit()
	}
	return w.files[f]
}

// note adds the place of a node to those that the report names.
func (w *rewriting) note(f *source.File, n ast.Node) {
	w.places = append(w.places, fmt.Sprintf("%s:%d", filepath.Base(f.Name), f.Line(n.Pos())))
}

// finish completes a change with the patch of its edits; it returns nothing if they make none.
func (w *rewriting) finish(c *Change) []*Change {
	patch, err := w.run.Code.Rewrite(w.files, w.places, w.run.Base)
	if err != nil || len(w.places) == 0 {
		return nil
	}
	c.Patch = patch
	return []*Change{c}
}
