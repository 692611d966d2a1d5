package protect

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/guard"
)

// A part is what one statement evaluates by itself while the lock is held: all of a
// simple statement, the conditions of an if, the header of a loop.
type part struct {
	stmt  ast.Stmt
	outer *ast.LabeledStmt // the label before it
	nodes []ast.Node

	ends      bool        // what follows the statement is not reached
	defers    bool        // it defers a call that will run in the section
	bodies    []token.Pos // where the blocks inside it begin
	loop      bool
	end       token.Pos // of a loop's body, if that is reached
	continues []*ast.BranchStmt
	ranges    *ast.RangeStmt

	opaque   string    // why it must find all published, and works on what is shared
	effects  []*effect // of its nodes, and of what it calls
	calls    []call
	accesses []*access
	whole    []types.Type // structs that it uses as a whole
	acquires bool         // it takes another lock
}

// An access is the use of a variable or field in a part.
type access struct {
	node  ast.Expr
	place place // without a root: no place
	last  *types.Var
	blind bool // it is assigned to as a whole
	write bool
	fixed bool // it is defined by :=, and cannot be another variable
	taken bool // its address is
	// entries says that entries of the map are changed, or gone through.
	entries bool
}

// A variable is one that the sections of a group have a copy of.
type variable struct {
	place
	keys    []key    // its own, and those of the fields in it
	types   []string // theirs, and those of elements
	exposed exposure
	written bool
	blind   bool       // it is never read
	datum   string     // how the guard calls it
	typ     types.Type // in a slot, where the field is that of a generic struct's instance

	suspects string // where it is written without the lock
	copied   bool   // it is a map of which the entries are copied too

	isolated *isolated // it has no copy, but lives on pages
	passive  bool      // and the sections need not enter its guard
}

// A drop is a variable that is guarded, and that a group has no copy of.
type drop struct {
	datum string
	why   string
	at    token.Pos
}

// look finds out what a part does.
func (u *unit) look(p *part) {
	for _, n := range p.nodes {
		e := u.effects.direct(u.info, n)
		if p.opaque == "" {
			p.opaque = e.opaque
		}
		p.effects = append(p.effects, e)
		p.acquires = p.acquires || e.acquires
		p.calls = append(p.calls, e.calls...)
		u.accessesOf(p, n)
	}
	for _, c := range p.calls {
		callee := u.effects.of[funcKeyOf(c.Func)]
		p.acquires = p.acquires || callee != nil && callee.acquires
		if p.opaque == "" && callee == nil {
			p.opaque = "calls " + name(c.Func)
		} else if p.opaque == "" && callee.opaque != "" {
			p.opaque = "calls " + name(c.Func) + ", which " + first(callee.opaque)
		}
	}
}

// accessesOf lists the accesses of a node.
func (u *unit) accessesOf(p *part, root ast.Node) {
	targets := make(map[ast.Expr]token.Token)
	taken := make(map[ast.Expr]bool)
	borrowed := make(map[ast.Expr]*borrower)
	entries := make(map[ast.Expr]bool)
	element := func(e ast.Expr) {
		if i, ok := ast.Unparen(e).(*ast.IndexExpr); ok {
			entries[ast.Unparen(i.X)] = true
		}
	}
	target := func(e ast.Expr, tok token.Token) {
		if m := u.memory(e); m != ast.Unparen(e) {
			e, tok = m, token.ADD_ASSIGN // a part of it
		}
		targets[ast.Unparen(e)] = tok
	}
	if r := p.ranges; r != nil {
		for _, e := range []ast.Expr{r.Key, r.Value} {
			if e != nil {
				target(e, r.Tok)
			}
		}
	}
	var parents []ast.Node
	ast.Inspect(root, func(n ast.Node) bool {
		if n == nil {
			parents = parents[:len(parents)-1]
			return true
		}
		var parent ast.Node
		if len(parents) > 0 {
			parent = parents[len(parents)-1]
		}
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.AssignStmt:
			for _, l := range n.Lhs {
				target(l, n.Tok)
				element(l)
			}
		case *ast.IncDecStmt:
			target(n.X, n.Tok)
			element(n.X)
		case *ast.CallExpr:
			if b := builtinOf(u.info, ast.Unparen(n.Fun)); b == "delete" || b == "clear" {
				entries[ast.Unparen(n.Args[0])] = true
			}
		case *ast.UnaryExpr:
			if n.Op == token.AND {
				taken[u.memory(n.X)] = true
			}
		case *ast.SliceExpr:
			taken[u.memory(n.X)] = isArray(u.info.TypeOf(n.X))
		case *ast.SelectorExpr:
			if s := u.info.Selections[n]; s != nil && s.Kind() == types.MethodVal {
				r := s.Obj().(*types.Func).Signature().Recv()
				if b := u.borrowers.of(u.info, n, parent); b != nil && u.memory(n.X) == ast.Unparen(n.X) {
					borrowed[u.memory(n.X)] = b
				} else {
					taken[u.memory(n.X)] = r != nil && isPointer(r.Type()) && !isPointer(u.info.TypeOf(n.X))
				}
			}
		}
		x, ok := n.(ast.Expr)
		if ok && wholeUse(u.info, x, parent) {
			p.whole = append(p.whole, u.info.TypeOf(x))
		}
		if ok {
			if a := u.accessOf(x); a != nil {
				tok, written := targets[x]
				a.write, a.taken = written || borrowed[x] != nil && borrowed[x].writes, taken[x]
				a.entries = entries[x] || p.ranges != nil && x == ast.Unparen(p.ranges.X)
				a.blind = written && tok == token.ASSIGN
				a.fixed = written && tok == token.DEFINE
				p.accesses = append(p.accesses, a)
				if a.place.root != nil {
					return false
				}
			}
		}
		parents = append(parents, n)
		return true
	})
}

