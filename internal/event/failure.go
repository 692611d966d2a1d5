package event

// A FailureKind is a way in which a run fails. The kinds are in the order of their
// severity: a greater one tells a person more, and is what a run is reported by when it
// has several.
type FailureKind uint8

const (
	NoFailure FailureKind = iota
	// FailureLeak is a goroutine that is left waiting when its test is over, for something
	// that nothing can do any more.
	FailureLeak
	// FailureRace is a data race: two accesses that nothing orders, which nobody has seen
	// do any harm yet.
	FailureRace
	// FailureTest is a test that reported a failure and came to its end.
	FailureTest
	// FailureExit is a program that ended itself with another code than success, or a test
	// that ended its program.
	FailureExit
	// FailurePartialDeadlock is a goroutine that waits for a lock which is never released,
	// while others go on or have ended.
	FailurePartialDeadlock
	// FailureDeadlock is a run in which no goroutine can ever go on.
	FailureDeadlock
	// FailureFatal is an error by which Go's runtime ends a program, such as a map that is
	// used concurrently. It cannot be recovered from.
	FailureFatal
	// FailurePanic is a panic that left its goroutine.
	FailurePanic
	// FailureCrash is a program without source that died of a signal, or misused its heap.
	FailureCrash

	failureKinds
)

var failureNames = [failureKinds]string{
	NoFailure: "", FailureLeak: "leak", FailureRace: "data race", FailureTest: "test failed", FailureExit: "exit",
	FailurePartialDeadlock: "partial deadlock", FailureDeadlock: "deadlock", FailureFatal: "fatal error", FailurePanic: "panic",
	FailureCrash: "crash",
}

func (k FailureKind) String() string {
	if k < failureKinds {
		return failureNames[k]
	}
	return "unknown failure"
}

// MarshalText writes a kind by its name, for files and JSON.
func (k FailureKind) MarshalText() ([]byte, error) {
	return marshalName("failure", uint8(k), failureNames[:])
}

// UnmarshalText reads what MarshalText writes.
func (k *FailureKind) UnmarshalText(text []byte) error {
	n, err := unmarshalName("failure", text, failureNames[:])
	*k = FailureKind(n)
	return err
}

// A FailureCause is what in the program a panic or a fatal error comes from, where Go's
// runtime or package sync says so.
type FailureCause uint8

const (
	UnknownCause FailureCause = iota

	NilPointer
	OutOfRange // an index, or the bounds of a slice
	WrongType  // an interface does not hold what an assertion says
	DivideByZero

	SendOnClosed
	CloseOfClosed
	CloseOfNil

	NegativeWaitGroup // counted down more often than up
	ReusedWaitGroup   // used again before those that waited have returned
	MisusedWaitGroup  // counted up beside a Wait

	UnlockOfUnlocked
	ConcurrentMap

	// Of crashes.
	BadMemory // an address that is not there, or may not be accessed so
	Aborted   // by the program itself, such as a failed assertion
	BadInstruction
	UseAfterFree
	DoubleFree
	OtherSignal

	failureCauses
)

var causeNames = [failureCauses]string{
	UnknownCause: "", NilPointer: "nil pointer", OutOfRange: "out of range", WrongType: "wrong type", DivideByZero: "divide by zero",
	SendOnClosed: "send on closed channel", CloseOfClosed: "close of closed channel", CloseOfNil: "close of nil channel",
	NegativeWaitGroup: "negative wait group", ReusedWaitGroup: "reused wait group", MisusedWaitGroup: "misused wait group",
	UnlockOfUnlocked: "unlock of unlocked", ConcurrentMap: "concurrent map",
	BadMemory: "bad memory", Aborted: "aborted", BadInstruction: "bad instruction",
	UseAfterFree: "use after free", DoubleFree: "double free", OtherSignal: "other signal",
}

func (c FailureCause) String() string {
	if c < failureCauses {
		return causeNames[c]
	}
	return "unknown cause"
}

// MarshalText writes a cause by its name, for files and JSON.
func (c FailureCause) MarshalText() ([]byte, error) {
	return marshalName("cause", uint8(c), causeNames[:])
}

// UnmarshalText reads what MarshalText writes.
func (c *FailureCause) UnmarshalText(text []byte) error {
	n, err := unmarshalName("cause", text, causeNames[:])
	*c = FailureCause(n)
	return err
}

// An Ending is how a run ended.
type Ending uint8

const (
	Passed Ending = iota
	// Failed: the last step ended the run before its time (a panic, an exit), or the run
	// failed in another way.
	Failed
	// CutOff: the run was stopped from outside, because it was too long.
	CutOff

	endings
)

var endingNames = [endings]string{Passed: "ok", Failed: "failed", CutOff: "cut off"}

func (e Ending) String() string {
	if e < endings {
		return endingNames[e]
	}
	return "unknown ending"
}

// MarshalText writes an ending by its name, for files and JSON.
func (e Ending) MarshalText() ([]byte, error) {
	return marshalName("ending", uint8(e), endingNames[:])
}

// UnmarshalText reads what MarshalText writes.
func (e *Ending) UnmarshalText(text []byte) error {
	n, err := unmarshalName("ending", text, endingNames[:])
	*e = Ending(n)
	return err
}
