// Bank is a program that is almost careful. Tellers move money between accounts
// under a lock and add up the total anew, so that for a moment inside the section
// the total is wrong. A report, of another team, reads the total without
// taking the lock.
//
//	go run ./examples/bank
//
// runs it twice. With plain memory the report sees totals that never existed. With
// guarded memory it waits for the end of the section it ran into, sees none, and
// the line that forgot the lock is named.
package main

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cofferdam-go/cofferdam/isolate"
)

// Bank is the guarded data: outside sections, Total is the sum of the accounts.
type Bank struct {
	Accounts [100]int
	Total    int
}

const (
	money = 100_000
	day   = 500 * time.Millisecond
)

func main() { os.Exit(run(os.Stdout, os.Stderr)) }

func run(stdout, stderr io.Writer) int {
	isolate.Configure(isolate.Config{Logger: slog.New(slog.DiscardHandler)})
	fmt.Fprintf(stdout, "guarded memory is protected by: %s\n\n", isolate.CurrentStatus().Backend)

	var mu sync.Mutex
	plain := new(Bank)
	reports, wrong := business(plain, &mu, func() *Bank { return plain })
	fmt.Fprintf(stdout, "plain memory:   %d of %d reports show a total that never was\n", wrong, reports)

	var guard isolate.Mutex
	defer guard.Close()
	guard.SetName("bank")
	guarded := isolate.New[Bank](&guard)
	reports, wrong = business(guarded, &guard, func() *Bank { return isolate.Own(&guard, guarded) })
	fmt.Fprintf(stdout, "guarded memory: %d of %d reports show a total that never was\n\n", wrong, reports)

	if err := isolate.WriteText(stdout, isolate.Findings()); err != nil {
		fmt.Fprintln(stderr, "bank:", err)
		return 1
	}
	return 0
}

// business runs a teller and the report side by side. The teller works on its own
// view of the bank, the report on the pointer that everybody has.
func business(bank *Bank, lock sync.Locker, own func() *Bank) (reports, wrong int) {
	bank.Accounts[0], bank.Total = money, money
	var closed atomic.Bool
	time.AfterFunc(day, func() { closed.Store(true) })
	var teller sync.WaitGroup
	teller.Go(func() {
		for i := 0; !closed.Load(); i++ {
			lock.Lock()
			transfer(own(), i%100, (i+1)%100)
			lock.Unlock()
		}
	})
	for ; !closed.Load(); reports++ {
		if total(bank) != money {
			wrong++
		}
	}
	teller.Wait()
	return reports, wrong
}

// transfer is careful: its caller holds the lock.
func transfer(b *Bank, from, to int) {
	amount := b.Accounts[from]
	b.Accounts[from] -= amount
	b.Accounts[to] += amount
	b.Total = 0
	for _, a := range b.Accounts {
		b.Total += a
	}
}

// total is careless: it should be called with the lock held.
func total(b *Bank) int { return b.Total }
