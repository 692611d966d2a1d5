package show

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// A Printer makes lines of events: one for each, with columns that stay where they
// are whichever events are printed, and nothing that depends on the others.
//
//	12  g2  store  (*Counter).Inc  counter.go:12:4  c.n  0xc000012018 obj3+8  4 -> 5
type Printer struct {
	r                                *trace.Reader
	seq, g, kind, function, pos, exp int // widths of columns

	objects *trace.Objects
	texts   map[[2]uint64]string // by address and length
}

// Longer texts than these push the rest of their line to the right.
const (
	maxFunction = 40
	maxPosition = 32
	maxExpr     = 32
)

// NewPrinter returns a Printer for the events of r.
func NewPrinter(r *trace.Reader) *Printer {
	p := &Printer{r: r, objects: r.Objects(), texts: map[[2]uint64]string{}}
	if r.Outcome != nil {
		for _, t := range r.Outcome.Texts {
			p.texts[[2]uint64{t.Addr, t.Length}] = t.Text
		}
	}
	_, last, _ := r.Bounds()
	p.seq = len(strconv.FormatUint(last, 10))
	goroutines, _ := r.Goroutines()
	for _, g := range goroutines {
		p.g = max(p.g, 1+len(strconv.FormatUint(uint64(g), 10)))
	}
	for _, k := range event.Kinds() {
		if r.Count(k) > 0 {
			p.kind = max(p.kind, len(k.String()))
		}
	}
	for _, s := range r.Sites() {
		p.function = max(p.function, min(utf8.RuneCountInString(s.Function), maxFunction))
		p.pos = max(p.pos, min(utf8.RuneCountInString(s.Position()), maxPosition))
		p.exp = max(p.exp, min(utf8.RuneCountInString(oneLine(s.Expr)), maxExpr))
	}
	return p
}

// oneLine keeps what would end or disturb a line out of it.
func oneLine(s string) string {
	if strings.IndexFunc(s, func(c rune) bool { return c < ' ' || c == 0x7f || c == utf8.RuneError }) < 0 {
		return s
	}
	s = strings.Join(strings.Fields(s), " ")
	return strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f || c == utf8.RuneError {
			return '?'
		}
		return c
	}, s)
}

// AppendText appends the line of an event, with its end.
func (p *Printer) AppendText(b []byte, e *event.Event) []byte {
	start := len(b)
	b = fmt.Appendf(b, "%*d  %-*s  %-*s  ", p.seq, e.Seq, p.g, "g"+strconv.FormatUint(uint64(e.G), 10), p.kind, e.Kind)
	s, known := p.r.Site(e.Site)
	switch {
	case known:
		b = fmt.Appendf(b, "%-*s  %-*s  %-*s", p.function, oneLine(s.Function), p.pos, oneLine(s.Position()), p.exp, oneLine(s.Expr))
	case e.Site != 0:
		b = fmt.Appendf(b, "%-*s", p.function+p.pos+p.exp+4, "site "+strconv.FormatUint(uint64(e.Site), 10))
	default:
		b = fmt.Appendf(b, "%*s", p.function+p.pos+p.exp+4, "")
	}
	address := ""
	if e.Addr != 0 {
		address = fmt.Sprintf("%#x", e.Addr)
		if name := p.name(e.Addr, e.Seq); name != "" {
			address += " " + name
		}
	}
	b = fmt.Appendf(b, "  %-22s", address)
	for _, part := range []string{p.Change(e), Argument(e)} {
		if part != "" {
			b = append(append(b, "  "...), part...)
		}
	}
	for len(b) > start && b[len(b)-1] == ' ' {
		b = b[:len(b)-1]
	}
	return append(b, '\n')
}

// Values are what the memory of an event held before and after it; "" if that is not known. Those of
// an access to a map are the entry, with its key.
func (p *Printer) Values(e *event.Event) (before, after string) {
	if key, before, after, ok := p.entry(e); ok {
		if before = key + ": " + before; after != "" {
			after = key + ": " + after
		}
		return before, after
	}
	if e.Kind == event.MapWrite && e.Arg > 0 {
		return counted(e.Arg), "no entries"
	}
	site, _ := p.r.Site(e.Site)
	return p.value(e.Before, site.Type, e), p.value(e.After, site.Type, e)
}

