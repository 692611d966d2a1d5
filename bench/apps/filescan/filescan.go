// Package filescan is the application that the Isolator paper calls pfscan: a
// parallel file scanner. It counts keywords in the files of a directory tree.
//
// A producer walks the tree and puts the name of each file into a bounded queue;
// workers take names out and scan the files. The queue is all that they share:
// a ring of records (queue.go) behind one lock with two condition variables, on
// the Go heap (heap.go) or in guarded memory (guarded.go). Guarded memory holds
// no strings, so a record has the bytes of the name in it, in both.
//
// The tree that is scanned is made on the spot (corpus.go) and is the same on
// every machine. What stands in it is counted while it is made, which is what
// every scan has to find.
//
// case.go makes the cases that are measured.
package filescan

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/cofferdam-go/cofferdam/bench/measure"
)

// Keywords are what is looked for.
var Keywords = [...]string{"malloc", "strcpy", "goto", "volatile", "FIXME"}

// Counts says how often each keyword occurs.
type Counts [len(Keywords)]int

// count adds the keywords of a text.
func (c *Counts) count(text []byte) {
	for i, k := range Keywords {
		c[i] += bytes.Count(text, []byte(k))
	}
}

func (c *Counts) add(other Counts) {
	for i, n := range other {
		c[i] += n
	}
}

// A Scanner scans trees with a number of workers. It is used once.
type Scanner struct {
	workers int
	queue   queue
}

// New returns a scanner whose queue is of a variant.
func New(v measure.Variant, workers int) *Scanner {
	return &Scanner{workers, newQueue(v)}
}

// Close returns the memory of the queue.
func (s *Scanner) Close() error { return s.queue.free() }

// Scan counts the keywords in all files under root.
func (s *Scanner) Scan(root string) (Counts, error) {
	found := make([]Counts, s.workers)
	failed := make([]error, s.workers+1)
	var workers sync.WaitGroup
	for i := range s.workers {
		workers.Go(func() { found[i], failed[i] = s.work(root) })
	}
	failed[s.workers] = s.produce(root)
	workers.Wait()
	var all Counts
	for _, c := range found {
		all.add(c)
	}
	return all, errors.Join(failed...)
}

// produce puts the files under root into the queue, by their names from root on.
func (s *Scanner) produce(root string) error {
	defer s.queue.close()
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if len(name) > maxName {
			return fmt.Errorf("scanning %s: names of more than %d bytes do not fit the queue", path, maxName)
		}
		s.queue.put(name)
		return nil
	})
}

// work scans what is in the queue. It takes names out to the end even if a file
// cannot be read, for the producer would wait for ever on a full queue.
func (s *Scanner) work(root string) (found Counts, failed error) {
	var text []byte
	for {
		name, ok := s.queue.take()
		if !ok {
			return found, failed
		}
		var err error
		if text, err = read(filepath.Join(root, name), text[:0]); err == nil {
			found.count(text)
		} else if failed == nil {
			failed = err
		}
	}
}

// read appends a file to a buffer, which the next file can use again.
func read(path string, into []byte) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return into, err
	}
	defer f.Close()
	b := bytes.NewBuffer(into)
	b.Grow(bytes.MinRead)
	_, err = io.Copy(b, f)
	return b.Bytes(), err
}
