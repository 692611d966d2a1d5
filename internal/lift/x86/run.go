package x86

import (
	"encoding/binary"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/emu/cpu"
	"github.com/cofferdam-go/cofferdam/internal/emu/linux"
	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/sli/exec"
	"github.com/cofferdam-go/cofferdam/internal/x86"
)

// A Run is what a program did in a run, in the engine's terms: all accesses of the program's
// own code, and of the libraries what they do to the same memory. A library's function is
// one instruction of the program, the call.
type Run struct {
	image   *Image
	process *linux.Process
	program *Program // for its stubs alone
	events  []exec.Event
	outside []bool // of each event: a library made it
	threads map[uint32]*threadRun
	pending map[*cpu.CPU][]transfer
	frames  uint32
	entered map[uint64]bool
	// observed are where indirect jumps went; lastJump is the last call, return or indirect
	// jump of each thread in the program's own code.
	observed map[uint64][]uint64
	lastJump map[*cpu.CPU]uint64
	own      map[uint64]bool // words that the program's own code accesses
	handles  map[uint32]uint64
	callers  []caller // by frame
	tooLong  bool
}

// A caller is where the program's own code called a function of its own: the frame, and the
// call; pc is 0 where a library called it.
type caller struct {
	frame uint32
	pc    uint64
}

// Caller is the frame that called another, and the call there. pc is 0 if a library called.
func (r *Run) Caller(frame uint32) (outer uint32, pc uint64) {
	if int(frame) >= len(r.callers) {
		return 0, 0
	}
	return r.callers[frame].frame, r.callers[frame].pc
}

// maxEvents is how long a run may be that is kept in memory.
const maxEvents = 4_000_000

// A transfer is a call or return between the program and its libraries, with the registers
// as they were after it.
type transfer struct {
	index  int // among the events of the turn
	r      [16]uint64
	x      [8]cpu.Vec
	thread uint64
}

// A threadRun is where a thread is.
type threadRun struct {
	frames []runFrame
	last   uint32 // the last site of the program's own code
}

// A runFrame is a call in progress.
type runFrame struct {
	own     bool
	id      uint32 // of the innermost frame of the program
	returns uint64
	// Of calls of libraries: the site of the call, what is called, with what.
	site     uint32
	name     string
	args     [6]uint64
	sp       uint64
	boundary bool // the program's own code called
	caller   uint64
}

// NewRun makes ready to watch a process that has executed nothing yet.
func NewRun(process *linux.Process, image *Image) *Run {
	r := &Run{
		image: image, process: process, threads: map[uint32]*threadRun{}, pending: map[*cpu.CPU][]transfer{}, entered: map[uint64]bool{},
		observed: map[uint64][]uint64{}, lastJump: map[*cpu.CPU]uint64{}, own: map[uint64]bool{}, handles: map[uint32]uint64{}, program: newProgram(Config{Image: image}),
	}
	process.Watch(r.turn)
	for _, t := range process.Threads() {
		t.CPU.Transfer = r.transfer
	}
	return r
}

// isOwn reports whether an address is in the program's own code.
func (r *Run) isOwn(pc uint64) bool { return r.image.executable(pc) }

// leavesProgram reports whether a call goes to a library.
func (r *Run) leavesProgram(target uint64) bool {
	return !r.isOwn(target) || r.program.stub(target) != 0
}

// transfer keeps the registers where the program calls a library, where that returns, and
// where it calls back.
func (r *Run) transfer(c *cpu.CPU, from uint64, op x86.Op) {
	own := r.isOwn(from)
	if own {
		r.lastJump[c] = from
	}
	if op == x86.JMP {
		if own && !r.leavesProgram(c.PC) && !slices.Contains(r.observed[from], c.PC) {
			r.observed[from] = append(r.observed[from], c.PC)
		}
		return
	}
	if own && !r.leavesProgram(c.PC) || !own && !r.isOwn(c.PC) {
		return
	}
	t := transfer{index: c.RecordedLen() - 1, thread: c.FSBase()}
	copy(t.r[:], c.R[:16])
	copy(t.x[:], c.X[:8])
	r.pending[c] = append(r.pending[c], t)
}

