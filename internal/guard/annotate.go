package guard

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/format"
	"os"
	"slices"
	"strings"
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
	type edit struct {
		offset int
		text   string
	}
	edits := make(map[string][]edit)
	source := make(map[string][]byte)
	done := make(map[*ast.Field]bool)
	for _, x := range g.AtLeast(confidence) {
		for _, d := range x.Data {
			decl := g.signs.of[d.Object]
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
			pos := g.Fset.PositionFor(decl.field.Pos(), false)
			src, ok := source[pos.Filename]
			if !ok {
				var err error
				if src, err = os.ReadFile(pos.Filename); err != nil {
					return nil, fmt.Errorf("annotating %s: %w", d.Name, err)
				}
				source[pos.Filename] = src
			}
			start := bytes.LastIndexByte(src[:pos.Offset], '\n') + 1
			indent := string(src[start:pos.Offset])
			if strings.TrimSpace(indent) != "" {
				out.Skipped = append(out.Skipped, Skipped{d, "shares its line with other fields"})
				continue
			}
			end := "\n"
			if start > 1 && src[start-2] == '\r' {
				end = "\r\n"
			}
			edits[pos.Filename] = append(edits[pos.Filename], edit{start, indent + "// +checklocks:" + d.Way + end})
			out.Added++
		}
	}
	for name, list := range edits {
		src := source[name]
		clean, err := format.Source(src)
		formatted := err == nil && bytes.Equal(clean, src)
		slices.SortFunc(list, func(e, f edit) int { return cmp.Compare(e.offset, f.offset) })
		var b bytes.Buffer
		last := 0
		for _, e := range list {
			b.Write(src[last:e.offset])
			b.WriteString(e.text)
			last = e.offset
		}
		b.Write(src[last:])
		text := b.Bytes()
		if formatted {
			if text, err = format.Source(text); err != nil {
				return nil, fmt.Errorf("annotating %s: %w", name, err)
			}
		}
		out.Files[name] = text
	}
	return out, nil
}

// cannotAnnotate says why a guard cannot be written down, "" if it can.
func (g *Guards) cannotAnnotate(d *Datum, decl *declaration, l Lock, confidence float64) string {
	switch {
	case decl == nil || decl.field == nil:
		return "is a variable: checklocks reads annotations of fields only"
	case !d.sibling:
		return "its lock, " + d.Way + ", cannot be named from the field"
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
