package filescan

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
)

func TestQueueKeepsOrder(t *testing.T) {
	for _, v := range variants {
		t.Run(string(v), func(t *testing.T) {
			q := newQueue(v)
			defer q.free()
			random := rand.New(rand.NewPCG(1, 1))
			var model []string
			take := func() {
				name, ok := q.take()
				if !ok || name != model[0] {
					t.Fatalf("took %q, %v; the oldest is %q", name, ok, model[0])
				}
				model = model[1:]
			}
			for range 5000 {
				// What would wait is not done: there is nobody else.
				if len(model) < slots && (len(model) == 0 || random.IntN(2) == 0) {
					name := strings.Repeat("x", random.IntN(maxName+1))
					q.put(name)
					model = append(model, name)
				} else {
					take()
				}
			}
			q.close()
			for len(model) > 0 {
				take()
			}
			if name, ok := q.take(); ok {
				t.Errorf("took %q from a queue that is empty for good", name)
			}
		})
	}
}

func TestQueueDeliversEachNameOnce(t *testing.T) {
	const producers, consumers, names = 3, 4, 2000
	for _, v := range variants {
		t.Run(string(v), func(t *testing.T) {
			q := newQueue(v)
			defer q.free()
			var producing, consuming sync.WaitGroup
			for p := range producers {
				producing.Go(func() {
					for i := range names {
						q.put(fmt.Sprintf("%d/%d", p, i))
					}
				})
			}
			taken := make([]map[string]int, consumers)
			for c := range consumers {
				taken[c] = map[string]int{}
				consuming.Go(func() {
					for {
						name, ok := q.take()
						if !ok {
							return
						}
						taken[c][name]++
					}
				})
			}
			producing.Wait()
			q.close()
			consuming.Wait()
			all := map[string]int{}
			for _, names := range taken {
				for name, n := range names {
					all[name] += n
				}
			}
			for p := range producers {
				for i := range names {
					if name := fmt.Sprintf("%d/%d", p, i); all[name] != 1 {
						t.Fatalf("%s was delivered %d times", name, all[name])
					}
				}
			}
			if len(all) != producers*names {
				t.Errorf("%d names delivered, of %d", len(all), producers*names)
			}
		})
	}
}
