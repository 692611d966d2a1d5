package tolerate

import (
	"cmp"
	"slices"
	"sort"
	"sync"
	"unsafe"
)

// A Section is a critical section over any lock, for code that was rewritten to use
// it, and for locks over many objects. Variables need not be known in advance: they
// are copied when they are first used.
//
//	s := tolerate.Enter(&a.mu)          // for a.mu.Lock()
//	*tolerate.Of(s, &a.balance) += 10   // for a.balance += 10
//	s.Leave()                           // for a.mu.Unlock()
//
// A Section belongs to one goroutine. After Leave or End neither it nor what [Of]
// returned may be used. Sections are reused: entering one allocates nothing.
type Section struct {
	lock sync.Locker
	*scope
	bit uint64
}

// A scope is all sections of one goroutine that overlap. They have their copies in
// common: a variable that two of the locks guard is copied at the first use and
// published at the end of the last section that used it.
type scope struct {
	first   Section // most scopes have only this one
	nested  []*Section
	open    uint64 // bits of the sections that have not ended
	n       int    // slots in use, with the holes among them
	holes   int
	slots   [8]slot
	further []*slot
	index   []*slot // by address, once there are many
	indexed bool
	races   []*race
}

// A slot is one variable in a scope. Small copies live in the slot; the collector
// has to know which words of them are pointers.
type slot struct {
	cell
	size     uintptr // 0: the slot is not in use
	holders  uint64  // bits of the sections that used the variable
	scalars  [2]uint64
	pointers [2]unsafe.Pointer
	headers  [2]sliceHeader // of strings too: they begin in the same way
	wide     *wideCopies
}

var scopes = sync.Pool{New: func() any { return new(scope) }}

// Enter locks l and begins a section. The lock is any: a sync.Mutex, a
// sync.RWMutex, or its RLocker.
func Enter(l sync.Locker) *Section {
	l.Lock()
	return Entered(l)
}

// Entered is [Enter] for a lock that is held already, as after TryLock.
func Entered(l sync.Locker) *Section {
	sc := scopes.Get().(*scope)
	sc.open = 1
	sc.first = Section{lock: l, scope: sc, bit: 1}
	return &sc.first
}

// Enter locks l and begins a section within s or overlapping it: the two may end in
// any order.
func (s *Section) Enter(l sync.Locker) *Section {
	l.Lock()
	return s.Entered(l)
}

// Entered is the method [Section.Enter] for a lock that is held already.
func (s *Section) Entered(l sync.Locker) *Section {
	bit := ^s.open & (s.open + 1) // the lowest that is free
	if bit == 0 {
		panic("tolerate: more than 64 sections overlap")
	}
	s.open |= bit
	for _, t := range s.nested {
		if t.bit == 0 {
			t.lock, t.bit = l, bit
			return t
		}
	}
	t := &Section{lock: l, scope: s.scope, bit: bit}
	s.nested = append(s.nested, t)
	return t
}

// Of returns the section's copy of the variable at p, or of the part of a variable
// that p points to. The first Of takes the copy.
//
// A variable that two locks guard is given to Of with each of the two sections, so
// that its copy lasts until both have ended. A variable that contains others that
// were given to Of before takes their place: they are published, and what Of
// returned for them is no longer the copy.
func Of[T any](s *Section, p *T) *T {
	if own := s.find(unsafe.Pointer(p), unsafe.Sizeof(*p)); own != nil {
		return (*T)(own)
	}
	return (*T)(s.take(unsafe.Pointer(p), &typeOf[T]().plain, touched))
}

// Set assigns to the section's copy of the variable at p. Use it for an assignment
// to the whole variable: a section that begins with Set does not depend on what was
// there, and then every race is tolerated; see [Var.Set].
func Set[T any](s *Section, p *T, value T) {
	if own := s.find(unsafe.Pointer(p), unsafe.Sizeof(*p)); own != nil {
		*(*T)(own) = value
		return
	}
	*(*T)(s.take(unsafe.Pointer(p), &typeOf[T]().plain, blind)) = value
}

// A Field is what is known of a kind of variable, such as a field of a struct: how it
// is called in findings, and how it is copied and resolved. The zero value is what
// [Of] does. It must not be copied or changed once it is in use.
//
//	var balance = tolerate.Field[int64]{Name: "Account.balance", Resolve: tolerate.Delta[int64]}
//
//	*balance.Of(s, &a.balance) += 10
type Field[T any] struct {
	Name    string
	Resolve Resolver[T]

	// Copy makes the section's copy, if assignment is not enough, and Equal says
	// whether two copies are the same: they are given together or not at all.
	Copy  func(T) T
	Equal func(a, b T) bool

	once sync.Once
	made *policy
}

