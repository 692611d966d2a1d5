package sli

import "github.com/cofferdam-go/cofferdam/internal/sli/ir"

// maxNodes bounds the code that is looked at for one side of a branch, maxInline the
// calls that are followed into one another there.
const (
	maxStatic = 3000
	maxInline = 6
)

// A node is a point of code that was not executed, with the edges that leave it.
type node struct {
	ir.Point
	leaf   *Edge // a machine that is known already
	out    []*arc
	failed bool // nothing can be said about what comes after
	state  uint8
	done   *Edge
}

// An arc is a way from one node to another. For the way into a block, from and succ
// say which, so that phis can be resolved.
type arc struct {
	to      *node
	from    *ir.Block
	succ    int
	removed bool
}

// static derives the machine for the side of a branch that was not taken (section
// 3.2.3): the code from there on is turned into a graph that ends where machines are
// known, loops are broken, and machines are moved back through it as they are through
// the trace.
//
// Three things end a path without a crash: the goroutine's end, a return from a call
// in which the program crashed, and a point that the goroutine passed before it came
// to the branch. At such a point the read operation begins anew, and what comes then
// is not one with what was read before.
func (d *deriver) static(c *ir.Context, b *ir.Block, succ int) (Edge, bool) {
	g := &graph{d: d, nodes: map[ir.Point]*node{}, depth: c.Depth}
	root := &node{Point: ir.Point{Ctx: c, Instr: b.Instrs[len(b.Instrs)-1]}}
	g.block(root, c, b, succ)
	for len(g.todo) > 0 {
		n := g.todo[len(g.todo)-1]
		g.todo = g.todo[:len(g.todo)-1]
		if len(g.nodes) > maxStatic {
			n.failed = true
			continue
		}
		g.expand(n)
	}
	g.breakLoops(root)
	e := g.machine(root)
	if e == nil {
		return Edge{}, false
	}
	return *e, true
}

type graph struct {
	d     *deriver
	nodes map[ir.Point]*node
	todo  []*node
	depth int
}

func (g *graph) node(p ir.Point) *node {
	if n, ok := g.nodes[p]; ok {
		return n
	}
	n := &node{Point: p}
	g.nodes[p] = n
	if e, ok := g.d.derived[p]; ok {
		n.leaf = &e
	} else if g.d.round[p] {
		n.leaf = &Edge{To: noCrash}
	} else {
		g.todo = append(g.todo, n)
	}
	return n
}

// block adds the way from n to the successor number succ of b.
func (g *graph) block(n *node, c *ir.Context, b *ir.Block, succ int) {
	to := b.Succs[succ]
	i := 0
	for to.Instrs[i].Op == ir.Phi {
		i++
	}
	n.out = append(n.out, &arc{to: g.node(ir.Point{Ctx: c, Instr: to.Instrs[i]}), from: b, succ: succ})
}

func (g *graph) after(n *node, c *ir.Context, in *ir.Instr) {
	n.out = append(n.out, &arc{to: g.node(ir.Point{Ctx: c, Instr: in.Block.Instrs[in.Index()+1]})})
}

func (g *graph) expand(n *node) {
	in, c := n.Instr, n.Ctx
	switch in.Op {
	case ir.Jump:
		g.block(n, c, in.Block, 0)
	case ir.Branch:
		g.block(n, c, in.Block, 0)
		g.block(n, c, in.Block, 1)
	case ir.Return:
		if g.d.active[c] || c.Parent == nil || c.Call == nil {
			n.leaf = &Edge{To: noCrash}
		} else if c.Call.Op == ir.Call {
			g.after(n, c.Parent, c.Call)
		} else {
			n.out = append(n.out, &arc{to: g.node(ir.Point{Ctx: c.Parent, Instr: c.Call})})
		}
	case ir.Stop:
		n.leaf = &Edge{To: noCrash}
	case ir.Test:
		if in.X.Op == ir.OpConst && in.X.Val.Uint() != 0 {
			n.leaf = &Edge{To: crash}
			return
		}
		g.after(n, c, in)
	case ir.Call:
		fn := in.Callee
		if fn == nil {
			fn = g.d.r.LastTarget(in)
		}
		switch {
		case fn != nil && len(fn.Blocks) > 0 && c.Depth-g.depth < maxInline && !c.Recursive(fn):
			inner := g.d.r.Contexts.Get(c, in, fn)
			n.out = append(n.out, &arc{to: g.node(ir.Point{Ctx: inner, Instr: fn.Blocks[0].Instrs[0]})})
		case fn == nil && in.Fn != nil:
			n.failed = true // a call that the trace has no target for
		default:
			g.after(n, c, in)
		}
	default:
		g.after(n, c, in)
	}
}

