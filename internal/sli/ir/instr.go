package ir

import "fmt"

// A Program is a set of functions.
type Program struct {
	Funcs []*Func
	// Data are the contents of symbols that never change, such as texts.
	Constants map[string][]byte
	// Methods finds the function behind a method of a dynamic type: by the symbol of
	// the type, then the method's name.
	Methods map[string]map[string]*Func

	byName  map[string]*Func
	entered map[uint32]*Func
	bySite  map[uint32][]*Instr
	byCode  map[uint64]*Func
}

// A Func is a function. Block 0 is where it begins.
type Func struct {
	Name string
	// Site is the site of the event that says that the function was entered; 0 if
	// entering it makes no event.
	Site       uint32
	Params     []Reg
	Captured   []Reg // captured values
	RegSizes   []int // of each register
	RegNames   []string
	ResultSize int // size of what it returns
	Blocks     []*Block
	Origin     int
	// Code is the address of the function's code, 0 if the program has it nowhere that
	// values could tell.
	Code uint64
	// Test says that the function checks the program and is no part of it. A section
	// there is not what a person would call a fix.
	TestCode bool
}

// A Block is a list of instructions of which the last alone leaves it.
type Block struct {
	Func   *Func
	Index  int
	Instrs []*Instr
	Preds  []*Block
	Succs  []*Block
}

// An Op is what an instruction does.
type Op uint8

const (
	opInvalid Op = iota
	Phi          // Dst = Args[i], coming from Preds[i]; first in their block
	Assign       // Dst = X
	Load         // Dst = Size bytes at X, or the element Key of the map X
	Store        // memory at X = Val, or the element Key of the map X; no Val: the element is removed
	Update       // Dst = Size bytes at X, which become Val, in one step; Val may use Dst
	Alloc        // Dst = address of X bytes, all zero
	Test         // crash if X, for the reason Why
	Call         // Dst = Callee(Args...)
	Spawn        // go Callee(Args...)
	Defer        // Callee(Args...) at the next RunDefers of this call, or of one of DeferIn
	RunDefers
	Sync   // Dst = the operation Sync on Args
	Jump   // to Succs[0]
	Branch // to Succs[0] if X, else Succs[1]
	Return // X
	Stop   // the goroutine ends here
)

var opNames = [...]string{
	Phi: "phi", Assign: "assign", Load: "load", Store: "store", Update: "update", Alloc: "alloc", Test: "test", Call: "call", Spawn: "spawn",
	Defer: "defer", RunDefers: "rundefers", Sync: "sync", Jump: "jump", Branch: "branch", Return: "return", Stop: "stop",
}

func (o Op) String() string {
	if int(o) < len(opNames) && opNames[o] != "" {
		return opNames[o]
	}
	return fmt.Sprintf("Op(%d)", uint8(o))
}

// A Cause is the way in which a test fails.
type Cause uint8

const (
	NilDereference Cause = iota + 1 // nil dereference
	OutOfRange                      // index or slice bounds
	WrongType                       // type assertion
	DivideByZero                    // integer division
	Panic                           // an explicit one
	Assertion                       // a test said so
	MapConflict                     // a map was used by two at once
	Race                            // two accesses without order, one of them a store
	BadAccess                       // memory that is not there, or not there any more
	Abort                           // the program ended itself
)

var causeNames = [...]string{
	NilDereference: "nil dereference", OutOfRange: "index out of range", WrongType: "failed type assertion", DivideByZero: "division by zero",
	Panic: "panic", Assertion: "failed assertion", MapConflict: "concurrent map use", Race: "data race", BadAccess: "use of memory that is not there", Abort: "abort",
}

func (w Cause) String() string {
	if int(w) < len(causeNames) && causeNames[w] != "" {
		return causeNames[w]
	}
	return fmt.Sprintf("failure %d", uint8(w))
}

