package hooks

import (
	"go/ast"
	"go/token"
	"go/types"
	"go/version"
	"path/filepath"

	"github.com/cofferdam-go/cofferdam/internal/load"
	"github.com/cofferdam-go/cofferdam/internal/source"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// A File is a file that got hooks, or has constructs that should have.
type File struct {
	Name    string // its path
	Runtime string // what it calls the package of the hooks
	Hooked  bool
	// Sites are those of its hooks, numbered from 1.
	Sites  []trace.Site
	Missed []Missed
	// Marked is the text, with marks for the numbers of sites.
	Marked string
}

// Text returns the file's text, in which the numbers of the sites are counted on from base.
func (f *File) Text(base uint32) string { return number(f.Marked, base) }

// A Scope narrows what of a package is rewritten, by a file's name without its
// directory and a function in it, or "" for any; nil means all.
type Scope func(file, function string) bool

// Rewrite rewrites the files of a package that need it.
func Rewrite(p *load.Checked, mode Mode, in Scope) []File {
	vars := analyse(p.Info, p.Files)
	without := bodiless(p.Info, p.Files)
	var syntax []*ast.File
	for _, f := range p.Files {
		syntax = append(syntax, f.Syntax)
	}
	fresh := source.UnusedPrefix("cofferdam", syntax...)
	rt := fresh + "rt"
	var out []File
	for _, f := range p.Files {
		if in != nil && !in(filepath.Base(f.Name), "") {
			continue
		}
		r := &rewriter{
			pkg: p, info: p.Info, file: f, mode: mode,
			rt: rt, fresh: fresh, vars: vars, bodiless: without, in: in,
			perIteration: since(p, f.Syntax, "go1.22"),
			gotos:        gotos(p.Info, f.Syntax),
			aheadOf:      map[ast.Expr]bool{},
		}
		text := r.rewrite()
		if r.used || len(r.missed) > 0 {
			out = append(out, File{Name: f.Name, Runtime: rt, Hooked: r.used, Sites: r.sites, Missed: r.missed, Marked: text})
		}
	}
	return out
}

// since reports whether a file is written in a version of the language or a later
// one.
func since(p *load.Checked, f *ast.File, v string) bool {
	have := p.Info.FileVersions[f]
	if have == "" {
		have = p.Language()
	}
	return have == "" || version.Compare(have, v) >= 0
}

// gotos returns the labels of a file that a goto jumps to.
func gotos(info *types.Info, f *ast.File) map[types.Object]bool {
	all := make(map[types.Object]bool)
	ast.Inspect(f, func(n ast.Node) bool {
		if b, ok := n.(*ast.BranchStmt); ok && b.Tok == token.GOTO {
			all[info.Uses[b.Label]] = true
		}
		return true
	})
	return all
}