// counted says how many entries a map has.
func counted(entries uint64) string {
	if entries == 1 {
		return "1 entry"
	}
	return strconv.FormatUint(entries, 10) + " entries"
}

// Change is the value before and after.
func (p *Printer) Change(e *event.Event) string {
	if key, before, after, ok := p.entry(e); ok {
		if after != "" {
			before += " -> " + after
		}
		return key + " " + before
	}
	before, after := p.Values(e)
	switch {
	case after == "":
		return before
	case before == "":
		return "-> " + after
	}
	return before + " -> " + after
}

// Key is the key of an access to an entry of a map as it stands in an index; ok is false if it is not known.
func (p *Printer) Key(e *event.Event) (key string, ok bool) {
	key, _, _, ok = p.entry(e)
	return key, ok
}

// entry is an access to an entry of a map: the key as it stands in an index, and what the map held
// before and after. ok is false if the key is not known.
func (p *Printer) entry(e *event.Event) (key, before, after string, ok bool) {
	if e.Kind != event.MapRead && e.Kind != event.MapWrite {
		return "", "", "", false
	}
	was, ok := event.EntryOf(e.Before)
	if !ok {
		return "", "", "", false
	}
	site, _ := p.r.Site(e.Site)
	keyType, valueType, _ := site.Entry()
	key = "[" + p.held(was.Key, entryType(keyType, was.KeyKind), e.Seq) + "]"
	held := func(entry event.Entry) string {
		if !entry.Held {
			return "no entry"
		}
		return p.held(entry.Value, entryType(valueType, entry.ValueKind), e.Seq)
	}
	if is, written := event.EntryOf(e.After); written {
		after = held(is)
	}
	return key, held(was), after, true
}

// entryType is the layout of a key or a value of a map: what the site says or, where that is a parameter of the
// function or an interface, what the kind says.
func entryType(ofSite string, kind uint8) string {
	if ofSite == "" || ofSite == "interface" {
		if word := kindWord(kind); word != "" {
			return word
		}
	}
	return ofSite
}

// held shows a key or a value of a map, of which there may be a part alone, or nothing.
func (p *Printer) held(v []byte, layout string, seq uint64) string {
	if text, ok := p.typed(v, layout, seq); ok {
		return text
	}
	if len(v) == 0 {
		return "?"
	}
	return p.value(v, "", &event.Event{Seq: seq, Size: uint32(len(v))})
}

// Operation says what a step did, as timelines do. The source of an access names a variable; that
// of any other operation says what it does.
func (p *Printer) Operation(e *event.Event) string {
	site, _ := p.r.Site(e.Site)
	expr := site.Expr
	switch {
	case e.Kind == event.Go:
		return fmt.Sprintf("go: %s %d", Noun(p.r), e.Arg)
	case e.Kind == event.Blocked && expr != "" && event.Kind(e.Arg) != event.Select:
		return "waits: " + expr
	case e.Kind == event.Blocked:
		return "waits: " + event.Kind(e.Arg).String()
	case e.Kind == event.Select && e.Arg == 0:
		return "select: default"
	case e.Kind == event.Select:
		return fmt.Sprintf("select: case %d", e.Arg)
	}
	change := p.Change(e)
	if key, _, _, ok := p.entry(e); ok {
		if indexed, index := splitIndex(expr); index != "" {
			expr, change = indexed+key, strings.TrimSpace(strings.TrimPrefix(change, key))
		}
	}
	what := expr
	if e.Kind.IsMemory() || expr == "" {
		what = strings.TrimSpace(e.Kind.String() + " " + expr)
	}
	return strings.TrimSpace(what + " " + change)
}

// splitIndex takes the last index off an expression: m[f(k)] is m and [f(k)]. There is none if the
// expression does not end in one, or has a bracket within a text.
func splitIndex(expr string) (indexed, index string) {
	if !strings.HasSuffix(expr, "]") || strings.ContainsAny(expr, "\"`'") && strings.Count(expr, "[") != 1 {
		return expr, ""
	}
	depth := 0
	for i := len(expr) - 1; i >= 0; i-- {
		switch expr[i] {
		case ']':
			depth++
		case '[':
			if depth--; depth == 0 {
				return expr[:i], expr[i:]
			}
		}
	}
	return expr, ""
}

