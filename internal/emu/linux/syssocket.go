package linux

import (
	"encoding/binary"

	"github.com/cofferdam-go/cofferdam/internal/emu/abi"
	"github.com/cofferdam-go/cofferdam/internal/emu/files"
	"github.com/cofferdam-go/cofferdam/internal/emu/sockets"
)

// Sockets.

// Flags of sending and receiving.
const (
	messagePeek     = 0x2
	messageTruncate = 0x20
	messageDontWait = 0x40
	messageNoSignal = 0x4000
)

const (
	socketNonblock = abi.OpenNonblock
	socketCloexec  = abi.OpenCloexec
	socketKinds    = 0xf
)

// A socketCall is a system call on a socket, whose number is its first argument.
type socketCall func(p *Process, t *Thread, s *sockets.Socket, d *description, a *args) uint64

// onSocket makes a system call of one on a socket.
func onSocket(c socketCall) call {
	return func(p *Process, t *Thread, a *args) uint64 {
		d := p.fd(a[0])
		switch {
		case d == nil:
			return abi.EBADF.Result()
		case d.node.Socket == nil:
			return abi.ENOTSOCK.Result()
		}
		return c(p, t, d.node.Socket, d, a)
	}
}

// installSocket gives a socket a number.
func (p *Process) installSocket(s *sockets.Socket, flags uint64) uint64 {
	n := &files.Node{Path: "socket", Kind: files.SocketNode, Mode: 0o777, Socket: s}
	return p.install(&description{node: n, flags: flags&socketNonblock | abi.OpenRDWR}, 0, flags&socketCloexec != 0)
}

// openSocket opens a socket as the arguments of a system call say.
func (p *Process) openSocket(a *args) *sockets.Socket {
	s, ok := p.net.Open(int(a[0]), int(a[1]&socketKinds))
	if !ok {
		p.note("the program wanted a socket of family %d and type %d, which are not emulated: socket fails with EAFNOSUPPORT", a[0], a[1]&socketKinds)
	}
	return s
}

func sysSocket(p *Process, _ *Thread, a *args) uint64 {
	s := p.openSocket(a)
	if s == nil {
		return abi.EAFNOSUPPORT.Result()
	}
	return p.installSocket(s, a[1])
}

func sysSocketpair(p *Process, _ *Thread, a *args) uint64 {
	one, other := p.openSocket(a), p.openSocket(a)
	if one == nil || a[0] != sockets.Unix {
		return abi.EAFNOSUPPORT.Result()
	}
	sockets.Pair(one, other)
	b := binary.LittleEndian.AppendUint32(nil, uint32(p.installSocket(one, a[1])))
	b = binary.LittleEndian.AppendUint32(b, uint32(p.installSocket(other, a[1])))
	if !p.Mem.WriteAt(b, a[3]) {
		return abi.EFAULT.Result()
	}
	return 0
}

// socketAddress reads an address.
func (p *Process) socketAddress(addr, size uint64) (sockets.Address, abi.Errno) {
	const longest = 128
	if addr == 0 || size == 0 {
		return "", 0
	}
	if size > longest {
		return "", abi.EINVAL
	}
	b := make([]byte, size)
	if !p.Mem.ReadAt(b, addr) {
		return "", abi.EFAULT
	}
	return sockets.Address(b), 0
}

// putAddress writes an address as far as there is room for it, and how long it is.
func (p *Process) putAddress(a sockets.Address, addr, sizeAt uint64) abi.Errno {
	if addr == 0 || sizeAt == 0 {
		return 0
	}
	var size [4]byte
	if !p.Mem.ReadAt(size[:], sizeAt) {
		return abi.EFAULT
	}
	room := int(binary.LittleEndian.Uint32(size[:]))
	if !p.Mem.WriteAt([]byte(a)[:min(room, len(a))], addr) || !p.Mem.WriteAt(binary.LittleEndian.AppendUint32(nil, uint32(len(a))), sizeAt) {
		return abi.EFAULT
	}
	return 0
}

func sysBind(p *Process, _ *Thread, s *sockets.Socket, _ *description, a *args) uint64 {
	at, e := p.socketAddress(a[1], a[2])
	if e != 0 {
		return e.Result()
	}
	return p.net.Bind(s, at).Result()
}

func sysListen(p *Process, _ *Thread, s *sockets.Socket, _ *description, a *args) uint64 {
	return p.net.Listen(s).Result()
}

