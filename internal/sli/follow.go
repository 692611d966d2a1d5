package sli

// A follower is the Host of one goroutine that is replayed.
type follower struct {
	*replay
	g     uint32
	cur   Event // what the goroutine did next
	have  bool
	ended bool // the trace has the goroutine's end
	idle  int
	step  Step
	stop  bool
	seq   uint64 // ahead of the trace
	steps []Event
	done  uint64            // the last event that was accounted for
	taken map[uint32]uint64 // the last allocation of each site that was
	first bool              // the goroutine was not replayed before
}

// run replays goroutine g. before is called with each instruction about to be
// executed, after with each that was; either may end the replay by returning false.
func (r *replay) run(g uint32, before func(*Thread, *Step) bool, after func(*Thread, *Step) bool) {
	// What lies beyond the trace is numbered for each goroutine apart.
	f := &follower{replay: r, g: g, taken: map[uint32]uint64{}, seq: r.trace.Last() + uint64(g)<<32}
	if r.made[g] == nil {
		r.made[g] = map[*Func][][]Value{}
		f.first = true
	}
	f.advance(0)
	t := f.begin()
	if t == nil {
		return
	}
	defer func() {
		if len(f.steps) > 0 {
			r.ahead[g] = f.steps
		}
	}()
	for spent := 0; len(t.Frames) > 0; {
		top := t.Top()
		f.step = Step{Point: Point{top.Ctx, t.At()}, Pred: top.Pred, Frame: top, Time: f.time(), Ahead: !f.have}
		if !f.have {
			if spent++; spent > maxAhead || f.ended {
				return
			}
		}
		if before != nil && !before(t, &f.step) {
			return
		}
		block := top.Block
		st := t.Step()
		step := f.step
		if step.Instr.exits() && top.Block != block {
			r.edges[[2]*Block{block, top.Block}] = true
		}
		if after != nil && !after(t, &step) {
			return
		}
		f.idle++
		switch {
		case st == Ended || f.stop:
			return
		case st == Crashed && f.failure.G == g && f.failure.Why == step.Instr.Why && f.failure.here(step.Instr):
			return // what follows are its deferred calls
		case st == Running && f.idle < maxIdle:
			continue
		case f.have && f.cur.Kind != KindCrash:
			if !f.resync(t) {
				return
			}
		default:
			return
		}
	}
}

func (f *follower) time() uint64 {
	if f.have {
		return f.cur.Seq
	}
	return f.seq + 1
}

// advance moves to the goroutine's next event that its instructions account for.
func (f *follower) advance(after uint64) {
	for {
		f.cur, f.have = f.trace.Next(f.g, after)
		f.idle = 0
		if !f.have {
			return
		}
		after = f.cur.Seq
		switch f.cur.Kind {
		case KindLoad, KindStore, KindUpdate, KindSpawn:
			if len(f.prog.At(f.cur.Site)) > 0 {
				return
			}
		case KindCall:
			if f.prog.bySite[f.cur.Site] != nil {
				return
			}
		case KindReturn:
			if _, site, ok := f.trace.Frame(f.cur.Frame); ok && f.prog.bySite[site] != nil {
				return
			}
		case KindCrash:
			return
		case KindEnd:
			f.ended = true
		}
	}
}

// take consumes the next event if in makes it.
func (f *follower) take(in *Instr, kinds ...Kind) (Event, bool) {
	if !f.have {
		return Event{}, false
	}
	for _, s := range in.Sites {
		if s != f.cur.Site {
			continue
		}
		for _, k := range kinds {
			if f.cur.Kind == k {
				e := f.cur
				f.done = e.Seq
				f.step.Time, f.step.Event, f.step.Addr = e.Seq, true, e.Addr
				f.advance(e.Seq)
				return e, true
			}
		}
	}
	return Event{}, false
}

func (f *follower) begin() *Thread {
	if s, ok := f.starts[f.g]; ok {
		return newThread(f.prog, f, f.ctxs, f.g, s.fn, s.args, s.captured)
	}
	for f.have && f.cur.Kind != KindCall {
		f.advance(f.cur.Seq)
	}
	if !f.have {
		return nil
	}
	fn := f.prog.bySite[f.cur.Site]
	return newThread(f.prog, f, f.ctxs, f.g, fn, nil, f.given(f.g, fn))
}

