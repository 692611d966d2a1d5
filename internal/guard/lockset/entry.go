package lockset

import (
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/locks"
)

// An entry is what is known where a function is entered. A function is analysed once per
// entry that it is called with.
type entry struct {
	held      locks.Set
	fresh     []*locks.Place // roots of objects that nothing else can reach yet
	facts     []locks.Fact   // constant boolean arguments
	functions []functionArgument
	// beforeGoroutines: no other goroutine runs yet.
	beforeGoroutines bool
	// byOnce: a sync.Once runs the function, or one that calls it. What that accesses without a lock it
	// initialises, for what comes after it; what it takes a lock for is shared already, as where an object is closed once.
	byOnce bool
	// fromOutside: the caller is code that is not at hand.
	fromOutside bool
	// outsideParameters are parameters whose value such code passed to the program, and
	// the program to this function.
	outsideParameters []*locks.Place
	// unnamedLocks: the caller may hold locks that have no name here.
	unnamedLocks bool
}

// A functionArgument is a parameter that is known to hold one function.
type functionArgument struct {
	parameter ssa.Value
	target
}

// key tells entries apart.
func (e *entry) key() string {
	var b strings.Builder
	id := func(p *locks.Place) string { return strconv.Itoa(p.ID()) }
	for _, h := range e.held {
		b.WriteString(id(h.Lock))
		if h.Mode == locks.Write {
			b.WriteByte('w')
		}
		if h.Maybe {
			b.WriteByte('?')
		}
		b.WriteByte(' ')
	}
	for _, p := range e.fresh {
		b.WriteString("f" + id(p) + " ")
	}
	for _, p := range e.outsideParameters {
		b.WriteString("o" + id(p) + " ")
	}
	for _, f := range e.facts {
		b.WriteString(f.Value.(ssa.Value).Name() + f.Constant + strconv.FormatBool(f.Holds) + " ")
	}
	for _, f := range e.functions {
		b.WriteString(f.parameter.Name() + "=" + f.fn.String())
		for _, p := range f.pairs {
			b.WriteString(id(p.Callee) + ":" + id(p.Caller) + ",")
		}
	}
	for _, flag := range []bool{e.beforeGoroutines, e.byOnce, e.fromOutside, e.unnamedLocks} {
		b.WriteString(strconv.FormatBool(flag)[:1])
	}
	return b.String()
}

// programEntry says how a function is entered from outside the program's own calls, if it
// is: as main, as a test, or as a part of an importable package's API.
func (a *Analysis) programEntry(fn *ssa.Function) (entry, bool) {
	if fn.Parent() != nil || fn.Synthetic != "" && fn.Synthetic != "package initializer" || fn.Pkg == nil {
		return entry{}, false
	}
	test := strings.HasSuffix(a.position(fn.Pos()).Filename, "_test.go")
	isFunction := fn.Signature.Recv() == nil
	switch {
	case isFunction && (fn.Name() == "init" || strings.HasPrefix(fn.Name(), "init#") || fn.Name() == "main" && fn.Pkg.Pkg.Name() == "main"):
		return entry{beforeGoroutines: true}, true
	case test && isFunction && isTestName(fn.Name()):
		return entry{beforeGoroutines: true}, true
	case test || fn.Pkg.Pkg.Name() == "main" || isInternal(fn.Pkg.Pkg.Path()):
		return entry{}, false
	case !IsOfAPI(fn):
		return entry{}, false
	}
	return a.outsideEntry(fn), true
}

// outsideEntry is the entry of a function whose callers are not at hand. A function that
// says that its caller holds a lock is believed.
func (a *Analysis) outsideEntry(fn *ssa.Function) entry {
	e := entry{fromOutside: true}
	if fn.Parent() != nil {
		return e
	}
	if !token.IsExported(fn.Name()) && a.usedAsValue[Outermost(fn)] {
		e.unnamedLocks = true // it is only ever handed out, and its caller may hold anything
	}
	held, asks := a.expected(fn)
	e.unnamedLocks = e.unnamedLocks || asks
	for _, p := range held {
		e.held = e.held.With(locks.Held{Lock: p, Mode: locks.Write})
	}
	return e
}

func isTestName(name string) bool {
	for _, prefix := range []string{"Test", "Benchmark", "Example", "Fuzz"} {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			r, _ := utf8.DecodeRuneInString(rest)
			return rest == "" || !unicode.IsLower(r)
		}
	}
	return false
}

func isInternal(path string) bool { return slices.Contains(strings.Split(path, "/"), "internal") }

// IsOfAPI reports whether users of a package can call a function by its name.
func IsOfAPI(fn *ssa.Function) bool { return token.IsExported(fn.Name()) && hasExportedReceiver(fn) }

func hasExportedReceiver(fn *ssa.Function) bool {
	r := fn.Signature.Recv()
	if r == nil {
		return true
	}
	n, ok := types.Unalias(deref(r.Type())).(*types.Named)
	return !ok || n.Obj().Exported()
}

func deref(t types.Type) types.Type {
	if p, ok := types.Unalias(t).(*types.Pointer); ok {
		return p.Elem()
	}
	return t
}
