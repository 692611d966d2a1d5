package linux

import (
	"hash/fnv"
	"io/fs"
	"os"
	"path"
	"sort"
	"strings"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/emu/abi"
	"github.com/cofferdam-go/cofferdam/internal/emu/mem"
	"github.com/cofferdam-go/cofferdam/internal/emu/sockets"
)

// A node is a file, directory or device.
type node struct {
	path string
	kind nodeKind
	mode uint32 // permissions
	time int64  // of the last change, in nanoseconds
	// data is the contents. It is the host's until the program writes: then own is set, and
	// data is a copy.
	data []byte
	own  bool
	file *mem.File // of what is mapped
	pipe *pipe
	link string // of a symbolic link
	// socket and watched are of a socket, and of an epoll instance.
	socket  *sockets.Socket
	watched *watchSet
}

type nodeKind uint8

const (
	regular nodeKind = iota
	directory
	symlink
	nullDevice
	zeroDevice
	randomDevice
	pipeNode
	console // standard input and output
	socketNode
	epollNode
)

// files is what the program sees of files: those of the host, which are only read, and
// over them what the program itself made, changed and removed.
type files struct {
	over map[string]*node // by path; nil for what was removed
	host map[string]*node // what was read
}

func newFiles() files { return files{over: map[string]*node{}, host: map[string]*node{}} }

// devices that are not the host's.
var devices = map[string]nodeKind{"/dev/null": nullDevice, "/dev/zero": zeroDevice, "/dev/urandom": randomDevice, "/dev/random": randomDevice}

// synthetic are files whose contents must not depend on the host.
var synthetic = map[string]string{
	"/sys/devices/system/cpu/online":              "0-3\n",
	"/sys/devices/system/cpu/possible":            "0-3\n",
	"/proc/sys/vm/overcommit_memory":              "0\n",
	"/proc/sys/kernel/randomize_va_space":         "0\n",
	"/sys/kernel/mm/transparent_hugepage/enabled": "always madvise [never]\n",
}

// lookup returns the node of a path, following symbolic links unless the last is wanted
// itself.
func (p *Process) lookup(name string, follow bool) (*node, abi.Errno) {
	for range 40 {
		n, e := p.find(name)
		if e != 0 || n.kind != symlink || !follow {
			return n, e
		}
		if path.IsAbs(n.link) {
			name = path.Clean(n.link)
		} else {
			name = path.Join(path.Dir(name), n.link)
		}
	}
	return nil, abi.ELOOP
}

// find returns the node of a path whose last element is not followed.
func (p *Process) find(name string) (*node, abi.Errno) {
	if n, ok := p.files.over[name]; ok {
		if n == nil {
			return nil, abi.ENOENT
		}
		return n, 0
	}
	if n := p.files.host[name]; n != nil {
		return n, 0
	}
	n, e := p.fromHost(name)
	if e == 0 {
		p.files.host[name] = n
	}
	return n, e
}

func (p *Process) fromHost(name string) (*node, abi.Errno) {
	if kind, ok := devices[name]; ok {
		return &node{path: name, kind: kind, mode: 0o666, time: startTime}, 0
	}
	if text, ok := synthetic[name]; ok {
		return &node{path: name, mode: 0o444, time: startTime, data: []byte(text)}, 0
	}
	switch name {
	case "/proc/self/exe":
		return &node{path: name, kind: symlink, mode: 0o777, link: p.config.Path}, 0
	case "/proc/self/maps":
		return &node{path: name, mode: 0o444, data: []byte(p.maps())}, 0
	}
	info, err := os.Lstat(name)
	if err != nil {
		return nil, hostErrno(err)
	}
	if info.Mode().IsRegular() && (strings.HasPrefix(name, "/proc/") || strings.HasPrefix(name, "/sys/")) {
		p.note("the program reads %s of the host, which may say something else another time", name)
	}
	n := &node{path: name, mode: uint32(info.Mode().Perm()), time: info.ModTime().UnixNano()}
	switch mode := info.Mode(); {
	case mode.IsRegular():
		n.data, err = os.ReadFile(name)
	case mode.IsDir():
		n.kind = directory
	case mode&fs.ModeSymlink != 0:
		n.kind = symlink
		n.link, err = os.Readlink(name)
	default:
		p.note("%s is a device, socket or pipe of the host, which the program does not get", name)
		return nil, abi.EACCES
	}
	if err != nil {
		return nil, hostErrno(err)
	}
	return n, 0
}

// owned makes a node one of the program's own, which it may change.
func (p *Process) owned(n *node) *node {
	if n.own || n.kind != regular {
		return n
	}
	c := *n
	c.data = append([]byte(nil), n.data...)
	c.own, c.file = true, nil
	p.files.over[n.path] = &c
	return &c
}

// create makes a node.
func (p *Process) create(name string, kind nodeKind, mode uint32) *node {
	n := &node{path: name, kind: kind, mode: mode &^ p.umask & 0o7777, time: p.now(), own: true}
	p.files.over[name] = n
	return n
}

// entries lists a directory.
func (p *Process) entries(dir string) []string {
	names := map[string]bool{}
	if list, err := os.ReadDir(dir); err == nil {
		for _, e := range list {
			names[e.Name()] = true
		}
	}
	for name, n := range p.files.over {
		if path.Dir(name) == dir && name != dir {
			names[path.Base(name)] = n != nil
		}
	}
	all := []string{".", ".."}
	for name, there := range names {
		if there {
			all = append(all, name)
		}
	}
	sort.Strings(all[2:])
	return all
}

// inode is a number that identifies a path.
func inode(name string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(name))
	return h.Sum64()>>1 | 1
}

// mapped returns the contents for mapping.
func (n *node) mapped() *mem.File {
	if n.file == nil {
		data := n.data
		if n.own {
			data = append([]byte(nil), data...)
		}
		f := mem.NewFile(n.path, data)
		if n.own {
			return f
		}
		n.file = f
	}
	return n.file
}

// absolute returns a path from the root, of one that is relative to dir.
func absolute(dir, name string) string {
	if path.IsAbs(name) {
		return resolve(name)
	}
	return resolve(path.Join(dir, name))
}

// resolve follows the symbolic links of the directories in a path of the host, so that a
// file has one name.
func resolve(name string) string {
	name = path.Clean(name)
	dir, base := path.Split(name)
	if real, ok := strings.CutPrefix(name, "/proc/self/"); ok && !strings.Contains(real, "/") {
		return name
	}
	if dir == "" || dir == "/" {
		return name
	}
	if info, err := os.Lstat(strings.TrimSuffix(dir, "/")); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if link, err := os.Readlink(strings.TrimSuffix(dir, "/")); err == nil {
			if !path.IsAbs(link) {
				link = path.Join(path.Dir(strings.TrimSuffix(dir, "/")), link)
			}
			return resolve(path.Join(link, base))
		}
	}
	return path.Join(resolve(strings.TrimSuffix(dir, "/")), base)
}

// startTime is the time at which every program starts: a run must not depend on when it
// is made.
var startTime = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano()
