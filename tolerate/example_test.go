package tolerate_test

import (
	"fmt"
	"sync"

	"github.com/cofferdam-go/cofferdam/tolerate"
)

func ExampleGuard() {
	type account struct{ balance int }
	var mu tolerate.Mutex
	acct := &account{balance: 1}
	balance := tolerate.Guard(&mu, &acct.balance, tolerate.Delta)

	mu.Lock()
	*balance.Own() += 10
	elsewhere(func() { acct.balance += 100 }) // careless
	mu.Unlock()

	fmt.Println(acct.balance)
	// Output: 111
}

func ExampleEnter() {
	type account struct {
		mu      sync.Mutex
		balance int
	}
	balance := tolerate.Field[int]{Name: "account.balance", Resolve: tolerate.Delta[int]}
	accounts := make([]account, 3)

	for i := range accounts {
		a := &accounts[i]
		s := tolerate.Enter(&a.mu)
		*balance.Of(s, &a.balance) += 10
		elsewhere(func() { a.balance += i }) // careless
		s.Leave()
	}

	fmt.Println(accounts[0].balance, accounts[1].balance, accounts[2].balance)
	// Output: 10 11 12
}

func ExampleRefuse() {
	var mu tolerate.Mutex
	state := "open"
	own := tolerate.Guard(&mu, &state, tolerate.Refuse).Named("state")
	defer func() {
		r := recover().(*tolerate.Refusal)
		fmt.Printf("%s: %v or %v?\n", r.Variable, r.Ours, r.Theirs)
	}()

	mu.Lock()
	*own.Own() = "closed"
	elsewhere(func() { state = "broken" }) // careless
	mu.Unlock()
	// Output: state: closed or broken?
}
