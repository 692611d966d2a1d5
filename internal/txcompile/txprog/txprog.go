// Package txprog generates random programs with transactions that are written as plain code,
// for tests and for the bench.
//
// A generated program judges itself in two ways. Run with "sequential", one goroutine runs
// all transactions one after the other, and prints what each returned and all data at the
// end: built with and without -stm, the output must be the same. Run with "concurrent",
// several goroutines run transactions on the same data, inside of one that takes a ticket as
// the last thing that it does. Then the same functions are run in the order of the tickets, on
// fresh data and plainly: each must return the same, and the data must be the same at the
// end. Otherwise there is no serial order that explains the run, or a doomed attempt has left
// something behind, and the program says where.
//
// A program has data of most kinds that Go has (runtime.go is its text), and functions of
// random statements over it (statement.go, expression.go). Loops are bounded, divisors are
// not zero, and what depends on the order of a map's entries does not matter.
//
//	txprog.go     programs and their transactions
//	runtime.go    the text that all programs have
//	statement.go  random statements
//	idioms.go     more of them: containers of containers, methods as values, errors, faults
//	library.go    calls of the standard library
//	packed.go     values that share words, and containers that call methods of parameters
//	expression.go random expressions
//	judge.go      building and comparing them
package txprog

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Generate returns the text of a main package with a number of random programs, the seeds of
// which begin with seed.
func Generate(seed uint64, programs int) string {
	var out strings.Builder
	out.WriteString(common + libraryText + packedText)
	var names []string
	for i := range programs {
		g := &generator{random: rand.New(rand.NewPCG(seed+uint64(i), 1)), name: fmt.Sprintf("p%d", i)}
		out.WriteString(g.program())
		names = append(names, fmt.Sprintf("\t{%d, []func(*state, int) int{%s}},", seed+uint64(i), strings.Join(g.transactions, ", ")))
	}
	fmt.Fprintf(&out, "\nvar programs = []program{\n%s\n}\n", strings.Join(names, "\n"))
	return out.String()
}

// A generator makes one program.
type generator struct {
	random       *rand.Rand
	name         string
	out          strings.Builder
	indent       int
	helpers      []string // functions that were made before, of a state and a number
	transactions []string
	deeds        bool // some statements cannot be undone

	// What the function that is being made has.
	locals   []string // numbers that can be assigned to
	readable []string // and others
	depth    int
	size     int // statements that it may still have
	names    int
	loops    int
}

func (g *generator) line(format string, args ...any) {
	g.out.WriteString(strings.Repeat("\t", g.indent) + fmt.Sprintf(format, args...) + "\n")
}

func (g *generator) pick(choices ...string) string { return choices[g.random.IntN(len(choices))] }

func (g *generator) fresh(word string) string {
	g.names++
	return fmt.Sprintf("%s%d", word, g.names)
}

// program makes helpers, each of which may call those before it, and transactions.
func (g *generator) program() string {
	g.deeds = g.random.IntN(3) == 0
	for i := range 3 + g.random.IntN(3) {
		name := fmt.Sprintf("%sHelper%d", g.name, i)
		g.begin(8)
		result := g.pick("(r int)", "int")
		g.line("func %s(s *state, a int) %s {", name, result)
		g.indent++
		if result == "(r int)" {
			g.locals = append(g.locals, "r")
			if g.random.IntN(2) == 0 {
				g.line("defer func() { if v := recover(); v != nil { r = v.(int) } }()")
			}
		}
		g.block()
		if g.random.IntN(6) == 0 {
			g.line("if %s > %s { panic(%s) }", g.number(), g.number(), g.number())
		}
		g.line("return %s", g.number())
		g.indent--
		g.line("}\n")
		g.helpers = append(g.helpers, name)
	}
	for i := range 3 {
		name := fmt.Sprintf("%sTransaction%d", g.name, i)
		g.begin(14)
		g.line("func %s(s *state, a int) (result int) {", name)
		g.indent++
		if g.random.IntN(2) == 0 {
			g.line("captured := a")
			g.declare("captured")
		}
		writes := g.random.IntN(3) == 0
		if writes {
			g.line("var around strings.Builder; around.WriteString(\"w\")")
		}
		g.line("stm.Atomic(func() {")
		g.indent++
		g.locals = append(g.locals, "result")
		if writes {
			g.line("fmt.Fprintf(&around, \"%%d-%%v\", %s, s.flag)", g.number())
		}
		g.block()
		if writes {
			g.line("around.WriteString(s.text); result += around.Len()")
		}
		g.line("result += %s", g.number())
		if g.random.IntN(8) == 0 {
			g.line("if result %% 7 == 3 { panic(result) }")
		}
		g.indent--
		g.line("})")
		if writes {
			g.line("result += len(around.String())")
		}
		g.line("return result")
		g.indent--
		g.line("}\n")
		g.transactions = append(g.transactions, name)
	}
	return g.out.String()
}

// begin begins a function with a number of statements.
func (g *generator) begin(size int) {
	g.locals, g.readable, g.depth, g.size, g.loops = nil, []string{"a"}, 0, size, 0
}
