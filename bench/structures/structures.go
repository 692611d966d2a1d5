// Package structures holds the six data structures of the Isolator paper's
// microbenchmarks (its figures 8 and 9): heap, list, hash table, balanced tree,
// trie and stack. Each is written twice, side by side in one file: once for the
// Go heap with ordinary pointers, as a program has it today, and once for
// guarded memory with isolate.Ref in their place. The algorithms are the same.
//
// # Views
//
// The methods of a guarded structure are those of its root object. The root may
// be given in either view, and the walk from there stays in that view, because
// isolate.Follow does. So one piece of code serves careful use (the root through
// isolate.Own), careless use (the root as it is), and the fair baseline: the same
// memory with a sync.Mutex beside it.
//
// # Locks
//
// Like the library that the paper measured, a structure has its lock inside and
// is used by calling it; locked.go has the locks. A [Structure] is what the
// stress client sees. What is between the lock's Lock and Unlock is one call of
// a method, indirect in every variant alike.
//
// # Sizes
//
// What stands behind one lock is of the size that programs keep behind one lock:
// a few thousand entries at most, for a larger table is cut into several, each
// with a lock of its own (the paper's lkrhash is that). Queues and lists are
// shorter than tables. They fit the second-level cache, so that the cost of a
// lock is not hidden behind memory that is slow.
//
// # Files
//
// list.go, stack.go, heap.go, hash.go, trie.go and tree.go are the structures on the Go heap
// and in guarded memory; guarded_tree.go is the one of them that has so much more to do in
// guarded memory that it has a file of its own.
package structures

import "github.com/cofferdam-go/cofferdam/isolate"

// A Structure is a data structure with a lock inside. The heap and the stack do
// not look at the key of Read and Delete: they return the least and the newest
// entry.
type Structure interface {
	// Read returns the value at a key.
	Read(key uint64) (value uint64, ok bool)
	// Insert adds an entry. False: there was one with that key, and it has the
	// new value now; or there is no room.
	Insert(key, value uint64) bool
	// Delete removes an entry and returns its value.
	Delete(key uint64) (value uint64, ok bool)
}

// A Kind is one of the six structures.
type Kind struct {
	Name string
	// Size is the number of entries that it is filled with, and about which it
	// stays: keys are drawn from twice as many.
	Size int

	stock   func() Structure
	guarded func() (guarded, *isolate.Mutex)
}

// Kinds are the six, in the order of the paper's figure 8.
var Kinds = []Kind{
	// The timers of a server with a thousand connections.
	{"heap", 1024, func() Structure { return new(stockHeap) }, guard[heapRoot]},
	// A list that is searched from its head is kept short.
	{"list", 128, func() Structure { return new(stockList) }, guard[listRoot]},
	// A shard of a session cache.
	{"hash", 4096, func() Structure { return newStockHash() }, guard[hashRoot]},
	// An index that is kept in order.
	{"tree", 4096, func() Structure { return new(stockTree) }, guard[treeRoot]},
	// The cookies of a client: the paper's httpclient keeps them in a trie.
	{"trie", 1024, func() Structure { return new(stockTrie) }, guard[trieRoot]},
	// The transfers that wait: the paper's httpclient keeps them on a stack.
	{"stack", 1024, func() Structure { return new(stockStack) }, guard[stackRoot]},
}

// Keys is the number of keys that a stress client draws from.
func (k Kind) Keys() uint64 { return 2 * uint64(k.Size) }

// fresh allocates a T and returns it in the view of the root, together with the
// reference to it. The pointer that isolate.New returns is the shared one: a
// section that wrote through it would bypass its own guard.
func fresh[R, T any](g isolate.Guard, root *R) (*T, isolate.Ref[T]) {
	ref := isolate.RefTo(g, isolate.New[T](g))
	return isolate.Follow(root, ref), ref
}
