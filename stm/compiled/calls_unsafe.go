package compiled

import (
	"reflect"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/cofferdam-go/cofferdam/stm"
)

func sizeOf[T any]() uint64 {
	var v T
	return uint64(unsafe.Sizeof(v))
}

// Functions that are called through a value find their transaction by themselves, if they
// were compiled:
//
//	func(n int) int { return x.n + n }
//	func(n int) int { if tx := stm.Current(); tx != nil { return stm.Load(tx, &x.n) + n }; return x.n + n }
//
// Whether they were is known by their code, which is noted where such a value is made. The
// table is read without a lock: nothing is ever taken out of it, and a larger one holds all
// that the smaller one did.
var noted struct {
	table atomic.Pointer[[]atomic.Uintptr]
	mu    sync.Mutex // guards n, and changes of table
	n     int
}

// codeOf is the code of a function, 0 of none.
func codeOf[F any](f F) uintptr {
	code := *(**uintptr)(unsafe.Pointer(&f))
	if code == nil {
		return 0
	}
	return *code
}

// isNoted reports whether a function finds its transaction by itself.
func isNoted(code uintptr) bool {
	table := noted.table.Load()
	if table == nil {
		return false
	}
	last := uintptr(len(*table) - 1)
	for i := code >> 4; ; i++ {
		switch (*table)[i&last].Load() {
		case code:
			return true
		case 0:
			return false
		}
	}
}

// note enters a function that is not in the table, which is never more than half full.
func note(code uintptr) {
	noted.mu.Lock()
	defer noted.mu.Unlock()
	if isNoted(code) {
		return
	}
	var table []atomic.Uintptr
	if p := noted.table.Load(); p != nil {
		table = *p
	}
	if 2*(noted.n+1) > len(table) {
		larger := make([]atomic.Uintptr, max(64, 2*len(table)))
		for i := range table {
			if code := table[i].Load(); code != 0 {
				enter(larger, code)
			}
		}
		table = larger
	}
	enter(table, code)
	noted.n++
	noted.table.Store(&table)
}

func enter(table []atomic.Uintptr, code uintptr) {
	last := uintptr(len(table) - 1)
	i := code >> 4
	for table[i&last].Load() != 0 {
		i++
	}
	table[i&last].Store(code)
}

// Value returns a function that finds its transaction by itself, and notes that it does.
func Value[F any](f F) F {
	if code := codeOf(f); code != 0 && !isNoted(code) {
		note(code)
	}
	return f
}

// Function returns a function that is about to be called. If it does not find its transaction
// by itself, the transaction works in place from here on.
func Function[F any](tx *stm.Tx, f F) F {
	if code := codeOf(f); code != 0 && !isNoted(code) {
		tx.Perform()
	}
	return f // if there is none, the call panics
}

// Iterate0 returns a function that a loop in a transaction ranges over. The function that it
// is called with is the body of the loop, which is compiled with what is around it.
func Iterate0(tx *stm.Tx, f func(yield func() bool)) func(yield func() bool) {
	return func(yield func() bool) { Function(tx, f)(Value(yield)) }
}

// Iterate1 is Iterate0 for loops with one variable.
func Iterate1[V any](tx *stm.Tx, f func(yield func(V) bool)) func(yield func(V) bool) {
	return func(yield func(V) bool) { Function(tx, f)(Value(yield)) }
}

// Iterate2 is Iterate0 for loops with two.
func Iterate2[K, V any](tx *stm.Tx, f func(yield func(K, V) bool)) func(yield func(K, V) bool) {
	return func(yield func(K, V) bool) { Function(tx, f)(Value(yield)) }
}

// Method returns a receiver whose method is about to be called through an interface. M is an
// interface that types have whose method was compiled and has a pointer for its receiver, and V
// one that they have if it has a value: of a pointer to that, Go reads the value before it calls
// the method, and not in the transaction. If neither holds, the transaction works in place from
// here on.
func Method[M, V, I any](tx *stm.Tx, receiver I) I {
	if _, compiled := any(receiver).(M); compiled {
		return receiver
	}
	if _, compiled := any(receiver).(V); !compiled || reflect.TypeOf(receiver).Kind() == reflect.Pointer {
		tx.Perform()
	}
	return receiver
}
