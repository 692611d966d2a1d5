package sockets

import (
	"net"
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/await"
	"github.com/cofferdam-go/cofferdam/internal/emu/abi"
)

func open(t *testing.T, n *Net, family, kind int) *Socket {
	t.Helper()
	s, ok := n.Open(family, kind)
	if !ok {
		t.Fatalf("no socket of family %d, kind %d", family, kind)
	}
	return s
}

// receive takes what a socket has; "-" if it would wait.
func receive(t *testing.T, s *Socket, most int) string {
	t.Helper()
	b := make([]byte, most)
	n, _, _, e, wait := s.Receive(b, false)
	if wait {
		return "-"
	}
	if e != 0 {
		t.Errorf("receiving: error %d", e)
	}
	return string(b[:n])
}

func TestAStreamIsBytesAndPacketsStayApart(t *testing.T) {
	n := New(NewWorld())
	for kind, want := range map[int][]string{Stream: {"on", "etwo", "-"}, SeqPacket: {"on", "two", "-"}} {
		a, b := open(t, n, Unix, kind), open(t, n, Unix, kind)
		Pair(a, b)
		for _, text := range []string{"one", "two"} {
			if sent, e, wait := a.Send([]byte(text)); sent != 3 || e != 0 || wait {
				t.Errorf("kind %d: sent %d, %d, %v", kind, sent, e, wait)
			}
		}
		got := []string{receive(t, b, 2), receive(t, b, 9), receive(t, b, 9)}
		if strings.Join(got, ",") != strings.Join(want, ",") {
			t.Errorf("kind %d: %q, want %q", kind, got, want)
		}
		n.Close(a)
		if receive(t, b, 9) != "" || !b.Readable() {
			t.Errorf("kind %d: the end is not seen", kind)
		}
		if _, e, _ := b.Send([]byte("x")); kind == Stream && e != abi.EPIPE {
			t.Errorf("sent to what is closed: %d", e)
		}
	}
}

func TestAFullSocketIsWaitedFor(t *testing.T) {
	n := New(NewWorld())
	a, b := open(t, n, Unix, Stream), open(t, n, Unix, Stream)
	Pair(a, b)
	if sent, _, _ := a.Send(make([]byte, 2*capacity)); sent != capacity || a.Writable() {
		t.Errorf("sent %d, writable %v", sent, a.Writable())
	}
	if _, _, wait := a.Send([]byte("x")); !wait {
		t.Error("there was room")
	}
	before := a.Arrivals()
	receive(t, b, 1000)
	if !a.Writable() || a.Arrivals() == before {
		t.Error("that there is room again is not told")
	}
}

func TestConnectingInTheProcess(t *testing.T) {
	n := New(NewWorld())
	l := open(t, n, IPv4, Stream)
	if e := n.Bind(l, local(IPv4).withPort(80)); e != 0 {
		t.Fatal(e)
	}
	if e := n.Bind(open(t, n, IPv4, Stream), loopback(IPv4, 80)); e != abi.EADDRINUSE {
		t.Errorf("bound twice: %d", e)
	}
	c := open(t, n, IPv4, Stream)
	if e := n.Connect(c, loopback(IPv4, 80)); e != abi.ECONNREFUSED {
		t.Errorf("connected with what does not listen: %d", e)
	}
	if _, _, wait := n.Accept(l); wait {
		t.Error("a socket that does not listen is waited for")
	}
	n.Listen(l)
	if e := n.Connect(c, loopback(IPv4, 80)); e != 0 || !l.Readable() {
		t.Fatalf("%d, readable %v", e, l.Readable())
	}
	s, e, wait := n.Accept(l)
	if e != 0 || wait || s.Remote() != c.Local() || c.Remote().String() != "127.0.0.1:80" {
		t.Fatalf("%d, %v, %v, %v", e, wait, s.Remote(), c.Remote())
	}
	c.Shutdown(false, true)
	if receive(t, s, 9) != "" || s.HungUp() || !s.Ended() {
		t.Error("half of a connection is not ended")
	}
	if n.Close(l); n.at(Stream, loopback(IPv4, 80)) != nil {
		t.Error("the address is still taken")
	}
}

func TestACopySharesNothingThatChanges(t *testing.T) {
	n := New(NewWorld())
	a, b := open(t, n, Unix, Stream), open(t, n, Unix, Stream)
	Pair(a, b)
	a.Send([]byte("before"))
	copier := &Copier{}
	m := copier.Net(n)
	c, d := copier.Socket(a), copier.Socket(b)
	if c.peer != d || d.peer != c || m == n {
		t.Fatal("the copies are not each other's peers")
	}
	c.Send([]byte(" copied"))
	receive(t, b, 3)
	if got := receive(t, b, 99); got != "ore" {
		t.Errorf("the original has %q", got)
	}
	if got := receive(t, d, 99); got != "before copied" {
		t.Errorf("the copy has %q", got)
	}
}

// TestWhatIsOutsideIsReached: both ways, by datagrams and streams.
func TestWhatIsOutsideIsReached(t *testing.T) {
	packets, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Logf("nothing was tried: there is no network: %v", err)
		return
	}
	defer packets.Close()
	w := NewWorld()
	n := New(w)
	s := open(t, n, IPv4, Datagram)
	to := loopback(IPv4, uint16(packets.LocalAddr().(*net.UDPAddr).Port))
	if sent, e, _ := n.SendTo(s, []byte("hello"), to); sent != 5 || e != 0 || !s.Outside() {
		t.Fatalf("sent %d, %d", sent, e)
	}
	b := make([]byte, 16)
	size, from, err := packets.ReadFrom(b)
	if err != nil || string(b[:size]) != "hello" {
		t.Fatalf("%q, %v", b[:size], err)
	}
	packets.WriteTo([]byte("world"), from)
	await.Until(t, "the answer", s.Readable)
	if got := receive(t, s, 2); got != "wo" {
		t.Errorf("received %q", got)
	}
	if got := receive(t, s, 9); got != "-" {
		t.Errorf("the rest of a packet is %q", got)
	}

	l := open(t, n, IPv4, Stream)
	n.Listen(l)
	if err := n.Expose(l); err != nil {
		t.Fatal(err)
	}
	client, err := net.Dial("tcp", loopback(IPv4, uint16(firstPort+1)).String())
	if err != nil {
		t.Logf("the port is taken: %v", err)
		return
	}
	defer client.Close()
	await.Until(t, "the client", l.Readable)
	if c, e, wait := n.Accept(l); e != 0 || wait || !c.Outside() {
		t.Errorf("accepted: %d, %v", e, wait)
	}
	n.Abandon()
}

func TestAddresses(t *testing.T) {
	for a, want := range map[Address]string{
		loopback(IPv4, 80): "127.0.0.1:80", loopback(IPv6, 443): "[::1]:443", "\x01\x00/tmp/x\x00": "/tmp/x", "\x01\x00\x00name": "@name", "\x01\x00": "", "": "",
	} {
		if a.String() != want {
			t.Errorf("%q is %s, want %s", string(a), a, want)
		}
	}
	if Address("\x02\x00\x00\x50\x08\x08\x08\x08").inProcess() {
		t.Error("8.8.8.8 is in the process")
	}
}
