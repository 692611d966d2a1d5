package pairs

import (
	crypto "crypto/rand"
	oldrand "math/rand"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
)

// What is left to chance differs from run to run.

func TestBugDice(t *testing.T) {
	if rand.IntN(6) == 5 && rand.IntN(6) == 5 {
		t.Error("two sixes")
	}
}

func TestFineDice(t *testing.T) {
	if n := rand.IntN(6) + rand.IntN(6); n < 0 || n > 10 {
		t.Error(n)
	}
}

func TestBugOldDice(t *testing.T) {
	if oldrand.Intn(6) == 5 && oldrand.Int63n(7) == 3 {
		t.Error("an unlucky day")
	}
}

// Random numbers that the program starts itself are the same in each run.
func TestFineSeeded(t *testing.T) {
	r, again := oldrand.New(oldrand.NewSource(7)), oldrand.New(oldrand.NewSource(7))
	for range 3 {
		if a, b := r.Intn(6), again.Intn(6); a != b {
			t.Error(a, b)
		}
	}
}

func TestBugLargeDraw(t *testing.T) {
	if rand.Uint64()%37 == 5 {
		t.Error("one of 37")
	}
}

func TestFineLargeDraw(t *testing.T) {
	if n := rand.IntN(1000); n < 0 || n >= 1000 {
		t.Error(n)
	}
}

func TestBugShuffle(t *testing.T) {
	if p := rand.Perm(4); slices.IsSorted(p) {
		t.Error("shuffled, and sorted")
	}
}

func TestFineShuffle(t *testing.T) {
	p := rand.Perm(4)
	if slices.Sort(p); !slices.Equal(p, []int{0, 1, 2, 3}) {
		t.Error(p)
	}
}

func TestBugOrderOfAMap(t *testing.T) {
	last := ""
	for k := range map[string]int{"a": 1, "b": 2, "c": 3} {
		last = k
	}
	if last != "c" {
		t.Error(last, "came last")
	}
}

func TestFineOrderOfAMap(t *testing.T) {
	var keys []string
	for k := range map[string]int{"a": 1, "b": 2, "c": 3} {
		keys = append(keys, k)
	}
	if slices.Sort(keys); !slices.Equal(keys, []string{"a", "b", "c"}) {
		t.Error(keys)
	}
}

func TestBugOrderOfALargeMap(t *testing.T) {
	m := map[int]bool{}
	for i := range 20 {
		m[i] = true
	}
	for k := range m {
		if k == 13 {
			t.Error("13 came first")
		}
		break
	}
}

func TestBugOrderOfAMapWithHoles(t *testing.T) {
	m := map[int]bool{}
	for i := range 8 {
		m[i] = true
	}
	for i := range 6 {
		delete(m, i)
	}
	for k := range m {
		if k == 7 {
			t.Error("7 came first")
		}
		break
	}
}

func TestBugSelectTakesEither(t *testing.T) {
	a, b := make(chan int, 1), make(chan int, 1)
	a <- 1
	b <- 1
	select {
	case <-a:
	case <-b:
		t.Error("b")
	}
}

func TestFineSelectPrefers(t *testing.T) {
	a, b := make(chan int, 1), make(chan int, 1)
	a <- 1
	b <- 1
	select {
	case <-a:
	default:
		select {
		case <-a:
		case <-b:
			t.Error("b")
		}
	}
}

// A draw and a schedule together.
func TestBugRandomBackoff(t *testing.T) {
	var mu sync.Mutex
	n := 0
	add := func() {
		if rand.IntN(4) == 3 {
			mu.Lock()
			v := n
			mu.Unlock()
			mu.Lock()
			n = v + 1
			mu.Unlock()
			return
		}
		mu.Lock()
		n++
		mu.Unlock()
	}
	both(add, add)
	if n != 2 {
		t.Error(n)
	}
}

func TestFineRandomBackoff(t *testing.T) {
	var mu sync.Mutex
	n := 0
	add := func() {
		if rand.IntN(4) == 3 {
			mu.Lock()
			mu.Unlock()
		}
		mu.Lock()
		n++
		mu.Unlock()
	}
	both(add, add)
	if n != 2 {
		t.Error(n)
	}
}

func TestBugRandomBytes(t *testing.T) {
	var b [1]byte
	crypto.Read(b[:])
	if b[0]%16 == 3 {
		t.Error("one of 16")
	}
}

func TestFineRandomBytes(t *testing.T) {
	var a, b [16]byte
	crypto.Read(a[:])
	crypto.Read(b[:])
	if a == b {
		t.Error("twice the same")
	}
}

// What is drawn looks drawn where a schedule leaves it alone.
func TestFineDrawsAreOfAllKinds(t *testing.T) {
	numbers, cases, firsts := map[int]int{}, map[int]int{}, map[int]int{}
	for range 60 {
		numbers[rand.IntN(3)]++
		a, b := make(chan int, 1), make(chan int, 1)
		a <- 1
		b <- 2
		select {
		case v := <-a:
			cases[v]++
		case v := <-b:
			cases[v]++
		}
		for k := range map[int]bool{1: true, 2: true, 3: true} {
			firsts[k]++
			break
		}
	}
	if len(numbers) != 3 || len(cases) != 2 || len(firsts) != 3 {
		t.Errorf("of 60 draws: %v, %v, %v", numbers, cases, firsts)
	}
}
