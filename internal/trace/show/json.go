package show

import (
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// jsonEvent is an event for other programs. Addresses are text, as many readers of
// JSON cannot hold 64 bits in a number; values are the bytes in memory.
type jsonEvent struct {
	Seq       uint64 `json:"seq"`
	G         uint32 `json:"goroutine"`
	Kind      string `json:"kind"`
	Site      uint32 `json:"site,omitempty"`
	Package   string `json:"package,omitempty"`
	Function  string `json:"function,omitempty"`
	File      string `json:"file,omitempty"`
	Line      int    `json:"line,omitempty"`
	Column    int    `json:"column,omitempty"`
	EndColumn int    `json:"endColumn,omitempty"`
	Expr      string `json:"expression,omitempty"`
	Frame     uint32 `json:"frame,omitempty"`
	Addr      string `json:"address,omitempty"`
	Object    string `json:"object,omitempty"`
	Size      uint32 `json:"size,omitempty"`
	Before    string `json:"before,omitempty"`
	After     string `json:"after,omitempty"`
	Arg       int64  `json:"argument,omitempty"`
}

// AppendJSON appends a line with an event as a JSON object.
func (p *Printer) AppendJSON(b []byte, e *event.Event) []byte {
	s, _ := p.r.Site(e.Site)
	j := jsonEvent{
		Seq: e.Seq, G: e.G, Kind: e.Kind.String(), Site: e.Site,
		Package: s.Package, Function: s.Function, File: s.File, Line: s.Line, Column: s.Column, EndColumn: s.EndColumn, Expr: s.Expr,
		Frame: e.Frame, Size: e.Size, Before: hex.EncodeToString(e.Before), After: hex.EncodeToString(e.After), Arg: int64(e.Arg),
	}
	if e.Addr != 0 {
		j.Addr = fmt.Sprintf("%#x", e.Addr)
		j.Object = p.name(e.Addr, e.Seq)
	}
	data, err := json.Marshal(j)
	if err != nil {
		panic("show: an event that JSON cannot hold: " + err.Error())
	}
	return append(append(b, data...), '\n')
}
