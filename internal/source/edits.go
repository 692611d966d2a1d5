package source

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/token"
	"path/filepath"
	"strings"
)

// Edits are changes of one file, by position and by node.
type Edits struct {
	*File
	buffer   *Buffer
	imported map[string]string // names of the packages whose imports are added, by path
	// block are imports to add that no block of the file has room for, loneImport the one import
	// of the file that goes into a block with them.
	block      []string
	loneImport *ast.GenDecl
}

// Edit returns edits of the file, none so far.
func (f *File) Edit() *Edits { return &Edits{File: f, buffer: NewBuffer(f.Text)} }

// EditInPlace returns edits of the file that leave every line where it is.
func (f *File) EditInPlace() *Edits {
	e := f.Edit()
	e.buffer.KeepLines = true
	return e
}

// Buffer returns the changes by offset that the edits consist of, for changes that have no
// node.
func (e *Edits) Buffer() *Buffer { return e.buffer }

// Changed reports whether there are any edits.
func (e *Edits) Changed() bool { return e.buffer.Changed() || len(e.block) > 0 }

// InsertAfter inserts text behind what ends at a position.
func (e *Edits) InsertAfter(at token.Pos, text string) { e.buffer.InsertAfter(e.Offset(at), text) }

// InsertBefore inserts text in front of what begins at a position, behind all that is
// inserted there with InsertAfter.
func (e *Edits) InsertBefore(at token.Pos, text string) { e.buffer.InsertBefore(e.Offset(at), text) }

// Replace puts text in the place of a node.
func (e *Edits) Replace(n ast.Node, text string) { e.ReplaceBetween(n.Pos(), n.End(), text) }

// ReplaceBetween puts text in the place of what is between two positions.
func (e *Edits) ReplaceBetween(from, to token.Pos, text string) {
	e.buffer.Replace(e.Offset(from), e.Offset(to), text)
}

// Supersede puts text in the place of a node and of the changes inside it, which ChangedText has.
func (e *Edits) Supersede(n ast.Node, text string) { e.SupersedeBetween(n.Pos(), n.End(), text) }

// SupersedeBetween does that with what is between two positions.
func (e *Edits) SupersedeBetween(from, to token.Pos, text string) {
	e.buffer.Supersede(e.Offset(from), e.Offset(to), text)
}

// ChangedText returns the text of a node with the changes inside it made.
func (e *Edits) ChangedText(n ast.Node) string {
	text, err := e.buffer.Inside(e.Offset(n.Pos()), e.Offset(n.End()))
	if err != nil {
		return e.TextOf(n) // the whole is refused with the same error
	}
	return text
}

// Append adds declarations at the end of the file.
func (e *Edits) Append(text string) { e.buffer.Append(text) }

// LineBefore inserts lines in front of the line that a node begins on, or in front of the
// node if something else is on that line before it. They get the node's indentation.
func (e *Edits) LineBefore(n ast.Node, text string) {
	at := e.Offset(n.Pos())
	space, first := indentation(e.Text, at)
	if !first {
		e.buffer.InsertBefore(at, text+"\n")
		return
	}
	e.buffer.InsertBefore(at, strings.ReplaceAll(text, "\n", "\n"+space)+"\n"+space)
}

// LineAfter inserts a line behind the line that a node ends on, and the comment that ends
// it, or behind the node if code follows on that line. It gets the node's indentation.
func (e *Edits) LineAfter(n ast.Node, text string) {
	at := e.Offset(n.End())
	space, _ := indentation(e.Text, e.Offset(n.Pos()))
	rest, _, _ := bytes.Cut(e.Text[at:], []byte("\n"))
	if code := bytes.TrimSpace(rest); len(code) > 0 && !bytes.HasPrefix(code, []byte("//")) {
		e.buffer.InsertBefore(at, "\n"+text)
		return
	}
	e.buffer.InsertBefore(at+len(rest), "\n"+space+text)
}

// Delete removes a node, with its line if nothing else is on it, or with the semicolon that ends it.
func (e *Edits) Delete(n ast.Node) {
	from, to := e.Offset(n.Pos()), e.Offset(n.End())
	space, first := indentation(e.Text, from)
	switch {
	case to == len(e.Text):
	case first && e.Text[to] == '\n':
		from, to = from-len(space), to+1
	case e.Text[to] == ';':
		to++
		for to < len(e.Text) && e.Text[to] == ' ' {
			to++
		}
	}
	e.buffer.Delete(from, to)
}

// Bytes returns the file's text with all edits made.
func (e *Edits) Bytes() ([]byte, error) {
	e.writeBlock()
	text, err := e.buffer.Bytes()
	if err != nil {
		return nil, fmt.Errorf("changing %s: %w", filepath.Base(e.Name), err)
	}
	return text, nil
}

// indentation returns the white space that the line of an offset begins with, and whether
// the offset is the first other character of it.
func indentation(text []byte, at int) (space string, first bool) {
	start := bytes.LastIndexByte(text[:at], '\n') + 1
	end := start
	for end < len(text) && (text[end] == ' ' || text[end] == '\t') {
		end++
	}
	return string(text[start:end]), end == at
}