func (r *Run) thread(n uint32) *threadRun {
	t := r.threads[n]
	if t == nil {
		t = &threadRun{}
		r.threads[n] = t
	}
	return t
}

// top is the innermost frame of a thread.
func (t *threadRun) top() *runFrame {
	if len(t.frames) == 0 {
		return &runFrame{}
	}
	return &t.frames[len(t.frames)-1]
}

func (r *Run) add(e exec.Event, outside bool) {
	if len(r.events) >= maxEvents {
		r.tooLong = true
		return
	}
	r.events = append(r.events, e)
	r.outside = append(r.outside, outside)
}

// turn notes what a thread did.
func (r *Run) turn(t *linux.Thread, done []event.Access) {
	state := r.thread(t.Number)
	sites := r.process.Code.Sites()
	transfers := r.pending[t.CPU]
	for i := range done {
		a := &done[i]
		var regs *transfer
		if len(transfers) > 0 && transfers[0].index == i {
			regs = &transfers[0]
			transfers = transfers[1:]
		}
		pc := sites[a.Site].PC
		switch a.Kind {
		case event.Call:
			r.call(t.Number, state, a, pc, regs)
		case event.Return:
			r.returned(t.Number, state, a, pc, regs)
		case event.Go:
			r.add(exec.Event{G: t.Number, Kind: exec.KindSpawn, Site: state.site(), Frame: state.top().id, Arg: a.After}, false)
		case event.Start:
			r.handles[t.Number] = t.CPU.FSBase()
			r.add(exec.Event{G: t.Number, Kind: exec.KindStart}, false)
		case event.End:
			r.add(exec.Event{G: t.Number, Kind: exec.KindRelease, Addr: t.CPU.FSBase()}, false)
			r.add(exec.Event{G: t.Number, Kind: exec.KindEnd}, false)
		default:
			r.access(t.Number, state, a, pc)
		}
	}
	r.pending[t.CPU] = r.pending[t.CPU][:0]
}

// site is what the accesses of a library count as: the call that led there.
func (t *threadRun) site() uint32 {
	if f := t.top(); !f.own && f.site != 0 {
		return f.site
	}
	return t.last
}

func (r *Run) access(g uint32, state *threadRun, a *event.Access, pc uint64) {
	e := exec.Event{G: g, Frame: state.top().id, Site: a.Site, Addr: a.Addr, Size: uint32(a.Size)}
	switch {
	case a.Kind == event.Load:
		e.Kind, e.Before = exec.KindLoad, bytesOf(a.Before, a.Size)
	case a.Kind == event.Store:
		e.Kind, e.Before, e.After = exec.KindStore, bytesOf(a.Before, a.Size), bytesOf(a.After, a.Size)
	case a.Kind.IsAtomic():
		e.Kind, e.Before, e.After = exec.KindUpdate, bytesOf(a.Before, a.Size), bytesOf(a.After, a.Size)
	default:
		return
	}
	if r.isOwn(pc) {
		state.last = a.Site
		e.Atomic = a.Kind.IsAtomic()
		for w := a.Addr / 8; w <= (a.Addr+uint64(max(a.Size, 1))-1)/8; w++ {
			r.own[w] = true
		}
		r.add(e, false)
		return
	}
	f := state.top()
	e.Site = state.site()
	switch {
	case e.Site == 0, allocating[f.name], freeing[f.name]:
		return // before the program began, or the allocator's own
	case f.sp != 0 && a.Addr < f.sp && a.Addr > f.sp-maxStack:
		return // the library's own stack
	}
	e.Atomic = a.Kind.IsAtomic() && ordering[f.name]
	r.add(e, true)
}

// maxStack is how much stack a library's function is taken to use.
const maxStack = 1 << 20

// ordering are the functions whose atomic operations order threads. Mutexes are not among
// them: that one section came before another is an accident of the run.
var ordering = set("pthread_barrier_wait", "sem_wait", "sem_post", "sem_timedwait", "sem_trywait", "pthread_cond_signal", "pthread_cond_broadcast",
	"pthread_once", "call_once", "cnd_signal", "cnd_broadcast")

