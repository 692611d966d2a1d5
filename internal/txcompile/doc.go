// Package txcompile compiles transactions that are written as plain code. A program with
//
//	stm.Atomic(func() { x.n++; m[k] = v; p = p.next })
//
// is built, through an overlay, from a text in which the function accesses memory through its
// transaction:
//
//	stm.Compiled(func(tx *stm.Tx) {
//		stm.Add(tx, &x.n, 1)
//		compiled.In(tx, m).Set(k, v)
//		stm.Store(tx, &p, stm.Load(tx, &p.next))
//	})
//
// # Terms
//
// A region is code that runs in one transaction from beginning to end: the literal that is
// given to stm.Atomic, a clone, or a literal that any transaction may call. Literals that are
// called or deferred on the spot are a part of the region around them.
//
// A clone is a declared function once more, with the transaction as its first parameter. A
// function that may be called through a value or an interface is dual: it looks whether its
// goroutine runs a transaction, and goes on as the clone if so.
//
// A function whose types come out of it in interfaces is there once, so that they are the same
// for all, and runs in place.
//
// A deed is something that cannot be undone. In front of a statement with one, the
// transaction becomes irrevocable and works in place (see stm.Tx.Perform): all that it has
// written is in memory, and from there on any code means what it says. A form of statement
// that cannot be expressed through a transaction is treated like a deed.
//
// # What is shared
//
// Everything that a pointer, a slice or a map leads to is accessed through the transaction,
// and so are package variables that anything assigns to. A variable that the region declares
// is new in each attempt, and stays plain, unless a pointer to it can exist or a literal that
// outlives the region uses it and it changes: then it can also be accessed as what a pointer
// leads to, and both have to see the same. A variable from around stm.Atomic that no other goroutine can
// reach stays plain. One that the region assigns to is kept beside the transaction, and each
// attempt begins by putting it back; a large one, or one of a transaction with options, goes
// through the transaction.
//
// A log is for what can change. What cannot is told from the whole program:
//
//	type item struct {
//		key  string    // only literals set it: i.key
//		size int       // plain code assigns to it: stm.LoadWhole(tx, &i.size)
//		n    int       // transactions do: stm.Load(tx, &i.n)
//	}
//	i := &item{key: k}; i.n = 1; s.first = i     i.n is plain until s.first leads there, too
//	b.consider(i.size)                           consider touches b alone, and b is local: a plain call
//	fmt.Fprintf(&text, "%d", n)                  likewise, where text is a local strings.Builder
//
// Fields are told apart by their struct, elements of slices by their type. What reflection or
// code that is not here could assign to counts as assigned. Types without a name do not take
// part: two that look the same are one.
//
// # What is called
//
// Which functions a call through a value or an interface can call is what flows there (VTA, on
// go/ssa). They are compiled, and noted where their values are made. A call looks whether its
// function was noted, so that what the analysis has missed, such as a function that comes out
// of a library, is not wrong: the transaction works in place from there on. So it does where Go
// itself reads memory to call a method: through an interface that holds a pointer, if the method
// has a value for its receiver, or belongs to what an embedded pointer points to.
//
// # Constructs
//
//	x.a.b                  stm.Load(tx, &stm.Load(tx, &x.a).b)
//	*p = v                 stm.Store(tx, p, v)
//	x.n += 2               stm.Add(tx, &x.n, 2)
//	a.x, b.y = b.y, a.x    places, then values, then stores
//	s = append(s, v)       compiled.On(tx, s).Append(v): also within the capacity
//	m[k]                   compiled.In(tx, m).Get(k)
//	range s                for i1 := range s1 { v := stm.Load(tx, &s1[i1]); ... }
//	range m                range stm.MapAll(tx, m)
//	make([]T, n)           make([]T, compiled.Length(tx, n, size)): validated if n is large
//	for { ... }            for { tx.Check(); ... }: a doomed transaction ends here
//	f(x), t.m(x)           f_stm(tx, x), t.m_stm(tx, x)
//	v(x)                   compiled.Function(tx, v)(x): in place if v was not compiled
//	func(n int) { ... }    compiled.Value(func(n int) { ... }): noted
//	range f                range compiled.Iterate1(tx, f): the body of the loop is noted
//	i.m(x)                 compiled.Method[interface{ m_stmok() }, ...](tx, i).m(x), likewise; also if
//	                       the type of i is a type parameter
//	fmt.Errorf("%w", err)  fmt.Errorf("%w", compiled.Error[...](tx, err)): in place if its method was not compiled
//	fmt.Sprint(v)          fmt.Sprint(compiled.Text[...](tx, v)): likewise, or if v leads to memory
//	errors.Is(err, e)      errors.Is(compiled.Chain[...](tx, err), e): likewise, with Is and Unwrap
//	slices.Delete(s, 1, 2) compiled.Delete(tx, s, 1, 2)
//	heap.Push(&q, 1)       heap.Push(func() compiled.Methods { o := &q; ... }(), 1): the clones
//	recover()              compiled.Recover(tx, recover()): the end of an attempt passes
//	x.n -= x.take()        the call, and then x.n, as Go's compiler has it
//	return x.n, x.take()   tx.Perform(); ...: likewise (see order.go)
//	again: ... goto again  again: tx.Check(); ...: a loop like any other
//	c <- v, fmt.Println()  tx.Perform(); ...
//
// # How it works
//
// All packages of the program that are the user's own are read, and those of other modules,
// vendored or not, if transactions call functions of any (of Go 1.23 or later; not with tests).
// A plan is made first: from
// each call of stm.Atomic, what a transaction can come to is followed until nothing new is
// found. Then each file is written. Nothing is printed from syntax trees: a new text consists
// of pieces of the source with other texts between them, and line directives where those have
// more lines, so that panics and stack traces name the lines of the source.
//
//	listing      which packages are read
//	library      what is known of functions of the standard library
//	flow         what can be called, and come to, on go/ssa; functions that touch little
//	assigned     what calls may assign to, likewise
//	syntax       what can be told from a piece of source and its types alone
//	compile.go   from packages to an overlay for the go command
//	plan.go      what is cloned, and what is dual
//	facts.go     how variables are used, and which are shared
//	fields.go    which fields and elements can change
//	foreign.go   which of them code could assign to that is not here
//	kept.go      variables from around a transaction that it assigns to
//	fresh.go     variables that hold what was made for them
//	closed.go    calls of functions that touch nothing but what they are given
//	classify.go  what a call calls
//	effects.go   what cannot be undone, or not be expressed
//	order.go     what means what Go's compiler makes of the order of reads and calls
//	write.go     files, clones, dual functions
//	stmt.go      statements
//	assign.go    assignments
//	expr.go      expressions and places
//	methods.go   calls of packages sort and container/heap
//	call.go      calls, conversions, functions of the language
package txcompile
