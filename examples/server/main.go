// Server sells the last tickets of a concert over HTTP. What it sells is guarded by a lock:
// the handler of /buy looks whether a ticket is left, has it paid, and takes it, in one
// section. The handler of /close, in admin.go, is of another team, and knows of no lock.
//
//	go run ./examples/server
//	go run ./cmd/cofferdam run -protect ./examples/server
//
// Without -addr the program makes requests to itself: a customer pays while the sale is
// closed. In the first run tickets are sold that are not there. In the second none is,
// although nothing was changed; the request that closes the sale waits a few milliseconds, and
// is found. Package monitor shows it at /debug/cofferdam while the server runs.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	_ "github.com/cofferdam-go/cofferdam/monitor"
)

// A Sale has tickets.
type Sale struct {
	mu   sync.Mutex // guards left and sold
	left int
	sold int

	pace *pace
}

// buy sells a ticket, if one is left. Others cannot buy it while it is paid.
func (s *Sale) buy(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.left == 0 {
		http.Error(w, "sold out", http.StatusGone)
		return
	}
	s.pay()
	s.left--
	s.sold++
	if s.left < 0 {
		http.Error(w, "this ticket was not there", http.StatusInternalServerError)
	}
}

// pay asks a bank, which takes its time.
func (s *Sale) pay() {
	s.pace.paying = true
	for range 100 {
		if !s.pace.closed {
			time.Sleep(time.Millisecond)
		}
	}
}

// A pace makes sure that the sale is closed while a customer pays, unless that is prevented:
// what happens once in a million requests.
type pace struct{ paying, closed bool }

// open begins a new sale.
func (s *Sale) open(http.ResponseWriter, *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.left, s.sold = 1, 0
	*s.pace = pace{}
}

func main() {
	addr := flag.String("addr", "", "serve at this `address`, until the program is ended")
	flag.Parse()
	os.Exit(run(*addr, os.Stdout))
}

func run(addr string, stdout io.Writer) int {
	s := &Sale{pace: new(pace)}
	mux := http.NewServeMux()
	mux.HandleFunc("/buy", s.buy)
	mux.HandleFunc("/open", s.open)
	mux.HandleFunc("/close", s.close)
	mux.Handle("/debug/", http.DefaultServeMux)
	if addr != "" {
		log.Print(http.ListenAndServe(addr, mux))
		return 1
	}
	l, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		log.Print(err)
		return 1
	}
	go http.Serve(l, mux)
	return s.visit("http://"+l.Addr().String(), stdout)
}

// visit makes requests, and tells what became of them.
func (s *Sale) visit(server string, stdout io.Writer) int {
	const rounds = 5
	failed := false
	for range rounds {
		get(server + "/open")
		var bought sync.WaitGroup
		bought.Go(func() { failed = get(server+"/buy") == "this ticket was not there\n" || failed })
		for !s.pace.paying {
			time.Sleep(time.Millisecond)
		}
		get(server + "/close")
		bought.Wait()
	}
	if failed {
		fmt.Fprintln(stdout, "tickets were sold that were not there")
	} else {
		fmt.Fprintln(stdout, "every ticket that was sold was there")
	}
	headline, _, _ := strings.Cut(get(server+"/debug/cofferdam"), ", ")
	fmt.Fprintln(stdout, "/debug/cofferdam:", strings.TrimSpace(headline))
	return 0
}

func get(url string) string {
	r, err := http.Get(url)
	if err != nil {
		return err.Error()
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