// An Instr is an instruction.
type Instr struct {
	Op      Op
	ID      int // unique in the program
	Block   *Block
	Dst     Reg
	Size    int // Load, Store: how many bytes
	Operand *Expr
	Value   *Expr
	Key     *Expr
	Args    []*Expr
	// Callee: the function, if it is known. Else Fn is the value that is called, or
	// the dynamic type of which Method is.
	Callee *Func
	Target *Expr
	Method string
	Cause  Cause
	// Sync is what a Sync instruction does, or a Defer of such an operation.
	Sync SyncKind
	// Extern is the front end's name of what a call reaches that has no function here.
	Extern string
	// DeferIn is the function that a Defer is for, if that is another one: the innermost call of
	// it that is in progress makes the deferred call.
	DeferIn *Func
	// Catches says that a call ends the unwinding that its function was deferred for.
	Catches bool
	Atomic  bool
	// Private says that no other goroutine can reach the memory.
	Private bool
	// Sites are the sites of the events that the instruction makes.
	Sites  []uint32
	Origin int // where it is in the source: a number that the front end understands
	// Data says in the program's terms what is loaded or stored, for people and for
	// the choice of a lock.
	Data string
}

// Name is short and unique in the function.
func (in *Instr) Name() string {
	return fmt.Sprintf("b%d.%d", in.Block.Index, in.Index())
}

func (in *Instr) Index() int {
	for i, x := range in.Block.Instrs {
		if x == in {
			return i
		}
	}
	return -1
}

func (f *Func) regName(r Reg) string {
	if int(r) < len(f.RegNames) {
		return f.RegNames[r]
	}
	return ""
}

// NewReg adds a register.
func (f *Func) NewReg(name string, size int) Reg {
	if len(f.RegSizes) == 0 {
		f.RegSizes, f.RegNames = []int{0}, []string{""}
	}
	f.RegSizes = append(f.RegSizes, size)
	f.RegNames = append(f.RegNames, name)
	return Reg(len(f.RegSizes) - 1)
}

// NewBlock adds a block.
func (f *Func) NewBlock() *Block {
	block := &Block{Func: f, Index: len(f.Blocks)}
	f.Blocks = append(f.Blocks, block)
	return block
}

// Add appends in to the block.
func (b *Block) Add(in *Instr) *Instr {
	in.Block = b
	b.Instrs = append(b.Instrs, in)
	return in
}

// LinkTo makes another block a successor.
func (b *Block) LinkTo(s *Block) {
	b.Succs = append(b.Succs, s)
	s.Preds = append(s.Preds, b)
}

// Finish numbers the instructions and builds the program's indexes. It must be
// called once, when all functions are there.
func (p *Program) Finish() {
	p.byName, p.entered, p.bySite = map[string]*Func{}, map[uint32]*Func{}, map[uint32][]*Instr{}
	p.byCode = map[uint64]*Func{}
	id := 0
	for _, fn := range p.Funcs {
		p.byName[fn.Name] = fn
		if fn.Code != 0 {
			p.byCode[fn.Code] = fn
		}
		if fn.Site != 0 {
			p.entered[fn.Site] = fn
		}
		for _, block := range fn.Blocks {
			for _, in := range block.Instrs {
				id++
				in.ID = id
				for _, s := range in.Sites {
					p.bySite[s] = append(p.bySite[s], in)
				}
			}
		}
	}
}

// Func finds a function by name.
func (p *Program) Func(name string) *Func { return p.byName[name] }

// FuncWithCode finds a function by the address of its code.
func (p *Program) FuncWithCode(addr uint64) *Func { return p.byCode[addr] }

// InstrsAt returns the instructions whose events have the site.
func (p *Program) InstrsAt(site uint32) []*Instr { return p.bySite[site] }

// IsAccess reports whether in touches memory that others may touch.
func (in *Instr) IsAccess() bool { return (in.Op == Load || in.Writes()) && !in.Private }

// Writes reports whether in changes memory.
func (in *Instr) Writes() bool { return in.Op == Store || in.Op == Update }

// TriesLock reports whether in gives whether it took a lock.
func (in *Instr) TriesLock() bool {
	return in.Op == Sync && (in.Sync == SyncTryLock || in.Sync == SyncTryReadLock)
}

// EndsBlock reports whether in is the last of its block.
func (in *Instr) EndsBlock() bool {
	switch in.Op {
	case Jump, Branch, Return, Stop:
		return true
	}
	return false
}

// FuncAt returns the function whose entering makes the event with the site.
func (p *Program) FuncAt(site uint32) *Func { return p.entered[site] }
