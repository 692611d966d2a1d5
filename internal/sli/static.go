package sli

import "github.com/cofferdam-go/cofferdam/internal/sli/ir"

// maxNodes bounds the code that is looked at for one side of a branch, maxInline the
// calls that are followed into one another there.
const (
	maxCodeNodes    = 3000
	maxInlinedCalls = 6
)

// A codeNode is a point of code that was not executed, with the edges that leave it.
type codeNode struct {
	ir.Point
	known   *Edge // a machine that is known already
	ways    []*way
	failed  bool // nothing can be said about what comes after
	state   uint8
	derived *Edge
}

// A way is a way from one node to another. For the way into a block, from and succ
// say which, so that phis can be resolved.
type way struct {
	to      *codeNode
	from    *ir.Block
	succ    int
	removed bool
}

// untakenSide derives the machine for the side of a branch that was not taken (section
// 3.2.3): the code from there on is turned into a graph that ends where machines are
// known, loops are broken, and machines are moved back through it as they are through
// the trace.
//
// Three things end a path without a crash: the goroutine's end, a return from a call
// in which the program crashed, and a point that the goroutine passed before it came
// to the branch. At such a point the read operation begins anew, and what comes then
// is not one with what was read before.
func (d *deriver) untakenSide(c *ir.Context, b *ir.Block, succ int) (Edge, bool) {
	g := &codeGraph{deriver: d, nodes: map[ir.Point]*codeNode{}, depth: c.Depth}
	root := &codeNode{Point: ir.Point{Context: c, Instr: b.Instrs[len(b.Instrs)-1]}}
	g.addBranch(root, c, b, succ)
	for len(g.todo) > 0 {
		n := g.todo[len(g.todo)-1]
		g.todo = g.todo[:len(g.todo)-1]
		if len(g.nodes) > maxCodeNodes {
			n.failed = true
			continue
		}
		g.expand(n)
	}
	g.breakLoops(root)
	e := g.machineAt(root)
	if e == nil {
		return Edge{}, false
	}
	return *e, true
}

// A codeGraph is the code from one side of a branch on, as far as it was looked at.
type codeGraph struct {
	deriver *deriver
	nodes   map[ir.Point]*codeNode
	todo    []*codeNode
	depth   int
}

// node is the node of a point. What has a machine already, and what the goroutine passed
// before, is not looked into.
func (g *codeGraph) node(p ir.Point) *codeNode {
	if n, ok := g.nodes[p]; ok {
		return n
	}
	n := &codeNode{Point: p}
	g.nodes[p] = n
	if e, ok := g.deriver.derived[p]; ok {
		n.known = &e
	} else if g.deriver.passedBefore[p] {
		n.known = &Edge{To: noCrashState}
	} else {
		g.todo = append(g.todo, n)
	}
	return n
}

// addBranch adds the way from n to the successor number succ of b.
func (g *codeGraph) addBranch(n *codeNode, c *ir.Context, b *ir.Block, succ int) {
	to := b.Succs[succ]
	i := 0
	for to.Instrs[i].Op == ir.Phi {
		i++
	}
	n.ways = append(n.ways, &way{to: g.node(ir.Point{Context: c, Instr: to.Instrs[i]}), from: b, succ: succ})
}

func (g *codeGraph) addNext(n *codeNode, c *ir.Context, in *ir.Instr) {
	n.ways = append(n.ways, &way{to: g.node(ir.Point{Context: c, Instr: in.Block.Instrs[in.Index()+1]})})
}

