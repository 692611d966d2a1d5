package files

import "encoding/binary"

// userID is the user that programs run as: nobody special, and always the same.
const User = 1000

// Kinds of files, in the mode.
var KindBits = map[Kind]uint32{Regular: 0o100000, Directory: 0o040000, Symlink: 0o120000, NullDevice: 0o020000, ZeroDevice: 0o020000, RandomDevice: 0o020000, PipeNode: 0o010000, Console: 0o010000, SocketNode: 0o140000, EpollNode: 0o600}

// Stat is the file as struct stat.
func (n *Node) Stat() []byte {
	b := make([]byte, 144)
	le := binary.LittleEndian
	size := int64(len(n.Data))
	if n.Kind == Symlink {
		size = int64(len(n.Link))
	}
	le.PutUint64(b[0:], 1)
	le.PutUint64(b[8:], Inode(n.Path))
	le.PutUint64(b[16:], 1)
	le.PutUint32(b[24:], KindBits[n.Kind]|n.Mode)
	le.PutUint32(b[28:], User)
	le.PutUint32(b[32:], User)
	if n.Kind >= NullDevice && n.Kind <= RandomDevice {
		le.PutUint64(b[40:], 0x100+uint64(n.Kind))
	}
	le.PutUint64(b[48:], uint64(size))
	le.PutUint64(b[56:], 4096)
	le.PutUint64(b[64:], uint64(size+511)/512)
	s, ns := uint64(n.Time/1e9), uint64(n.Time%1e9)
	for i := range 3 {
		le.PutUint64(b[72+16*i:], s)
		le.PutUint64(b[80+16*i:], ns)
	}
	return b
}

// Statx is the file as struct statx.
func (n *Node) Statx() []byte {
	b := make([]byte, 256)
	le := binary.LittleEndian
	le.PutUint32(b[0:], 0x7ff)
	le.PutUint32(b[4:], 4096)
	le.PutUint32(b[16:], 1)
	le.PutUint32(b[20:], User)
	le.PutUint32(b[24:], User)
	le.PutUint16(b[28:], uint16(KindBits[n.Kind]|n.Mode))
	le.PutUint64(b[32:], Inode(n.Path))
	le.PutUint64(b[40:], uint64(len(n.Data)))
	le.PutUint64(b[48:], uint64(len(n.Data)+511)/512)
	s, ns := uint64(n.Time/1e9), uint64(n.Time%1e9)
	for i := range 4 {
		le.PutUint64(b[64+16*i:], s)
		le.PutUint32(b[72+16*i:], uint32(ns))
	}
	le.PutUint32(b[140:], 1)
	return b
}
