package finding

import (
	"slices"
	"sync"
)

// DefaultLimit is the limit of a Log that sets none. A person reads the first
// few dozen findings; a thousand of them, stacks included, take a few megabytes.
const DefaultLimit = 1000

// A Log collects findings and groups their repeats. Its zero value is an empty
// log. It may be used by many goroutines at once.
type Log struct {
	// Limit is the number of distinct findings that are kept; 0 means
	// DefaultLimit. It must not change once the log is in use.
	Limit int

	mu       sync.Mutex
	findings []Finding  // in order of arrival
	index    map[ID]int // into findings
	dropped  uint64
}

// Add records f and returns the finding that it became part of, and whether
// it is the first of its identity. A finding with an empty History counts as
// seen once.
//
// The log copies what it keeps, so the caller may reuse the slices of f, and a
// repeat allocates nothing. When the log is full a finding of a new identity
// is counted in Dropped and returned as it came; it is not new, because
// a feed that announces new ones would announce it at every repeat.
func (l *Log) Add(f Finding) (grouped Finding, isNew bool) {
	if f.Count == 0 {
		f.Count = 1
	}
	id := f.ID()

	l.mu.Lock()
	defer l.mu.Unlock()
	if i, ok := l.index[id]; ok {
		l.findings[i].merge(f.History)
		return l.findings[i], false
	}
	limit := l.Limit
	if limit == 0 {
		limit = DefaultLimit
	}
	if len(l.findings) >= limit {
		l.dropped += f.Count
		return f, false
	}
	f.Accesses = slices.Clone(f.Accesses)
	for i := range f.Accesses {
		f.Accesses[i].Stack = slices.Clone(f.Accesses[i].Stack)
	}
	if l.index == nil {
		l.index = make(map[ID]int)
	}
	l.index[id] = len(l.findings)
	l.findings = append(l.findings, f)
	return f, true
}

// Findings returns what was found so far, in the order of first arrival: a
// later snapshot of the same log then only has higher counts and more at the
// end, which an order by frequency would not give. The caller must not modify
// the accesses, which the log shares.
func (l *Log) Findings() []Finding {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.findings)
}

// Dropped returns how many occurrences were not recorded because the log was
// full. A text of the findings must say so too when it is not zero.
func (l *Log) Dropped() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dropped
}
