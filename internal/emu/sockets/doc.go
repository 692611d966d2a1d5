// Package sockets is the network of an emulated process.
//
// Sockets of one process that talk to each other are in memory: stream, datagram and sequenced
// packet sockets of the Unix, IPv4 and IPv6 families, by socketpair, by paths, and over
// loopback addresses, which all programs that test themselves use. What such a program does
// follows from its schedule alone, and a snapshot can take it back ([Copier]).
//
// What nothing in the process listens at is outside. A connection there is a real one of the
// host ([World]), and what comes from it is not under control: another run may get something
// else, and time that passes while the program waits for it is real time. A socket that
// listens is opened on the host only when the process has nothing left to do but wait for a
// client.
//
//	address.go  socket addresses
//	socket.go   sockets, and what they have received
//	net.go      which socket is bound where; connecting
//	copy.go     copies, for snapshots
//	world.go    connections of the host
package sockets