// memory returns the variable or field that an expression is an element of, or it.
func (u *unit) memory(e ast.Expr) ast.Expr {
	e = ast.Unparen(e)
	if i, ok := e.(*ast.IndexExpr); ok && isArray(u.info.TypeOf(i.X)) {
		return u.memory(i.X)
	}
	return e
}

func isArray(t types.Type) bool {
	if t == nil {
		return false
	}
	_, ok := t.Underlying().(*types.Array)
	return ok
}

// accessOf returns the access that an expression is, or nil.
func (u *unit) accessOf(x ast.Expr) *access {
	switch x := x.(type) {
	case *ast.Ident:
		v, ok := u.info.ObjectOf(x).(*types.Var)
		if !ok || v.IsField() {
			return nil
		}
		if pl, ok := placeOf(u.info, x); ok {
			return &access{node: x, place: pl, last: v}
		}
	case *ast.SelectorExpr:
		if s := u.info.Selections[x]; s != nil && s.Kind() == types.FieldVal {
			a := &access{node: x, last: s.Obj().(*types.Var).Origin()}
			if pl, ok := placeOf(u.info, x); ok {
				a.place = pl
			}
			return a
		}
	}
	return nil
}

// choose decides which variables a group has copies of.
func (u *unit) choose(g *group) {
	for _, p := range g.parts {
		u.look(p)
	}
	var candidates []*variable
	for _, p := range g.parts {
		for _, a := range slices.Concat(p.accesses, u.reached(g, p)) {
			if v := u.candidate(g, a); v != nil && !slices.ContainsFunc(candidates, func(c *variable) bool { return c.place.equal(v.place) }) {
				candidates = append(candidates, v)
			}
		}
	}
	// A struct that is used as a whole takes the place of its fields.
	for _, v := range candidates {
		if !slices.ContainsFunc(candidates, func(c *variable) bool { return c != v && v.within(c.place) }) {
			g.vars = append(g.vars, v)
		}
	}
	g.vars = append(g.vars, u.onPages(g)...)
	// Leaving one out can make a part transparent, and that show another way to
	// the next.
	for again := true; again; {
		again = false
		for _, v := range g.vars {
			if why, at := u.conflict(g, v); why != "" {
				g.dropped = append(g.dropped, drop{v.datum, why, at})
				g.vars = slices.DeleteFunc(slices.Clone(g.vars), func(w *variable) bool { return w == v })
				again = true
				break
			}
		}
	}
	for _, p := range g.parts {
		if p.opaque == "" {
			p.opaque = u.obscured(g, p)
		}
	}
	u.noteSlow(g)
	u.dropUnused(g)
	u.markUnsure(g)
	for _, v := range g.vars {
		v.copied = v.copied && v.written && !loopsAcross(g, v)
	}
}

