package stm_test

// Fuzzing the logs: random loads and stores of values of many sizes and alignments,
// which overlap, against plain memory on which the same is done. A load must have
// what was stored last by the transaction, or else what is there; after a commit all
// of memory must be as the model, neighbours included; after an error nothing may
// have changed, and after OrElse nothing that its first function did.

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/cofferdam-go/cofferdam/stm"
)

// An arena is memory with something of every shape.
type arena struct {
	before [8]byte
	bytes  [40]byte
	cells  [2]struct {
		small  byte
		half   int16
		word   int32
		shorts [5]int16
		flag   bool
		inner  struct {
			first byte
			odd   [9]byte
			text  string
			last  uint16
		}
		boxed any
		float float64
		next  *int
		pair  [2]*int
		f32   float32
		slice header
	}
	after [8]byte
}

// A header is what a slice is, and can be compared.
type header struct {
	data          *int
	length, limit int
}

// A place is one way to look at a part of an arena.
type place struct {
	load  func(tx *stm.Tx, real, model *arena, i int) error
	store func(tx *stm.Tx, real, model *arena, i, v int)
}

// at makes a place of a function that finds it and one that makes a value for it.
func at[T comparable](find func(a *arena, i int) *T, value func(v int) T) place {
	return place{
		func(tx *stm.Tx, real, model *arena, i int) error {
			if got, want := stm.Load(tx, find(real, i)), *find(model, i); got != want {
				return fmt.Errorf("Load of %T at %d is %v, want %v", got, i, got, want)
			}
			return nil
		},
		func(tx *stm.Tx, real, model *arena, i, v int) {
			stm.Store(tx, find(real, i), value(v))
			*find(model, i) = value(v)
		},
	}
}

var numbers = func() (p [256]*int) {
	for i := range p {
		p[i] = &i
	}
	return p
}()

// fill is n bytes that tell where they came from.
func fill(b []byte, v int) {
	for i := range b {
		b[i] = byte(v + 17*i)
	}
}

