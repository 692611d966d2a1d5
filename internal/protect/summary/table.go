// Package summary says how much of a program is protected: it makes the table that a protected program prints when it
// starts, and the list of gaps, of what package plan has decided.
//
//	section.go   what becomes of a section
//	table.go     guards, and how their data is protected
package summary

import (
	"cmp"
	"fmt"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/cofferdam-go/cofferdam/internal/guard"
	"github.com/cofferdam-go/cofferdam/internal/protect/facts"
)

// A Program is what the table is made of.
type Program struct {
	Mode     string
	Guards   []*guard.Guard
	Sections []Section
	// Unprotected is why nothing can be isolated where the program will run, "" if it can.
	Unprotected string
	// KeyOf, LockName and DatumName are how package plan identifies and names what guards are about.
	KeyOf     func(*types.Var) facts.Key
	LockName  func(*guard.Guard) string
	DatumName func(*guard.Datum) string
	// NotIsolated returns why a variable is not isolated, Open why no more of it than the header is; "" if neither is so.
	NotIsolated, Open func(*types.Var) string
}

// The modes of package plan that the table tells apart.
const (
	auto     = "auto"
	isolate  = "isolate"
	tolerate = "tolerate"
	exact    = "exact"
	detect   = "detect"
)

// String is the table that a protected program prints when it starts: each guard with
// how its data is protected, in how many of the sections that may use it, how often these
// are left on the way, and what is not protected and why. The last line says how much of it
// all is.
func (p *Program) String() string {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	fmt.Fprintf(t, "lock\tguards\tprotected by\tsections\tgaps\twhat is not, and why\n")
	var all totals
	for _, g := range p.Guards {
		for _, d := range g.Data {
			r := p.row(g, d)
			if r.in+r.out == 0 && isOfNodes(d) {
				continue // sections use it once each, which nothing can disturb
			}
			all.add(r)
			fmt.Fprintf(t, "%s\t%s\t%s\t%d of %d\t%d\t%s\n", p.LockName(g), p.DatumName(d), r.how(), r.in, r.in+r.out, r.gaps, strings.Join(r.why, "; "))
		}
	}
	t.Flush()
	text := b.String()
	if all.data == 0 {
		text = ""
	}
	text += all.String(p) + p.sectionCounts() + "\n"
	if p.Mode == auto && p.Unprotected != "" {
		text += "cofferdam: nothing is isolated: " + p.Unprotected + "\n"
	}
	return text
}

// isOfNodes reports whether data is a field of objects that are found behind other data of the lock.
func isOfNodes(d *guard.Datum) bool { return strings.HasPrefix(d.Way, "^") }

// totals counts variables.
type totals struct {
	data, inPart, headers int
	whole                 map[string]int // protected in all sections
}

func (t *totals) add(r row) {
	if t.whole == nil {
		t.whole = make(map[string]int)
	}
	t.data++
	switch {
	case r.in == 0:
		return
	case r.out > 0:
		t.inPart++
	default:
		t.whole[r.by]++
	}
	if r.headerOnly {
		t.headers++
	}
}

func (t *totals) String(p *Program) string {
	whole := t.whole[isolate] + t.whole[tolerate] + t.whole[exact] + t.whole[detect]
	text := fmt.Sprintf("cofferdam: %d of %d guarded variables are protected (%s)", whole, t.data, p.modes(t.whole))
	if t.inPart > 0 {
		text += fmt.Sprintf(", %d in part of their sections", t.inPart)
	}
	if t.headers > 0 {
		text += fmt.Sprintf(", %d of these only by the header", t.headers)
	}
	return text
}

// modes says which modes the protected variables have.
func (p *Program) modes(protected map[string]int) string {
	if p.Mode == auto && protected[isolate] > 0 {
		return fmt.Sprintf("%d isolate, %d tolerate", protected[isolate], protected[tolerate])
	}
	if p.Mode == auto {
		return tolerate
	}
	return p.Mode
}

// sectionCounts says how many sections of the locks that guard something are protected.
func (p *Program) sectionCounts() string {
	all, whole, pieces, left, gaps := 0, 0, 0, 0, 0
	for i := range p.Sections {
		s := &p.Sections[i]
		if !p.guardsSomething(s.LockKey) {
			continue
		}
		all += s.Times
		switch {
		case !s.IsProtected() || p.Mode == detect:
		case len(s.Gaps) == 0 && len(s.Left) == 0:
			whole += s.Times
			if s.Piecewise {
				pieces += s.Times
			}
		default:
			left += s.Times
			gaps += len(s.Gaps)
		}
	}
	switch {
	case all == 0:
		return ""
	case p.Mode == detect:
		return fmt.Sprintf("; of %d sections none is protected, they are only compared", all)
	}
	text := fmt.Sprintf("; of %d sections %d are protected from lock to unlock", all, whole)
	if pieces > 0 {
		text += fmt.Sprintf(" (%d of them piece by piece)", pieces)
	}
	if left > 0 {
		text += fmt.Sprintf(", %d in part or with gaps (%d)", left, gaps)
	}
	return text
}

// guardsSomething reports whether a lock has a row of the table.
func (p *Program) guardsSomething(lock facts.Key) bool {
	return slices.ContainsFunc(p.Guards, func(g *guard.Guard) bool { return p.KeyOf(g.Lock.Object.(*types.Var)) == lock })
}

