package facts

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"sort"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"
)

// A code is the SSA form of a program, found by its syntax.
type code struct {
	functions map[*ast.BlockStmt]*ssa.Function // by their bodies
	order     []*ssa.Function                  // as they stand in the source
	calls     map[token.Pos]*writtenCall       // by the opening parenthesis, or by go and defer
	variables map[token.Pos]*types.Var         // by where they are declared
	captured  map[*types.Var]bool              // those of functions that a literal in them uses
	positions map[*ssa.Function][]position
}

// A writtenCall is a call as it stands in the source.
type writtenCall struct {
	info *types.Info
	expr *ast.CallExpr
}

// A position is where an instruction comes from. An instruction for which the form has no
// position may have several.
type position struct {
	at    token.Pos
	instr ssa.Instruction
}

// A Span is a piece of the source, with both ends.
type Span struct{ From, To token.Pos }

// SpanOf is the piece of the source that is a node.
func SpanOf(n ast.Node) Span { return Span{n.Pos(), n.End()} }

func newCode() *code {
	return &code{
		functions: make(map[*ast.BlockStmt]*ssa.Function), calls: make(map[token.Pos]*writtenCall),
		variables: make(map[token.Pos]*types.Var), captured: make(map[*types.Var]bool), positions: make(map[*ssa.Function][]position),
	}
}

// index notes what a package has.
func (c *code) index(p *packages.Package, prog *ssa.Program) {
	var free []*ssa.FreeVar
	var add func(fn *ssa.Function)
	add = func(fn *ssa.Function) {
		free = append(free, fn.FreeVars...)
		switch syntax := fn.Syntax().(type) {
		case *ast.FuncDecl:
			c.functions[syntax.Body] = fn
		case *ast.FuncLit:
			c.functions[syntax.Body] = fn
		}
		c.order = append(c.order, fn)
		for _, inner := range fn.AnonFuncs {
			add(inner)
		}
	}
	for _, f := range p.Syntax {
		for _, d := range f.Decls {
			if d, ok := d.(*ast.FuncDecl); ok && d.Body != nil {
				if o, ok := p.TypesInfo.Defs[d.Name].(*types.Func); ok {
					if fn := prog.FuncValue(o); fn != nil {
						add(fn)
					}
				}
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CallExpr:
				c.calls[n.Lparen] = &writtenCall{p.TypesInfo, n}
			case *ast.GoStmt:
				c.calls[n.Go] = &writtenCall{p.TypesInfo, n.Call}
			case *ast.DeferStmt:
				c.calls[n.Defer] = &writtenCall{p.TypesInfo, n.Call}
			}
			return true
		})
	}
	if pkg := prog.Package(p.Types); pkg != nil && pkg.Func("init") != nil {
		add(pkg.Func("init")) // the literals in the first values of variables
	}
	for _, o := range p.TypesInfo.Defs {
		if v, ok := o.(*types.Var); ok && !v.IsField() {
			c.variables[v.Pos()] = v
		}
	}
	for _, o := range p.TypesInfo.Implicits {
		if v, ok := o.(*types.Var); ok {
			c.variables[v.Pos()] = v
		}
	}
	for _, v := range free {
		c.captured[c.variable(v)] = true
	}
}

// variable returns the variable whose memory a value is the address of, nil if it is
// something else.
func (c *code) variable(v ssa.Value) *types.Var {
	switch v := v.(type) {
	case *ssa.Global:
		o, _ := v.Object().(*types.Var)
		return o
	case *ssa.Alloc:
		return c.variables[v.Pos()]
	case *ssa.FreeVar:
		return c.variables[v.Pos()]
	}
	return nil
}

// instructions returns the instructions of a function that come from pieces of the source.
func (c *code) instructions(fn *ssa.Function, spans []Span) []ssa.Instruction {
	all := c.placed(fn)
	var list []ssa.Instruction
	seen := make(map[ssa.Instruction]bool)
	for _, s := range append([]Span{{everywhere, everywhere}}, spans...) {
		for i := sort.Search(len(all), func(i int) bool { return all[i].at >= s.From }); i < len(all) && all[i].at <= s.To; i++ {
			if !seen[all[i].instr] {
				seen[all[i].instr] = true
				list = append(list, all[i].instr)
			}
		}
	}
	return list
}

// placed returns the instructions of a function in the order of the source.
func (c *code) placed(fn *ssa.Function) []position {
	if all, ok := c.positions[fn]; ok {
		return all
	}
	var all []position
	for _, b := range fn.Blocks {
		for i, instr := range b.Instrs {
			for _, p := range positionsOf(b.Instrs, i) {
				all = append(all, position{p, instr})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b position) int { return int(a.at - b.at) })
	c.positions[fn] = all
	return all
}

// everywhere is the position of instructions of which it is not known where they come
// from: they count for all of their function.
const everywhere token.Pos = 0

// positionsOf returns where an instruction of a block may come from. One without a
// position of its own belongs to the instructions before or after it.
func positionsOf(block []ssa.Instruction, i int) []token.Pos {
	if p := ownPosition(block[i]); p.IsValid() {
		return []token.Pos{p}
	}
	var all []token.Pos
	for _, later := range block[i+1:] {
		if p := ownPosition(later); p.IsValid() {
			all = append(all, p)
			break
		}
	}
	if _, ok := block[i].(*ssa.IndexAddr); ok && len(all) > 0 {
		return all // what uses the address comes after it
	}
	for _, earlier := range slices.Backward(block[:i]) {
		if p := ownPosition(earlier); p.IsValid() {
			all = append(all, p)
			break
		}
	}
	if len(all) == 0 {
		all = append(all, everywhere)
	}
	return all
}

// ownPosition returns where an instruction comes from, as far as the instruction itself
// says it. What computes the address of an element in a range loop has the position of
// what is ranged over, which may be where that was defined, and the memory of a variable
// that of its declaration.
func ownPosition(i ssa.Instruction) token.Pos {
	switch i := i.(type) {
	case *ssa.IndexAddr, *ssa.Index, *ssa.Alloc, *ssa.Phi:
		return token.NoPos
	case *ssa.Next:
		return ownPosition(i.Iter.(*ssa.Range))
	}
	return i.Pos()
}
