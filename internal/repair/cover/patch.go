package cover

import (
	"fmt"
	"go/ast"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/repair/dataname"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// A Patch is a change of some files.
type Patch struct {
	// Files are the texts of the changed files, by the names that they have in the program
	// without changes. Before are their texts without the changes of any round.
	Files, Before map[string][]byte
	// Places are where the sections are, Copies where copies are handed on, for
	// the report.
	Places, Copies []Place
	// Outside are the calls that wait for other programs or machines while a lock of the patch is held.
	Outside []Place
	// NewLocks are the locks that the patch adds.
	NewLocks []NewLock
	// guards is the data that each lock of the patch is to guard, by the lock's name.
	guards map[string]Guard
}

// A Guard is a lock and the data that it is to guard.
type Guard struct {
	Lock *Lock
	Data []dataname.Name
}

// A Place is lines that a patch changes, of the program without changes.
type Place struct {
	Function string // "" if that does not matter
	File     string
	From, To int
}

func (p Place) String() string {
	text := fmt.Sprintf("%s:%d", filepath.Base(p.File), p.From)
	if p.From != p.To {
		text += fmt.Sprintf("-%d", p.To)
	}
	if p.Function != "" {
		text = p.Function + " (" + text + ")"
	}
	return text
}

// addPlaces adds places to others. Sections of one function that overlap, because a round widened
// what an earlier one had covered, are one.
func addPlaces(all []Place, more ...Place) []Place {
	all = slices.Clone(all)
	for _, p := range more {
		i := slices.IndexFunc(all, func(q Place) bool {
			return p.Function != "" && p.Function == q.Function && p.File == q.File && p.From <= q.To && q.From <= p.To
		})
		if i < 0 {
			all = append(all, p)
			continue
		}
		all[i].From, all[i].To = min(all[i].From, p.From), max(all[i].To, p.To)
	}
	return all
}

// Where returns the places of sections in words, and those of copies if there are no sections.
func (p *Patch) Where() []string {
	if len(p.Places) == 0 {
		return inWords(p.Copies)
	}
	return inWords(p.Places)
}

func inWords(places []Place) []string {
	var all []string
	for _, place := range places {
		all = append(all, place.String())
	}
	return all
}

// CopiesIn returns where copies are handed on, in words.
func (p *Patch) CopiesIn() []string { return inWords(p.Copies) }

// OutsideIn returns where other programs or machines are waited for with a lock held, in words.
func (p *Patch) OutsideIn() []string { return inWords(p.Outside) }

// Guarded returns the data that a lock is to guard by the patch, which may be nil.
func (p *Patch) Guarded(l *Lock) []dataname.Name {
	if p == nil {
		return nil
	}
	return p.guards[l.declared()].Data
}

// Guards returns the locks of the patch, with what each is to guard, in the order of their names.
func (p *Patch) Guards() []Guard {
	var all []Guard
	for _, name := range slices.Sorted(maps.Keys(p.guards)) {
		all = append(all, p.guards[name])
	}
	return all
}

// SecondFor says which of some locks the patch, which may be nil, has given to the struct of a new lock for
// the same data: one more would be held wherever that one is, and order nothing that it does not. It is ""
// if there is none.
func (p *Patch) SecondFor(l *Lock, all []*Lock, data []dataname.Name) string {
	for _, first := range all {
		if l.Exists() || l.owner == nil || l.owner != first.owner || !p.Added(first) {
			continue
		}
		if !slices.ContainsFunc(data, func(n dataname.Name) bool {
			return n.Owner == l.owner.Obj().Name() && !slices.Contains(p.Guarded(first), n)
		}) {
			return first.Words + " guards the same data by now"
		}
	}
	return ""
}

// A NewLock is a lock that a patch adds.
type NewLock struct {
	Words string
	// declared is the lock's name with its package and struct: what it is known by in the
	// changed program, where it is another object.
	declared string
}

// Key identifies what the patch makes of the program.
func (p *Patch) Key() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(p.Files)) {
		b.WriteString(name)
		b.Write(p.Files[name])
	}
	return b.String()
}

// Over returns texts of files with the patch applied, which may be nil.
func (p *Patch) Over(texts map[string][]byte) map[string][]byte {
	all := map[string][]byte{}
	maps.Copy(all, texts)
	if p != nil {
		maps.Copy(all, p.Files)
	}
	return all
}

// Added reports whether the patch, which may be nil, has added a lock that the program has
// now.
func (p *Patch) Added(l *Lock) bool {
	return p != nil && l.Exists() && slices.ContainsFunc(p.NewLocks, func(n NewLock) bool { return n.declared == l.declared() })
}

// guardedByOther reports whether another lock, which the patch has added, guards some data. A lock that
// comes on top of it for other data is held at some of its accesses too, and not at all of them.
func (p *Patch) guardedByOther(l *Lock, n dataname.Name) bool {
	return p != nil && slices.ContainsFunc(p.NewLocks, func(other NewLock) bool {
		return other.declared != l.declared() && slices.Contains(p.guards[other.declared].Data, n)
	})
}

// edits are the changes of a patch, by file.
type edits struct {
	files                   map[*source.File]*source.Edits
	places, copies, outside []Place
	// variants are the functions that run with the lock held by their callers, or have variants
	// that do.
	variants []*ast.FuncDecl
}

func newEdits() *edits {
	return &edits{files: make(map[*source.File]*source.Edits)}
}

// of returns the edits of one file.
func (e *edits) of(f *source.File) *source.Edits {
	if e.files[f] == nil {
		e.files[f] = f.Edit()
	}
	return e.files[f]
}

// patch makes the edits, on top of an earlier patch, which may be nil.
func (code *Code) patch(e *edits, base *Patch) (*Patch, error) {
	p := &Patch{Files: map[string][]byte{}, Before: map[string][]byte{}, guards: map[string]Guard{}}
	p.Places, p.Copies, p.Outside = addPlaces(nil, e.places...), addPlaces(nil, e.copies...), addPlaces(nil, e.outside...)
	if base != nil {
		maps.Copy(p.guards, base.guards)
		maps.Copy(p.Files, base.Files)
		maps.Copy(p.Before, base.Before)
		p.Places, p.Copies = addPlaces(base.Places, e.places...), addPlaces(base.Copies, e.copies...)
		p.Outside = addPlaces(base.Outside, e.outside...)
		p.NewLocks = slices.Clone(base.NewLocks)
	}
	for f, changes := range e.files {
		text, err := changes.Formatted()
		if err != nil {
			return nil, err
		}
		name := code.OriginalName(f)
		if _, ok := p.Before[name]; !ok {
			p.Before[name] = f.Text
		}
		p.Files[name] = text
	}
	return p, nil
}

// Rewrite makes a patch of edits that have nothing to do with a lock, on top of an earlier
// patch, which may be nil. Places are where they are, for the report.
func (code *Code) Rewrite(files map[*source.File]*source.Edits, places []Place, base *Patch) (*Patch, error) {
	return code.patch(&edits{files: files, places: places}, base)
}
