package sli

// A Step is an instruction that a goroutine executed.
type Step struct {
	Point
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
type replay struct {
	prog    *Program
	trace   Trace
	ctxs    *contexts
	failure Failure

	edges    map[[2]*Block]bool // that were executed
	targets  map[*Instr]*Func   // where a dynamic call went last
	symbols  map[string]uint64
	names    map[uint64]string
	seen     map[uint64]string // names, by the address that the trace showed
	closures map[uint64]closureValue
	starts   map[uint32]closureStart
	made     map[uint32]map[*Func][][]Value // what each goroutine's closures captured, in the order they were made
	parents  map[uint32]uint32              // who started a goroutine; nil until somebody asks
	first    map[uint32]*Func
	bases    map[uint64]uint64 // invented address -> the address it turned out to be
	next     uint64
	ahead    map[uint32][]Event
	// local is memory that makes no events. It is one for all goroutines: a variable
	// that is never changed once another goroutine can reach it makes none either.
	local map[uint64]byte
	asked map[memoryKey][]Event
}

type closureValue struct {
	fn       *Func
	captured []Value
}

type closureStart struct {
	closureValue
	args []Value
}

// Invented addresses lie where no real ones do, each object in a piece of its own.
const (
	invented = 1 << 56
	piece    = 1 << 24
	// maxAhead bounds how far a goroutine is followed beyond the trace, idle how far
	// without an event.
	maxAhead = 20000
	maxIdle  = 50000
	// maxLocal bounds the memory that is kept beside the trace; what is beyond is
	// unknown.
	maxLocal = 1 << 22
)

func newReplay(p *Program, tr Trace, f Failure) *replay {
	return &replay{
		prog: p, trace: tr, failure: f, ctxs: newContexts(), edges: map[[2]*Block]bool{}, targets: map[*Instr]*Func{},
		symbols: map[string]uint64{}, names: map[uint64]string{}, seen: map[uint64]string{}, closures: map[uint64]closureValue{},
		starts: map[uint32]closureStart{}, made: map[uint32]map[*Func][][]Value{}, first: map[uint32]*Func{}, bases: map[uint64]uint64{}, next: invented, ahead: map[uint32][]Event{}, local: map[uint64]byte{}, asked: map[memoryKey][]Event{},
	}
}

func (r *replay) invent() uint64 {
	r.next += piece
	return r.next
}

// real translates an invented address into the one that the trace showed for it.
func (r *replay) real(addr uint64) uint64 {
	if addr < invented {
		return addr
	}
	base := addr &^ (piece - 1)
	if b, ok := r.bases[base]; ok {
		return b + (addr - base)
	}
	return addr
}

// learn notes that what the program calls addr is seen in the trace as seen.
func (r *replay) learn(addr Value, seen uint64) {
	if !addr.Known || addr.Uint() < invented {
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

func (r *replay) symbol(name string) uint64 {
	a, ok := r.symbols[name]
	if !ok {
		a = r.invent()
		r.symbols[name], r.names[a] = a, name
	}
	return a
}

// learnValue notes where invented addresses within a stored value turn out to be.
func (r *replay) learnValue(v Value, seen []byte) {
	if !v.Known || len(seen) < v.Size {
		return
	}
	s := Bytes(seen[:v.Size])
	for off := 0; off+8 <= v.Size; off += 8 {
		if p := v.Slice(off, 8); p.Uint() >= invented {
			r.learn(p, s.Slice(off, 8).Uint())
		}
	}
}

func (r *replay) text(addr uint64, n int) ([]byte, bool) {
	base, off := addr&^(piece-1), addr&(piece-1)
	if addr < invented {
		base, off = addr, 0
	}
	if d, ok := r.prog.Data[r.nameAt(base)]; ok {
		if off+uint64(n) <= uint64(len(d)) {
			return d[off : off+uint64(n)], true
		}
	}
	return nil, false
}
