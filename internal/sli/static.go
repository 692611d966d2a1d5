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
func (d *deriver) untakenSide(context *ir.Context, block *ir.Block, succ int) (Edge, bool) {
	g := &codeGraph{deriver: d, nodes: map[ir.Point]*codeNode{}, depth: context.Depth}
	root := &codeNode{Point: ir.Point{Context: context, Instr: block.Instrs[len(block.Instrs)-1]}}
	g.addBranch(root, context, block, succ)
	for len(g.todo) > 0 {
		node := g.todo[len(g.todo)-1]
		g.todo = g.todo[:len(g.todo)-1]
		if len(g.nodes) > maxCodeNodes {
			node.failed = true
			continue
		}
		g.expand(node)
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
	if node, ok := g.nodes[p]; ok {
		return node
	}
	node := &codeNode{Point: p}
	g.nodes[p] = node
	if edge, ok := g.deriver.derived[p]; ok {
		node.known = &edge
	} else if g.deriver.passedBefore[p] {
		node.known = &Edge{To: noCrashState}
	} else {
		g.todo = append(g.todo, node)
	}
	return node
}

// addBranch adds the way from a node to the successor number succ of a block.
func (g *codeGraph) addBranch(node *codeNode, context *ir.Context, block *ir.Block, succ int) {
	to := block.Succs[succ]
	i := 0
	for to.Instrs[i].Op == ir.Phi {
		i++
	}
	node.ways = append(node.ways, &way{to: g.node(ir.Point{Context: context, Instr: to.Instrs[i]}), from: block, succ: succ})
}

func (g *codeGraph) addNext(node *codeNode, context *ir.Context, in *ir.Instr) {
	node.ways = append(node.ways, &way{to: g.node(ir.Point{Context: context, Instr: in.Block.Instrs[in.Index()+1]})})
}

// expand adds the ways that leave a node.
func (g *codeGraph) expand(node *codeNode) {
	in, context := node.Instr, node.Context
	switch in.Op {
	case ir.Jump:
		g.addBranch(node, context, in.Block, 0)
	case ir.Branch:
		g.addBranch(node, context, in.Block, 0)
		g.addBranch(node, context, in.Block, 1)
	case ir.Return:
		if g.deriver.openCalls[context] || context.Parent == nil || context.Call == nil {
			node.known = &Edge{To: noCrashState}
		} else if context.Call.Op == ir.Call {
			g.addNext(node, context.Parent, context.Call)
		} else {
			node.ways = append(node.ways, &way{to: g.node(ir.Point{Context: context.Parent, Instr: context.Call})})
		}
	case ir.Stop:
		node.known = &Edge{To: noCrashState}
	case ir.Test:
		if in.Operand.Op == ir.OpConst && in.Operand.Value.Uint() != 0 {
			node.known = &Edge{To: crashState}
			return
		}
		g.addNext(node, context, in)
	case ir.Call:
		fn := in.Callee
		if fn == nil {
			fn = g.deriver.replay.LastTarget(in)
		}
		switch {
		case fn != nil && len(fn.Blocks) > 0 && context.Depth-g.depth < maxInlinedCalls && !context.Recursive(fn):
			inner := g.deriver.replay.Contexts.Get(context, in, fn)
			node.ways = append(node.ways, &way{to: g.node(ir.Point{Context: inner, Instr: fn.Blocks[0].Instrs[0]})})
		case fn == nil && in.Target != nil:
			node.failed = true // a call that the trace has no target for
		default:
			g.addNext(node, context, in)
		}
	default:
		g.addNext(node, context, in)
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
	for _, node := range g.nodes {
		node.state = 0
	}
	var way []loopStep
	var visit func(node *codeNode) []loopStep
	visit = func(node *codeNode) []loopStep {
		node.state = open
		if node.known == nil {
			for _, a := range node.ways {
				if a.removed || a.to.state == closed {
					continue
				}
				way = append(way, loopStep{node, a})
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
		node.state = closed
		return nil
	}
	return visit(root)
}

// machineAt derives the machine before a node; nil if nothing is known of what follows.
func (g *codeGraph) machineAt(node *codeNode) *Edge {
	if node.known != nil {
		return node.known
	}
	if node.failed {
		return nil
	}
	if node.derived != nil {
		return node.derived
	}
	in, context := node.Instr, node.Context
	var outs []*Edge
	for _, a := range node.ways {
		var e *Edge
		if !a.removed {
			e = g.machineAt(a.to)
		}
		if e != nil && a.from != nil {
			p := phiBack(*e, context, a.to.Instr.Block, ir.PredIndex(a.from, a.succ))
			e = &p
		}
		outs = append(outs, e)
	}
	var edge Edge
	switch {
	case len(outs) == 2 && outs[0] != nil && outs[1] != nil:
		edge = branchOn(in.Operand.InContext(context), *outs[0], *outs[1])
	case len(outs) > 0 && outs[0] != nil:
		edge = *outs[0]
	case len(outs) == 2 && outs[1] != nil:
		edge = *outs[1]
	default:
		node.failed = true
		return nil
	}
	switch in.Op {
	case ir.Call:
		if to := node.ways[0].to; to.Context.Parent == context && to.Context.Call == in {
			edge = enterBack(edge, to.Context, in)
		} else {
			edge = substitute(edge, context, in.Dst, ir.Opaque("call of "+in.Extern, in.Size))
		}
	case ir.Return:
		edge = returnBack(edge, context, in)
	case ir.Sync:
		edge = substitute(edge, context, in.Dst, ir.Opaque(in.Sync.String(), in.Size))
	case ir.Alloc:
		edge = substitute(edge, context, in.Dst, ir.Symbol("new "+ir.Point{Context: context, Instr: in}.String()))
	case ir.Load:
		edge = loadBack(edge, context, in, g.deriver.label(node.Point))
	case ir.Store:
		edge = g.deriver.storeBack(edge, context, in, 0)
	case ir.Update:
		edge = loadBack(g.deriver.storeBack(edge, context, in, 0), context, in, g.deriver.label(node.Point))
	default:
		edge = assignBack(edge, context, in)
	}
	if edge.To.size > maxStates || len(edge.Ops) > maxStates {
		node.failed = true // it would only grow on the way back
		return nil
	}
	node.derived = &edge
	return node.derived
}