// loopsAcross reports whether a loop over a map may be interrupted: what is copied
// after that is another map than the one that the loop goes through.
func loopsAcross(g *group, v *variable) bool {
	loops, interrupted := false, len(g.acquires) > 1
	for _, p := range g.parts {
		interrupted = interrupted || p.opaque != ""
		for _, a := range p.accesses {
			loops = loops || p.ranges != nil && a.entries && a.place.root != nil && a.place.equal(v.place)
		}
	}
	return loops && interrupted
}

// dropUnused leaves out variables that only parts use that must find them published:
// the copies would serve nobody.
func (u *unit) dropUnused(g *group) {
	g.vars = slices.DeleteFunc(g.vars, func(v *variable) bool {
		why, at := "", g.first.Pos()
		for _, p := range g.parts {
			uses := slices.ContainsFunc(p.calls, func(c call) bool { return u.effects.of[funcKeyOf(c.Func)].touchesAny(v.reach()) })
			for _, a := range p.accesses {
				uses = uses || a.place.root != nil && a.place.within(v.place)
			}
			switch {
			case uses && p.opaque == "":
				return false
			case uses:
				why, at = "the statement that uses it "+p.opaque, p.stmt.Pos()
			}
		}
		if why != "" {
			g.dropped = append(g.dropped, drop{v.datum, why, at})
		}
		v.passive = v.isolated != nil && why != ""
		return !v.passive
	})
}

// reached returns accesses by functions that a part calls, in terms of the section,
// as far as they are about the object that has the lock, or about globals.
func (u *unit) reached(g *group, p *part) []*access {
	var list []*access
	seen := make(map[funcKey]bool)
	var follow func(c call, root *types.Var)
	follow = func(c call, root *types.Var) {
		d, ok := u.decls[funcKeyOf(c.Func)]
		if !ok || seen[funcKeyOf(c.Func)] {
			return
		}
		seen[funcKeyOf(c.Func)] = true
		inner, _ := u.parameter(d, c, root)
		body := u.bodyOf(d)
		for _, a := range body.accesses {
			switch b := *a; {
			case b.place.root == nil:
			case b.place.root == inner && inner != nil && len(b.place.fields) > 0:
				b.place.root = g.lock.root
				list = append(list, &b)
			case b.place.isGlobal():
				list = append(list, &b)
			}
		}
		for _, c := range body.calls {
			if inner != nil {
				follow(c, inner)
			}
		}
	}
	if p.opaque == "" {
		for _, c := range p.calls {
			follow(c, g.lock.root)
		}
	}
	return list
}

// candidate returns the variable that an access is about, if the lock guards it.
func (u *unit) candidate(g *group, a *access) *variable {
	if a.place.root == nil {
		if d := u.guardedBy(g, a.last); d != "" && u.isolation.data[keyOf(u.fset, a.last)] == nil {
			g.dropped = append(g.dropped, drop{d, "it is reached by way of a pointer or an element", a.node.Pos()})
		}
		return nil
	}
	datum := u.datum(g, a.place)
	if datum == "" || u.isIsolated(a.place) {
		return nil
	}
	if u.Mode == Isolate {
		g.dropped = append(g.dropped, drop{datum, u.notIsolated(a.place), a.node.Pos()})
		return nil
	}
	if foreign(g, a.place) && u.Mode != Detect {
		return nil // slots are for these
	}
	v := &variable{place: a.place, datum: datum}
	why := ""
	switch {
	case v.throughPointer() && v.root != g.lock.root:
		why = "it belongs to another object than the lock"
	case !u.means(v.root, g.first.Pos()):
		why = v.root.Name() + " is not known where the lock is taken"
	case !u.stable(v.root) && len(v.fields) > 0:
		why = v.root.Name() + " is assigned to"
	default:
		why = u.unfit(v.last().Type())
	}
	if why != "" {
		g.dropped = append(g.dropped, drop{datum, why, a.node.Pos()})
		return nil
	}
	u.describe(v)
	v.suspects = u.suspects(v)
	v.copied = u.Maps && u.Mode != Detect && isMap(v.last().Type()) && !u.aliased[v.keys[0]]
	return v
}

// datum returns the name of what a place is, or is a part of, if the group's lock guards
// it.
func (u *unit) datum(g *group, p place) string {
	name := ""
	for _, v := range append([]*types.Var{p.root}, p.fields...) {
		if d := u.guardedBy(g, v); d != "" {
			name = d
		}
	}
	return name
}

// maxSuspects is how many places a finding names.
const maxSuspects = 3

