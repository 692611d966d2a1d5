package linux

import (
	"encoding/binary"
	"maps"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/emu/abi"
	"github.com/cofferdam-go/cofferdam/internal/emu/files"
)

// Flags of epoll_ctl.
const (
	epollAdd    = 1
	epollDelete = 2
	epollChange = 3

	epollOneShot = 1 << 30
	epollEdge    = 1 << 31
)

func sysEpollCreate(p *Process, _ *Thread, a *args) uint64 {
	n := &files.Node{Path: "epoll", Kind: files.EpollNode, Mode: 0o600, Watched: &files.WatchSet{Files: map[uint64]files.WatchedFile{}}}
	return p.install(&description{node: n, flags: abi.OpenRDWR}, 0, a[0]&abi.OpenCloexec != 0)
}

func sysEpollCtl(p *Process, _ *Thread, a *args) uint64 {
	d, file := p.fd(a[0]), p.fd(a[2])
	if d == nil || file == nil {
		return abi.EBADF.Result()
	}
	w := d.node.Watched
	if w == nil || d == file {
		return abi.EINVAL.Result()
	}
	if kind := file.node.Kind; kind == files.Regular || kind == files.Directory {
		return abi.EPERM.Result()
	}
	_, known := w.Files[a[2]]
	switch {
	case a[1] == epollAdd && known:
		return abi.EEXIST.Result()
	case a[1] != epollAdd && !known:
		return abi.ENOENT.Result()
	case a[1] == epollDelete:
		delete(w.Files, a[2])
		return 0
	}
	var b [12]byte
	if !p.Mem.ReadAt(b[:], a[3]) {
		return abi.EFAULT.Result()
	}
	w.Files[a[2]] = files.WatchedFile{Events: binary.LittleEndian.Uint32(b[:]), Data: binary.LittleEndian.Uint64(b[4:])}
	return 0
}

// unwatch takes a number that is closed out of all sets.
func (p *Process) unwatch(closed uint64) {
	for _, d := range p.fds {
		if d.description != nil && d.node.Watched != nil {
			delete(d.node.Watched.Files, closed)
		}
	}
}

// arrivals counts what has come to a file that could be waited for.
func (p *Process) arrivals(d *description) uint64 {
	switch {
	case d.event:
		return d.added
	case d.node.Pipe != nil:
		return d.node.Pipe.Written
	case d.node.Socket != nil:
		return d.node.Socket.Arrivals()
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
func (p *Process) watchedReady(w *files.WatchSet, most int) []readyFile {
	var all []readyFile
	for _, fd := range slices.Sorted(maps.Keys(w.Files)) {
		f := w.Files[fd]
		d := p.fd(fd)
		if f.Off || d == nil || len(all) == most {
			continue
		}
		if f.Events&epollEdge != 0 && f.Once && f.Told == p.arrivals(d) {
			continue
		}
		if got := p.polls(polled{fd, uint16(f.Events)}); got != 0 {
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
	case d.node.Watched == nil || int32(a[2]) <= 0:
		return abi.EINVAL.Result()
	}
	w := d.node.Watched
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
		f := w.Files[r.fd]
		f.Once, f.Told = true, p.arrivals(p.fd(r.fd))
		f.Off = f.Events&epollOneShot != 0
		w.Files[r.fd] = f
		b = binary.LittleEndian.AppendUint32(b, uint32(r.events))
		b = binary.LittleEndian.AppendUint64(b, f.Data)
	}
	if !p.Mem.WriteAt(b, a[1]) {
		return abi.EFAULT.Result()
	}
	return uint64(len(ready))
}
