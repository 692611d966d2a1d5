package channels

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/repair/cover"
	"github.com/cofferdam-go/cofferdam/internal/repair/reshape/change"
	"github.com/cofferdam-go/cofferdam/internal/repair/reshape/syntax"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// guardSendAnew has a lock that no close holds so far guard a flag: from the look at it until the
// channel is sent to, where it is set and the channel closed, and wherever else it is used.
//
//	if l.closed {            l.mu.Lock()
//		return false         defer l.mu.Unlock()
//	}                        if l.closed {
//	l.lines <- s             	return false
//	return true              }
//	                         l.lines <- s
//	                         return true
func (r *finder) guardSendAnew(c *closedFlag) []*change.Change {
	u := r.usersOf(c)
	if u == nil {
		return nil
	}
	var regions []*cover.Region
	for _, fn := range u.functions {
		region := r.Code.Region(fn, u.nodes[fn])
		if region == nil {
			return nil
		}
		region.Write, region.Update = true, true
		regions = append(regions, region)
	}
	data := new(cover.Data)
	data.AddField(c.owner, c.flag)
	for _, l := range r.Code.LocksFor(data, regions) {
		needs := func(fn ast.Node) bool {
			return u.nodes[fn] != nil || r.reachesUser(fn, u) || l.Exists() && r.takes(fn, l.Object())
		}
		if l.Owner() == nil || u.waits && !r.mayHoldOver(c, needs) {
			continue
		}
		l.HeldOver = func(s *ast.SendStmt) bool { return slices.Contains(u.sends, s) }
		patch, err := r.Code.Write(regions, l, data.Names(r.Code), r.Base)
		if err != nil {
			continue
		}
		reason := "the close holds the lock too, and sets the flag, so that no send comes after it"
		if u.waits {
			reason += "; what receives does not need the lock"
		}
		return []*change.Change{{
			Words:   l.Words + " is held from the look at " + c.flag.Name() + " until " + c.channel.Name() + " is sent to, and where it is closed",
			Mistake: "the channel is closed between the look and the send",
			Reason:  reason,
			Patch:   patch,
			Section: &change.Section{Lock: l, Regions: regions, Data: data},
		}}
	}
	return nil
}

// flagUsers are the functions that use the flag of a channel, send to the channel or close it.
type flagUsers struct {
	functions []ast.Node
	nodes     map[ast.Node][]ast.Node // what they do so with
	sends     []*ast.SendStmt
	waits     bool // a send may wait
}

// usersOf are the users of a flag and its channel outside of tests; nil if one of them sends without a
// look at the flag, so that it is not known what to do where the channel is closed.
func (r *finder) usersOf(c *closedFlag) *flagUsers {
	u := &flagUsers{nodes: make(map[ast.Node][]ast.Node)}
	looks := make(map[ast.Node]bool)
	add := func(fn, n ast.Node) {
		if u.nodes[fn] == nil {
			u.functions = append(u.functions, fn)
		}
		u.nodes[fn] = append(u.nodes[fn], n)
	}
	for _, f := range r.Code.Files() {
		if strings.HasSuffix(f.Name, "_test.go") {
			continue
		}
		syntax.Inspect(f, func(n ast.Node, around []ast.Node) {
			fn, _ := syntax.FunctionAround(around)
			if fn == nil {
				return
			}
			switch n := n.(type) {
			case *ast.SendStmt:
				if isField(f, n.Chan, c.channel) {
					u.sends, u.waits = append(u.sends, n), u.waits || sendWaits(around)
					add(fn, n)
				}
			case *ast.CallExpr:
				if syntax.IsBuiltin(f.Info, n, "close") && isField(f, n.Args[0], c.channel) {
					add(fn, n)
				}
			case *ast.SelectorExpr:
				if isField(f, n, c.flag) {
					looks[fn] = true
					add(fn, n)
				}
			}
		})
	}
	for _, send := range u.sends {
		for _, fn := range u.functions {
			if syntax.Within(send, fn) && !looks[fn] {
				r.Decline(r.Code.FileOf(send), send, "the send to "+c.channel.Name()+" does not look at "+c.flag.Name()+", and nothing says what to do where the channel is closed")
				return nil
			}
		}
	}
	return u
}

// isField reports whether an expression is a field.
func isField(f *source.File, e ast.Expr, field *types.Var) bool {
	p, ok := syntax.PathOf(f.Info, e)
	return ok && syntax.Same(p.Variable.Origin(), field)
}

// reachesUser reports whether a function calls one of the users, directly or over others.
func (r *finder) reachesUser(fn ast.Node, u *flagUsers) bool {
	f := r.Code.FileOf(fn)
	return f == nil || r.Reaches(f, fn, func(f *source.File, n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		if !ok {
			return false
		}
		called, ok := f.Info.Uses[id].(*types.Func)
		return ok && u.nodes[r.Code.Declaration(called.Origin())] != nil
	})
}
