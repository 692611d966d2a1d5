package linux

import (
	"encoding/binary"

	"github.com/cofferdam-go/cofferdam/internal/emu/abi"
	"github.com/cofferdam-go/cofferdam/internal/emu/files"
)

// Reading, writing and waiting for files.

// maxIO is how much one system call moves.
const maxIO = 1 << 24

func sysRead(p *Process, t *Thread, a *args) uint64 {
	return p.transfer(t, a[0], []span{{a[1], a[2]}}, false, "read")
}

func sysWrite(p *Process, t *Thread, a *args) uint64 {
	return p.transfer(t, a[0], []span{{a[1], a[2]}}, true, "write")
}

func sysReadv(p *Process, t *Thread, a *args) uint64 {
	s, ok := p.spans(a[1], a[2])
	if !ok {
		return abi.EFAULT.Result()
	}
	return p.transfer(t, a[0], s, false, "readv")
}

func sysWritev(p *Process, t *Thread, a *args) uint64 {
	s, ok := p.spans(a[1], a[2])
	if !ok {
		return abi.EFAULT.Result()
	}
	return p.transfer(t, a[0], s, true, "writev")
}

// A span is a piece of the program's memory.
type span struct{ addr, size uint64 }

// spans reads a list of struct iovec.
func (p *Process) spans(addr, n uint64) ([]span, bool) {
	if n > 1024 {
		return nil, false
	}
	b := make([]byte, 16*n)
	if !p.Mem.ReadAt(b, addr) {
		return nil, false
	}
	s := make([]span, n)
	for i := range s {
		s[i] = span{binary.LittleEndian.Uint64(b[16*i:]), binary.LittleEndian.Uint64(b[16*i+8:])}
	}
	return s, true
}

// transfer reads or writes, or has the thread wait until it can.
func (p *Process) transfer(t *Thread, fd uint64, spans []span, write bool, name string) uint64 {
	d := p.fd(fd)
	if d == nil {
		return abi.EBADF.Result()
	}
	total := uint64(0)
	for _, s := range spans {
		if s.size == 0 {
			continue
		}
		b := make([]byte, min(s.size, maxIO))
		n, e, wait := 0, abi.Errno(0), false
		if write {
			if !p.Mem.ReadAt(b, s.addr) {
				e = abi.EFAULT
			} else if d.event {
				n, e, wait = p.addEvent(d, b)
			} else {
				n, e, wait = p.write(d, b)
			}
		} else if d.event {
			n, e, wait = p.takeEvent(d, b)
		} else {
			n, e, wait = p.read(d, b)
		}
		if e == 0 && !write && n > 0 && !p.Mem.WriteAt(b[:n], s.addr) {
			e = abi.EFAULT
		}
		total += uint64(n)
		switch {
		case total > 0 && (wait || e != 0):
			return total
		case e != 0:
			return e.Result()
		case wait && d.flags&abi.OpenNonblock != 0:
			return abi.EAGAIN.Result()
		case wait:
			events := uint16(pollIn)
			if write {
				events = pollOut
			}
			t.wait = waiting{kind: onFiles, name: name, fds: []polled{{fd, events}}}
			return 0
		case uint64(n) < s.size:
			return total
		}
	}
	return total
}

func sysPread(p *Process, _ *Thread, a *args) uint64 {
	d := p.fd(a[0])
	if d == nil {
		return abi.EBADF.Result()
	}
	if d.node.Kind == files.PipeNode {
		return abi.ESPIPE.Result()
	}
	b := make([]byte, min(a[2], maxIO))
	n := d.node.ReadAt(b, int64(a[3]))
	if !p.Mem.WriteAt(b[:n], a[1]) {
		return abi.EFAULT.Result()
	}
	return uint64(n)
}

func sysPreadv(p *Process, t *Thread, a *args) uint64 {
	s, ok := p.spans(a[1], a[2])
	if !ok {
		return abi.EFAULT.Result()
	}
	total, offset := uint64(0), a[3]
	for _, one := range s {
		n := sysPread(p, t, &args{a[0], one.addr, one.size, offset})
		if int64(n) < 0 {
			return n
		}
		total, offset = total+n, offset+n
		if n < one.size {
			break
		}
	}
	return total
}

func sysPwrite(p *Process, _ *Thread, a *args) uint64 {
	d := p.fd(a[0])
	if d == nil || d.flags&abi.OpenAccess == 0 {
		return abi.EBADF.Result()
	}
	if d.node.Kind != files.Regular {
		return abi.ESPIPE.Result()
	}
	b := make([]byte, min(a[2], maxIO))
	if !p.Mem.ReadAt(b, a[1]) {
		return abi.EFAULT.Result()
	}
	p.writeAt(d, b, int64(a[3]))
	return uint64(len(b))
}

