// Objects in containers of the standard library, of which only the pointers are known as interface values, and loops over the
// indices of arrays of objects.
package main

import (
	"container/heap"
	"container/list"
	"container/ring"
	"fmt"
	"sort"
	"sync"
	"sync/atomic"
)

type job struct {
	mu    sync.Mutex
	pri   int
	index int
	name  string
	runs  int            // guarded by mu
	notes []string       // guarded by mu
	seen  map[string]int // guarded by mu
}

func (j *job) run(note string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.runs++
	j.notes = append(j.notes, note)
	if j.seen == nil {
		j.seen = make(map[string]int)
	}
	j.seen[note]++
}

type jobs []*job

func (h jobs) Len() int { return len(h) }
func (h jobs) Less(a, b int) bool {
	return h[a].pri > h[b].pri || h[a].pri == h[b].pri && h[a].name < h[b].name
}
func (h jobs) Swap(a, b int) { h[a], h[b] = h[b], h[a]; h[a].index, h[b].index = a, b }
func (h *jobs) Push(x any)   { j := x.(*job); j.index = len(*h); *h = append(*h, j) }
func (h *jobs) Pop() any {
	old := *h
	j := old[len(old)-1]
	old[len(old)-1] = nil
	j.index = -1
	*h = old[:len(old)-1]
	return j
}

type queue struct {
	mu     sync.Mutex
	heap   jobs       // guarded by mu
	done   *list.List // guarded by mu
	last   *ring.Ring // guarded by mu
	latest atomic.Value
	pool   sync.Pool
	count  int // guarded by mu
}

func (q *queue) push(name string, pri int) *job {
	j, ok := q.pool.Get().(*job)
	if !ok {
		j = new(job)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	j.name, j.pri = name, pri
	heap.Push(&q.heap, j)
	q.count++
	return j
}

func (q *queue) raise(j *job, d int) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if j.index < 0 {
		return false
	}
	j.pri += d
	heap.Fix(&q.heap, j.index)
	return true
}

func (q *queue) pop() *job {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.heap) == 0 {
		return nil
	}
	j := heap.Pop(&q.heap).(*job)
	j.pri = -j.pri
	q.done.PushBack(j)
	q.last.Value = j
	q.last = q.last.Next()
	q.latest.Store(j)
	q.count--
	j.run("popped")
	return j
}

func (q *queue) names() (all []string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for e := q.done.Front(); e != nil; e = e.Next() {
		switch j := e.Value.(type) {
		case *job:
			all = append(all, j.name)
		}
	}
	return all
}

type shard struct {
	mu sync.Mutex
	m  map[int]int // guarded by mu
	s  []int       // guarded by mu
	n  int         // guarded by mu
}

type table struct{ shards [4]shard }

func (t *table) add(k int) {
	s := &t.shards[k%len(t.shards)]
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.m == nil {
		s.m = make(map[int]int)
	}
	s.m[k]++
	s.s = append(s.s, k)
	s.n += k
}

func (t *table) each(f func(n, entries, elements int)) {
	for i := range t.shards {
		t.shards[i].mu.Lock()
		n, m, s := t.shards[i].n, len(t.shards[i].m), len(t.shards[i].s)
		t.shards[i].mu.Unlock()
		f(n, m, s)
	}
}

func main() {
	q := &queue{done: list.New(), last: ring.New(2)}
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			for k := range 5 {
				j := q.push(fmt.Sprint(i, k), k)
				j.run("pushed")
				q.raise(j, i)
			}
		})
	}
	wg.Wait()
	var all []*job
	for j := q.pop(); j != nil; j = q.pop() {
		all = append(all, j)
	}
	fmt.Println(len(all), q.names()[:5], q.count, q.latest.Load().(*job).name)
	sort.Slice(all, func(a, b int) bool { return all[a].name < all[b].name })
	for _, j := range all[:3] {
		fmt.Print(j.name, j.pri, j.index, j.runs, j.notes, j.seen, " ")
		q.pool.Put(j)
	}
	q.last.Do(func(v any) { fmt.Print(v.(*job).name, ";") })
	fmt.Println(q.raise(all[0], 3))
	t := new(table)
	for i := range 4 {
		wg.Go(func() {
			for k := range 25 {
				t.add(k + i)
			}
		})
	}
	wg.Wait()
	t.each(func(n, entries, elements int) { fmt.Print(n, entries, elements, " ") })
	fmt.Println()
}
