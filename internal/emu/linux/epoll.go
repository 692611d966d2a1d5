package linux

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/emu/abi"
)

// A watchSet is an epoll instance: files by their numbers, and what about them is waited for.
type watchSet struct{ files map[uint64]watchedFile }

type watchedFile struct {
	events uint32
	data   uint64
	// told is how much had arrived when the file was told last, of one that is told once for
	// each arrival; off: it is not told any more.
	told uint64
	once bool
	off  bool
}

// Flags of epoll_ctl.
const (
	epollAdd    = 1
	epollDelete = 2
	epollChange = 3

	epollOneShot = 1 << 30
	epollEdge    = 1 << 31
)

func (w *watchSet) copy() *watchSet {
	if w == nil {
		return nil
	}
	return &watchSet{files: maps.Clone(w.files)}
}

func sysEpollCreate(p *Process, _ *Thread, _ *args) uint64 {
	n := &node{path: "epoll", kind: epollNode, mode: 0o600, watched: &watchSet{files: map[uint64]watchedFile{}}}
	return p.install(&description{node: n, flags: abi.OpenRDWR}, 0)
}

func sysEpollCtl(p *Process, _ *Thread, a *args) uint64 {
	d, file := p.fd(a[0]), p.fd(a[2])
	if d == nil || file == nil {
		return abi.EBADF.Result()
	}
	w := d.node.watched
	if w == nil || d == file {
		return abi.EINVAL.Result()
	}
	if kind := file.node.kind; kind == regular || kind == directory {
		return abi.EPERM.Result()
	}
	_, known := w.files[a[2]]
	switch {
	case a[1] == epollAdd && known:
		return abi.EEXIST.Result()
	case a[1] != epollAdd && !known:
		return abi.ENOENT.Result()
	case a[1] == epollDelete:
		delete(w.files, a[2])
		return 0
	}
	var b [12]byte
	if !p.Mem.ReadAt(b[:], a[3]) {
		return abi.EFAULT.Result()
	}
	w.files[a[2]] = watchedFile{events: binary.LittleEndian.Uint32(b[:]), data: binary.LittleEndian.Uint64(b[4:])}
	return 0
}

// unwatch takes a number that is closed out of all sets.
func (p *Process) unwatch(closed uint64) {
	for _, d := range p.fds {
		if d != nil && d.node.watched != nil {
			delete(d.node.watched.files, closed)
		}
	}
}

// arrivals counts what has come to a file that could be waited for.
func (p *Process) arrivals(d *description) uint64 {
	switch {
	case d.event:
		return d.added
	case d.node.pipe != nil:
		return d.node.pipe.written
	case d.node.socket != nil:
		return d.node.socket.Arrivals()
	}
	return 0
}

// A readyFile is a number of a set, with the events that are there.
type readyFile struct {
	fd     uint64
	events uint16
}

// watchedReady returns the files of a set that are to be told, at most so many, in the order
// of their numbers.
func (p *Process) watchedReady(w *watchSet, most int) []readyFile {
	var all []readyFile
	for _, fd := range slices.Sorted(maps.Keys(w.files)) {
		f := w.files[fd]
		d := p.fd(fd)
		if f.off || d == nil || len(all) == most {
			continue
		}
		if f.events&epollEdge != 0 && f.once && f.told == p.arrivals(d) {
			continue
		}
		if got := p.polls(polled{fd, uint16(f.events)}); got != 0 {
			all = append(all, readyFile{fd, got})
		}
	}
	return all
}

func sysEpollWait(p *Process, t *Thread, a *args) uint64 {
	d := p.fd(a[0])
	switch {
	case d == nil:
		return abi.EBADF.Result()
	case d.node.watched == nil || int32(a[2]) <= 0:
		return abi.EINVAL.Result()
	}
	w := d.node.watched
	ready := p.watchedReady(w, int(min(a[2], 1024)))
	if timeout := int32(a[3]); len(ready) == 0 && timeout != 0 {
		t.wait = waiting{kind: onFiles, name: "epoll_wait", fds: []polled{{a[0], pollIn}}}
		if timeout > 0 {
			t.wait.deadline = p.now() + int64(timeout)*1e6
		}
		return 0
	}
	var b []byte
	for _, r := range ready {
		f := w.files[r.fd]
		f.once, f.told = true, p.arrivals(p.fd(r.fd))
		f.off = f.events&epollOneShot != 0
		w.files[r.fd] = f
		b = binary.LittleEndian.AppendUint32(b, uint32(r.events))
		b = binary.LittleEndian.AppendUint64(b, f.data)
	}
	if !p.Mem.WriteAt(b, a[1]) {
		return abi.EFAULT.Result()
	}
	return uint64(len(ready))
}
