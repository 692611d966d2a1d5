// Package sharing makes random programs that run alone, or in order, and reach the same memory in
// as many ways as the language has: for what must not change them, such as their protection.
//
//	sharing.go  programs, and packages of them
//	palette.go  what the programs of one package may use
//	stmt.go     their statements
//	handed.go   those that hand what they load to code that is not known
//	linked.go   those that use lists, and elements of slices and maps
//	bag.go      those that use the elements of slices in one object
//	within.go   objects with a lock that are within others
//	shelf.go    items on shelves: objects whose lock is in another object
//	shadow.go   names that mean something else for a while
//	crowd.go    goroutines that run side by side, or take turns
//	world.go    the objects that they share
package sharing

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/randprog"
)

// A Program is the source of one, and what it was made from.
type Program struct {
	Name    string
	Palette Palette // what it may use
	Draws   randprog.Draws
	Source  string
}

// New makes a program in which sections reach the same few objects in many ways: by
// pointers, slices, closures, interfaces, method values, embedded structs, generic
// functions, in lists, slices and maps, and by way of other goroutines, which take turns, are
// waited for, or run side by side and leave the same in whatever order. It is free of races,
// and shows what it leaves:
//
//	func P17(w *world, x, y *T, e, f *E, n int) int {
//		p := &x.n
//		x.mu.Lock()
//		x.n++
//		*p += 2
//		x.mu.Unlock()
//		return x.n
//	}
//
// It runs in worlds in which x and y are two objects, and in one in which they are the same.
func New(name string, seed uint64) Program {
	return generate(name, paletteOf(seed), randprog.NewSource(rand.New(rand.NewPCG(seed, 0x5a4e))))
}

// Again makes the program of a palette and a list of draws.
func Again(name string, p Palette, d randprog.Draws) Program {
	return generate(name, p, randprog.SourceOf(d))
}

// Files returns the files of a program that runs programs of [New], each package
// with those of one palette, and prints a line for each program and for each world, which begins
// with the program's number.
func Files(all []Program) map[string]string {
	files := make(map[string]string)
	var imports, runs strings.Builder
	for first := 0; first < len(all); {
		end := first + 1
		for end < len(all) && all[end].Palette == all[first].Palette {
			end++
		}
		name := fmt.Sprintf("p%d", first)
		files[name+"/"+World] = "package " + name + "\n\nimport (\n\t\"fmt\"\n\t\"runtime\"\n\t\"sync\"\n)\n" + all[first].Palette.declarations()
		files[name+"/programs.go"] = packageText(name, first, all[first:end])
		fmt.Fprintf(&imports, "\t%q\n", module+"/"+name)
		fmt.Fprintf(&runs, "\t%s.Run()\n", name)
		first = end
	}
	files["go.mod"] = "module " + module + "\n\ngo 1.26\n"
	files["main.go"] = "package main\n\nimport (\n" + imports.String() + ")\n\nfunc main() {\n" + runs.String() + "}\n"
	return files
}

const module = "example.com/p"

// World is the name of the file in each package that has no programs in it, but what
// they share.
const World = "world.go"

// packageText returns the text of a package with some programs, of which the first has a
// number.
func packageText(name string, first int, all []Program) string {
	var b strings.Builder
	b.WriteString("package " + name + "\n\nimport (\n\t\"encoding/binary\"\n\t\"fmt\"\n\t\"runtime\"\n\t\"slices\"\n\t\"sort\"\n\t\"strings\"\n\t\"sync\"\n)\n\n")
	b.WriteString("var _ = binary.LittleEndian\nvar _ = slices.Max[[]int]\nvar _ = strings.ToUpper\nvar _ = sort.Ints\nvar _ = runtime.Gosched\nvar _ sync.Mutex\n")
	for _, p := range all {
		b.WriteString("\n" + p.Source)
	}
	b.WriteString("\nvar programs = []func(w *world, x, y *T, e, f *E, n int) int{\n")
	for _, p := range all {
		b.WriteString("\t" + p.Name + ",\n")
	}
	fmt.Fprintf(&b, `}

func Run() {
	for i, p := range programs {
		i += %d
		for round := range 3 {
			w := newWorld(round, i%%7)
			result := w.try(p, i%%5)
			fmt.Println(i, round, result, w.show())
			w.end()
			again := newWorld(round, i%%3)
			again.try(p, 3)
			fmt.Println(i, round, again.show())
			again.end()
		}
	}
}
`, first)
	return b.String()
}

