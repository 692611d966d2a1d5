// Package lanes makes the data of a picture from a recorded run: a lane for each goroutine, time
// going down, a step for each event that a person can make sense of.
//
//	run.go       what there is to know of a run at once: its goroutines, sites, files, and an index
//	steps.go     events become steps
//	names.go     what the program calls the memory, locks and channels of the steps
//	chunk.go     steps as text that a page takes apart when it shows them
//	order.go     which step comes after which because of synchronisation
//	held.go      which locks a goroutine holds
//	preempt.go   where the schedule takes over
//	source.go    the files around the steps
//	sentences.go what happened, in three sentences
//	decisive.go  the accesses on which a failure turns
//
// An event of a trace
//
//	38  g3  store  (*Protocol).Close  imap.go:38:3  p.transport  0xd1a1e4a9738 obj2+16  0xd1a1e50f430 (obj1) -> nil
//
// becomes a step: lane 1, kind "store", site 9, variable "p.transport", values "0xd1a1e50f430 (obj1)"
// and "nil", a stack, and the set of locks held. Calls, returns and allocations are no steps: they
// are in the stacks of the steps after them, and in the names of the memory.
//
// # What a page has to hold
//
// A run can have a million steps, and a page shows fifty. So steps are in chunks of [ChunkSteps],
// each compressed by itself, and a [Run] is their index: for each chunk where it is, how many
// steps of which goroutine it has, of what kinds and on which variables. A picture of the whole is
// drawn from the index alone, and a filter opens no chunk that cannot have what it looks for.
//
// Nothing here depends on how the page looks.
package lanes

import (
	"cmp"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/trace"
	"github.com/cofferdam-go/cofferdam/internal/trace/show"
)

// A Run is a recorded run, as a page has it at once. Numbers of steps count from 0; those of
// sites, variables and the like are indexes of the lists here.
type Run struct {
	Package string `json:"package,omitempty"`
	Test    string `json:"test,omitempty"`
	// Noun is what runs side by side: goroutine or thread.
	Noun     string `json:"noun"`
	Go       string `json:"go,omitempty"`
	Schedule string `json:"schedule"`
	Strategy string `json:"strategy,omitempty"`
	// Outcome is how the run ended: ok, failed, cut off; empty if the recording was cut off.
	Outcome string `json:"outcome,omitempty"`
	// Kind and Message are those of the worst failure, Shape why goroutines wait for ever.
	Kind    string `json:"kind,omitempty"`
	Message string `json:"message,omitempty"`
	Shape   string `json:"shape,omitempty"`
	// Sentences say what happened.
	Sentences []string `json:"sentences"`
	// Outside is what ran without control.
	Outside []string `json:"outside,omitempty"`

	Events    uint64   `json:"events"`
	Steps     int      `json:"steps"`
	Relevant  int      `json:"relevant"`
	Lanes     []Lane   `json:"lanes"`
	Kinds     []Kind   `json:"kinds"`
	Sites     []Site   `json:"sites"`
	Files     []File   `json:"files"`
	Variables []string `json:"variables"`
	Functions []string `json:"functions"`
	Stacks    [][2]int `json:"stacks"` // the stack of the caller, -1 for none, and a function
	Locks     []string `json:"locks"`
	Held      [][]int  `json:"held"` // sets of locks
	Marks     []Mark   `json:"marks"`
	Chunks    []Chunk  `json:"chunks"`
	Races     [][2]int `json:"races"` // steps that race, the earlier one first
	// HeldUp are steps that took a lock, and those that wait for it for ever.
	HeldUp  [][2]int `json:"heldUp"`
	Waiters []string `json:"waiters,omitempty"`

	// Data are the chunks, one after the other, each compressed (RFC 1951) and then in base64.
	Data []byte `json:"-"`
}

// A Lane is a goroutine.
type Lane struct {
	G     uint32 `json:"g"`
	Name  string `json:"name,omitempty"`
	Steps int    `json:"steps"`
}

// A Kind is a kind of event. Class is what a person filters by.
type Kind struct {
	Name  string `json:"name"`
	Class string `json:"class"`
}

// A Site is a place in the source.
type Site struct {
	File     int    `json:"f"` // -1 if it is not among the files
	Place    string `json:"p,omitempty"`
	Line     int    `json:"l,omitempty"`
	Function string `json:"fn,omitempty"`
	Expr     string `json:"x,omitempty"`
	// Lanes are those that come here in a step.
	Lanes []int `json:"g,omitempty"`
}

