// Package container is the data structures that the STAMP programs share: a sorted
// linked list, a hash table, a balanced tree and a queue.
//
// Each is one type with two sets of methods over the same nodes:
//
//	tree.go      Find(key)         plain loads and stores
//	tree_tx.go   FindTx(tx, key)   the same through stm.Load and stm.Store
//
// The two files side by side show everything that stm asks of a data structure. A structure may be built with the plain methods, shared with the Tx
// methods, and looked at with the plain ones again when the goroutines are done, as
// transactions need nothing of memory that it does not have anyway.
//
// # What is transactional
//
// Links, lengths and balances are, as they change while others read them. Keys and
// values are set when a node is made, before a transaction publishes it, and never
// again: the Tx methods read them with plain loads. So a search has one word in its
// read set for each node that it passes, and keys may be strings at no cost. A value
// that has to change is a pointer to something with transactional fields.
//
// # Files
//
//	list.go   list_tx.go    a sorted linked list
//	map.go    map_tx.go     a hash table
//	tree.go   tree_tx.go    a balanced tree
//	queue.go  queue_tx.go   a queue
package container
