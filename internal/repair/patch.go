package repair

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/cofferdam-go/cofferdam/internal/overlay"
)

// A Patch is a change of some files.
type Patch struct {
	Files map[string][]byte // by name, as they are to be
	// before is what they were, without any round's changes.
	before map[string][]byte
	// Places are where the sections are, for the report.
	Places []string
	// Locks are the new ones, in words.
	Locks []string
}

func (p *Patch) key() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(p.Files)) {
		b.WriteString(name)
		b.Write(p.Files[name])
	}
	return b.String()
}

// Diff is the change as a unified diff, with names relative to a directory; those of
// dependencies begin with the module and its version.
func (c *Candidate) Diff(dir string) string { return c.Patch.diff(dir, c.program.copies) }

func (p *Patch) diff(dir string, copies *overlay.Copies) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(p.Files)) {
		short := name
		if copies.InCache(name) {
			short = copies.Short(name)
		} else if rel, err := filepath.Rel(dir, name); err == nil && !strings.HasPrefix(rel, "..") {
			short = filepath.ToSlash(rel)
		}
		b.Write(diff.Diff("a/"+short, p.before[name], "b/"+short, p.Files[name]))
	}
	return b.String()
}

// An edit replaces a piece of a file.
type edit struct {
	from, to int
	text     string
}

// edits collects what is to be changed.
type edits struct {
	fset    *token.FileSet
	files   map[*file][]edit
	imports map[*file]map[string]string
	places  []string
}

func newEdits(fset *token.FileSet) *edits {
	return &edits{fset: fset, files: map[*file][]edit{}, imports: map[*file]map[string]string{}}
}

func (e *edits) offset(p token.Pos) int { return e.fset.PositionFor(p, false).Offset }

func (e *edits) add(f *file, from, to int, text string) {
	e.files[f] = append(e.files[f], edit{from, to, text})
}

// indent is the white space that a line begins with, and whether the offset is the
// first other character of it.
func indent(src []byte, at int) (space string, first bool) {
	start := bytes.LastIndexByte(src[:at], '\n') + 1
	end := start
	for end < len(src) && (src[end] == ' ' || src[end] == '\t') {
		end++
	}
	return string(src[start:end]), end == at
}

// before puts a line in front of a node's.
func (e *edits) before(f *file, n ast.Node, text string) {
	at := e.offset(n.Pos())
	space, first := indent(f.source, at)
	if !first {
		e.add(f, at, at, text+"\n")
		return
	}
	e.add(f, at, at, strings.ReplaceAll(text, "\n", "\n"+space)+"\n"+space)
}

// after puts a line behind a node's.
func (e *edits) after(f *file, n ast.Node, text string) {
	at := e.offset(n.End())
	space, _ := indent(f.source, e.offset(n.Pos()))
	end := at
	for end < len(f.source) && f.source[end] != '\n' {
		end++
	}
	rest := strings.TrimSpace(string(f.source[at:end]))
	if rest != "" && !strings.HasPrefix(rest, "//") {
		e.add(f, at, at, "\n"+text)
		return
	}
	e.add(f, end, end, "\n"+space+text)
}

// remove takes a statement out, with its line if nothing else is on it.
func (e *edits) remove(f *file, n ast.Node) {
	from, to := e.offset(n.Pos()), e.offset(n.End())
	space, first := indent(f.source, from)
	if first && to < len(f.source) && f.source[to] == '\n' {
		from, to = from-len(space), to+1
	}
	e.add(f, from, to, "")
}

// replace puts other text in the place of a node.
func (e *edits) replace(f *file, n ast.Node, text string) {
	e.add(f, e.offset(n.Pos()), e.offset(n.End()), text)
}

// text is a node's source.
func (e *edits) text(f *file, n ast.Node) string {
	return string(f.source[e.offset(n.Pos()):e.offset(n.End())])
}

