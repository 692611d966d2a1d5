package source

import (
	"bytes"
	"fmt"
	"go/format"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
)

// Formatted returns the file's text with all edits made, formatted as far as a person would
// want it: a file that gofmt likes stays so, and of another only the declarations that were
// changed are formatted, so that the difference shows the change alone.
func (e *Edits) Formatted() ([]byte, error) {
	text, err := e.Bytes()
	if err != nil {
		return nil, err
	}
	if IsFormatted(e.Text) {
		text, err = format.Source(text)
	} else {
		var at []int
		if _, at, err = e.buffer.apply(0, len(e.Text)); err == nil {
			text, err = formatDeclarations(text, at)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("the changed %s does not parse: %w", filepath.Base(e.Name), err)
	}
	return text, nil
}

// IsFormatted reports whether gofmt likes a text.
func IsFormatted(text []byte) bool {
	clean, err := format.Source(text)
	return err == nil && bytes.Equal(clean, text)
}

// formatDeclarations formats the declarations of a text that some offsets are in.
func formatDeclarations(text []byte, offsets []int) ([]byte, error) {
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
