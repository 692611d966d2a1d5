package exec

import "github.com/cofferdam-go/cofferdam/internal/sli/ir"

// A Step is an instruction that a goroutine executed.
type Step struct {
	ir.Point
	Pred  int    // which predecessor the instruction's block was entered from
	Frame *Frame // the call; its registers are as the goroutine left them last
	// Time is the number of the event that the goroutine made at the step or, if it
	// made none, that it made next: memory was as it is just before that event.
	Time  uint64
	Event bool   // the step made the event
	Addr  uint64 // of a load or store, 0 if not known
	// Ahead says that the step lies beyond the end of the trace.
	Ahead bool
}

// A replay follows a trace through the program: it executes each goroutine's
// instructions, with the values of loads from the trace. A trace does not have every
// instruction nor every value. What it lacks is unknown; a branch on something
// unknown goes where the goroutine's next event can come from; and where the
// program and the trace part for good, the goroutine is put down at its next event
// with those registers unknown that it may have changed meanwhile. The same is done for
// one that computes for long without making an event.
//
// Where the trace ends before a goroutine does (the program crashed while the
// goroutine was in the middle of something) the goroutine is followed on alone, as
// far as that can be told. That is how an update that was never finished is seen to
// have an end. The paper's programs repeat themselves until they crash and show
// that end in an earlier round.
type Replay struct {
	Program  *ir.Program
	Trace    Trace
	Contexts *ir.Contexts
	Failure  Failure

	edges    map[[2]*ir.Block]bool  // that were executed
	targets  map[*ir.Instr]*ir.Func // where a dynamic call went last
	symbols  map[string]uint64
	names    map[uint64]string
	seen     map[uint64]string // names, by the address that the trace showed
	closures map[uint64]Closure
	starts   map[uint32]closureStart
	made     map[uint32]map[*ir.Func][][]ir.Value // what each goroutine's closures captured, in the order they were made
	parents  map[uint32]uint32                    // who started a goroutine; nil until somebody asks
	first    map[uint32]*ir.Func
	bases    map[uint64]uint64 // invented address -> the address it turned out to be
	next     uint64
	ahead    map[uint32][]Event
	// local is memory that makes no events. It is one for all goroutines: a variable
	// that is never changed once another goroutine can reach it makes none either.
	local map[uint64]byte
	asked map[memoryKey][]Event
}

type Closure struct {
	Func     *ir.Func
	Captured []ir.Value
}

type closureStart struct {
	Closure
	args []ir.Value
}

const (
	// piece is how much room an invented object has.
	piece = 1 << 24
	// maxAhead bounds how far a goroutine is followed beyond the trace, idle how far
	// without an event.
	maxAhead = 20000
	maxIdle  = 50000
	// maxLocal bounds the memory that is kept beside the trace; what is beyond is
	// unknown.
	maxLocal = 1 << 22
	// maxAccesses bounds the accesses that LastAccesses returns.
	maxAccesses = 8000
)

func NewReplay(p *ir.Program, tr Trace, f Failure) *Replay {
	return &Replay{
		Program: p, Trace: tr, Failure: f, Contexts: ir.NewContexts(), edges: map[[2]*ir.Block]bool{}, targets: map[*ir.Instr]*ir.Func{},
		symbols: map[string]uint64{}, names: map[uint64]string{}, seen: map[uint64]string{}, closures: map[uint64]Closure{},
		starts: map[uint32]closureStart{}, made: map[uint32]map[*ir.Func][][]ir.Value{}, first: map[uint32]*ir.Func{}, bases: map[uint64]uint64{}, next: ir.FirstInvented, ahead: map[uint32][]Event{}, local: map[uint64]byte{}, asked: map[memoryKey][]Event{},
	}
}

func (r *Replay) invent() uint64 {
	r.next += piece
	return r.next
}

// real translates an invented address into the one that the trace showed for it.
func (r *Replay) Real(addr uint64) uint64 {
	if addr < ir.FirstInvented {
		return addr
	}
	base := addr &^ (piece - 1)
	if b, ok := r.bases[base]; ok {
		return b + (addr - base)
	}
	return addr
}

