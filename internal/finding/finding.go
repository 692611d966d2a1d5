// Package finding is the one model of what Cofferdam tells a person, and the
// renderers of it.
//
// # Terms
//
// A [Finding] says that some accesses met at a [Guard] in a way that they
// should not have. Its [Kind] says in which way, its accesses say what was done
// and where, and its [History] says how often it happened, with which
// [Outcome] and at what cost in time.
//
// The site of an access is the line of the program that made it. A finding is
// a statement about sites and not about moments: a loop that skips a lock a
// thousand times has one defect, so it is one finding with a count of a
// thousand. The [ID] makes that precise.
//
// # How it works
//
// A package that observes something builds a Finding with a History of [Once]
// and adds it to a [Log], or to a [Feed], which has one and tells subscribers.
// The log merges findings of equal ID. Because a finding and a group of findings
// are the same type, what was read back from a file with [ReadJSON] can be added
// to a log too, which is how the reports of several processes become one.
//
//	finding.go  the model
//	id.go       identity: when two findings are the same one
//	log.go      grouping of repeats
//	feed.go     delivery: to subscribers and a logger
//	baseline.go findings that are known already
//	text.go     for a terminal
//	json.go     for other programs: one finding per line
//	journal.go  a file of such lines that a running program appends to
//	metrics.go  for Prometheus
//	profile.go  for go tool pprof: where accesses waited
//
// # Invariants
//
//   - Accesses[0] is the access that the finding is about; the others are
//     what it met. The order is part of the identity.
//   - What is in a log, or came out of one, is never modified again: only a
//     History changes, and only inside the log.
//
// This package is linked into users' programs and imports the standard library
// alone. The mu of a Feed is taken before that of its Log; no other lock is taken under
// either, and none is held while a subscriber runs.
package finding

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// A Kind says what is wrong.
type Kind string

const (
	// Violation is a careless access that fell into another goroutine's section.
	Violation Kind = "violation"

	// Bypass is an access through the shared pointer by the goroutine that is
	// inside the section. It holds the lock, so nothing was corrupted, but it
	// was stopped at the page like a careless access.
	Bypass Kind = "bypass"

	// Race is two accesses of the same memory that nothing orders, at least one of
	// which writes. The later one is what the finding is about.
	Race Kind = "data race"

	// Ways in which a run of the program ended. Their accesses are where; those of a
	// deadlock are what each goroutine waits for.
	Panic    Kind = "panic"
	Fatal    Kind = "fatal error"
	Deadlock Kind = "deadlock"
	// PartialDeadlock is a lock that is never released, while other goroutines go on or have
	// ended; Leak is a goroutine that is left waiting when its test is over.
	PartialDeadlock Kind = "partial deadlock"
	Leak            Kind = "leak"
	Exit            Kind = "exit"
	TestFail        Kind = "test failed"
	Crash           Kind = "crash" // of a program without source

	// What is seen in the source, without a run. Deviation is an access that does not hold the
	// lock which, by the evidence, guards the data.
	Deviation Kind = "deviation"
	// SplitSection is data that is checked in one section and used, by what the check said, in
	// a later one. The use is what the finding is about, the check what it met.
	SplitSection Kind = "split section"
	// TransactionMisuse is something that must not be in a transaction; the Explanation says what.
	TransactionMisuse Kind = "transaction misuse"
)

// Kinds are all kinds, in the order in which people are told of them.
var Kinds = []Kind{
	Panic, Fatal, Deadlock, PartialDeadlock, Exit, TestFail, Crash, Race, Leak,
	Violation, Bypass, Deviation, SplitSection, TransactionMisuse,
}

// ends reports whether a finding of this kind is an end of a run.
func (k Kind) ends() bool {
	switch k {
	case Panic, Fatal, Deadlock, PartialDeadlock, Leak, Exit, TestFail, Crash:
		return true
	}
	return false
}

// OfRun reports whether findings of this kind are what a run has shown that was under control.
func (k Kind) OfRun() bool { return k.ends() || k == Race }

// alike reports whether the accesses of a finding of this kind have no roles that their order tells.
func (k Kind) alike() bool {
	switch k {
	case Race, Deadlock, PartialDeadlock, Leak:
		return true
	}
	return false
}

// An Outcome says what became of the access that a finding is about. Findings
// that only state a fact about the program have none.
type Outcome string