// imported is the name of a package in a file, which imports it from now on.
func (e *edits) imported(f *file, path string) (string, error) {
	for _, spec := range f.syntax.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err == nil && p == path {
			switch {
			case spec.Name == nil:
				return path, nil
			case spec.Name.Name != "_" && spec.Name.Name != ".":
				return spec.Name.Name, nil
			}
		}
	}
	if name, ok := e.imports[f][path]; ok {
		return name, nil
	}
	if f.pkg.Types.Scope().Lookup(path) != nil {
		return "", fmt.Errorf("%s is not imported and its name is taken", path)
	}
	if e.imports[f] == nil {
		e.imports[f] = map[string]string{}
	}
	e.imports[f][path] = path
	quoted := strconv.Quote(path)
	for _, d := range f.syntax.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.IMPORT {
			continue
		}
		if g.Lparen.IsValid() {
			e.importAmong(f, g.Specs, quoted)
			return path, nil
		}
		if g.Specs[0].(*ast.ImportSpec).Path.Value == `"C"` {
			continue // its comment belongs to it alone
		}
		lines := []string{quoted, strings.TrimSpace(strings.TrimPrefix(e.text(f, g), "import"))}
		if g.Specs[0].(*ast.ImportSpec).Path.Value < quoted {
			slices.Reverse(lines)
		}
		e.replace(f, g, "import (\n\t"+strings.Join(lines, "\n\t")+"\n)")
		return path, nil
	}
	at := e.offset(f.syntax.Name.End())
	e.add(f, at, at, "\n\nimport "+quoted)
	return path, nil
}

// importAmong puts an import in order among those of the standard library.
func (e *edits) importAmong(f *file, specs []ast.Spec, quoted string) {
	var last ast.Spec
	for _, s := range specs {
		path := s.(*ast.ImportSpec).Path.Value
		if first, _, _ := strings.Cut(path, "/"); strings.Contains(first, ".") {
			continue
		}
		if path > quoted {
			e.before(f, s, quoted)
			return
		}
		last = s
	}
	if last == nil {
		e.before(f, specs[0], quoted+"\n")
		return
	}
	e.after(f, last, quoted)
}

// patch applies the edits on top of an earlier patch.
func (e *edits) patch(base *Patch) (*Patch, error) {
	p := &Patch{Files: map[string][]byte{}, before: map[string][]byte{}, Places: e.places}
	if base != nil {
		maps.Copy(p.Files, base.Files)
		maps.Copy(p.before, base.before)
		p.Places = append(slices.Clone(base.Places), e.places...)
		p.Locks = slices.Clone(base.Locks)
	}
	for f, list := range e.files {
		slices.SortStableFunc(list, func(a, b edit) int {
			if a.from != b.from {
				return a.from - b.from
			}
			return a.to - b.to
		})
		var out []byte
		var changed []int // where in it
		at := 0
		for _, x := range list {
			if x.from < at {
				return nil, fmt.Errorf("two changes of %s overlap", filepath.Base(f.name))
			}
			out = append(out, f.source[at:x.from]...)
			changed = append(changed, len(out))
			out = append(out, x.text...)
			at = x.to
		}
		out = append(out, f.source[at:]...)
		var err error
		// A file that is formatted stays so; of one that is not, what is changed is.
		if clean, problem := format.Source(f.source); problem == nil && bytes.Equal(clean, f.source) {
			out, err = format.Source(out)
		} else {
			out, err = formatAt(out, changed)
		}
		if err != nil {
			return nil, fmt.Errorf("the changed %s does not parse: %w", filepath.Base(f.name), err)
		}
		if _, ok := p.before[f.original]; !ok {
			p.before[f.original] = f.source
		}
		p.Files[f.original] = out
	}
	return p, nil
}

// formatAt formats the declarations of a source text in which the offsets are.
func formatAt(text []byte, offsets []int) ([]byte, error) {
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, "", text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	for _, d := range slices.Backward(f.Decls) {
		from, to := fset.PositionFor(d.Pos(), false).Offset, fset.PositionFor(d.End(), false).Offset
		if !slices.ContainsFunc(offsets, func(at int) bool { return from <= at && at <= to }) {
			continue
		}
		clean, err := format.Source(text[from:to])
		if err != nil {
			return nil, err
		}
		text = slices.Concat(text[:from], clean, text[to:])
	}
	return text, nil
}

// added reports whether a patch has added a lock.
func (p *Patch) added(l *lock) bool {
	return p != nil && slices.Contains(p.Locks, "a new "+strings.TrimPrefix(l.words, "the "))
}
