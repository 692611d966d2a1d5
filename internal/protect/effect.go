package protect

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// An effect is what running some code can mean to private copies.
type effect struct {
	// opaque is why copies must be published before the code runs: it might
	// reach the variables in ways that are not known, or tell other goroutines
	// that they may. It is "" for code that does neither.
	opaque string
	// touched are the variables and fields that it names, in whatever object.
	touched map[key]bool
	// pointers are the types that it reaches through pointers to them.
	pointers map[string]bool
	// indirect says that it uses pointers or elements at all.
	indirect bool
	// acquires says that it takes a lock.
	acquires bool
	calls    []call // of functions that can be named
}

// A call of a function.
type call struct {
	*types.Func
	expr *ast.CallExpr
}

func (e *effect) touch(k key) {
	if e.touched == nil {
		e.touched = make(map[key]bool)
	}
	e.touched[k] = true
}

// touchesAny reports whether one of the keys is among the variables that the code
// names.
func (e *effect) touchesAny(keys []key) bool {
	return e != nil && slices.ContainsFunc(keys, func(k key) bool { return e.touched[k] })
}

// anyType is what a pointer to a type parameter may lead to.
const anyType = "any type"

func (e *effect) point(t types.Type) {
	if e.pointers == nil {
		e.pointers = make(map[string]bool)
	}
	name := typeName(t)
	if _, ok := types.Unalias(t).(*types.TypeParam); ok {
		name = anyType
	}
	e.pointers[name], e.indirect = true, true
}

func typeName(t types.Type) string { return types.TypeString(t, nil) }

// effects know the functions of a build.
type effects struct {
	fset *token.FileSet
	of   map[funcKey]*effect
}

// A funcKey identifies a function in all packages of a build.
type funcKey string

func funcKeyOf(f *types.Func) funcKey { return funcKey(f.Origin().FullName()) }

// findEffects analyses the functions of packages. What a function calls counts as
// its own effect.
func findEffects(pkgs []*packages.Package) *effects {
	all := &effects{of: make(map[funcKey]*effect)}
	for _, p := range pkgs {
		all.fset = p.Fset
		for _, f := range p.Syntax {
			for _, d := range f.Decls {
				fd, ok := d.(*ast.FuncDecl)
				if !ok || fd.Body == nil || fd.Name.Name == "_" {
					continue
				}
				if o, ok := p.TypesInfo.Defs[fd.Name].(*types.Func); ok {
					all.of[funcKeyOf(o)] = all.direct(p.TypesInfo, fd.Body)
				}
			}
		}
	}
	for _, e := range all.of {
		for _, c := range e.calls {
			if e.opaque == "" && !all.known(c.Func) {
				e.opaque = "calls " + name(c.Func)
			}
		}
	}
	for changed := true; changed; {
		changed = false
		for _, e := range all.of {
			for _, c := range e.calls {
				callee := all.of[funcKeyOf(c.Func)]
				if callee == nil {
					continue
				}
				if e.opaque == "" && callee.opaque != "" {
					e.opaque = "calls " + name(c.Func) + ", which " + first(callee.opaque)
					changed = true
				}
				for k := range callee.touched {
					if !e.touched[k] {
						e.touch(k)
						changed = true
					}
				}
				for t := range callee.pointers {
					if !e.pointers[t] {
						if e.pointers == nil {
							e.pointers = make(map[string]bool)
						}
						e.pointers[t] = true
						changed = true
					}
				}
				if callee.indirect && !e.indirect {
					e.indirect, changed = true, true
				}
				if callee.acquires && !e.acquires {
					e.acquires, changed = true, true
				}
			}
		}
	}
	return all
}

// first cuts a reason that is about a callee of a callee: the way to the end of it
// would be long.
func first(why string) string {
	why, _, _ = strings.Cut(why, ", which ")
	return why
}

// name names a function with its package.
func name(f *types.Func) string {
	if f.Pkg() == nil {
		return f.Name()
	}
	return f.Pkg().Name() + "." + f.Name()
}

// known reports whether a function's body is at hand.
func (all *effects) known(f *types.Func) bool {
	_, ok := all.of[funcKeyOf(f)]
	return ok
}

// direct returns the effect of code without that of the functions it calls. The
// bodies of function literals are not part of it: to call one is opaque.
func (all *effects) direct(info *types.Info, nodes ...ast.Node) *effect {
	e := new(effect)
	for _, n := range nodes {
		if n != nil {
			all.visit(info, n, e)
		}
	}
	return e
}