func sysLseek(p *Process, _ *Thread, a *args) uint64 {
	d := p.fd(a[0])
	if d == nil {
		return abi.EBADF.Result()
	}
	if d.node.Kind == files.PipeNode || d.node.Kind >= files.Console {
		return abi.ESPIPE.Result()
	}
	to := int64(a[1])
	switch a[2] {
	case 0:
	case 1:
		to += d.offset
	case 2:
		to += int64(len(d.node.Data))
	case 3: // the next data
		if to >= int64(len(d.node.Data)) {
			return abi.Errno(6).Result()
		}
	case 4: // the next hole, which is at the end
		to = int64(len(d.node.Data))
	default:
		return abi.EINVAL.Result()
	}
	if to < 0 {
		return abi.EINVAL.Result()
	}
	if d.offset = to; d.node.Kind == files.Directory {
		d.entries = nil
	}
	return uint64(to)
}

func sysPipe(p *Process, t *Thread, a *args) uint64 { return sysPipe2(p, t, &args{a[0]}) }

func sysPipe2(p *Process, _ *Thread, a *args) uint64 {
	n := &files.Node{Path: "pipe", Kind: files.PipeNode, Mode: 0o600, Pipe: &files.Pipe{Readers: 1, Writers: 1}}
	r := p.install(&description{node: n, flags: a[1] & abi.OpenNonblock}, 0, a[1]&abi.OpenCloexec != 0)
	w := p.install(&description{node: n, flags: a[1]&abi.OpenNonblock | abi.OpenWrite}, 0, a[1]&abi.OpenCloexec != 0)
	b := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, uint32(r)), uint32(w))
	if !p.Mem.WriteAt(b, a[0]) {
		return abi.EFAULT.Result()
	}
	return 0
}

func sysEventfd(p *Process, _ *Thread, a *args) uint64 {
	n := &files.Node{Path: "eventfd", Kind: files.Console, Mode: 0o600}
	return p.install(&description{node: n, event: true, count: a[0], flags: a[1]&abi.OpenNonblock | abi.OpenRDWR}, 0, a[1]&abi.OpenCloexec != 0)
}

func (p *Process) addEvent(d *description, b []byte) (int, abi.Errno, bool) {
	if len(b) < 8 {
		return 0, abi.EINVAL, false
	}
	d.count += binary.LittleEndian.Uint64(b)
	d.added++
	return 8, 0, false
}

func (p *Process) takeEvent(d *description, b []byte) (int, abi.Errno, bool) {
	if len(b) < 8 {
		return 0, abi.EINVAL, false
	}
	if d.count == 0 {
		return 0, 0, true
	}
	binary.LittleEndian.PutUint64(b, d.count)
	d.count = 0
	return 8, 0, false
}

// sysPoll and sysPpoll differ in how long they wait.
func sysPoll(p *Process, t *Thread, a *args) uint64 {
	deadline := int64(0)
	if ms := int32(a[2]); ms > 0 {
		deadline = p.now() + int64(ms)*1e6
	}
	return p.poll(t, a, deadline, int32(a[2]) == 0)
}

func sysPpoll(p *Process, t *Thread, a *args) uint64 {
	deadline, now := int64(0), false
	if a[2] != 0 {
		d, _ := p.timespec(a[2])
		deadline, now = p.now()+d, d == 0
	}
	return p.poll(t, a, deadline, now)
}

func (p *Process) poll(t *Thread, a *args, deadline int64, now bool) uint64 {
	if a[1] > 1024 {
		return abi.EINVAL.Result()
	}
	b := make([]byte, 8*a[1])
	if !p.Mem.ReadAt(b, a[0]) {
		return abi.EFAULT.Result()
	}
	var fds []polled
	ready := uint64(0)
	for i := 0; i < len(b); i += 8 {
		fd := int32(binary.LittleEndian.Uint32(b[i:]))
		binary.LittleEndian.PutUint16(b[i+6:], 0)
		if fd < 0 {
			continue
		}
		f := polled{uint64(fd), binary.LittleEndian.Uint16(b[i+4:])}
		fds = append(fds, f)
		if got := p.polls(f); got != 0 {
			binary.LittleEndian.PutUint16(b[i+6:], got)
			ready++
		}
	}
	if ready == 0 && !now {
		t.wait = waiting{kind: onFiles, name: "poll", fds: fds, deadline: deadline}
		return 0
	}
	p.Mem.WriteAt(b, a[0])
	return ready
}

