package loopback

import (
	"syscall"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/rt"
)

// An Addr is the address of a socket.
type Addr struct {
	// Host is an IP address, 4 or 16 bytes of it; all zero for any of this machine's.
	Host string
	Port int
	// Name is that of a unix socket, which has no Host.
	Name string
}

const (
	any4      = "\x00\x00\x00\x00"
	any6      = any4 + any4 + any4 + any4
	loopback4 = "\x7f\x00\x00\x01"
	loopback6 = any4 + any4 + any4 + "\x00\x00\x00\x01"
)

// A Kind is what a socket is for.
type Kind uint8

const (
	TCP Kind = iota
	UDP
	Unix
)

// backlog is how many connections a listener holds that were not accepted yet.
const backlog = 4096

// Ports that the network gives out are between these.
const (
	firstPort = 40000
	lastPort  = 60000
)

// table has the sockets that have an address.
var table struct {
	rt.Medium
	run      uint64
	bound    []*Socket
	nextPort int
	// ports are those that sockets have had in this run: the system is not asked about them.
	ports map[Port]bool
	// leave are called when the run is over.
	leave []func()
}

// A Port is a port of a kind of socket.
type Port struct {
	Kind   Kind
	Number int
}

// Begin empties the table for the first socket of a run. Whatever makes a file for a socket
// calls it first: what an earlier run has left goes away here.
func Begin() {
	if table.run == rt.Number() {
		return
	}
	for _, f := range table.leave {
		f()
	}
	table.run, table.bound, table.nextPort, table.leave = rt.Number(), nil, firstPort, nil
	table.ports = map[Port]bool{}
}

// AtEnd has f called before the first socket of another run is made: what the system keeps
// of a socket, such as the file of a unix socket, is not for that run.
func AtEnd(f func()) { table.leave = append(table.leave, f) }

// Knows reports whether a socket has had the port in this run. If none has, a program
// outside may have it.
func Knows(p Port) bool {
	Begin()
	return table.ports[p]
}

// KnowsName is Knows for a unix socket that listens.
func KnowsName(name string) bool {
	Begin()
	return listenerAt(Unix, Addr{Name: name}) != nil
}

// Listen makes a socket that listens at an address, or for UDP one that receives there.
// Port 0 stands for one that is not in use. With only6 an IPv6 address does not stand for
// IPv4 too.
func Listen(kind Kind, at Addr, only6 bool) (*Socket, error) {
	Begin()
	k := newSocket(kind, at)
	k.only6 = only6
	var err error
	ok := table.Use(rt.Use{Kind: event.NetListen, Act: func() uint64 {
		if err = k.bind(); err == nil && kind != UDP {
			k.listens = true
		}
		return uint64(k.Local.Port)
	}})
	if !ok {
		return nil, ErrOutside
	}
	if err != nil {
		return nil, err
	}
	return k, nil
}

// bind enters the socket in the table, with a port if it has none.
func (k *Socket) bind() error {
	if k.kind != Unix && k.Local.Port == 0 {
		port := freePort(k)
		if port == 0 {
			return syscall.EADDRINUSE
		}
		k.Local.Port = port
	}
	for _, other := range table.bound {
		if k.collides(other) {
			return syscall.EADDRINUSE
		}
	}
	table.bound = append(table.bound, k)
	table.ports[Port{k.kind, k.Local.Port}] = true
	return nil
}

func freePort(k *Socket) int {
	for range lastPort - firstPort {
		port := table.nextPort
		if table.nextPort++; table.nextPort == lastPort {
			table.nextPort = firstPort
		}
		free := true
		for _, other := range table.bound {
			free = free && (other.kind != k.kind || other.Local.Port != port)
		}
		if free {
			return port
		}
	}
	return 0
}

// collides reports whether two sockets cannot both have their address.
func (k *Socket) collides(other *Socket) bool {
	if k.kind != other.kind || k.Local.Port != other.Local.Port || k.Local.Name != other.Local.Name {
		return false
	}
	return k.kind == Unix || k.reachedAt(other.Local.Host) || other.reachedAt(k.Local.Host)
}

// reachedAt reports whether a socket is what a host stands for.
func (k *Socket) reachedAt(host string) bool {
	mine := k.Local.Host
	switch {
	case mine == host, mine == any4 && len(host) == 4, mine == any6 && len(host) == 16:
		return true
	}
	return mine == any6 && !k.only6
}

