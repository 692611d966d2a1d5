// Package aside is what a program links whose guarded data was put on pages that only
// the lock's holder can reach. The rewriter declares the variables of this package and
// writes the calls; protected programs have it as cofferdamrt/protect/aside.
//
// The locks stay those of the program. Beside each there is a [Guard]. A section enters it
// when it has the lock, and leaves it before it releases the lock and before each statement
// that another goroutine, which may be waiting for the data, has to finish.
//
//	mu.Lock()         mu.Lock(); guard.Lock()
//	n++               (*own)++
//	log(n)            guard.Relent(); log(*own); guard.Resume()
//	<-c               guard.Unlock(); <-c; guard.Resume()
//	mu.Unlock()       guard.Leave(); mu.Unlock(); guard.Wake()
//
// All other code, which may be called by the section or may be careless, has its view chosen
// when it runs.
//
//	n++               (*aside.View(guard, shared, own))++
//
// Fields of objects are here if not all of their uses can be written as calls. Otherwise they stay in their objects:
// package wicket has those. Their pages are kept when the object is garbage, because the collector does not
// see that a pointer leads to a page, and a use of the field may be under way; so there are at most so
// many, and later ones are on the heap.
//
//	t.n = <-c         t.x.Get().View().n = <-c
//
// # Pointers
//
// The collector does not look at pages. A word there that is a pointer is a [Cell]: beside the
// word it has entries on the Go heap, its mirror, and at every moment one of them is what the word
// holds. So the collector finds in the mirror whatever code can load from the page.
//
//	head = n          cell.Store(n)
//	use(head)         use(cell.Load())
//
// A store has an entry of its own:
//
//	entry = p         with a write barrier, as for any pointer on the heap
//	exchange word, p  as a number, in either view; in the shared view it may have to wait
//	the entry is done
//
// An entry that is not done stays. An entry that is done may be taken away as soon as the word,
// read through the own view, which never waits, is seen to differ from it: the word was changed
// after the entry's own store then, by another store, which has an entry of its own. Neither the
// lock nor a protected page is needed for that, and the order of stores does not matter. What
// looks right and is not is to keep what the word of a protected page holds, and nothing else: a
// store that waits at the page would have its entry taken away, and its pointer appears later.
//
// Every store takes away what is not needed any more once it is made. None can be left over: of an
// entry and the store that changed the word after it, each looks at the other when it is done.
// That matters, because an entry that is left over keeps alive an object, and all that the object
// leads to: for a cursor that goes through a queue, all of the queue that there ever was.
//
// A store in a section, which does not wait, has a pair of entries to itself, one of them for what
// the word holds; these cost three locked instructions. All other stores have entries in a list,
// under a lock that is not held while they wait.
//
// The word is exchanged as a number because the write barrier of a pointer reads what it
// overwrites: it would do so at a protected page, in code of the runtime that cannot be preempted.
// It is loaded as a pointer, by one instruction, before which the collector finds the pointer in
// the mirror, and after which it finds it in a register. RATIONALE.md has the argument,
// model_test.go a model of all interleavings of it, and stress_test.go real pages under a
// collector that runs all the time.
//
// # Files
//
//	aside_unsafe.go    guards, variables and fields without pointers
//	cell_unsafe.go     variables that are pointers
//	mirror_unsafe.go   the entries of a cell
package aside

import (
	"fmt"
	"log/slog"
	"reflect"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/cofferdam-go/cofferdam/internal/page"
	"github.com/cofferdam-go/cofferdam/internal/protect/watch"
	"github.com/cofferdam-go/cofferdam/isolate"
)

// A Guard has the pages of one lock.
type Guard = isolate.Foreign

func init() {
	isolate.AccessBy(reflect.TypeFor[mirror]().PkgPath())
	isolate.Configure(isolate.Config{Logger: slog.New(slog.DiscardHandler)})
	watch.Also(watch.Source{
		Findings: isolate.Findings,
		Configure: func(l *slog.Logger, record func(isolate.Finding)) {
			isolate.Configure(isolate.Config{Logger: l, Record: record})
		},
		Start:    func() { isolate.OnFinding(func(isolate.Finding) {}) },
		Weakness: weakness,
	})
}

