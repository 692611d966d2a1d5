package stm_test

import (
	"errors"
	"fmt"

	"github.com/cofferdam-go/cofferdam/stm"
)

// Variables are accessed by their address. A transaction that returns an error has not
// happened.
func Example() {
	var from, to struct{ Balance int }
	from.Balance = 100
	errNotEnough := errors.New("not enough")

	transfer := func(amount int) error {
		return stm.Atomically(func(tx *stm.Tx) error {
			stm.Store(tx, &to.Balance, stm.Load(tx, &to.Balance)+amount)
			balance := stm.Load(tx, &from.Balance)
			if balance < amount {
				return errNotEnough
			}
			stm.Store(tx, &from.Balance, balance-amount)
			return nil
		})
	}

	fmt.Println(transfer(70), from.Balance, to.Balance)
	fmt.Println(transfer(70), from.Balance, to.Balance)
	// Output:
	// <nil> 30 70
	// not enough 30 70
}

// A transaction that cannot go on retries: it waits until something that it has read
// changes.
func ExampleRetry() {
	var queue []string

	go stm.Atomically(func(tx *stm.Tx) error {
		stm.Store(tx, &queue, append(stm.Load(tx, &queue), "hello"))
		return nil
	})

	first, err := stm.Value(func(tx *stm.Tx) (string, error) {
		q := stm.Load(tx, &queue)
		if len(q) == 0 {
			stm.Retry(tx)
		}
		stm.Store(tx, &queue, q[1:])
		return q[0], nil
	})
	fmt.Println(first, err)
	// Output: hello <nil>
}

// OrElse takes from the first of two accounts that has enough.
func ExampleOrElse() {
	savings, wallet := 5, 50
	take := func(account *int) func(*stm.Tx) error {
		return func(tx *stm.Tx) error {
			balance := stm.Load(tx, account)
			if balance < 20 {
				stm.Retry(tx)
			}
			stm.Store(tx, account, balance-20)
			return nil
		}
	}

	err := stm.Atomically(func(tx *stm.Tx) error {
		return stm.OrElse(tx, take(&savings), take(&wallet))
	})
	fmt.Println(savings, wallet, err)
	// Output: 5 30 <nil>
}

// The compiler forbids plain accesses of a Var.
func ExampleVar() {
	hits := stm.NewVar(0)
	stm.Atomically(func(tx *stm.Tx) error {
		hits.Store(tx, hits.Load(tx)+1)
		return nil
	})
	n, _ := stm.Value(func(tx *stm.Tx) (int, error) { return hits.Load(tx), nil })
	fmt.Println(n)
	// Output: 1
}
