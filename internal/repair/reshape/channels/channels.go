// Package channels has the repairs of sends, receives and closes: a close that comes twice or before a
// send, an answer that nothing is left to take, and a wait that ignores what tells it to stop. Package
// reshape shows each, with the source before and after.
//
//	channels.go    the repairs, in their order
//	once.go        closing once
//	guardedsend.go the lock and flag of a close, for its sends
//	sendanew.go    a lock for such a flag that has none
//	sendsection.go sends within the section that looks up the channel
//	buffer.go      room for an answer
//	selectdone.go  waiting for what tells to stop as well
package channels

import "github.com/cofferdam-go/cofferdam/internal/repair/reshape/change"

// A finder looks for the mistakes that a failing run may show. Each repair is a method of it.
type finder struct{ *change.Run }

// Closing returns the repairs of closes that come too early or twice, the best first.
func Closing(run *change.Run) []*change.Change {
	r := &finder{run}
	all := append(r.closeOnce(), r.guardSend()...)
	return append(all, r.sendInSection()...)
}

// Waiting returns the repairs of sends and receives that wait for ever, the best first.
func Waiting(run *change.Run) []*change.Change {
	r := &finder{run}
	return append(r.roomForAnswer(), r.selectDone()...)
}
