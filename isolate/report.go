package isolate

import (
	"fmt"
	"io"
	"log/slog"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/finding"
	"github.com/cofferdam-go/cofferdam/internal/page"
)

// A Finding is what there is to tell about one pair of sites: a careless access
// and the section that it fell into. Repeats are one finding with a count.
type Finding = finding.Finding

// A Status says how guarded memory is protected.
type Status struct {
	Backend string // "userfaultfd", "mprotect", or "none": locks are plain locks
	Reason  string // why it is not the best one; empty if it is

	// Weakness is what does not work as well as it could, such as under
	// GODEBUG=asyncpreemptoff=1 or in a -race build; empty if all does.
	Weakness string
}

// CurrentStatus says how guarded memory is protected in this process.
func CurrentStatus() Status {
	s := page.Setup()
	weakness := s.Weakness
	if s.Backend != page.None && blinded != "" {
		weakness = strings.TrimPrefix(weakness+"; "+blinded, "; ")
	}
	return Status{Backend: string(s.Backend), Reason: s.Reason, Weakness: weakness}
}

// A Config says what may be changed about the package. The zero value is the
// default.
type Config struct {
	// LongestWait is how long a careless access waits for a section before it is
	// let through. The default is one second.
	LongestWait time.Duration

	// Logger gets each finding once, when it is new. The default is slog.Default.
	Logger *slog.Logger

	// Record is called with each finding, merged with its repeats, as soon as it is known,
	// by the goroutine that has noticed it, so that what it writes is there even if the
	// program crashes next. It must return soon, take no lock that is held elsewhere while
	// guarded data is accessed, and not access guarded data itself. [OnFinding] is for
	// everything else.
	Record func(Finding)
}

// Configure sets the configuration of the package.
func Configure(c Config) {
	page.Setup()
	if c.LongestWait <= 0 {
		c.LongestWait = time.Second
	}
	page.SetLongestWait(c.LongestWait)
	feed.SetLogger(c.Logger)
	feed.SetRecorder(c.Record)
}

// Stats count what happened since the program began. To publish them:
//
//	expvar.Publish("isolate", expvar.Func(func() any { return isolate.ReadStats() }))
type Stats struct {
	Guards        int    // open guards
	Bytes         uint64 // of memory that belongs to them
	Opened        uint64 // careless accesses that found a page protected and nobody in a section
	Delayed       uint64 // violations that waited for the section
	Surrendered   uint64 // violations that were let through
	Bypassed      uint64 // accesses by the holder through the shared pointer
	Seals         uint64 // sections that had to protect their pages
	SealErrors    uint64 // of these: refused by the kernel, the section ran unprotected
	Waiting       uint64 // careless accesses that wait for a section at this moment
	Yields        uint64 // times that one of them gave up its processor to other goroutines
	LostFindings  uint64 // violations that came faster than they could be recorded
	OtherFindings uint64 // violations beyond the number of different findings that are kept
}

// ReadStats returns the counters.
func ReadStats() Stats {
	page.Drain(collect)
	n := 0
	guards.Range(func(any, any) bool { n++; return true })
	c := page.Count()
	return Stats{
		Guards:        n,
		Bytes:         page.Reserved(),
		Opened:        c.Opened,
		Delayed:       c.Delayed,
		Surrendered:   c.Surrendered,
		Bypassed:      c.Bypassed,
		Seals:         c.Seals,
		SealErrors:    c.SealErrors,
		Waiting:       c.Waiting,
		Yields:        c.Yields,
		LostFindings:  c.Lost,
		OtherFindings: feed.Dropped(),
	}
}

// feed has what was found. The reporter delivers it, and waits for a slow subscriber: what
// comes faster is counted as lost where it is noted, in the ring of package page, instead of
// piling up.
var (
	feed      = finding.Feed{Source: "isolate", Attributes: finding.DelayAttributes}
	reporting sync.Once
)

// OnFinding adds a function that is called with each violation, merged with its
// repeats: Count tells the first. It runs on a goroutine of its own, after the
// fact, and may do what it likes.
func OnFinding(f func(Finding)) {
	startReporter()
	feed.Subscribe(f)
}

// Findings returns what was found so far, oldest first. A violation is among
// them as soon as the access that made it has proceeded.
func Findings() []Finding {
	page.Drain(collect)
	return feed.Findings()
}

func startReporter() {
	reporting.Do(func() {
		page.Setup()
		go func() {
			for page.AwaitFault() {
				for pause := shortestPause; page.Drain(collect); pause = min(2*pause, longestPause) {
					feed.Deliver()
					time.Sleep(pause)
				}
				feed.Deliver()
			}
		}()
	})
}

