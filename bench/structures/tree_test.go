package structures

import (
	"fmt"
	"testing"

	"github.com/cofferdam-go/cofferdam/isolate"
)

// check returns the height of a subtree, or what is wrong with it: an order or a
// balance that is not an AVL tree's.
func (n *stockNode) check(low, high uint64) (height int, err error) {
	if n == nil {
		return 0, nil
	}
	left, err := n.left.check(low, n.key)
	if err != nil {
		return 0, err
	}
	right, err := n.right.check(n.key+1, high)
	if err != nil {
		return 0, err
	}
	return checkNode(n.key, low, high, left, right, n.height)
}

func (t *treeRoot) check(r isolate.Ref[node], low, high uint64) (height int, err error) {
	n := t.at(r)
	if n == nil {
		return 0, nil
	}
	left, err := t.check(n.left, low, n.key)
	if err != nil {
		return 0, err
	}
	right, err := t.check(n.right, n.key+1, high)
	if err != nil {
		return 0, err
	}
	return checkNode(n.key, low, high, left, right, n.height)
}

func checkNode(key, low, high uint64, left, right, height int) (int, error) {
	switch {
	case key < low || key >= high:
		return 0, fmt.Errorf("key %d is not in [%d, %d)", key, low, high)
	case left-right > 1 || right-left > 1:
		return 0, fmt.Errorf("at key %d the heights are %d and %d", key, left, right)
	case height != 1+max(left, right):
		return 0, fmt.Errorf("at key %d the height is noted as %d; it is %d", key, height, 1+max(left, right))
	}
	return height, nil
}

// FuzzTree takes each byte as an operation: the high bit says delete, the rest
// is the key. After each, both trees are balanced and ordered, and agree with a
// map.
func FuzzTree(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6, 7, 0x84, 0x81, 0x87})
	f.Add([]byte{50, 20, 80, 10, 30, 70, 90, 25, 0x8a, 0xd0})
	ascending := make([]byte, 0, 256)
	for i := range 256 {
		ascending = append(ascending, byte(i))
	}
	f.Add(ascending)
	f.Fuzz(func(t *testing.T, ops []byte) {
		var mu isolate.Mutex
		defer mu.Close()
		guarded := isolate.New[treeRoot](&mu)
		stock := new(stockTree)
		m := mapModel{}
		for i, op := range ops {
			key, value := uint64(op&0x7f), uint64(i)
			mu.Lock()
			own := isolate.Own(&mu, guarded)
			var got, want, stocks bool
			if op&0x80 == 0 {
				got, stocks, want = own.insert(&mu, key, value), stock.Insert(key, value), m.Insert(key, value)
			} else {
				_, got = own.remove(&mu, key)
				_, stocks = stock.Delete(key)
				_, want = m.Delete(key)
			}
			_, guardedErr := own.check(own.root, 0, 128)
			mu.Unlock()
			_, stockErr := stock.root.check(0, 128)
			if got != want || stocks != want || guardedErr != nil || stockErr != nil {
				t.Fatalf("operation %d (%#x): answers %v (guarded), %v (stock), want %v; %v; %v", i, op, got, stocks, want, guardedErr, stockErr)
			}
		}
		for key, want := range m {
			if got, ok := stock.Read(key); !ok || got != want {
				t.Errorf("stock: Read(%d) = %d, %v; want %d", key, got, ok, want)
			}
		}
	})
}
