// Package loopback is a network in memory: what the loopback interface and unix sockets
// are to a program, for goroutines under control.
//
// Package net of an instrumented program makes a Socket instead of asking the system for
// one when a goroutine under control listens on, or dials, an address of this machine
// (internal/instrument/template/net.go.txt decides). Everything above stays as it is: the
// types are *net.TCPConn and the like, and net/http, crypto/tls and what else works on them
// neither knows nor cares.
//
//	net.Listen("tcp", "127.0.0.1:0")        a Socket that listens, in the table of ports
//	net.Dial("tcp", ln.Addr().String())     a Socket, and its peer in the listener's queue
//	ln.Accept()                             takes the peer from the queue
//	conn.Read, conn.Write                   one direction of the two: a bounded buffer
//
// # Steps
//
// Each call is one step of its goroutine at a medium of package rt, and waits until the
// step can be taken: a Read until there is something to read, the other side has ended, the
// deadline has passed or the socket is closed. So the scheduler sees everything that can
// happen, a read that nothing can end is part of a deadlock, and deadlines pass in virtual
// time. A Write of more than fits in the buffer takes several steps, as the system would
// wake it several times. Listening, dialling and accepting depend on the one table of
// ports; reading, writing, closing and deadlines on the directions of their connection.
//
// # Order
//
// A Read comes after the Writes whose bytes it could see, an Accept after the Dial, what
// ends by a deadline or by Close after the call that set it or closed. Nothing else is
// ordered: a Write that waits for room does not come after the Read that makes it, neither
// for Go's race detector.
//
// # What is modelled
//
// Linux, as far as a program can tell by its results: ports that are in use, the errors of
// a connection that was refused, closed or reset (with unread data, with SetLinger(0), by
// writing to a peer that is gone), half closed connections, buffers that fill up, datagrams
// that are dropped. A test does the same with the system's own loopback interface and
// compares.
//
// What no program may rely on is fixed: bytes arrive at once and are not split, no datagram
// gets lost on the way or overtakes another, ports are given out one after the other.
//
// All of it belongs to one run. A socket of an earlier run, in a package-level variable
// say, is closed.
//
//	table.go     addresses and ports: listening, dialling, accepting
//	socket.go    sockets, their deadlines, closing
//	stream.go    the two directions of a connection
//	datagram.go  packets
package loopback