// suspects lists the places where a variable is written without the lock.
func (u *unit) suspects(v *variable) string {
	var list []string
	for _, f := range append([]*types.Var{v.root}, v.fields...) {
		_, d := u.guards.Of(f)
		if d == nil || d.Name != v.datum {
			continue
		}
		for _, dev := range d.Deviations {
			if dev.Kind == guard.Write && len(list) < maxSuspects {
				list = append(list, u.short(dev.At)+" in "+dev.Func)
			}
		}
	}
	return strings.Join(list, ", ")
}

// guardedBy returns the name of a variable or field if the group's lock guards it.
func (u *unit) guardedBy(g *group, v *types.Var) string {
	gd, d := u.guards.Of(v)
	if gd == nil || d.Confidence < u.Least || keyOf(u.fset, gd.Lock.Object.(*types.Var)) != keyOf(u.fset, g.lock.last()) {
		return ""
	}
	return d.Name
}

// means reports whether the name of a variable means that variable at a place of the
// source.
func (u *unit) means(v *types.Var, at token.Pos) bool {
	scope := u.pkg.Types.Scope().Innermost(at)
	if scope == nil {
		return false
	}
	_, o := scope.LookupParent(v.Name(), at)
	return o == v
}

// stable reports whether a variable keeps its value: it is only assigned to where it
// is declared.
func (u *unit) stable(v *types.Var) bool {
	if !isPointer(v.Type()) {
		return true // it is not the value that counts
	}
	k := keyOf(u.fset, v)
	taken := u.exposed[k] != hidden
	return !taken && !u.assigned[k]
}

// describe finds what a variable consists of.
func (u *unit) describe(v *variable) {
	var add func(f *types.Var)
	add = func(f *types.Var) {
		k := keyOf(u.fset, f)
		v.keys = append(v.keys, k)
		v.types = append(v.types, typeName(f.Type()))
		v.exposed = max(v.exposed, u.exposed[k])
		for a, ok := f.Type().Underlying().(*types.Array); ok; a, ok = a.Elem().Underlying().(*types.Array) {
			v.types = append(v.types, typeName(a.Elem()))
		}
		if s, ok := f.Type().Underlying().(*types.Struct); ok {
			for inner := range s.Fields() {
				add(inner)
			}
		}
	}
	add(v.last())
}

// conflict returns why a candidate cannot have a copy.
func (u *unit) conflict(g *group, v *variable) (string, token.Pos) {
	if v.isolated != nil {
		return u.conflictOnPages(g, v)
	}
	v.written, v.blind = false, true
	for _, p := range g.parts {
		if p.opaque != "" || u.obscured(g, p) != "" {
			continue
		}
		for _, a := range p.accesses {
			switch {
			case a.place.root != nil && a.place.within(v.place):
				if a.fixed {
					return "it is defined in the section", a.node.Pos()
				}
				v.written = v.written || a.write || a.entries && v.copied
				v.blind = v.blind && a.blind && a.place.equal(v.place)
				if a.write && g.reading {
					return "it is written in a section that may only read", a.node.Pos()
				}
			case u.named(a, v):
				if u.apart(a.place, v) {
					continue
				}
				return fmt.Sprintf("the section reaches it in another way as well, in line %d", u.fset.PositionFor(a.node.Pos(), false).Line), a.node.Pos()
			}
		}
		for _, c := range p.calls {
			if u.effects.of[funcKeyOf(c.Func)].touchesAny(v.reach()) {
				v.blind = false // a clone may read it
				v.written = true
			}
		}
	}
	return "", token.NoPos
}

// apart reports whether a place, which is not within a variable, is other memory for
// sure: another field of the same object, or of a local struct that nothing points to.
func (u *unit) apart(p place, v *variable) bool {
	switch {
	case p.root == nil || len(p.fields) == 0:
		return false
	case p.root == v.root:
		return true
	}
	return !p.isGlobal() && !isPointer(p.root.Type()) && u.exposed[keyOf(u.fset, p.root)] == hidden
}

// reach are the keys by which code may reach the variable. Nothing points to one that is
// hidden, so that its fields cannot be reached but by its own name.
func (v *variable) reach() []key {
	if v.exposed == hidden {
		return v.keys[:1]
	}
	return v.keys
}

