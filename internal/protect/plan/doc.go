// Package plan decides how a program is protected, from what package facts knows of it and
// from the guards. A [Plan] is data: for each variable whether it has copies, lives on
// pages or is left alone, with the reason; for each section the steps before which it is
// interrupted, the expressions that use a copy, the calls that become calls of clones.
// Package write makes texts of it.
//
// # Terms
//
// A section is found along the structure of a function, from Lock to Unlock, by package
// outline. What one statement evaluates by itself is a step. The sections of one lock in a function whose
// copies can be declared together are a group. A variable is a place that can be named
// for the whole section: x.f, where x is the object with the lock, or a global.
//
// # What a section becomes
//
//	x.mu.Lock()       x.mu.Lock(); v := x.n; b := v
//	x.n++             v++
//	x.mu.Unlock()     Put(&x.n, v, b); x.mu.Unlock()
//
// The copies are local variables, so that a section costs a few nanoseconds.
//
// # Why a correct program means the same
//
// In a program without data races, no other goroutine touches what a goroutine touches
// between two operations that synchronise. So a section may work on copies there, if they
// are taken after the one and published before the other, and if whatever it does in
// between uses the copies. A step for which one of these does not hold is opaque: the
// section is interrupted for it. It publishes its copies before the step, the step runs as
// it is, and the section takes its copies anew afterwards. Each hazard is one of these:
//
// The step synchronises. It sends, receives, starts a goroutine, releases another lock,
// panics, or calls code that is not known to do none of it.
//
//	x.n++             v++
//	done <- x         if on { on = false; Put(&x.n, v, b) }; done <- x; if !on { on = true; v = x.n; b = v }
//	x.n++             v++
//
// The step takes another lock, and some code uses the variable without the section's
// lock: the section has to see what that code did before it released the other lock.
//
//	y.mu.Lock()       Put(&x.n, v, b); y.mu.Lock(); v = x.n; b = v
//
// The step reaches the variable other than by its name: it takes the variable's address,
// uses a pointer of its type where any code takes its address, uses its struct as a whole,
// or names it in an object that may be another one or the same. What a step reaches is what
// its instructions in SSA form reach, so this has all that the source does not write out:
// the copy for a method, the elements behind a slice.
//
//	f(&x.n)           Put(&x.n, v, b); f(&x.n); v = x.n; b = v
//	*p = 0            Put(&x.n, v, b); *p = 0; v = x.n; b = v
//	y := *x           Put(&x.n, v, b); y := *x; v = x.n; b = v
//	x.value()         the same, if the method has a copy of x
//	y.n++             the same, because y may be x
//	copy(x.a[:], s)   the same for x.a
//
// The step calls a function that uses the variable. The function is cloned: the clone
// has the address of the copy as a parameter. Where that is impossible, because the
// function has type parameters itself, is in another package, has a function literal or does not have
// the object from its caller, the step is opaque.
//
//	x.shift(2)                      x.clone(&v, 2)
//	func (x *T) shift(d int) {      func (x *T) clone(q *int, d int) {
//		x.n += d                        *q += d
//	}                               }
//
// What an opaque step loads before it runs anything is loaded from the copy, which is what has just been published:
//
//	log.Print(x.n)    Put(&x.n, v, b); log.Print(v); v = x.n; b = v
//
// The header of a loop is evaluated again after its body, so an opaque one finds all
// published at each continue and at the end of the body.
//
//	for <-more {      Put(...); for <-more { v = x.n; b = v;
//		x.n++                 v++
//	}                       Put(...) }; v = x.n; b = v
//
// A deferred release runs after whatever the function does, and after all calls that are
// deferred later, which run before it and must find all published.
//
//	defer x.mu.Unlock()     defer func() { Put(...); x.mu.Unlock() }()
//	defer f()               defer f(); defer func() { Put(...) }()
//
// A section may end by a panic that is recovered from elsewhere: what it has written by then
// must be found. A deferred release publishes anyway; otherwise a deferred call is added. In
// a loop that would be one for each round, so the step that may panic is opaque there.
//
//	x.mu.Lock()       x.mu.Lock(); on := true; v := x.n; b := v; defer func() { if on { Put(&x.n, v, b) } }()
//	x.n++             v++
//	x.list[i]++       x.list[i]++
//
// A variable is left as it is, for a whole group, where no step could be told apart: its
// root is assigned to, or the section of another lock that overlaps has a copy.
//
//	x = x.next        x.n is another variable from here on
//
// It may be assigned to before the sections, and behind them: see isSettled.
//
// Where a name means something else inside the section, a pointer is kept.
//
//	if x := f(); x != nil { <-c }      p := &x.n before; Put(p, v, b) in there
//
// A map has its entries copied before a step that changes them, if no other name for the
// map exists.
//
//	x.m[k] = 1        if n < 0 && SamePointer(v, b) { n, v = CloneMap(v) }; v[k] = 1
//
// Objects that a section finds on its way, such as entries of a guarded map, nodes of a
// list, or parameters, are known at run time alone. A section has a slot for each type of
// such objects, with the copy of one object's fields; before a statement it says which
// object that is. To use another object publishes the one before. If e is nil then so is
// the slot's pointer, and the statement panics as it would. An object of which a section
// uses each field once gets no slot: there is nothing between the first access and the
// last that careless code could spoil.
//
//	e := x.m[k]       e := v[k]
//	e.n--             if o != e { put(); if e != nil { o = e; s.n = e.n; c = &s } }; c.n--
//	x.mu.Unlock()     put(); x.mu.Unlock()
//
// A slot has one object at a time. To go on to another one is a gap, in Auto. Where a section uses several, and for elements of slices, entries of maps, and whatever else has
// its address only when it is used, there are batches, in Tolerate and Exact: see package batch.
//
//	x.list[i]++       if s.N > 7 { put() }; (*s.Of(&x.list[i]))++
//	e.n += d.n        if t.N > 6 { put() }; (*t.Of(&e.n)) += (*t.Of(&d.n))
//	x.mu.Unlock()     put(); x.mu.Unlock()
//
// Outside of sections one thing is written in another way: an addition without the lock to a
// variable that sections have copies of is made in one atomic step. In two, a load and a store,
// it would take away what a section has published between them.
//
//	x.n += 2          Add(&x.n, 2)
//
// It does not matter for any of this whether a guard was inferred rightly: a guard decides
// what is protected, not what is correct.
//
// One thing is different: function literals that follow a Lock in a function may have
// another number in stack traces.
//
// # Pages
//
// Data on pages is one memory in two views: the shared view can be protected, the own view
// never is. Its address is taken nowhere, because the kernel does not wait at protected pages. It
// has no pointers, because the garbage collector does not look at pages, or is one: see below.
//
// A variable of a package, or a field of one that is a struct without a name, is declared
// anew as two pointers, one for each view:
//
//	var n int       var p, o = aside.New[int](guard, "n", 0)
//	n++             (*o)++      in a section
//	n++             (*aside.View(guard, p, o))++      where the lock is not known to be held
//
// The fields of a type that has its lock in itself stay where they are, behind a wicket. Sections enter the
// guard and use the fields as the source does; all other code calls methods, which wait for the
// section. Nothing has to be known of the field's type, so in Isolate it may hold pointers.
//
//	type T struct {         type T struct { x wicket.Guard;
//		mu sync.Mutex           mu sync.Mutex
//		n  int                  n  int
//	}                       }
//	t.mu.Lock()             t.mu.Lock(); g := &t.x; g.Lock(1, 0)
//	t.n++                   t.n++
//	use(t.n)                use(t.load())       elsewhere
//	t.n = v                 t.store(v)
//	t.n += v                { k := t.target(); w := v; p := k.Begin(); *k.P += w; p.End() }
//
// The entries of a map that no other name exists for are isolated with it, if code outside of sections uses one at a time:
//
//	t.m[k] = v              t.put(k, v)
//	v, ok := t.m[k]         v, ok := t.find(k)
//
// The elements of a slice are isolated with it, if it has no other name but those that a section makes and uses: see package alias. Their
// uses outside of sections, and those of parts of arrays and structs, are calls that have the indices as parameters:
//
//	t.rows[i].n += v        t.part(i, v)
//	t.s = append(t.s, v)    t.part(v)
//
// That is possible if each use outside of sections is a load, a store or an update of one of these forms: facts.Refused.
// A load is a call then, and comes before calls that the source has behind it in the same statement, so none of
// these may write the field. A field without pointers that is used otherwise moves to a page of its own, for good:
//
//	for ; ; t.n++ {         for ; ; t.x.Get().View().n++ {
//	&T{n: 1}                &T{x: aside.Make(parts{n: 1})}
//
// A variable that is a pointer, map, channel or function is a cell, in Isolate alone. It is loaded and stored by calls:
//
//	var p *T        var c = aside.NewCell[*T](guard, "p", nil)
//	p.n++           c.LoadOwn().n++     in a section
//	p = q           c.Store(q)          where the lock is not known to be held
//	p, q = q, p     { k, w := c.Target(); w, q = q, c.Load(); k.Store(w) }
//
// What makes it safe that a page has a pointer on it is
// in package aside, and depends on nothing that is decided here: a guard that is inferred wrongly
// has the own view used by code that should have the other.
//
// Fields of nodes, objects that have not the lock themselves, stay where they are, too, in Isolate. A section leaves its ticket in
// each node that it uses, by its own expressions or by functions that it calls, and other code waits only for sections that
// have used the node. Which lock that is does not matter, so fields that sections find behind guarded data are
// companions of the data, if nothing else is known to guard them.
//
//	l.mu.Lock()          l.mu.Lock(); var s wicket.Section; s.Lock()
//	l.head.val++         l.head.c(&s).val++
//	l.mu.Unlock()        s.Leave(); l.mu.Unlock(); s.Wake()
//	n.val++              { k := n.a(); p := k.Begin(); *k.P++; p.End() }      elsewhere
//
// A correct program hands nodes from one goroutine to another. So for a step that may do that, the section is interrupted, and its nodes are
// stamped no more: it lets a goroutine go on, calls a function value, or gives a node to code that is not known.
//
// View is the own view for the goroutine that is in a section of the guard, and the shared view
// for all others. So a function that a section calls, in whatever way, finds the data as the
// section does: nothing has to be known of the function.
//
// The lock stays what it is. Each variable and field has a guard of its own, and a section
// enters the guard after it has the lock, for writing or for reading as it does the one or
// the other: a correct program may read what a section reads, and do as it likes with what
// the section does not use.
//
//	mu.Lock()         mu.Lock(); g.Lock()
//	n++               (*o)++
//	log(n)            g.Relent(); log(*o); g.Resume()
//	<-c               g.Unlock(); <-c; g.Resume()
//	mu.Unlock()       g.Leave(); mu.Unlock(); g.Wake()
//
// A section that is in the guard delays all code that uses the shared view. So it leaves
// the guard before a step that is known to wait for another goroutine, or to let one go on,
// and enters it again afterwards: these are its gaps. For any other opaque step, such as a call
// of a logger, of an interface's method or of a function value, it stays in the guard and
// relents: only if its goroutine really waits in there does other code pass. A section that
// only reads leaves the guard for each opaque step. An opaque step that names the data uses the
// own view, since the lock is held. Nothing can be lost or stale: what remains of the difference
// to the program as it is are delays. A section that ends by a panic, or with its goroutine, leaves
// the guard by a deferred call, even if the lock stays locked: see panics.go.
//
// # Modes
//
// Exact has copies as Tolerate has, and in addition the uses outside of sections tell what they do, so
// that a section knows the class of a race, and a write waits that would be in conflict with it: see
// package tolerate, and package use for how they are written. That is so for variables whose address is
// taken nowhere. Uses in sections of other locks leave only their values.
//
//	x.mu.Lock()       x.mu.Lock(); v := TakeExact(&x.n); b := v
//	x.n++             v++
//	x.mu.Unlock()     PutExact(&x.n, v, b); x.mu.Unlock()
//	return x.n        return Read(&x.n, false)       without the lock
//
// Detect has no copies: a step that writes is opaque, and instead of publishing, the
// variable is compared with what the section saw last. Isolate has pages alone. Auto has
// pages for what all sections can use in the own view, and copies for the rest. A section
// that uses data through the shared view has to open the page each time; so Auto decides
// with all candidates on pages, takes those that a section would use in that way off
// their pages, and decides again.
//
// # What is left alone
//
// Sections that cannot be followed (a lock that is held on some ways only, that is taken
// here and released elsewhere, a goto in a section), variables that are reached by way of a pointer in
// another variable, large arrays, what must not be copied, files that use cgo. All of it is
// in the table, with the reason.
//
// # Files
//
//	plan.go      what a plan consists of, and how it is made
//	unit.go      a package: its files, functions, and bodies with sections
//	given.go     functions that take locks which they are given
//	open.go      guarded data that code uses outside of sections, and which sections run that
//	decide.go    what becomes of each group, given what is on pages
//	resume.go    where sections go on after a step
//	early.go     what a step loads before the section is interrupted for it
//	panics.go    what a section that panics has to do before
//	choose.go    which variables have copies, and which steps are opaque
//	variable.go  variables, and which types can have copies
//	merge.go     how a careless change is merged with that of a section
//	addition.go  what is added without the lock
//	visit.go     what else is used without the lock, in Exact
//	slot.go      objects that a section finds on its way
//	moment.go    whether all that a section sees is of one moment
//	turn.go      where a slot goes on to another object
//	batch.go     elements, entries and fields of nodes that it finds there
//	clone.go     functions that are cloned
//	pages.go     what is on pages, and how sections use it
//	wicket.go    what stays in its object, behind a wicket
//	element.go   elements of slices and parts, behind a wicket
//	node.go      what is in objects that have not the lock
//	companion.go fields of such objects that no guard was inferred for
//	site.go      where else it is used
//	root.go      which object a lock is in
package plan