// given is what a closure captured that a goroutine began with, if it was started by code
// that is not in the program (as by sync.WaitGroup.Go): of the closures of that function
// that its parent made, the n-th is taken for the n-th such goroutine.
func (r *replay) given(g uint32, fn *Func) []Value {
	if r.parents == nil {
		r.parents = map[uint32]uint32{}
		r.trace.All(0, func(e *Event) bool {
			if e.Kind == KindSpawn {
				r.parents[uint32(e.Arg)] = e.G
			}
			return true
		})
	}
	parent, ok := r.parents[g]
	if !ok {
		return nil
	}
	n := 0
	for child, p := range r.parents {
		if child >= g || p != parent {
			continue
		}
		if r.firstCall(child) == fn {
			n++
		}
	}
	if list := r.made[parent][fn]; n < len(list) {
		return list[n]
	}
	return nil
}

// firstCall is the function of the program that a goroutine calls first.
func (r *replay) firstCall(g uint32) *Func {
	fn, ok := r.first[g]
	if !ok {
		for e, more := r.trace.Next(g, 0); more && fn == nil; e, more = r.trace.Next(g, e.Seq) {
			if e.Kind == KindCall {
				fn = r.prog.bySite[e.Site]
			}
		}
		r.first[g] = fn
	}
	return fn
}

func (f *follower) Load(t *Thread, in *Instr, addr, key Value) (Value, Status) {
	if e, ok := f.take(in, KindLoad, KindUpdate); ok {
		if e.Map {
			f.learn(addr, e.Addr)
			return Unknown(in.Size), Running
		}
		f.learn(addr, e.Addr)
		for { // a wide load may be seen in pieces
			if _, more := f.take(in, KindLoad); !more {
				break
			}
		}
		f.step.Time, f.step.Addr = e.Seq, e.Addr
		if addr.Known {
			f.step.Addr = f.real(addr.Uint())
		}
		if len(e.Before) >= in.Size && f.step.Addr == e.Addr {
			return Bytes(e.Before[:in.Size]), Running
		}
		return memoryAt(f.trace, f.step.Addr, in.Size, e.Seq), Running
	}
	if !addr.Known || key.Size > 0 {
		return Unknown(in.Size), Running
	}
	a := f.real(addr.Uint())
	if addr.Uint() < firstPage {
		return Unknown(in.Size), Lost
	}
	f.step.Addr = a
	return f.look(a, in.Size), Running
}

// look reads memory that made no event.
func (f *follower) look(a uint64, size int) Value {
	b := make([]byte, 0, size)
	for i := range size {
		x, ok := f.local[a+uint64(i)]
		if !ok {
			if a >= invented {
				return Unknown(size)
			}
			return memoryAt(f.trace, a, size, f.time())
		}
		b = append(b, x)
	}
	return Bytes(b)
}

func (f *follower) Store(t *Thread, in *Instr, addr, key, val Value) Status {
	if e, ok := f.take(in, KindStore, KindUpdate); ok {
		f.learn(addr, e.Addr)
		if !e.Map {
			f.learnValue(val, e.After)
		}
		for {
			if _, more := f.take(in, KindStore, KindLoad, KindUpdate); !more {
				break
			}
		}
		f.step.Time, f.step.Addr = e.Seq, e.Addr
		return Running
	}
	if !addr.Known || key.Size > 0 {
		return Running
	}
	a := f.real(addr.Uint())
	f.step.Addr = a
	if val.Known && len(f.local) < maxLocal {
		for i, x := range val.Append(nil) {
			f.local[a+uint64(i)] = x
		}
	} else {
		for i := range in.Size {
			delete(f.local, a+uint64(i))
		}
	}
	if !f.have && len(in.Sites) > 0 {
		f.seq++
		f.step.Time, f.step.Event = f.seq, true
		e := Event{Seq: f.seq, G: f.g, Kind: KindStore, Site: in.Sites[0], Frame: t.Top().ID, Addr: a, Size: uint32(in.Size)}
		if val.Known {
			e.After = val.Append(nil)
		}
		f.steps = append(f.steps, e)
	}
	return Running
}

