package linearhash

import "math/rand/v2"

// A store is what a load works on: a [Table], or a [model] of it.
type store interface {
	Put(key string, value uint64) bool
	Get(key string) (value uint64, ok bool)
	Delete(key string) (value uint64, ok bool)
}

// A model is what a table is meant to be.
type model map[string]uint64

// Put does what [Table.Put] does.
func (m model) Put(key string, value uint64) bool {
	before := len(m)
	m[key] = value
	return len(m) > before
}

// Get does what [Table.Get] does.
func (m model) Get(key string) (value uint64, ok bool) {
	value, ok = m[key]
	return value, ok
}

// Delete does what [Table.Delete] does.
func (m model) Delete(key string) (value uint64, ok bool) {
	value, ok = m[key]
	delete(m, key)
	return value, ok
}

// A load is what one goroutine does to a store. The goroutines of a run have keys
// of their own, so that each sees the same whatever the others do, and so that
// what it must see is known. The keys of all are spread over all parts, where
// they meet.
type load struct {
	seed uint64
	ops  int // per phase
	keys []string
}

// The phases of a load, by what becomes of a hundred operations; the rest look
// keys up. A table fills, lives, and drains, so that it grows and shrinks.
var phases = [...]struct{ puts, deletes uint64 }{{60, 10}, {20, 20}, {10, 60}}

// A tally is what a load saw.
type tally struct {
	added, found, removed uint64
	sum                   uint64 // of the values found and removed
}

func (l *load) run(s store) tally {
	var t tally
	random := rand.NewPCG(l.seed, 0)
	for _, phase := range phases {
		for range l.ops {
			number := random.Uint64()
			key := l.keys[number%uint64(len(l.keys))]
			switch what := number >> 32 % 100; {
			case what < phase.puts:
				if s.Put(key, number) {
					t.added++
				}
			case what < phase.puts+phase.deletes:
				if value, ok := s.Delete(key); ok {
					t.removed++
					t.sum += value
				}
			default:
				if value, ok := s.Get(key); ok {
					t.found++
					t.sum += value
				}
			}
		}
	}
	return t
}

// newKeys returns different keys, as a server might look pages up by.
func newKeys(n int) []string {
	const syllables = "babedahedileminopurasitovewizuka"
	keys := make([]string, n)
	for i := range keys {
		key := []byte("/wiki/")
		// An odd factor takes different numbers to different numbers of 20 bits.
		for rest := uint32(i) * 0x9e3779b1 % (1 << 20); len(key) < len("/wiki/")+10; rest >>= 4 {
			key = append(key, syllables[rest%16*2:][:2]...)
		}
		keys[i] = string(append(key, ".html"...))
	}
	return keys
}
