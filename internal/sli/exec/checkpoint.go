package exec

import (
	"cmp"
	"maps"
	"slices"
	"sort"
)

// Following a goroutine from its start to the place that matters, and again for the next
// place, would cost the product of both. So the first time that a goroutine is followed,
// checkpoints are kept, and afterwards it is followed from the last one before the place.
//
// A checkpoint has the calls in progress with their registers, how far the events were
// consumed, and the unrecorded memory that the goroutine has changed since the one before.

// A checkpoint is a goroutine in the middle of its run.
type checkpoint struct {
	steps  int // that were made before
	frames []*Frame
	follower
	memory map[uint64]memoryWord // changed since the checkpoint before
}

// A history is what is kept of a goroutine that was followed.
type history struct {
	checkpoints []checkpoint
	interval    int // steps between two checkpoints, at least
	steps       int
	initial     map[uint64]memoryWord // before the goroutine changed it
	rest        map[uint64]memoryWord // changed since the last checkpoint
}

const (
	// firstInterval is how many steps are between two checkpoints, as long as there are few of
	// them; maxCheckpoints is when every other one is dropped.
	firstInterval  = 4096
	maxCheckpoints = 512
)

// clone copies the frames of a thread, which go on changing.
func (t *Thread) clone() []*Frame {
	all := make([]*Frame, len(t.Frames))
	for i, f := range t.Frames {
		frame := *f
		frame.Regs, frame.defers = slices.Clone(f.Regs), slices.Clone(f.defers)
		all[i] = &frame
	}
	return all
}

// keep keeps a checkpoint, if it is time for one.
func (h *history) keep(f *follower, thread *Thread) {
	last := 0
	if n := len(h.checkpoints); n > 0 {
		last = h.checkpoints[n-1].steps
	}
	if h.steps-last < h.interval || !f.hasEvent {
		return
	}
	c := checkpoint{steps: h.steps, frames: thread.clone(), follower: *f, memory: f.unrecorded.changes()}
	c.lastAllocOf, c.beyondStores, c.firstReplay = maps.Clone(f.lastAllocOf), nil, false
	if h.checkpoints = append(h.checkpoints, c); len(h.checkpoints) > maxCheckpoints {
		h.thin()
	}
}

// thin drops every other checkpoint.
func (h *history) thin() {
	kept := h.checkpoints[:0]
	for i := 0; i+1 < len(h.checkpoints); i += 2 {
		first, second := h.checkpoints[i], h.checkpoints[i+1]
		maps.Copy(first.memory, second.memory)
		second.memory = first.memory
		kept = append(kept, second)
	}
	if len(h.checkpoints)%2 == 1 {
		kept = append(kept, h.checkpoints[len(h.checkpoints)-1])
	}
	clear(h.checkpoints[len(kept):])
	h.checkpoints = kept
	h.interval *= 2
}

// before is the number of the last checkpoint that is at least so many steps before an event;
// -1 if only the start is.
func (h *history) before(seq uint64, room int) int {
	at := sort.Search(len(h.checkpoints), func(i int) bool { return h.checkpoints[i].time() > seq }) - 1
	if at < 0 {
		return -1
	}
	wanted := h.checkpoints[at].steps - room
	for at >= 0 && h.checkpoints[at].steps > wanted {
		at--
	}
	return at
}

// restore gives unrecorded memory the contents that it had for the goroutine at a checkpoint,
// and after all of them with the number of checkpoints.
func (h *history) restore(memory *unrecordedMemory, at int) {
	for word, contents := range h.initial {
		memory.set(word, contents)
	}
	for i := range h.checkpoints[:min(at+1, len(h.checkpoints))] {
		for word, contents := range h.checkpoints[i].memory {
			memory.set(word, contents)
		}
	}
	if at == len(h.checkpoints) {
		for word, contents := range h.rest {
			memory.set(word, contents)
		}
	}
}

