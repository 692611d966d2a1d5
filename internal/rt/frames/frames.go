// Package frames keeps the calls of a run as a tree, and tells from return addresses where
// in the program a function of the standard library was called.
//
//	frames.go    the tree
//	library.go   return addresses, and which of them are in patched functions
//	standard.go  which of them are in the standard library
//	inlined.go   what stands at one, with the functions that were inlined there
//
// Numbers of frames are given out again in the same order when a run is repeated, so that
// two runs by one schedule have the same events.
package frames

import "github.com/cofferdam-go/cofferdam/internal/event"

// A Tree is the tree of calls. A frame is known by its number; 0 is outside of all
// instrumented functions.
type Tree struct {
	// chunks are the nodes, by number. They are never moved, because there can be as many
	// as calls.
	chunks []*[chunkNodes]Node
	nodes  uint32 // how many there are
	// index finds those that are not in the list of their parent, by open addressing. 0 is
	// an empty entry.
	index   []uint32
	indexed int
	// sites are those that are not in instrumented code, isSite their return addresses; see PC.
	sites  []uint32
	isSite map[uintptr]bool
	recent *recentSites // by FirstSite
	calls  *recentSites // by ProgramSite
}

const chunkNodes = 1 << 10

// A Node is one call.
type Node struct {
	Parent uint32  // the frame of the caller
	Site   uint32  // the function's
	PC     uintptr // where it returns to
	// First says that it is a call that a goroutine begins with: the parent is where that was started.
	First bool
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

// Stack returns the calls that lead to a frame, the innermost first, from where its goroutine begins.
func (f *Tree) Stack(frame uint32) []Call {
	var all []Call
	for frame != 0 && frame < f.nodes {
		n := f.node(frame)
		all = append(all, Call{Site: n.Site, PC: n.PC})
		if n.First {
			break
		}
		frame = n.Parent
	}
	return all
}

// PC returns the return address that a site from [event.CallSites] on stands for.
func (f *Tree) PC(site uint32) (pc uintptr, ok bool) {
	if pc = pcOf(site); site < event.CallSites || !f.isSite[pc] {
		return 0, false
	}
	return pc, true
}

// Sites are the sites from [event.CallSites] on that were given out, in their order.
func (f *Tree) Sites() []uint32 { return f.sites }

func (f *Tree) Reset() {
	f.nodes = 0
	f.Append(Node{}) // 0 is no frame
	f.index, f.indexed = make([]uint32, 1<<6), 0
	f.sites = f.sites[:0]
	f.isSite = map[uintptr]bool{}
	f.recent, f.calls = new(recentSites), new(recentSites)
}

// listed is how many calls a frame has in its list. Nearly all have no more; those of a
// frame with many are in the index.
const listed = 8

// Enter returns the number of a call, which may have been there before.
func (f *Tree) Enter(n Node) uint32 {
	link := &f.node(n.Parent).child
	for range listed {
		c := *link
		if c == 0 {
			c = f.Append(n)
			*link = c
			return c
		}
		m := f.node(c)
		if m.Site == n.Site && m.PC == n.PC {
			return c
		}
		link = &m.sibling
	}
	return f.look(n)
}

// look is Enter for what is in the index.
func (f *Tree) look(n Node) uint32 {
	at := f.find(n)
	if *at != 0 {
		return *at
	}
	i := f.Append(n)
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
func (f *Tree) find(n Node) *uint32 {
	const odd = 0x9E3779B97F4A7C15
	hash := ((uint64(n.Parent)<<32|uint64(n.Site))*odd ^ uint64(n.PC)) * odd
	for i := hash >> 32; ; i++ {
		at := &f.index[i&uint64(len(f.index)-1)]
		if *at == 0 {
			return at
		}
		if m := f.node(*at); m.Parent == n.Parent && m.Site == n.Site && m.PC == n.PC {
			return at
		}
	}
}

func (f *Tree) Append(n Node) uint32 {
	if int(f.nodes/chunkNodes) == len(f.chunks) {
		f.chunks = append(f.chunks, new([chunkNodes]Node))
	}
	f.nodes++
	*f.node(f.nodes - 1) = n
	return f.nodes - 1
}

func (f *Tree) node(i uint32) *Node { return &f.chunks[i/chunkNodes][i%chunkNodes] }

// Within reports whether one of the calls that lead to a frame, or the frame itself, is the
// frame outer.
func (f *Tree) Within(frame, outer uint32) bool {
	for frame != outer {
		if frame == 0 || frame >= f.nodes {
			return false
		}
		frame = f.node(frame).Parent
	}
	return true
}

// Passes reports whether one of the calls that lead from the frame born to a frame is of a
// function whose site is first or a later one.
func (f *Tree) Passes(frame, born, first uint32) bool {
	for frame != born && frame != 0 && frame < f.nodes {
		n := f.node(frame)
		if n.Site >= first {
			return true
		}
		frame = n.Parent
	}
	return false
}
