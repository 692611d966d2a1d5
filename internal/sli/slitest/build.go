package slitest

import "github.com/cofferdam-go/cofferdam/internal/sli/ir"

// A Builder makes a program by hand. Every function and every instruction that a run
// would record gets a site of its own.
//
//	b := slitest.NewBuilder()
//	f := b.Func("reader")
//	first := f.Load("count", 8)
//	second := f.Load("count", 8)
//	f.Test(ir.Panic, ir.Binary(ir.OpNe, ir.Unsigned, first, second))
//	f.Return()
//	program := b.Program()
type Builder struct {
	program *ir.Program
	sites   uint32
}

// NewBuilder begins a program.
func NewBuilder() *Builder {
	return &Builder{program: &ir.Program{Constants: map[string][]byte{}, Methods: map[string]map[string]*ir.Func{}}}
}

// Program is the finished program. A program that breaks the rules is the test's own
// mistake.
func (b *Builder) Program() *ir.Program {
	b.program.Finish()
	if err := b.program.Check(); err != nil {
		panic(err)
	}
	return b.program
}

// Constant gives a symbol contents that never change.
func (b *Builder) Constant(symbol, text string) { b.program.Constants[symbol] = []byte(text) }

// Method makes fn the method that a dynamic type, by its symbol, has under a name.
func (b *Builder) Method(dynamicType, name string, fn *FuncBuilder) {
	if b.program.Methods[dynamicType] == nil {
		b.program.Methods[dynamicType] = map[string]*ir.Func{}
	}
	b.program.Methods[dynamicType][name] = fn.Func
}

func (b *Builder) site() uint32 {
	b.sites++
	return b.sites
}

// A FuncBuilder adds instructions to the current block of a function.
type FuncBuilder struct {
	Func    *ir.Func
	builder *Builder
	block   *ir.Block
}

// Func begins a function with parameters of the given sizes.
func (b *Builder) Func(name string, params ...int) *FuncBuilder {
	f := &FuncBuilder{Func: &ir.Func{Name: name, Site: b.site()}, builder: b}
	for _, size := range params {
		f.Func.Params = append(f.Func.Params, f.Func.NewReg("", size))
	}
	b.program.Funcs = append(b.program.Funcs, f.Func)
	f.block = f.Func.NewBlock()
	return f
}

// Param is the value of a parameter.
func (f *FuncBuilder) Param(i int) *ir.Expr {
	r := f.Func.Params[i]
	return ir.Register(r, f.Func.RegSizes[r])
}

// Captures adds a captured value and gives it.
func (f *FuncBuilder) Captures(size int) *ir.Expr {
	r := f.Func.NewReg("", size)
	f.Func.Captured = append(f.Func.Captured, r)
	return ir.Register(r, size)
}

// Add appends an instruction of any kind.
func (f *FuncBuilder) Add(in *ir.Instr) *ir.Instr { return f.block.Add(in) }

// recorded appends an instruction that a run would record.
func (f *FuncBuilder) recorded(in *ir.Instr) *ir.Instr {
	in.Sites = []uint32{f.builder.site()}
	return f.Add(in)
}

// result gives an instruction a register of the size, and the register's value.
func (f *FuncBuilder) result(in *ir.Instr, size int) *ir.Expr {
	in.Size = size
	if size == 0 {
		return nil
	}
	in.Dst = f.Func.NewReg("", size)
	return ir.Register(in.Dst, size)
}

// Load loads from a variable that the program names.
func (f *FuncBuilder) Load(variable string, size int) *ir.Expr {
	return f.LoadAt(ir.Symbol(variable), size, variable)
}

// LoadAt loads from an address; data is what a person calls it.
func (f *FuncBuilder) LoadAt(addr *ir.Expr, size int, data string) *ir.Expr {
	in := &ir.Instr{Op: ir.Load, Operand: addr, Data: data}
	x := f.result(in, size)
	f.recorded(in)
	return x
}

// Store stores to a variable that the program names.
func (f *FuncBuilder) Store(variable string, value *ir.Expr) *ir.Instr {
	return f.StoreAt(ir.Symbol(variable), value, variable)
}

// StoreAt stores to an address; data is what a person calls it.
func (f *FuncBuilder) StoreAt(addr, value *ir.Expr, data string) *ir.Instr {
	return f.recorded(&ir.Instr{Op: ir.Store, Operand: addr, Value: value, Size: value.Size, Data: data})
}

