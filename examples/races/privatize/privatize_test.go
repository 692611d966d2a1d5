package privatize

import (
	"sync"
	"testing"
)

func TestName(t *testing.T) {
	var table Table
	table.Login("ann")
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		table.Logout()
		table.Login("bob")
		table.Logout()
	}()
	for range 2 {
		switch name := table.Name(); name {
		case "ann", "bob", "nobody":
		default:
			t.Errorf("name %q", name)
		}
	}
	wg.Wait()
}
