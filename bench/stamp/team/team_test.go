package team

import "testing"

func TestSharesAreAllOfIt(t *testing.T) {
	for n := range 20 {
		for size := 1; size < 6; size++ {
			next := 0
			for member := range size {
				first, last := Share(n, member, size)
				if first != next || last < first {
					t.Fatalf("member %d of %d has %d to %d of %d, after %d", member, size, first, last, n, next)
				}
				next = last
			}
			if next != n {
				t.Fatalf("%d members share %d of %d", size, next, n)
			}
		}
	}
}

func TestRunCallsEveryMemberAndWaits(t *testing.T) {
	called := make([]int, 5)
	Run(len(called), func(member int) { called[member]++ })
	for member, n := range called {
		if n != 1 {
			t.Errorf("member %d was called %d times", member, n)
		}
	}
}
