package judge

import (
	"fmt"
	"go/constant"
	"go/types"
	"maps"
	"slices"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/ssa/ssautil"
	"golang.org/x/tools/go/types/typeutil"
)

// interpreted are the packages of the standard library whose source is run like the
// program's own.
var interpreted = []string{
	"cmp", "container/heap", "container/list", "container/ring", "context", "errors", "iter", "maps", "math/bits", "slices", "sort", "sync",
}

const loadMode = packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedTypes | packages.NeedTypesSizes |
	packages.NeedSyntax | packages.NeedTypesInfo | packages.NeedExportFile | packages.NeedModule

// A Program is a loaded package whose functions can be explored.
type Program struct {
	pkg *ssa.Package
	m   *machine
}

// Load loads the package in a directory, which must belong to a module. Overlay has other
// texts for some of its files.
func Load(dir string, overlay map[string][]byte) (*Program, error) {
	all, err := packages.Load(&packages.Config{Mode: loadMode, Dir: dir, Overlay: overlay}, append([]string{"."}, interpreted...)...)
	if err != nil {
		return nil, fmt.Errorf("loading %s: %w", dir, err)
	}
	for _, p := range all {
		for _, e := range p.Errors {
			return nil, fmt.Errorf("loading %s: %w", dir, e)
		}
	}
	prog, built := ssautil.Packages(all, ssa.InstantiateGenerics)
	prog.Build()
	for i, p := range all {
		if !isInterpreted(p.PkgPath) {
			return New(prog, built[i], p.TypesSizes)
		}
	}
	return nil, fmt.Errorf("no package in %s", dir)
}

func isInterpreted(path string) bool { return slices.Contains(interpreted, path) }

// New prepares a package of a program that is built, and runs what initialises it.
func New(prog *ssa.Program, pkg *ssa.Package, sizes types.Sizes, others ...*Program) (p *Program, err error) {
	m := &machine{
		prog: prog, pkg: pkg, sizes: sizes, base: make([]value, 1),
		globals: map[*ssa.Global]int{}, funcs: map[*ssa.Function]*funcInfo{},
		funcNumbers: map[*ssa.Function]int{}, typeNumbers: new(typeutil.Map),
		show: pkg.Pkg.Path() + ".show", externs: knownByName(), names: map[*ssa.Function]string{},
	}
	for _, q := range prog.AllPackages() {
		other := slices.ContainsFunc(others, func(p *Program) bool { return p.pkg == q })
		if q != pkg && !other && !isInterpreted(q.Pkg.Path()) {
			continue
		}
		for _, member := range q.Members {
			if g, ok := member.(*ssa.Global); ok {
				m.globals[g] = len(m.base)
				m.base = append(m.base, zero(deref(g.Type())))
			}
		}
	}
	defer func() {
		switch p := recover().(type) {
		case nil:
		case unsupported:
			err = fmt.Errorf("initialising %s: %s", pkg.Pkg.Path(), string(p))
		default:
			panic(p)
		}
	}()
	s := &state{m: m}
	t := &thread{id: rootID}
	m.call(t, pkg.Func("init"), nil, nil, first)
	s.threads = []*thread{t}
	for m.runLocal(s, t); len(t.frames) > 0; m.runLocal(s, t) {
		if t.parked != running || !m.enabled(s, t) {
			return nil, fmt.Errorf("initialising %s: it waits, or panics", pkg.Pkg.Path())
		}
		m.protect(t, func() { m.operation(s, t, m.current(s, t), 0) })
	}
	if len(s.threads) > 1 {
		return nil, fmt.Errorf("initialising %s: it starts goroutines", pkg.Pkg.Path())
	}
	for o, v := range s.dirty {
		m.base[o] = v
	}
	m.base = append(m.base, s.heap...)
	return &Program{pkg: pkg, m: m}, nil
}

const rootID = "1"

// A machine is what all states of a program share.
type machine struct {
	prog    *ssa.Program
	pkg     *ssa.Package // the one that is judged
	sizes   types.Sizes
	base    []value // objects that are there before a run
	globals map[*ssa.Global]int
	funcs   map[*ssa.Function]*funcInfo
	show    string // the name of the program's function that renders outcomes
	externs map[string]extern
	names   map[*ssa.Function]string // see externName

	funcNumbers map[*ssa.Function]int
	typeNumbers *typeutil.Map
}

// initial is the number of the first object that a run makes.
func (m *machine) initial() int { return len(m.base) }

