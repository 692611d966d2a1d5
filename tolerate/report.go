package tolerate

import (
	"fmt"
	"io"
	"log/slog"
	"reflect"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/finding"
	"github.com/cofferdam-go/cofferdam/internal/goroutine"
)

// A Finding is what there is to tell about one variable and the section in which
// careless code changed it. Repeats are one finding with a count. The careless
// access has no site: what is known of it is the value that it left. The section
// is known by the place where it ended.
type Finding = finding.Finding

// A Config says what may be changed about the package. The zero value is the
// default.
type Config struct {
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
	feed.SetLogger(c.Logger)
	feed.SetRecorder(c.Record)
}

// Stats count what happened since the program began. To publish them:
//
//	expvar.Publish("tolerate", expvar.Func(func() any { return tolerate.ReadStats() }))
type Stats struct {
	Delayed       uint64             // races that a write was kept from; see [Write]
	Tolerated     uint64             // races that harmed nobody
	Resolved      uint64             // races in which both had changed the variable
	Refused       uint64             // races in which a resolver panicked
	Surrendered   uint64             // races that were only seen; see [Check]
	Forced        uint64             // of these: published over writes that would not end
	Crowded       uint64             // how often sections had to publish elements early; see [Batch]
	ByClass       map[Classes]uint64 // races by what they may have been
	OtherFindings uint64             // races beyond the number of different findings that are kept
}

// ReadStats returns the counters.
func ReadStats() Stats {
	outcomes := feed.Tally()
	s := Stats{
		Delayed:       outcomes.Delayed,
		Tolerated:     outcomes.Tolerated,
		Resolved:      outcomes.Resolved,
		Refused:       outcomes.Refused,
		Surrendered:   outcomes.Surrendered,
		Forced:        counters.forced.Load(),
		Crowded:       counters.crowded.Load(),
		ByClass:       make(map[Classes]uint64),
		OtherFindings: feed.Dropped(),
	}
	for i := range counters.byClass {
		if n := counters.byClass[i].Load(); n > 0 {
			s.ByClass[Classes(i)] = n
		}
	}
	return s
}

var (
	feed = finding.Feed{Source: "tolerate", Attributes: attributes}

	counters struct {
		forced  atomic.Uint64
		crowded atomic.Uint64
		byClass [1 << len(all)]atomic.Uint64
	}
)

// A race is one variable that careless code changed during a section.
type race struct {
	policy  *policy
	typed   *typed
	address uint64
	classes Classes
	outcome finding.Outcome
	values  *[3]any // theirs, ours, before; nil if they are not fit to print
	cause   any     // what the resolver panicked with
	// exact says that the classes are from what careless code did, and not from values, and stack
	// where it did.
	exact bool
	stack []finding.Frame
}

// OnFinding adds a function that is called with each race, merged with its repeats:
// Count tells the first. It runs on a goroutine of its own, after the fact, and may
// do what it likes.
func OnFinding(f func(Finding)) { feed.Subscribe(f) }

// Findings returns what was found so far, oldest first. A race is among them as
// soon as the section has ended.
func Findings() []Finding { return feed.Findings() }

// tell records the races of a section that has ended, and goes on with the panic
// of a resolver. The caller holds no lock.
func tell(lock string, races []*race) {
	record(lock, races)
	rethrow(races)
}

func record(lock string, races []*race) {
	section := finding.Access{Op: finding.Lock, Goroutine: goroutine.ID(), Stack: callers()}
	found := make([]Finding, len(races))
	for i, r := range races {
		counters.byClass[r.classes].Add(1)
		found[i] = r.explain(lock, section)
	}
	feed.Add(found...)
	feed.DeliverSoon()
}

// rethrow panics if a resolver did, with what the first of them panicked with.
func rethrow(races []*race) {
	for _, r := range races {
		if refusal, ok := r.cause.(*Refusal); ok {
			refusal.Variable, refusal.Classes = r.name(), r.classes
		}
		if r.cause != nil {
			panic(r.cause)
		}
	}
}

// attributes are those of a finding in the log.
func attributes(f Finding, _ finding.History) []any {
	return []any{"target", f.Accesses[0].Target, "section", f.Accesses[1].Site().String()}
}

func (r *race) name() string {
	if r.policy.name != "" {
		return r.policy.name
	}
	return r.typed.name
}

