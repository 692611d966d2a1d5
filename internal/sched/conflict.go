package sched

import "github.com/cofferdam-go/cofferdam/internal/event"

// A class is a set of operations that commute with each other on the same thing.
// Operations of different classes on the same thing depend on each other: their order
// can matter.
type class uint8

const (
	changes     class = iota // and does not commute with its like either
	reads                    //
	readLocks                // the order of two readers does not matter to a third
	readUnlocks              //
	classes
)

func classOf(k event.Kind) class {
	switch k {
	case event.RLock:
		return readLocks
	case event.RUnlock:
		return readUnlocks
	}
	if k.IsRead() {
		return reads
	}
	return changes
}

// dependent reports whether operations of the two classes on one thing depend on each
// other.
//
// An Unlock and a Lock of the same mutex do, although asking for a lock that is held
// changes nothing but the asker, which then waits for that Unlock. The unbounded search
// could do without their reversal (no state with both enabled, as Flanagan and Godefroid
// put it). Not so the bounded one: to wait for a lock is a way of giving up the turn
// without a preemption. A test has a program for it.
func dependent(a, b class) bool { return a != b || a == changes }

// wide reports whether op depends on everything.
func wide(op *event.Op) bool {
	switch op.Kind {
	case event.Outside, event.Exit, event.Panic:
		return true
	}
	return false
}

// A word is what conflicts are kept track of by: an address divided by 8, or one of the
// following, which no address gives. Operations on different bytes of one word are
// taken to depend on each other: that costs some schedules and misses none.
type word uintptr

const (
	noWord word = iota
	// anyChannel is changed by a select, which touches several channels, and read by
	// every operation on one.
	anyChannel
	// clock is changed when time moves on, and read by whatever starts or stops a timer,
	// or asks for the time.
	clock
)

// A touched word is one that an operation touches beside its own memory, and how.
type touched struct {
	word  word
	class class
}

const wordSize = 8

// span returns the words that op touches: from and up to, but without, to.
func span(op *event.Op) (from, to word) {
	if op.Addr == 0 {
		return 0, 0
	}
	return word(op.Addr / wordSize), word((op.Addr+max(op.Size, 1)-1)/wordSize) + 1
}

// aside returns the further words that op touches; noWord where there are none.
//
// When time moves on, the timers whose moment has come send on one channel, whose address
// the operation has, or on several, or they are deadlines, and then it has none. So what
// goes on in a network counts as an operation on a channel.
func aside(op *event.Op) [2]touched {
	switch op.Kind {
	case event.Select:
		return [2]touched{{anyChannel, changes}}
	case event.Send, event.Recv, event.Close, event.ChanLen,
		event.NetListen, event.NetDial, event.NetAccept, event.NetRead, event.NetWrite, event.NetClose:
		return [2]touched{{anyChannel, reads}}
	case event.NetDeadline:
		return [2]touched{{clock, reads}, {anyChannel, reads}}
	case event.Sleep, event.TimerStart, event.TimerStop, event.ReadClock:
		return [2]touched{{clock, reads}}
	case event.TimerFire:
		if op.Addr == 0 {
			return [2]touched{{clock, changes}, {anyChannel, changes}}
		}
		return [2]touched{{clock, changes}, {anyChannel, reads}}
	}
	return [2]touched{}
}
