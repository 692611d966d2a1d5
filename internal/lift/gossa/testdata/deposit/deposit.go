// Package deposit takes its lock twice where once would be right: an update is lost
// without a data race.
package deposit

import "sync"

type account struct {
	mu      sync.Mutex
	balance int
}

func (a *account) get() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.balance
}

func (a *account) set(n int) {
	a.mu.Lock()
	a.balance = n
	a.mu.Unlock()
}

func (a *account) deposit(n int) {
	b := a.get() // read
	a.set(b + n) // write
}

func Run() {
	var wg sync.WaitGroup
	a := new(account)
	wg.Add(2)
	for range 2 {
		go func() {
			defer wg.Done()
			a.deposit(10)
		}()
	}
	wg.Wait()
	if a.get() != 20 {
		panic("money is missing")
	}
}