// A funcInfo is what is known of a function.
type funcInfo struct {
	registers int
	register  map[ssa.Value]int
	// alive are, for each block and each instruction in it, the registers that are needed
	// there or later.
	alive [][][]int
}

func (i *funcInfo) live(b *ssa.BasicBlock, pc int) []int {
	if pc < len(i.alive[b.Index]) {
		return i.alive[b.Index][pc]
	}
	return nil
}

func (m *machine) about(f *ssa.Function) *funcInfo {
	info := m.funcs[f]
	if info == nil {
		info = &funcInfo{register: map[ssa.Value]int{}}
		m.funcs[f] = info
		add := func(v ssa.Value) {
			info.register[v] = info.registers
			info.registers++
		}
		for _, p := range f.Params {
			add(p)
		}
		for _, v := range f.FreeVars {
			add(v)
		}
		for _, b := range f.Blocks {
			for _, in := range b.Instrs {
				if v, ok := in.(ssa.Value); ok {
					add(v)
				}
			}
		}
		info.liveness(f)
	}
	return info
}

// liveness fills alive, by the usual iteration backwards. A recovered panic can lead to the
// recover block from anywhere, so what is needed there is needed everywhere.
func (i *funcInfo) liveness(f *ssa.Function) {
	in := make([]map[int]bool, len(f.Blocks))
	for b := range in {
		in[b] = map[int]bool{}
	}
	i.alive = make([][][]int, len(f.Blocks))
	for changed := true; changed; {
		changed = false
		for k := len(f.Blocks) - 1; k >= 0; k-- {
			b := f.Blocks[k]
			now := map[int]bool{}
			for _, s := range b.Succs {
				for r := range in[s.Index] {
					now[r] = true
				}
				for _, instr := range s.Instrs {
					phi, ok := instr.(*ssa.Phi)
					if !ok {
						break
					}
					for e, p := range s.Preds {
						if p == b {
							i.use(now, phi.Edges[e])
						}
					}
				}
			}
			if f.Recover != nil && b != f.Recover {
				for r := range in[f.Recover.Index] {
					now[r] = true
				}
			}
			i.alive[k] = make([][]int, len(b.Instrs))
			for pc := len(b.Instrs) - 1; pc >= 0; pc-- {
				instr := b.Instrs[pc]
				if v, ok := instr.(ssa.Value); ok {
					delete(now, i.register[v])
				}
				if _, ok := instr.(*ssa.Phi); !ok {
					for _, op := range instr.Operands(nil) {
						i.use(now, *op)
					}
				}
				i.alive[k][pc] = slices.Sorted(maps.Keys(now))
			}
			if len(now) != len(in[k]) {
				in[k], changed = now, true
			}
		}
	}
}

func (i *funcInfo) use(set map[int]bool, v ssa.Value) {
	if r, ok := i.register[v]; ok && v != nil {
		set[r] = true
	}
}

// value evaluates an operand.
func (m *machine) value(f *frame, v ssa.Value) value {
	switch v := v.(type) {
	case *ssa.Const:
		return constantValue(v)
	case *ssa.Global:
		o, ok := m.globals[v]
		if !ok {
			panic(unsupported("the variable " + v.String()))
		}
		return address{object: o}
	case *ssa.Function:
		return &closure{fn: v}
	case *ssa.Builtin:
		return &closure{builtin: v}
	}
	return f.regs[m.about(f.fn).register[v]]
}

func (m *machine) values(f *frame, all []ssa.Value) []value {
	out := make([]value, len(all))
	for i, v := range all {
		out[i] = m.value(f, v)
	}
	return out
}

func constantValue(c *ssa.Const) value {
	if c.Value == nil {
		return zero(c.Type())
	}
	b, ok := c.Type().Underlying().(*types.Basic)
	if !ok {
		panic(unsupported("a constant of type " + c.Type().String()))
	}
	switch info := b.Info(); {
	case info&types.IsBoolean != 0:
		return constant.BoolVal(c.Value)
	case info&types.IsString != 0:
		if c.Value.Kind() == constant.Int { // string(65)
			return string(rune(c.Int64()))
		}
		return constant.StringVal(c.Value)
	case info&types.IsUnsigned != 0:
		return int64(c.Uint64())
	case info&types.IsInteger != 0:
		return c.Int64()
	case info&types.IsFloat != 0:
		if b.Kind() == types.Float32 {
			return float64(float32(c.Float64()))
		}
		return c.Float64()
	case info&types.IsComplex != 0:
		return c.Complex128()
	}
	panic(unsupported("a constant of type " + c.Type().String()))
}

func deref(t types.Type) types.Type {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		return p.Elem()
	}
	return t
}