func sysConnect(p *Process, _ *Thread, s *sockets.Socket, _ *description, a *args) uint64 {
	to, e := p.socketAddress(a[1], a[2])
	if e != 0 {
		return e.Result()
	}
	failed := p.net.Connect(s, to)
	p.noteOutside(s, to)
	return failed.Result()
}

// noteOutside lists a connection that the program has made to what is outside.
func (p *Process) noteOutside(s *sockets.Socket, to sockets.Address) {
	if s.Outside() {
		p.root().used.Outside = true
		p.note("the program talks to %s, outside of the emulation: what comes from there is not under control, and may differ in another run", to)
	}
}

func sysAccept(p *Process, t *Thread, s *sockets.Socket, d *description, a *args) uint64 {
	c, failed, wait := p.net.Accept(s)
	switch {
	case failed != 0:
		return failed.Result()
	case wait && d.flags&abi.OpenNonblock != 0:
		return abi.EAGAIN.Result()
	case wait:
		t.wait = waiting{kind: onFiles, name: "accept", fds: []polled{{a[0], pollIn}}}
		return 0
	}
	if e := p.putAddress(c.Remote(), a[1], a[2]); e != 0 {
		return e.Result()
	}
	flags := uint64(0)
	if abi.CallName(t.CPU.R[0]) == "accept4" {
		flags = a[3]
	}
	return p.installSocket(c, flags)
}

// sendOn sends on a socket, to an address if there is one.
func (p *Process) sendOn(d *description, b []byte, to sockets.Address, quiet bool) (n int, e abi.Errno, wait bool) {
	s := d.node.Socket
	var failed abi.Errno
	if to != "" {
		n, failed, wait = p.net.SendTo(s, b, to)
		p.noteOutside(s, to)
	} else {
		n, failed, wait = s.Send(b)
	}
	if failed == abi.EPIPE && !quiet {
		p.raise(abi.SIGPIPE, p.running)
	}
	return n, failed, wait
}

// transferred is what a system call that sent or received returns. wait has the thread wait
// until it can.
func (p *Process) transferred(t *Thread, d *description, fd, flags uint64, events uint16, n int, e abi.Errno, wait bool) uint64 {
	switch {
	case e != 0:
		return e.Result()
	case wait && (d.flags&abi.OpenNonblock != 0 || flags&messageDontWait != 0):
		return abi.EAGAIN.Result()
	case wait:
		name, _ := t.Call()
		t.wait = waiting{kind: onFiles, name: name, fds: []polled{{fd, events}}}
		return 0
	}
	return uint64(n)
}

func sysSendto(p *Process, t *Thread, _ *sockets.Socket, d *description, a *args) uint64 {
	to, e := p.socketAddress(a[4], a[5])
	b := make([]byte, min(a[2], maxIO))
	if e != 0 || !p.Mem.ReadAt(b, a[1]) {
		return abi.EFAULT.Result()
	}
	n, e, wait := p.sendOn(d, b, to, a[3]&messageNoSignal != 0)
	return p.transferred(t, d, a[0], a[3], pollOut, n, e, wait)
}

func sysRecvfrom(p *Process, t *Thread, s *sockets.Socket, d *description, a *args) uint64 {
	b := make([]byte, min(a[2], maxIO))
	n, whole, from, failed, wait := s.Receive(b, a[3]&messagePeek != 0)
	if failed == 0 && !wait {
		if !p.Mem.WriteAt(b[:n], a[1]) {
			return abi.EFAULT.Result()
		}
		if e := p.putAddress(from, a[4], a[5]); e != 0 {
			return e.Result()
		}
		if a[3]&messageTruncate != 0 {
			n = whole
		}
	}
	return p.transferred(t, d, a[0], a[3], pollIn, n, failed, wait)
}

// A messageHeader is struct msghdr.
type messageHeader struct{ name, nameSize, spans, count, control, controlSize uint64 }

func (p *Process) messageHeader(addr uint64) (h messageHeader, ok bool) {
	var b [56]byte
	if !p.Mem.ReadAt(b[:], addr) {
		return h, false
	}
	word := func(i int) uint64 { return binary.LittleEndian.Uint64(b[8*i:]) }
	return messageHeader{word(0), uint64(uint32(word(1))), word(2), word(3), word(4), word(5)}, true
}

