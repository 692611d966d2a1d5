package rt

import (
	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/sched"
)

// A Config says how a run is to be.
type Config struct {
	// Strategy decides who goes next.
	Strategy sched.Strategy
	// Seed is what the runtime's random numbers start from, if Patched has a Seed.
	Seed uint64
	// MaxSteps is after how many steps a run is cut off; 0 means 10 million.
	MaxSteps uint64
	// Races has data races looked for.
	Races bool
	// RunOn lets the others go on after a panic that would have ended the program, so
	// that a record shows what they were in the middle of.
	RunOn bool
	// Record, if set, is called with every event in the order of their effects. The
	// event and its slices are only valid during the call.
	Record func(*event.Event)
	// Accesses, if set, is called instead of Record with events that can be told as
	// accesses, some at a time, in the same order. They are only valid during the call.
	Accesses func([]event.Access)
	// Ended, if set, is called at the end of the run, before the goroutines that are
	// left are taken down. It may add failures.
	Ended func(*Result)
	// Sleep pauses the calling goroutine for so many nanoseconds of real time. Without
	// it nobody notices when a goroutine is stuck outside control.
	Sleep func(nanoseconds int64)
}

// A Result is what a run came to.
type Result struct {
	Failures []Failure
	Races    []Race
	// Reported is where a test first reported a failure, for Config.Ended; its G is 0 if
	// none did.
	Reported Failure
	// CutOff says that the run was ended by Config.MaxSteps.
	CutOff bool
	// Residue says that the run left changes behind which could not be taken back: runs
	// that follow it in the process do not begin where it began.
	Residue bool
	// Steps is how many steps were taken, Points at how many of them the strategy was
	// asked, Goroutines how many there were.
	Steps      uint64
	Points     uint64
	Goroutines int
	// Left are the goroutines that waited for something at the end.
	Left []Blocked
	// Outside lists what ran outside control. If it is not empty the same schedule may
	// lead elsewhere another time.
	Outside []Outside
	// Now is the virtual time at the end, in nanoseconds since the start.
	Now int64
	// Frames are the calls of the run. They are valid until the next run.
	Frames *Frames
}

// Failed reports whether anything was found.
func (r *Result) Failed() bool { return len(r.Failures) > 0 || len(r.Races) > 0 }

// A Failure is why a run failed.
type Failure struct {
	Kind event.FailureKind
	// Message is what the runtime would print, without "panic: " or "fatal error: ".
	Message string
	// G, Site and Frame are where, as far as known; Step is when.
	G     uint32
	Site  uint32
	Frame uint32
	Step  uint64
	// PCs are the stack of a panic, the innermost call first.
	PCs []uintptr
	// Code is that of an exit.
	Code int
	// Blocked are the goroutines of a deadlock.
	Blocked []Blocked
}

// An Access is one of the two of a race.
type Access struct {
	G     uint32
	Kind  event.Kind
	Site  uint32
	Frame uint32
	Addr  uintptr
	Size  uintptr
}

// A Race is two accesses that nothing orders, at least one of which stores.
type Race struct {
	First, Second Access
	Step          uint64
}

// A Blocked goroutine waits for something.
type Blocked struct {
	G     uint32
	Op    event.Op
	Frame uint32
}

// An Outside is something that went on outside control.
type Outside struct {
	// What says it in words.
	What string
	// G is the goroutine and Site and Frame the last place it was seen at; 0 if it was
	// never under control.
	G     uint32
	Site  uint32
	Frame uint32
}

// Frames is the tree of calls. A frame is known by its number; 0 is outside of all
// instrumented functions.
type Frames struct {
	// chunks are the nodes, by number. They are never moved, because there can be as many
	// as calls.
	chunks []*[chunkNodes]node
	nodes  uint32 // how many there are
	// index finds those that are not in the list of their parent, by open addressing. 0 is
	// an empty entry.
	index   []uint32
	indexed int
	// pcs are the sites that are not in instrumented code; see PC.
	pcs     []uintptr
	pcIndex map[uintptr]uint32
	recent  []recentSite // a cache, by address
}

const chunkNodes = 1 << 10

type node struct {
	parent uint32
	site   uint32
	pc     uintptr
	// child is the first call that was made from here, sibling the next that was made from
	// the same; 0 for none.
	child, sibling uint32
}

// A Call is one of the calls of a stack.
type Call struct {
	// Site is the function's.
	Site uint32
	// PC is where it returns to.
	PC uintptr
}

// Stack returns the calls that lead to a frame, the innermost first.
func (f *Frames) Stack(frame uint32) []Call {
	var all []Call
	for frame != 0 && frame < f.nodes {
		n := f.node(frame)
		all = append(all, Call{Site: n.site, PC: n.pc})
		frame = n.parent
	}
	return all
}

// PC returns the return address that a site from [event.CallSites] on stands for.
func (f *Frames) PC(site uint32) (pc uintptr, ok bool) {
	if site < event.CallSites || int(site-event.CallSites) >= len(f.pcs) {
		return 0, false
	}
	return f.pcs[site-event.CallSites], true
}

func (f *Frames) reset() {
	f.nodes = 0
	f.append(node{}) // 0 is no frame
	f.index, f.indexed = make([]uint32, 1<<6), 0
	f.pcs = f.pcs[:0]
	f.pcIndex = map[uintptr]uint32{}
	f.recent = make([]recentSite, 251)
}

// few is how many calls a frame has in its list. Nearly all have no more; those of a
// frame with many are in the index.
const few = 8

// frame returns the number of n, which may have been there before.
func (f *Frames) frame(n node) uint32 {
	link := &f.node(n.parent).child
	for range few {
		c := *link
		if c == 0 {
			c = f.append(n)
			*link = c
			return c
		}
		m := f.node(c)
		if m.site == n.site && m.pc == n.pc {
			return c
		}
		link = &m.sibling
	}
	return f.look(n)
}

// look is frame for what is in the index.
func (f *Frames) look(n node) uint32 {
	at := f.find(n)
	if *at != 0 {
		return *at
	}
	i := f.append(n)
	*at = i
	if f.indexed++; f.indexed > len(f.index)/2 {
		old := f.index
		f.index = make([]uint32, 2*len(old))
		for _, c := range old {
			if c != 0 {
				*f.find(*f.node(c)) = c
			}
		}
	}
	return i
}

// find returns where in the index n is, or belongs.
func (f *Frames) find(n node) *uint32 {
	const odd = 0x9E3779B97F4A7C15
	hash := ((uint64(n.parent)<<32|uint64(n.site))*odd ^ uint64(n.pc)) * odd
	for i := hash >> 32; ; i++ {
		at := &f.index[i&uint64(len(f.index)-1)]
		if *at == 0 {
			return at
		}
		if m := f.node(*at); m.parent == n.parent && m.site == n.site && m.pc == n.pc {
			return at
		}
	}
}

func (f *Frames) append(n node) uint32 {
	if int(f.nodes/chunkNodes) == len(f.chunks) {
		f.chunks = append(f.chunks, new([chunkNodes]node))
	}
	f.nodes++
	*f.node(f.nodes - 1) = n
	return f.nodes - 1
}

func (f *Frames) node(i uint32) *node { return &f.chunks[i/chunkNodes][i%chunkNodes] }

func (f *Frames) site(pc uintptr) uint32 {
	i, ok := f.pcIndex[pc]
	if !ok {
		i = uint32(len(f.pcs)) + event.CallSites
		f.pcs = append(f.pcs, pc)
		f.pcIndex[pc] = i
	}
	return i
}
