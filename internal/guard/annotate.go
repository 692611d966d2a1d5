package guard

import (
	"bytes"
	"fmt"
	"go/ast"
	"os"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/source"
)

// Annotations are the edits that write guards into the source.
type Annotations struct {
	Files   map[string][]byte // new contents, of the files that change
	Added   int
	Skipped []Skipped
}

// A Skipped is data whose guard cannot be annotated.
type Skipped struct {
	*Datum
	Reason string
}

// Annotate writes "// +checklocks:mu" above each field whose guard is known with at
// least the given confidence: the form, and the place, that gVisor's checklocks
// reads. What is annotated already stays as it is, so doing it twice changes
// nothing. Files that gofmt likes are left so; in others nothing but the new lines
// changes.
func (g *Guards) Annotate(confidence float64) (*Annotations, error) {
	out := &Annotations{Files: make(map[string][]byte)}
	edits := make(map[string]*source.Edits)
	done := make(map[*ast.Field]bool)
	for _, x := range g.AtLeast(confidence) {
		for _, d := range x.Data {
			decl := g.declarations.of[d.Object]
			if decl != nil && annotation(decl.text) == d.Way {
				continue
			}
			if reason := g.cannotAnnotate(d, decl, x.Lock, confidence); reason != "" {
				out.Skipped = append(out.Skipped, Skipped{d, reason})
				continue
			}
			if done[decl.field] {
				continue
			}
			done[decl.field] = true
			name := g.Fset.File(decl.field.Pos()).Name()
			if edits[name] == nil {
				file, err := g.openForEditing(decl.file)
				if err != nil {
					return nil, fmt.Errorf("annotating %s: %w", d.Name, err)
				}
				edits[name] = file.Edit()
			}
			if !annotateField(edits[name], decl.field, d.Way) {
				out.Skipped = append(out.Skipped, Skipped{d, "shares its line with other fields"})
				continue
			}
			out.Added++
		}
	}
	for name, e := range edits {
		if !e.Changed() {
			continue
		}
		text, err := e.Bytes()
		if err == nil && source.IsFormatted(e.Text) {
			text, err = e.Formatted()
		}
		if err != nil {
			return nil, fmt.Errorf("annotating %s: %w", name, err)
		}
		out.Files[name] = text
	}
	return out, nil
}

// openForEditing returns a file of the program, to be changed.
func (g *Guards) openForEditing(syntax *ast.File) (*source.File, error) {
	text, err := os.ReadFile(g.Fset.File(syntax.FileStart).Name())
	if err != nil {
		return nil, err
	}
	return source.NewFile(g.Fset, syntax, text)
}

// annotateField puts an annotation on a line above a field's, which must begin with the
// field, and ends that line as the one before it ends.
func annotateField(e *source.Edits, field *ast.Field, way string) bool {
	at := e.Offset(field.Pos())
	start := bytes.LastIndexByte(e.Text[:at], '\n') + 1
	indentation := string(e.Text[start:at])
	if strings.TrimSpace(indentation) != "" {
		return false
	}
	end := "\n"
	if start > 1 && e.Text[start-2] == '\r' {
		end = "\r\n"
	}
	e.Buffer().InsertBefore(start, indentation+"// +checklocks:"+way+end)
	return true
}

// cannotAnnotate says why a guard cannot be written down, "" if it can.
func (g *Guards) cannotAnnotate(d *Datum, decl *declaration, l Lock, confidence float64) string {
	switch {
	case decl == nil || decl.field == nil:
		return "is a variable: checklocks reads annotations of fields only"
	case !d.canBeNamed:
		return "its lock, " + d.By + ", cannot be named from the field"
	case strings.Contains(d.Way, "["):
		return "its lock is in a container"
	case annotation(decl.text) != "":
		return "is annotated with another lock, " + annotation(decl.text)
	case ast.IsGenerated(decl.file):
		return "is in a generated file"
	case l.Object.Pkg() != d.Object.Pkg() && l.Object.Parent() == l.Object.Pkg().Scope():
		return "its lock is in another package"
	}
	for _, n := range decl.neighbour.list {
		if n.field != decl.field {
			continue
		}
		if found := g.byPosition[n.object.Pos()]; found.Datum == nil || found.Datum.Way != d.Way || found.Datum.Confidence < confidence {
			return "is declared together with " + n.object.Name() + ", which has another guard or none"
		}
	}
	return ""
}
