package cover

import (
	"go/ast"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/repair/cover/statement"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// What is handed to code without the lock is a copy:
//
//	return c.items               return maps.Clone(c.items)
//	return c.list[:n]            return slices.Clone(c.list[:n])
//	return c.log.Bytes()         return slices.Clone(c.log.Bytes())
//	subs := h.subs               subs := slices.Clone(h.subs)
//	h.mu.Unlock()                h.mu.Unlock()
//	for _, s := range subs {     for _, s := range subs {

// copyOutHeld has those regions that hold the lock as they are hand out copies, and reports whether there
// are any.
func (code *Code) copyOutHeld(e *edits, regions []*Region, l *Lock) (changed bool, err error) {
	var done []ast.Expr
	for _, r := range regions {
		if len(r.Copied) == 0 || !code.isHeld(r, l) {
			continue
		}
		held := r.clone()
		held.Copied = slices.DeleteFunc(held.Copied, func(x ast.Expr) bool { return slices.Contains(done, x) })
		if err := held.copyOut(e); err != nil {
			return false, err
		}
		done = append(done, held.Copied...)
	}
	return len(done) > 0, nil
}

// copyOut has a region hand out copies.
func (r *Region) copyOut(e *edits) error {
	edits := e.of(r.file)
	for _, x := range r.Copied {
		x = statement.PartOf(r.fn, x)
		name, err := edits.ImportStd(source.CopierOf(r.info().TypeOf(x)))
		if err != nil {
			return err
		}
		edits.InsertBefore(x.Pos(), name+".Clone(")
		edits.InsertAfter(x.End(), ")")
	}
	r.noteCopies(e)
	return nil
}

// noteCopies notes where a region hands out copies.
func (r *Region) noteCopies(e *edits) {
	for _, x := range r.Copied {
		at := r.place()
		at.From, at.To = r.file.Line(x.Pos()), r.file.Line(x.End())
		e.copies = append(e.copies, at)
	}
}

// textWithCopies is the text of a part of a region that is read ahead, with copies of what is handed out.
func (r *Region) textWithCopies(edits *source.Edits, of ast.Node) (string, error) {
	text, from := r.file.TextOf(of), r.file.Offset(of.Pos())
	copied := slices.Clone(r.Copied)
	slices.SortFunc(copied, func(x, y ast.Expr) int { return int(y.Pos() - x.Pos()) }) // the last one first
	for _, x := range copied {
		if x = statement.PartOf(r.fn, x); !statement.Encloses(of, x) {
			continue
		}
		name, err := edits.ImportStd(source.CopierOf(r.info().TypeOf(x)))
		if err != nil {
			return "", err
		}
		first, end := r.file.Offset(x.Pos())-from, r.file.Offset(x.End())-from
		text = text[:first] + name + ".Clone(" + text[first:end] + ")" + text[end:]
	}
	return text, nil
}