var places = []place{
	at(func(a *arena, i int) *byte { return &a.bytes[i%40] }, func(v int) byte { return byte(v) }),
	at(func(a *arena, i int) *[2]byte { return (*[2]byte)(a.bytes[i%39:]) }, func(v int) (b [2]byte) { fill(b[:], v); return b }),
	at(func(a *arena, i int) *[3]byte { return (*[3]byte)(a.bytes[i%38:]) }, func(v int) (b [3]byte) { fill(b[:], v); return b }),
	at(func(a *arena, i int) *[4]byte { return (*[4]byte)(a.bytes[i%37:]) }, func(v int) (b [4]byte) { fill(b[:], v); return b }),
	at(func(a *arena, i int) *[7]byte { return (*[7]byte)(a.bytes[i%34:]) }, func(v int) (b [7]byte) { fill(b[:], v); return b }),
	at(func(a *arena, i int) *[8]byte { return (*[8]byte)(a.bytes[i%33:]) }, func(v int) (b [8]byte) { fill(b[:], v); return b }),
	at(func(a *arena, i int) *[9]byte { return (*[9]byte)(a.bytes[i%32:]) }, func(v int) (b [9]byte) { fill(b[:], v); return b }),
	at(func(a *arena, i int) *[23]byte { return (*[23]byte)(a.bytes[i%18:]) }, func(v int) (b [23]byte) { fill(b[:], v); return b }),
	at(func(a *arena, i int) *[40]byte { return &a.bytes }, func(v int) (b [40]byte) { fill(b[:], v); return b }),
	at(func(a *arena, i int) *byte { return &a.cells[i%2].small }, func(v int) byte { return byte(v) }),
	at(func(a *arena, i int) *int16 { return &a.cells[i%2].half }, func(v int) int16 { return int16(-v * 99) }),
	at(func(a *arena, i int) *int32 { return &a.cells[i%2].word }, func(v int) int32 { return int32(-v * 99999) }),
	at(func(a *arena, i int) *bool { return &a.cells[i%2].flag }, func(v int) bool { return v%2 == 1 }),
	at(func(a *arena, i int) *int16 { return &a.cells[i%2].shorts[i%5] }, func(v int) int16 { return int16(v * 77) }),
	at(func(a *arena, i int) *[2]int16 { return (*[2]int16)(a.cells[i%2].shorts[i%4:]) }, func(v int) [2]int16 { return [2]int16{int16(v), int16(-v)} }),
	at(func(a *arena, i int) *[5]int16 { return &a.cells[i%2].shorts }, func(v int) [5]int16 { return [5]int16{int16(v), 2, 3, 4, int16(-v)} }),
	at(func(a *arena, i int) *string { return &a.cells[i%2].inner.text }, func(v int) string { return fmt.Sprint("text ", v) }),
	at(func(a *arena, i int) *[9]byte { return &a.cells[i%2].inner.odd }, func(v int) (b [9]byte) { fill(b[:], v); return b }),
	at(func(a *arena, i int) *byte { return &a.cells[i%2].inner.odd[i%9] }, func(v int) byte { return byte(v) }),
	at(func(a *arena, i int) *uint16 { return &a.cells[i%2].inner.last }, func(v int) uint16 { return uint16(v * 201) }),
	at(func(a *arena, i int) *any { return &a.cells[i%2].boxed }, func(v int) any {
		switch v % 4 {
		case 0:
			return nil
		case 1:
			return v
		case 2:
			return fmt.Sprint("boxed ", v)
		default:
			return [3]int{v, v, v}
		}
	}),
	at(func(a *arena, i int) *float64 { return &a.cells[i%2].float }, func(v int) float64 { return float64(v) / 3 }),
	at(func(a *arena, i int) *float32 { return &a.cells[i%2].f32 }, func(v int) float32 { return float32(v) / 3 }),
	at(func(a *arena, i int) **int { return &a.cells[i%2].next }, func(v int) *int { return numbers[v] }),
	at(func(a *arena, i int) **int { return &a.cells[i%2].pair[i/2%2] }, func(v int) *int { return numbers[v] }),
	at(func(a *arena, i int) *header { return &a.cells[i%2].slice }, func(v int) header { return header{numbers[v], v, -v} }),
	at(func(a *arena, i int) **int { return &a.cells[i%2].slice.data }, func(v int) *int { return numbers[v] }),
	at(func(a *arena, i int) *int { return &a.cells[i%2].slice.length }, func(v int) int { return 3 * v }),
	at(func(a *arena, i int) *int { return &a.cells[i%2].slice.limit }, func(v int) int { return 5 * v }),
	at(func(a *arena, i int) *[2]*int { return &a.cells[i%2].pair }, func(v int) [2]*int { return [2]*int{numbers[v], nil} }),
	// Parts as wholes: the model is the one to say what a value would be.
	{
		func(tx *stm.Tx, real, model *arena, i int) error {
			if stm.Load(tx, &real.cells[i%2]) != model.cells[i%2] {
				return fmt.Errorf("Load of cell %d is not as the model", i%2)
			}
			return nil
		},
		func(tx *stm.Tx, real, model *arena, i, v int) {
			model.cells[i%2] = model.cells[v%2]
			stm.Store(tx, &real.cells[i%2], model.cells[i%2])
		},
	},
	{
		func(tx *stm.Tx, real, model *arena, i int) error {
			if stm.Load(tx, &real.cells[i%2].inner) != model.cells[i%2].inner {
				return fmt.Errorf("Load of the inner struct of cell %d is not as the model", i%2)
			}
			return nil
		},
		func(tx *stm.Tx, real, model *arena, i, v int) {
			model.cells[i%2].inner = model.cells[v%2].inner
			stm.Store(tx, &real.cells[i%2].inner, model.cells[i%2].inner)
		},
	},
	{
		func(tx *stm.Tx, real, model *arena, i int) error {
			if stm.Load(tx, real) != *model {
				return errors.New("Load of everything is not as the model")
			}
			return nil
		},
		func(tx *stm.Tx, real, model *arena, i, v int) { stm.Store(tx, real, *model) },
	},
}

// Beyond the places, an instruction may be one of these.
const (
	endTransaction = iota
	failTransaction
	startFirst // of OrElse; the rest of the transaction is the second
	controls
)

// outside is a variable that is in no arena.
var outside int

var errFuzz = errors.New("asked for")

// A script is instructions of three bytes: what, where, and the value; a value below
// 100 stands for a load.
type script []byte

func (s *script) next() (what, where, value int, ok bool) {
	if len(*s) < 3 {
		return 0, 0, 0, false
	}
	i := *s
	*s = i[3:]
	return int(i[0]) % (len(places) + controls), int(i[1]), int(i[2]), true
}

// transaction follows the script to the transaction's end.
func (s *script) transaction(tx *stm.Tx, real, model *arena) error {
	for {
		what, where, value, ok := s.next()
		switch {
		case !ok:
			return nil
		case what < len(places) && value < 100:
			if err := places[what].load(tx, real, model, where); err != nil {
				return err
			}
		case what < len(places):
			places[what].store(tx, real, model, where, value)
		case what == len(places)+endTransaction:
			return nil
		case what == len(places)+failTransaction:
			return errFuzz
		case what == len(places)+startFirst:
			before := *model
			return stm.OrElse(tx,
				func(tx *stm.Tx) error {
					if err := s.transaction(tx, real, model); err != nil && !errors.Is(err, errFuzz) {
						return err
					}
					stm.Load(tx, &outside) // Retry wants something to wait for
					stm.Retry(tx)
					return nil
				},
				func(tx *stm.Tx) error {
					*model = before
					return s.transaction(tx, real, model)
				})
		default:
			panic("unknown instruction")
		}
	}
}

