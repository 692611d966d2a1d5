package loopback_test

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	. "github.com/cofferdam-go/cofferdam/internal/rt/loopback"
)

// The same calls, one after the other, are made of the network in memory and of the
// system's, and must have the same results. A difference counts if it is there three times:
// the system may take a moment to tell one end what the other did.

// A call is one of a script's: by one end of a connection, with a size.
type call struct {
	end  int
	verb string
	size int
}

func (c call) String() string { return fmt.Sprintf("%c.%s(%d)", 'a'+rune(c.end), c.verb, c.size) }

var verbs = []string{"read", "read", "write", "write", "closeRead", "closeWrite", "close", "linger"}

func randomScript(r *rand.Rand, kind Kind) []call {
	script := make([]call, 2+r.IntN(10))
	for i := range script {
		c := call{end: r.IntN(2), verb: verbs[r.IntN(len(verbs))], size: 1 + r.IntN(20)}
		if kind == Unix && c.verb == "linger" {
			c.verb = "write"
		}
		script[i] = c
	}
	return script
}

// An end does calls, and names their results.
type end interface {
	do(c call, wait bool) string
}

const wouldWait = "would wait"

func result(n int, err error) string {
	var errno syscall.Errno
	switch {
	case err == nil:
		return fmt.Sprint(n)
	case errors.Is(err, io.EOF):
		return "EOF"
	case errors.Is(err, ErrClosed), errors.Is(err, net.ErrClosed):
		return "closed"
	case errors.Is(err, ErrTimeout), errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, syscall.EAGAIN):
		return wouldWait
	case errors.As(err, &errno):
		return errno.Error()
	}
	return "another error: " + err.Error()
}

type memoryEnd struct{ *Socket }

func (e memoryEnd) do(c call, _ bool) string {
	switch c.verb {
	case "read":
		if !e.Closed() && !e.Readable() {
			return wouldWait
		}
		return result(e.Read(make([]byte, c.size)))
	case "write":
		return result(e.Write(make([]byte, c.size)))
	case "closeRead":
		return result(0, e.Shutdown(true))
	case "closeWrite":
		return result(0, e.Shutdown(false))
	case "close":
		return result(0, e.Close())
	}
	e.SetAbrupt(true)
	return "0"
}

// A stream is a *net.TCPConn or a *net.UnixConn.
type stream interface {
	net.Conn
	syscall.Conn
	CloseRead() error
	CloseWrite() error
}

type systemEnd struct{ stream }

func (e systemEnd) do(c call, wait bool) string {
	switch c.verb {
	case "read":
		buf := make([]byte, c.size)
		if wait {
			return e.tryRead(buf)
		}
		e.SetReadDeadline(time.Now().Add(time.Minute))
		return result(e.Read(buf))
	case "write":
		return result(e.Write(make([]byte, c.size)))
	case "closeRead":
		return result(0, e.CloseRead())
	case "closeWrite":
		return result(0, e.CloseWrite())
	case "close":
		return result(0, e.Close())
	}
	e.stream.(*net.TCPConn).SetLinger(0)
	return "0"
}

// tryRead reads without waiting.
func (e systemEnd) tryRead(buf []byte) string {
	raw, err := e.SyscallConn()
	if err != nil {
		return result(0, err)
	}
	var n int
	var errRead error
	err = raw.Read(func(fd uintptr) bool {
		n, errRead = syscall.Read(int(fd), buf)
		return true
	})
	if err == nil && n == 0 && errRead == nil {
		errRead = io.EOF
	}
	return result(n, errors.Join(err, errRead))
}

func play(script []call, ends [2]end, expected []string) []string {
	var results []string
	for i, c := range script {
		wait := expected != nil && expected[i] == wouldWait
		results = append(results, ends[c.end].do(c, wait))
	}
	return results
}

