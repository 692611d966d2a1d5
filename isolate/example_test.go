package isolate_test

import (
	"fmt"

	"github.com/cofferdam-go/cofferdam/isolate"
)

// A section works through Own; all other code uses the pointer that New returned, and
// sees what the section left.
func Example() {
	type Account struct{ Balance int }

	var mu isolate.Mutex
	defer mu.Close()
	account := isolate.New[Account](&mu)

	mu.Lock()
	own := isolate.Own(&mu, account)
	own.Balance += 10
	mu.Unlock()

	fmt.Println(account.Balance)
	// Output: 10
}

// Guarded objects refer to each other by Ref. A walk that begins in the own view stays in
// it.
func ExampleRef() {
	type Node struct {
		Value int
		Next  isolate.Ref[Node]
	}

	var mu isolate.Mutex
	defer mu.Close()

	mu.Lock()
	var list *Node
	for value := range 3 {
		node := isolate.NewOwn[Node](&mu)
		node.Value = value
		if list != nil {
			node.Next = isolate.RefTo(&mu, list)
		}
		list = node
	}
	for node := list; node != nil; node = isolate.Follow(node, node.Next) {
		fmt.Println(node.Value)
	}
	mu.Unlock()
	// Output:
	// 2
	// 1
	// 0
}

// Wait gives the lock back, as that of a sync.Cond does: the section ends, and another one
// begins when it returns.
func ExampleNewCond() {
	type Queue struct{ Length int }

	var mu isolate.Mutex
	defer mu.Close()
	queue := isolate.New[Queue](&mu)
	filled := isolate.NewCond(&mu)

	go func() {
		mu.Lock()
		isolate.Own(&mu, queue).Length = 5
		mu.Unlock()
		filled.Signal()
	}()

	mu.Lock()
	for isolate.Own(&mu, queue).Length == 0 {
		filled.Wait()
	}
	fmt.Println(isolate.Own(&mu, queue).Length)
	mu.Unlock()
	// Output: 5
}
