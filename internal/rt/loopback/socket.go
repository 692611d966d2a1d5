package loopback

import (
	"errors"
	"syscall"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/rt"
)

// What sockets return besides the system's errors and io.EOF.
var (
	ErrClosed  = errors.New("use of closed network connection")
	ErrTimeout = errors.New("i/o timeout")
	// ErrOutside is for a goroutine that is not under control: it would have to wait for
	// others that are.
	ErrOutside = errors.New("a connection in memory cannot be used by a goroutine outside control")
)

// A Socket is one end of a connection, or listens for some, or sends and receives packets.
type Socket struct {
	// Local and Remote are its addresses. A socket that listens has no Remote.
	Local, Remote Addr

	kind    Kind
	run     uint64
	only6   bool
	listens bool
	closed  bool
	abrupt  bool // to close is to reset

	readBy, writeBy deadline

	queue []*Socket // of one that listens

	// A connection's directions, and its other end. fault is an error that the next call is
	// told, and none after it; dead says that there is no connection any more. finished
	// says that the other end has told that it sends no more: after that a reset does not
	// show when reading.
	in, out            *direction
	peer               *Socket
	fault              syscall.Errno
	dead               bool
	finished           bool
	readShut, sendShut bool

	mail mailbox // of a UDP socket
}

// A deadline is when calls that wait are to fail. Its medium is there for its order alone.
type deadline struct {
	rt.Medium
	alarm  rt.Alarm
	passed bool
}

func newSocket(kind Kind, local Addr) *Socket {
	return &Socket{kind: kind, Local: local, run: rt.Number()}
}

// stale reports whether the socket is of an earlier run.
func (k *Socket) stale() bool { return k.run != rt.Number() }

// Closed reports whether the socket is closed.
func (k *Socket) Closed() bool { return k.closed }

// Stream reports whether the socket is one end of a connection.
func (k *Socket) Stream() bool { return k.in != nil }

// SetDeadlines sets the deadlines for reading and for writing, or one of them, so many
// nanoseconds from now. never takes it away.
func (k *Socket) SetDeadlines(read, write, never bool, d int64) error {
	if k.stale() {
		return ErrClosed
	}
	m, through := k.media(read, write)
	var err error
	ok := m.Use(rt.Use{Kind: event.NetDeadline, Through: through, Act: func() uint64 {
		if k.closed {
			err = ErrClosed
			return 0
		}
		if read {
			k.readBy.set(k, never, d)
		}
		if write {
			k.writeBy.set(k, never, d)
		}
		k.woken()
		return uint64(d)
	}})
	if !ok {
		return ErrOutside
	}
	return err
}

func (d *deadline) set(k *Socket, never bool, after int64) {
	d.alarm.Stop()
	d.Publish()
	d.passed = !never && after <= 0
	if !never && after > 0 {
		d.alarm.Set(after, func() {
			d.passed = true
			k.woken()
		})
	}
}

// media returns what a step depends on that concerns the socket's reads, its writes, or
// both: one medium, or two that are beside each other.
func (k *Socket) media(read, write bool) (first, through *rt.Medium) {
	switch {
	case k.listens || k.kind == UDP:
		return &table.Medium, nil
	case read && write:
		return &k.in.pair[0].Medium, &k.in.pair[1].Medium
	case read:
		return &k.in.Medium, nil
	}
	return &k.out.Medium, nil
}

// woken has the goroutines looked at that wait for the socket.
func (k *Socket) woken() {
	switch {
	case k.listens || k.kind == UDP:
		table.Changed()
	default:
		k.in.Changed()
		k.out.Changed()
	}
}

// SetAbrupt has Close reset the connection, or not.
func (k *Socket) SetAbrupt(abrupt bool) {
	if !k.closed {
		k.abrupt = abrupt
	}
}

// SetBuffer sets how much can be written that was not read: in the direction that the
// socket reads from, or the one it writes to. As on Linux it is twice what is asked for.
func (k *Socket) SetBuffer(read bool, bytes int) {
	if k.in == nil {
		return
	}
	d := k.out
	if read {
		d = k.in
	}
	d.capacity = max(2*bytes, leastCapacity)
}

// Close closes the socket. What waits for it fails.
func (k *Socket) Close() error {
	if k.stale() {
		if k.closed {
			return ErrClosed
		}
		k.closed = true
		return nil
	}
	m, through := k.media(true, true)
	var err error
	ok := m.Use(rt.Use{Kind: event.NetClose, Through: through, Act: func() uint64 {
		if k.closed {
			err = ErrClosed
			return 0
		}
		k.closed = true
		k.readBy.alarm.Stop()
		k.writeBy.alarm.Stop()
		k.unbind()
		switch {
		case k.listens:
			table.Publish()
			for _, peer := range k.queue {
				peer.abrupt = true
				peer.closed = true
				peer.hangUp()
				peer.woken()
			}
			k.queue = nil
		case k.kind != UDP:
			k.hangUp()
		default:
			k.mail.Publish()
		}
		k.woken()
		return 0
	}})
	if !ok {
		return ErrOutside
	}
	return err
}
