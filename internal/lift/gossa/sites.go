package gossa

import (
	"go/ast"
	"maps"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/sli/exec"
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// A siteKey is what an instruction and a site have in common: an expression of the source
// and what happens there.
type siteKey struct {
	file      string
	line, col int
	endCol    int
	kind      event.Kind
}

// Bind gives instructions the sites at which the instrumented program made the events of
// a trace. It returns the sites at which the run accessed memory of the lifted files
// without any instruction for it: what happened there is in the trace and not in the
// program, so that the engine cannot put it into a section.
func (p *Program) Bind(t *Trace) (missed []trace.Site) {
	sites := t.reader.Sites()
	table := map[siteKey][]uint32{}
	for _, s := range sites {
		k := siteKey{s.File, s.Line, s.Column, s.EndColumn, s.Kind}
		table[k] = append(table[k], s.ID)
	}
	find := func(o Origin) []uint32 {
		if o.Node == nil || o.Kind == event.None {
			return nil
		}
		return table[p.siteKeyOf(o.Node, o.Kind)]
	}
	for _, fn := range p.Funcs {
		fn.Site = 0
		if ids := find(p.origins[fn.Origin]); len(ids) > 0 && p.sourceOf[fn] != nil {
			fn.Site = ids[0]
		}
		for _, block := range fn.Blocks {
			for _, in := range block.Instrs {
				in.Sites = find(p.origins[in.Origin])
			}
		}
	}
	p.bindAttempts(sites)
	p.Finish()
	return p.missed(t, sites)
}

// bindAttempts gives the operations that try to take a lock the sites of their calls, of which only
// the lines are known: what came of an attempt is in the trace.
func (p *Program) bindAttempts(sites []trace.Site) {
	calls := map[siteKey][]uint32{}
	for _, s := range sites {
		if s.ID >= event.CallSites {
			k := siteKey{file: s.File, line: s.Line, kind: s.Kind}
			calls[k] = append(calls[k], s.ID)
		}
	}
	for _, fn := range p.Funcs {
		for _, block := range fn.Blocks {
			for _, in := range block.Instrs {
				if !in.TriesLock() {
					continue
				}
				at := p.Fset.PositionFor(p.origins[in.Origin].Instr.Pos(), false)
				k := siteKey{file: at.Filename, line: at.Line, kind: event.TryLock}
				if in.Sync == ir.SyncTryReadLock {
					k.kind = event.TryRLock
				}
				in.Sites = calls[k]
			}
		}
	}
}

// missed are the sites of recorded accesses in the lifted files that no instruction has. What
// the standard library does in a call is not among them: the call is the instruction. The
// table of sites has those of code that never ran, too: only events tell.
func (p *Program) missed(t *Trace, sites []trace.Site) []trace.Site {
	unbound := map[uint32]bool{}
	for _, s := range sites {
		if s.ID < event.CallSites && s.Kind.IsMemory() && p.files[s.File] && len(p.InstrsAt(s.ID)) == 0 {
			unbound[s.ID] = true
		}
	}
	if len(unbound) == 0 {
		return nil
	}
	recorded := map[uint32]bool{}
	t.each(trace.Filter{Sites: slices.Collect(maps.Keys(unbound))}, 0, func(event *exec.Event) bool {
		recorded[event.Site] = true
		return len(recorded) < len(unbound)
	})
	var missed []trace.Site
	for _, s := range sites {
		if recorded[s.ID] {
			missed = append(missed, s)
		}
	}
	return missed
}

// siteKeyOf is the key under which the rewriter has recorded an expression.
func (p *Program) siteKeyOf(n ast.Node, kind event.Kind) siteKey {
	from, to := p.Fset.PositionFor(n.Pos(), false), p.Fset.PositionFor(n.End(), false)
	return siteKey{from.Filename, from.Line, from.Column, to.Column, kind}
}

// Number gives every function and every instruction that makes an event a site of its
// own, for programs that are not instrumented but simulated.
func (p *Program) Number() {
	next := uint32(0)
	for _, fn := range p.Funcs {
		next++
		fn.Site = next
		for _, block := range fn.Blocks {
			for _, in := range block.Instrs {
				in.Sites = nil
				if p.origins[in.Origin].Kind == event.None || in.Private || in.Op == ir.Test {
					continue
				}
				next++
				in.Sites = []uint32{next}
			}
		}
	}
	p.Finish()
}
