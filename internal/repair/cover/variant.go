package cover

import (
	"fmt"
	"go/ast"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/cofferdam-go/cofferdam/internal/source"
)

// A function that takes the lock for itself cannot be called with the lock held. So it is made
// two: one that takes the lock, and its variant for callers that have it.
//
//	func (c *Cache) Len() int {        func (c *Cache) Len() int {
//		return len(c.m)                	c.mu.Lock()
//	}                                  	defer c.mu.Unlock()
//	                                   	return c.lenLocked()
//	                                   }
//
//	                                   // lenLocked is Len with c.mu held.
//	                                   func (c *Cache) lenLocked() int {
//	                                   	return len(c.m)
//	                                   }
//
//	if c.Len() < max {                 c.mu.Lock()
//		c.m[k] = v                     if c.lenLocked() < max {
//	}                                  	c.m[k] = v
//	                                   }
//	                                   c.mu.Unlock()

// variants writes the variants that regions call, and returns the other regions: those of the
// functions that became two are gone.
func (code *Code) variants(e *edits, regions []*Region, l *Lock) []*Region {
	var two []*ast.FuncDecl // in the order in which they were met
	needed := make(map[*ast.FuncDecl]*Region)
	var look func(r *Region)
	look = func(r *Region) {
		code.locks.EachAtOnce(r.info(), &ast.BlockStmt{List: r.statements()}, func(n ast.Node) {
			c, ok := n.(*ast.CallExpr)
			if !ok {
				return
			}
			d, _ := code.callee(r.info(), c)
			if d == nil || needed[d] != nil || !code.callsForTheSame(r, c, d, l, code.name(l, r)) {
				return
			}
			i := slices.IndexFunc(regions, func(r *Region) bool { return r.fn == ast.Node(d) })
			if i < 0 || !code.canBeTwo(d, regions[i], l) {
				return
			}
			needed[d] = regions[i]
			two = append(two, d)
			look(regions[i].throughout())
		})
	}
	var throughout []*Region // regions that hold the lock for more than their heads
	for _, r := range regions {
		if code.holdsThroughout(r, l) {
			throughout = append(throughout, r)
			look(r)
		}
	}
	if len(needed) == 0 {
		return regions
	}
	names := make(map[*ast.FuncDecl]string)
	for _, d := range two {
		names[d] = variantName(needed[d], d)
		code.writeVariant(e, d, needed[d], l, names[d])
	}
	kept := slices.DeleteFunc(slices.Clone(regions), func(r *Region) bool {
		d, ok := r.fn.(*ast.FuncDecl)
		return ok && needed[d] != nil
	})
	for _, r := range kept {
		if slices.Contains(throughout, r) {
			code.callVariants(e, r, l, names)
		}
	}
	for _, d := range two {
		code.callVariants(e, needed[d].throughout(), l, names)
	}
	return kept
}

// holdsThroughout reports whether a region can hold the lock from its start to its end, as far as
// waiting is concerned.
func (code *Code) holdsThroughout(r *Region, l *Lock) bool {
	return r.header() == nil && code.regionBlocks(r, l, code.ahead(r, l)) == ""
}

// callVariants has a region, which runs with the lock held, call variants for the lock's object.
func (code *Code) callVariants(e *edits, r *Region, l *Lock, names map[*ast.FuncDecl]string) {
	code.locks.EachAtOnce(r.info(), &ast.BlockStmt{List: r.statements()}, func(n ast.Node) {
		if c, ok := n.(*ast.CallExpr); ok {
			if d, _ := code.callee(r.info(), c); d != nil && names[d] != "" && code.callsForTheSame(r, c, d, l, code.name(l, r)) {
				e.of(r.file).Replace(calleeIdent(c), names[d])
			}
		}
	})
}

// canBeTwo reports whether a function can have a variant: all of it can run with the lock held,
// and its parameters have names to hand on.
func (code *Code) canBeTwo(d *ast.FuncDecl, r *Region, l *Lock) bool {
	return d.Type.TypeParams == nil && !r.Test && code.blocks(d.Body.List, l) == "" && code.name(l, r.throughout()) != "" && handsOn(d)
}

// handsOn reports whether all parameters of a function have names, to hand them on.
func handsOn(d *ast.FuncDecl) bool {
	for _, list := range []*ast.FieldList{d.Recv, d.Type.Params} {
		if list == nil {
			continue
		}
		for _, field := range list.List {
			if len(field.Names) == 0 || slices.ContainsFunc(field.Names, func(id *ast.Ident) bool { return id.Name == "_" }) {
				return false
			}
		}
	}
	return true
}

// variantName is a name that the package has for nothing else.
func variantName(r *Region, d *ast.FuncDecl) string {
	first, size := utf8.DecodeRuneInString(d.Name.Name)
	name := string(unicode.ToLower(first)) + d.Name.Name[size:] + "Locked"
	if d.Recv == nil {
		return freeVariable(r.info(), name)
	}
	if n := named(r.info().TypeOf(d.Recv.List[0].Type)); n != nil {
		return freeField(n, name)
	}
	return name
}

