package timers

import (
	"math/rand/v2"
	"slices"
	"testing"
)

type alarm struct {
	Place
	made int
}

// TestDueInTheOrderOfTimeAndOfQueueing compares with a sorted list.
func TestDueInTheOrderOfTimeAndOfQueueing(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		var q Queue[*alarm]
		var list []*alarm
		for made := range 30 {
			if len(list) > 0 && rnd.IntN(4) == 0 {
				i := rnd.IntN(len(list))
				if !list[i].Queued() {
					t.Fatal("what is queued does not know")
				}
				q.Remove(list[i])
				if list[i].Queued() {
					t.Fatal("what was removed is queued")
				}
				list = slices.Delete(list, i, i+1)
			}
			a := &alarm{made: made}
			q.Push(a, int64(rnd.IntN(5)))
			list = append(list, a)
		}
		slices.SortStableFunc(list, func(a, b *alarm) int { return int(a.When - b.When) })
		if q.Len() != len(list) || len(q.All()) != len(list) {
			t.Fatalf("%d queued, want %d", q.Len(), len(list))
		}
		for _, want := range list {
			got := q.First()
			if q.Remove(got); got != want {
				t.Fatalf("number %d at %d is due, want number %d at %d", got.made, got.When, want.made, want.When)
			}
		}
	}
}

func TestResetForgetsAll(t *testing.T) {
	var q Queue[*alarm]
	q.Push(&alarm{}, 1)
	if q.Reset(); q.Len() != 0 {
		t.Errorf("%d are left", q.Len())
	}
}