// weakness says what is wrong with the pages of this process.
func weakness() string {
	s := isolate.CurrentStatus()
	if s.Backend == "none" {
		return "nothing is isolated that would be on pages: " + s.Reason
	}
	if why := refusal.Load(); why != nil {
		return "some data is not isolated: " + *why
	}
	return s.Weakness
}

// refusal is why some data is on the heap, and not on pages.
var refusal atomic.Pointer[string]

func refuse(why string) { refusal.CompareAndSwap(nil, &why) }

// nowhere is the guard of data on the heap. It has no pages.
var nowhere Guard

// NewGuard returns the guard of a lock, with what findings tell of the lock.
func NewGuard(lock, file string, line int) (g *Guard) {
	defer func() {
		if cause := recover(); cause != nil {
			refuse(fmt.Sprint(cause))
			g = &nowhere
		}
	}()
	g = new(Guard)
	g.Describe(lock, file, line)
	return g
}

// New returns the two views of a new variable: the shared one, and that of the holder of the
// lock. Findings call it by the name. If there is no memory for pages it is on the heap.
func New[T any](g *Guard, name string, value T) (shared, own *T) {
	defer func() {
		if cause := recover(); cause != nil {
			refuse(fmt.Sprint(cause))
			shared = &value
			own = shared
		}
	}()
	if g == &nowhere {
		return &value, &value
	}
	shared = isolate.New[T](g)
	isolate.NameAll(g, name) // which costs less than to name one, and there is no other
	own = ownView(shared)
	*own = value
	return shared, own
}

// View returns the holder's view to the goroutine that is in a section for writing, and the
// shared view to all others.
func View[T any](g *Guard, shared, own *T) *T {
	if g.Mine() {
		return own
	}
	return shared
}

// ownView is the holder's view of what a pointer to the shared view points to.
func ownView[T any](p *T) *T {
	return (*T)(unsafe.Add(unsafe.Pointer(p), page.OwnBit))
}

// A Parts is the type that the fields of a struct have which were put aside. It knows
// what findings tell of the struct and of its lock.
type Parts interface {
	CofferdamNames() (name, lock, file string, line int)
}

// An Object is a field of a struct that stands for the fields which were put aside.
type Object[T Parts] struct {
	pages unsafe.Pointer // *Pages[T]; not an atomic.Pointer, which Make could not return
}

// A Pages is where the fields are.
type Pages[T Parts] struct {
	*Guard
	Shared, Own *T
}

// View is [View] for the fields of an object.
func (p *Pages[T]) View() *T { return View(p.Guard, p.Shared, p.Own) }

// Get returns where the fields are. The first call puts them there.
func (o *Object[T]) Get() *Pages[T] {
	if p := (*Pages[T])(atomic.LoadPointer(&o.pages)); p != nil {
		return p
	}
	return o.make()
}

// making is held to give an object its pages.
var making sync.Mutex

// most is how many fields of objects have pages. That is 64 MiB.
const most = 16384

// made is how many fields have pages. It is guarded by making.
var made int

func (o *Object[T]) make() *Pages[T] {
	making.Lock()
	defer making.Unlock()
	if o.pages == nil {
		var zero T
		atomic.StorePointer(&o.pages, unsafe.Pointer(newPages(zero)))
	}
	return (*Pages[T])(o.pages)
}

// Make returns an object whose fields have values.
func Make[T Parts](value T) Object[T] {
	making.Lock()
	defer making.Unlock()
	return Object[T]{unsafe.Pointer(newPages(value))}
}

// newPages makes pages, or finds a place on the heap. The caller holds making.
func newPages[T Parts](value T) *Pages[T] {
	name, lock, file, line := value.CofferdamNames()
	g := &nowhere
	if made < most {
		made++
		g = NewGuard(lock, file, line)
	} else {
		refuse(fmt.Sprintf("there are more than %d fields of objects on pages", most))
	}
	shared, own := New(g, name, value)
	return &Pages[T]{g, shared, own}
}
