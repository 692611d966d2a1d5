// Package prefix is a library with a mistake: the trie of figure 10 of the Isolator paper, as far
// as it matters. Remove takes the lock. Match, which looks at the same two fields, does not.
package prefix

import (
	"sync"
	"time"
)

// none is no node, and the value of no key.
const none = 0

// A Trie finds values by the prefixes of texts. Nodes are numbers of an array.
type Trie struct {
	mu   sync.Mutex // guards root and leaf
	root int        // the first node
	leaf int        // the value of the empty prefix, which every text has; there is one if there is a root
}

// Add sets the value of the empty prefix.
func (t *Trie) Add(value int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.root = 1
	t.leaf = value
}

// Remove takes the value away, and in between gives back the memory of nodes, which takes its
// time.
func (t *Trie) Remove(pace *Pace) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.leaf = none
	pace.Removing = true
	for range 20 {
		if !pace.Matched {
			time.Sleep(time.Millisecond)
		}
	}
	t.root = none
}

// A Pace makes sure that Match runs in the middle of Remove, unless it is kept out: the
// interleaving that the authors of the paper met once in a long run.
type Pace struct{ Removing, Matched bool }

// Len returns how many values there are.
func (t *Trie) Len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.root == none || t.leaf == none {
		return 0
	}
	return 1
}

// Match returns the value of the longest prefix of a text, and whether there is one. It reads
// root and leaf without the lock.
func (t *Trie) Match(string) (value int, ok bool) {
	if t.root == none {
		return none, false
	}
	return t.leaf, true
}
