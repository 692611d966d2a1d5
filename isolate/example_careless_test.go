//go:build linux && amd64 && !race

package isolate_test

import (
	"fmt"
	"runtime"

	"github.com/cofferdam-go/cofferdam/isolate"
)

// A goroutine that does not take the lock is stopped at the page until the section has
// ended. The section does not see its write, and a finding names the line.
func ExampleMutex_careless() {
	type Account struct{ Balance int }

	var mu isolate.Mutex
	defer mu.Close()
	mu.SetName("the account")
	account := isolate.New[Account](&mu)

	mu.Lock()
	own := isolate.Own(&mu, account)
	own.Balance = 100
	done := make(chan bool)
	go func() {
		account.Balance = 0 // forgot the lock
		close(done)
	}()
	for isolate.ReadStats().Waiting == 0 {
		runtime.Gosched()
	}
	own.Balance += 10
	fmt.Println("in the section:", own.Balance)
	mu.Unlock()

	<-done
	fmt.Println("afterwards:", account.Balance)
	for _, f := range isolate.Findings() {
		if f.Guard.Name == "the account" {
			fmt.Printf("%s: a %s, %d delayed\n", f.Kind, f.Accesses[0].Op, f.Outcomes.Delayed)
		}
	}
	// Output:
	// in the section: 110
	// afterwards: 0
	// violation: a write, 1 delayed
}
