package loopback_test

import (
	"errors"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"syscall"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/rt"
	. "github.com/cofferdam-go/cofferdam/internal/rt/loopback"
	"github.com/cofferdam-go/cofferdam/internal/sched"
)

func TestMain(m *testing.M) {
	// As the driver does.
	debug.SetGCPercent(-1)
	runtime.GOMAXPROCS(1)
	os.Exit(m.Run())
}

// run runs f under control by the default schedule.
func run(f func()) *rt.Result {
	return rt.Run(rt.Config{Strategy: sched.NewReplay(sched.Schedule{}), Races: true}, f)
}

// fine is run for what must come to its end.
func fine(t *testing.T, f func()) *rt.Result {
	t.Helper()
	r := run(f)
	for _, x := range r.Failures {
		t.Errorf("%v: %s", x.Kind, x.Message)
	}
	if len(r.Races) > 0 || len(r.Left) > 0 || len(r.Outside) > 0 {
		t.Errorf("races %v, left %v, outside %v", r.Races, r.Left, r.Outside)
	}
	return r
}

var local = Addr{Host: "\x7f\x00\x00\x01"}

// connected returns the two ends of a connection.
func connected(t *testing.T) (a, b *Socket) {
	t.Helper()
	ln := must(Listen(TCP, local, false))
	a = must(Dial(TCP, Addr{}, ln.Local, new(Giver)))
	b = must(ln.Accept())
	ln.Close()
	return a, b
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestWhatIsWrittenIsRead(t *testing.T) {
	fine(t, func() {
		a, b := connected(t)
		if a.Remote != b.Local || a.Local != b.Remote || a.Local == a.Remote {
			t.Errorf("%v to %v, %v to %v", a.Local, a.Remote, b.Local, b.Remote)
		}
		done := make(chan struct{})
		rt.Go(1, func() {
			a.Write([]byte("to "))
			a.Write([]byte("and fro"))
			a.Close()
			rt.Close(done, 2)
		})
		var got []byte
		buf := make([]byte, 4)
		for {
			n, err := b.Read(buf)
			got = append(got, buf[:n]...)
			if err != nil {
				if err != io.EOF {
					t.Error(err)
				}
				break
			}
		}
		if string(got) != "to and fro" {
			t.Errorf("%q", got)
		}
		rt.Recv(done, 3)
		b.Close()
	})
}

func TestAReadThatNothingEndsIsADeadlock(t *testing.T) {
	r := run(func() {
		_, b := connected(t)
		b.Read(make([]byte, 1))
	})
	if len(r.Failures) != 1 || r.Failures[0].Kind != event.FailureDeadlock || r.Failures[0].Blocked[0].Op.Kind != event.NetRead {
		t.Errorf("%+v", r.Failures)
	}
}

func TestAWriteWaitsForRoom(t *testing.T) {
	r := run(func() {
		a, _ := connected(t)
		a.SetBuffer(false, 8<<10)
		if n, err := a.Write(make([]byte, 16<<10)); n != 16<<10 || err != nil {
			t.Errorf("%d, %v", n, err)
		}
		a.Write([]byte("x"))
	})
	if len(r.Failures) != 1 || r.Failures[0].Kind != event.FailureDeadlock || r.Failures[0].Blocked[0].Op.Kind != event.NetWrite {
		t.Errorf("%+v", r.Failures)
	}
	fine(t, func() {
		a, b := connected(t)
		const all = 100 << 10
		a.SetBuffer(false, 1<<10)
		rt.Go(1, func() {
			a.Write(make([]byte, all))
			a.Close()
		})
		n, buf := 0, make([]byte, 1<<10)
		for {
			m, err := b.Read(buf)
			if n += m; err != nil {
				break
			}
		}
		if n != all {
			t.Errorf("%d bytes", n)
		}
	})
}

func TestDeadlinesPassInVirtualTime(t *testing.T) {
	const hour = 3600_000_000_000
	r := fine(t, func() {
		a, b := connected(t)
		a.SetDeadlines(true, false, false, hour)
		if _, err := a.Read(make([]byte, 1)); err != ErrTimeout {
			t.Error(err)
		}
		// One that has passed fails although there is something to read.
		b.Write([]byte("x"))
		if _, err := a.Read(make([]byte, 1)); err != ErrTimeout {
			t.Error(err)
		}
		a.SetDeadlines(true, false, true, 0)
		if n, err := a.Read(make([]byte, 1)); n != 1 || err != nil {
			t.Error(n, err)
		}
		a.SetDeadlines(false, true, false, -1)
		if _, err := a.Write([]byte("x")); err != ErrTimeout {
			t.Error(err)
		}
		ln := must(Listen(TCP, local, false))
		ln.SetDeadlines(true, true, false, hour)
		if _, err := ln.Accept(); err != ErrTimeout {
			t.Error(err)
		}
	})
	if r.Now < 2*hour {
		t.Errorf("%d ns went by", r.Now)
	}
}

func TestADeadlineOfAnotherGoroutineWakesARead(t *testing.T) {
	fine(t, func() {
		a, _ := connected(t)
		done := make(chan struct{})
		rt.Go(1, func() {
			if _, err := a.Read(make([]byte, 1)); err != ErrTimeout {
				t.Error(err)
			}
			rt.Close(done, 2)
		})
		rt.Gosched()
		a.SetDeadlines(true, false, false, -1)
		rt.Recv(done, 3)
	})
}

func TestCloseEndsWhatWaits(t *testing.T) {
	fine(t, func() {
		a, b := connected(t)
		b.SetBuffer(false, 0)
		b.Write(make([]byte, 4<<10))
		ln := must(Listen(TCP, local, false))
		done := make(chan error, 3)
		for _, f := range []func() error{
			func() error { _, err := b.Read(make([]byte, 1)); return err },
			func() error { _, err := b.Write([]byte("x")); return err },
			func() error { _, err := ln.Accept(); return err },
		} {
			rt.Go(1, func() { rt.To(done).Send(f(), 2) })
		}
		rt.Gosched()
		b.Close()
		ln.Close()
		for range 3 {
			if err := rt.Recv(done, 3); err != ErrClosed {
				t.Error(err)
			}
		}
		for _, err := range []error{b.Close(), ln.Close(), b.Shutdown(true), b.SetDeadlines(true, true, true, 0)} {
			if err != ErrClosed {
				t.Error(err)
			}
		}
		if !b.Closed() || a.Closed() || !a.Stream() || ln.Stream() {
			t.Error("which sockets are closed, and which are connections")
		}
	})
}

func TestPortsOfARun(t *testing.T) {
	var first, second int
	for _, port := range []*int{&first, &second} {
		fine(t, func() {
			ln := must(Listen(TCP, local, false))
			*port = ln.Local.Port
			if _, err := Listen(TCP, ln.Local, false); err != syscall.EADDRINUSE {
				t.Error(err)
			}
			if !Knows(Port{TCP, *port}) || Knows(Port{UDP, *port}) {
				t.Error("the port is not known, or that of packets is")
			}
			ln.Close()
			if _, err := Dial(TCP, Addr{}, ln.Local, new(Giver)); err != syscall.ECONNREFUSED {
				t.Error(err)
			}
			if !Knows(Port{TCP, *port}) {
				t.Error("a port that was closed is forgotten")
			}
			must(Listen(TCP, ln.Local, false)) // which is left open
		})
	}
	if first != second || first == 0 {
		t.Errorf("port %d, then %d", first, second)
	}
}

func TestALocalAddressInUse(t *testing.T) {
	fine(t, func() {
		ln := must(Listen(TCP, local, false))
		_, err := Dial(TCP, ln.Local, ln.Local, new(Giver))
		if !IsBind(err) || !errors.Is(err, syscall.EADDRINUSE) {
			t.Error(err)
		}
		if IsBind(syscall.ECONNREFUSED) {
			t.Error("a connection that is refused has nothing to do with the local address")
		}
	})
}

func TestASocketOfAnEarlierRunIsClosed(t *testing.T) {
	var a, ln *Socket
	ended := false
	fine(t, func() {
		a, _ = connected(t)
		ln = must(Listen(TCP, local, false))
		AtEnd(func() { ended = true })
		a.SetDeadlines(true, true, false, 1000)
	})
	fine(t, func() {
		if Begin(); !ended {
			t.Error("nothing was done at the end")
		}
		ended = false
		if must(Listen(TCP, ln.Local, false)); ended {
			t.Error("the end of a run was told twice")
		}
		_, read := a.Read(make([]byte, 1))
		_, write := a.Write(make([]byte, 1))
		_, accept := ln.Accept()
		for _, err := range []error{read, write, accept, a.SetDeadlines(true, true, false, 5)} {
			if err != ErrClosed {
				t.Error(err)
			}
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
		if err := a.Close(); err != ErrClosed {
			t.Error(err)
		}
	})
}

func TestGoroutinesOutsideControlAreToldSo(t *testing.T) {
	var a *Socket
	fine(t, func() {
		a, _ = connected(t)
		native := make(chan error, 1)
		go func() { _, err := a.Read(make([]byte, 1)); native <- err }()
		for len(native) == 0 {
			runtime.Gosched()
		}
		if err := <-native; err != ErrOutside {
			t.Error(err)
		}
	})
}

func TestADialWaitsForRoomAtTheListener(t *testing.T) {
	fine(t, func() {
		ln := must(Listen(TCP, local, false))
		for !Full(TCP, ln.Local) {
			must(Dial(TCP, Addr{}, ln.Local, new(Giver)))
		}
		give := new(Giver)
		rt.Go(1, give.Up)
		if _, err := Dial(TCP, Addr{}, ln.Local, give); err != ErrTimeout {
			t.Error(err)
		}
		rt.Go(1, func() { ln.Accept() })
		must(Dial(TCP, Addr{}, ln.Local, new(Giver)))
	})
}

func TestReadsComeAfterWrites(t *testing.T) {
	fine(t, func() {
		a, b := connected(t)
		x := new(int)
		rt.Go(1, func() {
			*rt.W(x, 2) = 1
			a.Write([]byte("x"))
		})
		b.Read(make([]byte, 1))
		rt.R(x, 3)
	})
	r := run(func() {
		a, b := connected(t)
		x := new(int)
		rt.Go(1, func() {
			a.Write([]byte("x"))
			*rt.W(x, 2) = 1
		})
		b.Read(make([]byte, 1))
		rt.R(x, 3)
	})
	if len(r.Races) != 1 {
		t.Errorf("a store after a write: %d races", len(r.Races))
	}
}

func TestABufferIsReadAndWritten(t *testing.T) {
	r := run(func() {
		a, _ := connected(t)
		buf := make([]byte, 8)
		rt.Go(1, func() { a.Write(buf) })
		*rt.W(&buf[0], 2) = 1
		rt.Gosched()
	})
	if len(r.Races) != 1 {
		t.Errorf("%d races", len(r.Races))
	}
}

func TestPackets(t *testing.T) {
	fine(t, func() {
		a, b := must(Listen(UDP, local, false)), must(Listen(UDP, Addr{Host: "\x00\x00\x00\x00"}, false))
		to := Addr{Host: local.Host, Port: b.Local.Port}
		a.WriteTo([]byte("one"), to)
		a.WriteTo([]byte("three"), to)
		buf := make([]byte, 4)
		for _, want := range []string{"one", "thre"} {
			if n, from, err := b.ReadFrom(buf); string(buf[:n]) != want || from != a.Local || err != nil {
				t.Errorf("%q from %v, %v", buf[:n], from, err)
			}
		}
		for range 1000 {
			a.WriteTo(make([]byte, 1000), to)
		}
		b.SetDeadlines(true, false, false, 1)
		n := 0
		for {
			if _, _, err := b.ReadFrom(buf); err == ErrTimeout {
				break
			}
			n++
		}
		if n == 0 || n == 1000 {
			t.Errorf("%d packets of 1000 did not get lost", n)
		}
		if _, err := a.WriteTo(make([]byte, 70000), to); err != syscall.EMSGSIZE {
			t.Error(err)
		}
		c := must(Dial(UDP, Addr{}, to, new(Giver)))
		a.WriteTo([]byte("not from there"), c.Local)
		b.WriteTo([]byte("from there"), c.Local)
		if n, err := c.Read(buf); string(buf[:n]) != "from" || err != nil {
			t.Errorf("%q, %v", buf[:n], err)
		}
		b.Close()
		c.Write(nil)
		if _, err := c.Read(buf); err != syscall.ECONNREFUSED {
			t.Error(err)
		}
	})
}

func TestLocalhostHasTheAddressesThatAreListenedAt(t *testing.T) {
	fine(t, func() {
		if ListensAt6() {
			t.Error("nothing listens yet")
		}
		must(Listen(TCP, Addr{Host: string([]byte{15: 1})}, true))
		if !ListensAt6() {
			t.Error("a socket listens")
		}
	})
}