// follow runs a script to its end, and returns how many transactions it was.
func follow(t testing.TB, o stm.Options, s script) (n int) {
	guard := [8]byte{0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5, 0xa5}
	real, model := &arena{before: guard, after: guard}, &arena{before: guard, after: guard}
	for ; len(s) >= 3; n++ {
		before := *model
		err := o.Atomically(func(tx *stm.Tx) error { return s.transaction(tx, real, model) })
		if errors.Is(err, errFuzz) {
			*model = before
		} else if err != nil {
			t.Fatal(err)
		}
		if *real != *model {
			t.Fatalf("memory is\n%+v, want\n%+v", *real, *model)
		}
	}
	return n
}

func FuzzLogsAgainstMemory(f *testing.F) {
	f.Add(false, []byte("\x00\x05\xc8\x05\x01\xd0\x05\x02\x00\x00\x05\x00"))
	f.Add(true, []byte("\x1a\x00\xc9\x10\x00\xe0\x1f\x00\x00\x14\x01\xf0\x1d\x00\x00\x1b\x00\x00"))
	f.Fuzz(func(t *testing.T, lazy bool, s []byte) {
		o := stm.Options{Mode: stm.Eager}
		if lazy {
			o.Mode = stm.Timer
		}
		follow(t, o, s)
	})
}

func TestLogsAgainstMemory(t *testing.T) {
	for _, mode := range []stm.Mode{stm.Eager, stm.Timer, stm.Helper} { // a clone would follow the script, too
		seed := rand.Uint64()
		rnd := rand.New(rand.NewPCG(seed, 0))
		n := 0
		for range times(2000) {
			s := make(script, 300)
			for i := range s {
				s[i] = byte(rnd.Uint32())
			}
			n += follow(t, stm.Options{Mode: mode}, s)
		}
		t.Logf("mode %d, seed %d: %d transactions", mode, seed, n)
	}
}

// FuzzWriteSetAgainstMap has transactions with many addresses, near and far and at
// any stride, so that they collide in the write set's index, which grows, is used
// again by the next transaction, and is copied by OrElse.
func FuzzWriteSetAgainstMap(f *testing.F) {
	f.Add(uint64(1), uint16(10), uint16(1))
	f.Add(uint64(2), uint16(5000), uint16(512))
	f.Fuzz(addresses)
}

func addresses(t *testing.T, seed uint64, n, stride uint16) {
	rnd := rand.New(rand.NewPCG(seed, 0))
	memory := make([]uint64, 1<<15)
	model := map[int]uint64{}
	pick := func() int { return rnd.IntN(int(n)+1) * (int(stride) + 1) % len(memory) }
	for range 4 {
		size := rnd.IntN(int(n)%4000 + 1)
		err := stm.Atomically(func(tx *stm.Tx) error {
			work := func(tx *stm.Tx) error {
				for range size {
					i, v := pick(), rnd.Uint64()
					if v%3 != 0 {
						stm.Store(tx, &memory[i], v)
						model[i] = v
					}
					if j := pick(); stm.Load(tx, &memory[j]) != model[j] {
						return fmt.Errorf("word %d is %d, want %d", j, stm.Load(tx, &memory[j]), model[j])
					}
				}
				return nil
			}
			if err := work(tx); err != nil {
				return err
			}
			kept := make(map[int]uint64, len(model))
			for i, v := range model {
				kept[i] = v
			}
			return stm.OrElse(tx,
				func(tx *stm.Tx) error {
					if err := work(tx); err != nil {
						return err
					}
					stm.Load(tx, &outside)
					stm.Retry(tx)
					return nil
				},
				func(tx *stm.Tx) error {
					model = kept
					return work(tx)
				})
		})
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range memory {
			if v != model[i] {
				t.Fatalf("word %d is %d in memory, want %d", i, v, model[i])
			}
		}
	}
}

func TestWriteSetAgainstMap(t *testing.T) {
	for _, stride := range []uint16{0, 1, 7, 8, 63, 511, 512, 4095} {
		for _, n := range []uint16{1, 7, 8, 9, 10, 31, 32, 33, 64, 500, 3999} {
			addresses(t, rand.Uint64(), n, stride)
		}
	}
}
