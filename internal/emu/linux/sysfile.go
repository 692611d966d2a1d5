package linux

import (
	"encoding/binary"
	"path"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/emu/abi"
	"github.com/cofferdam-go/cofferdam/internal/emu/files"
)

// Names of files.

// lookup returns the node of a path, following symbolic links unless the last is wanted
// itself.
func (p *Process) lookup(name string, follow bool) (*files.Node, abi.Errno) {
	switch {
	case name == "/proc/self/exe" && follow:
		name = files.Resolve(p.program.Path)
	case name == "/proc/self/exe":
		return &files.Node{Path: name, Kind: files.Symlink, Mode: 0o777, Link: p.program.Path}, 0
	case name == "/proc/self/maps":
		return &files.Node{Path: name, Mode: 0o444, Data: []byte(p.maps())}, 0
	}
	return p.files.Lookup(name, follow)
}

const (
	atCWD       = -100
	atNoFollow  = 0x100
	atRemoveDir = 0x200
	atEmptyPath = 0x1000
)

// path reads a path, and makes it an absolute one.
func (p *Process) path(dir uint64, addr uint64) (string, abi.Errno) {
	s, ok := p.Mem.String(addr, 4096)
	if !ok {
		return "", abi.EFAULT
	}
	if s == "" {
		return "", abi.ENOENT
	}
	base := p.dir
	if int32(dir) != atCWD && !path.IsAbs(s) {
		d := p.fd(uint64(uint32(dir)))
		if d == nil {
			return "", abi.EBADF
		}
		base = d.node.Path
	}
	return files.Absolute(base, s), 0
}

// named returns the node of a path that the program names, and the path.
func (p *Process) named(dir, addr uint64, follow bool) (n *files.Node, name string, e abi.Errno) {
	if name, e = p.path(dir, addr); e == 0 {
		n, e = p.lookup(name, follow)
	}
	return n, name, e
}

func cwd() uint64 {
	at := int64(atCWD)
	return uint64(at)
}

func sysOpen(p *Process, _ *Thread, a *args) uint64 { return p.open(cwd(), a[0], a[1], a[2]) }
func sysCreat(p *Process, _ *Thread, a *args) uint64 {
	return p.open(cwd(), a[0], abi.OpenCreate|abi.OpenTrunc|abi.OpenWrite, a[1])
}
func sysOpenat(p *Process, _ *Thread, a *args) uint64 { return p.open(a[0], a[1], a[2], a[3]) }

func (p *Process) open(dir, addr, flags, mode uint64) uint64 {
	name, e := p.path(dir, addr)
	if e != 0 {
		return e.Result()
	}
	if name == "/dev/stdin" || name == "/dev/stdout" || name == "/dev/stderr" || strings.HasPrefix(name, "/proc/self/fd/") || strings.HasPrefix(name, "/dev/fd/") {
		return p.reopen(name)
	}
	n, e := p.lookup(name, flags&abi.OpenNoLink == 0)
	switch {
	case e == abi.ENOENT && flags&abi.OpenCreate != 0:
		if parent, pe := p.lookup(path.Dir(name), true); pe != 0 || parent.Kind != files.Directory {
			return abi.ENOENT.Result()
		}
		n = p.files.Create(name, files.Regular, uint32(mode)&^p.umask, p.now())
	case e != 0:
		return e.Result()
	case flags&abi.OpenCreate != 0 && flags&abi.OpenExcl != 0:
		return abi.EEXIST.Result()
	case n.Kind == files.Symlink:
		return abi.ELOOP.Result()
	case n.Kind == files.Directory && flags&abi.OpenAccess != 0:
		return abi.EISDIR.Result()
	case n.Kind != files.Directory && flags&abi.OpenDir != 0:
		return abi.ENOTDIR.Result()
	}
	if flags&abi.OpenTrunc != 0 && flags&abi.OpenAccess != 0 && n.Kind == files.Regular {
		n = p.files.Owned(n)
		n.Data, n.Time = nil, p.now()
	}
	if !n.Own && n.Kind == files.Regular && flags&abi.OpenAccess != 0 {
		p.note("%s is opened for writing; what is written stays in the emulation", name)
	}
	return p.install(&description{node: n, flags: flags &^ (abi.OpenCreate | abi.OpenExcl | abi.OpenTrunc)}, 0, flags&abi.OpenCloexec != 0)
}

