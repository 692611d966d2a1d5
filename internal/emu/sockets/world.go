package sockets

import (
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/emu/abi"
)

// A World is what is outside of emulated processes. Processes of one program share it, and
// with it what listens on the host for them.
type World struct {
	mu        sync.Mutex
	changed   chan struct{} // closed when anything has come
	listeners map[Address]*Listener
}

// NewWorld returns the world.
func NewWorld() *World {
	return &World{changed: make(chan struct{}), listeners: map[Address]*Listener{}}
}

// Changes returns a channel that is closed when something comes from outside. It has to be
// asked for before one looks whether something is there.
func (w *World) Changes() <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.changed
}

// change does something that may be waited for.
func (w *World) change(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f()
	close(w.changed)
	w.changed = make(chan struct{})
}

// A Connection is one of the host.
type Connection struct {
	world    *World
	conn     net.Conn
	packets  bool
	received []packet // guarded by world.mu, as the following
	arrivals uint64
	ended    bool
	kept     bool // a snapshot has it
}

// connectWithin is how long the host is given to connect.
const connectWithin = 10 * time.Second

// network is the name of the host's network for an address.
func network(kind int, a Address) string {
	names := [2]string{"tcp", "udp"}
	if _, _, ok := a.ip(); !ok {
		names = [2]string{"unix", "unixgram"}
	}
	if kind == Datagram {
		return names[1]
	}
	return names[0]
}

// Connect connects with what is at an address of the host.
func (w *World) Connect(kind int, to Address) (*Connection, abi.Errno) {
	if to.String() == "" || kind == SeqPacket {
		return nil, abi.ECONNREFUSED
	}
	conn, err := net.DialTimeout(network(kind, to), to.String(), connectWithin)
	if err != nil {
		return nil, errorOf(err)
	}
	return w.connection(conn, kind == Datagram), 0
}

// errorOf is the number of an error of the host.
func errorOf(err error) abi.Errno {
	var number syscall.Errno
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return abi.ETIMEDOUT
	case errors.As(err, &number) && number > 0 && number < 4096:
		return abi.Errno(number)
	}
	return abi.ECONNREFUSED
}

func (w *World) connection(conn net.Conn, packets bool) *Connection {
	c := &Connection{world: w, conn: conn, packets: packets}
	go c.listen()
	return c
}

// listen receives all that comes.
func (c *Connection) listen() {
	for {
		b := make([]byte, 64<<10)
		n, err := c.conn.Read(b)
		c.world.change(func() {
			if n > 0 || err == nil && c.packets {
				c.received = append(c.received, packet{data: b[:n]})
			}
			c.arrivals++
			c.ended = c.ended || err != nil
		})
		if err != nil {
			return
		}
	}
}

func (c *Connection) readable() bool {
	c.world.mu.Lock()
	defer c.world.mu.Unlock()
	return len(c.received) > 0 || c.ended
}

func (c *Connection) over() bool {
	c.world.mu.Lock()
	defer c.world.mu.Unlock()
	return c.ended
}

func (c *Connection) count() uint64 {
	c.world.mu.Lock()
	defer c.world.mu.Unlock()
	return c.arrivals
}

func (c *Connection) receive(b []byte, peek bool) (n, whole int, from Address, e abi.Errno, wait bool) {
	c.world.mu.Lock()
	defer c.world.mu.Unlock()
	if len(c.received) == 0 {
		return 0, 0, "", 0, !c.ended
	}
	p := &c.received[0]
	n, whole = copy(b, p.data), len(p.data)
	switch {
	case peek:
	case n == whole || c.packets:
		c.received = c.received[1:]
	default:
		p.data = p.data[n:]
	}
	if !c.packets {
		whole = n
	}
	return n, whole, "", 0, false
}

func (c *Connection) send(b []byte) (int, abi.Errno) {
	n, err := c.conn.Write(b)
	if err != nil && n == 0 {
		if errors.Is(err, net.ErrClosed) || errors.Is(err, io.ErrClosedPipe) {
			return 0, abi.EPIPE
		}
		return 0, errorOf(err)
	}
	return n, 0
}

func (c *Connection) closeWrite() {
	if half, ok := c.conn.(interface{ CloseWrite() error }); ok {
		half.CloseWrite()
	}
}

// keep has a connection outlive the run, and close ends it unless it does.
func (c *Connection) keep() {
	c.world.mu.Lock()
	defer c.world.mu.Unlock()
	c.kept = true
}

func (c *Connection) close() {
	c.world.mu.Lock()
	kept := c.kept
	c.world.mu.Unlock()
	if !kept {
		c.conn.Close()
	}
}

// A Listener accepts connections of the host.
type Listener struct {
	world   *World
	clients []*Connection // guarded by world.mu
}

// Listen accepts connections at an address of the host, for all processes that have a socket
// there.
func (w *World) Listen(at Address) (*Listener, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if l := w.listeners[at]; l != nil {
		return l, nil
	}
	listener, err := net.Listen(network(Stream, at), at.String())
	if err != nil {
		return nil, err
	}
	l := &Listener{world: w}
	w.listeners[at] = l
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			client := w.connection(conn, false)
			w.change(func() { l.clients = append(l.clients, client) })
		}
	}()
	return l, nil
}

func (l *Listener) pending() bool {
	l.world.mu.Lock()
	defer l.world.mu.Unlock()
	return len(l.clients) > 0
}

func (l *Listener) accept() *Connection {
	l.world.mu.Lock()
	defer l.world.mu.Unlock()
	if len(l.clients) == 0 {
		return nil
	}
	c := l.clients[0]
	l.clients = l.clients[1:]
	return c
}
