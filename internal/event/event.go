// Package event names what happens in a controlled run.
//
// An operation (Op) is what a goroutine is about to do: it is what a schedule
// decides about. An event (Event) is what it did, in the one order of the run: a
// trace is a list of events. A run has an Ending, and if it failed a FailureKind for each
// thing that went wrong.
//
//	event.go    operations, events and their kinds
//	failure.go  how runs end and fail, and why
//	waiting.go  why a goroutine waits for ever
//	entry.go    what a map holds for a key
//	name.go     the names of all of these, in files and JSON
//
// The package is linked into instrumented programs below the standard library's
// own sync package, so it imports nothing.
package event

// A Kind is a kind of operation.
type Kind uint8

const (
	None Kind = iota

	// Memory.
	Load
	Store
	MapRead
	MapWrite
	AtomicLoad
	AtomicStore
	AtomicUpdate
	AtomicCompare // compare and swap. Arg: 1 if the value changed
	Alloc

	// Frames and goroutines.
	Call // Addr: where in the caller it returns to
	Return
	Go    // Arg: the new goroutine
	Start // the first event of a goroutine
	End   // the last one
	Gosched
	Panic // a panic left the goroutine
	Exit  // Arg: the code
	Fail  // a test reported a failure

	// Locks.
	Lock
	TryLock // Arg: 1 if it succeeded
	Unlock
	RLock
	TryRLock // Arg: 1 if it succeeded
	RUnlock

	// Channels. Arg of Send and Recv: the channel's length afterwards.
	Send
	Recv
	Close
	ChanLen
	Select // Arg: the case, counted from 1; 0 for default

	// The rest of package sync.
	WaitGroupAdd // Arg: the delta
	WaitGroupWait
	CondWait
	Signal
	Broadcast
	PoolGet
	PoolPut

	// Time.
	Sleep // Arg: nanoseconds
	TimerStart
	TimerStop
	TimerFire // Arg: the time since the start of the run, in nanoseconds
	ReadClock
	Stall // time moved on while goroutines were ready. Arg: by so many nanoseconds

	Blocked // waits for what its last operation needs
	Outside // was in code that is not under control
	Random  // a choice that is not of a goroutine. Arg: what was chosen

	// Networks in memory. Arg of NetRead and NetWrite: how many bytes.
	NetListen
	NetDial
	NetAccept
	NetRead
	NetWrite
	NetClose // also of one direction
	NetDeadline

	// Files, and what else of the system programs meet at.
	FileRead
	FileWrite // also what changes folders

	kinds
)

var names = [kinds]string{
	None: "none", Load: "load", Store: "store", MapRead: "map read", MapWrite: "map write",
	AtomicLoad: "atomic load", AtomicStore: "atomic store", AtomicUpdate: "atomic update", AtomicCompare: "compare and swap", Alloc: "alloc",
	Call: "call", Return: "return", Go: "go", Start: "start", End: "end", Gosched: "gosched", Panic: "panic", Exit: "exit", Fail: "fail",
	Lock: "lock", TryLock: "try lock", Unlock: "unlock", RLock: "read lock", TryRLock: "try read lock", RUnlock: "read unlock",
	Send: "send", Recv: "receive", Close: "close", ChanLen: "channel length", Select: "select",
	WaitGroupAdd: "wait group add", WaitGroupWait: "wait group wait", CondWait: "cond wait", Signal: "signal", Broadcast: "broadcast",
	PoolGet: "pool get", PoolPut: "pool put",
	Sleep: "sleep", TimerStart: "timer start", TimerStop: "timer stop", TimerFire: "timer fire", ReadClock: "read clock", Stall: "stall",
	Blocked: "blocked", Outside: "outside", Random: "random",
	NetListen: "listen", NetDial: "dial", NetAccept: "accept", NetRead: "network read", NetWrite: "network write",
	NetClose: "network close", NetDeadline: "network deadline",
	FileRead: "file read", FileWrite: "file change",
}

func (k Kind) String() string {
	if k < kinds {
		return names[k]
	}
	return "unknown kind"
}

// MarshalText writes a kind by its name, for files and JSON.
func (k Kind) MarshalText() ([]byte, error) { return marshalName("kind", uint8(k), names[:]) }

// UnmarshalText reads what MarshalText writes.
func (k *Kind) UnmarshalText(text []byte) error {
	n, err := unmarshalName("kind", text, names[:])
	*k = Kind(n)
	return err
}

// Valid reports whether k is one of the kinds above.
func (k Kind) Valid() bool { return k > None && k < kinds }

// Kinds returns all kinds, in the order of their numbers.
func Kinds() []Kind {
	all := make([]Kind, 0, kinds-1)
	for k := None + 1; k < kinds; k++ {
		all = append(all, k)
	}
	return all
}

// IsMemory reports whether k is a plain access to memory.
func (k Kind) IsMemory() bool { return k >= Load && k <= MapWrite }

// IsAtomic reports whether k is an access through package sync/atomic.
func (k Kind) IsAtomic() bool { return k >= AtomicLoad && k <= AtomicCompare }

// IsRead reports whether k leaves what it touches as it was, so that two of them
// can change places.
func (k Kind) IsRead() bool {
	switch k {
	case Load, MapRead, AtomicLoad, ChanLen, FileRead:
		return true
	}
	return false
}

// CallSites is the first number of sites that are calls of patched functions of the
// standard library. Each process numbers them as they come.
const CallSites = 1 << 31

// A Round is what a goroutine has done since it yielded before. One that waits goes round a loop,
// and has to let others go for its wait to end.
type Round uint8

const (
	// NewRound: it may have done something that makes a difference.
	NewRound Round = iota
	// IdleRound: it is where it was, in the same state, and has changed nothing. A run without
	// the round comes to the same end.
	IdleRound
	// LongRound: it has yielded so often that a run might never end if it went on.
	LongRound
)

// An Op is what a goroutine is about to do.
type Op struct {
	Kind Kind
	// Yield says that the goroutine asks for others to go first, and Round what is known of what
	// it has done since it yielded before.
	Yield bool
	Round Round
	G     uint32
	Site  uint32
	// Addr and Size are the memory, or the address that names the lock or channel
	// (with size 1); 0 if the operation touches nothing that others can.
	Addr uintptr
	Size uintptr
}

// An Event is one step of a run.
type Event struct {
	Seq  uint64
	G    uint32
	Kind Kind
	Site uint32
	// Frame is the call the goroutine is in. Frames form a tree, which Call events
	// define: they carry the new frame here and its caller's in Arg.
	Frame uint32
	Addr  uint64
	Size  uint32
	// Arg is told with each kind above.
	Arg uint64
	// Before and After are the memory's contents, cut at MaxValue bytes; those of a MapRead or
	// MapWrite are an Entry, if its key is known.
	Before, After []byte
}

// An Access is the event of a Load or Store of 1, 2, 4 or 8 bytes, which is what most
// events are, in a form that is made without copying.
type Access struct {
	Seq  uint64
	Addr uint64
	// Before and After are the memory's contents as a number, the byte at Addr being its
	// lowest. A Load has no After.
	Before, After uint64
	G             uint32
	Site          uint32
	Frame         uint32
	Kind          Kind
	Size          uint8
}

// MaxValue is how much of a wide value an event keeps.
const MaxValue = 64
