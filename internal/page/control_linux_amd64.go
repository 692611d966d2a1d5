package page

//lint:file-ignore U1000 what is declared here is used by the handler, in assembly

// A control is what the handler knows of the world: addresses and numbers, set
// once when the arena is made, and counters. Offsets into it come from go_asm.h,
// which the go command writes from this declaration.
type control struct {
	base    uintptr // the shared view
	size    uintptr
	ownBit  uintptr
	owners  uintptr // *[pages]uint32: the gate of each page, 0 for none
	gates   uintptr // *[maxGates]Gate
	waits   uintptr // *[waitSlots]wait
	ring    uintptr // *[ringSlots]Fault
	head    uint64  // slots of the ring handed out
	event   int64   // the eventfd that wakes the reporter
	uffd    int64   // -1: mprotect
	next    uintptr // the handler that was installed before ours
	goid    uintptr // where in a g its number is; 0: unknown
	longest int64   // nanoseconds that an access may wait

	// starving is how long an access waits before sections have to give it a chance.
	starving int64

	// preempt is where in a g the flag is that lets the runtime preempt it; 0: unknown,
	// and goroutines that wait keep their processor.
	preempt uintptr

	// status is where in a g it is said what the goroutine does. 0: unknown, and no section
	// is lenient.
	status uintptr

	processors uint64 // GOMAXPROCS
	stuck      uint64 // accesses that keep a processor while they wait
	exhausted  uint32 // not zero: the kernel had no mappings left, and all is open

	// patience is how long the handler goes on waiting where the runtime wants to
	// stop the goroutine and cannot.
	patience int64

	// How a page is taken out of the shared view: a system call and its third
	// argument.
	sealCall uintptr
	sealArg  uintptr

	counters Counters
}

var ctl control

// A wait is one goroutine's entry in the table of waits: it waits for a gate,
// either in the handler or for the lock. The handler finds cycles in it.
type wait struct {
	g        uintptr
	gate     uintptr
	since    int64
	stop     int64 // when the wish to stop the goroutine was first seen; 0: not
	idle     int64 // how long it had lasted when the section's goroutine was first seen waiting, of late; 0: it runs
	cycles   uint64
	address  uintptr
	seals    uint32     // of the gate when the wait was left; see resumed
	refusals uint32     // how often the goroutine could not be preempted when it was urged
	holder   uint64     // the goroutine in the section when the wait began
	site     [2]uintptr // and where it locked
	slot     uintptr    // *Fault: what was noted of it before it was left; 0: nothing
	draft    uint32     // the state of that slot
	away     uint32     // not zero: left, for the goroutine to be preempted
	urged    uint32     // not zero: the signal for that was sent
	yields   uint32     // how often it was left to be preempted
}

const (
	waitBits   = 14
	waitProbes = 8
	waitSlots  = 1<<waitBits + waitProbes // the last places can be probed, too
	waitHash   = 0x9e3779b97f4a7c15
)

const (
	// refusals is how often a goroutine must fail to be preempted at an instruction to be
	// taken for one that cannot be.
	refusals = 3

	// After eagerYields times an access that waits sleeps for shortDoze, in nanoseconds,
	// before it gives up its processor again: otherwise a program that has nothing else to
	// do would spin.
	eagerYields = 4
	shortDoze   = 20_000
)

// How long an access waits for a section that said that it may wait, in nanoseconds: before it
// looks whether the section does, and before it passes in any case.
const (
	shortestLenience = 200_000
	longestLenience  = 20_000_000
)

// What the runtime says of a goroutine: see runtime2.go.
const (
	statusRunning = 2
	statusWaiting = 4
	statusScan    = 0x1000 // its stack is being looked at, besides
)

// Results of the handler's parts, apart from the outcomes.
const (
	passOpened = 100 + iota
	passGone
	awaitLeave
	awaitPass
)

// goneText is what the handler says before it lets the runtime stop the program.
var goneText = [goneLen]byte([]byte(goneMessage))

const (
	goneMessage = "isolate: use of memory that belongs to no guard: its guard was closed, or the pointer was never valid\n"
	goneLen     = len(goneMessage)
)

// The parts of the handler that are in another file than it. Declared because
// go vet wants a declaration; not to be called from Go.
func await()
func cycle()
func draft()
func enlist()
func free()
func goid()
func now()
func pause()
func record()
func resumed()
func withdraw()