// breakLoops removes one way from each loop. It prefers one that was not executed,
// and then one whose removal leaves its node another way on (section 3.2.5).
func (g *graph) breakLoops(root *node) {
	for {
		loop := g.findLoop(root)
		if loop == nil {
			return
		}
		best, bestScore := loop[len(loop)-1], -1
		for _, s := range loop {
			a := s.out
			if a.from == nil {
				continue
			}
			score := 0
			if !g.d.r.Executed(a.from, a.to.Instr.Block) {
				score += 2
			}
			ways := 0
			for _, o := range s.n.out {
				if !o.removed {
					ways++
				}
			}
			if ways > 1 {
				score++
			}
			if score > bestScore {
				best, bestScore = s, score
			}
		}
		best.out.removed = true
	}
}

type hop struct {
	n   *node
	out *arc
}

func (g *graph) findLoop(root *node) []hop {
	const open, closed = 1, 2
	for _, n := range g.nodes {
		n.state = 0
	}
	var way []hop
	var visit func(n *node) []hop
	visit = func(n *node) []hop {
		n.state = open
		if n.leaf == nil {
			for _, a := range n.out {
				if a.removed || a.to.state == closed {
					continue
				}
				way = append(way, hop{n, a})
				if a.to.state == open {
					for i := range way {
						if way[i].n == a.to {
							return way[i:]
						}
					}
				}
				if l := visit(a.to); l != nil {
					return l
				}
				way = way[:len(way)-1]
			}
		}
		n.state = closed
		return nil
	}
	return visit(root)
}

// machine derives the machine before n; nil if nothing is known of what follows.
func (g *graph) machine(n *node) *Edge {
	if n.leaf != nil {
		return n.leaf
	}
	if n.failed {
		return nil
	}
	if n.done != nil {
		return n.done
	}
	in, c := n.Instr, n.Ctx
	var outs []*Edge
	for _, a := range n.out {
		var e *Edge
		if !a.removed {
			e = g.machine(a.to)
		}
		if e != nil && a.from != nil {
			p := phiBack(*e, c, a.to.Instr.Block, ir.PredIndex(a.from, a.succ))
			e = &p
		}
		outs = append(outs, e)
	}
	var e Edge
	switch {
	case len(outs) == 2 && outs[0] != nil && outs[1] != nil:
		e = choose(in.X.InContext(c), *outs[0], *outs[1])
	case len(outs) > 0 && outs[0] != nil:
		e = *outs[0]
	case len(outs) == 2 && outs[1] != nil:
		e = *outs[1]
	default:
		n.failed = true
		return nil
	}
	switch in.Op {
	case ir.Call:
		if to := n.out[0].to; to.Ctx.Parent == c && to.Ctx.Call == in {
			e = enterBack(e, to.Ctx, in)
		} else {
			e = define(e, c, in.Dst, ir.Opaque("call of "+in.Extern, in.Size))
		}
	case ir.Return:
		e = returnBack(e, c, in)
	case ir.Sync:
		e = define(e, c, in.Dst, ir.Opaque(in.Sync.String(), in.Size))
	case ir.Alloc:
		e = define(e, c, in.Dst, ir.Symbol("new "+ir.Point{Ctx: c, Instr: in}.String()))
	case ir.Load:
		e = loadBack(e, c, in, g.d.label(n.Point))
	case ir.Store:
		e = g.d.storeBack(e, c, in, 0)
	default:
		e = plainBack(e, c, in)
	}
	if e.To.size > maxStates || len(e.Ops) > maxStates {
		n.failed = true // it would only grow on the way back
		return nil
	}
	n.done = &e
	return n.done
}
