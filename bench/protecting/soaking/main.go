// Soaking is the server that bench protect-soak keeps under load for a long time. Its handlers
// sell from a stock that a lock guards, as they should; others change the stock without the
// lock. Each section looks whether anything changes under its hands, and counts it.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	_ "net/http/pprof"
	"runtime"
	"sync"
	"time"
)

// A Stock is what is sold.
type Stock struct {
	mu     sync.Mutex // guards all below
	price  int
	left   int
	sales  int
	broken int // sections in which something changed
	buyer  string
	ledger struct{ in, out int }
}

// sell sells one piece. The section takes a while, and makes garbage meanwhile.
func (s *Stock) sell(buyer string, slow bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	price, left := s.price, s.left
	s.buyer = buyer
	s.ledger.out++
	if slow {
		time.Sleep(time.Millisecond)
	}
	receipt := make([]int, 1000)
	for i := range receipt {
		receipt[i] = price + i
	}
	if s.price != price || s.left != left || s.buyer != buyer || receipt[0] != price {
		s.broken++
	}
	s.left = left - 1
	s.sales++
}

// A Report is what the server knows of itself.
type Report struct {
	Sales, Broken int
	Goroutines    int
	Heap          uint64
	Collections   uint32
}

func (s *Stock) report() Report {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	s.mu.Lock()
	defer s.mu.Unlock()
	return Report{s.sales, s.broken, runtime.NumGoroutine(), m.HeapAlloc, m.NumGC}
}

func main() {
	addr := flag.String("addr", "localhost:0", "serve at this `address`")
	flag.Parse()
	s := new(Stock)
	http.HandleFunc("/sell", func(w http.ResponseWriter, r *http.Request) {
		s.sell(r.RemoteAddr, r.URL.Query().Has("slow"))
	})
	http.HandleFunc("/careless", func(w http.ResponseWriter, r *http.Request) {
		s.price++
		s.left += 10
		s.ledger.in++
		s.buyer = "nobody"
	})
	http.HandleFunc("/look", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintln(w, s.price, s.left)
	})
	http.HandleFunc("/collect", func(w http.ResponseWriter, r *http.Request) { runtime.GC() })
	http.HandleFunc("/report", func(w http.ResponseWriter, r *http.Request) {
		if err := json.NewEncoder(w).Encode(s.report()); err != nil {
			log.Print(err)
		}
	})
	l, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(l.Addr())
	log.Fatal(http.Serve(l, nil))
}
