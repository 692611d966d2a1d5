package sockets

import (
	"encoding/binary"
	"net/netip"
	"strconv"
	"strings"
)

// Families of addresses.
const (
	Unix = 1
	IPv4 = 2
	IPv6 = 10
)

// Kinds of sockets.
const (
	Stream    = 1
	Datagram  = 2
	SeqPacket = 5
)

// An Address is a socket address as the kernel and programs write it: struct sockaddr. It is
// empty if there is none.
type Address string

func (a Address) family() int {
	if len(a) < 2 {
		return 0
	}
	return int(binary.LittleEndian.Uint16([]byte(a)))
}

// ip returns the address and port, of the families that have them.
func (a Address) ip() (addr netip.Addr, port uint16, ok bool) {
	switch {
	case a.family() == IPv4 && len(a) >= 8:
		addr, _ = netip.AddrFromSlice([]byte(a[4:8]))
	case a.family() == IPv6 && len(a) >= 24:
		addr, _ = netip.AddrFromSlice([]byte(a[8:24]))
	default:
		return addr, 0, false
	}
	return addr.Unmap(), binary.BigEndian.Uint16([]byte(a[2:4])), true
}

// path returns the path of a Unix address; those in the abstract name space begin with @.
func (a Address) path() string {
	if len(a) <= 2 {
		return ""
	}
	if a[2] == 0 {
		return "@" + string(a[3:])
	}
	path, _, _ := strings.Cut(string(a[2:]), "\x00")
	return path
}

// inProcess reports whether a socket of the same process may be at an address: whether it is
// of this machine.
func (a Address) inProcess() bool {
	addr, _, ok := a.ip()
	return !ok || addr.IsLoopback() || addr.IsUnspecified()
}

// withPort returns the address with a port.
func (a Address) withPort(port uint16) Address {
	b := []byte(a)
	binary.BigEndian.PutUint16(b[2:], port)
	return Address(b)
}

// String is the address as people write it.
func (a Address) String() string {
	if addr, port, ok := a.ip(); ok {
		return netip.AddrPortFrom(addr, port).String()
	}
	return a.path()
}

// local is the address that a socket has before it is bound.
func local(family int) Address {
	b := binary.LittleEndian.AppendUint16(nil, uint16(family))
	switch family {
	case IPv4:
		b = append(b, make([]byte, 14)...)
	case IPv6:
		b = append(b, make([]byte, 26)...)
	}
	return Address(b)
}

// loopback is the address of this machine, with a port.
func loopback(family int, port uint16) Address {
	b := []byte(local(family).withPort(port))
	switch family {
	case IPv4:
		copy(b[4:], []byte{127, 0, 0, 1})
	case IPv6:
		b[23] = 1
	}
	return Address(b)
}

// key is what sockets are found by: of addresses of this machine the port alone, since a
// socket that is bound to all of them is found at each.
func (a Address) key(kind int) string {
	if _, port, ok := a.ip(); ok {
		return strconv.Itoa(kind) + " port " + strconv.Itoa(int(port))
	}
	return strconv.Itoa(kind) + " path " + a.path()
}
