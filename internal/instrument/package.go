package instrument

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

// A rewritten file is one that got hooks, or should have.
type rewritten struct {
	name   string // the original's path
	text   string // with marks for sites
	rt     string // what it calls the hooks' package
	hooked bool
	sites  []trace.Site
	missed []Missed
}

// A scope narrows what of a package is rewritten, by a file's name without its
// directory and a function in it, or "" for any; nil means all.
type scope func(file, function string) bool

// rewritePackage rewrites the files of a package that need it.
func rewritePackage(p *load.Checked, mode Mode, in scope) []rewritten {
	vars := analyse(p.Info, p.Files)
	var syntax []*ast.File
	for _, f := range p.Files {
		syntax = append(syntax, f.Syntax)
	}
	fresh := source.UnusedPrefix("cofferdam", syntax...)
	rt := fresh + "rt"
	var out []rewritten
	for _, f := range p.Files {
		if in != nil && !in(filepath.Base(f.Name), "") {
			continue
		}
		r := &rewriter{
			pkg: p, info: p.Info, file: f, mode: mode,
			rt: rt, fresh: fresh, vars: vars, in: in,
			perIteration: since(p, f.Syntax, "go1.22"),
			gotos:        gotos(p.Info, f.Syntax),
		}
		text := r.rewrite()
		if r.used || len(r.missed) > 0 {
			out = append(out, rewritten{f.Name, text, rt, r.used, r.sites, r.missed})
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
