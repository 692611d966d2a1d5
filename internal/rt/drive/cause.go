package drive

import (
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// runtimeWords are the words by which Go's runtime and package sync name the causes of
// panics and fatal errors. They have no types that tell them apart; a test provokes each.
var runtimeWords = []struct {
	kind  event.FailureKind
	words string
	cause event.FailureCause
}{
	{event.FailurePanic, "nil pointer dereference", event.NilPointer},
	{event.FailurePanic, "index out of range", event.OutOfRange},
	{event.FailurePanic, "slice bounds out of range", event.OutOfRange},
	{event.FailurePanic, "interface conversion", event.WrongType},
	{event.FailurePanic, "integer divide by zero", event.DivideByZero},
	{event.FailurePanic, "send on closed channel", event.SendOnClosed},
	{event.FailurePanic, "close of closed channel", event.CloseOfClosed},
	{event.FailurePanic, "close of nil channel", event.CloseOfNil},
	{event.FailurePanic, "negative WaitGroup counter", event.NegativeWaitGroup},
	{event.FailurePanic, "WaitGroup is reused", event.ReusedWaitGroup},
	{event.FailurePanic, "WaitGroup misuse", event.MisusedWaitGroup},
	{event.FailureFatal, "unlock of unlocked", event.UnlockOfUnlocked},
	{event.FailureFatal, "concurrent map", event.ConcurrentMap},
}

// causeOf returns what a failure comes from. It is the only place that reads a message:
// everything after it decides by the cause.
func causeOf(kind event.FailureKind, message string) event.FailureCause {
	for _, r := range runtimeWords {
		if r.kind == kind && strings.Contains(message, r.words) {
			return r.cause
		}
	}
	return event.UnknownCause
}
