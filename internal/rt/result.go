package rt

import (
	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/rt/frames"
	"github.com/cofferdam-go/cofferdam/internal/rt/race"
	"github.com/cofferdam-go/cofferdam/internal/sched"
)

// A Config says how a run is to be.
type Config struct {
	// Strategy decides which goroutine goes next.
	Strategy sched.Strategy
	// Seed is what the sequences of random numbers that the strategy chooses from are made
	// of, where the runtime is patched.
	Seed uint64
	// Stall is for how long, in nanoseconds and all in all, time may move on while there
	// are goroutines that are ready. 0 lets it move when there are none only.
	Stall int64
	// MaxSteps is after how many steps a run is cut off; 0 means 10 million. With a limit of
	// time, those at which there was nothing to choose count less, see sequentialSteps.
	MaxSteps uint64
	// Within is how long a run may take, in nanoseconds of real time as Now tells it,
	// before it is cut off; 0 means for ever. It needs Sleep.
	Within int64
	Now    func() int64
	// Races has data races looked for.
	Races bool
	// LibrarySteps makes steps of the accesses of the standard library, which otherwise they
	// are only if races are not looked for.
	LibrarySteps bool
	// RunOn lets the others go on after a panic that would have ended the program, so
	// that a record shows what they were in the middle of.
	RunOn bool
	// Leaks has goroutines that are left waiting for ever when the root has ended taken for a
	// failure. Those that wait for a lock always are.
	Leaks bool
	// OwnSites is the first site of the program's own packages: those below are in the
	// standard library.
	OwnSites uint32
	// Bystanders is how many goroutines of the process are known to have nothing to do with
	// the program, so that others that are not under control may; 0 if none may that was
	// there before the run.
	Bystanders int
	// Record, if set, is called with every event in the order of their effects. The
	// event and its slices are only valid during the call.
	Record func(*event.Event)
	// Accesses, if set, is called instead of Record with events that can be told as
	// accesses, some at a time, in the same order. They are made in the memory that it
	// returned the last time, which is used until it or Record is called.
	Accesses func([]event.Access) (room []event.Access)
	// Halt, if set, is called by a goroutine that comes to one of the events numbered in HaltAt,
	// which ascend, on its own stack and before anything else happens; see record.HaltAt. The run
	// has to be recorded. How long a goroutine computes means nothing then: a person may have
	// stopped it.
	Halt   func()
	HaltAt []uint64
	// Ended, if set, is called at the end of the run, before the goroutines that are
	// left are taken down. It may add failures.
	Ended func(*Result)
	// Sleep pauses the calling goroutine for so many nanoseconds of real time. Without
	// it goes unnoticed when a goroutine is stuck outside control. It returns for how many
	// nanoseconds the process has had a processor meanwhile, and whether one of its other
	// threads could go on, so that it is up to the machine when it does.
	Sleep func(nanoseconds int64) (worked int64, busy bool)
	// HasChildren, if set, reports whether there are programs that this one has started, and
	// whose end it has not taken note of.
	HasChildren func() bool
}

// A Result is what a run came to.
type Result struct {
	Failures []Failure
	Races    []race.Race
	// Reported is where a test first reported a failure, for Config.Ended; its G is 0 if
	// none did.
	Reported Failure
	// NothingRan says that none of the subtests was selected.
	NothingRan bool
	// CutOff says that the run was ended by Config.MaxSteps or Config.Within. TookTooLong
	// says that it was the latter, and Late which goroutines were not under control then.
	CutOff      bool
	TookTooLong bool
	Late        []Late
	// Livelocked says that the run was cut off because nothing could change any more, though
	// those goroutines went on that are in Spinning.
	Livelocked bool
	Spinning   []Late
	// Going are the goroutines that were stopped because they still went on long after the root
	// had ended.
	Going []Late
	// Residue says that the run left changes behind which could not be taken back: runs
	// that follow it in the process do not begin where it began.
	Residue bool
	// NotBeside is why other processes must not run the same program at the same time, because
	// of something that this process has done; "" if they may.
	NotBeside string
	// Steps is how many steps were taken, Points at how many of them the strategy was
	// asked, Goroutines how many there were.
	Steps      uint64
	Points     uint64
	Goroutines int
	// Left are the goroutines that waited for something at the end. Undecided says that the
	// root has ended and others still went on, so that nothing is known of some of them.
	Left      []Blocked
	Undecided bool
	// Outside lists what ran outside control. If it is not empty the same schedule may
	// lead elsewhere another time.
	Outside []Outside
	// Now is the virtual time at the end, in nanoseconds since the start, and Stalled how
	// much of it went by while goroutines were ready.
	Now, Stalled int64
	// Held is what the program came upon that another run could have found otherwise, and
	// no schedule decides.
	Held sched.Held
	// Frames are the calls of the run. They are valid until the next run.
	Frames *frames.Tree
}

// Failed reports whether anything was found.
func (r *Result) Failed() bool { return len(r.Failures) > 0 || len(r.Races) > 0 }

// A Failure is why a run failed.
type Failure struct {
	Kind event.FailureKind
	// Test is the name of the test that reported the failure, with its parents' and slashes;
	// empty for other kinds.
	Test string
	// Message is what the runtime would print, without "panic: " or "fatal error: ".
	Message string
	// Op is the operation that the runtime ends the program for; none for other kinds.
	Op event.Kind
	// G, Site and Frame are where, as far as known; Step is when.
	G     uint32
	Site  uint32
	Frame uint32
	Step  uint64
	// PCs are the stack of a panic, the innermost call first.
	PCs []uintptr
	// Code is that of an exit.
	Code int
	// Blocked are the goroutines of a deadlock or a leak.
	Blocked []Blocked
}

// A Blocked goroutine waits for something.
type Blocked struct {
	G     uint32
	Op    event.Op
	Frame uint32
	// Stuck says that it does so for ever, Locked that it does so for a lock or keeps one,
	// and Shape why.
	Stuck, Locked bool
	Shape         event.WaitShape
	// Library says that it waits in code of the standard library which that started itself.
	Library bool
	// Timer says that a timer is going to wake it.
	Timer bool
	// Leaked says that it is stuck, though the root has ended, and not for a lock; Undecided
	// that it may be.
	Leaked, Undecided bool
	// Holds are the locks that it holds, and HeldBy the holders of the one that it waits for.
	Holds, HeldBy []Held
	// Length and Capacity are those of the channel that it waits for, Count that of a
	// WaitGroup, and Unheard how often a Cond was signalled when no goroutine waited.
	Length, Capacity, Count, Unheard int
}

// A Held lock is one that a goroutine has taken and not released.
type Held struct {
	Addr uintptr
	Kind event.Kind // Lock or RLock
	// G has it, since it was at Site in Frame; G is 0 if that is not known.
	G, Site, Frame uint32
	// Ended says that G has ended, Returned that it has left the function that took the lock.
	Ended, Returned bool
}

// A Late goroutine was not under control when its run was cut off because of the time that it
// took.
type Late struct {
	// Waits says that it waited natively, or was in a system call, and did not compute.
	Waits bool
	// G is the goroutine, and Site and Frame the last place it was seen at. PCs are its
	// stack, the innermost call first, if the runtime is patched.
	G     uint32
	Site  uint32
	Frame uint32
	PCs   []uintptr
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
