package rt

import (
	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/rt/peek"
)

// Accesses of the standard library.
//
// Packages of the standard library have hooks too, so that it is seen what sort.Slice or
// json.Unmarshal does to the program's memory. Their hooks have no site of their own: what
// the library does it does for the program, and its site is the program's call. Most of it
// is on memory that no other goroutine sees, and would only make schedules longer. So such an
// access is quiet: it is held against others for races, recorded and taken back like any
// other, but no goroutine is chosen at it.
//
// Nothing is lost by that as long as quiet accesses do not race: in a program without
// races, the order of accesses follows from the order of synchronisation, at which there
// is a choice. Where one does race, the run fails for that, and a search for all that can come of
// it makes steps of them all (Config.LibrarySteps), as they are where no races are looked
// for.
//
// A quiet access counts among the steps of its goroutine, by which the points of a schedule
// are named: so a schedule means the same whether the access is a point or not. A
// schedule that is followed is asked at each (askAt).

// maxQuiet is how many quiet accesses in a row are made without a step: a goroutine that
// waits in a loop for what another one does with the library must let it go on.
const maxQuiet = 200_000

// library is what the scheduler knows of accesses by the standard library.
type library struct {
	count int    // how many there were since a step
	since uint64 // that step
	// askAt is how many steps the goroutine that runs has taken when the strategy is to be
	// asked; 0 if the strategy does not say.
	askAt uint64
	trees uint32 // counts how often the tree of frames was reset
}

// quietly announces an access of the standard library, and returns its site. alive is false
// if c is being taken down.
func (c *goroutine) quietly(op event.Op) (site uint32, alive bool) {
	s.completeLast()
	if c.dying {
		c.dead()
		return 0, false
	}
	site = c.programCall()
	s.site = site
	q := &s.library
	if s.steps != q.since {
		q.since, q.count = s.steps, 0
	}
	q.count++
	switch {
	case !s.config.Races, s.config.LibrarySteps, q.askAt != 0 && c.taken == q.askAt:
	case q.count > maxQuiet:
		s.row += spinning
	default:
		c.taken++
		if s.ahead > s.steps {
			s.ahead-- // it is reached by steps of the goroutine
		}
		return site, true
	}
	op.Site = site
	return site, c.step(op)
}

// A programCall is where the program called the standard library the last time that a
// goroutine was seen there.
type programCall struct {
	below uintptr // how far below the end of the stack the return address is
	pc    uintptr // the return address
	site  uint32
	tree  uint32 // of which tree of frames the site is
	// frame is the program's function that was running: the library may have called another one since.
	frame uint32
}

// programCall returns the site at which the program has called the standard library, which
// called a hook. While the return address of the last time is still where it was, and the program has
// entered no other function, the call is the same. The site is 0 in a goroutine of the library's own.
//
//	fmt.Fprint(&r, "x")                       the program calls the library,
//	func (r *Recorder) Write(p []byte) ... {  which calls the program back,
//		return r.buf.Write(p)                 which calls the library: this is the call
//	}
//
// Places on the stack are known by their distance from its end: the stack may be moved when a
// function is called, and what is called between framePointer or here and Word is inlined.
func (c *goroutine) programCall() uint32 {
	fp := framePointer()
	_, _, hi := here()
	k := &c.call
	if at := hi - k.below; k.pc != 0 && k.tree == s.library.trees && k.frame == c.Frame && at > fp && peek.Word(at) == k.pc {
		return k.site
	}
	*k = programCall{}
	for below := hi - fp; ; {
		_, lo, hi := here()
		at := hi - below
		if at < lo || at+2*wordSize > hi {
			break
		}
		next, pc := peek.Word(at), peek.Word(at+wordSize)
		if site := s.frames.ProgramSite(pc); site != 0 {
			*k = programCall{below: below - wordSize, pc: pc, site: site, tree: s.library.trees, frame: c.Frame}
			return site
		}
		if next <= at {
			break
		}
		below = hi - next
	}
	return 0
}

const wordSize = 8
