package container

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cofferdam-go/cofferdam/bench/stamp/team"
	"github.com/cofferdam-go/cofferdam/stm"
)

// A dictionary is a List, a Map or a Tree of ints under test.
type dictionary struct {
	insert func(key, value int) bool
	find   func(key int) (int, bool)
	remove func(key int) bool

	insertTx func(tx *stm.Tx, key, value int) bool
	findTx   func(tx *stm.Tx, key int) (int, bool)
	removeTx func(tx *stm.Tx, key int) bool

	contents func() map[int]int
	check    func() error // the invariants of the structure
}

var dictionaries = map[string]func() dictionary{
	"list": func() dictionary {
		l := new(List[int])
		return dictionary{
			l.Insert, l.Find, l.Remove, l.InsertTx, l.FindTx, l.RemoveTx,
			func() map[int]int { return maps.Collect(l.All()) },
			func() error { return checkList(l) },
		}
	},
	"map": func() dictionary {
		m := NewMap[int, int](16, func(k int) uint64 { return uint64(k) })
		return dictionary{
			m.Insert, m.Find, m.Remove, m.InsertTx, m.FindTx, m.RemoveTx,
			func() map[int]int {
				all := make(map[int]int)
				for i := range m.Buckets() {
					maps.Insert(all, m.Bucket(i))
				}
				return all
			},
			func() error { return nil },
		}
	},
	"tree": func() dictionary {
		t := new(Tree[int])
		return dictionary{
			t.Insert, t.Find, t.Remove, t.InsertTx, t.FindTx, t.RemoveTx,
			func() map[int]int { return maps.Collect(t.All()) },
			func() error { return checkTree(t) },
		}
	},
}

func checkList(l *List[int]) error {
	n := 0
	for node := l.first; node != nil; node = node.next {
		n++
		if node.next != nil && node.next.key <= node.key {
			return fmt.Errorf("%d comes after %d", node.next.key, node.key)
		}
	}
	if n != l.Len() {
		return fmt.Errorf("%d elements in a list of length %d", n, l.Len())
	}
	return nil
}

func checkTree(t *Tree[int]) error {
	var keys []int
	for key := range t.All() {
		keys = append(keys, key)
	}
	if !slices.IsSorted(keys) {
		return fmt.Errorf("not in order: %v", keys)
	}
	_, err := height(t.root)
	return err
}

func height(n *treeNode[int]) (h int, err error) {
	if n == nil {
		return 0, nil
	}
	l, err := height(n.child[left])
	if err != nil {
		return 0, err
	}
	r, err := height(n.child[right])
	if err != nil {
		return 0, err
	}
	if r-l != n.tilt || r-l < -1 || r-l > 1 {
		return 0, fmt.Errorf("node %d has sides of height %d and %d, and a tilt of %d", n.key, l, r, n.tilt)
	}
	return 1 + max(l, r), nil
}

// keys is the number of keys that the tests use: few, so that most operations meet
// what others have left, and enough for a tree of several levels.
const keys = 100

// A step is a random operation and what it should return.
type step struct {
	op         int // 0 insert, 1 find, 2 remove
	key, value int
	ok         bool
	was        int // what find should return
}

// model makes a step up and does it to a map.
func model(random *rand.Rand, m map[int]int, key int) step {
	s := step{op: random.IntN(3), key: key, value: random.Int()}
	s.was, s.ok = m[s.key]
	switch s.op {
	case 0:
		if s.ok = !s.ok; s.ok {
			m[s.key] = s.value
		}
	case 2:
		delete(m, s.key)
	}
	return s
}

func (s step) do(d dictionary) (was int, ok bool) {
	switch s.op {
	case 0:
		return s.was, d.insert(s.key, s.value)
	case 1:
		return d.find(s.key)
	default:
		return s.was, d.remove(s.key)
	}
}

func (s step) doTx(tx *stm.Tx, d dictionary) (was int, ok bool) {
	switch s.op {
	case 0:
		return s.was, d.insertTx(tx, s.key, s.value)
	case 1:
		return d.findTx(tx, s.key)
	default:
		return s.was, d.removeTx(tx, s.key)
	}
}

func TestPlainAgreesWithAMap(t *testing.T) {
	for name, build := range dictionaries {
		t.Run(name, func(t *testing.T) {
			random := rand.New(rand.NewPCG(1, 2))
			d, m := build(), make(map[int]int)
			for i := range 5000 {
				s := model(random, m, random.IntN(keys))
				if was, ok := s.do(d); was != s.was || ok != s.ok {
					t.Fatalf("step %d: %+v returned %v, %v", i, s, was, ok)
				}
				if i%16 == 0 {
					if err := d.check(); err != nil {
						t.Fatalf("after step %d: %v", i, err)
					}
				}
			}
			if got := d.contents(); !maps.Equal(got, m) {
				t.Errorf("%v are left and not %v", got, m)
			}
		})
	}
}

var modes = map[string]struct {
	mode         stm.Mode
	transactions int // of each goroutine
}{
	"eager":  {stm.Eager, 1500},
	"timer":  {stm.Timer, 1500},
	"helper": {stm.Helper, 500},
	"clone":  {stm.Clone, 500},
}