// maxLook bounds how far ahead an allocation's event is looked for.
const maxLook = 256

// allocated finds the event of an allocation. It comes when the program says that
// something was allocated, which may be after what the goroutine does next: the parts
// of a literal are evaluated between.
func (f *follower) allocated(t *Thread, in *Instr) (Event, bool) {
	if len(in.Sites) == 0 {
		return Event{}, false
	}
	at := max(f.done, f.taken[in.Sites[0]])
	for range maxLook {
		e, ok := f.trace.Next(f.g, at)
		if !ok || e.Kind == KindReturn && e.Frame == t.Top().ID {
			break
		}
		at = e.Seq
		if e.Kind != KindAlloc {
			continue
		}
		for _, s := range in.Sites {
			if e.Site == s {
				f.taken[in.Sites[0]] = e.Seq
				f.step.Time, f.step.Event, f.step.Addr = e.Seq, true, e.Addr
				return e, true
			}
		}
	}
	return Event{}, false
}

func (f *follower) Alloc(t *Thread, in *Instr, size Value) Value {
	if e, ok := f.allocated(t, in); ok {
		return Word(8, e.Addr)
	}
	a := f.invent()
	if size.Known && size.Uint() < 1<<16 && len(f.local) < maxLocal {
		for i := range size.Uint() {
			f.local[a+i] = 0
		}
	}
	return Word(8, a)
}

func (f *follower) Sync(t *Thread, in *Instr, args []Value) (Value, Status) {
	v := Unknown(in.Size)
	if e, ok := f.allocated(t, in); ok {
		v = Word(8, e.Addr)
	}
	for {
		if _, ok := f.take(in, f.cur.Kind); !ok {
			break
		}
	}
	if !f.have && !harmless[in.Word] {
		f.stop = true
	}
	return v, Running
}

// harmless operations do not wait for anybody else to act, or only for a lock.
var harmless = map[string]bool{
	"lock": true, "unlock": true, "rlock": true, "runlock": true, "trylock": true, "tryrlock": true, "done": true, "close": true,
	"add": true, "cas": true, "swap": true, "and": true, "or": true, "yield": true, "signal": true, "makechan": true, "chanlen": true,
}

func (f *follower) Extern(t *Thread, in *Instr, args []Value) (Value, Status) {
	if !f.have {
		if in.Op == Call && in.Word != "" {
			return Unknown(in.Size), Running
		}
		f.stop = true
	}
	for {
		if _, ok := f.take(in, f.cur.Kind); !ok {
			break
		}
	}
	// What is called may call back what it was given.
	if f.cur.Kind == KindCall && f.have && uint32(f.cur.Arg) == t.Top().ID {
		fn := f.prog.bySite[f.cur.Site]
		for _, a := range args {
			if c, ok := f.closures[a.Uint()]; ok && a.Known && c.fn == fn {
				t.CallBack(fn, nil, c.captured)
				return Value{}, Called
			}
		}
	}
	return Unknown(in.Size), Running
}

func (f *follower) Spawn(t *Thread, in *Instr, fn *Func, args, captured []Value) {
	if e, ok := f.take(in, KindSpawn); ok {
		f.starts[uint32(e.Arg)] = closureStart{closureValue{fn, captured}, args}
	}
}

func (f *follower) Enter(t *Thread, fr *Frame) {
	if fr.Call != nil && fr.Call.Callee == nil {
		f.targets[fr.Call] = fr.Func
	}
	if f.have && f.cur.Kind == KindCall && f.prog.bySite[f.cur.Site] == fr.Func {
		fr.ID = f.cur.Frame
		f.done = f.cur.Seq
		f.advance(f.cur.Seq)
	} else if len(t.Frames) > 1 {
		fr.ID = t.Frames[len(t.Frames)-2].ID // makes no event of its own: its accesses count as its caller's
	}
}

