package tracing

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// filter makes a filter of the flags, but for those that need the table of sites.
func (o *options) filter() (*trace.Filter, error) {
	f := &trace.Filter{}
	for _, text := range list(o.goroutines) {
		g, err := strconv.ParseUint(strings.TrimPrefix(text, "g"), 10, 32)
		if err != nil {
			return nil, fmt.Errorf("-g %s: %q is not the number of a goroutine", o.goroutines, text)
		}
		f.Goroutines = append(f.Goroutines, uint32(g))
	}
	for _, text := range list(o.kinds) {
		k, ok := kindNamed(text)
		if !ok {
			return nil, fmt.Errorf("-kind %s: there is no kind %q; the kinds are %s", o.kinds, text, kindNames())
		}
		f.Kinds = append(f.Kinds, k)
	}
	if o.addr != "" {
		text, length, hasLength := strings.Cut(o.addr, ",")
		var err error
		if f.Addr, err = strconv.ParseUint(text, 0, 64); err != nil || f.Addr == 0 {
			return nil, fmt.Errorf("-addr %s: %q is not an address, such as 0xc000012018", o.addr, text)
		}
		if f.Size = 1; hasLength {
			if f.Size, err = strconv.ParseUint(length, 0, 64); err != nil || f.Size == 0 {
				return nil, fmt.Errorf("-addr %s: %q is not a length in bytes", o.addr, length)
			}
		}
	}
	if o.seqs != "" {
		first, last, ok := strings.Cut(o.seqs, ":")
		if !ok {
			last = first
		}
		for _, bound := range []struct {
			text string
			to   *uint64
		}{{first, &f.First}, {last, &f.Last}} {
			if bound.text == "" {
				continue
			}
			n, err := strconv.ParseUint(bound.text, 10, 64)
			if err != nil {
				return nil, fmt.Errorf("-range %s: %q is not the number of an event", o.seqs, bound.text)
			}
			*bound.to = n
		}
		if last != "" && f.Last < max(f.First, 1) {
			return nil, fmt.Errorf("-range %s has no events: they are numbered from 1", o.seqs)
		}
	}
	return f, nil
}

func list(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(text, ",")
}

// kindNamed accepts the names of kinds with any of " ", "-", "_" and nothing between
// their words.
func kindNamed(text string) (event.Kind, bool) {
	plain := strings.NewReplacer(" ", "", "-", "", "_", "").Replace
	for _, k := range event.Kinds() {
		if strings.EqualFold(plain(k.String()), plain(text)) {
			return k, true
		}
	}
	return 0, false
}

func kindNames() string {
	var names []string
	for _, k := range event.Kinds() {
		names = append(names, strings.ReplaceAll(k.String(), " ", "-"))
	}
	return strings.Join(names, ", ")
}

// sites adds to a filter the sites that -var and -site allow. It reports false if
// that is none, which a filter cannot say.
func (o *options) sites(r *trace.Reader, f *trace.Filter) (some bool, err error) {
	if o.variable == "" && o.site == "" {
		return true, nil
	}
	expr, err := regexp.Compile(o.variable)
	if err != nil {
		return false, fmt.Errorf("-var: %w", err)
	}
	place, err := parsePlace(o.site)
	if err != nil {
		return false, err
	}
	for _, s := range r.Sites() {
		if (o.variable == "" || s.Expr != "" && expr.MatchString(s.Expr)) && (o.site == "" || place.has(s)) {
			f.Sites = append(f.Sites, s.ID)
		}
	}
	return len(f.Sites) > 0, nil
}

// A place is a file, or a line or column of it; 0 is any.
type place struct {
	file         string
	line, column int
}

func parsePlace(text string) (place, error) {
	p := place{file: text}
	for _, to := range []*int{&p.column, &p.line} {
		colon := strings.LastIndexByte(p.file, ':')
		if colon < 0 {
			break
		}
		n, err := strconv.Atoi(p.file[colon+1:])
		if err != nil || n < 1 {
			return place{}, fmt.Errorf("-site %s: %q is not a line or column", text, p.file[colon+1:])
		}
		*to, p.file = n, p.file[:colon]
	}
	if p.column != 0 && p.line == 0 {
		p.line, p.column = p.column, 0
	}
	return p, nil
}

// has reports whether a site is at the place, whose file can be the end of the
// site's path.
func (p place) has(s trace.Site) bool {
	return (s.File == p.file || strings.HasSuffix(s.File, "/"+p.file)) && (p.line == 0 || p.line == s.Line) && (p.column == 0 || p.column == s.Column)
}