// expand adds the ways that leave a node.
func (g *codeGraph) expand(n *codeNode) {
	in, c := n.Instr, n.Context
	switch in.Op {
	case ir.Jump:
		g.addBranch(n, c, in.Block, 0)
	case ir.Branch:
		g.addBranch(n, c, in.Block, 0)
		g.addBranch(n, c, in.Block, 1)
	case ir.Return:
		if g.deriver.openCalls[c] || c.Parent == nil || c.Call == nil {
			n.known = &Edge{To: noCrashState}
		} else if c.Call.Op == ir.Call {
			g.addNext(n, c.Parent, c.Call)
		} else {
			n.ways = append(n.ways, &way{to: g.node(ir.Point{Context: c.Parent, Instr: c.Call})})
		}
	case ir.Stop:
		n.known = &Edge{To: noCrashState}
	case ir.Test:
		if in.Operand.Op == ir.OpConst && in.Operand.Value.Uint() != 0 {
			n.known = &Edge{To: crashState}
			return
		}
		g.addNext(n, c, in)
	case ir.Call:
		fn := in.Callee
		if fn == nil {
			fn = g.deriver.replay.LastTarget(in)
		}
		switch {
		case fn != nil && len(fn.Blocks) > 0 && c.Depth-g.depth < maxInlinedCalls && !c.Recursive(fn):
			inner := g.deriver.replay.Contexts.Get(c, in, fn)
			n.ways = append(n.ways, &way{to: g.node(ir.Point{Context: inner, Instr: fn.Blocks[0].Instrs[0]})})
		case fn == nil && in.Target != nil:
			n.failed = true // a call that the trace has no target for
		default:
			g.addNext(n, c, in)
		}
	default:
		g.addNext(n, c, in)
	}
}

// breakLoops removes one way from each loop. It prefers one that was not executed,
// and then one whose removal leaves its node another way on (section 3.2.5).
func (g *codeGraph) breakLoops(root *codeNode) {
	for {
		loop := g.findLoop(root)
		if loop == nil {
			return
		}
		best, bestScore := loop[len(loop)-1], -1
		for _, s := range loop {
			a := s.way
			if a.from == nil {
				continue
			}
			score := 0
			if !g.deriver.replay.Executed(a.from, a.to.Instr.Block) {
				score += 2
			}
			ways := 0
			for _, o := range s.node.ways {
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
		best.way.removed = true
	}
}

type loopStep struct {
	node *codeNode
	way  *way
}

// findLoop is a loop among the ways that are left; nil if there is none.
func (g *codeGraph) findLoop(root *codeNode) []loopStep {
	const open, closed = 1, 2
	for _, n := range g.nodes {
		n.state = 0
	}
	var way []loopStep
	var visit func(n *codeNode) []loopStep
	visit = func(n *codeNode) []loopStep {
		n.state = open
		if n.known == nil {
			for _, a := range n.ways {
				if a.removed || a.to.state == closed {
					continue
				}
				way = append(way, loopStep{n, a})
				if a.to.state == open {
					for i := range way {
						if way[i].node == a.to {
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

// machineAt derives the machine before n; nil if nothing is known of what follows.
func (g *codeGraph) machineAt(n *codeNode) *Edge {
	if n.known != nil {
		return n.known
	}
	if n.failed {
		return nil
	}
	if n.derived != nil {
		return n.derived
	}
	in, c := n.Instr, n.Context
	var outs []*Edge
	for _, a := range n.ways {
		var e *Edge
		if !a.removed {
			e = g.machineAt(a.to)
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
		e = branchOn(in.Operand.InContext(c), *outs[0], *outs[1])
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
		if to := n.ways[0].to; to.Context.Parent == c && to.Context.Call == in {
			e = enterBack(e, to.Context, in)
		} else {
			e = substitute(e, c, in.Dst, ir.Opaque("call of "+in.Extern, in.Size))
		}
	case ir.Return:
		e = returnBack(e, c, in)
	case ir.Sync:
		e = substitute(e, c, in.Dst, ir.Opaque(in.Sync.String(), in.Size))
	case ir.Alloc:
		e = substitute(e, c, in.Dst, ir.Symbol("new "+ir.Point{Context: c, Instr: in}.String()))
	case ir.Load:
		e = loadBack(e, c, in, g.deriver.label(n.Point))
	case ir.Store:
		e = g.deriver.storeBack(e, c, in, 0)
	default:
		e = assignBack(e, c, in)
	}
	if e.To.size > maxStates || len(e.Ops) > maxStates {
		n.failed = true // it would only grow on the way back
		return nil
	}
	n.derived = &e
	return n.derived
}
