package instrument

import (
	"crypto/sha256"
	"encoding/hex"
	"go/ast"
	"go/scanner"
	"go/token"
	"sort"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/load"
	"github.com/cofferdam-go/cofferdam/internal/source"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// A trace is replayed after its program was edited, too. Each site therefore carries a digest
// of the declaration that it is in, by which it is told later whether the code there is still
// what was recorded. What cannot change a run does not change the digest: comments, layout,
// and where in the file, or in which file, the declaration stands.
//
//	func (c *Counter) Inc() { c.n++ }   ==   // Inc adds one.
//	                                         func (c *Counter) Inc() {
//	                                             c.n++
//	                                         }

// digests are those of the declarations of a file, in the order of their lines.
type digests []digestOf

type digestOf struct {
	firstLine, lastLine int
	digest              string
}

// at returns the digest of the declaration on a line; "" if there is none.
func (d digests) at(line int) string {
	i := sort.Search(len(d), func(i int) bool { return d[i].lastLine >= line })
	if i < len(d) && d[i].firstLine <= line {
		return d[i].digest
	}
	return ""
}

// digestDeclarations returns the digests of a file's declarations.
func digestDeclarations(fset *token.FileSet, f *source.File) digests {
	var all digests
	for _, d := range f.Syntax.Decls {
		if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.IMPORT {
			continue
		}
		first, last := fset.PositionFor(d.Pos(), false), fset.PositionFor(d.End(), false)
		all = append(all, digestOf{first.Line, last.Line, digest(f.Text[first.Offset:last.Offset])})
	}
	return all
}

// digest hashes the tokens of a text. Of comments, directives count.
func digest(text []byte) string {
	fset := token.NewFileSet()
	var s scanner.Scanner
	s.Init(fset.AddFile("", fset.Base(), len(text)), text, func(token.Position, string) {}, scanner.ScanComments)
	h := sha256.New()
	semicolon := false // one is due, unless something is closed first
	for {
		_, tok, literal := s.Scan()
		switch tok {
		case token.EOF:
			return hex.EncodeToString(h.Sum(nil)[:6])
		case token.SEMICOLON:
			semicolon = true // also where the end of a line stands for it
			continue
		case token.COMMENT:
			if !isDirective(literal) {
				continue
			}
		}
		if semicolon && tok != token.RBRACE && tok != token.RPAREN {
			h.Write([]byte{byte(token.SEMICOLON)})
		}
		semicolon = false
		h.Write([]byte{byte(tok)})
		h.Write([]byte(literal))
		h.Write([]byte{0})
	}
}

// isDirective reports whether a comment means something to the compiler.
func isDirective(comment string) bool {
	for _, prefix := range []string{"//go:", "//line ", "/*line ", "//export "} {
		if strings.HasPrefix(comment, prefix) {
			return true
		}
	}
	return false
}

// addDigests completes the sites of a file.
func addDigests(sites []trace.Site, name string, p *load.Checked) {
	for _, f := range p.Files {
		if f.Name != name {
			continue
		}
		declarations := digestDeclarations(p.Fset, f)
		for i := range sites {
			sites[i].Digest = declarations.at(sites[i].Line)
		}
	}
}
