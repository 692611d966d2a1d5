package linux

import (
	"bytes"
	"io"

	"github.com/cofferdam-go/cofferdam/internal/emu/abi"
)

// A description is an open file, which several numbers may stand for.
type description struct {
	node   *node
	offset int64
	flags  uint64
	// writer is where a console's output goes; reads of a console are from data.
	writer  io.Writer
	entries []string // of a directory that is being listed
	count   uint64   // of an eventfd
	event   bool
	added   uint64 // how often its count was added to
	// closeOnExec belongs to the number and not to the file, but nothing is ever executed.
	closeOnExec bool
}

// A pipe is bytes on their way.
type pipe struct {
	data             []byte
	readers, writers int
	written          uint64 // in all
}

const pipeSize = 64 << 10

// Connects reports whether what one thread writes to a number another may wait for: whether
// it is a pipe or socket, counts events, or watches any of these.
func (p *Process) Connects(n uint64) bool {
	d := p.fd(n)
	return d != nil && (d.node.pipe != nil || d.event || d.node.socket != nil || d.node.watched != nil)
}

// openStandard opens the three files that every program starts with.
func (p *Process) openStandard() {
	p.stdin = &node{path: "/dev/stdin", kind: console, mode: 0o600}
	p.fds = []*description{
		{node: p.stdin},
		{node: &node{path: "/dev/stdout", kind: console, mode: 0o600}, flags: abi.OpenWrite, writer: p.config.Stdout},
		{node: &node{path: "/dev/stderr", kind: console, mode: 0o600}, flags: abi.OpenWrite, writer: p.config.Stderr},
	}
}

// input reads all of the standard input, once.
func (p *Process) input() {
	if r := p.config.Stdin; r != nil {
		p.config.Stdin = nil
		data, err := io.ReadAll(r)
		if err != nil {
			p.note("reading the standard input: %v", err)
		}
		p.stdin.data = data
	}
}

// fd returns an open file.
func (p *Process) fd(n uint64) *description {
	if n < uint64(len(p.fds)) {
		return p.fds[n]
	}
	return nil
}

// install gives a file the lowest free number from least on.
func (p *Process) install(d *description, least int) uint64 {
	for i := least; ; i++ {
		for len(p.fds) <= i {
			p.fds = append(p.fds, nil)
		}
		if p.fds[i] == nil {
			p.fds[i] = d
			return uint64(i)
		}
	}
}

// close takes a number away, and ends a pipe that is no longer open anywhere.
func (p *Process) close(n uint64) bool {
	d := p.fd(n)
	if d == nil {
		return false
	}
	p.fds[n] = nil
	for _, other := range p.fds {
		if other == d {
			return true
		}
	}
	if pp := d.node.pipe; pp != nil {
		if d.flags&abi.OpenAccess == abi.OpenWrite {
			pp.writers--
		} else {
			pp.readers--
		}
	}
	if s := d.node.socket; s != nil {
		p.net.Close(s)
	}
	p.unwatch(n)
	return true
}

// A polled is a file and what about it is waited for.
type polled struct {
	fd     uint64
	events uint16
}

const (
	pollIn      = 1
	pollOut     = 4
	pollErr     = 8
	pollHup     = 16
	pollInvalid = 32
	pollReadHup = 0x2000
)

// polls returns which of the events are there.
func (p *Process) polls(f polled) uint16 {
	d := p.fd(f.fd)
	if d == nil {
		return pollInvalid
	}
	got := uint16(0)
	if p.readable(d) {
		got |= pollIn
	}
	if p.writable(d) {
		got |= pollOut
	}
	got &= f.events
	if pp := d.node.pipe; pp != nil {
		if d.flags&abi.OpenAccess == abi.OpenWrite && pp.readers == 0 {
			got |= pollErr
		}
		if d.flags&abi.OpenAccess != abi.OpenWrite && pp.writers == 0 {
			got |= pollHup
		}
	}
	if s := d.node.socket; s != nil {
		if s.HungUp() {
			got |= pollHup
		}
		if s.Ended() {
			got |= pollReadHup & f.events
		}
	}
	return got
}

