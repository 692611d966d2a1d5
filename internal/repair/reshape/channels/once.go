package channels

import (
	"fmt"
	"go/ast"
	"go/types"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/repair/reshape/change"
	"github.com/cofferdam-go/cofferdam/internal/repair/reshape/syntax"
	"github.com/cofferdam-go/cofferdam/internal/source"
)

// closeOnce has every close of a channel that was closed twice go through one sync.Once beside
// the channel.
func (r *finder) closeOnce() []*change.Change {
	if r.Failure.Cause != event.CloseOfClosed {
		return nil
	}
	f, line := r.LineOf(&r.Failure.Point)
	if f == nil {
		return nil
	}
	var channel *types.Var
	var at ast.Expr
	for _, c := range syntax.Closings(f) {
		if p, ok := syntax.PathOf(f.Info, c.Channel); ok && f.Line(c.Call.Pos()) <= line && line <= f.Line(c.Call.End()) {
			channel, at = p.Variable, c.Channel
		}
	}
	if channel == nil {
		return nil
	}
	if r.MadeAgain(channel) {
		r.Decline(f, at, "the channel "+channel.Name()+" is closed twice, and is made again elsewhere: a sync.Once would never close the second one")
		return nil
	}
	w := r.Rewrite()
	var once func(c *syntax.Closing) (string, bool) // the name of the sync.Once at a close
	if channel.IsField() {
		once = r.onceField(w, f, at.(*ast.SelectorExpr), channel)
	} else {
		once = r.onceVariable(w, channel)
	}
	if once == nil {
		return nil
	}
	for _, f := range r.Code.Files() {
		for _, c := range syntax.Closings(f) {
			p, ok := syntax.PathOf(f.Info, c.Channel)
			if !ok || !syntax.Same(p.Variable.Origin(), channel.Origin()) {
				continue
			}
			name, ok := once(&c)
			if !ok {
				return nil
			}
			text := name + ".Do(func() { " + c.Text + " })"
			if strings.Contains(c.Text, "\n") {
				text = name + ".Do(func() {\n" + c.Text + "\n})"
			}
			w.Of(f).ReplaceBetween(c.From, c.To, text)
			w.Note(f, c.Call)
		}
	}
	return w.Finish(&change.Change{
		Words:   "the channel " + channel.Name() + " is closed by a sync.Once",
		Mistake: "two goroutines, or two calls, close it",
		Reason:  "the first close counts and the others do nothing, in whatever order they come",
	})
}

// onceField declares a sync.Once above a field that is a channel. What it returns names it at
// a close.
func (r *finder) onceField(w *change.Rewriting, f *source.File, at *ast.SelectorExpr, channel *types.Var) func(*syntax.Closing) (string, bool) {
	owner := syntax.NamedType(f.Info.TypeOf(at.X))
	if owner == nil {
		return nil
	}
	in, above, name, err := r.Code.FieldAbove(owner, channel.Origin(), channel.Name()+"Once")
	if err != nil {
		return nil
	}
	sync, err := w.Of(in).ImportStd("sync")
	if err != nil {
		return nil
	}
	w.Of(in).LineBefore(above, fmt.Sprintf("%s %s.Once // closes %s", name, sync, channel.Name()))
	return func(c *syntax.Closing) (string, bool) {
		selector, ok := c.Channel.(*ast.SelectorExpr)
		if !ok || syntax.NamedType(c.File.Info.TypeOf(selector.X)) != owner {
			return "", false
		}
		return c.File.TextOf(selector.X) + "." + name, true
	}
}

// onceVariable declares a sync.Once above a variable that is a channel.
func (r *finder) onceVariable(w *change.Rewriting, channel *types.Var) func(*syntax.Closing) (string, bool) {
	var statement ast.Node
	var in *source.File
	var names *source.Names
	for _, f := range r.Code.Files() {
		syntax.Inspect(f, func(n ast.Node, around []ast.Node) {
			id, ok := n.(*ast.Ident)
			if !ok || f.Info.Defs[id] != types.Object(channel) {
				return
			}
			in, names = f, source.NamesIn(f.Syntax)
			for i := len(around) - 1; i > 0; i-- {
				s, isStatement := around[i].(ast.Stmt)
				d, isDecl := around[i].(*ast.GenDecl)
				list, _ := syntax.ListAround(s, around[:i])
				if isStatement && list != nil {
					statement = s
					return
				}
				if _, global := around[i-1].(*ast.File); isDecl && global {
					statement = d
					if d.Doc != nil {
						statement = d.Doc
					}
					return
				}
				if _, isFunction := around[i].(*ast.FuncType); isFunction {
					return // a parameter
				}
			}
		})
	}
	if statement == nil {
		return nil
	}
	name := names.Free(channel.Name() + "Once")
	sync, err := w.Of(in).ImportStd("sync")
	if err != nil {
		return nil
	}
	w.Of(in).LineBefore(statement, fmt.Sprintf("var %s %s.Once", name, sync))
	return func(c *syntax.Closing) (string, bool) {
		return name, c.File == in || channel.Parent() == channel.Pkg().Scope() && c.File.Lookup(name, c.Call.Pos()) == nil
	}
}