// value shows memory by its layout. Where that is not known, it is an integer in decimal,
// with its hexadecimal form where that differs, if it is as large as one, and otherwise
// words.
func (p *Printer) value(v []byte, layout string, e *event.Event) string {
	if s, ok := p.typed(v, layout, e.Seq); ok && len(v) > 0 {
		return s
	}
	var s string
	switch len(v) {
	case 0:
		return ""
	case 1:
		return integer(int64(v[0]), uint64(v[0]))
	case 2:
		u := binary.LittleEndian.Uint16(v)
		return integer(int64(int16(u)), uint64(u))
	case 4:
		u := binary.LittleEndian.Uint32(v)
		return integer(int64(int32(u)), uint64(u))
	case 8:
		u := binary.LittleEndian.Uint64(v)
		if name := p.name(u, e.Seq); name != "" {
			return fmt.Sprintf("%#x (%s)", u, name)
		}
		return integer(int64(u), u)
	default:
		s = trace.HexWords(v)
	}
	if int(e.Size) > len(v) {
		s += fmt.Sprintf(" and %d bytes more", int(e.Size)-len(v))
	}
	return s
}

func integer(signed int64, unsigned uint64) string {
	if unsigned < 10 {
		return strconv.FormatUint(unsigned, 10)
	}
	return fmt.Sprintf("%d (%#x)", signed, unsigned)
}

// Argument says what Arg means for the kind of event.
func Argument(e *event.Event) string {
	switch e.Kind {
	case event.Go:
		return fmt.Sprintf("goroutine %d", e.Arg)
	case event.Start:
		if e.Arg == 0 {
			return ""
		}
		return fmt.Sprintf("created by goroutine %d", e.Arg)
	case event.AtomicCompare:
		if e.Arg == 0 {
			return "not swapped"
		}
		return "swapped"
	case event.MapWrite:
		return "" // how many entries were removed is what it held before
	case event.TimerFire:
		return "at " + time.Duration(e.Arg).String()
	case event.Exit:
		return fmt.Sprintf("code %d", int64(e.Arg))
	case event.TryLock, event.TryRLock:
		if e.Arg == 0 {
			return "not taken"
		}
		return "taken"
	case event.Send, event.Recv, event.ChanLen:
		return fmt.Sprintf("length %d", e.Arg)
	case event.NetRead, event.NetWrite:
		return fmt.Sprintf("%d bytes", e.Arg)
	case event.Select:
		if e.Arg == 0 {
			return "default"
		}
		return fmt.Sprintf("case %d", e.Arg)
	case event.WaitGroupAdd:
		return fmt.Sprintf("%+d", int64(e.Arg))
	case event.Blocked:
		return "waits: " + event.Kind(e.Arg).String()
	case event.TimerStop:
		if e.Arg == 0 {
			return "it was not running"
		}
		return "it was running"
	case event.Sleep, event.Stall, event.TimerStart:
		return time.Duration(e.Arg).String()
	case event.Call:
		return fmt.Sprintf("frame %d, called by %d", e.Frame, e.Arg)
	case event.Return:
		return fmt.Sprintf("frame %d", e.Frame)
	case event.Alloc:
		return fmt.Sprintf("%d bytes", e.Size)
	}
	if e.Arg != 0 {
		return fmt.Sprintf("%d", int64(e.Arg))
	}
	return ""
}

// Object names the memory of an event: the allocation that it is in, and how far; "" if it is in
// none that is known, as global variables are.
func (p *Printer) Object(e *event.Event) string { return p.name(e.Addr, e.Seq) }

// name is how an address is called at a time: the allocation it is in, and how far.
func (p *Printer) name(addr, seq uint64) string {
	a, err := p.objects.At(addr, seq)
	if err != nil || a == nil {
		return ""
	}
	s := "obj" + strconv.FormatUint(a.Arg, 10)
	if a.Arg == 0 {
		s = "obj@" + strconv.FormatUint(a.Seq, 10)
	}
	if off := addr - a.Addr; off != 0 {
		s += "+" + strconv.FormatUint(off, 10)
	}
	return s
}