const (
	Delayed     Outcome = "delayed"     // waited until the section had ended
	Tolerated   Outcome = "tolerated"   // happened, and could not harm the section
	Resolved    Outcome = "resolved"    // happened, and was merged with the section's result
	Surrendered Outcome = "surrendered" // was let through into the section
	Refused     Outcome = "refused"     // was not carried out
)

// An Op is what an access did.
type Op string

const (
	Read  Op = "read"
	Write Op = "write"

	// Lock stands for the entry into a section. The holder's own loads and
	// stores run at full speed and are not seen, so the place where it took
	// the lock is what is known about it.
	Lock Op = "lock"

	// Step is any other step of a goroutine, such as a receive, or a call that failed.
	Step Op = "step"
)

// A Frame is one call on a goroutine's stack, or any other place in the source.
type Frame struct {
	Function string `json:"function,omitempty"` // with its package path, as the runtime spells it
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
	Column   int    `json:"column,omitempty"` // in bytes, from 1; 0 if unknown, as it is of all that runs
}

// String returns file:line with the file's base name, the form for use within
// a sentence.
func (f Frame) String() string {
	switch {
	case f.File != "":
		return f.base() + ":" + strconv.Itoa(f.Line)
	case f.Function != "":
		return f.Function
	}
	return "an unknown place"
}

// base does not use path/filepath, because the runtime writes slashes on every
// system and a finding may be read on another system than it was made on.
func (f Frame) base() string {
	return f.File[strings.LastIndexByte(f.File, '/')+1:]
}

// Frames resolves return addresses, as [runtime.Callers] gives them, innermost
// first. For a stack that begins at the very instruction that faulted, add one
// to its first pc. The runtime's frames below main and below a go statement are
// left out, as they are in Go's own tracebacks.
func Frames(pcs []uintptr) []Frame {
	if len(pcs) == 0 {
		return nil
	}
	var stack []Frame
	frames := runtime.CallersFrames(pcs)
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		if f.PC == 0 || f.Function == "runtime.goexit" || f.Function == "runtime.main" {
			continue
		}
		stack = append(stack, Frame{Function: f.Function, File: f.File, Line: f.Line})
	}
	return stack
}

// An Access is one load or store, or one entry into a section.
type Access struct {
	Op        Op      `json:"op"`
	Goroutine uint64  `json:"goroutine,omitempty"` // 0 if unknown
	Address   uint64  `json:"address,omitempty"`   // 0 if unknown; not a uintptr, so that a 32-bit reader can hold it
	Target    string  `json:"target,omitempty"`    // type and field, such as Account.Balance
	Stack     []Frame `json:"stack,omitempty"`     // innermost first

	// Of a goroutine that waits for ever to make the access: why, which others wait in the
	// same way, the locks that it holds, and the holders of the one that it waits for.
	Shape  string   `json:"shape,omitempty"`
	More   []uint64 `json:"more,omitempty"`
	Holds  []Held   `json:"holds,omitempty"`
	HeldBy []Held   `json:"held_by,omitempty"`
}

// A Held lock is one that a goroutine has taken and not released.
type Held struct {
	Goroutine uint64 `json:"goroutine,omitempty"`
	Address   uint64 `json:"address,omitempty"`
	Target    string `json:"target,omitempty"` // the call that took it
	Since     Frame  `json:"since,omitzero"`
	Ended     bool   `json:"ended,omitempty"` // the goroutine has ended
}

// Site returns the line of the program that made the access: its innermost
// frame that does not merely act for its caller. Without that exception every
// copy of guarded bytes would have its site in runtime.memmove, and every
// counter that becomes negative in sync.(*WaitGroup).Add, and all of them
// would be one finding.
func (a Access) Site() Frame {
	for _, f := range a.Stack {
		if !onBehalfOfCaller(f.Function) {
			return f
		}
	}
	if len(a.Stack) > 0 {
		return a.Stack[0]
	}
	return Frame{}
}

// onBehalfOfCaller reports whether a function belongs to one of the packages
// that access what their caller points them at, or panic because of what their
// caller asks for. It is a list because nothing tells the standard library from
// a module whose path has no dot in it. A package path is written out in front
// of a function, so that a user's example.com/runtime does not match.
func onBehalfOfCaller(function string) bool {
	for _, prefix := range [...]string{
		"runtime.", "runtime/", "internal/", "reflect.", "sync/atomic.", "bytes.", "slices.",
		"sync.", "strings.", "time.", "context.", "sort.", "maps.", "regexp.", "regexp/syntax.",
	} {
		if strings.HasPrefix(function, prefix) {
			return true
		}
	}
	return false
}

