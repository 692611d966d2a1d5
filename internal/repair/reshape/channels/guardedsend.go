package channels

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/locks"
	"github.com/cofferdam-go/cofferdam/internal/repair/reshape/change"
	"github.com/cofferdam-go/cofferdam/internal/repair/reshape/syntax"
	"github.com/cofferdam-go/cofferdam/internal/source"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// A closedFlag is the lock and the flag that every close of a channel uses. All three are fields
// of one struct. The lock is nil if none is held at any close.
type closedFlag struct {
	owner               *types.Named
	channel, lock, flag *types.Var
}

// guardSend has the sends to a channel ask, under the lock that the close holds, the flag that
// the close sets, and keep the lock until they have sent.
func (r *finder) guardSend() []*change.Change {
	var c *closedFlag
	for _, at := range r.sendsBesideClose() {
		if f, line := r.LineOf(at); f != nil && c == nil {
			c = r.closedFlagAt(f, line)
		}
	}
	if c == nil {
		c = r.closedFlagRaced()
	}
	if c == nil {
		return nil
	}
	if c.lock == nil {
		return r.guardSendAnew(c)
	}
	w := r.Rewrite()
	for _, f := range r.Code.Files() {
		failed := false
		syntax.Inspect(f, func(n ast.Node, around []ast.Node) {
			send, ok := n.(*ast.SendStmt)
			if !ok || failed {
				return
			}
			if p, ok := syntax.PathOf(f.Info, send.Chan); ok && syntax.Same(p.Variable.Origin(), c.channel) {
				failed = !r.guardOne(w, f, c, send, around)
			}
		})
		if failed {
			return nil
		}
	}
	return w.Finish(&change.Change{
		Words:   "the lock " + c.lock.Name() + " is held from the look at " + c.flag.Name() + " until " + c.channel.Name() + " is sent to",
		Mistake: "the channel is closed between the look and the send, or without one",
		Reason:  "the close holds the lock too, and sets the flag, so that no send comes after it",
	})
}

// sendsBesideClose are the points of the run where a channel may have been sent to that another
// goroutine closes: that of the panic, or those of races of operations on channels.
func (r *finder) sendsBesideClose() []*trace.Point {
	if r.Failure.Cause == event.SendOnClosed {
		return []*trace.Point{&r.Failure.Point}
	}
	var all []*trace.Point
	for i := range r.Failures {
		if race := &r.Failures[i]; race.Kind == event.FailureRace && len(race.Others) == 1 {
			all = append(all, &race.Point, &race.Others[0])
		}
	}
	return all
}

// closedFlagAt is the lock and the flag of the channel that a line sends to; nil if there are
// none.
func (r *finder) closedFlagAt(f *source.File, line int) *closedFlag {
	var c *closedFlag
	syntax.Inspect(f, func(n ast.Node, around []ast.Node) {
		send, ok := n.(*ast.SendStmt)
		if !ok {
			return
		}
		at := f.Line(send.Pos())
		if s := syntax.SelectOf(around); s != nil && f.Line(s.Pos()) == line {
			at = line // the operation of the run is the select
		}
		if p, ok := syntax.PathOf(f.Info, send.Chan); ok && at == line && p.Variable.IsField() && c == nil {
			c = r.closedFlagOf(f, send.Chan, p.Variable.Origin())
		}
	})
	return c
}

// closedFlagRaced is the flag that the run raced on, if it is that of a channel which is sent to; nil if
// there is none. The send itself may come after all that the run showed.
func (r *finder) closedFlagRaced() *closedFlag {
	var c *closedFlag
	raced := r.RacedVariables()
	for _, f := range r.Code.Files() {
		for _, closing := range syntax.Closings(f) {
			p, ok := syntax.PathOf(f.Info, closing.Channel)
			if c != nil || !ok || !p.Variable.IsField() {
				continue
			}
			if found := r.closedFlagOf(f, closing.Channel, p.Variable.Origin()); found != nil && syntax.Contains(raced, found.flag) && r.isSentTo(found.channel) {
				c = found
			}
		}
	}
	return c
}

// isSentTo reports whether the program sends to a channel.
func (r *finder) isSentTo(channel *types.Var) bool {
	found := false
	for _, f := range r.Code.Files() {
		ast.Inspect(f.Syntax, func(n ast.Node) bool {
			send, ok := n.(*ast.SendStmt)
			found = found || ok && isField(f, send.Chan, channel)
			return !found
		})
	}
	return found
}