// Alloc gives the address of new memory.
func (f *FuncBuilder) Alloc(size int) *ir.Expr {
	in := &ir.Instr{Op: ir.Alloc, Operand: ir.Number(8, uint64(size))}
	x := f.result(in, 8)
	f.recorded(in)
	return x
}

// Assign gives the value a register of its own.
func (f *FuncBuilder) Assign(value *ir.Expr) *ir.Expr {
	in := &ir.Instr{Op: ir.Assign, Operand: value}
	x := f.result(in, value.Size)
	f.Add(in)
	return x
}

// Test crashes if the condition holds.
func (f *FuncBuilder) Test(cause ir.Cause, condition *ir.Expr) *ir.Instr {
	return f.Add(&ir.Instr{Op: ir.Test, Cause: cause, Operand: condition})
}

// Call calls a function; nil if it returns nothing.
func (f *FuncBuilder) Call(callee *FuncBuilder, args ...*ir.Expr) *ir.Expr {
	in := &ir.Instr{Op: ir.Call, Callee: callee.Func, Args: args}
	x := f.result(in, callee.Func.ResultSize)
	f.Add(in)
	return x
}

// CallValue calls what the closure target is.
func (f *FuncBuilder) CallValue(target *ir.Expr, size int, args ...*ir.Expr) *ir.Expr {
	in := &ir.Instr{Op: ir.Call, Target: target, Args: args}
	x := f.result(in, size)
	f.Add(in)
	return x
}

// CallExtern calls something outside the program.
func (f *FuncBuilder) CallExtern(name string, size int, args ...*ir.Expr) *ir.Expr {
	in := &ir.Instr{Op: ir.Call, Extern: name, Args: args}
	x := f.result(in, size)
	f.recorded(in)
	return x
}

// Spawn starts a goroutine.
func (f *FuncBuilder) Spawn(callee *FuncBuilder, args ...*ir.Expr) {
	f.recorded(&ir.Instr{Op: ir.Spawn, Callee: callee.Func, Args: args})
}

// Defer calls a function at the next RunDefers.
func (f *FuncBuilder) Defer(callee *FuncBuilder, args ...*ir.Expr) {
	f.Add(&ir.Instr{Op: ir.Defer, Callee: callee.Func, Args: args})
}

// Sync makes an operation of synchronisation; nil if it gives nothing.
func (f *FuncBuilder) Sync(kind ir.SyncKind, size int, args ...*ir.Expr) *ir.Expr {
	in := &ir.Instr{Op: ir.Sync, Sync: kind, Args: args}
	x := f.result(in, size)
	f.recorded(in)
	return x
}

// Update changes memory in one step, and gives what was there.
func (f *FuncBuilder) Update(addr *ir.Expr, size int, change func(old *ir.Expr) *ir.Expr) *ir.Expr {
	in := &ir.Instr{Op: ir.Update, Atomic: true, Operand: addr}
	old := f.result(in, size)
	in.Value = change(old)
	f.recorded(in)
	return old
}

// NewBlock makes a block, which is not entered yet.
func (f *FuncBuilder) NewBlock() *ir.Block { return f.Func.NewBlock() }

// Enter goes on in a block.
func (f *FuncBuilder) Enter(block *ir.Block) { f.block = block }

// Block is where instructions are added.
func (f *FuncBuilder) Block() *ir.Block { return f.block }

// Jump ends the block and goes on in another.
func (f *FuncBuilder) Jump(to *ir.Block) {
	f.Add(&ir.Instr{Op: ir.Jump})
	f.block.LinkTo(to)
	f.block = to
}

// Branch ends the block; yes and no come next.
func (f *FuncBuilder) Branch(condition *ir.Expr, yes, no *ir.Block) {
	f.Add(&ir.Instr{Op: ir.Branch, Operand: condition})
	f.block.LinkTo(yes)
	f.block.LinkTo(no)
}

// Phi gives the value that belongs to the way by which the block was entered.
func (f *FuncBuilder) Phi(values ...*ir.Expr) *ir.Expr {
	in := &ir.Instr{Op: ir.Phi, Args: values}
	x := f.result(in, values[0].Size)
	f.Add(in)
	return x
}

// Return ends the function, with a value or without.
func (f *FuncBuilder) Return(value ...*ir.Expr) {
	in := &ir.Instr{Op: ir.Return}
	if len(value) > 0 {
		in.Operand = value[0]
		f.Func.ResultSize = value[0].Size
	}
	f.Add(in)
}
