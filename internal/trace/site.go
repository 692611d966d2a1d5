package trace

import (
	"encoding/binary"
	"path"
	"strconv"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// A Site is a place in the program's source at which events happen. The rewriter numbers
// the calls of hooks that it writes, events carry that number, and whatever finds a site
// in the source again starts from here: there is no second table.
type Site struct {
	ID        uint32 `json:"site"`
	Package   string `json:"package,omitempty"`
	File      string `json:"file,omitempty"` // as it is, before any line directive
	Line      int    `json:"line,omitempty"`
	Column    int    `json:"column,omitempty"`
	EndLine   int    `json:"endLine,omitempty"`
	EndColumn int    `json:"endColumn,omitempty"`
	Function  string `json:"function,omitempty"`   // as stack traces spell it, without the package
	Expr      string `json:"expression,omitempty"` // the source
	// Kind is what happens there.
	Kind event.Kind `json:"kind,omitempty"`
	// Type is how a value that is accessed there lies in memory, see package show; empty
	// if that is not known.
	Type string `json:"type,omitempty"`
	// InLibrary says that the site is a call of the standard library, which does something
	// there that the call itself does not say: that fmt uses a pool, for example.
	InLibrary bool `json:"inLibrary,omitempty"`
	// Digest identifies the declaration around the site, whatever its comments, layout and
	// place; empty if that is not known.
	Digest string `json:"digest,omitempty"`
}

// Entry takes the type of an entry of a map apart, map{K}V.
func (s *Site) Entry() (key, value string, ok bool) {
	rest, ok := strings.CutPrefix(s.Type, "map{")
	if !ok {
		return "", "", false
	}
	depth := 1
	for i, c := range rest {
		switch c {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return rest[:i], rest[i+1:], true
			}
		}
	}
	return "", "", false
}

// Position is file:line:column, with the last element of the file's path.
func (s *Site) Position() string {
	if s.File == "" {
		return ""
	}
	out := path.Base(strings.ReplaceAll(s.File, `\`, "/"))
	if s.Line > 0 {
		out += ":" + strconv.Itoa(s.Line)
		if s.Column > 0 {
			out += ":" + strconv.Itoa(s.Column)
		}
	}
	return out
}

// A LibraryCall is a call of the standard library in the program's source. Patched
// functions of the library have no site there: what is known at run time is the line
// that they were called from. The call says what stands on that line.
type LibraryCall struct {
	File string // as stack traces have it
	Line int
	Name string // of the function or method
	Expr string // the source
}

// sitesSize is the payload at which a piece of the table of sites ends.
const sitesSize = 1 << 20

// appendSites writes as many of the sites as a section takes, and returns the rest.
// Strings that were told before in the section are told by number.
func appendSites(b []byte, sites []Site) ([]byte, []Site) {
	known := map[string]uint64{}
	str := func(s string) {
		if n, ok := known[s]; ok {
			b = binary.AppendUvarint(b, n)
			return
		}
		known[s] = uint64(len(known)) + 1
		b = append(b, 0)
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	for i, s := range sites {
		if len(b) > sitesSize {
			return b, sites[i:]
		}
		b = binary.AppendUvarint(b, uint64(s.ID))
		str(s.Package)
		str(s.File)
		b = binary.AppendUvarint(b, uint64(max(s.Line, 0)))
		b = binary.AppendUvarint(b, uint64(max(s.Column, 0)))
		b = binary.AppendUvarint(b, uint64(max(s.EndLine, 0)))
		b = binary.AppendUvarint(b, uint64(max(s.EndColumn, 0)))
		str(s.Function)
		str(s.Expr)
		b = append(b, byte(s.Kind))
		str(s.Type)
		if s.InLibrary {
			b = append(b, 1)
		} else {
			b = append(b, 0)
		}
		str(s.Digest)
	}
	return b, nil
}

// parseSites calls f with the sites of a section.
func parseSites(at section, payload []byte, f func(Site)) error {
	d := &decoder{b: payload}
	var known []string
	str := func() string {
		n := d.uvarint()
		if n == 0 {
			s := string(d.bytes(d.uvarint()))
			known = append(known, s)
			return s
		}
		if n > uint64(len(known)) {
			d.fail("a string that was not told before")
			return ""
		}
		return known[n-1]
	}
	for d.left() > 0 {
		s := Site{ID: d.uint32(), Package: str(), File: str()}
		s.Line, s.Column = int(d.uint32()), int(d.uint32())
		s.EndLine, s.EndColumn = int(d.uint32()), int(d.uint32())
		s.Function, s.Expr = str(), str()
		s.Kind = event.Kind(d.byte())
		if s.Kind != event.None && !s.Kind.Valid() {
			d.fail("a kind that does not exist")
		}
		s.Type = str()
		s.InLibrary = d.byte() != 0
		s.Digest = str()
		if d.err == "" {
			f(s)
		}
	}
	if d.err != "" {
		return corrupt(at.offset, "the table of sites: %s", d.err)
	}
	return nil
}

// EncodeSites returns a table of sites in the form that it has in a trace, for a file of its own.
func EncodeSites(sites []Site) []byte {
	var b []byte
	for len(sites) > 0 {
		var piece []byte
		piece, sites = appendSites(nil, sites)
		b = binary.AppendUvarint(b, uint64(len(piece)))
		b = append(b, piece...)
	}
	return b
}

// DecodeSites returns the sites that EncodeSites was given.
func DecodeSites(b []byte) ([]Site, error) {
	var all []Site
	d := &decoder{b: b}
	for d.left() > 0 {
		at := section{offset: int64(len(b) - d.left())}
		piece := d.bytes(d.uvarint())
		if d.err != "" {
			return nil, corrupt(at.offset, "the table of sites: %s", d.err)
		}
		if err := parseSites(at, piece, func(s Site) { all = append(all, s) }); err != nil {
			return nil, err
		}
	}
	return all, nil
}