// closedFlagOf is the lock and the flag of a channel; nil if a close of it has none.
func (r *finder) closedFlagOf(in *source.File, channel ast.Expr, v *types.Var) *closedFlag {
	selector, ok := ast.Unparen(channel).(*ast.SelectorExpr)
	if !ok || r.MadeAgain(v) {
		return nil
	}
	c := &closedFlag{owner: syntax.NamedType(in.Info.TypeOf(selector.X)), channel: v}
	closes := 0
	for _, f := range r.Code.Files() {
		syntax.Inspect(f, func(n ast.Node, around []ast.Node) {
			call, ok := n.(*ast.CallExpr)
			if !ok || c == nil || !syntax.IsBuiltin(f.Info, call, "close") {
				return
			}
			p, ok := syntax.PathOf(f.Info, call.Args[0])
			if !ok || !syntax.Same(p.Variable.Origin(), v) {
				return
			}
			closes++
			lock, flag := r.heldWithFlag(f, call, around)
			if flag == nil || closes > 1 && !(syntax.Same(lock, c.lock) && syntax.Same(flag, c.flag)) {
				c = nil
				return
			}
			c.lock, c.flag = lock, flag
		})
	}
	if c == nil || closes == 0 || c.owner == nil {
		return nil
	}
	return c
}

// heldWithFlag is the lock that is held at a close, and the flag that is set beside it.
func (r *finder) heldWithFlag(f *source.File, call *ast.CallExpr, around []ast.Node) (lock, flag *types.Var) {
	function, body := syntax.FunctionAround(around)
	flow := r.Code.Locks().Flow(function)
	if flow == nil || body == nil {
		return nil, nil
	}
	for _, h := range flow.Held(call) {
		if class := r.Code.Locks().Places.Class(h.Lock); class != nil && class.IsField() && h.Mode == locks.Write && !h.Maybe {
			lock = class
		}
	}
	ast.Inspect(body, func(n ast.Node) bool {
		if set := setToTrue(f, n); set != nil {
			if p, ok := syntax.PathOf(f.Info, set); ok && p.Variable.IsField() {
				flag = p.Variable.Origin()
			}
		}
		return true
	})
	return lock, flag
}

// setToTrue is what a node sets to true, by an assignment or by a method of an atomic.Bool; nil if it
// sets nothing.
func setToTrue(f *source.File, n ast.Node) ast.Expr {
	switch n := n.(type) {
	case *ast.AssignStmt:
		if len(n.Lhs) == 1 && len(n.Rhs) == 1 && f.TextOf(n.Rhs[0]) == "true" {
			return n.Lhs[0]
		}
	case *ast.CallExpr:
		method, ok := ast.Unparen(n.Fun).(*ast.SelectorExpr)
		if ok && len(n.Args) > 0 && f.TextOf(n.Args[len(n.Args)-1]) == "true" && isAtomicBool(f.Info.TypeOf(method.X)) {
			return method.X
		}
	}
	return nil
}

// isAtomicBool reports whether a type is atomic.Bool.
func isAtomicBool(t types.Type) bool {
	named, ok := types.Unalias(t).(*types.Named)
	return ok && named.Obj().Name() == "Bool" && named.Obj().Pkg() != nil && named.Obj().Pkg().Path() == "sync/atomic"
}

// guardOne has one send keep the lock, in the list of its function's statements. The send must
// be the last thing that the function does, but for what it returns.
func (r *finder) guardOne(w *change.Rewriting, f *source.File, c *closedFlag, send *ast.SendStmt, around []ast.Node) bool {
	function, body := syntax.FunctionAround(around)
	flow := r.Code.Locks().Flow(function)
	if flow == nil || body == nil {
		return false
	}
	if slices.ContainsFunc(flow.Held(send), func(h locks.Held) bool {
		return !h.Maybe && syntax.Same(r.Code.Locks().Places.Class(h.Lock), c.lock)
	}) {
		return true // as the others will be
	}
	at := slices.IndexFunc(body.List, func(s ast.Stmt) bool { return syntax.Within(send, s) })
	if at < 0 || !endsWith(body.List[at:]) {
		r.Decline(f, send, "the send to "+c.channel.Name()+" is not the last thing that its function does, and what follows may not be for the lock "+c.lock.Name())
		return false
	}
	if sendWaits(around) && !r.mayHoldOver(c, func(fn ast.Node) bool { return r.takes(fn, c.lock) }) {
		r.Decline(f, send, "a send to "+c.channel.Name()+" that held the lock "+c.lock.Name()+" could wait for ever: what receives takes the lock, or is not in the program")
		return false
	}
	x := f.TextOf(ast.Unparen(send.Chan).(*ast.SelectorExpr).X)
	take, release := x+"."+c.lock.Name()+".Lock()", x+"."+c.lock.Name()+".Unlock()"
	readTake, readRelease := x+"."+c.lock.Name()+".RLock()", x+"."+c.lock.Name()+".RUnlock()"
	for i, s := range body.List[:at] {
		text := f.TextOf(s)
		if text != take && text != readTake {
			continue
		}
		undo := map[string]string{take: release, readTake: readRelease}[text]
		return keepUntilEnd(w, f, c, body, i, at, undo)
	}
	back, ok := r.refusalOf(f, function, c)
	if !ok {
		return false
	}
	if locks.IsRWMutex(c.lock.Type()) {
		take, release = readTake, readRelease
	}
	isClosed := x + "." + c.flag.Name()
	if isAtomicBool(c.flag.Type()) {
		isClosed += ".Load()"
	}
	w.Of(f).LineBefore(body.List[at], take+"\ndefer "+release+"\nif "+isClosed+" {\n"+back+"\n}")
	w.Note(f, send)
	return true
}