// How long the reporter lets accesses wait before it looks again what has become of them:
// shortly at first, because most sections are short, and a program may crash soon after.
const (
	shortestPause = 100 * time.Microsecond
	longestPause  = 10 * time.Millisecond
)

// collect turns a fault into a finding, to be delivered by the reporter.
func collect(f *page.Fault) { feed.Add(explain(f)) }

// explain says in words what the handler noted in numbers.
func explain(f *page.Fault) Finding {
	access := finding.Access{
		Op:        finding.Read,
		Goroutine: f.Goroutine,
		Address:   uint64(f.Address),
		Stack:     withoutAccessors(finding.Frames(f.PCs())),
	}
	if f.Write != 0 {
		access.Op = finding.Write
	}
	one := Finding{Kind: finding.Violation, Guard: finding.Guard{Name: "a closed guard"}}
	if g, ok := guards.Load(f.Gate); ok {
		offset, _ := offsetOfAddress(f.Address)
		one.Guard = g.(*guard).describe()
		access.Target = g.(*guard).locate(offset)
	}
	section := finding.Access{Op: finding.Lock, Goroutine: f.Holder, Stack: lockStack(f.Site)}
	one.Accesses = []finding.Access{access, section}
	one.History = finding.Once(outcomeOf(f), time.Duration(f.Waited), time.Now())
	switch f.Outcome {
	case page.Delayed:
		one.Explanation = "an access without the lock fell into a section; it waited for the end of the section"
	case page.Bypassed:
		one.Kind = finding.Bypass
		one.Explanation = "a section used the shared pointer instead of Own; its pages are open until the next Lock"
	case page.SurrenderedCycle:
		one.Explanation = "an access without the lock was let into a section, because the section waits for a lock that the careless goroutine holds"
	case page.SurrenderedTimeout:
		one.Explanation = "an access without the lock was let into a section, because the section did not end within the longest wait"
	case page.SurrenderedStop:
		one.Explanation = "an access without the lock was let into a section, because the runtime had to stop the careless goroutine at an instruction where it cannot be stopped"
	case page.SurrenderedStuck:
		one.Explanation = "an access without the lock was let into a section, because it cannot be suspended at its instruction, and no processor was left for the section"
	case page.SurrenderedLenient:
		one.Explanation = "an access without the lock was let into a section, because the section runs code that may be waiting for it"
	case page.SurrenderedRefused:
		one.Explanation = "an access without the lock was let through, and all other guarded memory is open from now on, because the kernel has no mappings left for this process: raise vm.max_map_count"
	default:
		panic(fmt.Sprintf("isolate: unknown outcome %d", f.Outcome))
	}
	return one
}

func outcomeOf(f *page.Fault) finding.Outcome {
	if f.Outcome == page.Delayed {
		return finding.Delayed
	}
	return finding.Surrendered
}

// lockStack is where a section began, without the frames of this package.
func lockStack(site [2]uintptr) []finding.Frame {
	frames := finding.Frames(site[:])
	for len(frames) > 1 && internalFrame(frames[0]) {
		frames = frames[1:]
	}
	return frames
}

// inside is how functions of this package begin: in a protected program it has another
// path.
var inside = reflect.TypeFor[Config]().PkgPath() + "."

// latches is how functions begin that Lock is inlined from.
var latches = reflect.TypeFor[page.Latch]().PkgPath() + ".(*Latch)"

// accessors is what the names of functions begin with that access memory for others.
var accessors atomic.Pointer[string]

// AccessBy says that the functions of a package access guarded memory on behalf of what calls
// them: findings begin with their callers. The package is given by its path.
func AccessBy(path string) {
	path += "."
	accessors.Store(&path)
}

// withoutAccessors leaves out the functions that AccessBy has told of.
func withoutAccessors(frames []finding.Frame) []finding.Frame {
	if prefix := accessors.Load(); prefix != nil {
		for len(frames) > 1 && strings.HasPrefix(frames[0].Function, *prefix) {
			frames = frames[1:]
		}
	}
	return frames
}

// internalFrame reports whether a frame is of the locks themselves.
func internalFrame(f finding.Frame) bool {
	return strings.HasPrefix(f.Function, inside) || strings.HasPrefix(f.Function, latches) ||
		strings.HasPrefix(f.Function, "sync.(*Cond)") || strings.HasPrefix(f.Function, "sync.(*rlocker)")
}

// WriteText writes findings for a person to read.
func WriteText(w io.Writer, findings []Finding) error { return finding.WriteText(w, findings) }

// WriteJSON writes findings for a program to read, one per line.
func WriteJSON(w io.Writer, findings []Finding) error { return finding.WriteJSON(w, findings) }
