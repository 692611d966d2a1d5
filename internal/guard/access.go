package guard

import (
	"fmt"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// A Kind says what an access does.
type Kind int

const (
	Read Kind = iota
	Write
)

func (k Kind) String() string {
	switch k {
	case Read:
		return "read"
	case Write:
		return "write"
	}
	panic(fmt.Sprintf("guard: kind %d", int(k)))
}

// A site is one line that accesses one variable. What the line does in several
// contexts, and in several instances of a generic function, is observed at the
// same site; x++ is one site, and a write.
type site struct {
	at   token.Position
	fn   *ssa.Function
	kind Kind
	seen []observation
}

type siteKey struct {
	file string
	line int
	of   types.Object
}

// An observation is what is held at a site in one context, on one way.
type observation struct {
	kind    Kind
	held    []relation
	unknown []types.Object // locks of this class are held, of which object cannot be told
	apart   []types.Object // locks of this class are held, of an object with no relation to this
	any     bool           // locks that cannot be named may be held
	outside bool           // the context is code that is not at hand
	base    *path          // of the object that has the field, nil for a variable
	from    *node
}

// A relation is a lock as seen from the data: the way from the object that has
// the field to the lock, or the lock itself if it is a variable.
type relation struct {
	lock  *path
	write bool
	may   bool
}

// A variable is data with its sites.
type variable struct {
	object types.Object
	sites  []*site
	early  int  // initialising accesses, which do not count
	atomic bool // package sync/atomic is used on it
}

// A recorder collects the accesses of one node.
type recorder struct {
	*analysis
	n     *node
	loads map[ssa.Value][]disjunct
}

func (r *recorder) instruction(instr ssa.Instruction, state []disjunct) {
	if len(state) == 0 {
		return
	}
	switch i := instr.(type) {
	case *ssa.UnOp:
		if i.Op == token.MUL {
			r.loads[i] = state
			r.address(i.X, Read, i, state)
		}
	case *ssa.Store:
		r.address(i.Addr, Write, i, state)
	case *ssa.MapUpdate:
		r.content(i.Map, i, state)
	case ssa.CallInstruction:
		r.call(i, state)
	}
}

// address records an access to what an address points to: the innermost field that
// is declared in the analysed packages, or a variable.
func (r *recorder) address(addr ssa.Value, kind Kind, instr ssa.Instruction, state []disjunct) {
	for inner := true; ; inner = false {
		switch v := addr.(type) {
		case *ssa.FieldAddr:
			f := r.field(v.X.Type(), v.Field)
			if f.Pkg() != nil && r.analysed[f.Pkg().Path()] {
				// A struct with a lock of its own is a place, not data.
				if inner || !hasOwnLock(f.Type()) {
					r.observe(f, r.path(v.X), kind, instr, v, state)
				}
				return
			}
			addr = v.X
		case *ssa.IndexAddr:
			if _, array := deref(v.X.Type()).Underlying().(*types.Array); !array {
				if kind == Write {
					r.content(v.X, instr, state)
				}
				return
			}
			addr = v.X
		case *ssa.Global:
			if o, ok := v.Object().(*types.Var); ok && (inner || !hasOwnLock(o.Type())) {
				r.observe(r.paths.canonical(o), nil, kind, instr, v, state)
			}
			return
		case *ssa.Alloc, *ssa.FreeVar:
			r.local(v, kind, instr, state)
			return
		default:
			return
		}
	}
}

// local records an access to a local variable that closures share.
func (r *recorder) local(addr ssa.Value, kind Kind, instr ssa.Instruction, state []disjunct) {
	v := r.variable(addr)
	if v == nil || !v.Heap {
		return
	}
	o := r.paths.locals[v.Pos()]
	if o == nil || hasOwnLock(o.Type()) || !r.sharedLocal(v) {
		return
	}
	if r.isFresh(r.n, r.paths.root(v), instr) || v.Parent() == r.n.fn && r.waitedBefore(instr) {
		return
	}
	r.observe(r.paths.canonical(o), nil, kind, instr, v, state)
}

// waitedBefore reports whether a function has waited for its goroutines before an
// instruction: what they did to its variables is over then.
func (r *recorder) waitedBefore(at ssa.Instruction) bool {
	for _, b := range r.n.fn.Blocks {
		for _, i := range b.Instrs {
			waits := false
			switch i := i.(type) {
			case *ssa.UnOp:
				waits = i.Op == token.ARROW
			case *ssa.Select:
				waits = true
			case *ssa.Call:
				if i.Call.IsInvoke() {
					waits = i.Call.Method.Name() == "Wait"
				} else if fn := i.Call.StaticCallee(); fn != nil {
					waits = fn.Name() == "Wait"
				}
			}
			if waits && r.reaches(i, at, nil) {
				return true
			}
		}
	}
	return false
}

// sharedLocal reports whether another goroutine may come to have a local variable.
func (r *recorder) sharedLocal(v *ssa.Alloc) bool {
	shared, ok := r.sharedLocals[v]
	if !ok {
		shared = len(r.findPublications(&node{fn: v.Parent()}, v)) > 0
		r.sharedLocals[v] = shared
	}
	return shared
}

// content records a write into a map or slice, which is a write of the variable
// that holds it. A lock that was held when the variable was read still counts:
// what was taken out under the lock may be the goroutine's own by now.
func (r *recorder) content(container ssa.Value, instr ssa.Instruction, state []disjunct) {
	load, ok := container.(*ssa.UnOp)
	if !ok || load.Op != token.MUL {
		return
	}
	if before := r.loads[load]; len(before) > 0 {
		then := flatten(before).locks
		state = slices.Clone(state)
		for i := range state {
			for _, h := range then {
				if state[i].locks.find(h.lock) < 0 {
					state[i].locks = state[i].locks.with(h)
				}
			}
		}
	}
	r.address(load.X, Write, instr, state)
}

func (r *recorder) call(i ssa.CallInstruction, state []disjunct) {
	c := i.Common()
	if op, _ := r.operationOf(c); op != noOperation {
		return
	}
	if b, ok := c.Value.(*ssa.Builtin); ok {
		switch b.Name() {
		case "delete", "clear", "copy":
			r.content(c.Args[0], i, state)
		}
		return
	}
	fn := c.StaticCallee()
	for k, arg := range c.Args {
		if m, ok := arg.(*ssa.MakeInterface); ok {
			arg = m.X
		}
		switch arg.(type) {
		case *ssa.FieldAddr, *ssa.IndexAddr, *ssa.Global:
		default:
			continue
		}
		if fn != nil && fn.Object() != nil && fn.Object().Pkg() != nil && fn.Object().Pkg().Path() == "sync/atomic" {
			r.markAtomic(arg)
			continue
		}
		if _, ok := i.(*ssa.Go); ok {
			continue
		}
		kind, ok := r.passes(fn, k, deref(arg.Type()))
		if ok && !hasOwnLock(deref(arg.Type())) {
			r.address(arg, kind, i, state)
		}
	}
}

// passes says what a function does with what parameter k points to. A function
// whose body is at hand is followed, so that only its writes through the pointer
// itself are of interest here, and only if it takes no lock for them.
func (r *recorder) passes(fn *ssa.Function, k int, t types.Type) (Kind, bool) {
	if fn == nil {
		return Read, false
	}
	if len(fn.Blocks) > 0 {
		return Write, r.writesParameter(fn, k) && !r.takesLock(fn)
	}
	if k > 0 || fn.Signature.Recv() == nil {
		for _, word := range []string{"Unmarshal", "Decode", "Scan", "Swap", "Heap", "Push", "Pop", "Fix", "Init"} {
			if strings.Contains(fn.Name(), word) {
				return Write, true
			}
		}
		return Read, true
	}
	if unsynchronised[types.TypeString(t, nil)] && !readingMethods[fn.Name()] {
		return Write, true
	}
	return Read, true
}

// unsynchronised are types of the standard library whose methods change them and
// that take no lock of their own.
var unsynchronised = map[string]bool{
	"bytes.Buffer": true, "strings.Builder": true, "container/list.List": true, "container/ring.Ring": true,
	"math/rand.Rand": true, "math/rand/v2.Rand": true, "bufio.Writer": true, "bufio.Reader": true, "bufio.ReadWriter": true,
	"math/big.Int": true, "math/big.Float": true, "math/big.Rat": true,
}

var readingMethods = map[string]bool{
	"Len": true, "Cap": true, "Bytes": true, "String": true, "Front": true, "Back": true, "Available": true, "Size": true, "Buffered": true,
	"Cmp": true, "Sign": true, "Int64": true, "Uint64": true, "IsInt64": true,
}

// takesLock reports whether a function locks something itself.
func (a *analysis) takesLock(fn *ssa.Function) bool {
	for _, b := range fn.Blocks {
		for _, i := range b.Instrs {
			if c, ok := i.(ssa.CallInstruction); ok {
				if op, _ := a.operationOf(c.Common()); op != noOperation {
					return true
				}
			}
		}
	}
	return false
}

// writesParameter reports whether a function stores through a parameter, directly
// or by passing it on.
func (a *analysis) writesParameter(fn *ssa.Function, index int) bool {
	if index >= len(fn.Params) {
		return false
	}
	key := resultKey{fn, index}
	if w, ok := a.writers[key]; ok {
		return w
	}
	a.writers[key] = false
	w := a.findWrite(fn, fn.Params[index])
	a.writers[key] = w
	return w
}

func (a *analysis) findWrite(fn *ssa.Function, p ssa.Value) bool {
	for _, b := range fn.Blocks {
		for _, i := range b.Instrs {
			switch i := i.(type) {
			case *ssa.Store:
				if within(i.Addr, p) {
					return true
				}
			case *ssa.MapUpdate:
				if u, ok := i.Map.(*ssa.UnOp); ok && within(u.X, p) {
					return true
				}
			case ssa.CallInstruction:
				c := i.Common()
				callee := c.StaticCallee()
				for k, arg := range c.Args {
					if callee != nil && within(arg, p) && a.writesParameter(callee, k) {
						return true
					}
				}
			}
		}
	}
	return false
}

// within reports whether an address is inside the object that p points to.
func within(addr, p ssa.Value) bool {
	for {
		if addr == p {
			return true
		}
		switch v := addr.(type) {
		case *ssa.FieldAddr:
			addr = v.X
		case *ssa.IndexAddr:
			addr = v.X
		default:
			return false
		}
	}
}

func (r *recorder) markAtomic(addr ssa.Value) {
	switch v := addr.(type) {
	case *ssa.FieldAddr:
		r.variableOf(r.field(v.X.Type(), v.Field)).atomic = true
	case *ssa.IndexAddr:
		if u, ok := v.X.(*ssa.UnOp); ok {
			r.markAtomic(u.X)
			return
		}
		r.markAtomic(v.X)
	case *ssa.Global:
		if o, ok := v.Object().(*types.Var); ok {
			r.variableOf(r.paths.canonical(o)).atomic = true
		}
	}
}

func (a *analysis) variableOf(o types.Object) *variable {
	v := a.variables[o]
	if v == nil {
		v = &variable{object: o}
		a.variables[o] = v
		a.order = append(a.order, v)
	}
	return v
}

// observe records an access. base is the path of the object whose field is
// accessed, nil for a variable.
func (r *recorder) observe(o *types.Var, base *path, kind Kind, instr ssa.Instruction, addr ssa.Value, state []disjunct) {
	if o.Pkg() == nil || !r.analysed[o.Pkg().Path()] || !isData(o.Type()) || o.Name() == "_" {
		return
	}
	v := r.variableOf(o)
	if base != nil && r.isFresh(r.n, base, instr) || r.n.context.quiet && !r.spawnedBefore(r.n.fn, instr) {
		v.early++
		return
	}
	pos := r.position(instr, addr)
	if !pos.IsValid() {
		return
	}
	at := r.fset.Position(pos)
	key := siteKey{at.Filename, at.Line, o}
	s := r.sites[key]
	if s == nil {
		s = &site{at: at, fn: r.n.fn}
		r.sites[key] = s
		v.sites = append(v.sites, s)
	}
	s.kind = max(s.kind, kind)
	for _, d := range state {
		ob := r.observation(base, d)
		ob.base = base
		ob.kind = kind
		if !slices.ContainsFunc(s.seen, ob.same) {
			s.seen = append(s.seen, ob)
		}
	}
}

func (r *recorder) observation(base *path, d disjunct) observation {
	ob := observation{any: r.n.context.assumed, outside: r.n.context.external, from: r.n}
	if base != nil && slices.Contains(r.n.context.outsiders, r.paths.root(base.root)) {
		ob.outside = true
	}
	if base != nil && ob.outside && r.n.fn.Parent() != nil && base.root.Parent() == r.n.fn {
		// What a closure is given by unknown callers, as functional options are,
		// is often not published yet.
		ob.any = true
	}
	add := func(p *path, h held) {
		if p == nil || r.paths.last(p) == nil || slices.ContainsFunc(ob.held, func(x relation) bool { return x.lock == p }) {
			return
		}
		ob.held = append(ob.held, relation{p, h.write, h.may})
	}
	for _, h := range d.locks {
		if base != nil {
			if rel := r.paths.relate(base, h.lock); rel != nil {
				add(r.plain(rel), h)
			} else if o := r.paths.last(h.lock); o != nil {
				ob.apart = append(ob.apart, o)
			}
		}
		if o := r.paths.last(h.lock); o != nil && h.lock.ups > 0 {
			// Of an object that this function cannot reach otherwise: by which of its
			// parameters it was found says nothing.
			ob.unknown = append(ob.unknown, o)
		}
		switch root := h.lock.root.(type) {
		case *ssa.Global:
			add(r.plain(h.lock), h)
		default:
			if !lexical(r.n.fn, root) {
				if o := r.paths.last(h.lock); o != nil {
					ob.unknown = append(ob.unknown, o)
				} else {
					ob.any = true
				}
			} else if base == nil {
				add(r.plain(h.lock), h)
			}
		}
	}
	return ob
}

// plain drops the keys of elements.
func (a *analysis) plain(p *path) *path {
	if p.parent == nil {
		return p
	}
	s := p.step
	s.key = nil
	parent := a.plain(p.parent)
	if parent == nil {
		return nil
	}
	return a.paths.extend(parent, s)
}

// lexical reports whether a value is one of a function or of those around it.
func lexical(fn *ssa.Function, v ssa.Value) bool {
	for ; fn != nil; fn = fn.Parent() {
		if v.Parent() == fn {
			return true
		}
	}
	return false
}

func (o observation) same(p observation) bool {
	return o.kind == p.kind && o.base == p.base && o.any == p.any && o.outside == p.outside && slices.Equal(o.held, p.held) && slices.Equal(o.unknown, p.unknown) && slices.Equal(o.apart, p.apart)
}

// position finds the place of an access in the source; loads have none of their
// own.
func (a *analysis) position(instr ssa.Instruction, addr ssa.Value) token.Pos {
	if f, ok := addr.(*ssa.FieldAddr); ok && f.Pos().IsValid() {
		return f.Pos()
	}
	if v, ok := instr.(ssa.Value); ok && v.Referrers() != nil {
		for _, r := range *v.Referrers() {
			if d, ok := r.(*ssa.DebugRef); ok {
				return d.Expr.Pos()
			}
		}
	}
	return instr.Pos()
}
