package plan

import (
	"cmp"
	"fmt"
	"go/types"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/cofferdam-go/cofferdam/internal/guard"
	"github.com/cofferdam-go/cofferdam/internal/protect/facts"
)

// String is the table that a protected program prints when it starts: each guard with
// how its data is protected, in how many of the sections that may use it, how often these
// are left on the way, and what is not protected and why. The last line says how much of it
// all is.
func (p *Plan) String() string {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	fmt.Fprintf(t, "lock\tguards\tprotected by\tsections\tgaps\twhat is not, and why\n")
	var all totals
	for _, g := range p.Guards {
		for _, d := range g.Data {
			r := p.row(g, d)
			all.add(r)
			fmt.Fprintf(t, "%s\t%s\t%s\t%d of %d\t%d\t%s\n", p.names.ofLock(g), p.names.ofDatum(d), r.how(), r.in, r.in+r.out, r.gaps, strings.Join(r.why, "; "))
		}
	}
	t.Flush()
	text := b.String()
	if all.data == 0 {
		text = ""
	}
	text += all.String(p) + p.sectionCounts() + "\n"
	if p.Mode == Auto && p.Unprotected != "" {
		text += "cofferdam: nothing is isolated: " + p.Unprotected + "\n"
	}
	return text
}

// totals counts variables.
type totals struct {
	data, inPart, headers int
	whole                 map[Mode]int // protected in all sections
}

func (t *totals) add(r row) {
	if t.whole == nil {
		t.whole = make(map[Mode]int)
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

func (t *totals) String(p *Plan) string {
	whole := t.whole[Isolate] + t.whole[Tolerate] + t.whole[Exact] + t.whole[Detect]
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
func (p *Plan) modes(protected map[Mode]int) string {
	if p.Mode == Auto && protected[Isolate] > 0 {
		return fmt.Sprintf("%d isolate, %d tolerate", protected[Isolate], protected[Tolerate])
	}
	if p.Mode == Auto {
		return string(Tolerate)
	}
	return string(p.Mode)
}

// sectionCounts says how many sections of the locks that guard something are protected.
func (p *Plan) sectionCounts() string {
	all, whole, left, gaps := 0, 0, 0, 0
	for i := range p.Sections {
		s := &p.Sections[i]
		if !p.guardsSomething(s.lock) {
			continue
		}
		all += s.Times
		switch {
		case !s.IsProtected() || p.Mode == Detect:
		case len(s.Gaps) == 0 && len(s.Left) == 0:
			whole += s.Times
		default:
			left += s.Times
			gaps += len(s.Gaps)
		}
	}
	switch {
	case all == 0:
		return ""
	case p.Mode == Detect:
		return fmt.Sprintf("; of %d sections none is protected, they are only compared", all)
	}
	text := fmt.Sprintf("; of %d sections %d are protected from lock to unlock", all, whole)
	if left > 0 {
		text += fmt.Sprintf(", %d in part or with gaps (%d)", left, gaps)
	}
	return text
}

// guardsSomething reports whether a lock has a row of the table.
func (p *Plan) guardsSomething(lock facts.Key) bool {
	return slices.ContainsFunc(p.Guards, func(g *guard.Guard) bool { return p.facts.KeyOf(g.Lock.Object.(*types.Var)) == lock })
}

// GapList lists all gaps with their lines and reasons, and the sections that are left alone.
func (p *Plan) GapList() string {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	sections := slices.Clone(p.Sections)
	slices.SortStableFunc(sections, func(a, b Section) int {
		return cmp.Or(cmp.Compare(a.At.Filename, b.At.Filename), cmp.Compare(a.At.Line, b.At.Line))
	})
	for _, s := range sections {
		if !p.guardsSomething(s.lock) {
			continue
		}
		if s.Why != "" {
			fmt.Fprintf(t, "%s\t%s\tleft alone: %s\n", short(s.At), s.Lock, s.Why)
		}
		for _, g := range s.Gaps {
			fmt.Fprintf(t, "%s\t%s\tgap at line %d: %s\n", short(s.At), s.Lock, g.At.Line, g.Why)
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
	by         Mode
	headerOnly bool // what it refers to is not protected
	why        []string
}

// how says how the variable is protected.
func (r row) how() string {
	switch {
	case r.in == 0:
		return "nothing"
	case r.headerOnly:
		return string(r.by) + ", the header only"
	}
	return string(r.by)
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

func (p *Plan) row(g *guard.Guard, d *guard.Datum) row {
	v := d.Object.(*types.Var)
	r := row{by: Tolerate, headerOnly: refers(v.Type()) && p.Mode != Detect}
	lock, datum := p.facts.KeyOf(g.Lock.Object.(*types.Var)), p.names.ofDatum(d)
	if p.Mode == Detect || p.Mode == Exact {
		r.by = p.Mode
	}
	if why := p.notIsolated[p.facts.KeyOf(v)]; p.Mode == Auto && why != "" {
		r.why = append(r.why, "not isolated: "+why)
	}
	var left, gaps reasons
	for i := range p.Sections {
		s := &p.Sections[i]
		if s.lock != lock {
			continue
		}
		protected := true
		switch i := slices.IndexFunc(s.Left, func(l Left) bool { return l.Name == datum }); {
		case slices.Contains(s.Isolated, datum):
			r.by = Isolate
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
		r.headerOnly = r.headerOnly && !slices.Contains(s.WithEntries, datum)
		for _, g := range s.Gaps {
			if slices.Contains(g.Open, datum) {
				r.gaps++
				gaps.add("gap: "+g.Why, short(g.At))
			}
		}
	}
	if i := slices.IndexFunc(p.OnPages, func(o *PageDatum) bool { return o.Key == p.facts.KeyOf(v) && o.Open != "" }); i >= 0 && r.headerOnly && r.in > 0 {
		r.why = append(r.why, "the header only: "+p.OnPages[i].Open)
	}
	r.why = slices.Concat(r.why, left.texts(), gaps.texts())
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
