package ir

import "fmt"

// A SyncKind is an operation of synchronisation, or of the runtime, as the engine knows
// it. A front end maps the operations of its language to these; the engine never looks
// at the language's own words.
type SyncKind uint8

const (
	// SyncNone is what an instruction has that is no such operation.
	SyncNone SyncKind = iota

	// Locks. Args[0] is the lock's address; the try operations give whether it was taken.
	SyncLock
	SyncUnlock
	SyncTryLock
	SyncReadLock
	SyncReadUnlock
	SyncTryReadLock

	// Groups: a counter, and goroutines that wait until it is zero. Args[0] is its
	// address; SyncGroupAdd adds Args[1], SyncGroupDone takes one away.
	SyncGroupAdd
	SyncGroupDone
	SyncGroupWait

	// Conditions. Args[0] is the address of what is waited on.
	SyncConditionWait
	SyncConditionWake

	// Channels. SyncNewChannel gives one with room for Args[0] values. Args[0] of the
	// others is the channel, Args[1] what is sent. Receiving gives the value, and a
	// truth value after it if the result has room for one.
	SyncNewChannel
	SyncSend
	SyncReceive
	SyncClose
	SyncChannelLength
	// SyncSelect waits until one of the channels Args can be used, SyncPoll does not wait.
	SyncSelect
	SyncPoll

	// Giving way to others.
	SyncYield
	SyncSleep

	syncKinds // how many there are
)

var syncNames = [syncKinds]string{
	SyncNone: "none", SyncLock: "lock", SyncUnlock: "unlock", SyncTryLock: "try to lock",
	SyncReadLock: "read-lock", SyncReadUnlock: "read-unlock", SyncTryReadLock: "try to read-lock",
	SyncGroupAdd: "group add", SyncGroupDone: "group done", SyncGroupWait: "group wait",
	SyncConditionWait: "condition wait", SyncConditionWake: "condition wake",
	SyncNewChannel: "new channel", SyncSend: "send", SyncReceive: "receive", SyncClose: "close", SyncChannelLength: "channel length",
	SyncSelect: "select", SyncPoll: "poll",
	SyncYield: "yield", SyncSleep: "sleep",
}

func (k SyncKind) String() string {
	if k < syncKinds {
		return syncNames[k]
	}
	return fmt.Sprintf("SyncKind(%d)", uint8(k))
}

// NeedsOthers reports whether the operation may wait until another goroutine acts, or
// brings news of what another did. A goroutine that is followed alone cannot get past
// it, and no read operation reaches over it. Taking a lock is none of these: the lock's
// holder is on its way to release it.
func (k SyncKind) NeedsOthers() bool {
	switch k {
	case SyncLock, SyncUnlock, SyncTryLock, SyncReadLock, SyncReadUnlock, SyncTryReadLock,
		SyncGroupAdd, SyncGroupDone, SyncConditionWake, SyncNewChannel, SyncClose, SyncChannelLength,
		SyncYield:
		return false
	case SyncGroupWait, SyncConditionWait, SyncSend, SyncReceive, SyncSelect, SyncPoll, SyncSleep:
		return true
	}
	panic(fmt.Sprintf("ir: no synchronisation operation: %v", k))
}