func bytesOf(v uint64, size uint8) []byte {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], v)
	return b[:min(size, 8):min(size, 8)]
}

// dropOwn drops the access to the stack that a call or return made at its site.
func (r *Run) dropOwn(g, site uint32, kind exec.Kind) {
	if n := len(r.events) - 1; n >= 0 && r.events[n].G == g && r.events[n].Site == site && r.events[n].Kind == kind {
		r.events, r.outside = r.events[:n], r.outside[:n]
	}
}

func (r *Run) call(g uint32, state *threadRun, a *event.Access, pc uint64, regs *transfer) {
	own := r.isOwn(pc)
	top := state.top()
	f := runFrame{id: top.id, returns: a.Addr}
	if own {
		f.caller = pc
		state.last = a.Site
		r.dropOwn(g, a.Site, exec.KindStore)
	}
	if !r.leavesProgram(a.After) {
		r.frames++
		f.own, f.id = true, r.frames
		for len(r.callers) < int(r.frames) {
			r.callers = append(r.callers, caller{})
		}
		r.callers = append(r.callers, caller{top.id, f.caller})
		r.entered[a.After] = true
		e := exec.Event{G: g, Kind: exec.KindCall, Site: FunctionSite(a.After), Frame: f.id, Arg: uint64(top.id)}
		if regs != nil {
			e.After = regs.parameters()
		}
		r.add(e, false)
	} else if own {
		f.boundary, f.site, f.name = true, a.Site, r.nameOf(a.After, pc)
		if regs != nil {
			f.args = [6]uint64{regs.r[x86.RDI], regs.r[x86.RSI], regs.r[x86.RDX], regs.r[x86.RCX], regs.r[x86.R8], regs.r[x86.R9]}
			f.sp = regs.r[x86.RSP]
		}
		r.releases(g, &f)
	} else {
		f.site, f.name, f.sp = top.site, top.name, top.sp
	}
	state.frames = append(state.frames, f)
}

// nameOf is the name of what the program calls by a stub, or by a slot.
func (r *Run) nameOf(target, pc uint64) string {
	if slot := r.program.stub(target); slot != 0 {
		return r.image.slots[slot]
	}
	in := placedInst{pc: pc}
	if r.program.decode(pc, &in.Inst) {
		return r.program.importedBy(&in)
	}
	return ""
}

func (r *Run) returned(g uint32, state *threadRun, a *event.Access, pc uint64, regs *transfer) {
	if r.isOwn(pc) {
		r.dropOwn(g, a.Site, exec.KindLoad)
	}
	// What jumps out of several calls at once returns further down.
	n := len(state.frames) - 1
	for ; n >= 0 && state.frames[n].returns != a.After; n-- {
	}
	if n < 0 {
		return
	}
	for i := len(state.frames) - 1; i >= n; i-- {
		f := state.frames[i]
		state.frames = state.frames[:i]
		switch {
		case f.own:
			if !r.isOwn(pc) && i == n { // what the function jumped to in the end has returned
				r.result(g, f.id, state.last, regs)
			}
			r.add(exec.Event{G: g, Kind: exec.KindReturn, Frame: f.id}, false)
		case f.boundary && i == n:
			r.acquires(g, &f, regs)
			if !allocating[f.name] {
				r.result(g, f.id, f.site, regs)
			}
		}
	}
}

// result notes what a library's function returned.
func (r *Run) result(g, frame, site uint32, regs *transfer) {
	e := exec.Event{G: g, Kind: exec.KindResult, Frame: frame, Site: site}
	if regs != nil {
		e.After = regs.result()
	}
	r.add(e, false)
}

// releases notes what a call releases, acquires what one has acquired when it returns.
func (r *Run) releases(g uint32, f *runFrame) {
	switch f.name {
	case "pthread_mutex_unlock", "pthread_spin_unlock", "pthread_rwlock_unlock", "mtx_unlock":
		r.add(exec.Event{G: g, Kind: exec.KindUnlock, Site: f.site, Frame: f.id, Addr: f.args[0]}, false)
	case "pthread_cond_wait", "pthread_cond_timedwait", "pthread_cond_clockwait", "cnd_wait", "cnd_timedwait":
		r.add(exec.Event{G: g, Kind: exec.KindUnlock, Site: f.site, Frame: f.id, Addr: f.args[1]}, false)
	}
}