func (p *Process) anyReady(fds []polled) bool {
	for _, f := range fds {
		if p.polls(f) != 0 {
			return true
		}
	}
	return false
}

// readable reports whether a read would not wait.
func (p *Process) readable(d *description) bool {
	switch {
	case d.event:
		return d.count > 0
	case d.node.pipe != nil:
		return len(d.node.pipe.data) > 0 || d.node.pipe.writers == 0
	case d.node.socket != nil:
		return d.node.socket.Readable()
	case d.node.watched != nil:
		return len(p.watchedReady(d.node.watched, 1)) > 0
	}
	return true
}

func (p *Process) writable(d *description) bool {
	if pp := d.node.pipe; pp != nil {
		return len(pp.data) < pipeSize || pp.readers == 0
	}
	if s := d.node.socket; s != nil {
		return s.Writable()
	}
	return d.node.watched == nil
}

// read reads from where the file is. wait means that there is nothing yet.
func (p *Process) read(d *description, b []byte) (n int, e abi.Errno, wait bool) {
	switch d.node.kind {
	case directory:
		return 0, abi.EISDIR, false
	case nullDevice:
		return 0, 0, false
	case zeroDevice:
		clear(b)
		return len(b), 0, false
	case randomDevice:
		p.used.Random = true
		p.random(b)
		return len(b), 0, false
	case pipeNode:
		pp := d.node.pipe
		if len(pp.data) == 0 {
			return 0, 0, pp.writers > 0
		}
		n = copy(b, pp.data)
		pp.data = append([]byte(nil), pp.data[n:]...)
		return n, 0, false
	case socketNode:
		n, _, _, failed, wait := d.node.socket.Receive(b, false)
		return n, failed, wait
	case epollNode:
		return 0, abi.EINVAL, false
	case console:
		if d.node == p.stdin {
			p.input()
		}
	}
	n = readAt(d.node, b, d.offset)
	d.offset += int64(n)
	return n, 0, false
}

func readAt(n *node, b []byte, offset int64) int {
	if offset < 0 || offset >= int64(len(n.data)) {
		return 0
	}
	return copy(b, n.data[offset:])
}

// write writes to where the file is.
func (p *Process) write(d *description, b []byte) (n int, e abi.Errno, wait bool) {
	switch d.node.kind {
	case nullDevice, zeroDevice, randomDevice:
		return len(b), 0, false
	case console:
		if d.writer != nil {
			if _, err := d.writer.Write(b); err != nil {
				p.note("writing to %s: %v", d.node.path, err)
			}
		}
		return len(b), 0, false
	case pipeNode:
		pp := d.node.pipe
		switch {
		case pp.readers == 0:
			p.raise(abi.SIGPIPE, p.running)
			return 0, abi.EPIPE, false
		case len(pp.data) >= pipeSize:
			return 0, 0, true
		}
		n = min(len(b), pipeSize-len(pp.data))
		pp.data = append(pp.data, b[:n]...)
		pp.written += uint64(n)
		return n, 0, false
	case socketNode:
		return p.sendOn(d, b, "", false)
	case epollNode:
		return 0, abi.EINVAL, false
	case directory:
		return 0, abi.EISDIR, false
	}
	if d.flags&abi.OpenAccess == 0 {
		return 0, abi.EBADF, false
	}
	if d.flags&abi.OpenAppend != 0 {
		d.offset = int64(len(d.node.data))
	}
	p.writeAt(d, b, d.offset)
	d.offset += int64(len(b))
	return len(b), 0, false
}

// writeAt changes a file, which becomes the program's own.
func (p *Process) writeAt(d *description, b []byte, offset int64) {
	d.node = p.owned(d.node)
	n := d.node
	if need := offset + int64(len(b)); need > int64(len(n.data)) {
		n.data = append(n.data, bytes.Repeat([]byte{0}, int(need-int64(len(n.data))))...)
	}
	copy(n.data[offset:], b)
	n.time = p.now()
}
