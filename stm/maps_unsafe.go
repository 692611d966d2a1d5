package stm

import (
	"hash/maphash"
	"iter"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Maps of Go in transactions. A map is no words that could be logged and compared: it may be
// read by many at once, but by nobody while it is written. So the entries that a transaction
// writes are pending until its commit, which applies them under the lock of the map, and a
// read takes that lock for reading. What a transaction has read of a map is told by versions,
// which are words like any other: one for each key, shared by all keys with the same hash,
// and two for each map, of its keys and of everything in it. A commit changes the versions
// of what it applies, after it has applied it. What a transaction has taken out may be written
// plainly afterwards: see mapReaders.
//
// A transaction that works in place may run code that writes maps plainly. It holds the
// locks of all maps until it ends, and a transaction that has read a map is run again.

const (
	keyVersions = 1 << 12
	mapVersions = 1 << 8
)

var versions struct {
	key  [keyVersions]uint64
	keys [mapVersions]uint64 // which keys a map has
	all  [mapVersions]uint64 // that, and its values
}

var mapLocks [mapVersions / 4]struct {
	sync.RWMutex
	_ [40]byte // another cache line
}

// mapsAreShared says that the program has used these functions: a program that does not has no
// locks of maps to take.
var mapsAreShared atomic.Bool

// shareMaps makes mapsAreShared true, and waits for a transaction that may have found it
// false and work in place since.
func (tx *Tx) shareMaps() {
	if mapsAreShared.Swap(true) || tx.inPlace {
		return
	}
	for spins := 0; clock.Load()&1 != 0 && !tx.held; spins++ {
		pause(spins)
	}
}

// lockMaps keeps everybody from reading maps, for a transaction that works in place; the
// clock is odd.
func (tx *Tx) lockMaps() {
	if tx.mapsLocked = mapsAreShared.Load(); tx.mapsLocked {
		for i := range mapLocks {
			mapLocks[i].Lock()
		}
	}
}

func (tx *Tx) unlockMaps() {
	if tx.mapsLocked {
		tx.mapsLocked = false
		for i := range mapLocks {
			mapLocks[i].Unlock()
		}
	}
}

var mapSeed = maphash.MakeSeed()

// A mapID is the address of a map's header.
type mapID unsafe.Pointer

func idOf[K comparable, V any](m map[K]V) mapID { return *(*mapID)(unsafe.Pointer(&m)) }

func mapIndex(id mapID) uint64 { return hash(unsafe.Pointer(id)) >> 40 % mapVersions }

func lockOf(id mapID) *sync.RWMutex { return &mapLocks[mapIndex(id)%uint64(len(mapLocks))].RWMutex }

func keyVersion[K comparable](id mapID, k K) *uint64 {
	return &versions.key[(maphash.Comparable(mapSeed, k)^hash(unsafe.Pointer(id)))%keyVersions]
}

// bump changes a version. The clock is odd.
func bump(version *uint64) {
	storeWord(unsafe.Pointer(version), loadWord(unsafe.Pointer(version))+1)
}

// A pendingMap is what a transaction is going to write to a map.
type pendingMap interface {
	of(id mapID) bool
	commit()
	clone() pendingMap
}

// A mapLog is a pendingMap by its types.
type mapLog[K comparable, V any] struct {
	target  map[K]V
	entries map[K]mapEntry[V]
	cleared bool // all that is not among the entries goes
}

type mapEntry[V any] struct {
	value   V
	deleted bool
}

func (l *mapLog[K, V]) of(id mapID) bool { return idOf(l.target) == id }

func (l *mapLog[K, V]) clone() pendingMap {
	c := &mapLog[K, V]{l.target, make(map[K]mapEntry[V], len(l.entries)), l.cleared}
	for k, e := range l.entries {
		c.entries[k] = e
	}
	return c
}

func (l *mapLog[K, V]) commit() {
	mu := lockOf(idOf(l.target))
	mu.Lock()
	defer mu.Unlock()
	l.apply()
}

func (l *mapLog[K, V]) apply() {
	id := idOf(l.target)
	before := len(l.target)
	keysChange := l.cleared
	if l.cleared {
		for k := range l.target {
			bump(keyVersion(id, k))
		}
		clear(l.target)
	}
	for k, e := range l.entries {
		if e.deleted {
			delete(l.target, k)
		} else if n := len(l.target); true {
			l.target[k] = e.value
			keysChange = keysChange || len(l.target) != n
		}
	}
	for k := range l.entries {
		bump(keyVersion(id, k))
	}
	if keysChange || len(l.target) != before {
		bump(&versions.keys[mapIndex(id)])
	}
	bump(&versions.all[mapIndex(id)])
}

// pending returns what the transaction is going to write to a map, nil if nothing.
func pending[K comparable, V any](tx *Tx, id mapID) *mapLog[K, V] {
	for _, m := range tx.maps {
		if m.of(id) {
			return m.(*mapLog[K, V])
		}
	}
	return nil
}

func (tx *Tx) clonedMaps() []pendingMap {
	var all []pendingMap
	for _, m := range tx.maps {
		all = append(all, m.clone())
	}
	return all
}

// readMap calls read with the lock of the map held, at the time of the snapshot in an eager
// transaction. What read depends on has a version.
func readMap(tx *Tx, id mapID, version *uint64, read func()) {
	if tx.inPlace {
		read()
		return
	}
	if !mapsAreShared.Load() {
		tx.shareMaps()
	}
	tx.Observe()
	Load(tx, version)
	mu, readers := lockOf(id), &mapReaders[hash(unsafe.Pointer(tx))>>40%uint64(len(mapReaders))]
	for {
		mu.RLock()
		now := &readers.at[tx.snapshot>>1%epochs]
		now.Add(1)
		valid := tx.held || clock.Load() == tx.snapshot
		if valid {
			read()
		}
		now.Add(-1)
		mu.RUnlock()
		if valid && (!tx.eager || clock.Load() == tx.snapshot) {
			return
		}
		tx.extend()
	}
}

// mapReaders are the numbers of transactions that read a map now, by their snapshots. A transaction may make a map
// unreachable, and what comes after it write it plainly: then nobody may be reading it, doomed or
// not, because Go ends a process for that. So in all modes a map is read by transactions that are
// valid, and a commit is over when those are that were valid before. Those that begin after it
// are not waited for: there may always be some.
var mapReaders [16]struct {
	at [epochs]atomic.Int64
	_  [64 - 8*epochs]byte // another cache line
}

// epochs is how many values of the clock are told apart.
const epochs = 4

// awaitMapReaders waits, after a commit, until nobody reads a map who does not know of that.
func (tx *Tx) awaitMapReaders() {
	if !mapsAreShared.Load() {
		return
	}
	after := (tx.snapshot>>1 + 1) % epochs
	for i := range mapReaders {
		for epoch := range mapReaders[i].at {
			for spins := 0; uint64(epoch) != after && mapReaders[i].at[epoch].Load() != 0; spins++ {
				pause(spins)
			}
		}
	}
}

// MapLoad returns an entry of a map in the transaction, and whether there is one. The map
// itself is an ordinary one that, while it is shared, is accessed by these functions alone;
// the variable that holds it is read by [Load].
func MapLoad[K comparable, V any](tx *Tx, m map[K]V, k K) (v V, ok bool) {
	if m == nil {
		return m[k], false // a key that cannot be hashed panics
	}
	id := idOf(m)
	if len(tx.maps) != 0 {
		if log := pending[K, V](tx, id); log != nil {
			if e, found := log.entries[k]; found {
				return e.value, !e.deleted
			}
			if log.cleared {
				return v, false
			}
		}
	}
	readMap(tx, id, keyVersion(id, k), func() { v, ok = m[k] })
	return v, ok
}

// MapStore sets an entry of a map in the transaction.
func MapStore[K comparable, V any](tx *Tx, m map[K]V, k K, v V) {
	if m == nil {
		m[k] = v // panics
	}
	writeMap(tx, m, func(log *mapLog[K, V]) { log.entries[k] = mapEntry[V]{value: v} })
}

// MapDelete removes an entry of a map in the transaction.
func MapDelete[K comparable, V any](tx *Tx, m map[K]V, k K) {
	if m != nil {
		writeMap(tx, m, func(log *mapLog[K, V]) { log.entries[k] = mapEntry[V]{deleted: true} })
	}
}

// MapClear removes all entries of a map in the transaction.
func MapClear[K comparable, V any](tx *Tx, m map[K]V) {
	if m != nil {
		writeMap(tx, m, func(log *mapLog[K, V]) { clear(log.entries); log.cleared = true })
	}
}

// writeMap adds to what the transaction is going to write to a map.
func writeMap[K comparable, V any](tx *Tx, m map[K]V, add func(*mapLog[K, V])) {
	tx.Check()
	id := idOf(m)
	log := pending[K, V](tx, id)
	if log == nil {
		log = &mapLog[K, V]{target: m, entries: make(map[K]mapEntry[V])}
		if !tx.inPlace {
			tx.maps = append(tx.maps, log)
		}
	}
	add(log)
	if tx.inPlace {
		log.apply()
	} else if !mapsAreShared.Load() {
		tx.shareMaps()
	}
}

// MapLen returns the number of entries of a map in the transaction.
func MapLen[K comparable, V any](tx *Tx, m map[K]V) int {
	if m == nil {
		return 0
	}
	id, n := idOf(m), 0
	log := pending[K, V](tx, id)
	readMap(tx, id, &versions.keys[mapIndex(id)], func() {
		n = len(m)
		if log == nil {
			return
		}
		if log.cleared {
			n = 0
		}
		for k, e := range log.entries {
			_, there := m[k]
			there = there && !log.cleared
			switch {
			case there && e.deleted:
				n--
			case !there && !e.deleted:
				n++
			}
		}
	})
	return n
}

// MapAll returns the entries that a map has in the transaction, in no order. An entry that
// is removed meanwhile is left out, one that is added meanwhile may not come.
func MapAll[K comparable, V any](tx *Tx, m map[K]V) iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for _, e := range mapPairs(tx, m) {
			v, ok := e.value, true
			if e.key == e.key { // a key that is not a number is found by nobody
				v, ok = MapLoad(tx, m, e.key)
			}
			if ok && !yield(e.key, v) {
				return
			}
		}
	}
}

type mapPair[K comparable, V any] struct {
	key   K
	value V
}

func mapPairs[K comparable, V any](tx *Tx, m map[K]V) []mapPair[K, V] {
	if m == nil {
		return nil
	}
	id := idOf(m)
	log := pending[K, V](tx, id)
	var pairs []mapPair[K, V]
	readMap(tx, id, &versions.all[mapIndex(id)], func() {
		pairs = pairs[:0]
		if log != nil {
			for k, e := range log.entries {
				if !e.deleted {
					pairs = append(pairs, mapPair[K, V]{k, e.value})
				}
			}
			if log.cleared {
				return
			}
		}
		for k, v := range m {
			if log != nil {
				if _, ok := log.entries[k]; ok {
					continue
				}
			}
			pairs = append(pairs, mapPair[K, V]{k, v})
		}
	})
	return pairs
}