// Of is the function [Of] for a variable of this kind.
func (f *Field[T]) Of(s *Section, p *T) *T {
	if own := s.find(unsafe.Pointer(p), unsafe.Sizeof(*p)); own != nil {
		return (*T)(own)
	}
	return (*T)(s.take(unsafe.Pointer(p), f.policy(), touched))
}

// Set is the function [Set] for a variable of this kind.
func (f *Field[T]) Set(s *Section, p *T, value T) {
	if own := s.find(unsafe.Pointer(p), unsafe.Sizeof(*p)); own != nil {
		*(*T)(own) = value
		return
	}
	*(*T)(s.take(unsafe.Pointer(p), f.policy(), blind)) = value
}

func (f *Field[T]) policy() *policy {
	f.once.Do(func() {
		if (f.Copy == nil) != (f.Equal == nil) {
			panic("tolerate: a Field needs both Copy and Equal, or neither")
		}
		f.made = &policy{typed: typeOf[T](), name: f.Name}
		if f.Resolve != nil {
			f.made.resolve = func(result, theirs, ours, before unsafe.Pointer) {
				*(*T)(result) = f.Resolve(*(*T)(theirs), *(*T)(ours), *(*T)(before))
			}
		}
		if f.Copy != nil {
			f.made.copy = func(to, from unsafe.Pointer) { *(*T)(to) = f.Copy(*(*T)(from)) }
			f.made.equal = func(a, b unsafe.Pointer) bool { return f.Equal(*(*T)(a), *(*T)(b)) }
		}
	})
	return f.made
}

// find returns the address of the copy of what is at p, or nil.
func (s *Section) find(p unsafe.Pointer, size uintptr) unsafe.Pointer {
	sc := s.scope
	if sc.n > len(sc.slots) {
		return s.search(p, size)
	}
	for i := range sc.n {
		e := &sc.slots[i]
		if offset := uintptr(p) - uintptr(e.shared); offset < e.size && offset+size <= e.size {
			e.holders |= s.bit
			return unsafe.Add(e.own, offset)
		}
	}
	return nil
}

// search is find for sections that use many variables.
func (s *Section) search(p unsafe.Pointer, size uintptr) unsafe.Pointer {
	i := s.position(p)
	if i == len(s.index) {
		return nil
	}
	e := s.index[i]
	if offset := uintptr(p) - uintptr(e.shared); offset < e.size && offset+size <= e.size {
		e.holders |= s.bit
		return unsafe.Add(e.own, offset)
	}
	return nil
}

// position returns where in the index the first variable is that ends after p. The
// variables do not overlap, so only that one can contain p.
func (sc *scope) position(p unsafe.Pointer) int {
	if !sc.indexed {
		sc.indexed = true
		for i := range sc.n {
			if e := sc.slot(i); e.size > 0 {
				sc.index = append(sc.index, e)
			}
		}
		slices.SortFunc(sc.index, func(a, b *slot) int {
			return cmp.Compare(uintptr(a.shared), uintptr(b.shared))
		})
	}
	return sort.Search(len(sc.index), func(i int) bool {
		e := sc.index[i]
		return uintptr(e.shared)+e.size > uintptr(p)
	})
}

func (sc *scope) slot(i int) *slot {
	if i < len(sc.slots) {
		return &sc.slots[i]
	}
	return sc.further[i-len(sc.slots)]
}

// take makes the copy of the variable at p that find did not find.
func (s *Section) take(p unsafe.Pointer, how *policy, st state) unsafe.Pointer {
	if s.bit == 0 {
		panic("tolerate: use of a section that has ended")
	}
	size := how.typed.size
	if size == 0 {
		return p
	}
	holders := s.bit | s.displace(p, size)
	e := s.vacant()
	e.holders, e.size = holders, size
	e.typed, e.policy, e.shared = how.typed, how, p
	e.room()
	e.cell.take()
	e.state = st
	if s.indexed {
		s.index = slices.Insert(s.index, s.position(p), e)
	}
	return e.own
}

