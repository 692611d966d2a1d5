package cover

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/repair/cover/statement"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// A loop that hands guarded data to a function of the package's users, or to one that waits, reads
// what there is first:
//
//	for i := 0; i < r.n; i++ {            r.mu.Lock()
//		if !yield(i, r.at[i]) {           var values []string
//			return                        for i := 0; i < r.n; i++ {
//		}                                 	values = append(values, r.at[i])
//	}                                     }
//	                                      r.mu.Unlock()
//	                                      for i, value := range values {
//	                                      	if !yield(i, value) {
//	                                      		return
//	                                      	}
//	                                      }

// A gathering is a loop that can read all that it hands on before it hands any of it on.
type gathering struct {
	region *Region
	loop   ast.Stmt
	body   *ast.BlockStmt
	// only is the condition for handing on, nil if there is none, and call what is handed to.
	only ast.Expr
	call *ast.CallExpr
	// handOn is the statement with the call.
	handOn ast.Stmt
	// index counts the rounds from zero, nil if nothing does; read are the arguments that each round
	// reads.
	index *types.Var
	read  []ast.Expr
	// types are those of what is read, as the file names them.
	types []string
}

// gatheringOf is the gathering that a region is, nil if it is none.
func (code *Code) gatheringOf(r *Region) *gathering {
	if r.Write || r.from != r.to || len(r.nodes) == 0 {
		return nil
	}
	g := &gathering{region: r, loop: r.first()}
	heads := g.heads()
	if heads == nil || len(g.body.List) != 1 {
		return nil
	}
	g.handOn = g.body.List[0]
	if branch, ok := g.handOn.(*ast.IfStmt); ok && branch.Init == nil && branch.Else == nil && len(branch.Body.List) == 1 && statement.OnlyReads(r.info(), branch.Cond) {
		g.only, g.handOn, g.index = branch.Cond, branch.Body.List[0], nil
		heads = append(heads, branch.Cond)
	}
	if g.call = g.callIn(g.handOn); g.call == nil || g.call.Ellipsis.IsValid() || g.isOfRound(g.call.Fun) {
		return nil
	}
	for _, arg := range g.call.Args {
		if !g.isOfRound(arg) && r.trivial(arg) || g.isIndex(arg) {
			continue
		}
		t, ok := statement.TypeText(r.file, arg)
		if !ok || !statement.OnlyReads(r.info(), arg) {
			return nil
		}
		g.read, g.types = append(g.read, arg), append(g.types, t)
		heads = append(heads, arg)
	}
	if len(g.read) == 0 || !r.isReadIn(heads...) {
		return nil
	}
	return g
}

// heads are what the loop evaluates besides its body, nil if it is none that can be gone through twice
// with the same rounds. It notes the body, and what counts the rounds.
func (g *gathering) heads() []ast.Node {
	info := g.region.info()
	switch loop := g.loop.(type) {
	case *ast.RangeStmt:
		g.body = loop.Body
		switch info.TypeOf(loop.X).Underlying().(type) {
		case *types.Slice, *types.Array, *types.Pointer:
			if key, ok := loop.Key.(*ast.Ident); ok {
				g.index, _ = info.Defs[key].(*types.Var)
			}
		case *types.Map, *types.Basic:
		default:
			return nil
		}
		if loop.Tok == token.ASSIGN || !statement.OnlyReads(info, loop.X) {
			return nil
		}
		return []ast.Node{loop.X}
	case *ast.ForStmt:
		g.body = loop.Body
		init, ok := loop.Init.(*ast.AssignStmt)
		if !ok || init.Tok != token.DEFINE || len(init.Lhs) != 1 || len(init.Rhs) != 1 || loop.Cond == nil || loop.Post == nil || !statement.OnlyReads(info, loop.Cond) {
			return nil
		}
		variable, _ := info.Defs[init.Lhs[0].(*ast.Ident)].(*types.Var)
		heads := []ast.Node{init.Rhs[0], loop.Cond}
		switch post := loop.Post.(type) {
		case *ast.IncDecStmt:
			if start := info.Types[init.Rhs[0]].Value; start != nil && start.String() == "0" && post.Tok == token.INC && types.Identical(variable.Type(), types.Typ[types.Int]) {
				g.index = variable
			}
			return heads
		case *ast.AssignStmt:
			if len(post.Rhs) == 1 && statement.OnlyReads(info, post.Rhs[0]) && g.isOfRound(post.Lhs[0]) {
				return append(heads, post.Rhs[0])
			}
		}
	}
	return nil
}

