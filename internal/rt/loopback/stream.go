package loopback

import (
	"io"
	"syscall"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/rt"
)

// A direction holds tcpCapacity or unixCapacity bytes before writes have to wait, and
// leastCapacity at least, whatever it is set to.
//
// Linux has more, and how much depends on the sizes of the writes: between 2.7 and 3.9 MB
// for TCP, and about 200 KB for unix sockets if the writes are not tiny.
const (
	tcpCapacity   = 2560 << 10
	unixCapacity  = 176 << 10
	leastCapacity = 4 << 10
)

// A direction is what one end of a connection has written and the other has not read.
type direction struct {
	rt.Medium
	data     []byte
	capacity int
	pair     *[2]direction // both of a connection
}

// join connects two sockets.
func join(a, b *Socket) {
	pair := new([2]direction)
	for i := range pair {
		if pair[i].capacity, pair[i].pair = tcpCapacity, pair; a.kind == Unix {
			pair[i].capacity = unixCapacity
		}
	}
	a.out, b.in = &pair[0], &pair[0]
	b.out, a.in = &pair[1], &pair[1]
	a.peer, b.peer = b, a
}

// Read reads what there is, at most len(p) bytes, and waits until there is something.
func (k *Socket) Read(p []byte) (n int, err error) {
	return k.read(p, false)
}

// Peek is Read, but what is read stays there.
func (k *Socket) Peek(p []byte) (n int, err error) { return k.read(p, true) }

func (k *Socket) read(p []byte, stays bool) (n int, err error) {
	if k.kind == UDP {
		n, _, err = k.ReadFrom(p)
		return n, err
	}
	if k.stale() {
		return 0, ErrClosed
	}
	ok := k.in.Use(rt.Use{
		Kind: event.NetRead,
		Ready: func() bool {
			return len(p) == 0 || k.closed || k.readBy.passed || k.Readable()
		},
		Act: func() uint64 {
			n, err = k.take(p, stays)
			return uint64(n)
		},
	})
	if !ok {
		return 0, ErrOutside
	}
	return n, err
}

// Readable reports whether a Read need not wait.
func (k *Socket) Readable() bool {
	return len(k.in.data) > 0 || k.fault != 0 || k.ended()
}

// ended reports whether there is nothing more to come.
func (k *Socket) ended() bool {
	return k.dead || k.readShut || k.peer.closed || k.finished
}

// take is what Read does when it can.
func (k *Socket) take(p []byte, stays bool) (n int, err error) {
	in := k.in
	switch {
	case k.closed:
		in.Observe()
		return 0, ErrClosed
	case len(p) == 0:
		return 0, nil
	case k.readBy.passed:
		k.readBy.Observe()
		return 0, ErrTimeout
	}
	in.Observe()
	switch {
	case len(in.data) > 0:
		n = copy(p, in.data)
		rt.Touch(p[:n], event.Store)
		if !stays {
			in.data = in.data[n:]
			if len(in.data) == 0 {
				in.data = nil
			}
		}
		return n, nil
	case k.fault != 0 && !(k.kind == TCP && k.finished):
		err, k.fault = k.fault, 0
		return 0, err
	}
	return 0, io.EOF
}

// Write writes all of p, and waits while there is no room for it.
func (k *Socket) Write(p []byte) (n int, err error) {
	if k.kind == UDP {
		return k.WriteTo(p, k.Remote)
	}
	for {
		if k.stale() {
			return n, ErrClosed
		}
		ok := k.out.Use(rt.Use{
			Kind: event.NetWrite,
			Ready: func() bool {
				return len(k.out.data) < k.out.capacity || k.closed || k.writeBy.passed || k.unwritable()
			},
			Act: func() uint64 {
				var m int
				m, err = k.put(p[n:])
				n += m
				return uint64(m)
			},
		})
		if !ok {
			return n, ErrOutside
		}
		if err != nil || n == len(p) {
			return n, err
		}
	}
}

// unwritable reports whether a write goes nowhere.
func (k *Socket) unwritable() bool {
	return k.dead || k.sendShut || k.fault != 0 || k.peer.closed || k.kind == Unix && k.peer.readShut
}

// put is what Write does when it can.
func (k *Socket) put(p []byte) (n int, err error) {
	out := k.out
	switch {
	case k.closed:
		out.Observe()
		return 0, ErrClosed
	case k.writeBy.passed:
		k.writeBy.Observe()
		return 0, ErrTimeout
	case k.kind == Unix && (k.peer.closed || k.peer.readShut):
		return 0, syscall.EPIPE
	case k.fault != 0:
		err, k.fault = k.fault, 0
		return 0, err
	case k.dead || k.sendShut:
		return 0, syscall.EPIPE
	}
	rt.Touch(p, event.Load)
	if peer := k.peer; peer.closed || peer.readShut && peer.sendShut {
		// Nothing is known here of that; the system takes the bytes and is told that they
		// are not wanted.
		k.dead, k.fault = true, syscall.EPIPE
		peer.dead, peer.fault = true, syscall.ECONNRESET
		return len(p), nil
	}
	n = min(len(p), out.capacity-len(out.data))
	out.data = append(out.data, p[:n]...)
	out.Publish()
	return n, nil
}

// hangUp is what the other end gets to know when the socket is closed.
func (k *Socket) hangUp() {
	k.out.Publish()
	k.in.Publish()
	unread := len(k.in.data) > 0
	k.in.data = nil
	peer := k.peer
	if peer.closed {
		return
	}
	switch k.abrupt = k.abrupt && k.kind == TCP || unread; {
	case k.dead:
	case !k.abrupt:
		peer.finished = true
	case k.kind == Unix:
		peer.fault = syscall.ECONNRESET
	case k.sendShut:
		peer.dead, peer.fault = true, syscall.EPIPE
	default:
		peer.dead, peer.fault = true, syscall.ECONNRESET
	}
}

// Shutdown ends one direction.
func (k *Socket) Shutdown(read bool) error {
	if k.stale() || k.in == nil {
		return syscall.ENOTCONN
	}
	m, _ := k.media(read, !read)
	var err error
	ok := m.Use(rt.Use{Kind: event.NetClose, Act: func() uint64 {
		switch {
		case k.closed:
			err = ErrClosed
		case k.dead || k.kind == TCP && k.sendShut && k.finished:
			err = syscall.ENOTCONN // both directions have ended
		case read:
			k.readShut = true
			k.in.Publish()
		default:
			k.sendShut = true
			k.peer.finished = true
			k.out.Publish()
		}
		k.woken()
		return 0
	}})
	if !ok {
		return ErrOutside
	}
	return err
}