func (all *effects) visit(info *types.Info, root ast.Node, e *effect) {
	block := func(why string) {
		if e.opaque == "" {
			e.opaque = why
		}
	}
	var chain []ast.Node
	ast.Inspect(root, func(n ast.Node) bool {
		if n == nil {
			chain = chain[:len(chain)-1]
			return true
		}
		var parent ast.Node
		if len(chain) > 0 {
			parent = chain[len(chain)-1]
		}
		chain = append(chain, n)
		switch n := n.(type) {
		case *ast.FuncLit:
			chain = chain[:len(chain)-1]
			return false
		case *ast.GoStmt:
			block("starts a goroutine")
		case *ast.SendStmt, *ast.SelectStmt:
			block("uses a channel")
		case *ast.DeferStmt:
			block("defers a call")
		case *ast.UnaryExpr:
			if n.Op == token.ARROW {
				block("uses a channel")
			}
		case *ast.RangeStmt:
			switch t := coreOf(info.TypeOf(n.X)).(type) {
			case *types.Slice:
				e.indirect = true
			case *types.Pointer:
				e.point(t.Elem())
			case *types.Chan:
				block("uses a channel")
			case *types.Signature, nil:
				block("ranges over a function")
			}
		case *ast.CallExpr:
			all.call(info, n, e, block)
		case *ast.SelectorExpr:
			if s := info.Selections[n]; s != nil && s.Kind() == types.FieldVal {
				all.touchSelection(info, n, s, e)
				e.indirect = e.indirect || s.Indirect()
			}
		case *ast.StarExpr:
			if tv := info.Types[n]; tv.IsValue() {
				e.point(tv.Type)
			}
		case *ast.IndexExpr:
			switch t := coreOf(info.TypeOf(n.X)).(type) {
			case *types.Slice:
				e.indirect = true
			case *types.Pointer:
				e.point(t.Elem())
			}
		case *ast.Ident:
			if v, ok := info.Uses[n].(*types.Var); ok && !v.IsField() {
				e.touch(keyOf(all.fset, v))
			}
		}
		if x, ok := n.(ast.Expr); ok && wholeUse(info, x, parent) {
			all.touchWhole(info.TypeOf(x), e)
		}
		return true
	})
}

func (all *effects) touchSelection(info *types.Info, n *ast.SelectorExpr, s *types.Selection, e *effect) {
	t := deref(info.TypeOf(n.X))
	for _, i := range s.Index() {
		st, ok := t.Underlying().(*types.Struct)
		if !ok {
			return
		}
		f := st.Field(i)
		e.touch(keyOf(all.fset, f))
		t = deref(f.Type())
	}
}

// touchWhole touches the fields of a struct that is copied, compared or assigned
// as a whole.
func (all *effects) touchWhole(t types.Type, e *effect) {
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for f := range u.Fields() {
			e.touch(keyOf(all.fset, f))
			all.touchWhole(f.Type(), e)
		}
	case *types.Array:
		all.touchWhole(u.Elem(), e)
	case *types.Tuple:
		for v := range u.Variables() {
			all.touchWhole(v.Type(), e)
		}
	}
}

// wholeUse reports whether an expression is the value of a struct or an array that
// is used as such, and not only the way to a part of it or its address.
func wholeUse(info *types.Info, x ast.Expr, parent ast.Node) bool {
	tv, ok := info.Types[x]
	if !ok || !tv.IsValue() {
		if id, isIdent := x.(*ast.Ident); !isIdent || info.ObjectOf(id) == nil {
			return false
		} else if _, isVar := info.ObjectOf(id).(*types.Var); !isVar {
			return false
		}
	}
	t := info.TypeOf(x)
	if t == nil {
		return false
	}
	switch t.Underlying().(type) {
	case *types.Struct, *types.Array:
	default:
		return false
	}
	switch p := parent.(type) {
	case *ast.ParenExpr:
		return false // asked for the parenthesis
	case *ast.SelectorExpr:
		// A method that gets a copy of its receiver uses it as a whole.
		s := info.Selections[p]
		if s == nil || s.Kind() != types.MethodVal {
			return false
		}
		r := s.Obj().(*types.Func).Signature().Recv()
		return r != nil && !isPointer(r.Type())
	case *ast.UnaryExpr:
		if p.Op == token.AND {
			return false
		}
	case *ast.IndexExpr:
		if p.X == x {
			return false
		}
	case *ast.KeyValueExpr:
		if id, ok := x.(*ast.Ident); ok && p.Key == x {
			if v, ok := info.ObjectOf(id).(*types.Var); ok && v.IsField() {
				return false
			}
		}
	}
	return true
}

// coreOf returns the type that a range statement goes over.
func coreOf(t types.Type) types.Type {
	if t == nil {
		return nil
	}
	if _, ok := types.Unalias(t).(*types.TypeParam); ok {
		return nil
	}
	return t.Underlying()
}

// call adds the effect of a call.
func (all *effects) call(info *types.Info, c *ast.CallExpr, e *effect, block func(string)) {
	fun := ast.Unparen(c.Fun)
	if tv := info.Types[fun]; tv.IsType() {
		if isUnsafe(tv.Type) {
			block("uses unsafe")
		}
		return
	}
	switch b := builtinOf(info, fun); b {
	case "":
	case "close", "recover", "print", "println":
		block("calls " + b)
		return
	case "panic":
		block("panics")
		return
	case "Slice", "SliceData", "String", "StringData", "Add":
		block("uses unsafe")
		return
	default:
		return
	}
	f := calleeOf(info, fun)
	switch {
	case f == nil:
		block("calls a function value")
	case isAcquire(f):
		e.acquires = true
	case isRelease(f):
		block("releases a lock")
	case f.Signature().Recv() != nil && types.IsInterface(f.Signature().Recv().Type()):
		block("calls a method of an interface, " + f.Name())
	case harmless(info, f, c):
	case f.Pkg() != nil:
		e.calls = append(e.calls, call{f, c})
	default:
		block("calls " + f.Name()) // error.Error
	}
}

