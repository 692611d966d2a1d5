package loopback

import (
	"syscall"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/rt"
)

// mailCapacity is how many bytes of packets a socket holds, and packetCost what each of
// them counts beyond its own. What comes when it is full is dropped.
const (
	mailCapacity = 208 << 10
	packetCost   = 512
	largest      = 65507
)

// A mailbox has the packets that a UDP socket was sent. Its medium is there for their order
// alone: where a packet goes, and whether one is there, depends on the table.
type mailbox struct {
	rt.Medium
	packets []packet
	bytes   int
}

type packet struct {
	from Addr
	data []byte
}

// ReadFrom takes the packet that has waited longest, and waits for one. Of a packet larger
// than p the rest is lost.
func (k *Socket) ReadFrom(p []byte) (n int, from Addr, err error) {
	if k.stale() {
		return 0, Addr{}, ErrClosed
	}
	ok := table.Use(rt.Use{
		Kind:  event.NetRead,
		Ready: func() bool { return k.closed || k.readBy.passed || k.fault != 0 || len(k.mail.packets) > 0 },
		Act: func() uint64 {
			n, from, err = k.receive(p)
			return uint64(n)
		},
	})
	if !ok {
		err = ErrOutside
	}
	return n, from, err
}

func (k *Socket) receive(p []byte) (n int, from Addr, err error) {
	m := &k.mail
	switch {
	case k.closed:
		m.Observe()
		return 0, Addr{}, ErrClosed
	case k.readBy.passed:
		k.readBy.Observe()
		return 0, Addr{}, ErrTimeout
	case k.fault != 0:
		err, k.fault = k.fault, 0
		return 0, Addr{}, err
	}
	m.Observe()
	first := m.packets[0]
	m.packets = m.packets[1:]
	m.bytes -= len(first.data) + packetCost
	n = copy(p, first.data)
	rt.Touch(p[:n], event.Store)
	return n, first.from, nil
}

// WriteTo sends a packet. If no socket receives it there, one that is connected is told so
// by its next call.
func (k *Socket) WriteTo(p []byte, to Addr) (n int, err error) {
	if k.stale() {
		return 0, ErrClosed
	}
	switch to.Host {
	case any4:
		to.Host = loopback4
	case any6:
		to.Host = loopback6
	}
	ok := table.Use(rt.Use{Kind: event.NetWrite, Act: func() uint64 {
		n, err = k.send(p, to)
		return uint64(n)
	}})
	if !ok {
		err = ErrOutside
	}
	return n, err
}

func (k *Socket) send(p []byte, to Addr) (n int, err error) {
	switch {
	case k.closed:
		k.mail.Observe()
		return 0, ErrClosed
	case k.writeBy.passed:
		k.writeBy.Observe()
		return 0, ErrTimeout
	case k.fault != 0:
		err, k.fault = k.fault, 0
		return 0, err
	case len(p) > largest:
		return 0, syscall.EMSGSIZE
	}
	rt.Touch(p, event.Load)
	target := receiverAt(to)
	if target == nil {
		if k.Remote != (Addr{}) {
			k.fault = syscall.ECONNREFUSED
		}
		return len(p), nil
	}
	from := k.Local
	if from.Host == any4 || from.Host == any6 {
		if from.Host = loopback4; len(to.Host) == 16 {
			from.Host = loopback6
		}
	}
	m := &target.mail
	if target.Remote != (Addr{}) && !sameAddr(target.Remote, from) || m.bytes+len(p)+packetCost > mailCapacity {
		return len(p), nil
	}
	m.packets = append(m.packets, packet{from, append([]byte(nil), p...)})
	m.bytes += len(p) + packetCost
	m.Publish()
	return len(p), nil
}

// receiverAt returns the socket that packets to an address are for.
func receiverAt(a Addr) *Socket {
	var found *Socket
	for _, k := range table.bound {
		if k.kind == UDP && k.Local.Port == a.Port && k.reachedAt(a.Host) && (found == nil || k.Local.Host == a.Host) {
			found = k
		}
	}
	return found
}

// sameAddr compares addresses of IPv4 sockets and of IPv6 sockets that stand for both.
func sameAddr(a, b Addr) bool { return a.Port == b.Port && a.Host == b.Host }