// resume makes the follower and the thread of a checkpoint.
func (h *history) resume(r *Replay, at int) (*follower, *Thread) {
	c := &h.checkpoints[at]
	f := c.follower
	f.lastAllocOf = maps.Clone(c.lastAllocOf)
	thread := &Thread{G: f.g, prog: r.Program, host: &f, contexts: r.Contexts, Frames: c.frames}
	thread.Frames = thread.clone()
	return &f, thread
}

// RunFrom is Run from a place at least so many steps before an event of the trace, or from the
// goroutine's start. The goroutine must have been followed before.
func (r *Replay) RunFrom(g uint32, seq uint64, room int, before func(*Thread, *Step) bool, after func(*Thread, *Step) bool) {
	h := r.histories[g]
	if h == nil {
		r.Run(g, before, after)
		return
	}
	at := h.before(seq, room)
	if at < 0 {
		r.Run(g, before, after)
		return
	}
	h.restore(r.unrecorded, at)
	f, thread := h.resume(r, at)
	f.follow(thread, nil, before, after)
	h.restore(r.unrecorded, len(h.checkpoints))
}

// Steps is how many steps a goroutine has made that was followed.
func (r *Replay) Steps(g uint32) int {
	if h := r.histories[g]; h != nil {
		return h.steps
	}
	return 0
}

// A Window is a part of a trace, from one event to another.
type Window struct{ From, To uint64 }

// TailWindow is the part of a goroutine's run that has its last steps, so many or a few more.
func (r *Replay) TailWindow(g uint32, steps int) Window {
	w := Window{To: r.Trace.Last()}
	if h := r.histories[g]; h != nil {
		for i := len(h.checkpoints) - 1; i >= 0 && w.From == 0; i-- {
			if h.checkpoints[i].steps <= h.steps-steps {
				w.From = h.checkpoints[i].time()
			}
		}
	}
	return w
}

// WindowAround is the part of a goroutine's run that has so many steps before and after the
// event with a number, or a few more.
func (r *Replay) WindowAround(g uint32, seq uint64, steps int) Window {
	w := Window{To: r.Trace.Last()}
	h := r.histories[g]
	if h == nil || len(h.checkpoints) == 0 {
		return w
	}
	if at := h.before(seq, steps); at >= 0 {
		w.From = h.checkpoints[at].time()
	}
	first := sort.Search(len(h.checkpoints), func(i int) bool { return h.checkpoints[i].time() > seq })
	for i := first; i < len(h.checkpoints); i++ {
		if h.checkpoints[i].steps >= h.checkpoints[first].steps+steps {
			w.To = h.checkpoints[i].time()
			break
		}
	}
	return w
}

// RunWindows is Run for some parts of a goroutine's run. Steps between them may be among those
// that are told.
func (r *Replay) RunWindows(g uint32, windows []Window, before func(*Thread, *Step) bool, after func(*Thread, *Step) bool) {
	for _, w := range r.merged(g, windows) {
		r.RunFrom(g, w.From, 0, func(t *Thread, s *Step) bool {
			// The step is in the window if it makes its first event there: it may make more.
			if s.BeyondTrace && w.To < r.Trace.Last() || !s.BeyondTrace && s.Time > w.To {
				return false
			}
			return before == nil || s.Time < w.From || before(t, s)
		}, func(t *Thread, s *Step) bool {
			return after == nil || s.Time < w.From || after(t, s)
		})
	}
}

// merged are windows in their order, without any for the second of which the goroutine would
// have to be followed from before the end of the first.
func (r *Replay) merged(g uint32, windows []Window) []Window {
	slices.SortFunc(windows, func(a, b Window) int { return cmp.Compare(a.From, b.From) })
	var all []Window
	for _, w := range windows {
		if n := len(all); n > 0 && (w.From <= all[n-1].To || r.histories[g].startOf(w.From) <= r.histories[g].startOf(all[n-1].To)) {
			all[n-1].To = max(all[n-1].To, w.To)
			continue
		}
		all = append(all, w)
	}
	return all
}

// startOf is the checkpoint from which a goroutine is followed to an event; -1 for its start.
func (h *history) startOf(seq uint64) int {
	if h == nil {
		return -1
	}
	return h.before(seq, 0)
}
