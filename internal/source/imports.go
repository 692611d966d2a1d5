package source

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"strings"
)

// ImportedAs returns the name that the file has for a package that it imports: the one in
// its import declaration, or the package's own.
func (f *File) ImportedAs(path, own string) (name string, ok bool) {
	for _, spec := range f.Syntax.Imports {
		if p, err := strconv.Unquote(spec.Path.Value); err != nil || p != path {
			continue
		}
		switch {
		case spec.Name == nil:
			return own, true
		case spec.Name.Name != "_" && spec.Name.Name != ".":
			return spec.Name.Name, true
		}
	}
	return "", false
}

// ImportStd returns the file's name for a package of the standard library whose path ends in
// its name, such as sync or sync/atomic, and adds the import if the file has none. The import
// goes where gofmt and a person would have it:
//
//	import "fmt"     import (
//	                 	"fmt"
//	                 	"sync"
//	                 )
//
// It is an error if the name means something else in the package or the file.
func (e *Edits) ImportStd(path string) (name string, err error) {
	own := path[strings.LastIndexByte(path, '/')+1:]
	if name, ok := e.ImportedAs(path, own); ok {
		return name, nil
	}
	if name, ok := e.imported[path]; ok {
		return name, nil
	}
	if e.Types.Scope().Lookup(own) != nil || e.Info.Scopes[e.Syntax].Lookup(own) != nil {
		return "", fmt.Errorf("%s is not imported and its name is taken", path)
	}
	e.noteImport(path, own)
	quoted := strconv.Quote(path)
	for _, d := range e.Syntax.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.IMPORT {
			continue
		}
		if len(g.Specs) == 0 {
			continue
		}
		if g.Lparen.IsValid() {
			e.importAmong(g.Specs, quoted)
			return own, nil
		}
		if g.Specs[0].(*ast.ImportSpec).Path.Value == `"C"` {
			continue // its comment belongs to it alone
		}
		e.loneImport, e.block = g, append(e.block, quoted)
		return own, nil
	}
	e.block = append(e.block, quoted)
	return own, nil
}

// writeBlock writes the imports that have no block among the file's to stand in: in one
// declaration, with the only import that the file has.
func (e *Edits) writeBlock() {
	if len(e.block) == 0 {
		return
	}
	lines := e.block
	e.block = nil
	at := func(line string) string { return line[strings.IndexByte(line, '"'):] }
	if e.loneImport != nil {
		lines = append(lines, strings.TrimSpace(strings.TrimPrefix(e.TextOf(e.loneImport), "import")))
	}
	slices.SortFunc(lines, func(x, y string) int { return strings.Compare(at(x), at(y)) })
	text := "import " + lines[0]
	if len(lines) > 1 {
		text = "import (\n\t" + strings.Join(lines, "\n\t") + "\n)"
	}
	if e.loneImport != nil {
		e.Replace(e.loneImport, text)
	} else {
		e.InsertBefore(e.Syntax.Name.End(), "\n\n"+text)
	}
}

func (e *Edits) noteImport(path, name string) {
	if e.imported == nil {
		e.imported = make(map[string]string)
	}
	e.imported[path] = name
}

// importAmong puts an import in order among those of the standard library.
func (e *Edits) importAmong(specs []ast.Spec, quoted string) {
	var last ast.Spec
	for _, s := range specs {
		path := s.(*ast.ImportSpec).Path.Value
		if first, _, _ := strings.Cut(path, "/"); strings.Contains(first, ".") {
			continue
		}
		if path > quoted {
			e.LineBefore(s, quoted)
			return
		}
		last = s
	}
	if last == nil {
		e.LineBefore(specs[0], quoted+"\n")
		return
	}
	e.LineAfter(last, quoted)
}

// ImportInLine imports a package under a name that is free in the file, once, on the line of
// the package clause, so that no line moves:
//
//	package p     package p; import name "path"
func (e *Edits) ImportInLine(name, path string) {
	if _, ok := e.imported[path]; ok {
		return
	}
	e.noteImport(path, name)
	e.InsertAfter(e.Syntax.Name.End(), "; import "+name+" "+strconv.Quote(path))
}