// A MarkKind is why a step is marked.
type MarkKind string

const (
	// Preempted is the last step of a goroutine before the schedule lets another one go.
	Preempted MarkKind = "preemption"
	// Stalled is a step by which time moves on while goroutines are ready.
	Stalled MarkKind = "stall"
	// Failed is the step that the worst failure is at, Waits that of a goroutine which waits for ever.
	Failed MarkKind = "failure"
	Waits  MarkKind = "waits"
)

// A Mark is a step that is always shown as one.
type Mark struct {
	Kind MarkKind `json:"kind"`
	Step int      `json:"step"`
	// To is the goroutine that goes next, of a preemption.
	To uint32 `json:"to,omitempty"`
	// Site is the program's line that failed, plus 1, where the event itself is in the runtime or the
	// library, and Calls are the calls in progress there, innermost first; 0 and none otherwise.
	Site  int      `json:"site,omitempty"`
	Calls []string `json:"calls,omitempty"`
}

// Options are how a Run is made.
type Options struct {
	// Source returns the text of a file of the program; nil reads files of the disk.
	Source func(file string) ([]byte, error)
	// Progress is called now and then with how many events are done; it may be nil.
	Progress func(done, all uint64)
}

// New reads a trace. A trace that was cut off is read as far as it goes.
func New(r *trace.Reader, o Options) (*Run, error) {
	run := &Run{
		Package: r.Header.Package, Test: r.Header.Test, Noun: show.Noun(r), Go: r.Header.Go,
		Schedule: r.Header.Schedule, Strategy: r.Header.Strategy, Events: r.Len(),
		Lanes: []Lane{}, Sites: []Site{}, Files: []File{}, Variables: []string{}, Functions: []string{},
		Stacks: [][2]int{}, Locks: []string{}, Held: [][]int{}, Marks: []Mark{}, Chunks: []Chunk{}, Races: [][2]int{}, HeldUp: [][2]int{},
	}
	if b := r.Header.Binary; b != nil {
		run.Package = b.Path
	}
	for _, k := range append([]event.Kind{event.None}, event.Kinds()...) {
		run.Kinds = append(run.Kinds, Kind{k.String(), class(k)})
	}
	b, err := newBuilder(r, run, o)
	if err != nil {
		return nil, err
	}
	if err := b.read(); err != nil {
		return nil, err
	}
	if err := b.finish(); err != nil {
		return nil, err
	}
	if out := r.Outcome; out != nil {
		run.Outcome, run.Outside = out.Result.String(), out.Outside
		if worst := out.Worst(); worst != nil {
			run.Kind, run.Message, run.Shape = worst.Kind.String(), worst.Message, show.ShapeWords(worst.Shape())
			for i := range worst.Waiting {
				run.Waiters = append(run.Waiters, show.Waiting(r, &worst.Waiting[i]))
			}
		}
	}
	run.Sentences = b.sentences()
	slices.SortStableFunc(run.Marks, func(x, y Mark) int { return cmp.Compare(x.Step, y.Step) })
	return run, nil
}

// class groups the kinds of events.
func class(k event.Kind) string {
	switch k {
	case event.Load, event.MapRead:
		return "read"
	case event.Store, event.MapWrite:
		return "write"
	case event.AtomicLoad, event.AtomicStore, event.AtomicUpdate, event.AtomicCompare:
		return "atomic"
	case event.Lock, event.TryLock, event.Unlock, event.RLock, event.TryRLock, event.RUnlock:
		return "lock"
	case event.Send, event.Recv, event.Close, event.ChanLen, event.Select:
		return "channel"
	case event.Go, event.Start, event.End, event.Gosched:
		return "goroutine"
	case event.WaitGroupAdd, event.WaitGroupWait, event.CondWait, event.Signal, event.Broadcast, event.PoolGet, event.PoolPut:
		return "sync"
	case event.Blocked:
		return "wait"
	case event.Sleep, event.TimerStart, event.TimerStop, event.TimerFire, event.ReadClock, event.Stall:
		return "time"
	case event.Panic, event.Exit, event.Fail:
		return "failure"
	}
	return "other"
}
