package blocking

import (
	"sync"
	"testing"
)

// A table is read through two methods, one of which calls the other.
type table struct {
	mu   sync.RWMutex
	rows map[int]string
}

func (t *table) get(i int) string {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.rows[i]
}

func (t *table) both(i, j int) string {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.get(i) + t.get(j)
}

func (t *table) bothUnlocked(i, j int) string {
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.rows[i] + t.rows[j]
}

func (t *table) set(i int, row string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rows[i] = row
}

// want: deadlock, double lock
func TestBugReadLockTwice(t *testing.T) {
	tab := &table{rows: map[int]string{}}
	var wg sync.WaitGroup
	wg.Go(func() { tab.both(1, 2) })
	wg.Go(func() { tab.set(1, "a") })
	wg.Wait()
}

func TestFineReadLockTwice(t *testing.T) {
	tab := &table{rows: map[int]string{}}
	var wg sync.WaitGroup
	wg.Go(func() { tab.bothUnlocked(1, 2) })
	wg.Go(func() { tab.set(1, "a") })
	wg.Wait()
}

// want: partial deadlock, double lock
func TestBugUpgrade(t *testing.T) {
	tab := &table{rows: map[int]string{}}
	go func() {
		tab.mu.RLock()
		defer tab.mu.RUnlock()
		if tab.rows[1] == "" {
			tab.set(1, "made")
		}
	}()
}

func TestFineUpgrade(t *testing.T) {
	tab := &table{rows: map[int]string{}}
	go func() {
		tab.mu.RLock()
		missing := tab.rows[1] == ""
		tab.mu.RUnlock()
		if missing {
			tab.set(1, "made")
		}
	}()
}

// want: partial deadlock, missing unlock
func TestBugReaderDoesNotUnlock(t *testing.T) {
	tab := &table{rows: map[int]string{}}
	go func() { tab.mu.RLock(); _ = tab.rows[1] }()
	go tab.set(1, "a")
}

func TestFineReaderUnlocks(t *testing.T) {
	tab := &table{rows: map[int]string{}}
	go func() { tab.mu.RLock(); _ = tab.rows[1]; tab.mu.RUnlock() }()
	go tab.set(1, "a")
}

// want: deadlock, lock held over a wait
func TestBugReaderWaitsForWriter(t *testing.T) {
	tab := &table{rows: map[int]string{}}
	written := make(chan bool)
	go func() { tab.set(1, "a"); close(written) }()
	tab.mu.RLock()
	<-written
	tab.mu.RUnlock()
}

func TestFineReaderWaitsForWriter(t *testing.T) {
	tab := &table{rows: map[int]string{}}
	written := make(chan bool)
	go func() { tab.set(1, "a"); close(written) }()
	<-written
	tab.mu.RLock()
	_ = tab.rows[1]
	tab.mu.RUnlock()
}

// want: deadlock, lock order
func TestBugTwoTables(t *testing.T) {
	a, b := &table{rows: map[int]string{}}, &table{rows: map[int]string{}}
	copyRow := func(from, to *table) {
		from.mu.RLock()
		defer from.mu.RUnlock()
		to.mu.Lock()
		defer to.mu.Unlock()
		to.rows[1] = from.rows[1]
	}
	var wg sync.WaitGroup
	wg.Go(func() { copyRow(a, b) })
	wg.Go(func() { copyRow(b, a) })
	wg.Wait()
}

func TestFineTwoTables(t *testing.T) {
	a, b := &table{rows: map[int]string{}}, &table{rows: map[int]string{}}
	copyRow := func(from, to *table) { to.set(1, from.get(1)) }
	var wg sync.WaitGroup
	wg.Go(func() { copyRow(a, b) })
	wg.Go(func() { copyRow(b, a) })
	wg.Wait()
}