// GapList lists all gaps with their lines and reasons, and the sections that are left alone.
func (p *Program) GapList() string {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	sections := slices.Clone(p.Sections)
	slices.SortStableFunc(sections, func(a, b Section) int {
		return cmp.Or(cmp.Compare(a.At.Filename, b.At.Filename), cmp.Compare(a.At.Line, b.At.Line))
	})
	for _, s := range sections {
		if !p.guardsSomething(s.LockKey) {
			continue
		}
		if s.Why != "" {
			fmt.Fprintf(t, "%s\t%s\tleft alone: %s\n", short(s.At), s.Lock, s.Why)
		}
		for _, g := range s.Gaps {
			fmt.Fprintf(t, "%s\t%s\tgap at line %d: %s\n", short(s.At), s.Lock, g.At.Line, g.Why)
		}
		if s.Piecewise {
			fmt.Fprintf(t, "%s\t%s\tpiece by piece: what it finds behind pointers, slices and maps is from its first use, and not from the beginning of the section\n", short(s.At), s.Lock)
		}
		for _, h := range s.HeaderOnly {
			fmt.Fprintf(t, "%s\t%s\tof %s only the header is protected: %s (line %d)\n", short(s.At), s.Lock, h.Name, h.Why, h.At.Line)
		}
		for _, l := range s.Left {
			fmt.Fprintf(t, "%s\t%s\t%s is not protected: %s\n", short(s.At), s.Lock, l.Name, l.Why)
		}
	}
	t.Flush()
	return b.String()
}

// A row is what becomes of one variable.
type row struct {
	in, out    int // sections that protect it, and sections that do not
	gaps       int // in those that do
	by         string
	headerOnly bool // what it refers to is not protected
	why        []string
}

// how says how the variable is protected.
func (r row) how() string {
	switch {
	case r.in == 0:
		return "nothing"
	case r.headerOnly:
		return r.by + ", the header only"
	}
	return r.by
}

// refers reports whether a variable of a type only leads to what it stands for: the elements,
// entries and objects are elsewhere.
func refers(t types.Type) bool {
	switch t.Underlying().(type) {
	case *types.Slice, *types.Map, *types.Pointer:
		return true
	}
	return false
}

// maxReasons is how many reasons a line of the table has.
const maxReasons = 2

func (p *Program) row(g *guard.Guard, d *guard.Datum) row {
	v := d.Object.(*types.Var)
	r := row{by: tolerate, headerOnly: refers(v.Type()) && p.Mode != detect}
	lock, datum := p.KeyOf(g.Lock.Object.(*types.Var)), p.DatumName(d)
	if p.Mode == detect || p.Mode == exact {
		r.by = p.Mode
	}
	if why := p.NotIsolated(v); p.Mode == auto && why != "" {
		r.why = append(r.why, "not isolated: "+why)
	}
	var left, gaps, headers reasons
	withContent := false
	for i := range p.Sections {
		s := &p.Sections[i]
		if s.LockKey != lock {
			continue
		}
		protected := true
		switch i := slices.IndexFunc(s.Left, func(l Left) bool { return l.Name == datum }); {
		case slices.Contains(s.Isolated, datum):
			r.by = isolate
		case slices.Contains(s.Protected, datum):
		case i >= 0:
			protected = false
			left.add(s.Left[i].Why, short(s.At))
		case s.Why != "":
			protected = false
			left.add(s.Why, short(s.At))
		default:
			continue // it does not use the variable
		}
		if !protected {
			r.out += s.Times
			continue
		}
		r.in += s.Times
		withContent = withContent || slices.Contains(s.WithEntries, datum)
		if i := slices.IndexFunc(s.HeaderOnly, func(h Header) bool { return h.Name == datum }); i >= 0 {
			headers.add("the header only: "+s.HeaderOnly[i].Why, short(s.HeaderOnly[i].At))
		}
		for _, g := range s.Gaps {
			if slices.Contains(g.Open, datum) {
				r.gaps++
				gaps.add("gap: "+g.Why, short(g.At))
			}
		}
	}
	r.headerOnly = r.headerOnly && (!withContent || len(headers.list) > 0)
	if why := p.Open(v); why != "" && r.headerOnly && r.in > 0 {
		r.why = append(r.why, "the header only: "+why)
	}
	r.why = slices.Concat(r.why, headers.texts(), left.texts(), gaps.texts())
	return r
}

// reasons are different reasons, each with the first place.
type reasons struct {
	known, list []string
	more        int
}

func (r *reasons) add(why, at string) {
	switch {
	case slices.Contains(r.known, why):
	case len(r.list) == maxReasons:
		r.known = append(r.known, why)
		r.more++
	default:
		r.known = append(r.known, why)
		r.list = append(r.list, fmt.Sprintf("%s (%s)", why, at))
	}
}

func (r *reasons) texts() []string {
	if r.more > 0 {
		return append(r.list, fmt.Sprintf("and %d more", r.more))
	}
	return r.list
}

// short writes a place in the source without the directory.
func short(p token.Position) string {
	return filepath.Base(p.Filename) + ":" + strconv.Itoa(p.Line)
}
