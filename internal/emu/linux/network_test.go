package linux

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"
)

func TestAProcessTalksToItself(t *testing.T) {
	if !dynamic(t) {
		return
	}
	p, exit, out := run(t, Config{Path: "testdata/network"})
	if out != "all right\n" || exit.Reason != Exited || exit.Code != 0 || p.Used().Outside {
		t.Errorf("%q, %+v, outside %v", out, exit, p.Used().Outside)
	}
	if len(p.Notes()) > 0 {
		t.Errorf("noted: %s", p.Notes())
	}
}

// upper answers each client with what it sends, in capital letters. It returns the port, ""
// where there is no network.
func upper(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Logf("nothing was run: there is no network: %v", err)
		return ""
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			b := make([]byte, 5)
			io.ReadFull(conn, b)
			conn.Write([]byte(strings.ToUpper(string(b))))
			conn.Close()
		}
	}()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	return port
}

func TestAProcessTalksToWhatIsOutside(t *testing.T) {
	port := upper(t)
	if port == "" || !dynamic(t) {
		return
	}
	p, exit, out := run(t, Config{Path: "testdata/network", Args: []string{"network", port}})
	if out != "HELLO\n" || exit.Code != 0 || !p.Used().Outside {
		t.Errorf("%q, %+v", out, exit)
	}
	if notes := strings.Join(p.Notes(), "\n"); !strings.Contains(notes, "talks to 127.0.0.1:"+port+", outside of the emulation") {
		t.Errorf("noted: %s", notes)
	}
}

func TestARunFromASnapshotConnectsAgain(t *testing.T) {
	port := upper(t)
	if port == "" || !dynamic(t) {
		return
	}
	var text strings.Builder
	p, err := New(Config{Path: "testdata/network", Args: []string{"network", port}, Stdout: &text})
	if err != nil {
		t.Fatal(err)
	}
	start := p.Snapshot()
	for range 2 {
		p.Restore(start)
		p.Run()
	}
	if text.String() != "HELLO\nHELLO\n" {
		t.Errorf("%q", text.String())
	}
}

func TestAClientFromOutsideIsWaitedFor(t *testing.T) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil || !dynamic(t) {
		t.Logf("nothing was run: %v", err)
		return
	}
	address := free.Addr().String()
	free.Close()
	_, port, _ := net.SplitHostPort(address)
	over := make(chan struct{})
	defer close(over)
	go func() {
		for again := time.NewTicker(time.Millisecond); ; {
			if conn, err := net.Dial("tcp", address); err == nil {
				conn.Write([]byte("from outside"))
				conn.Close()
				return
			}
			select {
			case <-again.C:
			case <-over:
				return
			}
		}
	}()
	p, exit, out := run(t, Config{Path: "testdata/network", Args: []string{"network", "listen", port}})
	if out != "from outside\n" || exit.Code != 0 || !strings.Contains(strings.Join(p.Notes(), "\n"), "clients from outside") {
		t.Errorf("%q, %+v, %s", out, exit, p.Notes())
	}
}
