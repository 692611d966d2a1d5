package page

// An Outcome says how a fault ended.
type Outcome uint32

// The outcomes that are recorded. An access that found nobody in a section is
// counted (see [Counters]) and not recorded.
const (
	Delayed            Outcome = 1 + iota // waited for the end of the section
	Bypassed                              // the holder itself used the shared view
	SurrenderedCycle                      // the holder waits for the faulting goroutine
	SurrenderedTimeout                    // the longest wait is over
	SurrenderedStop                       // the runtime wants to stop the goroutine
	SurrenderedStuck                      // no processor is left for the section
	SurrenderedLenient                    // the section runs code that may wait for the access
	SurrenderedRefused                    // the kernel refused to open this page alone
)

// MaxStack is the number of return addresses that the handler records.
const MaxStack = 30

// A Fault is one careless access as the handler left it in the ring. All of it
// is addresses: making sense of them is left to a goroutine.
type Fault struct {
	state     uint32 // slotFree, slotTaken, slotFull, or slotDraft with the ticket above it
	Outcome   Outcome
	Gate      uint32
	Write     uint32
	Address   uintptr
	PC        uintptr
	SP0       uintptr // the word at the top of the stack: see Frames
	Goroutine uint64
	Holder    uint64     // the goroutine in the section
	Site      [2]uintptr // where it locked
	Waited    int64      // nanoseconds
	since     int64      // of a draft: when the wait began
	seals     uint32     // of a draft: how often the gate had been sealed
	ticket    uint32     // the number of the fault
	depth     uint64
	stack     [MaxStack]uintptr
}

const (
	slotFree = iota
	slotTaken
	slotFull
	slotDraft // an access that waits, and may pass without being seen again
)

// ringSlots is a power of two.
const ringSlots = 1024

// firstTicket is the number of the first fault: not 0, which a slot has that was never taken.
const firstTicket = ringSlots

// Counters count what the handler did since the process began.
type Counters struct {
	Opened      uint64 // careless accesses stopped at a page while nobody was in a section
	Delayed     uint64 // waited for the end of a section
	Bypassed    uint64 // made by the holder itself
	Surrendered uint64 // let through into a section
	Lost        uint64 // recorded nowhere, because the ring was full
	Seals       uint64 // times a section had to protect its gate
	SealErrors  uint64 // of these: the kernel refused
	Waiting     uint64 // accesses that wait at this moment
	Yields      uint64 // times that one of them gave up its processor
}
