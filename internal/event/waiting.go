package event

// A WaitShape is why a goroutine waits for ever. The shapes are in the order of how much
// they say about the others that wait: what keeps a lock keeps everything behind it, so
// that a deadlock with several shapes is told by the greatest.
type WaitShape uint8

const (
	UnknownShape WaitShape = iota

	// GroupHeldUp is a WaitGroup that goroutines may still have to count down which wait for
	// ever themselves.
	GroupHeldUp
	// EmptySelect is a select without a case that can ever come: select {}, or nothing but
	// nil channels.
	EmptySelect
	// NilChannel is an operation on a nil channel.
	NilChannel
	// AbandonedChannel is a channel with nobody left on its other side.
	AbandonedChannel
	// GroupNeverDone is a WaitGroup whose counter stays above 0.
	GroupNeverDone
	// NoSignal is a Cond that nothing signals any more.
	NoSignal
	// MissedSignal is a Cond that was signalled while no goroutine waited for it, and is not
	// signalled again.
	MissedSignal

	// LockHeldOverWait is a lock whose holder waits for ever, for something else than a lock.
	LockHeldOverWait
	// MissingUnlock is a lock whose holder has ended, or has left the function that took it,
	// without releasing it.
	MissingUnlock
	// DoubleLock is a lock that the goroutine holds itself.
	DoubleLock
	// LockOrder is a circle of goroutines, each of which holds the lock that the next one
	// waits for.
	LockOrder
	// CopiedLock is a lock that nothing in the run has taken, and that is locked all the same: it was
	// copied, with the data beside it, while the one that it is a copy of was held.
	CopiedLock

	waitShapes
)

var shapeNames = [waitShapes]string{
	UnknownShape: "", GroupHeldUp: "wait group held up", EmptySelect: "empty select", NilChannel: "nil channel", AbandonedChannel: "channel with nobody left",
	GroupNeverDone: "wait group never done", NoSignal: "no signal", MissedSignal: "missed signal",
	LockHeldOverWait: "lock held over a wait", MissingUnlock: "missing unlock", DoubleLock: "double lock", LockOrder: "lock order",
	CopiedLock: "copied lock",
}

func (s WaitShape) String() string {
	if s < waitShapes {
		return shapeNames[s]
	}
	return "unknown shape"
}

// MarshalText writes a shape by its name, for files and JSON.
func (s WaitShape) MarshalText() ([]byte, error) {
	return marshalName("shape", uint8(s), shapeNames[:])
}

// UnmarshalText reads what MarshalText writes.
func (s *WaitShape) UnmarshalText(text []byte) error {
	n, err := unmarshalName("shape", text, shapeNames[:])
	*s = WaitShape(n)
	return err
}

// OfLock reports whether it is a lock that is waited for, or that is kept.
func (s WaitShape) OfLock() bool { return s >= LockHeldOverWait && s < waitShapes }