// A gen makes one program.
type gen struct {
	*randprog.Source
	palette Palette

	lines []string
	deep  int
	names int

	ints   []string          // local variables
	points []string          // pointers to int
	parts  []string          // pointers to S
	nodes  []string          // pointers to E
	target map[string]string // what pointers were made to point to
	slices []string          // []int
	bytes  []string          // []byte

	held     map[string]bool // locks
	deferred bool            // the release is deferred: the section may end anywhere
	loops    []string        // the labels of loops that can be left here
	budget   int
	nested   int
}

func generate(name string, p Palette, s *randprog.Source) Program {
	g := &gen{Source: s, palette: p, held: make(map[string]bool), target: make(map[string]string)}
	g.nodes = []string{"e", "f"}
	g.ints = []string{"n"}
	g.line("func %s(w *world, x, y *T, e, f *E, n int) int {", name)
	g.deep++
	if g.has(bags) {
		g.line("b := w.bag")
		g.line("_ = b")
	}
	for range g.Pick(3) {
		g.otherName()
	}
	for range 1 + g.Pick(2) {
		g.section()
		if g.has(crowds) && len(g.held) == 0 {
			g.together()
		}
	}
	g.line("return %s", g.value())
	g.deep--
	g.line("}")
	return Program{Name: name, Palette: p, Draws: s.Used(), Source: strings.Join(g.lines, "")}
}

func (g *gen) line(format string, args ...any) {
	g.lines = append(g.lines, strings.Repeat("\t", g.deep)+fmt.Sprintf(format, args...)+"\n")
}

// name makes up a local variable.
func (g *gen) name(prefix string) string {
	g.names++
	return fmt.Sprintf("%s%d", prefix, g.names)
}

// local declares a local variable with a value.
func (g *gen) local(value string) {
	i := g.name("i")
	g.line("%s := %s", i, value)
	g.line("_ = %s", i)
	g.ints = append(g.ints, i)
}

// scoped writes a block, at whose end its variables are forgotten.
func (g *gen) scoped(write func()) {
	ints, points, parts, nodes, slices, bytes := g.ints, g.points, g.parts, g.nodes, g.slices, g.bytes
	g.deep++
	g.nested++
	write()
	g.nested--
	g.deep--
	g.ints, g.points, g.parts, g.nodes, g.slices, g.bytes = ints, points, parts, nodes, slices, bytes
}

// scopedAlone writes a block of its own.
func (g *gen) scopedAlone(write func()) {
	g.line("{")
	g.scoped(write)
	g.line("}")
}

// otherName makes another name for something.
func (g *gen) otherName() {
	kinds := []Palette{addresses, parts, sliced, slicedBytes, 0, 0}
	kind := g.Pick(6)
	if !g.has(kinds[kind]) {
		kind = 4
	}
	switch kind {
	case 0:
		p, target := g.name("p"), g.addressable()
		g.line("%s := &%s", p, target)
		g.line("_ = %s", p)
		g.target[p] = target
		g.points = append(g.points, p)
		if g.Chance(2) {
			g.line("%s++", target)
			g.line("if %s == &%s {", p, target)
			g.scoped(func() { g.simpleStatement(target) })
			g.line("}")
		}
	case 1:
		q, target := g.name("q"), g.of("x.s", "y.s", "e.s", "global.s", "gs", "w.o.s")
		g.line("%s := &%s", q, target)
		g.line("_ = %s", q)
		g.target[q] = target
		g.parts = append(g.parts, q)
	case 2:
		l := g.name("l")
		g.line("%s := %s", l, g.of("x.array[:]", "x.list", "y.array[1:]", "garr[:]", "global.t[:2]", "x.marks[:]", "w.o.list"))
		g.line("_ = %s", l)
		g.slices = append(g.slices, l)
	case 3:
		b := g.name("b")
		g.line("%s := %s", b, g.of("x.bytes[:]", "x.view()", "y.bytes[2:6]"))
		g.line("_ = %s", b)
		g.bytes = append(g.bytes, b)
	case 4:
		g.local(g.value())
	case 5:
		e := g.name("e")
		g.line("%s := %s", e, g.of("x.e", "e.next", "f", "global.e"))
		g.line("if %s == nil { %s = f }", e, e)
		g.nodes = append(g.nodes, e)
	}
}

// A guardedBy is a way to hold a lock.
type guardedBy struct {
	lock, acquire, release string
	other                  bool // it is reached by a pointer, or taken by a method
}

