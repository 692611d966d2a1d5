// Package source is the source of a program, to be changed: typed files, a buffer of changes
// to each, imports, free names, and the difference as a diff. Packages
// instrument, protect, repair and guard rewrite programs; the mechanics that they share are
// here, and what to rewrite is theirs.
//
// # Terms
//
// A [File] is one source file with its text, its syntax and its types. A [Program] is all
// files of some packages, found by name, by node, or by the function that they declare.
//
// [Uses] are the calls and other uses of a program's functions, and the fields that it assigns to.
//
// A [Buffer] collects changes of a text by byte offset. [Edits] are a Buffer for a File, by
// token.Pos and by node, and know of lines, imports and formatting. All changes name places
// of the original text, so that their order does not matter to where they are made; nothing
// is printed from syntax trees, so that what is not changed stays byte for byte.
//
// # Changes
//
// Each kind of change, with the source before and after:
//
//	e.InsertBefore(s.Pos(), "f(); ")    g()           f(); g()
//	e.InsertAfter(s.End(), "; f()")     g()           g(); f()
//	e.Replace(x, "y")                   x + 1         y + 1
//	e.LineBefore(s, "mu.Lock()")        g()           mu.Lock()
//	                                                  g()
//	e.LineAfter(s, "mu.Unlock()")       g() // why    g() // why
//	                                                  mu.Unlock()
//	e.Delete(s)                         a()           a()
//	                                    g()           b()
//	                                    b()
//
// # Several changes at one place
//
// Where one statement ends the next may begin, and both may get something. What was inserted
// after what ends there comes first, then what was inserted before what begins there, then
// what takes its place. Among equals, the order of the calls holds:
//
//	for f(){g()}     e.InsertAfter(brace+1, " a();"); e.InsertBefore(g.Pos(), "b(); ")
//	for f(){ a();b(); g()}
//
// Two changes that overlap are a mistake, and refused with both places: a replaced piece
// that is replaced in part, or into which something is inserted, has no right text.
//
// # Lines
//
// A program whose lines have to stay where they are, because panics and stack traces name
// them, gets its changes with [Buffer.KeepLines]. A replacement that is shorter by some
// lines then ends in as many line breaks, and one that would move lines is refused:
//
//	x.mu.           v          e.Replace(selector, "v")
//	    n = 1
//	                   = 1
//
// # Files
//
//	source.go   File and Program
//	buffer.go   Buffer: changes by offset, their order, overlaps, lines
//	edits.go    Edits: changes of a File by position and node
//	imports.go  imports that a change needs
//	expression.go  expressions that are the same
//	selection.go  what a selector passes on its way, and what is evaluated
//	uses.go     how a program uses its functions and fields
//	names.go    what a name means at a place, and names that are free
//	typeparam.go  types that depend on the instance
//	spell.go    types as a file can write them
//	format.go   formatting what was changed
//	diff.go     the change as a unified diff
//	lines.go    which line before a change a line comes from
package source

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"os"
	"slices"

	"golang.org/x/tools/go/packages"
)

// A File is one source file with its text, syntax and types.
type File struct {
	Name    string // its path
	Text    []byte
	Syntax  *ast.File
	Fset    *token.FileSet
	Package *packages.Package // that it is of
	Types   *types.Package
	Info    *types.Info
	// Before says which lines its own come from, if it is a changed version of a file; nil if it is
	// not, or if that does not matter.
	Before *Lines
}

// NewFile returns a file of a package, whose syntax was parsed from the text.
func NewFile(fset *token.FileSet, syntax *ast.File, text []byte) (*File, error) {
	tok := fset.File(syntax.FileStart)
	if tok.Size() != len(text) {
		return nil, fmt.Errorf("%s was changed while it was read: try again", tok.Name())
	}
	return &File{Name: tok.Name(), Text: text, Syntax: syntax, Fset: fset}, nil
}

// Offset returns where in the text a position of the file is. Line directives do not matter.
func (f *File) Offset(at token.Pos) int { return f.token().Offset(at) }

// Line returns the line of the file that a position is in. Line directives do not matter.
func (f *File) Line(at token.Pos) int { return f.token().Line(at) }

// Between returns the text from one position to another.
func (f *File) Between(from, to token.Pos) string {
	return string(f.Text[f.Offset(from):f.Offset(to)])
}

// TextOf returns the text of a node.
func (f *File) TextOf(n ast.Node) string { return f.Between(n.Pos(), n.End()) }

func (f *File) token() *token.File { return f.Fset.File(f.Syntax.FileStart) }

// A Program is the files of some packages. A file that is in several of them, because a
// package comes once with its tests and once without, is that of the package which comes
// last.
type Program struct {
	Fset      *token.FileSet
	files     map[string]*File
	functions map[*types.Func]*ast.FuncDecl
}

// Read returns the program that packages with typed syntax are. Overlay has other texts for
// some files than those on disk, as the packages were loaded with it.
func Read(pkgs []*packages.Package, overlay map[string][]byte) (*Program, error) {
	p := NewProgram(nil)
	for _, k := range pkgs {
		p.Fset = k.Fset
		for _, syntax := range k.Syntax {
			name := k.Fset.File(syntax.FileStart).Name()
			text, ok := overlay[name]
			if !ok {
				var err error
				if text, err = os.ReadFile(name); err != nil {
					return nil, fmt.Errorf("reading the program: %w", err)
				}
			}
			f, err := NewFile(k.Fset, syntax, text)
			if err != nil {
				return nil, err
			}
			f.Package, f.Types, f.Info = k, k.Types, k.TypesInfo
			p.Add(f)
		}
	}
	return p, nil
}

// NewProgram returns a program without files.
func NewProgram(fset *token.FileSet) *Program {
	return &Program{Fset: fset, files: make(map[string]*File), functions: make(map[*types.Func]*ast.FuncDecl)}
}

// Add adds a typed file, in place of one with its name.
func (p *Program) Add(f *File) {
	p.files[f.Name] = f
	for _, d := range f.Syntax.Decls {
		if decl, ok := d.(*ast.FuncDecl); ok {
			if function, ok := f.Info.Defs[decl.Name].(*types.Func); ok {
				p.functions[function] = decl
			}
		}
	}
}

// File returns the file with a name, nil if it is not the program's.
func (p *Program) File(name string) *File { return p.files[name] }

// FileOf returns the file that a node is in, nil if it is not the program's.
func (p *Program) FileOf(n ast.Node) *File {
	tok := p.Fset.File(n.Pos())
	if tok == nil {
		return nil
	}
	return p.files[tok.Name()]
}

// Files returns all files in the order of their names.
func (p *Program) Files() []*File {
	all := make([]*File, 0, len(p.files))
	for _, name := range slices.Sorted(maps.Keys(p.files)) {
		all = append(all, p.files[name])
	}
	return all
}

// Declaration returns where a function is declared, nil if that is not in the program.
func (p *Program) Declaration(function *types.Func) *ast.FuncDecl { return p.functions[function] }
