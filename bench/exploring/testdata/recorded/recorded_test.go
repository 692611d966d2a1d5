package recorded

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

func TestMutexCounter(t *testing.T) {
	var mu sync.Mutex
	var wg sync.WaitGroup
	n := 0
	for range 4 {
		wg.Go(func() {
			for range 5000 {
				mu.Lock()
				n++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if n != 20_000 {
		t.Errorf("counted %d", n)
	}
}

func TestAtomicCounter(t *testing.T) {
	var wg sync.WaitGroup
	var n atomic.Int64
	for range 4 {
		wg.Go(func() {
			for range 20_000 {
				n.Add(1)
			}
		})
	}
	wg.Wait()
	if n.Load() != 80_000 {
		t.Errorf("counted %d", n.Load())
	}
}

func TestPipeline(t *testing.T) {
	squares := make(chan int)
	sums := make(chan int, 16)
	go func() {
		for i := range 10_000 {
			squares <- i
		}
		close(squares)
	}()
	go func() {
		for v := range squares {
			sums <- v * 2
		}
		close(sums)
	}()
	sum := 0
	for v := range sums {
		sum += v
	}
	if sum != 99_990_000 {
		t.Errorf("sum %d", sum)
	}
}

func TestMergeSort(t *testing.T) {
	s := make([]int, 30_000)
	x := uint32(1)
	for i := range s {
		x = x*1664525 + 1013904223
		s[i] = int(x >> 8)
	}
	mergeSort(s, make([]int, len(s)), 2)
	for i := 1; i < len(s); i++ {
		if s[i-1] > s[i] {
			t.Fatalf("out of order at %d", i)
		}
	}
}

// mergeSort sorts the halves at the same time, down to a depth.
func mergeSort(s, temp []int, depth int) {
	if len(s) < 2 {
		return
	}
	half := len(s) / 2
	if depth > 0 {
		var wg sync.WaitGroup
		wg.Go(func() { mergeSort(s[:half], temp[:half], depth-1) })
		mergeSort(s[half:], temp[half:], depth-1)
		wg.Wait()
	} else {
		mergeSort(s[:half], temp[:half], 0)
		mergeSort(s[half:], temp[half:], 0)
	}
	copy(temp, s)
	i, j := 0, half
	for k := range s {
		if j == len(s) || i < half && temp[i] <= temp[j] {
			s[k] = temp[i]
			i++
		} else {
			s[k] = temp[j]
			j++
		}
	}
}

type node struct {
	key         int
	left, right *node
}

func TestTree(t *testing.T) {
	var mu sync.RWMutex
	var wg sync.WaitGroup
	var root *node
	for g := range 4 {
		wg.Go(func() {
			x := uint32(g + 1)
			for range 2000 {
				x = x*1664525 + 1013904223
				key := int(x >> 16)
				mu.RLock()
				found := find(root, key)
				mu.RUnlock()
				if found {
					continue
				}
				mu.Lock()
				insert(&root, key)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if !sorted(root) {
		t.Error("the tree is out of order")
	}
}

func find(n *node, key int) bool {
	for n != nil && n.key != key {
		if key < n.key {
			n = n.left
		} else {
			n = n.right
		}
	}
	return n != nil
}

func insert(at **node, key int) {
	for *at != nil {
		switch n := *at; {
		case key < n.key:
			at = &n.left
		case key > n.key:
			at = &n.right
		default:
			return
		}
	}
	*at = &node{key: key}
}

func sorted(n *node) bool {
	return n == nil || (n.left == nil || n.left.key < n.key) && (n.right == nil || n.right.key > n.key) && sorted(n.left) && sorted(n.right)
}

func TestWords(t *testing.T) {
	text := strings.Repeat("the quick brown fox jumps over the lazy dog ", 600)
	var mu sync.Mutex
	var wg sync.WaitGroup
	count := map[string]int{}
	for range 3 {
		wg.Go(func() {
			own := map[string]int{}
			for _, w := range strings.Fields(text) {
				own[w]++
			}
			mu.Lock()
			defer mu.Unlock()
			for w, n := range own {
				count[w] += n
			}
		})
	}
	wg.Wait()
	if count["the"] != 3600 {
		t.Errorf("the: %d", count["the"])
	}
}
