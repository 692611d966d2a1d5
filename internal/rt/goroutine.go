package rt

import (
	"runtime"
	"strconv"
	"sync/atomic"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/rt/frames"
	"github.com/cofferdam-go/cofferdam/internal/rt/panictext"
	"github.com/cofferdam-go/cofferdam/internal/rt/race"
)

type state uint8

const (
	ready   state = iota
	blocked       // waits in park, and is not ready
	outside       // lost the token while it did not call hooks
	ended
)

// A goroutine is one under control. Its record is used again in later runs.
type goroutine struct {
	id       uint32
	parent   uint32
	g        uintptr // 0 until it has run
	state    state
	index    int      // among the ready ones
	op       event.Op // what it waits for, while it is not ready
	taken    uint64   // its steps
	stream   uint64   // where its random numbers come from, while it does not run
	branches uint64   // choices by chance that it has come to

	race.Thread // what it knows of the others' past
	// born is the frame in which it was started: its own calls are below. started is the
	// site of the go statement, 0 if there is none.
	born, started uint32
	// origin is what stacks say of where it comes from.
	origin origin

	polling polling
	// madeForHook are the addresses of what was allocated for the call of the hook at hand.
	madeForHook []uintptr
	call        programCall
	wait        wait
	comms       []comm // what it offers to do on channels
	chose       int    // the one of them that another goroutine did for it; -1 for none
	timer       *timer // that wakes it from Sleep
	bubble      *bubble
	// early says that it was started before the first run, or by one that was.
	early bool
	// onlyWaits says that it is no step that the next operation has to wait; see OnlyWaits.
	onlyWaits bool
	// signalled says that the Cond it waits for, or is about to, was signalled for it.
	signalled bool

	f     func()
	start func() // main, bound
	wake  chan struct{}
	gone  chan struct{} // it was taken down

	// dying says that the goroutine is being taken down; hooks counts what it does then.
	dying bool
	hooks int
	// stale says that the run ended while the goroutine was outside.
	stale atomic.Bool
}

// Go is go f().
func Go(site uint32, f func()) { start(site, f, f) }

// GoCall is Go for a literal that was put around a call. Programs that look at their stacks do
// not see it. It is not inlined: its own literal would be one of its caller then.
//
//go:noinline
func GoCall(site uint32, call func()) { start(site, func() { callOf(call) }, call) }

// start is go f(), where the program has shown.
func start(site uint32, f, shown func()) {
	c := enter()
	if c == nil {
		if holdBack(site, f) {
			return
		}
		others.Add(1) // not when it begins: it may be waited for before
		go plain(f)
		return
	}
	if !c.dying {
		c.spawn(site, f, c.bubble).origin.entry = entryOf(shown)
	}
	c.leave()
}

// callOf marks the literal on the stack. The packages that show stacks know it by its name.
//
//go:noinline
func callOf(call func()) { call() }

// spawn starts a goroutine on behalf of c.
func (c *goroutine) spawn(site uint32, f func(), b *bubble) *goroutine {
	d := s.spawn(f)
	d.parent, d.Frame, d.born, d.started, d.early = c.id, c.Frame, c.Frame, site, c.early
	b.join(d)
	c.Past(&d.Vector)
	s.races.TakeSlot(&d.Thread, d.id)
	c.Tick()
	s.emit(c, event.Go, site, 0, 0, uint64(d.id))
	d.origin.depth = returns(&d.origin.pcs, len(d.origin.pcs))
	return d
}

// others counts the goroutines that were started by instrumented code outside control.
var others atomic.Int64

func plain(f func()) {
	defer others.Add(-1)
	f()
}

// spawn starts a goroutine. Whom it comes from is up to the caller.
func (s *scheduler) spawn(f func()) *goroutine {
	var c *goroutine
	if n := len(s.spare); n > 0 {
		c = s.spare[n-1]
		s.spare = s.spare[:n-1]
	} else {
		c = &goroutine{wake: make(chan struct{}, 1), gone: make(chan struct{}, 1)}
		c.start = c.main
	}
	s.all = append(s.all, c)
	c.id = uint32(len(s.all))
	c.f = f
	c.chose = -1
	c.stream = s.chance.stream(c.id)
	s.insert(c, event.Op{Kind: event.Start})
	s.natives++
	go c.start()
	if Patched.Newest != nil {
		c.origin.number = Patched.Newest() - 1
	}
	return c
}

// recycle makes the record ready for the next run.
func (c *goroutine) recycle() {
	clear(c.comms[:cap(c.comms)])
	c.Thread.Reset()
	*c = goroutine{Thread: c.Thread, comms: c.comms[:0], start: c.start, wake: c.wake, gone: c.gone}
}

func (c *goroutine) main() {
	defer c.finish()
	<-c.wake
	c.g, _, _ = here()
	if c.dying {
		return
	}
	token.Store(c.g | inside)
	s.emit(c, event.Start, 0, 0, 0, uint64(c.parent))
	c.leave()
	f := c.f
	c.f = nil
	f()
}