// TestTransactionsAgreeWithAMap has goroutines that share a dictionary, each with keys
// of its own, so that each knows what its operations must return, while all of them
// change the same nodes and buckets. A transaction has a few operations.
func TestTransactionsAgreeWithAMap(t *testing.T) {
	const steps = 3
	for name, build := range dictionaries {
		for modeName, mode := range modes {
			for goroutines := 1; goroutines <= 2; goroutines++ {
				t.Run(fmt.Sprintf("%s/%s/%d", name, modeName, goroutines), func(t *testing.T) {
					d := build()
					o := stm.Options{Mode: mode.mode}
					models := make([]map[int]int, goroutines)
					team.Run(goroutines, func(member int) {
						random := rand.New(rand.NewPCG(3, uint64(member)))
						m := make(map[int]int)
						models[member] = m
						for range mode.transactions {
							var todo [steps]step
							for i := range todo {
								todo[i] = model(random, m, random.IntN(keys)*goroutines+member)
							}
							err := o.Atomically(func(tx *stm.Tx) error {
								for _, s := range todo {
									if was, ok := s.doTx(tx, d); was != s.was || ok != s.ok {
										return fmt.Errorf("%+v returned %v, %v", s, was, ok)
									}
								}
								return nil
							})
							if err != nil {
								t.Error(err)
								return
							}
						}
					})
					want := make(map[int]int)
					for _, m := range models {
						maps.Copy(want, m)
					}
					if err := d.check(); err != nil {
						t.Error(err)
					}
					if got := d.contents(); !maps.Equal(got, want) {
						t.Errorf("%v are left and not %v", got, want)
					}
				})
			}
		}
	}
}

func TestMapAddKeepsDuplicates(t *testing.T) {
	m := NewMap[string, int](4, func(s string) uint64 { return uint64(len(s)) })
	m.Add("one", 1)
	m.Add("two", 2)
	m.Add("one", 11)
	err := stm.Atomically(func(tx *stm.Tx) error {
		m.AddTx(tx, "two", 22)
		if got := slices.Sorted(m.AllOfTx(tx, "two")); !slices.Equal(got, []int{2, 22}) {
			return fmt.Errorf("two: %v", got)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	for key, want := range map[string][]int{"one": {1, 11}, "two": {2, 22}, "six": nil} {
		if got := slices.Sorted(m.AllOf(key)); !slices.Equal(got, want) {
			t.Errorf("%s: %v instead of %v", key, got, want)
		}
	}
}

func TestListAllTxSeesTheTransactionsOwnChanges(t *testing.T) {
	var l List[int]
	l.Insert(1, 10)
	l.Insert(3, 30)
	err := stm.Atomically(func(tx *stm.Tx) error {
		l.InsertTx(tx, 2, 20)
		l.RemoveTx(tx, 3)
		got := maps.Collect(l.AllTx(tx))
		if !maps.Equal(got, map[int]int{1: 10, 2: 20}) || l.LenTx(tx) != 2 {
			return fmt.Errorf("%v, %d elements", got, l.LenTx(tx))
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func TestQueueIsFirstInFirstOut(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	var q Queue[int]
	var want []int
	for i := range 2000 {
		if random.IntN(2) == 0 {
			q.Push(i)
			want = append(want, i)
			continue
		}
		got, ok := q.Pop()
		switch {
		case ok != (len(want) > 0):
			t.Fatalf("pop returned %v, with %d elements", ok, len(want))
		case ok && got != want[0]:
			t.Fatalf("%d instead of %d", got, want[0])
		case ok:
			want = want[1:]
		}
	}
	if got := slices.Collect(q.All()); !slices.Equal(got, want) {
		t.Errorf("%v are left and not %v", got, want)
	}
}

// TestQueueLosesNothingInTransactions has goroutines that push and pop: each value
// comes out once, and those of one goroutine in the order in which they went in.
func TestQueueLosesNothingInTransactions(t *testing.T) {
	const goroutines = 2
	for name, mode := range modes {
		t.Run(name, func(t *testing.T) {
			o := stm.Options{Mode: mode.mode}
			var q Queue[[2]int] // who pushed it, and its number
			popped := make([][][2]int, goroutines)
			team.Run(goroutines, func(member int) {
				random := rand.New(rand.NewPCG(7, uint64(member)))
				for pushed := 0; pushed < mode.transactions; {
					if random.IntN(3) > 0 {
						if err := o.Atomically(func(tx *stm.Tx) error {
							q.PushTx(tx, [2]int{member, pushed})
							return nil
						}); err != nil {
							t.Error(err)
						}
						pushed++
						continue
					}
					type result struct {
						value [2]int
						ok    bool
					}
					r, err := stm.ValueWith(o, func(tx *stm.Tx) (r result, err error) {
						r.value, r.ok = q.PopTx(tx)
						return r, nil
					})
					if err != nil {
						t.Error(err)
					}
					if r.ok {
						popped[member] = append(popped[member], r.value)
					}
				}
			})
			rest := slices.Collect(q.All())
			seen := make(map[[2]int]bool)
			for _, values := range append(popped, rest) {
				last := [goroutines]int{-1, -1}
				for _, v := range values {
					if seen[v] {
						t.Errorf("%v came out twice", v)
					}
					seen[v] = true
					if v[1] < last[v[0]] {
						t.Errorf("%v came out after number %d", v, last[v[0]])
					}
					last[v[0]] = v[1]
				}
			}
			if want := goroutines * mode.transactions; len(seen) != want {
				t.Errorf("%d values came out of %d", len(seen), want)
			}
		})
	}
}