// explain says in words what was found in values.
func (r *race) explain(lock string, section finding.Access) Finding {
	access := finding.Access{Op: finding.Write, Address: r.address, Target: r.name(), Stack: r.stack}
	one := Finding{
		Kind:     finding.Violation,
		Guard:    finding.Guard{Name: r.guardName(lock), Site: r.policy.site},
		Accesses: []finding.Access{access, section},
		History:  finding.Once(r.outcome, 0, time.Now()),
	}
	one.Explanation = "a write without the lock fell into the section that ended here: " + r.class() + "; " + r.verdict()
	switch {
	case r.values == nil:
	case r.outcome == finding.Surrendered:
		one.Explanation += fmt.Sprintf("\nthe section had %s there, careless code made it %s", show(r.values[2]), show(r.values[0]))
	default:
		one.Explanation += fmt.Sprintf("\nit was %s, careless code made it %s, the section made it %s", show(r.values[2]), show(r.values[0]), show(r.values[1]))
	}
	if r.policy.suspects != "" {
		one.Explanation += "\nthe lock is not held at " + r.policy.suspects
	}
	return one
}

// guardName names the lock that a program is known to guard the variable with. A lock of this
// package guards several, and a finding is about one of them: that is named by lock and variable
// as far as they have names.
func (r *race) guardName(lock string) string {
	switch {
	case r.policy.lock != "":
		return r.policy.lock
	case lock == "":
		return r.name()
	case r.policy.name == "":
		return lock
	}
	return lock + "." + r.policy.name
}

// class says what the race is.
func (r *race) class() string {
	if r.classes == 0 {
		return "no race, because neither has read what the other wrote"
	}
	return "a race of class " + r.classes.String()
}

func (r *race) verdict() string {
	switch {
	case r.outcome == finding.Delayed:
		return "it depends on what was read, and has waited until the section had ended"
	case r.exact && r.outcome == finding.Tolerated && r.classes&^Classes(WrwX) != 0:
		return "it is as if careless code had run after the section"
	case r.outcome == finding.Refused && r.cause == nil:
		return "what it did to the entries is lost with the map that the section has replaced"
	case r.outcome == finding.Refused:
		return "the resolver refused it, and the section's value stays"
	case r.outcome == finding.Surrendered:
		return "the section has no copy of its own, and went on with it"
	case r.outcome == finding.Resolved && r.policy.merge == Keeping:
		return "both have changed it, and what the section wrote stays, which is right for IVb"
	case r.outcome == finding.Resolved && r.policy.merge != Yielding:
		return "both have changed it, and are merged (" + string(r.policy.merge) + "), as if the section had come last"
	case r.outcome == finding.Resolved && r.policy.resolve == nil:
		return "both have changed it, and what careless code wrote stays, which is right for I and III"
	case r.outcome == finding.Resolved:
		return "both have changed it, and the resolver has made one value of the two"
	case r.classes.Has(WrwX), r.classes == 0:
		return "the section did not depend on the value, so it is as if careless code had run before it"
	default:
		return "the section did not change what careless code wrote, so it is as if that had happened after it"
	}
}

// show prints a number, a truth value or a string within a sentence. Methods of its type are not called: the
// lock is held, and they may take it.
func show(v any) string {
	switch v := reflect.ValueOf(v); {
	case v.CanInt():
		return fmt.Sprint(v.Int())
	case v.CanUint():
		return fmt.Sprint(v.Uint())
	case v.CanFloat():
		return fmt.Sprint(v.Float())
	case v.CanComplex():
		return fmt.Sprint(v.Complex())
	case v.Kind() == reflect.Bool:
		return fmt.Sprint(v.Bool())
	case v.Kind() == reflect.String:
		return quote(v.String())
	default:
		panic(fmt.Sprintf("tolerate: a %v is not fit for a sentence", v.Type()))
	}
}

// quote prints a string of which careless code may have written one half, the length of one with the address
// of another: a program that passes it on and never looks at it must not crash because it is shown.
func quote(text string) (quoted string) {
	defer func() {
		if recover() != nil {
			quoted = "half of a string"
		}
	}()
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	const longest = 40
	if len(text) > longest {
		return fmt.Sprintf("%q...", text[:longest])
	}
	return fmt.Sprintf("%q", text)
}

// WriteText writes findings for a person to read.
func WriteText(w io.Writer, findings []Finding) error { return finding.WriteText(w, findings) }

// WriteJSON writes findings for a program to read, one per line.
func WriteJSON(w io.Writer, findings []Finding) error { return finding.WriteJSON(w, findings) }
