package compiled

import (
	"maps"
	"runtime"
	"strings"
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
// Whether they were is told by the file that they are in: every function of a compiled file
// that is used as a value is like that. A method that is used as a value is behind a function
// that has no file, and is known by its name.
var compiledCode struct {
	mu      sync.Mutex // guards changes of all three
	files   map[string]bool
	methods map[string]bool
	known   atomic.Pointer[map[uintptr]bool] // functions by their code
}

// File says that the calling file was compiled, with the methods that it uses as values.
func File(methods ...string) bool {
	_, file, _, _ := runtime.Caller(1)
	c := &compiledCode
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.files == nil {
		c.files, c.methods = make(map[string]bool), make(map[string]bool)
	}
	c.files[file] = true
	for _, m := range methods {
		c.methods[m] = true
	}
	c.known.Store(nil)
	return true
}

// Function returns a function that is about to be called. If it was not compiled, the
// transaction works in place from here on.
func Function[F any](tx *stm.Tx, f F) F {
	code := *(**uintptr)(unsafe.Pointer(&f))
	if code == nil {
		return f // the call panics
	}
	if known := compiledCode.known.Load(); known != nil {
		if compiled, ok := (*known)[*code]; ok {
			if !compiled {
				tx.Perform()
			}
			return f
		}
	}
	if !isCompiled(*code) {
		tx.Perform()
	}
	return f
}

// isCompiled decides about a function for the first time.
func isCompiled(code uintptr) bool {
	c := &compiledCode
	c.mu.Lock()
	defer c.mu.Unlock()
	known := make(map[uintptr]bool)
	if old := c.known.Load(); old != nil {
		known = maps.Clone(*old)
	}
	f := runtime.FuncForPC(code)
	file, _ := f.FileLine(code)
	known[code] = c.files[file] || strings.HasSuffix(f.Name(), "-fm") && c.methods[f.Name()]
	c.known.Store(&known)
	return known[code]
}

// Method returns a receiver whose method is about to be called through an interface. M is an
// interface that types have whose method was compiled; if the receiver's has not, the
// transaction works in place from here on.
func Method[M, I any](tx *stm.Tx, receiver I) I {
	if _, compiled := any(receiver).(M); !compiled {
		tx.Perform()
	}
	return receiver
}