func (r *Run) acquires(g uint32, f *runFrame, regs *transfer) {
	e := exec.Event{G: g, Site: f.site, Frame: f.id, Addr: f.args[0]}
	switch f.name {
	case "pthread_mutex_lock", "pthread_mutex_trylock", "pthread_mutex_timedlock", "pthread_spin_lock", "pthread_spin_trylock",
		"pthread_rwlock_wrlock", "pthread_rwlock_trywrlock", "mtx_lock", "mtx_trylock", "mtx_timedlock":
		e.Kind = exec.KindLock
	case "pthread_rwlock_rdlock", "pthread_rwlock_tryrdlock":
		e.Kind = exec.KindRLock
	case "pthread_join", "thrd_join":
		e.Kind = exec.KindAcquire
	case "pthread_cond_wait", "pthread_cond_timedwait", "pthread_cond_clockwait", "cnd_wait", "cnd_timedwait":
		e.Kind, e.Addr = exec.KindLock, f.args[1]
	default:
		return
	}
	if e.Kind != exec.KindAcquire && (regs == nil || uint32(regs.r[x86.RAX]) != 0) {
		return
	}
	r.add(e, false)
}

// parameters are the registers as a function's parameters.
func (t *transfer) parameters() []byte {
	b := make([]byte, 0, ParameterBytes)
	for _, v := range t.r {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	for _, x := range t.x {
		b = binary.LittleEndian.AppendUint64(b, x[0])
		b = binary.LittleEndian.AppendUint64(b, x[1])
	}
	return binary.LittleEndian.AppendUint64(b, t.thread)
}

// result is the registers as a function's result.
func (t *transfer) result() []byte {
	b := make([]byte, 0, ResultBytes)
	for _, v := range []uint64{t.r[x86.RAX], t.r[x86.RDX], t.x[0][0], t.x[0][1]} {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return b
}

// Allocated notes that a thread was given memory, Freed that it gave memory back.
func (r *Run) Allocated(t *linux.Thread, addr, size uint64) {
	state := r.thread(t.Number)
	r.add(exec.Event{G: t.Number, Kind: exec.KindAlloc, Site: state.heapSite(), Frame: state.top().id, Addr: addr, Size: uint32(min(size, 1<<31))}, false)
}

func (r *Run) Freed(t *linux.Thread, addr, size uint64) {
	state := r.thread(t.Number)
	r.add(exec.Event{G: t.Number, Kind: exec.KindFree, Site: state.heapSite(), Frame: state.top().id, Addr: addr, Size: uint32(min(max(size, 1), 1<<31))}, false)
}

// heapSite is the call of the allocator that a thread is in, or has just returned from.
func (t *threadRun) heapSite() uint32 { return t.site() }

// Log is the run as the engine reads it.
func (r *Run) Log(failed uint32) *exec.Log {
	events := make([]exec.Event, 0, len(r.events)+1)
	for i := range r.events {
		e := &r.events[i]
		if r.outside[i] && !r.own[e.Addr/8] {
			continue
		}
		e.Seq = uint64(len(events) + 1)
		events = append(events, *e)
	}
	if failed != 0 {
		events = append(events, exec.Event{Seq: uint64(len(events) + 1), G: failed, Kind: exec.KindCrash})
	}
	log := exec.NewLog(events)
	space := r.process.Mem
	log.Unmapped = func(addr uint64) bool {
		_, ok := space.Area(addr)
		return !ok
	}
	return log
}

// Entries are the functions that the run entered.
func (r *Run) Entries() []uint64 {
	var all []uint64
	for pc := range r.entered {
		all = append(all, pc)
	}
	return all
}

// Observed are where indirect jumps of the program went, by their addresses.
func (r *Run) Observed() map[uint64][]uint64 { return r.observed }

// TooLong reports whether the run has more events than are kept.
func (r *Run) TooLong() bool { return r.tooLong }
