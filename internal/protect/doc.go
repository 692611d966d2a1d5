// Package protect rewrites programs so that their critical sections have what the lock
// guards to themselves: on pages that nobody else can reach, or as private copies. It is
// the compiler of the Isolator paper (its sections 5.3 and 5.4), at source level and for
// Go. What becomes of a careless access that falls into a section is said by package
// isolate for pages, and by package tolerate, with the semantics of ToleRace, for copies.
//
// # Terms
//
// Which lock guards what comes from package guard. A section is found along the
// structure of a function, from Lock to Unlock (section.go). What one statement
// evaluates by itself is a part. A variable is a place that can be named for the whole
// section: x.f, where x is the object with the lock, or a global (place.go).
//
// # What a section becomes
//
//	x.mu.Lock()       x.mu.Lock(); v := x.n; b := v
//	x.n++             v++
//	f()               Put(&x.n, v, b); f(); v = x.n; b = v
//	x.mu.Unlock()     Put(&x.n, v, b); x.mu.Unlock()
//
// The copies are local variables, so that a section costs a few nanoseconds; put.go says
// what is written for Put. Where it depends on the way whether there are copies, a local
// variable says so. All is written into the lines that it belongs to: positions in
// panics and traces stay.
// Functions that are called in a section are cloned for it (clone.go). Objects other
// than the one with the lock have their copies in slots (slot.go).
//
// # Why a correct program means the same
//
// In a program without data races, nobody else touches what a goroutine touches between
// two operations that synchronise. So it may work on copies there, if they are taken
// after the one and published before the other, and if whatever it does in between uses
// the copies. A part is opaque if one of these does not hold, and then all is published
// before it, and it runs as it is:
//
//   - It synchronises: channels, go statements, releasing another lock, calls of code
//     that is not known to do none of it (effect.go). To acquire a lock is a reason only
//     if some code uses the variable without the section's lock: what it did before
//     the section got that other lock the section has to see.
//   - It may reach a variable in another way: through another object's name, a pointer
//     to its type if anybody takes its address (exposed.go), as part of a struct that
//     is used as a whole, in a function that cannot be cloned, by reflection.
//
// It does not matter for this whether a guard was inferred rightly: it decides what is
// protected, not what is correct.
//
// Two things are different. A section that ends by a panic, and not by a deferred
// Unlock, leaves the lock held as before, but what it has written since the last opaque
// part is lost with it. And function literals that follow a Lock in a function may have
// another number in stack traces.
//
// # What is left alone
//
// Sections that cannot be followed (a lock that is held on some ways only, that is taken
// here and released elsewhere, goto), variables that are reached by way of a pointer in
// another variable, large arrays, what must not be copied, files that use cgo. All of it is
// in the summary, with the reason (table.go).
//
// # Pages
//
// Data on pages is the same memory in two views, and a section differs from one with
// copies in that it enters a guard instead of taking copies, leaves it instead of
// publishing, and uses the own view instead of the copy: nothing can be lost or stale.
// Being in the guard delays everybody who uses the shared view, so a section is in it
// only where nobody can be waiting for it to let go: parts that are opaque find it left.
// They use the own view where they name the data themselves. What remains of the
// difference to the program as it is are delays. See isolate.go for what is put on pages
// and how it is declared.
//
// A section that ends by a panic, and not by a deferred Unlock, stays in the guard as it
// keeps the lock: whoever uses the data all the same waits the longest wait.
//
// # Modes
//
// Detect has no copies: a part that writes is opaque, and instead of publishing, the
// variable is compared with what the section saw last. Isolate has pages alone. Auto has
// them for what all sections can use in the own view, and copies for the rest: it is
// rewritten twice, and the first time shows what that is.
//
// Files: protect.go (packages), rewrite.go (sections), put.go (publishing), variable.go
// (what has a copy), slot.go, isolate.go, stays.go, reflected.go (what is on pages),
// pages.go (how it is used), section.go, place.go, exposed.go, effect.go, clone.go,
// program.go (main), table.go, build.go (the overlay). Packages watch and aside are
// linked by protected programs.
package protect