func sysSendmsg(p *Process, t *Thread, _ *sockets.Socket, d *description, a *args) uint64 {
	h, ok := p.messageHeader(a[1])
	pieces, listed := p.spans(h.spans, h.count)
	to, e := p.socketAddress(h.name, h.nameSize)
	if !ok || !listed || e != 0 {
		return abi.EFAULT.Result()
	}
	if h.controlSize > 0 {
		p.note("the program sends files or credentials over a socket, which are not passed on")
	}
	var all []byte
	for _, s := range pieces {
		b := make([]byte, min(s.size, maxIO))
		if !p.Mem.ReadAt(b, s.addr) {
			return abi.EFAULT.Result()
		}
		all = append(all, b...)
	}
	n, e, wait := p.sendOn(d, all, to, a[2]&messageNoSignal != 0)
	return p.transferred(t, d, a[0], a[2], pollOut, n, e, wait)
}

func sysRecvmsg(p *Process, t *Thread, s *sockets.Socket, d *description, a *args) uint64 {
	h, ok := p.messageHeader(a[1])
	pieces, listed := p.spans(h.spans, h.count)
	if !ok || !listed {
		return abi.EFAULT.Result()
	}
	room := uint64(0)
	for _, s := range pieces {
		room += min(s.size, maxIO)
	}
	b := make([]byte, room)
	n, whole, from, failed, wait := s.Receive(b, a[2]&messagePeek != 0)
	if failed == 0 && !wait {
		if !p.received(a[1], &h, pieces, b[:n], from, whole > n) {
			return abi.EFAULT.Result()
		}
	}
	return p.transferred(t, d, a[0], a[2], pollIn, n, failed, wait)
}

// received writes what was received to where a message header says, and what the header says
// afterwards.
func (p *Process) received(header uint64, h *messageHeader, pieces []span, b []byte, from sockets.Address, cut bool) bool {
	for _, s := range pieces {
		part := b[:min(uint64(len(b)), s.size)]
		if !p.Mem.WriteAt(part, s.addr) {
			return false
		}
		b = b[len(part):]
	}
	if h.name != 0 && !p.Mem.WriteAt([]byte(from)[:min(uint64(len(from)), h.nameSize)], h.name) {
		return false
	}
	flags := uint32(0)
	if cut {
		flags = messageTruncate
	}
	le := binary.LittleEndian
	return p.Mem.WriteAt(le.AppendUint32(nil, uint32(len(from))), header+8) &&
		p.Mem.WriteAt(le.AppendUint32(le.AppendUint64(nil, 0), flags), header+40)
}

func sysShutdown(_ *Process, _ *Thread, s *sockets.Socket, _ *description, a *args) uint64 {
	if a[1] > 2 {
		return abi.EINVAL.Result()
	}
	return s.Shutdown(a[1] != 1, a[1] != 0).Result()
}

func sysGetsockname(p *Process, _ *Thread, s *sockets.Socket, _ *description, a *args) uint64 {
	return p.putAddress(s.Local(), a[1], a[2]).Result()
}

func sysGetpeername(p *Process, _ *Thread, s *sockets.Socket, _ *description, a *args) uint64 {
	if s.Remote() == "" {
		return abi.ENOTCONN.Result()
	}
	return p.putAddress(s.Remote(), a[1], a[2]).Result()
}

// sysSetsockopt sets nothing: what options change is how fast, and for how long.
func sysSetsockopt(*Process, *Thread, *sockets.Socket, *description, *args) uint64 { return 0 }

func sysGetsockopt(p *Process, _ *Thread, s *sockets.Socket, _ *description, a *args) uint64 {
	const level, kind, sendBuffer, receiveBuffer, accepts, domain = 1, 3, 7, 8, 30, 39
	value := uint32(0)
	if a[1] == level {
		switch a[2] {
		case kind:
			value = uint32(s.Kind)
		case domain:
			value = uint32(s.Family)
		case sendBuffer, receiveBuffer:
			value = 212992
		case accepts:
			if s.Listening() {
				value = 1
			}
		}
	}
	if a[3] == 0 || !p.Mem.WriteAt(binary.LittleEndian.AppendUint32(nil, value), a[3]) || !p.Mem.WriteAt(binary.LittleEndian.AppendUint32(nil, 4), a[4]) {
		return abi.EFAULT.Result()
	}
	return 0
}
