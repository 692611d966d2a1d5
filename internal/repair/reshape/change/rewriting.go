package change

import (
	"go/ast"

	"github.com/cofferdam-go/cofferdam/internal/repair/cover"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// A Rewriting collects the edits of one change.
type Rewriting struct {
	run    *Run
	files  map[*source.File]*source.Edits
	places []cover.Place
}

// Rewrite begins a change.
func (r *Run) Rewrite() *Rewriting {
	return &Rewriting{run: r, files: make(map[*source.File]*source.Edits)}
}

// Of returns the edits of a file.
func (w *Rewriting) Of(f *source.File) *source.Edits {
	if w.files[f] == nil {
		w.files[f] = f.Edit()
	}
	return w.files[f]
}

// Edits reports whether the change edits a file so far.
func (w *Rewriting) Edits(f *source.File) bool { return w.files[f] != nil }

// Note adds the place of a node to those that the report names.
func (w *Rewriting) Note(f *source.File, n ast.Node) {
	line := f.LineBefore(n.Pos())
	w.places = append(w.places, cover.Place{File: f.Name, From: line, To: line})
}

// IsEmpty reports whether no place was noted yet.
func (w *Rewriting) IsEmpty() bool { return len(w.places) == 0 }

// Finish completes a change with the patch of its edits; it returns nothing if they make none.
func (w *Rewriting) Finish(c *Change) []*Change {
	patch, err := w.run.Code.Rewrite(w.files, w.places, w.run.Base)
	if err != nil || w.IsEmpty() {
		return nil
	}
	c.Patch = patch
	return []*Change{c}
}