// callIn is the call that a statement consists of, or that decides whether the loop ends there; nil
// if it is another statement.
func (g *gathering) callIn(s ast.Stmt) *ast.CallExpr {
	e := ast.Expr(nil)
	switch s := s.(type) {
	case *ast.ExprStmt:
		e = s.X
	case *ast.IfStmt:
		if s.Init != nil || s.Else != nil || len(s.Body.List) != 1 {
			return nil
		}
		switch end := s.Body.List[0].(type) {
		case *ast.ReturnStmt:
			for _, x := range end.Results {
				if g.isOfRound(x) || !g.region.trivial(x) {
					return nil
				}
			}
		case *ast.BranchStmt:
			if end.Tok != token.BREAK || end.Label != nil {
				return nil
			}
		default:
			return nil
		}
		e = s.Cond
		if not, ok := ast.Unparen(e).(*ast.UnaryExpr); ok && not.Op == token.NOT {
			e = not.X
		}
	default:
		return nil
	}
	call, _ := ast.Unparen(e).(*ast.CallExpr)
	return call
}

// isOfRound reports whether an expression uses what the loop declares.
func (g *gathering) isOfRound(e ast.Expr) bool {
	found := false
	ast.Inspect(e, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			o := g.region.info().Uses[id]
			found = found || o != nil && statement.Encloses(g.loop, id) && g.loop.Pos() <= o.Pos() && o.Pos() < g.loop.End()
		}
		return !found
	})
	return found
}

// isIndex reports whether an expression is what counts the rounds.
func (g *gathering) isIndex(e ast.Expr) bool {
	id, ok := ast.Unparen(e).(*ast.Ident)
	return ok && g.index != nil && g.region.info().Uses[id] == types.Object(g.index)
}

// write has the loop read into a slice, with the lock held, and another hand on what is in it.
func (g *gathering) write(edits *source.Edits, lock, unlock string) {
	r := g.region
	names := source.NamesIn(r.fn)
	values, value := names.Free("values"), names.Free("value")
	element, gathered, declaration := g.types[0], r.file.TextOf(g.read[0]), ""
	if len(g.read) == 1 {
		edits.Replace(g.read[0], value)
	} else {
		element = names.Free("element")
		declaration, gathered = g.asStruct(edits, element, value)
	}
	fill := values + " = append(" + values + ", " + gathered + ")\n"
	if g.only != nil {
		fill = "if " + r.file.TextOf(g.only) + " {\n" + fill + "}\n"
	}
	head := string(r.file.Text[r.file.Offset(g.loop.Pos()):r.file.Offset(g.body.Lbrace)])
	edits.LineBefore(g.loop, declaration+lock+"var "+values+" []"+element+"\n"+head+"{\n"+fill+"}\n"+unlock)
	index := "_"
	for _, arg := range g.call.Args {
		if g.isIndex(arg) {
			index = g.index.Name()
		}
	}
	edits.ReplaceBetween(g.loop.Pos(), g.body.Lbrace, "for "+index+", "+value+" := range "+values+" ")
	if g.only != nil {
		edits.ReplaceBetween(g.body.List[0].Pos(), g.handOn.Pos(), "")
		edits.ReplaceBetween(g.handOn.End(), g.body.List[0].End(), "")
	}
}

// asStruct has the call use the fields of a struct with all that a round reads. It returns the
// declaration of its type, and what a round has for a value of it.
func (g *gathering) asStruct(edits *source.Edits, element, name string) (declaration, value string) {
	var fields, values []string
	free := source.NamesIn()
	for i, arg := range g.read {
		word := statement.NameFor(arg)
		if id, ok := ast.Unparen(arg).(*ast.Ident); ok {
			word = id.Name
		}
		field := free.Free(word)
		fields, values = append(fields, field+" "+g.types[i]+"\n"), append(values, g.region.file.TextOf(arg))
		edits.Replace(arg, name+"."+field)
	}
	return "type " + element + " struct {\n" + strings.Join(fields, "") + "}\n", element + "{" + strings.Join(values, ", ") + "}"
}