// learn notes that what the program calls addr is seen in the trace as seen.
func (r *Replay) learn(addr ir.Value, seen uint64) {
	if !addr.Known || addr.Uint() < ir.FirstInvented {
		return
	}
	base := addr.Uint() &^ (piece - 1)
	if _, ok := r.bases[base]; !ok {
		r.bases[base] = seen - (addr.Uint() - base)
		if c, ok := r.closures[base]; ok {
			r.closures[r.bases[base]] = c
		}
		if n, ok := r.names[base]; ok {
			r.seen[r.bases[base]] = n
		}
	}
}

func (r *Replay) symbolAddr(name string) uint64 {
	a, ok := r.symbols[name]
	if !ok {
		a = r.invent()
		r.symbols[name], r.names[a] = a, name
	}
	return a
}

// learnValue notes where invented addresses within a stored value turn out to be.
func (r *Replay) learnValue(v ir.Value, seen []byte) {
	if !v.Known || len(seen) < v.Size {
		return
	}
	s := ir.Bytes(seen[:v.Size])
	for off := 0; off+8 <= v.Size; off += 8 {
		if p := v.Slice(off, 8); p.Uint() >= ir.FirstInvented {
			r.learn(p, s.Slice(off, 8).Uint())
		}
	}
}

// Text is the contents of a symbol that never changes, or of a part of it.
func (r *Replay) Text(addr uint64, n int) ([]byte, bool) {
	base, off := addr&^(piece-1), addr&(piece-1)
	if addr < ir.FirstInvented {
		base, off = addr, 0
	}
	if d, ok := r.Program.Data[r.nameAt(base)]; ok {
		if off+uint64(n) <= uint64(len(d)) {
			return d[off : off+uint64(n)], true
		}
	}
	return nil, false
}

// accesses are the last accesses to some memory. Machines are much alike, and ask for
// the same memory again and again.
func (r *Replay) LastAccesses(addr uint64, size int) []Event {
	k := memoryKey{addr, size}
	all, ok := r.asked[k]
	if ok {
		return all
	}
	r.Trace.Accesses(addr, uint32(size), 1, r.Trace.Last(), func(e *Event) bool {
		all = append(all, *e)
		if len(all) > maxAccesses {
			all = append(all[:0], all[maxAccesses/2:]...)
		}
		return true
	})
	if len(r.asked) > 256 {
		clear(r.asked)
	}
	r.asked[k] = all
	return all
}

type memoryKey struct {
	addr uint64
	size int
}

// Symbol is the address of what the program calls name.
func (r *Replay) Symbol(name string) ir.Value { return ir.Word(8, r.Real(r.symbolAddr(name))) }

// Closure is the address of a closure. One that captures nothing is the function's own.
func (r *Replay) Closure(name string, captured []ir.Value) ir.Value {
	fn := r.Program.Func(name)
	if len(captured) == 0 {
		a := r.symbolAddr(ir.FuncSymbol(name))
		r.closures[a] = Closure{Func: fn}
		return ir.Word(8, a)
	}
	a := r.invent()
	r.closures[a] = Closure{fn, captured}
	return ir.Word(8, a)
}

// Captured is what a closure captured.
func (r *Replay) Captured(c ir.Value) []ir.Value { return r.closures[c.Uint()].Captured }

// nameAt is the symbol at an address, invented or real.
func (r *Replay) nameAt(addr uint64) string {
	if n, ok := r.names[addr]; ok {
		return n
	}
	return r.seen[addr]
}

// Ahead are the stores of a goroutine beyond the end of the trace.
func (r *Replay) Ahead(g uint32) []Event { return r.ahead[g] }

// Executed reports whether a goroutine went from one block to the other.
func (r *Replay) Executed(from, to *ir.Block) bool { return r.edges[[2]*ir.Block{from, to}] }

// LastTarget is the function that a dynamic call reached last, nil if it was not made.
func (r *Replay) LastTarget(call *ir.Instr) *ir.Func { return r.targets[call] }
