package trace

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// A place is what a site is known by in another build of its program, in which it has another
// number and perhaps another line: the function, what stands there, and which of several that
// look the same it is.
//
//	func (c *Counter) Twice() {
//		c.n++ // load c.n, first; store c.n, first
//		c.n++ // load c.n, second; store c.n, second
//	}
type place struct {
	pkg, function string
	kind          event.Kind
	expr, layout  string
	inLibrary     bool
	nth           int
}

// named is the place in a few words, of the site of a number.
func (p place) named(site uint32) string {
	switch {
	case p.function == "":
		return fmt.Sprintf("site %d", site)
	case p.expr == "":
		return p.function
	}
	return p.expr + " in " + p.function
}

// places returns the places of all sites. Calls of the standard library, and instructions of a
// program without source, are sites only if the run has come there, so they are not counted: a
// Matcher still tells two of them apart by having each stand for one and no other.
func (r *Reader) places() map[uint32]place {
	sites := r.Sites()
	slices.SortFunc(sites, func(s, t Site) int {
		return cmp.Or(cmp.Compare(s.File, t.File), cmp.Compare(s.Line, t.Line), cmp.Compare(s.Column, t.Column), cmp.Compare(s.ID, t.ID))
	})
	all := make(map[uint32]place, len(sites))
	count := map[place]int{}
	for _, s := range sites {
		p := place{s.Package, s.Function, s.Kind, s.Expr, s.Type, s.InLibrary, 0}
		if s.ID < event.CallSites && s.Line > 0 {
			count[p]++
			p.nth = count[p]
		}
		all[s.ID] = p
	}
	return all
}

// A Change is a function that a run has come through, and that is another one now.
type Change struct {
	Package, Function string
	Gone              bool // it is not there any more
}

// ChangedSince returns the functions that a run has come through and that differ in a newer
// build of the program, in the order of their names. Sites are those of that build.
func (r *Reader) ChangedSince(sites []Site) ([]Change, error) {
	type function struct{ pkg, name string }
	now := map[function]string{}
	for _, s := range sites {
		if s.Digest != "" {
			now[function{s.Package, s.Function}] = s.Digest
		}
	}
	var all []Change
	seen := map[function]bool{}
	c := r.Cursor(Filter{})
	for c.Next() {
		s, ok := r.Site(c.Event().Site)
		f := function{s.Package, s.Function}
		if !ok || s.Digest == "" || seen[f] {
			continue
		}
		seen[f] = true
		if digest, there := now[f]; digest != s.Digest {
			all = append(all, Change{s.Package, s.Function, !there})
		}
	}
	slices.SortFunc(all, func(x, y Change) int {
		return cmp.Or(cmp.Compare(x.Package, y.Package), cmp.Compare(x.Function, y.Function))
	})
	return all, c.Err()
}