// displace settles the variables that overlap with what is at p, and returns the
// sections that used them.
func (sc *scope) displace(p unsafe.Pointer, size uintptr) (holders uint64) {
	for i := range min(sc.n, len(sc.slots)) {
		holders |= sc.displaceOne(&sc.slots[i], p, size)
	}
	if sc.n <= len(sc.slots) {
		return holders
	}
	for i := sc.position(p); i < len(sc.index); i = sc.position(p) {
		if uintptr(sc.index[i].shared) >= uintptr(p)+size {
			break
		}
		holders |= sc.displaceOne(sc.index[i], p, size)
	}
	return holders
}

func (sc *scope) displaceOne(e *slot, p unsafe.Pointer, size uintptr) (holders uint64) {
	if uintptr(e.shared)-uintptr(p) < size || uintptr(p)-uintptr(e.shared) < e.size {
		holders = e.holders
		sc.settle(e)
	}
	return holders
}

// vacant returns a slot that is not in use. Slots do not move: there are pointers
// into them.
func (sc *scope) vacant() *slot {
	for i := 0; sc.holes > 0 && i < sc.n; i++ {
		if e := sc.slot(i); e.size == 0 {
			sc.holes--
			return e
		}
	}
	if sc.n == len(sc.slots)+len(sc.further) {
		sc.further = append(sc.further, new(slot))
	}
	sc.n++
	return sc.slot(sc.n - 1)
}

// room finds memory for the copies.
func (e *slot) room() {
	switch {
	case e.policy.copy != nil:
		e.own, e.before, e.origin = e.typed.make(), e.typed.make(), e.typed.make()
		return
	case e.size <= 8 && !e.typed.pointers:
		e.own, e.before = unsafe.Pointer(&e.scalars[0]), unsafe.Pointer(&e.scalars[1])
	case e.typed.only == pointer && e.size == unsafe.Sizeof(e.own):
		e.own, e.before = unsafe.Pointer(&e.pointers[0]), unsafe.Pointer(&e.pointers[1])
	case (e.typed.only == text || e.typed.only == slice) && e.size <= unsafe.Sizeof(e.headers[0]):
		e.own, e.before = unsafe.Pointer(&e.headers[0]), unsafe.Pointer(&e.headers[1])
	default:
		w, _ := e.typed.spare.Get().(*wideCopies)
		if w == nil {
			w = &wideCopies{e.typed.make(), e.typed.make()}
		}
		e.wide, e.own, e.before = w, w.own, w.before
	}
	e.origin = e.before
}

// settle publishes one variable and vacates its slot.
func (sc *scope) settle(e *slot) {
	if e.size == 0 {
		return
	}
	if r := e.cell.settle(); r != nil {
		sc.races = append(sc.races, r)
	}
	if e.wide != nil {
		e.typed.spare.Put(e.wide)
		e.wide = nil
	}
	e.shared, e.size, e.holders = nil, 0, 0
	sc.holes++
	sc.unindex()
}

// unindex has the index made anew when it is needed again.
func (sc *scope) unindex() {
	if sc.indexed {
		clear(sc.index)
		sc.index, sc.indexed = sc.index[:0], false
	}
}

// Publish publishes what the goroutine's sections have written so far, and has them
// take fresh copies from then on. It is for the moment before something that might
// reach the variables in another way: a call of unknown code, a goroutine that is
// started, a wait. What [Of] returned before is no longer the copy.
//
// Like Leave it panics if a resolver did, but with the lock held.
func (s *Section) Publish() {
	for i := range s.n {
		s.settle(s.slot(i))
	}
	s.n, s.holes = 0, 0
	s.tell()
}

// End ends the section without releasing the lock.
func (s *Section) End() {
	if races := s.finish(); races != nil {
		tell("", races)
	}
}

// Leave ends the section and releases the lock. It panics, with the lock released,
// if a resolver did.
func (s *Section) Leave() {
	l := s.lock
	races := s.finish()
	l.Unlock()
	if races != nil {
		tell("", races)
	}
}

// tell reports what was found since the last time.
func (sc *scope) tell() {
	if races := sc.races; races != nil {
		sc.races = nil
		tell("", races)
	}
}

// finish publishes what no other section of the scope uses.
func (s *Section) finish() []*race {
	if s.bit == 0 {
		panic("tolerate: the section has ended before")
	}
	sc := s.scope
	for i := range sc.n {
		e := sc.slot(i)
		if e.holders &^= s.bit; e.holders == 0 {
			sc.settle(e)
		}
	}
	sc.open &^= s.bit
	s.lock, s.bit = nil, 0
	races := sc.races
	sc.races = nil
	if sc.open == 0 {
		sc.n, sc.holes = 0, 0
		scopes.Put(sc)
	}
	return races
}
