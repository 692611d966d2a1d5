package linux

import (
	"io"

	"github.com/cofferdam-go/cofferdam/internal/emu/abi"
	"github.com/cofferdam-go/cofferdam/internal/emu/files"
)

// A description is an open file, which several numbers may stand for.
type description struct {
	node   *files.Node
	offset int64
	flags  uint64
	// writer is where a console's output goes; reads of a console are from data.
	writer  io.Writer
	entries []string // of a directory that is being listed
	count   uint64   // of an eventfd
	event   bool
	added   uint64 // how often its count was added to
	numbers int    // that stand for it, in all processes
}

// A fileNumber is what a number stands for.
type fileNumber struct {
	*description
	closeOnExec bool
}

// Connects reports whether what one thread writes to a number another may wait for: whether
// it is a pipe or socket, counts events, or watches any of these.
func (p *Process) Connects(n uint64) bool {
	d := p.fd(n)
	return d != nil && (d.node.Pipe != nil || d.event || d.node.Socket != nil || d.node.Watched != nil)
}

// openStandard opens the three files that every program starts with.
func (p *Process) openStandard() {
	p.stdin = &files.Node{Path: "/dev/stdin", Kind: files.Console, Mode: 0o600}
	p.install(&description{node: p.stdin}, 0, false)
	p.install(&description{node: &files.Node{Path: "/dev/stdout", Kind: files.Console, Mode: 0o600}, flags: abi.OpenWrite, writer: p.config.Stdout}, 0, false)
	p.install(&description{node: &files.Node{Path: "/dev/stderr", Kind: files.Console, Mode: 0o600}, flags: abi.OpenWrite, writer: p.config.Stderr}, 0, false)
}

// input reads all of the standard input, once.
func (p *Process) input() {
	p = p.root()
	if r := p.config.Stdin; r != nil {
		p.config.Stdin = nil
		data, err := io.ReadAll(r)
		if err != nil {
			p.note("reading the standard input: %v", err)
		}
		p.stdin.Data = data
	}
}

// fd returns an open file.
func (p *Process) fd(n uint64) *description {
	if n < uint64(len(p.fds)) {
		return p.fds[n].description
	}
	return nil
}

// install gives a file the lowest free number from least on.
func (p *Process) install(d *description, least int, closeOnExec bool) uint64 {
	for i := least; ; i++ {
		for len(p.fds) <= i {
			p.fds = append(p.fds, fileNumber{})
		}
		if p.fds[i].description == nil {
			p.fds[i] = fileNumber{d, closeOnExec}
			d.numbers++
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
	p.fds[n] = fileNumber{}
	if d.numbers--; d.numbers > 0 {
		return true
	}
	if pp := d.node.Pipe; pp != nil {
		if d.flags&abi.OpenAccess == abi.OpenWrite {
			pp.Writers--
		} else {
			pp.Readers--
		}
	}
	if s := d.node.Socket; s != nil {
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
	if pp := d.node.Pipe; pp != nil {
		if d.flags&abi.OpenAccess == abi.OpenWrite && pp.Readers == 0 {
			got |= pollErr
		}
		if d.flags&abi.OpenAccess != abi.OpenWrite && pp.Writers == 0 {
			got |= pollHup
		}
	}
	if s := d.node.Socket; s != nil {
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
	case d.node.Pipe != nil:
		return len(d.node.Pipe.Data) > 0 || d.node.Pipe.Writers == 0
	case d.node.Socket != nil:
		return d.node.Socket.Readable()
	case d.node.Watched != nil:
		return len(p.watchedReady(d.node.Watched, 1)) > 0
	}
	return true
}

func (p *Process) writable(d *description) bool {
	if pp := d.node.Pipe; pp != nil {
		return len(pp.Data) < files.PipeSize || pp.Readers == 0
	}
	if s := d.node.Socket; s != nil {
		return s.Writable()
	}
	return d.node.Watched == nil
}

// read reads from where the file is. wait means that there is nothing yet.
func (p *Process) read(d *description, b []byte) (n int, e abi.Errno, wait bool) {
	switch d.node.Kind {
	case files.Directory:
		return 0, abi.EISDIR, false
	case files.NullDevice:
		return 0, 0, false
	case files.ZeroDevice:
		clear(b)
		return len(b), 0, false
	case files.RandomDevice:
		p.used.Random = true
		p.random(b)
		return len(b), 0, false
	case files.PipeNode:
		pp := d.node.Pipe
		if len(pp.Data) == 0 {
			return 0, 0, pp.Writers > 0
		}
		n = copy(b, pp.Data)
		pp.Data = append([]byte(nil), pp.Data[n:]...)
		return n, 0, false
	case files.SocketNode:
		n, _, _, failed, wait := d.node.Socket.Receive(b, false)
		return n, failed, wait
	case files.EpollNode:
		return 0, abi.EINVAL, false
	case files.Console:
		if d.node == p.stdin {
			p.input()
		}
	}
	n = d.node.ReadAt(b, d.offset)
	d.offset += int64(n)
	return n, 0, false
}

// write writes to where the file is.
func (p *Process) write(d *description, b []byte) (n int, e abi.Errno, wait bool) {
	switch d.node.Kind {
	case files.NullDevice, files.ZeroDevice, files.RandomDevice:
		return len(b), 0, false
	case files.Console:
		if d.writer != nil {
			if _, err := d.writer.Write(b); err != nil {
				p.note("writing to %s: %v", d.node.Path, err)
			}
		}
		return len(b), 0, false
	case files.PipeNode:
		pp := d.node.Pipe
		switch {
		case pp.Readers == 0:
			p.raise(abi.SIGPIPE, p.running)
			return 0, abi.EPIPE, false
		case len(pp.Data) >= files.PipeSize:
			return 0, 0, true
		}
		n = min(len(b), files.PipeSize-len(pp.Data))
		pp.Data = append(pp.Data, b[:n]...)
		pp.Written += uint64(n)
		return n, 0, false
	case files.SocketNode:
		return p.sendOn(d, b, "", false)
	case files.EpollNode:
		return 0, abi.EINVAL, false
	case files.Directory:
		return 0, abi.EISDIR, false
	}
	if d.flags&abi.OpenAccess == 0 {
		return 0, abi.EBADF, false
	}
	if d.flags&abi.OpenAppend != 0 {
		d.offset = int64(len(d.node.Data))
	}
	p.writeAt(d, b, d.offset)
	d.offset += int64(len(b))
	return len(b), 0, false
}

// writeAt changes a file, which becomes the program's own.
func (p *Process) writeAt(d *description, b []byte, offset int64) {
	d.node = p.files.Owned(d.node)
	d.node.WriteAt(b, offset)
	d.node.Time = p.now()
}
