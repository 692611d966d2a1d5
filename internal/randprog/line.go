package randprog

import (
	"fmt"
	"strings"
)

// lineUp writes a program whose goroutines wait in a line for a place in a channel, or for a
// value, and come out of it by each other's doing: what each of them received says in which order.
func (g *gen) lineUp() {
	goroutines := 1 + g.pick(g.o.Goroutines)
	g.line("func %s() string {", g.name)
	g.deep++
	g.line("line, side := make(chan int, %d), make(chan int, 1)", 1+g.pick(2))
	g.line("_ = side")
	var seen []string
	more, value := 0, 0 // values that are sent to the line, but not received
	for i := range goroutines {
		g.line("got%d, done%d := 0, make(chan struct{})", i, i)
		g.line("go func() {")
		g.line("\tgot := 0")
		g.deep++
		for range 1 + g.pick(g.o.Statements) {
			value++
			more += g.inLine(value)
		}
		g.deep--
		g.line("\tgot%d = got", i)
		g.line("\tclose(done%d)", i)
		g.line("}()")
	}
	g.line("got := 0")
	for range g.pick(g.o.Statements + 1) {
		value++
		if g.chance(2) {
			more += g.inLine(value)
		} else {
			more += g.besideLine(value)
		}
	}
	// Most are through with it then.
	for ; more > 0; more-- {
		g.line("got = 10*got + <-line")
	}
	for ; more < 0; more++ {
		value++
		g.line("line <- %d", value)
	}
	for i := range goroutines {
		g.line("<-done%d", i)
		seen = append(seen, fmt.Sprintf("got%d", i))
	}
	g.line("return show(got, len(line), len(side), %s)", strings.Join(seen, ", "))
	g.deep--
	g.line("}")
}

// inLine writes what a goroutine does in the line, and returns by how many values the line may
// have become longer.
func (g *gen) inLine(value int) int {
	switch g.pick(8) {
	case 0, 1, 2:
		g.line("line <- %d", value)
		return 1
	case 3, 4:
		g.line("got = 10*got + <-line")
		return -1
	case 5:
		g.line("select {")
		g.line("case line <- %d:", value)
		g.line("case side <- %d:", value)
		g.line("}")
		return 1
	case 6:
		g.line("select {")
		g.line("case v := <-line:")
		g.line("\tgot = 10*got + v")
		g.line("case v, ok := <-side:")
		g.line("\t_, got = ok, 10*got + v")
		g.line("}")
		return -1
	}
	g.line("side <- <-line")
	return -1
}

// besideLine writes what lets one out of the line while all others wait, and then a look at whether
// that one has left something to take, or a place. It returns by how many values the line may have
// become longer.
func (g *gen) besideLine(value int) int {
	g.line("time.Sleep(time.Hour)")
	more := -1
	if g.chance(2) {
		g.line("line <- %d", value)
		g.line("select {")
		g.line("case v := <-line:")
		g.line("\tgot = 10*got + v")
		more = 1
	} else {
		g.line("got = 10*got + <-line")
		g.line("select {")
		g.line("case line <- %d:", value)
	}
	g.line("default:")
	g.line("}")
	return more
}
