package lanes

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// A File is a file of the program that steps are in, or the parts of it around them.
type File struct {
	Name string `json:"name"` // as it is shown
	Path string `json:"path"`
	// Parts are runs of lines.
	Parts []Part `json:"parts"`
	// Note says that the text is not that of the run, or why there is none.
	Note string `json:"note,omitempty"`
}

// A Part is some lines of a file.
type Part struct {
	First int      `json:"first"` // the number of the first
	Lines []string `json:"lines"`
}

// Limits on the source in a page: a file up to wholeLines is there from start to end, of a longer
// one the lines within aroundLines of a step.
const (
	wholeLines  = 1500
	aroundLines = 30
)

// sources adds the files of the program's own that steps are in.
func (b *builder) sources() error {
	read := b.options.Source
	if read == nil {
		read = os.ReadFile
	}
	byFile := map[string][]*trace.Site{}
	for id := range b.siteOf {
		if s, ok := b.r.Site(id); ok && s.File != "" && s.Line > 0 && b.relevance.Own(s.File) {
			byFile[s.File] = append(byFile[s.File], &s)
		}
	}
	if s := &b.failedAt; s.File != "" {
		byFile[s.File] = append(byFile[s.File], s)
	}
	var names []string
	for name := range byFile {
		names = append(names, name)
	}
	slices.Sort(names)
	fileOf := map[string]int{}
	for i, name := range names {
		fileOf[name] = i
		b.run.Files = append(b.run.Files, sourceFile(name, byFile[name], read))
	}
	shorten(b.run.Files)
	if s := &b.failedAt; s.File != "" {
		b.run.Sites[len(b.run.Sites)-1].File = fileOf[s.File]
	}
	for id, at := range b.siteOf {
		if s, ok := b.r.Site(id); ok {
			if file, known := fileOf[s.File]; known && s.Line > 0 {
				b.run.Sites[at].File = file
			}
		}
	}
	return nil
}

// sourceFile reads a file. One that is not there any more, or is another one now, is shown as such:
// the steps are those of the file that the run was built from.
func sourceFile(name string, sites []*trace.Site, read func(string) ([]byte, error)) File {
	f := File{Name: name, Path: name, Parts: []Part{}}
	text, err := read(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.Note = "the file is not there any more"
		return f
	case err != nil:
		f.Note = "the file cannot be read: " + err.Error()
		return f
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	if slices.ContainsFunc(sites, func(s *trace.Site) bool { return !standsThere(s, lines) }) {
		f.Note = "the file has changed since the run was recorded, so that lines may be off"
	}
	f.Parts = parts(lines, sites)
	return f
}

// standsThere reports whether a site's expression is where the site says. Expressions are
// shortened, and their layout is not kept, so only the first word is compared.
func standsThere(s *trace.Site, lines []string) bool {
	if s.Expr == "" || s.Column < 1 || s.InLibrary {
		return true
	}
	if s.Line > len(lines) || s.Column-1 > len(lines[s.Line-1]) {
		return false
	}
	first := s.Expr
	if at := strings.IndexFunc(first, func(c rune) bool { return !isWord(c) }); at >= 0 {
		first = first[:at]
	}
	return strings.HasPrefix(lines[s.Line-1][s.Column-1:], first) || !strings.HasPrefix(s.Expr, first+".")
}

func isWord(c rune) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// parts are the lines that a page shows.
func parts(lines []string, sites []*trace.Site) []Part {
	if len(lines) <= wholeLines {
		return []Part{{1, lines}}
	}
	wanted := make([]bool, len(lines))
	for _, s := range sites {
		for i := max(0, s.Line-1-aroundLines); i < min(len(lines), s.Line+aroundLines); i++ {
			wanted[i] = true
		}
	}
	all := []Part{}
	for i, on := range wanted {
		switch {
		case !on:
		case i > 0 && wanted[i-1]:
			last := &all[len(all)-1]
			last.Lines = append(last.Lines, lines[i])
		default:
			all = append(all, Part{i + 1, []string{lines[i]}})
		}
	}
	return all
}

// shorten takes from the names of files the folder that all of them are in.
func shorten(files []File) {
	if len(files) == 0 {
		return
	}
	folder := filepath.Dir(files[0].Path)
	for _, f := range files[1:] {
		for folder != filepath.Dir(folder) && !strings.HasPrefix(f.Path, folder+string(filepath.Separator)) {
			folder = filepath.Dir(folder)
		}
	}
	for i := range files {
		if rel, err := filepath.Rel(folder, files[i].Path); err == nil {
			files[i].Name = filepath.ToSlash(rel)
		}
	}
}
