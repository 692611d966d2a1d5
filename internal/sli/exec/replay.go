package exec

import (
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
)

// A Step is an instruction that a goroutine executed.
type Step struct {
	ir.Point
	Pred  int    // which predecessor the instruction's block was entered from
	Frame *Frame // the call; its registers are as the goroutine left them last
	// Time is the number of the event that the goroutine made at the step or, if it
	// made none, that it made next: memory was as it is just before that event.
	Time      uint64
	MadeEvent bool   // the step made the event
	Addr      uint64 // of a load or store, 0 if not known
	// Others are the events that the step made besides, before the last: a call of
	// something outside the program makes as many as it likes.
	Others []uint64
	// BeyondTrace says that the run ended before the goroutine came to the step.
	BeyondTrace bool
}

// A Replay follows a trace through the program: it executes each goroutine's
// instructions, with the values of loads from the trace. A trace does not have every
// instruction nor every value. What it lacks is unknown; a branch on something
// unknown goes where the goroutine's next event can come from; and where the
// program and the trace part for good, the goroutine is put down at its next event
// with the registers unknown that may have changed meanwhile. The same is done for a
// goroutine that computes for long without making an event.
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

	executed     map[[2]*ir.Block]bool  // edges between blocks
	targets      map[*ir.Instr]*ir.Func // where a dynamic call went last
	symbols      map[string]uint64
	names        map[uint64]string
	seenNames    map[uint64]string // names, by the address that the trace showed
	closures     map[uint64]Closure
	spawned      map[uint32]goroutineStart
	madeClosures map[uint32]map[*ir.Func][][]ir.Value // what each goroutine's closures captured, in the order they were made
	parents      map[uint32]uint32                    // which goroutine started which; nil until it is needed
	firstCalls   map[uint32]*ir.Func
	realBases    map[uint64]uint64 // invented address -> the address it turned out to be
	lastInvented uint64
	beyondTrace  map[uint32][]Event
	unrecorded   *unrecordedMemory
	nearAccesses map[memoryRange][]Event
	histories    map[uint32]*history // of the goroutines that were followed
	// Interrupted, if it is set, is asked now and then; following ends when it returns an
	// error, which Err then is.
	Interrupted func() error
	err         error
}

// A Closure is a function with the values that it captured.
type Closure struct {
	Func     *ir.Func
	Captured []ir.Value
}

// A goroutineStart is what a goroutine began with.
type goroutineStart struct {
	Closure
	args []ir.Value
}

const (
	// inventedRoom is how much room an invented object has.
	inventedRoom = 1 << 24
	// A goroutine is followed only so far beyond the trace, and so far without an event
	// before it is put down at its next one.
	maxStepsBeyond       = 20000
	maxStepsWithoutEvent = 50000
	// maxAccesses bounds the accesses that NearAccesses returns.
	maxAccesses = 8000
	// stepsBetweenQuestions is how many steps are made between two questions whether to go on.
	stepsBetweenQuestions = 1 << 14
)

// NewReplay makes ready to follow a trace of the program. The failure decides tests whose
// condition is not known.
func NewReplay(program *ir.Program, tr Trace, failure Failure) *Replay {
	return &Replay{
		Program: program, Trace: tr, Failure: failure, Contexts: ir.NewContexts(), executed: map[[2]*ir.Block]bool{}, targets: map[*ir.Instr]*ir.Func{},
		symbols: map[string]uint64{}, names: map[uint64]string{}, seenNames: map[uint64]string{}, closures: map[uint64]Closure{},
		spawned: map[uint32]goroutineStart{}, madeClosures: map[uint32]map[*ir.Func][][]ir.Value{}, firstCalls: map[uint32]*ir.Func{},
		realBases: map[uint64]uint64{}, lastInvented: ir.FirstInvented, beyondTrace: map[uint32][]Event{},
		unrecorded: newUnrecordedMemory(), nearAccesses: map[memoryRange][]Event{}, histories: map[uint32]*history{},
	}
}

// invent gives an address that no program has, for an object whose address is not known.
func (r *Replay) invent() uint64 {
	r.lastInvented += inventedRoom
	return r.lastInvented
}

// Real translates an invented address into the one that the trace showed for it.
func (r *Replay) Real(addr uint64) uint64 {
	if addr < ir.FirstInvented {
		return addr
	}
	base := addr &^ (inventedRoom - 1)
	if b, ok := r.realBases[base]; ok {
		return b + (addr - base)
	}
	return addr
}

