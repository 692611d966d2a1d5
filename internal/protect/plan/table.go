package plan

import (
	"fmt"
	"go/types"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/cofferdam-go/cofferdam/internal/guard"
)

// String is the table that a protected program prints when it starts: each guard with
// how its data is protected, and what is not and why.
func (p *Plan) String() string {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 8, 2, ' ', 0)
	fmt.Fprintf(t, "lock\tguards\tprotected by\tsections\tnot in, because\n")
	data, protected := 0, make(map[Mode]int)
	for _, g := range p.Guards {
		for _, d := range g.Data {
			data++
			r := p.row(g.Lock.Name, d)
			how := "nothing"
			if r.in > 0 {
				protected[r.by]++
				how = string(r.by)
			}
			fmt.Fprintf(t, "%s\t%s\t%s\t%d of %d\t%s\n", g.Lock.Name, d.Name, how, r.in, r.in+r.out, strings.Join(r.why, "; "))
		}
	}
	t.Flush()
	text := b.String()
	if data == 0 {
		text = ""
	}
	text += fmt.Sprintf("cofferdam: %d of %d guarded variables are protected (%s)", protected[Isolate]+protected[Tolerate]+protected[Detect], data, p.modes(protected))
	if n := p.leftAlone(); n > 0 {
		text += fmt.Sprintf(", %d functions were left alone", n)
	}
	text += "\n"
	if p.Mode == Auto && p.Unprotected != "" {
		text += "cofferdam: nothing is isolated: " + p.Unprotected + "\n"
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

func (p *Plan) leftAlone() int {
	n := 0
	for _, s := range p.Sections {
		if s.Why != "" {
			n++
		}
	}
	return n
}

// A row is what becomes of one variable.
type row struct {
	in, out int // sections that protect it, and sections that do not
	by      Mode
	why     []string
}

// maxReasons is how many reasons a line of the table has.
const maxReasons = 2

func (p *Plan) row(lock string, d *guard.Datum) row {
	r := row{by: Tolerate}
	datum := d.Name
	if p.Mode == Detect {
		r.by = Detect
	}
	if why := p.notIsolated[p.facts.KeyOf(d.Object.(*types.Var))]; p.Mode == Auto && why != "" {
		r.why = append(r.why, "not isolated: "+why)
	}
	var reasons []string
	more := 0
	add := func(s *Section, why string) {
		r.out++
		switch {
		case slices.Contains(reasons, why):
			return
		case len(reasons) == maxReasons:
			more++
			return
		}
		reasons = append(reasons, why)
		r.why = append(r.why, fmt.Sprintf("%s (%s)", why, short(s.At)))
	}
	for i := range p.Sections {
		s := &p.Sections[i]
		if s.Lock != lock {
			continue
		}
		switch i := slices.IndexFunc(s.Left, func(l Left) bool { return l.Name == datum }); {
		case slices.Contains(s.Isolated, datum):
			r.in++
			r.by = Isolate
		case slices.Contains(s.Protected, datum):
			r.in++
		case i >= 0:
			add(s, s.Left[i].Why)
		case s.Why != "":
			add(s, s.Why)
		}
	}
	if more > 0 {
		r.why = append(r.why, fmt.Sprintf("and %d more", more))
	}
	return r
}