// builtinOf returns the name of the built-in function that an expression denotes.
func builtinOf(info *types.Info, e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		if b, ok := info.Uses[e].(*types.Builtin); ok {
			return b.Name()
		}
	case *ast.SelectorExpr:
		if b, ok := info.Uses[e.Sel].(*types.Builtin); ok {
			return b.Name()
		}
	}
	return ""
}

// calleeOf returns the function that is called, nil if it is not known.
func calleeOf(info *types.Info, e ast.Expr) *types.Func {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		f, _ := info.Uses[e].(*types.Func)
		return f
	case *ast.SelectorExpr:
		if s := info.Selections[e]; s != nil {
			if s.Kind() != types.MethodVal {
				return nil
			}
			f, _ := s.Obj().(*types.Func)
			return f
		}
		f, _ := info.Uses[e.Sel].(*types.Func)
		return f
	case *ast.IndexExpr:
		return calleeOf(info, e.X)
	case *ast.IndexListExpr:
		return calleeOf(info, e.X)
	}
	return nil
}

func isLockMethod(f *types.Func, names ...string) bool {
	r := f.Signature().Recv()
	return r != nil && isSync(deref(r.Type()), "Mutex", "RWMutex") && slices.Contains(names, f.Name())
}

func isAcquire(f *types.Func) bool { return isLockMethod(f, "Lock", "RLock", "TryLock", "TryRLock") }
func isRelease(f *types.Func) bool { return isLockMethod(f, "Unlock", "RUnlock") }

// quiet are packages of the standard library whose functions use no variables but
// what they are given, and tell other goroutines nothing. Those that are given a
// function or an interface can run any code; they are not harmless.
var quiet = []string{
	"bytes", "cmp", "encoding/binary", "encoding/hex", "errors", "maps", "math", "math/bits", "path", "path/filepath",
	"slices", "sort", "strconv", "strings", "time", "unicode", "unicode/utf16", "unicode/utf8",
}

// printing are functions of package fmt that run no other code as long as what is
// printed has no methods.
var printing = []string{"Sprint", "Sprintf", "Sprintln", "Print", "Printf", "Println", "Errorf"}

// harmless reports whether a call of a function from the standard library has no
// effect on copies.
func harmless(info *types.Info, f *types.Func, c *ast.CallExpr) bool {
	if f.Pkg() == nil {
		return false
	}
	if f.Pkg().Path() == "fmt" && slices.Contains(printing, f.Name()) {
		for _, a := range c.Args {
			if t, ok := types.Unalias(info.TypeOf(a)).(*types.Basic); !ok || t.Kind() == types.UnsafePointer {
				return false
			}
		}
		return !c.Ellipsis.IsValid()
	}
	if !slices.Contains(quiet, f.Pkg().Path()) || startsTimer(f) {
		return false
	}
	s, ok := info.TypeOf(c.Fun).(*types.Signature)
	if !ok {
		return false
	}
	for v := range s.Params().Variables() {
		t := v.Type()
		if u, ok := t.Underlying().(*types.Slice); ok {
			t = u.Elem()
		}
		if !inert(t, 0) {
			return false
		}
	}
	return true
}

// startsTimer reports whether a function has to do with timers: what a timer does
// when it fires happens after what was done before it was set.
func startsTimer(f *types.Func) bool {
	if f.Pkg().Path() != "time" {
		return false
	}
	if r := f.Signature().Recv(); r != nil {
		n, ok := types.Unalias(deref(r.Type())).(*types.Named)
		return !ok || n.Obj().Name() == "Timer" || n.Obj().Name() == "Ticker"
	}
	return slices.Contains([]string{"NewTimer", "NewTicker", "After", "AfterFunc", "Tick"}, f.Name())
}

// inert reports whether the standard library can do nothing with a value of the
// type but use it: it has no code of its own.
func inert(t types.Type, depth int) bool {
	if depth > 4 {
		return false
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Kind() != types.UnsafePointer
	case *types.Slice:
		return inert(u.Elem(), depth+1)
	case *types.Array:
		return inert(u.Elem(), depth+1)
	case *types.Map:
		return inert(u.Key(), depth+1) && inert(u.Elem(), depth+1)
	case *types.Pointer:
		n, ok := types.Unalias(u.Elem()).(*types.Named)
		return ok && n.Obj().Pkg() != nil && slices.Contains(quiet, n.Obj().Pkg().Path())
	case *types.Struct:
		n, ok := types.Unalias(t).(*types.Named)
		return ok && n.Obj().Pkg() != nil && slices.Contains(quiet, n.Obj().Pkg().Path())
	}
	return false
}