// learnAddress notes that what the program calls addr is seen in the trace as seen.
func (r *Replay) learnAddress(addr ir.Value, seen uint64) {
	if !addr.Known || addr.Uint() < ir.FirstInvented {
		return
	}
	base := addr.Uint() &^ (inventedRoom - 1)
	if _, ok := r.realBases[base]; !ok {
		r.realBases[base] = seen - (addr.Uint() - base)
		if c, ok := r.closures[base]; ok {
			r.closures[r.realBases[base]] = c
		}
		if n, ok := r.names[base]; ok {
			r.seenNames[r.realBases[base]] = n
		}
	}
}

// symbolAddr is the invented address of what the program calls name.
func (r *Replay) symbolAddr(name string) uint64 {
	a, ok := r.symbols[name]
	if !ok {
		a = r.invent()
		r.symbols[name], r.names[a] = a, name
	}
	return a
}

// learnValue notes where invented addresses within a stored value turn out to be.
func (r *Replay) learnValue(value ir.Value, seen []byte) {
	if !value.Known || len(seen) < value.Size {
		return
	}
	s := ir.Bytes(seen[:value.Size])
	for off := 0; off+8 <= value.Size; off += 8 {
		if p := value.Slice(off, 8); p.Uint() >= ir.FirstInvented {
			r.learnAddress(p, s.Slice(off, 8).Uint())
		}
	}
}

// Text is the contents of a symbol that never changes, or of a part of it.
func (r *Replay) Text(addr uint64, n int) ([]byte, bool) {
	base, off := addr&^(inventedRoom-1), addr&(inventedRoom-1)
	if addr < ir.FirstInvented {
		base, off = addr, 0
	}
	if d, ok := r.Program.Constants[r.nameAt(base)]; ok {
		if off+uint64(n) <= uint64(len(d)) {
			return d[off : off+uint64(n)], true
		}
	}
	return nil, false
}

// NearAccesses are the accesses to some memory that are nearest to an event, in their order.
// They are kept, because machines of one failure are much alike and ask for the same memory
// again and again.
func (r *Replay) NearAccesses(addr uint64, size int, seq uint64) []Event {
	k := memoryRange{addr, size, seq}
	all, ok := r.nearAccesses[k]
	if ok {
		return all
	}
	var after []Event
	r.Trace.Accesses(addr, uint32(size), seq+1, r.Trace.Last(), func(event *Event) bool {
		after = append(after, *event)
		return len(after) < maxAccesses/2
	})
	r.Trace.AccessesBefore(addr, uint32(size), seq+1, func(event *Event) bool {
		all = append(all, *event)
		return len(all)+len(after) < maxAccesses
	})
	slices.Reverse(all)
	all = append(all, after...)
	if len(r.nearAccesses) > 256 {
		clear(r.nearAccesses)
	}
	r.nearAccesses[k] = all
	return all
}

type memoryRange struct {
	addr uint64
	size int
	near uint64
}

// Ended reports whether the analysis is to end, because it was interrupted.
func (r *Replay) Ended() bool {
	if r.err == nil && r.Interrupted != nil {
		r.err = r.Interrupted()
	}
	return r.err != nil
}

// Err is why following was ended before its time; nil if it was not.
func (r *Replay) Err() error { return r.err }

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

// BadAddress is whether the program cannot use an address just before the event with the
// number. What an invented address stands for can always be used.
func (r *Replay) BadAddress(addr uint64, before uint64) ir.Value {
	bad := addr < ir.FirstPage
	if real := r.Real(addr); !bad && real < ir.FirstInvented {
		bad = r.Trace.BadAddress(real, before)
	}
	if bad {
		return ir.Word(1, 1)
	}
	return ir.Word(1, 0)
}

// Captured is what a closure captured.
func (r *Replay) Captured(closure ir.Value) []ir.Value { return r.closures[closure.Uint()].Captured }

// nameAt is the symbol at an address, invented or real.
func (r *Replay) nameAt(addr uint64) string {
	if n, ok := r.names[addr]; ok {
		return n
	}
	return r.seenNames[addr]
}

// BeyondTrace are the stores of a goroutine beyond the end of the trace.
func (r *Replay) BeyondTrace(g uint32) []Event { return r.beyondTrace[g] }

// Executed reports whether a goroutine went from one block to the other.
func (r *Replay) Executed(from, to *ir.Block) bool { return r.executed[[2]*ir.Block{from, to}] }

// LastTarget is the function that a dynamic call reached last, nil if it was not made.
func (r *Replay) LastTarget(call *ir.Instr) *ir.Func { return r.targets[call] }
