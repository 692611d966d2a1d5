package gossa

import (
	"go/ast"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

type siteKey struct {
	file      string
	line, col int
	endCol    int
	kind      string
}

// Bind gives instructions the sites at which the instrumented program made events.
// It returns how many sites of memory accesses no instruction has: what happens there
// is in the trace and not in the program.
func (p *Program) Bind(sites []trace.Site) (lost int) {
	table := map[siteKey][]uint32{}
	accesses := map[uint32]bool{}
	for _, s := range sites {
		k := siteKey{s.File, s.Line, s.Column, s.EndColumn, s.Kind.String()}
		table[k] = append(table[k], s.ID)
		switch s.Kind {
		case event.Load, event.Store, event.MapRead, event.MapWrite:
			accesses[s.ID] = true
		}
	}
	find := func(o Origin) []uint32 {
		if o.Node == nil || o.Kind == "" {
			return nil
		}
		return table[p.siteKeyOf(o.Node, o.Kind)]
	}
	for _, f := range p.Funcs {
		f.Site = 0
		if ids := find(p.origins[f.Origin]); len(ids) > 0 && p.sourceOf[f] != nil {
			f.Site = ids[0]
		}
		for _, b := range f.Blocks {
			for _, in := range b.Instrs {
				in.Sites = find(p.origins[in.Origin])
				for _, id := range in.Sites {
					delete(accesses, id)
				}
			}
		}
	}
	p.Finish()
	return len(accesses)
}

func (p *Program) siteKeyOf(n ast.Node, kind string) siteKey {
	from, to := p.Fset.PositionFor(n.Pos(), false), p.Fset.PositionFor(n.End(), false)
	return siteKey{from.Filename, from.Line, from.Column, to.Column, kind}
}

// Number gives every function and every instruction that makes an event a site of its
// own, for programs that are not instrumented but simulated.
func (p *Program) Number() {
	next := uint32(0)
	for _, f := range p.Funcs {
		next++
		f.Site = next
		for _, b := range f.Blocks {
			for _, in := range b.Instrs {
				in.Sites = nil
				if p.origins[in.Origin].Kind == "" || in.Private || in.Op == ir.Test {
					continue
				}
				next++
				in.Sites = []uint32{next}
			}
		}
	}
	p.Finish()
}