// reopen opens a file that is open already.
func (p *Process) reopen(name string) uint64 {
	number := map[string]uint64{"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2}
	n, ok := number[name]
	if !ok {
		for _, c := range path.Base(name) {
			if c < '0' || c > '9' {
				return abi.ENOENT.Result()
			}
			n = 10*n + uint64(c-'0')
		}
	}
	d := p.fd(n)
	if d == nil {
		return abi.ENOENT.Result()
	}
	return p.install(d, 0, false)
}

// stat writes a struct stat.
func (p *Process) stat(n *files.Node, addr uint64) uint64 {
	if !p.Mem.WriteAt(n.Stat(), addr) {
		return abi.EFAULT.Result()
	}
	return 0
}

func (p *Process) statPath(dir, name, to uint64, follow bool) uint64 {
	n, _, e := p.named(dir, name, follow)
	if e != 0 {
		return e.Result()
	}
	return p.stat(n, to)
}

func sysStat(p *Process, _ *Thread, a *args) uint64  { return p.statPath(cwd(), a[0], a[1], true) }
func sysLstat(p *Process, _ *Thread, a *args) uint64 { return p.statPath(cwd(), a[0], a[1], false) }

func sysFstat(p *Process, _ *Thread, a *args) uint64 {
	d := p.fd(a[0])
	if d == nil {
		return abi.EBADF.Result()
	}
	return p.stat(d.node, a[1])
}

// empty reports whether a path argument is empty, and stands for the file itself.
func (p *Process) empty(addr, flags uint64) bool {
	s, ok := p.Mem.String(addr, 1)
	return ok && s == "" && flags&atEmptyPath != 0
}

func sysNewfstatat(p *Process, t *Thread, a *args) uint64 {
	if p.empty(a[1], a[3]) {
		return sysFstat(p, t, &args{uint64(uint32(a[0])), a[2]})
	}
	return p.statPath(a[0], a[1], a[2], a[3]&atNoFollow == 0)
}

func sysStatx(p *Process, _ *Thread, a *args) uint64 {
	var n *files.Node
	if p.empty(a[1], a[2]) {
		d := p.fd(uint64(uint32(a[0])))
		if d == nil {
			return abi.EBADF.Result()
		}
		n = d.node
	} else {
		var e abi.Errno
		if n, _, e = p.named(a[0], a[1], a[2]&atNoFollow == 0); e != 0 {
			return e.Result()
		}
	}
	if !p.Mem.WriteAt(n.Statx(), a[4]) {
		return abi.EFAULT.Result()
	}
	return 0
}

func sysStatfs(p *Process, _ *Thread, a *args) uint64 {
	return p.putWords(a[1], 0xef53, 4096, 1<<24, 1<<23, 1<<23, 1<<20, 1<<19, 0, 255, 4096, 0, 0, 0, 0, 0)
}

func sysAccess(p *Process, _ *Thread, a *args) uint64 { return p.access(cwd(), a[0], a[1]) }

func sysFaccessat(p *Process, _ *Thread, a *args) uint64 { return p.access(a[0], a[1], a[2]) }

func (p *Process) access(dir, addr, mode uint64) uint64 {
	n, _, e := p.named(dir, addr, true)
	if e != 0 {
		return e.Result()
	}
	if mode&1 != 0 && n.Mode&0o111 == 0 {
		return abi.EACCES.Result()
	}
	return 0
}

func sysReadlink(p *Process, _ *Thread, a *args) uint64 { return p.readlink(cwd(), a[0], a[1], a[2]) }

func sysReadlinkat(p *Process, _ *Thread, a *args) uint64 {
	return p.readlink(a[0], a[1], a[2], a[3])
}

func (p *Process) readlink(dir, addr, to, size uint64) uint64 {
	n, _, e := p.named(dir, addr, false)
	if e != 0 {
		return e.Result()
	}
	if n.Kind != files.Symlink {
		return abi.EINVAL.Result()
	}
	b := []byte(n.Link)[:min(uint64(len(n.Link)), size)]
	if !p.Mem.WriteAt(b, to) {
		return abi.EFAULT.Result()
	}
	return uint64(len(b))
}

func sysGetcwd(p *Process, _ *Thread, a *args) uint64 {
	b := append([]byte(p.dir), 0)
	if uint64(len(b)) > a[1] {
		return abi.ERANGE.Result()
	}
	if !p.Mem.WriteAt(b, a[0]) {
		return abi.EFAULT.Result()
	}
	return uint64(len(b))
}

func sysChdir(p *Process, _ *Thread, a *args) uint64 {
	n, _, e := p.named(cwd(), a[0], true)
	switch {
	case e != 0:
		return e.Result()
	case n.Kind != files.Directory:
		return abi.ENOTDIR.Result()
	}
	p.dir = n.Path
	return 0
}

func sysMkdir(p *Process, _ *Thread, a *args) uint64 { return p.mkdir(cwd(), a[0], a[1]) }

func sysMkdirat(p *Process, _ *Thread, a *args) uint64 { return p.mkdir(a[0], a[1], a[2]) }

func (p *Process) mkdir(dir, addr, mode uint64) uint64 {
	s, e := p.path(dir, addr)
	if e != 0 {
		return e.Result()
	}
	if _, e := p.lookup(s, false); e == 0 {
		return abi.EEXIST.Result()
	}
	p.files.Create(s, files.Directory, uint32(mode)&^p.umask, p.now())
	return 0
}

func sysRmdir(p *Process, _ *Thread, a *args) uint64 { return p.remove(cwd(), a[0], true) }

func sysUnlink(p *Process, _ *Thread, a *args) uint64 { return p.remove(cwd(), a[0], false) }

func sysUnlinkat(p *Process, _ *Thread, a *args) uint64 {
	return p.remove(a[0], a[1], a[2]&atRemoveDir != 0)
}

// remove hides a file from the program. The host keeps it.
func (p *Process) remove(dir, addr uint64, isDir bool) uint64 {
	n, name, e := p.named(dir, addr, false)
	switch {
	case e != 0:
		return e.Result()
	case isDir && n.Kind != files.Directory:
		return abi.ENOTDIR.Result()
	case !isDir && n.Kind == files.Directory:
		return abi.EISDIR.Result()
	case isDir && len(p.files.Entries(name)) > 2:
		return abi.ENOTEMPTY.Result()
	}
	p.files.Remove(name)
	return 0
}

func sysRename(p *Process, _ *Thread, a *args) uint64 { return p.rename(cwd(), a[0], cwd(), a[1]) }

func sysRenameat(p *Process, _ *Thread, a *args) uint64 { return p.rename(a[0], a[1], a[2], a[3]) }

func (p *Process) rename(fromDir, from, toDir, to uint64) uint64 {
	n, _, e := p.named(fromDir, from, false)
	if e != 0 {
		return e.Result()
	}
	name, e := p.path(toDir, to)
	if e != 0 {
		return e.Result()
	}
	p.files.Rename(n, name)
	return 0
}

func sysFtruncate(p *Process, _ *Thread, a *args) uint64 {
	d := p.fd(a[0])
	if d == nil || d.node.Kind != files.Regular || d.flags&abi.OpenAccess == 0 {
		return abi.EINVAL.Result()
	}
	d.node = p.files.Owned(d.node)
	data := make([]byte, a[1])
	copy(data, d.node.Data)
	d.node.Data = data
	return 0
}

// sysGetdents lists a directory, as many entries as fit.
func sysGetdents(p *Process, _ *Thread, a *args) uint64 {
	d := p.fd(a[0])
	switch {
	case d == nil:
		return abi.EBADF.Result()
	case d.node.Kind != files.Directory:
		return abi.ENOTDIR.Result()
	}
	if d.entries == nil {
		d.entries = p.files.Entries(d.node.Path)
	}
	var b []byte
	for d.offset < int64(len(d.entries)) {
		name := d.entries[d.offset]
		size := (19 + len(name) + 1 + 7) &^ 7
		if uint64(len(b)+size) > a[2] {
			if len(b) == 0 {
				return abi.EINVAL.Result()
			}
			break
		}
		full := path.Join(d.node.Path, name)
		kind := byte(0)
		if n, e := p.lookup(full, false); e == 0 {
			kind = byte(files.KindBits[n.Kind] >> 12)
		}
		d.offset++
		b = binary.LittleEndian.AppendUint64(b, files.Inode(full))
		b = binary.LittleEndian.AppendUint64(b, uint64(d.offset))
		b = binary.LittleEndian.AppendUint16(b, uint16(size))
		b = append(b, kind)
		b = append(b, name...)
		b = append(b, make([]byte, size-19-len(name))...)
	}
	if !p.Mem.WriteAt(b, a[1]) {
		return abi.EFAULT.Result()
	}
	return uint64(len(b))
}

func sysChmod(p *Process, _ *Thread, a *args) uint64 { return p.chmod(cwd(), a[0], a[1]) }

func sysFchmodat(p *Process, _ *Thread, a *args) uint64 { return p.chmod(a[0], a[1], a[2]) }

func sysFchmod(p *Process, _ *Thread, a *args) uint64 {
	d := p.fd(a[0])
	if d == nil {
		return abi.EBADF.Result()
	}
	d.node = p.withMode(d.node, a[1])
	return 0
}

func (p *Process) chmod(dir, addr, mode uint64) uint64 {
	n, _, e := p.named(dir, addr, true)
	if e == 0 {
		p.withMode(n, mode)
	}
	return e.Result()
}

// withMode gives a file other permissions. Those of the host's directories and devices stay.
func (p *Process) withMode(n *files.Node, mode uint64) *files.Node {
	if n = p.files.Owned(n); n.Own {
		n.Mode = uint32(mode & 0o7777)
	}
	return n
}