// takerVariants makes two of the functions that regions call and that take the lock, which the
// program has, for themselves: from their first statement to their end, for the same object. The
// function that is left is a section as it was, the variant is called from the region.
func (code *Code) takerVariants(e *edits, regions []*Region, l *Lock) {
	for _, r := range regions {
		lock := code.name(l, r)
		code.locks.EachAtOnce(r.info(), &ast.BlockStmt{List: r.statements()}, func(n ast.Node) {
			c, ok := n.(*ast.CallExpr)
			if !ok {
				return
			}
			d, f := code.callee(r.info(), c)
			if d == nil || r.fn == ast.Node(d) {
				return
			}
			op, ok := code.takesThroughout(f, d, l)
			if !ok || !code.callsForTheSame(r, c, d, l, lock) {
				return
			}
			r.Write = r.Write || !op.read
			if e.variants[d] == "" {
				whole := &Region{file: f, fn: d, body: d.Body, list: d.Body.List, to: len(d.Body.List) - 1}
				e.variants[d] = variantName(whole, d)
				take, release := d.Body.List[0], d.Body.List[1].(*ast.DeferStmt)
				code.writeTwo(e, d, whole, e.variants[d], f.TextOf(take), f.TextOf(release.Call), strings.TrimSuffix(strings.TrimSuffix(f.TextOf(take), ".Lock()"), ".RLock()"))
				e.of(f).Delete(take)
				e.of(f).Delete(release)
			}
			e.of(r.file).Replace(calleeIdent(c), e.variants[d])
		})
	}
}

// takesThroughout reports whether a function begins by taking the lock, defers its release, and
// does nothing else with it; op is how it takes it.
func (code *Code) takesThroughout(f *source.File, d *ast.FuncDecl, l *Lock) (op operation, ok bool) {
	if len(d.Body.List) < 3 || d.Type.TypeParams != nil || strings.HasSuffix(f.Name, "_test.go") || !handsOn(d) {
		return operation{}, false
	}
	take, deferred, isTake := code.lockStatement(f.Info, d.Body.List[0])
	release, isDeferred, isRelease := code.lockStatement(f.Info, d.Body.List[1])
	if !isTake || deferred || !take.takes() || !code.is(take, l) || !isRelease || !isDeferred || release.takes() || !code.is(release, l) {
		return operation{}, false
	}
	rest := &Region{file: f, fn: d, body: d.Body, list: d.Body.List, from: 2, to: len(d.Body.List) - 1}
	none := func(ast.Stmt) bool { return false }
	return take, !code.takesInside(rest, l, none) && !code.callsTake(rest, l)
}

// callsForTheSame reports whether a call is of a method whose receiver has the lock that a region
// calls by a name, or of a function whose lock is the package's.
func (code *Code) callsForTheSame(r *Region, c *ast.CallExpr, d *ast.FuncDecl, l *Lock, name string) bool {
	if l.owner == nil {
		return name != ""
	}
	selected, ok := ast.Unparen(c.Fun).(*ast.SelectorExpr)
	if !ok || d.Recv == nil || named(r.info().TypeOf(selected.X)) != l.owner {
		return false
	}
	own := r.file.TextOf(selected.X)
	return name == own || name == own+"."+l.field
}

// writeVariant makes two of a function.
func (code *Code) writeVariant(e *edits, d *ast.FuncDecl, r *Region, l *Lock, name string) {
	lock := code.name(l, r.throughout())
	take, release := lock+".Lock()", lock+".Unlock()"
	if l.rw && !r.Write {
		take, release = lock+".RLock()", lock+".RUnlock()"
	}
	code.writeTwo(e, d, r, name, take, release, lock)
}

// writeTwo makes two of a function, of which one takes the lock and calls the other.
func (code *Code) writeTwo(e *edits, d *ast.FuncDecl, r *Region, name, take, release, lock string) {
	var args []string
	for _, field := range d.Type.Params.List {
		for _, id := range field.Names {
			arg := id.Name
			if _, variadic := field.Type.(*ast.Ellipsis); variadic {
				arg += "..."
			}
			args = append(args, arg)
		}
	}
	call := name + "(" + strings.Join(args, ", ") + ")"
	if d.Recv != nil {
		call = d.Recv.List[0].Names[0].Name + "." + call
	}
	if d.Type.Results != nil {
		call = "return " + call
	}
	edits := e.of(r.file)
	head := string(r.file.Text[r.file.Offset(d.Pos()):r.file.Offset(d.Body.Pos())])
	edits.InsertBefore(d.Pos(), fmt.Sprintf("%s{\n%s\ndefer %s\n%s\n}\n\n// %s is %s with %s held.\n", head, take, release, call, name, d.Name.Name, lock))
	edits.Replace(d.Name, name)
	e.places = append(e.places, code.describe(r))
}
