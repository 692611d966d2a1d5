package structures

import "github.com/cofferdam-go/cofferdam/isolate"

// The trie takes a key of 16 bits four bits at a time, highest first. A node
// without entry and children does not stay.

const trieDepth = 4

// nibble is the index of the child that leads from a node at depth d to a key.
func nibble(key uint64, d int) int { return int(key >> (4 * (trieDepth - 1 - d)) & 15) }

type stockTrie struct {
	root stockTrieNode
}

type stockTrieNode struct {
	value    uint64
	present  bool
	children uint8
	child    [16]*stockTrieNode
}

func (t *stockTrie) find(key uint64) *stockTrieNode {
	n := &t.root
	for d := 0; d < trieDepth && n != nil; d++ {
		n = n.child[nibble(key, d)]
	}
	return n
}

func (t *stockTrie) Read(key uint64) (uint64, bool) {
	if n := t.find(key); n != nil && n.present {
		return n.value, true
	}
	return 0, false
}

func (t *stockTrie) Insert(key, value uint64) bool {
	n := &t.root
	for d := range trieDepth {
		at := &n.child[nibble(key, d)]
		if *at == nil {
			*at = new(stockTrieNode)
			n.children++
		}
		n = *at
	}
	added := !n.present
	n.value, n.present = value, true
	return added
}

func (t *stockTrie) Delete(key uint64) (uint64, bool) {
	var path [trieDepth + 1]*stockTrieNode
	n := &t.root
	for d := range trieDepth {
		path[d] = n
		if n = n.child[nibble(key, d)]; n == nil {
			return 0, false
		}
	}
	path[trieDepth] = n
	if !n.present {
		return 0, false
	}
	value := n.value
	n.present = false
	for d := trieDepth; d > 0 && path[d].children == 0 && !path[d].present; d-- {
		path[d-1].child[nibble(key, d-1)] = nil
		path[d-1].children--
	}
	return value, true
}

type trieRoot struct {
	root trieNode
}

type trieNode struct {
	value    uint64
	present  bool
	children uint8
	child    [16]isolate.Ref[trieNode]
}

func (t *trieRoot) find(key uint64) *trieNode {
	n := &t.root
	for d := 0; d < trieDepth && n != nil; d++ {
		n = isolate.Follow(n, n.child[nibble(key, d)])
	}
	return n
}

func (t *trieRoot) read(key uint64) (uint64, bool) {
	if n := t.find(key); n != nil && n.present {
		return n.value, true
	}
	return 0, false
}

func (t *trieRoot) insert(g isolate.Guard, key, value uint64) bool {
	n := &t.root
	for d := range trieDepth {
		at := &n.child[nibble(key, d)]
		next := isolate.Follow(n, *at)
		if next == nil {
			next, *at = fresh[trieRoot, trieNode](g, t)
			n.children++
		}
		n = next
	}
	added := !n.present
	n.value, n.present = value, true
	return added
}

func (t *trieRoot) remove(g isolate.Guard, key uint64) (uint64, bool) {
	var path [trieDepth + 1]*trieNode
	n := &t.root
	for d := range trieDepth {
		path[d] = n
		if n = isolate.Follow(n, n.child[nibble(key, d)]); n == nil {
			return 0, false
		}
	}
	path[trieDepth] = n
	if !n.present {
		return 0, false
	}
	value := n.value
	n.present = false
	for d := trieDepth; d > 0 && path[d].children == 0 && !path[d].present; d-- {
		path[d-1].child[nibble(key, d-1)] = isolate.Ref[trieNode]{}
		path[d-1].children--
		isolate.Free(g, path[d])
	}
	return value, true
}
