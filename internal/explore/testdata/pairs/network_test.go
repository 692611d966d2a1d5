package pairs

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/rpc"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// fetch gets what is at a URL.
func fetch(t *testing.T, c *http.Client, url string) string {
	resp, err := c.Get(url)
	if err != nil {
		t.Error(err)
		return ""
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Error(err)
	}
	return string(text)
}

// twoFetches makes two requests at the same time.
func twoFetches(t *testing.T, s *httptest.Server) {
	both(func() { fetch(t, s.Client(), s.URL) }, func() { fetch(t, s.Client(), s.URL) })
}

func TestBugHandlersShareAMap(t *testing.T) {
	visits := map[string]int{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { visits[r.URL.Path]++ }))
	defer s.Close()
	twoFetches(t, s)
}

func TestFineHandlersShareAMapAndALock(t *testing.T) {
	var mu sync.Mutex
	visits := map[string]int{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		visits[r.URL.Path]++
	}))
	defer s.Close()
	twoFetches(t, s)
	if visits["/"] != 2 {
		t.Error(visits)
	}
}

// secondVersion starts a server that talks HTTP/2 over TLS.
func secondVersion(h http.HandlerFunc) *httptest.Server {
	s := httptest.NewUnstartedServer(h)
	s.EnableHTTP2 = true
	s.StartTLS()
	return s
}

// streams makes two requests over one connection.
func streams(t *testing.T, count func()) {
	s := secondVersion(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 2 {
			t.Error(r.Proto)
		}
		w.(http.Flusher).Flush()
		count()
	})
	defer s.Close()
	fetch(t, s.Client(), s.URL)
	twoFetches(t, s)
}

func TestBugStreamsShareACounter(t *testing.T) {
	n := 0
	streams(t, func() { n++ })
}

func TestFineStreamsShareAnAtomicCounter(t *testing.T) {
	var n atomic.Int32
	streams(t, func() { n.Add(1) })
	if n.Load() != 3 {
		t.Error(n.Load())
	}
}

// serveAndStop starts a server and makes a request, and calls stop when that has begun.
func serveAndStop(t *testing.T, stop func(*http.Server)) {
	ln, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	begun := make(chan struct{})
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(begun)
		io.WriteString(w, "done")
	})}
	both(func() { s.Serve(ln) }, func() {
		both(func() {
			c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
			if got := fetch(t, c, "http://"+ln.Addr().String()); got != "done" {
				t.Errorf("%q", got)
			}
		}, func() {
			<-begun
			stop(s)
		})
	})
}

func TestBugAServerIsClosedWhileItServes(t *testing.T) {
	serveAndStop(t, func(s *http.Server) { s.Close() })
}

func TestFineAServerIsShutDownWhileItServes(t *testing.T) {
	serveAndStop(t, func(s *http.Server) { s.Shutdown(context.Background()) })
}

// slowly answers in two parts.
func slowly(w http.ResponseWriter, r *http.Request) {
	io.WriteString(w, "one ")
	w.(http.Flusher).Flush()
	io.WriteString(w, "two")
}

// begin makes a request and cancels it when it returns, maybe before the whole body is there.
func begin(url string, whole bool) (io.Reader, error) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	req, _ := http.NewRequestWithContext(ctx, "GET", url, nil)
	resp, err := http.DefaultClient.Do(req)
	if err != nil || !whole {
		return resp.Body, err
	}
	text, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	return bytes.NewReader(text), err
}

func TestBugABodyIsReadAfterItsRequestWasCancelled(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(slowly))
	defer s.Close()
	body, err := begin(s.URL, false)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(body); string(text) != "one two" {
		t.Errorf("%q, %v", text, err)
	}
}

func TestFineABodyIsReadBeforeItsRequestIsCancelled(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(slowly))
	defer s.Close()
	body, err := begin(s.URL, true)
	if err != nil {
		t.Fatal(err)
	}
	if text, _ := io.ReadAll(body); string(text) != "one two" {
		t.Errorf("%q", text)
	}
}

// reuse makes a request, and another one while the server ends idle connections.
func reuse(t *testing.T, method string) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.Copy(w, r.Body) }))
	defer s.Close()
	request := func() {
		var body io.Reader
		if method == "POST" {
			// Not one that can be read again, so that the request cannot be made again.
			body = io.MultiReader(bytes.NewReader([]byte("text")))
		}
		req, _ := http.NewRequest(method, s.URL, body)
		resp, err := s.Client().Do(req)
		if err != nil {
			t.Error(err)
			return
		}
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
	request()
	both(request, func() { s.Config.SetKeepAlivesEnabled(false) })
}

func TestBugAPostMeetsTheEndOfAnIdleConnection(t *testing.T) { reuse(t, "POST") }

func TestFineAGetMeetsTheEndOfAnIdleConnection(t *testing.T) { reuse(t, "GET") }