func (f *follower) Leave(t *Thread, fr *Frame) {
	if f.have && f.cur.Kind == KindReturn && f.cur.Frame == fr.ID {
		f.done = f.cur.Seq
		f.advance(f.cur.Seq)
	}
}

func (f *follower) Crash(t *Thread, in *Instr, cond Value) bool {
	if in.Why == Assertion {
		return false // noted by who follows; the goroutine goes on
	}
	if cond.Known {
		return cond.Uint() != 0
	}
	return f.have && f.failure.G == f.g && in.Why == f.failure.Why && f.failure.here(in) && f.last(t.Top())
}

// last reports whether nothing more happens in a call but that it is left: it is the
// one that crashed.
func (f *follower) last(top *Frame) bool {
	for e, ok := f.cur, f.have; ok; e, ok = f.trace.Next(f.g, e.Seq) {
		switch e.Kind {
		case KindCrash:
			return true
		case KindLoad, KindStore, KindUpdate, KindSpawn:
			if e.Frame == top.ID {
				return false
			}
		}
	}
	return true
}

// Branch follows the side from which the goroutine's next event is nearer.
func (f *follower) Branch(t *Thread, in *Instr) int {
	if !f.have {
		return -1
	}
	top := t.Top()
	best, side := int(^uint(0)>>1), -1
	for i, s := range in.Block.Succs {
		if d := f.distance(top, s); d >= 0 && d < best {
			best, side = d, i
		}
	}
	return side
}

func (f *follower) distance(top *Frame, from *Block) int {
	e := f.cur
	wanted := func(in *Instr) bool {
		switch {
		case f.failure.G == f.g && in.Op == Test && in.Why == f.failure.Why && f.failure.here(in) && f.last(top):
			return true
		case e.Kind == KindCall && uint32(e.Arg) == top.ID, e.Kind != KindCall && e.Frame == top.ID:
			return f.makes(in, e)
		}
		return in.Op == Return // the event is of another frame: this one must end
	}
	seen := map[*Block]bool{from: true}
	for list, d := []*Block{from}, 0; len(list) > 0; d++ {
		var next []*Block
		for _, b := range list {
			for _, in := range b.Instrs {
				if wanted(in) {
					return d
				}
			}
			for _, s := range b.Succs {
				if !seen[s] {
					seen[s] = true
					next = append(next, s)
				}
			}
		}
		list = next
	}
	return -1
}

func (f *follower) Target(t *Thread, in *Instr, v Value) (*Func, []Value) {
	if in.Method != "" {
		if v.Known {
			if m := f.prog.Methods[f.nameAt(v.Uint())]; m != nil && m[in.Method] != nil {
				return m[in.Method], nil
			}
		}
	} else if c, ok := f.closures[v.Uint()]; ok && v.Known {
		return c.fn, c.captured
	}
	// The trace is the oracle.
	if f.have && f.cur.Kind == KindCall && uint32(f.cur.Arg) == t.Top().ID {
		return f.prog.bySite[f.cur.Site], nil
	}
	return nil, nil
}

func (f *follower) Symbol(name string) Value { return Word(8, f.real(f.symbol(name))) }

func (f *follower) Closure(name string, captured []Value) Value {
	fn := f.prog.Func(name)
	if len(captured) == 0 {
		a := f.symbol("func " + name)
		f.closures[a] = closureValue{fn: fn}
		return Word(8, a)
	}
	a := f.invent()
	f.closures[a] = closureValue{fn, captured}
	if f.first { // later replays may end before it makes them all
		f.made[f.g][fn] = append(f.made[f.g][fn], captured)
	}
	return Word(8, a)
}

func (f *follower) Captured(c Value) []Value { return f.closures[c.Uint()].captured }

// nameAt is the symbol at an address, invented or real.
func (r *replay) nameAt(addr uint64) string {
	if n, ok := r.names[addr]; ok {
		return n
	}
	return r.seen[addr]
}

func (f *follower) Text(addr uint64, n int) ([]byte, bool) { return f.replay.text(addr, n) }