// What names the access within a sentence, such as "write of Account.Balance". The target of a step says
// what it does.
func (a Access) What() string {
	switch {
	case a.Target == "":
		return string(a.Op)
	case a.Op == Step:
		return a.Target
	}
	return string(a.Op) + " of " + a.Target
}

// A Guard names the lock whose data was accessed. The many guards that one
// line makes in a loop are one Guard here, so Name must hold nothing that
// tells them apart, such as an address.
type Guard struct {
	Name string `json:"name,omitempty"` // what it protects, such as accounts
	Site Frame  `json:"site,omitzero"`  // where it was made
}

// String returns the name of the guard, or what can be said in its place.
func (g Guard) String() string {
	switch {
	case g.Name != "":
		return g.Name
	case g.Site != Frame{}:
		return "the guard made at " + g.Site.String()
	}
	return "an unnamed guard"
}

// A Finding is one thing to tell a person. Its Accesses, and the Explanation,
// are those of the first time that it was seen; its History covers all times.
type Finding struct {
	Kind        Kind     `json:"kind"`
	Shape       string   `json:"shape,omitempty"` // of a deadlock or a leak: why goroutines wait for ever
	Guard       Guard    `json:"guard,omitzero"`
	Accesses    []Access `json:"accesses,omitempty"`    // the one that it is about first
	Explanation string   `json:"explanation,omitempty"` // why it came to this outcome, in sentences
	Run         *Run     `json:"run,omitempty"`         // which one showed it; nil if that was none in particular
	History
}

// A Run is one run of a program under control.
type Run struct {
	Package string `json:"package,omitempty"` // its import path
	Test    string `json:"test,omitempty"`    // empty for a main program
	Trace   string `json:"trace,omitempty"`   // the file it is recorded in
}

// A History is how often a finding was seen, and what came of it.
type History struct {
	Count       uint64        `json:"count"`
	Outcomes    Tally         `json:"outcomes,omitzero"`
	Waited      time.Duration `json:"waited_ns,omitempty"` // in all
	LongestWait time.Duration `json:"longest_wait_ns,omitempty"`
	First       time.Time     `json:"first,omitzero"`
	Last        time.Time     `json:"last,omitzero"`
}

// Once returns the history of something seen a single time. The outcome is
// empty for a finding that has none.
func Once(outcome Outcome, waited time.Duration, at time.Time) History {
	h := History{Count: 1, Waited: waited, LongestWait: waited, First: at, Last: at}
	if outcome != "" {
		*h.Outcomes.of(outcome) = 1
	}
	return h
}

// merge adds the occurrences in o to h. Neither need be the later one, because
// the histories of two processes overlap.
func (h *History) merge(o History) {
	h.Count += o.Count
	h.Outcomes.Add(o.Outcomes)
	h.Waited += o.Waited
	h.LongestWait = max(h.LongestWait, o.LongestWait)
	if h.First.IsZero() || !o.First.IsZero() && o.First.Before(h.First) {
		h.First = o.First
	}
	if o.Last.After(h.Last) {
		h.Last = o.Last
	}
}

// A Tally counts occurrences by outcome. It is a struct and not a map so that
// counting a repeat allocates nothing and a snapshot is an assignment.
type Tally struct {
	Delayed     uint64 `json:"delayed,omitempty"`
	Tolerated   uint64 `json:"tolerated,omitempty"`
	Resolved    uint64 `json:"resolved,omitempty"`
	Surrendered uint64 `json:"surrendered,omitempty"`
	Refused     uint64 `json:"refused,omitempty"`
}

// outcomes lists every outcome in the order in which people are told of them.
var outcomes = [...]Outcome{Delayed, Tolerated, Resolved, Surrendered, Refused}

// Add adds the occurrences in o to t.
func (t *Tally) Add(o Tally) {
	for _, outcome := range outcomes {
		*t.of(outcome) += o.Of(outcome)
	}
}

// Of returns how often the outcome occurred.
func (t Tally) Of(outcome Outcome) uint64 { return *t.of(outcome) }

func (t *Tally) of(outcome Outcome) *uint64 {
	switch outcome {
	case Delayed:
		return &t.Delayed
	case Tolerated:
		return &t.Tolerated
	case Resolved:
		return &t.Resolved
	case Surrendered:
		return &t.Surrendered
	case Refused:
		return &t.Refused
	}
	panic(fmt.Sprintf("finding: unknown outcome %q", outcome))
}
