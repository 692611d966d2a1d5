package wire

import (
	"encoding/binary"
	"errors"

	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// A Table is what is in the file of an order's Sites. It is not JSON as the rest is: the program
// would read it with a package encoding/json that has hooks, which took longer than most runs.
type Table struct {
	Sites []trace.Site
	// Calls are the calls of the standard library in the program's source.
	Calls []trace.LibraryCall
}

// Encode returns the contents of the file: the length of the sites, the sites, and the calls in
// the form of sites.
func (t *Table) Encode() []byte {
	calls := make([]trace.Site, len(t.Calls))
	for i, c := range t.Calls {
		calls[i] = trace.Site{File: c.File, Line: c.Line, Function: c.Name, Expr: c.Expr}
	}
	sites := trace.EncodeSites(t.Sites)
	b := append(binary.AppendUvarint(nil, uint64(len(sites))), sites...)
	return append(b, trace.EncodeSites(calls)...)
}

// DecodeTable returns the table that was encoded.
func DecodeTable(b []byte) (*Table, error) {
	length, n := binary.Uvarint(b)
	if n <= 0 || length > uint64(len(b)-n) {
		return nil, errors.New("the table of sites has no end")
	}
	sites, err := trace.DecodeSites(b[n : n+int(length)])
	if err != nil {
		return nil, err
	}
	calls, err := trace.DecodeSites(b[n+int(length):])
	if err != nil {
		return nil, err
	}
	t := &Table{Sites: sites}
	for _, s := range calls {
		t.Calls = append(t.Calls, trace.LibraryCall{File: s.File, Line: s.Line, Name: s.Function, Expr: s.Expr})
	}
	return t, nil
}