// named reports whether an access may be to the variable in any object, by what it
// names.
func (u *unit) named(a *access, v *variable) bool {
	return slices.ContainsFunc(append([]*types.Var{a.last}, a.place.fields...), func(f *types.Var) bool {
		return slices.Contains(v.reach(), keyOf(u.fset, f))
	})
}

// guardedIn returns the names of the fields of a struct that the group's lock guards.
func (u *unit) guardedIn(g *group, t types.Type) []string {
	var list []string
	if s, ok := t.Underlying().(*types.Struct); ok {
		for f := range s.Fields() {
			if d := u.guardedBy(g, f); d != "" {
				list = append(list, d)
			}
			list = append(list, u.guardedIn(g, f.Type())...)
		}
	}
	return list
}

// obscured returns why a part reaches variables of the group other than by name.
func (u *unit) obscured(g *group, p *part) string {
	for _, v := range g.vars {
		if p.acquires && !u.exclusive(g, v) {
			return "takes another lock, which may be what " + v.last().Name() + " is used with elsewhere"
		}
		for _, t := range p.whole {
			if holds(t, v.structsOf()) {
				return "uses " + v.root.Name() + " as a whole"
			}
		}
		for _, a := range p.accesses {
			if a.taken && a.place.root != nil && a.place.within(v.place) {
				return "takes the address of " + v.last().Name()
			}
		}
		for _, e := range p.effects {
			if why := v.mayBeReached(e); why != "" {
				return why
			}
		}
	}
	for _, c := range p.calls {
		if u.cloned[c.expr] && len(u.touched(g.vars, c)) > 0 {
			return "calls " + name(c.Func) + ", which uses what another lock guards, too"
		}
		if why := u.unsafeCall(g.vars, g.reading, c); why != "" {
			return "calls " + name(c.Func) + ", which " + why
		}
	}
	return ""
}

// exclusive reports whether nobody can have used a variable since the group's lock was
// taken, by what is known of all accesses to it.
func (u *unit) exclusive(g *group, v *variable) bool {
	if v.root != g.lock.root && !(v.isGlobal() && g.lock.isGlobal()) {
		return false // it may be another object's lock
	}
	for _, f := range append([]*types.Var{v.root}, v.fields...) {
		if gd, d := u.guards.Of(f); gd != nil && d.Name == v.datum {
			e := d.Evidence
			return e.ReadsWithout+e.WritesWithout+e.Unknown == 0
		}
	}
	return false
}

// mayBeReached returns why code might reach the variable through a pointer.
func (v *variable) mayBeReached(e *effect) string {
	switch {
	case v.exposed == hidden:
		return ""
	case v.exposed == forged && e.indirect:
		return "uses pointers, and one to " + v.last().Name() + " was made with package unsafe"
	case e.pointers[anyType]:
		return "uses a pointer to a type parameter"
	}
	for _, t := range v.types {
		if e.pointers[t] {
			return "uses a pointer to " + t
		}
	}
	return ""
}

func isMap(t types.Type) bool {
	_, ok := t.Underlying().(*types.Map)
	return ok
}

// maxWide is the size of a struct, in bytes, beyond which a copy costs more than it
// is worth.
const maxWide = 256

// unfit returns why there can be no copy of a variable of a type, or "".
func (u *unit) unfit(t types.Type) string {
	if what := uncopyable(t); what != "" {
		return "it is or has " + what
	}
	switch t.Underlying().(type) {
	case *types.Array, *types.Struct:
		if hasUnfitArray(t) {
			return "it is or has an array of what is not a word"
		}
		if parametrised(t) {
			return ""
		}
		if n := u.sizes.Sizeof(t); n > maxWide {
			return fmt.Sprintf("it has %d bytes", n)
		}
	}
	return ""
}

// hasUnfitArray reports whether a type has an array in it that cannot be compared as
// a whole.
func hasUnfitArray(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Array:
		return sameness(u) == ""
	case *types.Struct:
		for f := range u.Fields() {
			if hasUnfitArray(f.Type()) {
				return true
			}
		}
	}
	return false
}

// parametrised reports whether the size of a type depends on type parameters.
func parametrised(t types.Type) bool {
	switch u := types.Unalias(t).(type) {
	case *types.TypeParam:
		return true
	case *types.Named:
		return parametrised(u.Underlying())
	case *types.Array:
		return parametrised(u.Elem())
	case *types.Struct:
		for f := range u.Fields() {
			if parametrised(f.Type()) {
				return true
			}
		}
	}
	return false
}