// frames has two goroutines send what a hijacked connection is for.
func frames(t *testing.T, mu sync.Locker) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, rw, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		send := func(text string) {
			mu.Lock()
			defer mu.Unlock()
			rw.WriteString(text)
			rw.Flush()
		}
		both(func() { send("one ") }, func() { send("two ") })
	}))
	defer s.Close()
	conn, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
	text, err := io.ReadAll(conn)
	if got := string(text); got != "one two " && got != "two one " || err != nil {
		t.Errorf("%q, %v", got, err)
	}
}

type noLock struct{}

func (noLock) Lock()   {}
func (noLock) Unlock() {}

func TestBugTwoWriteToAHijackedConnection(t *testing.T) { frames(t, noLock{}) }

func TestFineTwoWriteToAHijackedConnectionWithALock(t *testing.T) { frames(t, new(sync.Mutex)) }

// patient reads from a pipe with a deadline, and may try again.
func patient(t *testing.T, again bool) {
	a, b := net.Pipe()
	both(func() {
		time.Sleep(time.Second)
		a.Write([]byte("x"))
	}, func() {
		buf := make([]byte, 1)
		b.SetReadDeadline(time.Now().Add(time.Second))
		_, err := b.Read(buf)
		for again && errors.Is(err, os.ErrDeadlineExceeded) {
			b.SetReadDeadline(time.Time{})
			_, err = b.Read(buf)
		}
		if err != nil {
			b.Close()
			t.Error(err)
		}
	})
}

func TestBugADeadlineOfAPipe(t *testing.T) { patient(t, false) }

func TestFineADeadlineOfAPipe(t *testing.T) { patient(t, true) }

// forward is a proxy for one connection.
func forward(t *testing.T, whole bool) {
	server := listen(t, func(c net.Conn) {
		text, _ := io.ReadAll(c)
		c.Write(bytes.ToUpper(text))
		c.Close()
	})
	defer server.Close()
	proxy := listen(t, func(in net.Conn) {
		out, err := net.Dial("tcp", server.Addr().String())
		if err != nil {
			t.Error(err)
			return
		}
		defer in.Close()
		defer out.Close()
		var wg sync.WaitGroup
		first := make(chan struct{}, 2)
		copies := func(to, from net.Conn) func() {
			return func() {
				io.Copy(to, from)
				to.(*net.TCPConn).CloseWrite()
				first <- struct{}{}
			}
		}
		wg.Go(copies(out, in))
		wg.Go(copies(in, out))
		if whole {
			wg.Wait()
		} else {
			<-first
		}
	})
	defer proxy.Close()
	c, err := net.Dial("tcp", proxy.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	io.WriteString(c, "text")
	c.(*net.TCPConn).CloseWrite()
	if text, err := io.ReadAll(c); string(text) != "TEXT" {
		t.Errorf("%q, %v", text, err)
	}
}

// listen starts a server that calls f for each connection.
func listen(t *testing.T, f func(net.Conn)) net.Listener {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			go f(c)
		}
	}()
	return ln
}

func TestBugAProxyStopsWithItsFirstCopy(t *testing.T) { forward(t, false) }

func TestFineAProxyWaitsForBothCopies(t *testing.T) { forward(t, true) }

// limited has a server that serves one request at a time, and refuses others.
func limited(t *testing.T, enter func(n *atomic.Int32) bool) {
	var n atomic.Int32
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !enter(&n) {
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		if n.Load() > 1 {
			t.Error("two at a time")
		}
		w.(http.Flusher).Flush()
		n.Add(-1)
	}))
	defer s.Close()
	twoFetches(t, s)
}

func TestBugALimitIsLookedAtAndTaken(t *testing.T) {
	limited(t, func(n *atomic.Int32) bool {
		if n.Load() > 0 {
			return false
		}
		time.Sleep(time.Millisecond) // for the sake of the rate
		n.Add(1)
		return true
	})
}

func TestFineALimitIsTakenAtOnce(t *testing.T) {
	limited(t, func(n *atomic.Int32) bool {
		if !n.CompareAndSwap(0, 1) {
			return false
		}
		time.Sleep(time.Millisecond)
		return true
	})
}

// acceptAndStop stops a server, whose loop must tell that from an error.
func acceptAndStop(t *testing.T, early bool) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var stopped atomic.Bool
	both(func() {
		for {
			c, err := ln.Accept()
			if err != nil {
				if !stopped.Load() {
					t.Error(err)
				}
				return
			}
			c.Close()
		}
	}, func() {
		if early {
			stopped.Store(true)
		}
		ln.Close()
		stopped.Store(true)
	})
}

func TestBugAListenerIsClosedBeforeThatIsSaid(t *testing.T) { acceptAndStop(t, false) }

func TestFineAListenerIsClosedAfterThatIsSaid(t *testing.T) { acceptAndStop(t, true) }

