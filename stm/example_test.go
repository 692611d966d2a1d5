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

// Functions with plain accesses are transactions, too. Built by cofferdam with -stm, they run
// beside each other.
func ExampleAtomic() {
	var from, to struct{ Balance int }
	from.Balance = 100
	history := map[string]int{}
	stm.Atomic(func() {
		from.Balance -= 70
		to.Balance += 70
		history["transfers"]++
	})
	fmt.Println(from.Balance, to.Balance, history)
	// Output: 30 70 map[transfers:1]
}

// A Map is used by its keys: transactions with different ones do not conflict.
func ExampleMap() {
	var stock stm.Map[string, int]
	stm.Atomically(func(tx *stm.Tx) error {
		stock.Store(tx, "apples", 3)
		stock.Store(tx, "pears", 5)
		return nil
	})
	sold, err := stm.Value(func(tx *stm.Tx) (int, error) {
		n, ok := stock.Load(tx, "apples")
		if !ok {
			return 0, errors.New("none left")
		}
		stock.Delete(tx, "apples")
		return n, nil
	})
	fmt.Println(sold, err)
	// Output: 3 <nil>
}

// A Queue waits in transactions: to take where there is nothing, and to put where it is full.
func ExampleQueue() {
	q := stm.NewQueue[int](2)
	go func() {
		for i := range 5 {
			stm.Atomically(func(tx *stm.Tx) error { q.Put(tx, i); return nil })
		}
	}()
	for range 5 {
		v, _ := stm.Value(func(tx *stm.Tx) (int, error) { return q.Take(tx), nil })
		fmt.Print(v, " ")
	}
	// Output: 0 1 2 3 4
}

// A transaction waits for a condition over several variables, as with sync.Cond, but no signal
// has to be sent: any commit that changes what was read wakes it.
func ExampleRetry_condition() {
	var ready, closed bool
	go stm.Atomically(func(tx *stm.Tx) error { stm.Store(tx, &ready, true); return nil })

	state, _ := stm.Value(func(tx *stm.Tx) (string, error) {
		switch {
		case stm.Load(tx, &closed):
			return "closed", nil
		case stm.Load(tx, &ready):
			return "ready", nil
		}
		stm.Retry(tx)
		return "", nil
	})
	fmt.Println(state)
	// Output: ready
}

// Entries of a plain map are read and written in transactions.
func ExampleMapStore() {
	votes := map[string]int{"yes": 1}
	stm.Atomically(func(tx *stm.Tx) error {
		for _, vote := range []string{"yes", "no", "yes"} {
			n, _ := stm.MapLoad(tx, votes, vote)
			stm.MapStore(tx, votes, vote, n+1)
		}
		return nil
	})
	fmt.Println(votes)
	// Output: map[no:1 yes:3]
}
