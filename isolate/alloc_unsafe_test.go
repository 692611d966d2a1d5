package isolate_test

import (
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/cofferdam-go/cofferdam/isolate"
)

// An allocation is what the model knows of one.
type allocation struct {
	bytes []byte // through the shared pointer
	fill  byte
	free  func()
}

type (
	small  [2]uint32
	medium [9]uint64
	large  [3 * 4096]byte
)

// allocators allocate by each way there is.
var allocators = []func(mu *isolate.Mutex, n int) allocation{
	func(mu *isolate.Mutex, _ int) allocation { return one[byte](mu) },
	func(mu *isolate.Mutex, _ int) allocation { return one[small](mu) },
	func(mu *isolate.Mutex, _ int) allocation { return one[medium](mu) },
	func(mu *isolate.Mutex, _ int) allocation { return one[large](mu) },
	func(mu *isolate.Mutex, _ int) allocation { return one[Account](mu) },
	func(mu *isolate.Mutex, n int) allocation { return many[small](mu, n) },
	func(mu *isolate.Mutex, n int) allocation { return many[medium](mu, n*n/16) },
	func(mu *isolate.Mutex, n int) allocation { return many[byte](mu, n*100) },
}

func one[T any](mu *isolate.Mutex) allocation {
	p := isolate.New[T](mu)
	return allocation{
		bytes: unsafe.Slice((*byte)(unsafe.Pointer(p)), unsafe.Sizeof(*p)),
		free:  func() { isolate.Free(mu, p) },
	}
}

func many[T any](mu *isolate.Mutex, n int) allocation {
	s := isolate.MakeSlice[T](mu, n)
	if len(s) == 0 {
		return allocation{free: func() { isolate.FreeSlice(mu, s) }}
	}
	return allocation{
		bytes: unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), n*int(unsafe.Sizeof(s[0]))),
		free:  func() { isolate.FreeSlice(mu, s) },
	}
}

// allocate runs a program of allocations and frees, two bytes a step, and checks
// that memory is handed out zeroed, and to one at a time.
func allocate(t *testing.T, program []byte) {
	var mu isolate.Mutex
	closeAfter(t, &mu)
	var live []allocation
	check := func(a allocation) {
		for i, b := range a.bytes {
			if b != a.fill {
				t.Fatalf("byte %d of %d is %#x, want %#x", i, len(a.bytes), b, a.fill)
			}
		}
	}
	for ; len(program) >= 2; program = program[2:] {
		op, n := program[0], int(program[1])
		if op >= 128 && len(live) > 0 {
			i := n % len(live)
			check(live[i])
			live[i].free()
			live[i] = live[len(live)-1]
			live = live[:len(live)-1]
			continue
		}
		a := allocators[int(op)%len(allocators)](&mu, n)
		check(a)
		a.fill = byte(rand.IntN(255) + 1)
		for i := range a.bytes {
			a.bytes[i] = a.fill
		}
		live = append(live, a)
	}
	for _, a := range live {
		check(a)
	}
}

func FuzzAllocator(f *testing.F) {
	f.Add([]byte{0, 1, 1, 2, 2, 3, 130, 0, 1, 1, 130, 0})
	f.Add([]byte{3, 0, 3, 0, 128, 0, 7, 255, 128, 0, 5, 200, 3, 0})
	f.Fuzz(func(t *testing.T, program []byte) { allocate(t, program[:min(len(program), 4000)]) })
}

func TestAllocatorHandsOutZeroedMemoryToOneAtATime(t *testing.T) {
	for seed := range uint64(5) {
		rng := rand.New(rand.NewPCG(seed, 1))
		program := make([]byte, 4000)
		for i := range program {
			program[i] = byte(rng.Uint32())
		}
		allocate(t, program)
	}
}

func TestFreedMemoryIsUsedAgain(t *testing.T) {
	var mu isolate.Mutex
	closeAfter(t, &mu)
	isolate.New[Account](&mu)
	sizes := []int{1, 7, 100, 5000, 40_000}
	cycle := func() {
		for _, n := range sizes {
			p, s := isolate.New[Account](&mu), isolate.MakeSlice[int64](&mu, n)
			isolate.Free(&mu, p)
			isolate.FreeSlice(&mu, s)
		}
	}
	cycle()
	before := isolate.ReadStats().Bytes
	for range 1000 {
		cycle()
	}
	if grown := isolate.ReadStats().Bytes - before; grown != 0 {
		t.Errorf("a thousand cycles of New and Free took %d bytes", grown)
	}
}

func TestSmallGuardTakesOnePage(t *testing.T) {
	const guards = 1000
	before := isolate.ReadStats().Bytes
	for range guards {
		var mu isolate.Mutex
		closeAfter(t, &mu)
		isolate.New[small](&mu)
		isolate.New[medium](&mu)
		isolate.New[Account](&mu)
		isolate.MakeSlice[byte](&mu, 100)
	}
	if got := (isolate.ReadStats().Bytes - before) / guards; got != 4096 {
		t.Errorf("a guard with a few small objects takes %d bytes, want 4096", got)
	}
}

// A node of a list and of a tree.
type node struct {
	key         int
	next        isolate.Ref[node]
	left, right isolate.Ref[node]
}

func TestReferencesStayInTheViewTheyAreFollowedFrom(t *testing.T) {
	var mu isolate.Mutex
	closeAfter(t, &mu)
	var head *node
	for i := range 1000 {
		n := isolate.New[node](&mu)
		n.key = i
		n.next = isolate.RefTo(&mu, head)
		head = n
	}
	mu.Lock()
	own := isolate.Own(&mu, head)
	distance := uintptr(unsafe.Pointer(own)) - uintptr(unsafe.Pointer(head))
	want := 999
	for n := own; n != nil; n = isolate.Follow(n, n.next) {
		if n.key != want {
			t.Fatalf("key %d, want %d", n.key, want)
		}
		if n != isolate.Own(&mu, n) {
			t.Fatalf("node %d is not in the own view", n.key)
		}
		if !n.next.IsNil() && n.next != isolate.RefTo(&mu, isolate.Follow(n, n.next)) {
			t.Fatalf("reference of node %d is not the same from the own view", n.key)
		}
		want--
	}
	mu.Unlock()
	if want != -1 {
		t.Errorf("the walk ended at %d", want)
	}
	if protected(t) == (distance == 0) {
		t.Errorf("the views are %#x apart", distance)
	}
	shared := isolate.Follow(head, head.next)
	if shared.key != 998 {
		t.Errorf("from the shared view the second key is %d", shared.key)
	}
}

// TestObjectsOfManyGuardsAreInDifferentLines: of each guard's page a processor would keep the same few lines
// in its cache otherwise, and have no room for those of others.
func TestObjectsOfManyGuardsAreInDifferentLines(t *testing.T) {
	const line, pageSize = 64, 4096
	lines := make(map[uintptr]int)
	for range 2 * pageSize / line {
		var mu isolate.Mutex
		closeAfter(t, &mu)
		lines[uintptr(unsafe.Pointer(isolate.New[uint64](&mu)))%pageSize/line]++
	}
	for at, n := range lines {
		if n > 8 {
			t.Errorf("%d of %d objects are in line %d of their pages", n, 2*pageSize/line, at)
		}
	}
}