// messages sends two messages over one connection, each in two pieces.
func messages(t *testing.T, mu sync.Locker) {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	ln, err := net.Listen("unix", filepath.Join(dir, "socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	c, err := net.Dial("unix", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	send := func(text string) func() {
		return func() {
			mu.Lock()
			defer mu.Unlock()
			binary.Write(c, binary.BigEndian, uint32(len(text)))
			io.WriteString(c, text)
		}
	}
	both(send("one"), send("two"))
	server, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	for range 2 {
		var n uint32
		binary.Read(server, binary.BigEndian, &n)
		text := make([]byte, min(n, 3))
		io.ReadFull(server, text)
		if s := string(text); s != "one" && s != "two" {
			t.Fatalf("%q", s)
		}
	}
}

func TestBugMessagesInTwoPieces(t *testing.T) { messages(t, noLock{}) }

func TestFineMessagesInTwoPiecesWithALock(t *testing.T) { messages(t, new(sync.Mutex)) }

// answers asks two servers by UDP.
func answers(t *testing.T, inOrder bool) {
	client, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	got := map[string]bool{}
	var wg sync.WaitGroup
	for _, name := range []string{"one", "two"} {
		server, err := net.ListenPacket("udp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer server.Close()
		wg.Go(func() {
			buf := make([]byte, 10)
			_, from, err := server.ReadFrom(buf)
			if err != nil {
				t.Error(err)
				return
			}
			server.WriteTo([]byte(name), from)
		})
		client.WriteTo([]byte("?"), server.LocalAddr())
	}
	wg.Wait()
	for _, want := range []string{"one", "two"} {
		buf := make([]byte, 10)
		n, _, err := client.ReadFrom(buf)
		if err != nil {
			t.Fatal(err)
		}
		got[string(buf[:n])] = true
		if inOrder && string(buf[:n]) != want {
			t.Errorf("%s comes before %s", buf[:n], want)
		}
	}
	if len(got) != 2 {
		t.Error(got)
	}
}

func TestBugPacketsAreTakenToComeInOrder(t *testing.T) { answers(t, true) }

func TestFinePacketsComeInAnyOrder(t *testing.T) { answers(t, false) }

type Account struct {
	mu      sync.Locker
	balance int
}

func (a *Account) Add(n int, balance *int) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.balance += n
	*balance = a.balance
	return nil
}

// calls has two clients call a method by net/rpc.
func calls(t *testing.T, mu sync.Locker) {
	server := rpc.NewServer()
	account := &Account{mu: mu}
	server.Register(account)
	ask := func() {
		a, b := net.Pipe()
		go server.ServeConn(a)
		c := rpc.NewClient(b)
		defer c.Close()
		var balance int
		if err := c.Call("Account.Add", 1, &balance); err != nil {
			t.Error(err)
		}
	}
	both(ask, ask)
	if account.balance != 2 {
		t.Error(account.balance)
	}
}

func TestBugCallsOfOneMethod(t *testing.T) { calls(t, noLock{}) }

func TestFineCallsOfOneMethodWithALock(t *testing.T) { calls(t, new(sync.Mutex)) }

// handshake has both ends of a TLS connection greet each other, or each wait for the other.
func handshake(t *testing.T, together bool) {
	s := httptest.NewUnstartedServer(nil)
	s.StartTLS()
	config := s.TLS
	s.Close()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	c, err := net.Dial("tcp", ln.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	client := tls.Client(c, &tls.Config{InsecureSkipVerify: true})
	accepted, err := ln.Accept()
	if err != nil {
		t.Fatal(err)
	}
	server := tls.Server(accepted, config)
	if !together {
		client.Handshake()
		server.Handshake()
		return
	}
	both(func() {
		fmt.Fprintln(client, "hello")
		client.Close()
	}, func() {
		if line, err := bufio.NewReader(server).ReadString('\n'); line != "hello\n" {
			t.Errorf("%q, %v", line, err)
		}
		server.Close()
	})
}

func TestBugAHandshakeInTurns(t *testing.T) { handshake(t, false) }

func TestFineAHandshakeTogether(t *testing.T) { handshake(t, true) }

// late writes a response when the handler may have returned.
func late(t *testing.T, wait bool) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		done := make(chan struct{})
		go func() {
			io.WriteString(w, "text")
			close(done)
		}()
		if wait {
			<-done
		}
	}))
	defer s.Close()
	if text := fetch(t, s.Client(), s.URL); text != "text" {
		t.Errorf("%q", text)
	}
}

func TestBugAResponseAfterItsHandler(t *testing.T) { late(t, false) }

func TestFineAResponseBeforeTheEndOfItsHandler(t *testing.T) { late(t, true) }

func TestBugHeaderOfTwoRequests(t *testing.T) {
	shared := http.Header{"A": {"1"}}
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() { shared.Set("B", "2") })
	}
	wg.Wait()
}

func TestBugHeaderIsCopiedWhileItIsSet(t *testing.T) {
	shared := http.Header{"A": {"1"}}
	var wg sync.WaitGroup
	wg.Go(func() { shared.Add("B", "2") })
	wg.Go(func() { shared.Clone() })
	wg.Wait()
}

func TestFineHeaderIsOnlyRead(t *testing.T) {
	shared := http.Header{"A": {"1"}}
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() { shared.Clone().Set("B", shared.Get("A")) })
	}
	wg.Wait()
}