// finish is the last thing a goroutine does, however it ends.
func (c *goroutine) finish() {
	value := recover()
	var pcs []uintptr
	if value != nil {
		again := 0
		if Patched.PanickedAgain != nil {
			again = Patched.PanickedAgain()
		}
		pcs = panicStack(again)
	}
	switch {
	case c.stale.Load():
		forget(c)
		return
	case c.dying:
		c.gone <- struct{}{}
		return
	}
	if enter() == nil && token.Load() != c.g|inside {
		return // taken down while it was coming back
	}
	s.completeLast()
	if value != nil {
		s.emit(c, event.Panic, 0, 0, 0, 0)
		f := Failure{Kind: event.FailurePanic, Message: panictext.Of(value), G: c.id, Frame: c.Frame, Step: s.steps, PCs: pcs}
		s.result.Failures = append(s.result.Failures, f)
		if !s.config.RunOn {
			s.remove(c)
			c.state = ended
			s.over()
			return
		}
	}
	s.emit(c, event.End, 0, 0, 0, 0)
	s.remove(c)
	c.state = ended
	c.leaveBubble()
	s.races.LeaveSlot(&c.Thread)
	if c.id == 1 {
		s.rootEnded = true
		s.pause = min(s.pause, s.steps+lingerSteps)
	}
	s.natives--
	if d := s.dispatch(c); d != nil {
		s.pass(d)
	}
}

// Gosched is runtime.Gosched().
func Gosched() {
	c := enter()
	if c == nil {
		waitsEarly()
		runtime.Gosched()
		return
	}
	site := c.site()
	if c.step(event.Op{Kind: event.Gosched, Yield: true, Round: c.rests(site), Site: site}) {
		s.emit(c, event.Gosched, s.ops[s.at(c)].Site, 0, 0, 0)
	}
	c.leave()
}

// GOMAXPROCS is runtime.GOMAXPROCS(n). Under control it answers as the runtime would and
// changes nothing: one goroutine runs at a time whatever the program asks for, and with
// a second thread for the others to run on, each turn would wait for the system.
func GOMAXPROCS(n int) int {
	c := enter()
	if c == nil {
		return runtime.GOMAXPROCS(n)
	}
	before := s.procs
	if n > 0 {
		s.procs = n
	}
	c.leave()
	return before
}

// Block is select {}.
func Block(site uint32) {
	c := enter()
	if c == nil {
		waitsEarly()
		select {}
	}
	c.forever(event.Op{Kind: event.Select, Site: site})
}

// Exit ends the run as os.Exit would the program. The caller is under control.
func Exit(code int) {
	c := enterLibrary()
	if c == nil {
		return
	}
	if c.dying {
		c.die()
	}
	s.completeLast()
	site := c.site()
	s.emit(c, event.Exit, site, 0, 0, uint64(code))
	c.fail(Failure{Kind: event.FailureExit, Message: "exit " + strconv.Itoa(code), Site: site, Code: code})
}

// Deliver, if set, has a signal delivered to those that the program notifies. It returns
// false if there are none.
var Deliver func(sig int) bool

// SendSignal delivers a signal that the program sends to itself. It returns false if the
// system is to do that.
func SendSignal(sig int) bool { return Deliver != nil && Controlled() && Deliver(sig) }

// Driver, if set, is called by Main with the program's main function.
var Driver func(main func())

// Main calls the main function of an instrumented program.
func Main(f func()) {
	if Driver != nil {
		Driver(f)
		return
	}
	f()
}

// A Frame is a call of an instrumented function.
type Frame struct {
	c      *goroutine
	caller uint32
	id     uint32
}

// Enter is called first in every instrumented function.
//
//go:noinline
func Enter(site uint32) Frame {
	c := enter()
	if c == nil {
		return Frame{}
	}
	if c.dying {
		c.leave()
		return Frame{}
	}
	n := frames.Node{Parent: c.Frame, Site: site, First: c.Frame == c.born}
	var pcs [8]uintptr
	if returns(&pcs, min(callerIndex+2, len(pcs))) > callerIndex+1 {
		n.PC = pcs[callerIndex+1]
	}
	f := Frame{c: c, caller: c.Frame}
	if s.recorder.On {
		s.completeLast()
		c.Frame = s.frames.Append(n)
		s.emit(c, event.Call, site, n.PC, 0, uint64(f.caller))
	} else {
		c.Frame = s.frames.Enter(n)
	}
	f.id = c.Frame
	c.leave()
	return f
}

// Leave is called when the function is left.
func Leave(f Frame) {
	if f.c == nil {
		return
	}
	if recording.Load() {
		if c := enter(); c != nil {
			if c == f.c && !c.dying {
				s.completeLast()
				c.Frame = f.id
				s.emit(c, event.Return, 0, 0, 0, 0)
			}
			c.leave()
		}
	}
	f.c.Frame = f.caller
}

// panicStack returns the stack of the panic that the calling deferred function has
// recovered: nothing has been unwound yet. The runtime's own calls on top are left out, and
// so are those of this package, whose hooks load what a nil pointer points to. If deferred
// functions had recovered the value so many times, and panicked with it again, it is the stack
// of where it came from:
//
//	wg.Go(func() { panic("oops") })    not of package sync, which holds every panic of such a
//	                                   function up
func panicStack(again int) []uintptr {
	pcs := make([]uintptr, 128)
	pcs = pcs[:runtime.Callers(1, pcs)]
	own := packageAt(pcs[0])
	begin := 2
	for i := begin; i < len(pcs) && again >= 0; i++ {
		if f, _ := runtime.CallersFrames(pcs[i : i+1]).Next(); f.Function == "runtime.gopanic" {
			begin, again = i+1, again-1
		}
	}
	for i, pc := range pcs[begin:] {
		if p := packageAt(pc); p != "runtime" && p != own {
			return pcs[begin+i:]
		}
	}
	return pcs
}

func packageAt(pc uintptr) string {
	f, _ := runtime.CallersFrames([]uintptr{pc}).Next()
	return frames.PackageOf(f.Function)
}