// unbind takes the socket from the table.
func (k *Socket) unbind() {
	for i, other := range table.bound {
		if other == k {
			table.bound = append(table.bound[:i], table.bound[i+1:]...)
			return
		}
	}
}

// listenerAt returns the socket that listens at an address, nil if none does. One for the
// very address comes before one for any.
func listenerAt(kind Kind, a Addr) *Socket {
	var found *Socket
	for _, k := range table.bound {
		if k.kind != kind || !k.listens || k.Local.Port != a.Port || k.Local.Name != a.Name || kind != Unix && !k.reachedAt(a.Host) {
			continue
		}
		if found == nil || k.Local.Host == a.Host {
			found = k
		}
	}
	return found
}

// Full reports whether a Dial would have to wait.
func Full(kind Kind, a Addr) bool {
	Begin()
	ln := listenerAt(kind, a)
	return ln != nil && len(ln.queue) >= backlog
}

// ListensAt6 reports whether a socket listens at the loopback address of IPv6.
func ListensAt6() bool {
	Begin()
	for _, k := range table.bound {
		if k.listens && k.Local.Host == loopback6 {
			return true
		}
	}
	return false
}

// A Giver is what a Dial that waits is given up for.
type Giver struct{ given bool }

// Up gives the Dial up.
func (g *Giver) Up() {
	table.Use(rt.Use{Kind: event.NetDeadline, Act: func() uint64 {
		g.given = true
		return 0
	}})
}

// Dial makes a socket that is connected to another one. Without one that listens, a
// connection is refused; a UDP socket is made all the same. The local address may be the
// zero one. A Dial that waits for room at the listener is given up by give.
func Dial(kind Kind, local, remote Addr, give *Giver) (*Socket, error) {
	Begin()
	switch {
	case remote.Host == any4:
		remote.Host = loopback4
	case remote.Host == any6:
		remote.Host = loopback6
	}
	if kind != Unix && local.Host == "" {
		if local.Host = loopback4; len(remote.Host) == 16 {
			local.Host = loopback6
		}
	}
	k := newSocket(kind, local)
	k.Remote = remote
	var err error
	ok := table.Use(rt.Use{
		Kind: event.NetDial,
		Ready: func() bool {
			ln := listenerAt(kind, remote)
			return ln == nil || len(ln.queue) < backlog || give.given
		},
		Act: func() uint64 {
			err = k.connect(give.given)
			return uint64(remote.Port)
		},
	})
	if !ok {
		return nil, ErrOutside
	}
	if err != nil {
		return nil, err
	}
	return k, nil
}

// connect is what Dial does when it can.
func (k *Socket) connect(given bool) error {
	if given {
		return ErrTimeout
	}
	if k.kind != Unix {
		if err := k.bind(); err != nil {
			return bindError{err}
		}
	}
	if k.kind == UDP {
		return nil
	}
	ln := listenerAt(k.kind, k.Remote)
	if ln == nil {
		k.unbind()
		return syscall.ECONNREFUSED
	}
	peer := newSocket(k.kind, k.Remote)
	peer.Remote = k.Local
	join(k, peer)
	k.in.Publish() // what Accept observes
	k.out.Publish()
	ln.queue = append(ln.queue, peer)
	return nil
}

// bindError is the error of a local address that cannot be had.
type bindError struct{ error }

func (e bindError) Unwrap() error { return e.error }

// IsBind reports whether a Dial failed because of its local address.
func IsBind(err error) bool {
	_, ok := err.(bindError)
	return ok
}

// Accept returns the connection that has waited longest.
func (k *Socket) Accept() (*Socket, error) {
	if k.stale() {
		return nil, ErrClosed
	}
	var peer *Socket
	var err error
	ok := table.Use(rt.Use{
		Kind:  event.NetAccept,
		Ready: func() bool { return k.closed || k.readBy.passed || len(k.queue) > 0 },
		Act: func() uint64 {
			switch {
			case k.closed:
				table.Observe()
				err = ErrClosed
			case k.readBy.passed:
				k.readBy.Observe()
				err = ErrTimeout
			default:
				peer = k.queue[0]
				k.queue = k.queue[1:]
				peer.in.Observe()
			}
			return 0
		},
	})
	if !ok {
		return nil, ErrOutside
	}
	return peer, err
}
