// Package linearhash is the application that the Isolator paper calls lkrhash: a
// hash table for many goroutines, built like the one of Larson, Krishnan and
// Reilly.
//
// # Terms
//
// A table is cut into parts by the upper bits of the hash; each part has its own
// lock and grows and shrinks on its own. A part is a linear hash table: its
// buckets are chains of entries, and it has one bucket more whenever it holds too
// many entries for its buckets, one less whenever it holds too few. A bucket is
// split when its turn comes, whether it is long or not, so that no operation ever
// moves more than one chain. Buckets come in segments, which a directory lists.
//
// Keys are short words (word.go). An entry has the hash of its key beside it, so
// that a search compares one number per entry, and a split computes nothing.
//
// The shape of a part (shape.go) says which buckets there are, and which is
// next. Entries, segments and the directory are on the Go heap (heap.go) or in
// guarded memory (guarded.go).
//
// # Invariants
//
// An entry is in the bucket that the shape gives for its hash, and a key occurs
// once. Segments exist for exactly the buckets that exist. A part has at least
// one segment and at most maxSegments; one that cannot grow any more has longer
// chains.
//
// load.go is what is done with a table, case.go makes the cases that are measured.
package linearhash

import (
	"errors"
	"fmt"

	"github.com/cofferdam-go/cofferdam/bench/measure"
)

// parts is the number of parts of a table, more than cores so that two
// goroutines seldom meet.
const (
	partBits = 3
	parts    = 1 << partBits
)

// A Table maps words to numbers. Any number of goroutines may use it.
type Table struct {
	parts [parts]part
}

// A part is a linear hash table with a lock inside.
type part interface {
	// put sets the value of a key and reports whether the key is new.
	put(hash uint64, key string, value uint64) bool
	get(hash uint64, key string) (value uint64, ok bool)
	// delete removes a key and returns the value it had.
	delete(hash uint64, key string) (value uint64, ok bool)
	// each visits all entries, by bucket, with the lock held, and returns the
	// shape. It stops when visit returns an error.
	each(visit func(s shape, bucket uint64, key string, value uint64) error) (shape, error)
	// free returns the memory of the part, which nobody uses any more.
	free() error
}

// New returns an empty table of a variant.
func New(v measure.Variant) *Table {
	t := new(Table)
	for i := range t.parts {
		if v == measure.Heap {
			t.parts[i] = newHeapPart()
		} else {
			t.parts[i] = newGuardedPart(v, i)
		}
	}
	return t
}

// Put sets the value of a key and reports whether the key is new. It panics if
// the key is longer than [MaxKey].
func (t *Table) Put(key string, value uint64) bool {
	if len(key) > MaxKey {
		panic(fmt.Sprintf("linearhash: the key %q is longer than %d bytes", key, MaxKey))
	}
	h := hash(key)
	return t.part(h).put(h, key, value)
}

// Get returns the value of a key.
func (t *Table) Get(key string) (value uint64, ok bool) {
	h := hash(key)
	return t.part(h).get(h, key)
}

// Delete removes a key and returns the value it had.
func (t *Table) Delete(key string) (value uint64, ok bool) {
	h := hash(key)
	return t.part(h).delete(h, key)
}

func (t *Table) part(hash uint64) part { return t.parts[hash>>(64-partBits)] }

// Content returns all keys with their values. It is an error if the table breaks
// its invariants.
func (t *Table) Content() (map[string]uint64, error) {
	all := map[string]uint64{}
	for i, p := range t.parts {
		before := len(all)
		s, err := p.each(func(s shape, bucket uint64, key string, value uint64) error {
			h := hash(key)
			if _, twice := all[key]; twice {
				return fmt.Errorf("linearhash: key %q is there twice", key)
			}
			if t.part(h) != p || s.bucket(h) != bucket {
				return fmt.Errorf("linearhash: key %q is in bucket %d of part %d, and should be in bucket %d of part %d",
					key, bucket, i, s.bucket(h), h>>(64-partBits))
			}
			all[key] = value
			return nil
		})
		if err != nil {
			return nil, err
		}
		if n := uint64(len(all) - before); n != s.entries {
			return nil, fmt.Errorf("linearhash: part %d counts %d entries and has %d", i, s.entries, n)
		}
	}
	return all, nil
}

// Close returns the memory of the table.
func (t *Table) Close() error {
	var failed error
	for _, p := range t.parts {
		failed = errors.Join(failed, p.free())
	}
	return failed
}