// endsWith reports whether statements are one that sends, and a return at most.
func endsWith(list []ast.Stmt) bool {
	if len(list) == 1 {
		return true
	}
	back, ok := list[1].(*ast.ReturnStmt)
	return ok && len(list) == 2 && !slices.ContainsFunc(back.Results, syntax.Calls)
}

// keepUntilEnd defers the release of a lock that is taken before a send, and drops the releases
// in between. The flag must have been looked at.
func keepUntilEnd(w *change.Rewriting, f *source.File, c *closedFlag, body *ast.BlockStmt, taken, at int, release string) bool {
	var drop []ast.Stmt
	looked, deferred := false, false
	for _, s := range body.List[taken+1 : at] {
		looked = looked || syntax.MentionsField(f, s, c.flag)
		ast.Inspect(s, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ExprStmt:
				if f.TextOf(n) == release {
					drop = append(drop, n)
				}
			case *ast.DeferStmt:
				deferred = true
			}
			return true
		})
	}
	if !looked || deferred || len(drop) == 0 || syntax.MayWait(f, body.List[taken+1:at]) {
		return false
	}
	w.Of(f).LineAfter(body.List[taken], "defer "+release)
	for _, s := range drop {
		w.Of(f).Delete(s)
	}
	w.Note(f, body.List[at])
	return true
}

// sendWaits reports whether a send, around which is what, may wait: it is in no select with a default.
func sendWaits(around []ast.Node) bool {
	s := syntax.SelectOf(around)
	return s == nil || !slices.ContainsFunc(s.Body.List, func(s ast.Stmt) bool { return s.(*ast.CommClause).Comm == nil })
}

// mayHoldOver reports whether a lock may be held while a send waits: all that receives from the channel
// is in functions of the program that do not need the lock.
func (r *finder) mayHoldOver(c *closedFlag, needs func(fn ast.Node) bool) bool {
	may := true
	for _, f := range r.Code.Files() {
		syntax.Inspect(f, func(n ast.Node, around []ast.Node) {
			id, ok := n.(*ast.Ident)
			if !ok || strings.HasSuffix(f.Name, "_test.go") {
				return
			}
			used, ok := f.Info.Uses[id].(*types.Var)
			if !ok || !syntax.Same(used.Origin(), c.channel) || len(around) < 2 {
				return
			}
			// The identifier is the name in a selector, whose parent uses the channel.
			switch parent := around[len(around)-2].(type) {
			case *ast.SendStmt, *ast.KeyValueExpr, *ast.AssignStmt:
			case *ast.UnaryExpr, *ast.RangeStmt:
				fn, _ := syntax.FunctionAround(around)
				may = may && fn != nil && !needs(fn)
			case *ast.CallExpr:
				may = may && slices.ContainsFunc([]string{"close", "len", "cap"}, func(name string) bool { return syntax.IsBuiltin(f.Info, parent, name) })
			default:
				_, key := around[len(around)-1].(*ast.KeyValueExpr)
				may = may && key
			}
		})
	}
	return may
}

// takes reports whether a function, or what it calls, takes a lock of a class.
func (r *finder) takes(fn ast.Node, class *types.Var) bool {
	f := r.Code.FileOf(fn)
	return f == nil || r.Reaches(f, fn, func(f *source.File, n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return false
		}
		op, ok := r.Code.Locks().Op(f.Info, call)
		return ok && op.Verb != locks.Release && syntax.Same(r.Code.Locks().Places.ClassOf(op), class)
	})
}

// refusalOf is the statement by which a function returns when it does not send: what another
// check of the flag in the program returns, if it has the same results, or nothing, or false.
func (r *finder) refusalOf(f *source.File, function ast.Node, c *closedFlag) (string, bool) {
	results := syntax.ResultsOf(f, function)
	if results.Len() == 0 {
		return "return", true
	}
	for _, other := range r.Code.Files() {
		found := ""
		syntax.Inspect(other, func(n ast.Node, around []ast.Node) {
			branch, ok := n.(*ast.IfStmt)
			if !ok || found != "" || len(branch.Body.List) == 0 || !syntax.MentionsField(other, branch.Cond, c.flag) {
				return
			}
			back, ok := branch.Body.List[len(branch.Body.List)-1].(*ast.ReturnStmt)
			fn, _ := syntax.FunctionAround(around)
			if ok && fn != nil && len(back.Results) == results.Len() && types.Identical(syntax.ResultsOf(other, fn), results) && !slices.ContainsFunc(back.Results, func(e ast.Expr) bool { return syntax.MayNeedLock(other.Info, e) || syntax.Calls(e) }) {
				found = other.TextOf(back)
			}
		})
		if found != "" {
			return found, true
		}
	}
	if results.Len() == 1 {
		if b, ok := results.At(0).Type().Underlying().(*types.Basic); ok && b.Kind() == types.Bool {
			return "return false", true
		}
	}
	return "", false
}
