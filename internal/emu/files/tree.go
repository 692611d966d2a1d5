package files

import (
	"io/fs"
	"os"
	"path"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/emu/abi"
)

// files is what the program sees of files: those of the host, which are only read, and
// over them what the program itself made, changed and removed.
type Tree struct {
	over map[string]*Node // by path; nil for what was removed
	host map[string]*Node // what was read
	// note tells what the program was not given as it wanted it.
	note func(format string, args ...any)
}

func New(note func(format string, args ...any)) *Tree {
	return &Tree{over: map[string]*Node{}, host: map[string]*Node{}, note: note}
}

// devices that are not the host's.
var devices = map[string]Kind{"/dev/null": NullDevice, "/dev/zero": ZeroDevice, "/dev/urandom": RandomDevice, "/dev/random": RandomDevice}

// synthetic are files whose contents must not depend on the host.
var synthetic = map[string]string{
	"/sys/devices/system/cpu/online":              "0-3\n",
	"/sys/devices/system/cpu/possible":            "0-3\n",
	"/proc/sys/vm/overcommit_memory":              "0\n",
	"/proc/sys/kernel/randomize_va_space":         "0\n",
	"/sys/kernel/mm/transparent_hugepage/enabled": "always madvise [never]\n",
}

// Lookup returns the node of a path, following symbolic links unless the last is wanted
// itself.
func (f *Tree) Lookup(name string, follow bool) (*Node, abi.Errno) {
	for range 40 {
		n, e := f.find(name)
		if e != 0 || n.Kind != Symlink || !follow {
			return n, e
		}
		if path.IsAbs(n.Link) {
			name = path.Clean(n.Link)
		} else {
			name = path.Join(path.Dir(name), n.Link)
		}
	}
	return nil, abi.ELOOP
}

// find returns the node of a path whose last element is not followed.
func (f *Tree) find(name string) (*Node, abi.Errno) {
	if n, ok := f.over[name]; ok {
		if n == nil {
			return nil, abi.ENOENT
		}
		return n, 0
	}
	if n := f.host[name]; n != nil {
		return n, 0
	}
	n, e := f.fromHost(name)
	if e == 0 {
		f.host[name] = n
	}
	return n, e
}

func (f *Tree) fromHost(name string) (*Node, abi.Errno) {
	if kind, ok := devices[name]; ok {
		return &Node{Path: name, Kind: kind, Mode: 0o666, Time: StartTime}, 0
	}
	if text, ok := synthetic[name]; ok {
		return &Node{Path: name, Mode: 0o444, Time: StartTime, Data: []byte(text)}, 0
	}
	info, err := os.Lstat(name)
	if err != nil {
		return nil, hostErrno(err)
	}
	if info.Mode().IsRegular() && (strings.HasPrefix(name, "/proc/") || strings.HasPrefix(name, "/sys/")) {
		f.note("the program reads %s of the host, which may say something else another time", name)
	}
	n := &Node{Path: name, Mode: uint32(info.Mode().Perm()), Time: info.ModTime().UnixNano()}
	switch mode := info.Mode(); {
	case mode.IsRegular():
		n.Data, err = os.ReadFile(name)
	case mode.IsDir():
		n.Kind = Directory
	case mode&fs.ModeSymlink != 0:
		n.Kind = Symlink
		n.Link, err = os.Readlink(name)
	default:
		f.note("%s is a device, socket or pipe of the host, which the program does not get", name)
		return nil, abi.EACCES
	}
	if err != nil {
		return nil, hostErrno(err)
	}
	return n, 0
}

// Owned makes a node one of the program's own, which it may change.
func (f *Tree) Owned(n *Node) *Node {
	if n.Own || n.Kind != Regular {
		return n
	}
	c := *n
	c.Data = append([]byte(nil), n.Data...)
	c.Own, c.file = true, nil
	f.over[n.Path] = &c
	return &c
}

// Create makes a node.
func (f *Tree) Create(name string, kind Kind, mode uint32, now int64) *Node {
	n := &Node{Path: name, Kind: kind, Mode: mode & 0o7777, Time: now, Own: true}
	f.over[name] = n
	return n
}

// Remove takes a path away.
func (f *Tree) Remove(name string) { f.over[name] = nil }

// Rename gives a node another path.
func (f *Tree) Rename(n *Node, to string) {
	c := *n
	c.Path, c.Own, c.file = to, true, nil
	c.Data = slices.Clone(n.Data)
	f.Remove(n.Path)
	f.over[to] = &c
}

// Entries lists a directory.
func (f *Tree) Entries(dir string) []string {
	names := map[string]bool{}
	if list, err := os.ReadDir(dir); err == nil {
		for _, e := range list {
			names[e.Name()] = true
		}
	}
	for name, n := range f.over {
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

// StartTime is the time at which every program starts: a run must not depend on when it
// is made.
var StartTime = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano()