func memoryResults(t *testing.T, kind Kind, script []call) (results []string) {
	at := local
	if kind == Unix {
		at = Addr{Name: "/socket"}
	}
	fine(t, func() {
		ln := must(Listen(kind, at, false))
		a := must(Dial(kind, Addr{}, ln.Local, new(Giver)))
		b := must(ln.Accept())
		results = play(script, [2]end{memoryEnd{a}, memoryEnd{b}}, nil)
	})
	return results
}

func systemResults(t *testing.T, ln net.Listener, script []call, expected []string) []string {
	t.Helper()
	a, err := net.Dial(ln.Addr().Network(), ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	b, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	defer b.Close()
	return play(script, [2]end{systemEnd{a.(stream)}, systemEnd{b.(stream)}}, expected)
}

func TestConnectionsBehaveLikeTheSystems(t *testing.T) {
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer tcp.Close()
	unix, err := net.Listen("unix", filepath.Join(t.TempDir(), "s"))
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close()
	seed := uint64(1)
	r := rand.New(rand.NewPCG(seed, 0))
	for i := range 1500 {
		kind, ln := TCP, tcp
		if i%3 == 0 {
			kind, ln = Unix, unix
		}
		script := randomScript(r, kind)
		want := memoryResults(t, kind, script)
		var got []string
		for range 3 {
			if got = systemResults(t, ln, script, want); strings.Join(got, ";") == strings.Join(want, ";") {
				break
			}
		}
		if strings.Join(got, ";") != strings.Join(want, ";") {
			t.Errorf("seed %d, script %d of %s:", seed, i, ln.Addr().Network())
			for j, c := range script {
				t.Logf("  %-16v in memory %-28s system %s", c, want[j], got[j])
			}
		}
	}
}

// TestPortsBehaveLikeTheSystems listens on and dials all pairs of addresses with one port.
func TestPortsBehaveLikeTheSystems(t *testing.T) {
	hosts := []struct {
		network, text string
		host          string
		only6         bool
	}{
		{"tcp4", "127.0.0.1", "\x7f\x00\x00\x01", false},
		{"tcp4", "127.0.0.2", "\x7f\x00\x00\x02", false},
		{"tcp4", "0.0.0.0", "\x00\x00\x00\x00", false},
		{"tcp6", "::1", string([]byte{15: 1}), true},
		{"tcp6", "::", string(make([]byte, 16)), true},
		{"tcp", "::", string(make([]byte, 16)), false},
	}
	for _, one := range hosts {
		for _, other := range hosts {
			ln, err := net.Listen(one.network, net.JoinHostPort(one.text, "0"))
			if err != nil {
				t.Logf("%s is not to be had: %v", one.text, err)
				continue
			}
			port := ln.Addr().(*net.TCPAddr).Port
			second, err := net.Listen(other.network, net.JoinHostPort(other.text, fmt.Sprint(port)))
			if errors.Is(err, syscall.EADDRNOTAVAIL) || errors.Is(err, syscall.EAFNOSUPPORT) {
				t.Logf("%s is not to be had: %v", other.text, err)
				ln.Close()
				continue
			}
			listens := result(0, err)
			if err == nil {
				second.Close()
			}
			// Not by net.Dial, which tries another address where this one does not help.
			conn, err := net.DialTCP(other.network, nil, &net.TCPAddr{IP: net.ParseIP(other.text), Port: port})
			dials := result(0, err)
			if err == nil {
				conn.Close()
			}
			ln.Close()
			fine(t, func() {
				must(Listen(TCP, Addr{Host: one.host, Port: port}, one.only6))
				at := Addr{Host: other.host, Port: port}
				second, err := Listen(TCP, at, other.only6)
				if err == nil {
					second.Close()
				}
				_, errDial := Dial(TCP, Addr{}, at, new(Giver))
				if got := result(0, err); got != listens {
					t.Errorf("%s is in use, to listen on %s %s: %s, the system says %s", one.text, other.network, other.text, got, listens)
				}
				if got := result(0, errDial); got != dials {
					t.Errorf("%s listens, to dial %s %s: %s, the system says %s", one.text, other.network, other.text, got, dials)
				}
			})
		}
	}
}
