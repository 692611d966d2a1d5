package write

import (
	"fmt"
	"go/ast"
	"strconv"

	"golang.org/x/tools/go/packages"

	"github.com/cofferdam-go/cofferdam/internal/protect/plan"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// Watching is what a protected program does with its findings.
type Watching struct {
	// Findings is a file that the program writes, and Limit how many bytes that may become,
	// with the files that it was renamed to.
	Findings string
	Limit    int64
	// Baseline are findings that are known, as a finding.Baseline writes them.
	Baseline string
	// Log has new findings written to the program's logger, and Strict has it fail if there
	// are any that are not known.
	Log, Strict bool
	// Monitor links package monitor.
	Monitor bool
}

// A Text is the new text of a file.
type Text struct {
	Package *packages.Package
	Text    string
}

// Files returns the new texts of the files that change, by their names.
func Files(p *plan.Plan, w Watching) (map[string]Text, error) {
	texts := make(map[string]Text)
	for _, pkg := range p.Packages {
		if err := newPackageWriter(p, pkg, w).write(texts); err != nil {
			return nil, fmt.Errorf("protecting package %s: %w", pkg.PkgPath, err)
		}
	}
	return texts, nil
}

// A packageWriter writes the files of one package.
type packageWriter struct {
	plan     *plan.Plan
	pkg      *plan.Package
	watching Watching
	names    string // what all names of ours begin with
	files    []*fileWriter
	bySyntax map[*ast.File]*fileWriter
	// wickets are those that are declared, and readers what the sections of some locks share.
	wickets, readers map[int]bool
	// forms are the ways in which parts of what is behind wickets are used; see partForms.
	forms map[*plan.PageDatum][]partForm
}

// A fileWriter writes one file.
type fileWriter struct {
	*packageWriter
	file   *plan.File
	edits  *source.Edits
	prefix string // of names that only this file has

	tail []string // declarations to add
	// spelled are the packages that were imported to write a type, with their names.
	spelled map[string]string
}

func newPackageWriter(p *plan.Plan, pkg *plan.Package, w Watching) *packageWriter {
	u := &packageWriter{plan: p, pkg: pkg, watching: w, bySyntax: make(map[*ast.File]*fileWriter), wickets: make(map[int]bool), readers: make(map[int]bool), forms: make(map[*plan.PageDatum][]partForm)}
	u.names = source.UnusedPrefix("cofferdam", pkg.Syntax...)
	for _, f := range pkg.Files {
		fw := &fileWriter{packageWriter: u, file: f, edits: f.EditInPlace(), prefix: u.names + strconv.Itoa(f.Index), spelled: make(map[string]string)}
		u.files = append(u.files, fw)
		u.bySyntax[f.Syntax] = fw
	}
	return u
}

func (u *packageWriter) write(texts map[string]Text) error {
	for _, f := range u.files {
		f.redirectCells(f.edits, f.file.Sites)
		for i, g := range f.file.Groups {
			newSectionWriter(f, g, i+1).wrapDeferred()
		}
		for i, g := range f.file.Groups {
			newSectionWriter(f, g, i+1).write()
		}
		f.watch()
	}
	for _, c := range u.pkg.Clones {
		if err := u.bySyntax[c.File.Syntax].clone(c); err != nil {
			return err
		}
	}
	u.declarePages()
	for _, f := range u.files {
		f.redirectSites(f.edits, f.file.Sites)
		f.addAtomically()
		f.visit()
		f.useBatches()
		if err := f.render(texts); err != nil {
			return err
		}
	}
	return nil
}

// render adds the text of the file if it differs from the source.
func (f *fileWriter) render(texts map[string]Text) error {
	for _, l := range f.tail {
		f.edits.Append(l)
	}
	if !f.edits.Changed() {
		return nil
	}
	text, err := f.edits.Bytes()
	if err != nil {
		return err
	}
	texts[f.file.Name] = Text{f.pkg.Package, string(text)}
	return nil
}

// hooks is the name of package tolerate.
func (f *fileWriter) hooks() string { return f.names + "rt" }