// sysSelect is select and pselect6, whose timeouts are in microseconds and nanoseconds.
func sysSelect(p *Process, t *Thread, a *args) uint64 {
	var fds []polled
	var sets [2][128]byte
	n := min(a[0], 1024)
	for i, addr := range a[1:3] {
		if addr == 0 {
			continue
		}
		if !p.Mem.ReadAt(sets[i][:(n+7)/8], addr) {
			return abi.EFAULT.Result()
		}
		for fd := range n {
			if sets[i][fd/8]>>(fd%8)&1 != 0 {
				fds = append(fds, polled{fd, []uint16{pollIn, pollOut}[i]})
			}
		}
	}
	deadline, now := int64(0), false
	if a[4] != 0 {
		d, _ := p.timespec(a[4])
		if t.CPU.R[0] == selectCall {
			d = d/1e9*1e9 + d%1e9*1000
		}
		deadline, now = p.now()+d, d == 0
	}
	if !p.anyReady(fds) && !now {
		t.wait = waiting{kind: onFiles, name: "select", fds: fds, deadline: deadline}
		return 0
	}
	sets = [2][128]byte{}
	ready := uint64(0)
	for _, f := range fds {
		if p.polls(f) != 0 {
			which := 0
			if f.events == pollOut {
				which = 1
			}
			sets[which][f.fd/8] |= 1 << (f.fd % 8)
			ready++
		}
	}
	for i, addr := range a[1:3] {
		if addr != 0 {
			p.Mem.WriteAt(sets[i][:(n+7)/8], addr)
		}
	}
	if a[3] != 0 {
		p.Mem.WriteAt(make([]byte, (n+7)/8), a[3])
	}
	return ready
}

const selectCall = 23

func sysIoctl(p *Process, _ *Thread, a *args) uint64 {
	const fionread, fionbio = 0x541b, 0x5421
	d := p.fd(a[0])
	switch {
	case d == nil:
		return abi.EBADF.Result()
	case a[1] == fionread:
		n := max(int64(len(d.node.Data))-d.offset, 0)
		if d.node.Pipe != nil {
			n = int64(len(d.node.Pipe.Data))
		}
		if d.node.Socket != nil {
			n = int64(d.node.Socket.Waiting())
		}
		p.Mem.WriteAt(binary.LittleEndian.AppendUint32(nil, uint32(n)), a[2])
		return 0
	case a[1] == fionbio:
		var on [4]byte
		if !p.Mem.ReadAt(on[:], a[2]) {
			return abi.EFAULT.Result()
		}
		if d.flags &^= abi.OpenNonblock; on != [4]byte{} {
			d.flags |= abi.OpenNonblock
		}
		return 0
	}
	return abi.ENOTTY.Result()
}

func sysFcntl(p *Process, _ *Thread, a *args) uint64 {
	const dupfd, getfd, setfd, getfl, setfl, dupCloexec = 0, 1, 2, 3, 4, 1030
	d := p.fd(a[0])
	if d == nil {
		return abi.EBADF.Result()
	}
	switch a[1] {
	case dupfd, dupCloexec:
		return p.install(d, int(a[2]), a[1] == dupCloexec)
	case getfd:
		if p.fds[a[0]].closeOnExec {
			return 1
		}
	case setfd:
		p.fds[a[0]].closeOnExec = a[2]&1 != 0
	case getfl:
		return d.flags &^ abi.OpenCloexec
	case setfl:
		const changeable = abi.OpenAppend | abi.OpenNonblock
		d.flags = d.flags&^changeable | a[2]&changeable
	case 5, 6, 7: // locks on files: no other program is there
	case 1031, 1032:
		return files.PipeSize
	default:
		return abi.EINVAL.Result()
	}
	return 0
}

func sysDup(p *Process, _ *Thread, a *args) uint64 {
	d := p.fd(a[0])
	if d == nil {
		return abi.EBADF.Result()
	}
	return p.install(d, 0, false)
}

func sysDup2(p *Process, t *Thread, a *args) uint64 {
	if p.fd(a[0]) != nil && a[0] == a[1] {
		return a[1]
	}
	return sysDup3(p, t, &args{a[0], a[1]})
}

func sysDup3(p *Process, _ *Thread, a *args) uint64 {
	d := p.fd(a[0])
	if d == nil || a[1] > 1024 {
		return abi.EBADF.Result()
	}
	p.close(a[1])
	return p.install(d, int(a[1]), a[2]&abi.OpenCloexec != 0)
}

func sysClose(p *Process, _ *Thread, a *args) uint64 {
	if !p.close(a[0]) {
		return abi.EBADF.Result()
	}
	return 0
}
