package locks

import (
	"go/constant"
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// Values finds the places that the values of a program in SSA form name, and the
// operations on locks that its calls are.
type Values struct {
	Places   *Places
	placeOf  map[ssa.Value]*Place
	resultOf map[*ssa.Function]*Place
	closures map[*ssa.Function][]*ssa.MakeClosure
	aliases  *aliases
}

// NewValues prepares for the functions of a program: it notes where closures are made, and
// which fields only ever hold a pointer to a lock that stands nearby.
func NewValues(places *Places, fns []*ssa.Function) *Values {
	v := &Values{Places: places, placeOf: make(map[ssa.Value]*Place), resultOf: make(map[*ssa.Function]*Place),
		closures: make(map[*ssa.Function][]*ssa.MakeClosure), aliases: newAliases(places)}
	eachInstruction(fns, func(i ssa.Instruction) {
		if m, ok := i.(*ssa.MakeClosure); ok {
			c := m.Fn.(*ssa.Function)
			v.closures[c] = append(v.closures[c], m)
		}
	})
	eachInstruction(fns, func(i ssa.Instruction) {
		if s, ok := i.(*ssa.Store); ok {
			v.noteStore(s)
		}
	})
	if v.aliases.finish() {
		clear(v.placeOf)
		clear(v.resultOf)
	}
	return v
}

func eachInstruction(fns []*ssa.Function, f func(ssa.Instruction)) {
	for _, fn := range fns {
		for _, b := range fn.Blocks {
			for _, i := range b.Instrs {
				f(i)
			}
		}
	}
}

// noteStore notes that a field is given the address of a lock, or a sync.Cond of one.
func (v *Values) noteStore(s *ssa.Store) {
	if IsLock(s.Val.Type()) {
		v.aliases.note(v.Place(s.Addr), v.Place(s.Val))
		return
	}
	c, ok := s.Val.(*ssa.Call)
	if ok && c.Call.StaticCallee() != nil && c.Call.StaticCallee().RelString(nil) == "sync.NewCond" {
		v.aliases.note(v.Places.condLocker(v.Place(s.Addr), c.Type()), v.Place(c.Call.Args[0]))
	}
}

// Op recognises a call of a lock's method. A method whose body is at hand is no operation
// but a call to be followed, except those of package sync.
func (v *Values) Op(c *ssa.CallCommon) (Op, bool) {
	if c.IsInvoke() {
		m, ok := MethodOf(c.Method)
		if fn, _ := Invoked(c); !ok || len(c.Args) > 0 || isFollowed(fn) {
			return Op{}, false
		}
		return Op{Verb: m.Verb, Mode: m.Mode, Lock: v.Place(c.Value)}, true
	}
	fn := c.StaticCallee()
	if fn == nil || fn.Signature.Recv() == nil || len(c.Args) != 1 {
		return Op{}, false
	}
	o, ok := fn.Object().(*types.Func)
	if !ok {
		return Op{}, false
	}
	m, ok := MethodOf(o)
	if !ok || isFollowed(fn) {
		return Op{}, false
	}
	return Op{Verb: m.Verb, Mode: m.Mode, Lock: v.Place(c.Args[0])}, true
}

// isFollowed reports whether a method is looked into instead of being taken for an
// operation: its body is at hand, and it is none of package sync.
func isFollowed(fn *ssa.Function) bool {
	if fn == nil {
		return false
	}
	o, ok := fn.Object().(*types.Func)
	if !ok || IsStandard(o) {
		return false
	}
	if declared := fn.Prog.FuncValue(o); declared != nil {
		fn = declared // and not the wrapper that promotes it
	}
	return len(fn.Blocks) > 0
}

// Invoked returns the method that a call through an interface calls and its receiver, if it
// is known what is in the interface; nil otherwise.
func Invoked(c *ssa.CallCommon) (fn *ssa.Function, receiver ssa.Value) {
	v := c.Value
	for {
		switch x := v.(type) {
		case *ssa.MakeInterface:
			return x.Parent().Prog.LookupMethod(x.X.Type(), c.Method.Pkg(), c.Method.Name()), x.X
		case *ssa.ChangeInterface:
			v = x.X
		default:
			return nil, nil
		}
	}
}

// Place returns the place that a value names: what a pointer points to, or a variable of
// its own if the value comes from nowhere that has a name.
func (v *Values) Place(x ssa.Value) *Place {
	if p := v.placeOf[x]; p != nil {
		return p
	}
	v.placeOf[x] = v.Places.Root(x) // where a cycle ends
	p := v.newPlace(x)
	if p == nil {
		p = v.Places.Root(x)
	}
	if alias := v.aliases.resolve(p); alias != nil {
		p = alias
	}
	v.placeOf[x] = p
	return p
}

func (v *Values) newPlace(x ssa.Value) *Place {
	switch x := x.(type) {
	case *ssa.FieldAddr:
		return v.field(x.X, x.Field)
	case *ssa.Field:
		return v.field(x.X, x.Field)
	case *ssa.UnOp:
		if x.Op == token.MUL {
			return v.Place(x.X)
		}
	case *ssa.IndexAddr:
		return v.element(x.X, keyOf(x.Index))
	case *ssa.Index:
		return v.element(x.X, keyOf(x.Index))
	case *ssa.Lookup:
		return v.element(x.X, keyOf(x.Index))
	case *ssa.Extract:
		return v.extracted(x)
	case *ssa.TypeAssert:
		return v.Place(x.X)
	case *ssa.MakeInterface:
		return v.asInterface(x)
	case *ssa.ChangeType:
		return v.Place(x.X)
	case *ssa.ChangeInterface:
		return v.Place(x.X)
	case *ssa.Convert:
		return v.Place(x.X)
	case *ssa.Slice:
		return v.Place(x.X)
	case *ssa.FreeVar:
		if b := v.Binding(x); b != nil {
			return v.Place(b)
		}
	case *ssa.Alloc:
		if s := OnlyStore(x); s != nil && IsReference(s.Type()) {
			return v.Place(s)
		}
	case *ssa.Phi:
		return v.merged(x)
	case *ssa.Call:
		return v.returned(x)
	}
	return nil
}

func (v *Values) field(of ssa.Value, index int) *Place {
	return v.Places.Extend(v.Place(of), Step{Field: v.Field(of.Type(), index)})
}

// Field returns field i of a struct, or of what a pointer to one points to.
func (v *Values) Field(t types.Type, i int) *types.Var {
	s, ok := underlyingStruct(t)
	if !ok {
		panic("locks: a field of " + t.String())
	}
	return v.Places.Canonical(s.Field(i))
}

func (v *Values) element(of ssa.Value, key any) *Place {
	return v.Places.Extend(v.Place(of), Step{Field: Element, Key: key})
}

func keyOf(x ssa.Value) any {
	if c, ok := x.(*ssa.Const); ok && c.Value != nil {
		return constantKey(c.Value)
	}
	return x
}

// constantKey is what tells a constant index from others: 1 and "1" are different keys.
func constantKey(c constant.Value) string {
	if c.Kind() == constant.String {
		return c.ExactString() + "s"
	}
	return c.ExactString()
}

func (v *Values) extracted(x *ssa.Extract) *Place {
	switch t := x.Tuple.(type) {
	case *ssa.Lookup:
		if x.Index == 0 {
			return v.Place(t)
		}
	case *ssa.TypeAssert:
		if x.Index == 0 {
			return v.Place(t)
		}
	case *ssa.Next:
		if r, ok := t.Iter.(*ssa.Range); ok && x.Index == 2 {
			return v.element(r.X, ssa.Value(t))
		}
	}
	return nil
}

// asInterface names what an interface is made of. As a sync.Locker, a struct that embeds a
// lock is that lock.
func (v *Values) asInterface(x *ssa.MakeInterface) *Place {
	p := v.Place(x.X)
	if hasMethod(x.Type(), "Lock") {
		for _, f := range Promoted(x.X.Type()) {
			p = v.Places.Field(p, f)
		}
	}
	return p
}

// merged names a value that comes from several, if all of them are one place.
func (v *Values) merged(x *ssa.Phi) *Place {
	var one *Place
	for _, e := range x.Edges {
		switch e := e.(type) {
		case *ssa.Const:
			continue
		case *ssa.Alloc:
			if e.Heap {
				continue // made because there was none: it is what it is stored as later
			}
		}
		p := v.Place(e)
		if p.parent == nil && p.root == Root(x) {
			continue
		}
		if one != nil && one != p {
			return nil
		}
		one = p
	}
	return one
}

// returned names the result of a call: of RLocker, and of a function that returns something
// reached from its parameters, as a method that returns a field does.
func (v *Values) returned(x *ssa.Call) *Place {
	fn := x.Call.StaticCallee()
	if fn == nil {
		return nil
	}
	if isRLocker(fn.Object()) && len(x.Call.Args) == 1 {
		return v.Places.Extend(v.Place(x.Call.Args[0]), Step{Field: readSide})
	}
	if r := v.resultPlace(fn); r != nil {
		return v.Places.Up(r, v.ArgumentPairs(fn, x.Call.Args))
	}
	return nil
}

func isRLocker(o types.Object) bool {
	fn, ok := o.(*types.Func)
	return ok && fn.Name() == "RLocker" && fn.Signature().Recv() != nil && IsLock(fn.Signature().Recv().Type())
}

// resultPlace returns the place of what a function returns if that is reached from its
// parameters.
func (v *Values) resultPlace(fn *ssa.Function) *Place {
	if p, ok := v.resultOf[fn]; ok {
		return p
	}
	v.resultOf[fn] = nil
	if fn.Signature.Results().Len() != 1 || !IsReference(fn.Signature.Results().At(0).Type()) {
		return nil
	}
	var one *Place
	for _, b := range fn.Blocks {
		if len(b.Instrs) == 0 {
			continue
		}
		r, ok := b.Instrs[len(b.Instrs)-1].(*ssa.Return)
		if !ok {
			continue
		}
		p := v.Place(r.Results[0])
		if _, ok := p.root.(*ssa.Parameter); !ok || one != nil && one != p {
			return nil
		}
		one = p
	}
	v.resultOf[fn] = one
	return one
}

// ArgumentPairs pairs a function's parameters with the arguments of a call.
func (v *Values) ArgumentPairs(fn *ssa.Function, args []ssa.Value) []Pair {
	var pairs []Pair
	for i, p := range fn.Params {
		if i < len(args) && IsReference(p.Type()) {
			pairs = append(pairs, Pair{v.Places.Root(p), v.Place(args[i])})
		}
	}
	return pairs
}

// Closures returns where a function literal is made into a closure.
func (v *Values) Closures(fn *ssa.Function) []*ssa.MakeClosure { return v.closures[fn] }

// Binding returns what a closure's free variable is bound to, if the closure is made in
// one place.
func (v *Values) Binding(x *ssa.FreeVar) ssa.Value {
	made := v.closures[x.Parent()]
	if len(made) != 1 || x.Parent().Parent() == nil {
		return nil
	}
	for i, f := range x.Parent().FreeVars {
		if f == x {
			return made[0].Bindings[i]
		}
	}
	return nil
}

// OnlyStore returns the one value that is ever stored into a variable, nil if there are
// several or the variable's address goes elsewhere.
func OnlyStore(x *ssa.Alloc) ssa.Value {
	var stored ssa.Value
	stores := 0
	var visit func(addr ssa.Value) bool
	visit = func(addr ssa.Value) bool {
		for _, r := range *addr.Referrers() {
			switch r := r.(type) {
			case *ssa.Store:
				if r.Addr != addr {
					return false
				}
				stored = r.Val
				stores++
			case *ssa.MakeClosure:
				for i, b := range r.Bindings {
					if b == addr && !visit(r.Fn.(*ssa.Function).FreeVars[i]) {
						return false
					}
				}
			case *ssa.UnOp, *ssa.DebugRef:
			default:
				return false
			}
		}
		return true
	}
	if !visit(x) || stores != 1 {
		return nil
	}
	return stored
}
