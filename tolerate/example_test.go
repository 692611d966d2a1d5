package tolerate_test

import (
	"fmt"

	"github.com/cofferdam-go/cofferdam/tolerate"
)

// carelessly runs code that does not take the lock, on another goroutine, to its end.
func carelessly(f func()) {
	done := make(chan bool)
	go func() {
		f()
		close(done)
	}()
	<-done
}

// A section works on its own copy. What careless code did to the variable meanwhile is
// merged at the end: with Delta, both changes count.
func Example() {
	balance := 100
	var mu tolerate.Mutex
	own := tolerate.Guard(&mu, &balance, tolerate.Delta).Named("the balance")

	mu.Lock()
	*own.Own() += 10
	carelessly(func() { balance -= 30 })
	fmt.Println("in the section:", *own.Own())
	mu.Unlock()

	fmt.Println("afterwards:", balance)
	for _, f := range tolerate.Findings() {
		if f.Guard.Name == "the balance" {
			fmt.Printf("%s: %d resolved\n", f.Kind, f.Outcomes.Resolved)
		}
	}
	// Output:
	// in the section: 110
	// afterwards: 80
	// violation: 1 resolved
}

// Without a resolver, what careless code has written in the meantime stays. The section
// has not seen it all the same.
func ExampleGuard() {
	total := 1
	var mu tolerate.Mutex
	own := tolerate.Guard(&mu, &total)

	mu.Lock()
	carelessly(func() { total = 99 })
	*own.Own()++
	fmt.Println("in the section:", *own.Own())
	mu.Unlock()

	fmt.Println("afterwards:", total)
	// Output:
	// in the section: 2
	// afterwards: 99
}

// Append keeps what both have appended.
func ExampleAppend() {
	log := []string{"start"}
	var mu tolerate.Mutex
	own := tolerate.GuardSlice(&mu, &log, tolerate.Append)

	mu.Lock()
	*own.Own() = append(*own.Own(), "section")
	carelessly(func() { log = append(log, "careless") })
	mu.Unlock()

	fmt.Println(log)
	// Output: [start careless section]
}
