package files

import (
	"bytes"
	"hash/fnv"
	"maps"

	"github.com/cofferdam-go/cofferdam/internal/emu/mem"
	"github.com/cofferdam-go/cofferdam/internal/emu/sockets"
)

// A Node is a file, directory or device.
type Node struct {
	Path string
	Kind Kind
	Mode uint32 // permissions
	Time int64  // of the last change, in nanoseconds
	// Data is the contents. It is the host's until the program writes: then Own is set, and
	// Data is a copy.
	Data []byte
	Own  bool
	file *mem.File // of what is mapped
	Pipe *Pipe
	Link string // of a symbolic link
	// Socket and Watched are of a socket, and of an epoll instance.
	Socket  *sockets.Socket
	Watched *WatchSet
}

// A Kind is what a node is.
type Kind uint8

const (
	Regular Kind = iota
	Directory
	Symlink
	NullDevice
	ZeroDevice
	RandomDevice
	PipeNode
	Console // standard input and output
	SocketNode
	EpollNode
)

// A Pipe is bytes on their way.
type Pipe struct {
	Data             []byte
	Readers, Writers int
	Written          uint64 // in all
}

// PipeSize is how many bytes a pipe holds.
const PipeSize = 64 << 10

// A WatchSet is an epoll instance: files by their numbers, and what about them is waited for.
type WatchSet struct{ Files map[uint64]WatchedFile }

// A WatchedFile is a file in a set, with what is to be told of it.
type WatchedFile struct {
	Events uint32
	Data   uint64
	// Told is how much had arrived when the file was told last, of one that is told once for
	// each arrival; Off: it is not told any more.
	Told uint64
	Once bool
	Off  bool
}

func (w *WatchSet) copy() *WatchSet {
	if w == nil {
		return nil
	}
	return &WatchSet{Files: maps.Clone(w.Files)}
}

// Inode is a number that identifies a path.
func Inode(name string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(name))
	return h.Sum64()>>1 | 1
}

// Mapped returns the contents for mapping.
func (n *Node) Mapped() *mem.File {
	if n.file == nil {
		data := n.Data
		if n.Own {
			data = append([]byte(nil), data...)
		}
		f := mem.NewFile(n.Path, data)
		if n.Own {
			return f
		}
		n.file = f
	}
	return n.file
}

// ReadAt fills b from an offset on, and returns how much there was.
func (n *Node) ReadAt(b []byte, offset int64) int {
	if offset < 0 || offset >= int64(len(n.Data)) {
		return 0
	}
	return copy(b, n.Data[offset:])
}

// WriteAt changes the contents.
func (n *Node) WriteAt(b []byte, offset int64) {
	if need := offset + int64(len(b)); need > int64(len(n.Data)) {
		n.Data = append(n.Data, bytes.Repeat([]byte{0}, int(need-int64(len(n.Data))))...)
	}
	copy(n.Data[offset:], b)
}