var (
	objectLock   = guardedBy{"x.mu", "x.mu.Lock()", "x.mu.Unlock()", false}
	structLock   = guardedBy{"global.mu", "global.mu.Lock()", "global.mu.Unlock()", false}
	variableLock = guardedBy{"gmu", "gmu.Lock()", "gmu.Unlock()", false}
	writeLock    = guardedBy{"x.rw", "x.rw.Lock()", "x.rw.Unlock()", false}
	readLock     = guardedBy{"x.rw", "x.rw.RLock()", "x.rw.RUnlock()", false}
	listLock     = guardedBy{"lmu", "lmu.Lock()", "lmu.Unlock()", false}    // for programs that have the list
	bagLock      = guardedBy{"b.mu", "b.mu.Lock()", "b.mu.Unlock()", false} // and the bag
)

// locks are the ways to hold one, the usual ones several times.
var locks = []guardedBy{
	objectLock, objectLock, objectLock, objectLock, objectLock,
	structLock, variableLock, writeLock, readLock, listLock, listLock,
	{"w.o", "w.o.Lock()", "w.o.Unlock()", true},
	{"w.box.mu", "w.box.mu.Lock()", "w.box.mu.Unlock()", true},
	{"x.mu", "x.lock()", "x.unlock()", true},
}

// section writes a section, or one in another.
func (g *gen) section() {
	l := locks[g.Pick(len(locks))]
	if l.other && !g.has(otherLocks) || l == listLock && !g.has(linked) {
		l = objectLock
	}
	if g.held[l.lock] {
		g.simple()
		return
	}
	g.held[l.lock] = true
	loops := g.loops
	g.loops = nil // the lock would not be released
	if g.budget == 0 {
		g.budget = 4 + g.Pick(10)
	}
	switch form := g.Pick(6); {
	case form == 5 && g.nested == 0 && g.has(gotos):
		label, round := g.name("again"), g.name("r")
		g.line("%s := 0", round)
		g.line("%s:", label)
		g.line("%s", l.acquire)
		g.scopedAlone(g.body)
		g.line("%s", l.release)
		g.line("if %s++; %s < 3 { goto %s }", round, round, label)
	case form == 1 && g.nested == 0 && !g.deferred:
		g.deferred = true
		g.line("%s", l.acquire)
		g.deferRelease(l)
		g.body()
		return // the lock is held to the end
	case form == 4 && g.nested == 0:
		g.onOneWay(l)
	case form == 2 && l.lock == "x.mu" && g.has(functions):
		g.line("x.with(func() {")
		deferred := g.deferred
		g.deferred = false
		g.scoped(g.body)
		g.deferred = deferred
		g.line("})")
	case form == 3:
		g.line("for round := range 2 {")
		g.scoped(func() {
			g.line("n += round")
			g.line("%s", l.acquire)
			g.body()
			g.line("%s", l.release)
		})
		g.line("}")
	default:
		g.line("%s", l.acquire)
		g.body()
		g.line("%s", l.release)
	}
	g.loops = loops
	delete(g.held, l.lock)
}

// onOneWay writes a section to the end of a function, or of a function literal, on one of
// the ways through it: in a clause, after which the next may follow, or in a round of a loop.
func (g *gen) onOneWay(l guardedBy) {
	deferred, returns := g.deferred, !g.deferred && g.Chance(2)
	g.deferred = returns // a return would be that of the literal
	end := "return"
	if returns {
		end = "return " + g.value()
	} else {
		g.line("func() {")
	}
	write := func() {
		g.line("%s", l.acquire)
		g.deferRelease(l)
		g.body()
	}
	if form := g.Pick(3); form == 0 {
		g.line("%s", g.of("for range 3 {", "for range x.each {", "for n < 40 {"))
		g.line("if n++; n > %s {", g.value())
		g.scoped(func() {
			write()
			g.line("%s", end)
		})
		g.line("}")
	} else {
		g.line("switch {")
		g.line("case %s > 3:", g.value())
		g.scoped(func() {
			write()
			if form == 2 {
				g.line("%s", end)
				end = "n += 3"
			} else {
				g.line("fallthrough")
			}
		})
		g.line("case n%%2 == 0:")
		g.simple()
		g.line("%s", end)
	}
	g.line("}")
	if !returns {
		g.line("}()")
	}
	g.deferred = deferred
}

// deferRelease writes the deferred release of a lock, which may be in a function literal.
func (g *gen) deferRelease(l guardedBy) {
	if !g.Chance(3) {
		g.line("defer %s", l.release)
		return
	}
	deferred := g.deferred
	g.deferred = false // what panics would leave the lock held
	g.line("defer func() {")
	g.simple()
	g.line("%s", l.release)
	g.simple()
	g.line("}()")
	g.deferred = deferred
}

// body writes statements.
func (g *gen) body() {
	// Names that are declared here stay known, in the same block, after the section.
	for range 1 + g.Pick(5) {
		g.statement()
	}
}
