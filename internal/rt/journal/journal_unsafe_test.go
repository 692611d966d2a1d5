package journal

import (
	"bytes"
	"maps"
	"testing"
	"unsafe"
)

// A world is what the patched runtime would say.
type world struct {
	collections uint32
	fresh       uintptr // an address of what the run has allocated
}

func (w *world) old(addr uintptr) bool { return addr != w.fresh }
func (w *world) begun() uint32         { return w.collections }

// escaped keeps variables from the stack, which may move.
var escaped any

func keep[T any](j *Journal, p *T) {
	escaped = p
	j.Keep(uintptr(unsafe.Pointer(p)), unsafe.Sizeof(*p))
}

func TestUndoPutsBackWhatWasThere(t *testing.T) {
	var (
		w     world
		j     Journal
		word  = new(uint64)
		small = new([3]byte)
		odd   = new([21]byte)
		large = new([2 * wordwise]byte)
		table = map[string]int{"a": 1, "b": 2}
	)
	for run := range 3 {
		*word, small[1], odd[20], large[wordwise] = 7, 8, 9, 10
		j.Begin(w.old, w.begun, false)
		keep(&j, word)
		keep(&j, small)
		keep(&j, odd)
		keep(&j, large)
		KeepMap(&j, table)
		*word, *small, *odd, *large = 0, [3]byte{}, [21]byte{}, [2 * wordwise]byte{}
		keep(&j, word) // again: what was there first counts
		*word = 1
		table["c"], table["a"] = 3, 9
		delete(table, "b")
		if !j.On() || !j.Undo() {
			t.Fatalf("run %d could not be taken back", run)
		}
		if *word != 7 || small[1] != 8 || odd[20] != 9 || large[wordwise] != 10 || !maps.Equal(table, map[string]int{"a": 1, "b": 2}) {
			t.Errorf("run %d: %d %v %v %d %v", run, *word, *small, *odd, large[wordwise], table)
		}
	}
}

func TestUndoRefusesWhatMayHaveBeenFreed(t *testing.T) {
	var w world
	var j Journal
	word := new(uint64)
	j.Begin(w.old, w.begun, false)
	keep(&j, word)
	*word = 5
	w.collections++
	if j.Undo() || *word != 5 {
		t.Errorf("taken back after a collection: %d", *word)
	}
}

func TestNothingIsKeptWhereNothingCanBeTakenBack(t *testing.T) {
	var w world
	for name, begin := range map[string]func(j *Journal){
		"the runtime is not patched": func(j *Journal) { j.Begin(nil, nil, false) },
		"the last run":               func(j *Journal) { j.Begin(w.old, w.begun, true) },
		"the memory is C's":          func(j *Journal) { j.Begin(func(uintptr) bool { return false }, w.begun, false) },
	} {
		var j Journal
		memory := []byte{1, 2, 3, 4}
		escaped = memory
		begin(&j)
		j.Keep(uintptr(unsafe.Pointer(&memory[0])), uintptr(len(memory)))
		clear(memory)
		j.Undo()
		if !bytes.Equal(memory, make([]byte, 4)) {
			t.Errorf("%s: %v", name, memory)
		}
	}
}

func TestAJournalHasAnEnd(t *testing.T) {
	var w world
	var j Journal
	j.Begin(w.old, w.begun, false)
	large := make([]byte, maxBytes/2+1)
	for range 2 {
		j.Keep(uintptr(unsafe.Pointer(&large[0])), uintptr(len(large)))
	}
	if j.On() || j.Undo() {
		t.Error("more was kept than a journal holds")
	}
}

// TestWhatARunAllocatedIsLeftAsItIs: something that is not under control may refer to it.
func TestWhatARunAllocatedIsLeftAsItIs(t *testing.T) {
	word, table := new(uint64), map[string]int{}
	for _, addr := range []uintptr{uintptr(unsafe.Pointer(word)), *(*uintptr)(unsafe.Pointer(&table))} {
		w := world{fresh: addr}
		var j Journal
		j.Begin(w.old, w.begun, false)
		*word = 0
		clear(table)
		keep(&j, word)
		KeepMap(&j, table)
		*word, table["a"] = 1, 1
		if !j.Undo() || *word == 1 != (addr == uintptr(unsafe.Pointer(word))) || len(table) == 1 == (*word == 1) {
			t.Errorf("%d %v", *word, table)
		}
	}
}
