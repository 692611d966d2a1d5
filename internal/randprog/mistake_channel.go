package randprog

import "strings"

// guardedSend: a send beside a close that has a flag, and mostly a lock for it.
func (g *mistakeGen) guardedSend() {
	lock := g.one("sync.Mutex", "sync.RWMutex")
	room := g.one("4", "1")
	result, yes, no := "", "", "return"
	switch g.pick(3) {
	case 1:
		result, yes, no = " bool", "\treturn true\n", "return false"
	case 2:
		result, yes, no = " error", "\treturn nil\n", "return errClosed"
	}
	send := g.one("\t<x>.<c> <- v\n", "\tselect {\n\tcase <x>.<c> <- v:\n\tdefault:\n\t}\n")
	checked := "\t<x>.<mu>.Lock()\n\tif <x>.<flag> {\n\t\t<x>.<mu>.Unlock()\n\t\t" + no + "\n\t}\n\t<x>.<mu>.Unlock()\n"
	body := g.one(checked+send+yes, "\t<x>.<mu>.Lock()\n\t<flag> := <x>.<flag>\n\t<x>.<mu>.Unlock()\n\tif <flag> {\n\t\t"+no+"\n\t}\n"+send+yes, send+yes)
	drain := g.one("", "\t\t<x>.<mu>.Lock()\n\t\t<x>.<n>++\n\t\t<x>.<mu>.Unlock()\n") // takes the lock that the send would hold
	close := g.one("\t<x>.<mu>.Lock()\n\tdefer <x>.<mu>.Unlock()\n\tif <x>.<flag> {\n\t\treturn\n\t}\n\t<x>.<flag> = true\n\tclose(<x>.<c>)\n",
		"\t<x>.<mu>.Lock()\n\tif !<x>.<flag> {\n\t\t<x>.<flag> = true\n\t\tclose(<x>.<c>)\n\t}\n\t<x>.<mu>.Unlock()\n")
	declared := "\t<mu>   " + lock + "\n"
	if g.chance(3) { // no lock at all; what receives looks at the flag, perhaps, and would need a new one
		drain = g.one("", "\t\tif !<x>.<flag> {\n\t\t\t<x>.<n>++\n\t\t}\n")
		declared, body, close = "", withoutLines(body, "<mu>"), withoutLines(close, "<mu>")
	}
	g.write(`
var errClosed = errors.New("closed")

type <T> struct {
` + declared + `	<flag> bool
	<n>    int
	<c>    chan int
	left   chan bool
}

func Open() *<T> {
	<x> := &<T>{<c>: make(chan int, ` + room + `), left: make(chan bool)}
	go <x>.drain()
	return <x>
}

func (<x> *<T>) drain() {
	for range <x>.<c> {
` + drain + `	}
	close(<x>.left)
}

func (<x> *<T>) <A>(v int)` + result + ` {
	WORK
` + body + `}

func (<x> *<T>) <C>() {
` + close + `}`)
	run := "\tt := Open()\n\tgone := make(chan bool)\n\tgo func() {\n\t\tt.<A>(1)\n\t\tclose(gone)\n\t}()\n\tt.<C>()\n\t<-gone\n\t<-t.left\n\treturn show(\"over\")\n"
	g.drive(run, "over")
	g.drive("\tt := Open()\n\tt.<C>()\n\tt.<C>()\n\tt.<A>(1)\n\t<-t.left\n\treturn show(\"over\")\n", "over")
	g.drive("\tt := Open()\n\tgone := make(chan bool, 2)\n\tfor range 2 {\n\t\tgo func() {\n\t\t\tt.<A>(1)\n\t\t\tgone <- true\n\t\t}()\n\t}\n\tt.<C>()\n\t<-gone\n\t<-gone\n\t<-t.left\n\treturn show(\"over\")\n", "over")
}

// withoutLines is a text without the lines that have a word.
func withoutLines(text, word string) string {
	var kept strings.Builder
	for line := range strings.Lines(text) {
		if !strings.Contains(line, word) {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

// selectDone: a goroutine waits for a channel, and not for what tells it to stop.
func (g *mistakeGen) selectDone() {
	if g.chance(2) {
		g.selectReceive()
		return
	}
	endless := g.chance(3)
	loop := "\tfor {\n\t\t<x>.<c> <- 7\n\t}\n"
	if !endless {
		loop = g.one("\tfor i := 0; i < 3; i++ {\n\t\t<x>.<c> <- i\n\t}\n", "\tfor _, v := range []int{5, 6} {\n\t\tif v > 9 {\n\t\t\tcontinue\n\t\t}\n\t\t<x>.<c> <- v\n\t}\n")
	}
	switch {
	case g.chance(2):
		g.pump("\tdefer close(<x>.over)\n"+loop, "\t<-t.<c>\n", "\t<-t.over\n")
	case !endless && g.chance(2):
		g.pump(loop+"\tclose(<x>.over)\n", "\t<-t.<c>\n", "\t<-t.over\n") // which a return in the loop would skip
	default:
		g.pump(loop, "\t<-t.<c>\n", "")
	}
}

// selectReceive is selectDone for a goroutine that receives.
func (g *mistakeGen) selectReceive() {
	loop := g.one("\tfor {\n\t\tv := <-<x>.<c>\n\t\t<x>.<n> += v\n\t}\n", "\tfor v := range <x>.<c> {\n\t\t<x>.<n> += v\n\t}\n", "\tfor {\n\t\tv := <-<x>.<c>\n\t\tif v < 0 {\n\t\t\tbreak\n\t\t}\n\t\t<x>.<n> += v\n\t}\n")
	if g.chance(2) {
		g.pump("\tdefer close(<x>.over)\n"+loop, "\tt.<c> <- 2\n", "\t<-t.over\n")
	} else {
		g.pump(loop, "\tt.<c> <- 2\n", "")
	}
}

// pump writes a type whose goroutine has a body, and drives it: some use, the call that stops
// it, and what follows that.
func (g *mistakeGen) pump(body, use, stopped string) {
	g.write(`
type <T> struct {
	<c>    chan int
	<quit> chan struct{}
	over   chan bool
	<n>    int
}

func New() *<T> {
	<x> := &<T>{<c>: make(chan int), <quit>: make(chan struct{}), over: make(chan bool)}
	go <x>.<D>()
	return <x>
}

func (<x> *<T>) <D>() {
` + body + `}

func (<x> *<T>) <C>() {
	WORK
	close(<x>.<quit>)
}`)
	g.drive("\tt := New()\n"+use+"\tt.<C>()\n"+stopped+"\treturn show(\"over\")\n", "over")
	g.drive("\tt := New()\n\tt.<C>()\n"+stopped+"\treturn show(\"over\")\n", "over")
}

// closeTwice: two goroutines, or two calls, close a channel.
func (g *mistakeGen) closeTwice() {
	body := g.one("\tclose(<x>.<c>)\n", "\tselect {\n\tcase <-<x>.<c>:\n\tdefault:\n\t\tclose(<x>.<c>)\n\t}\n", "\tif !<x>.<flag> {\n\t\tclose(<x>.<c>)\n\t}\n")
	parameter, argument := "", ""
	element := "int"
	if g.chance(3) {
		parameter, argument, element = "[E any]", "[E]", "E"
	}
	g.write(`
type <T>` + parameter + ` struct {
	<c>    chan ` + element + `
	<flag> bool
}

func New` + parameter + `() *<T>` + argument + ` { return &<T>` + argument + `{<c>: make(chan ` + element + `)} }

func (<x> *<T>` + argument + `) <C>() {
	WORK
` + body + `}
`)
	of := ""
	if parameter != "" {
		of = "[int]"
	}
	g.drive("\tt := New"+of+"()\n\tdone := make(chan bool)\n\tgo func() {\n\t\tt.<C>()\n\t\tdone <- true\n\t}()\n\tt.<C>()\n\t<-done\n\t_, open := <-t.<c>\n\treturn show(open)\n", "false")
	switch {
	case parameter != "":
	case g.chance(3): // it would have to be closed again
		g.write("func (<x> *<T>) reopen() { <x>.<c> = make(chan int) }")
	case g.chance(2):
		g.write("func (<x> *<T>) <D>() {\n\tclose(<x>.<c>)\n}")
		g.drive("\tt := New()\n\tdone := make(chan bool)\n\tgo func() {\n\t\tt.<D>()\n\t\tdone <- true\n\t}()\n\tt.<C>()\n\t<-done\n\t_, open := <-t.<c>\n\treturn show(open)\n", "false")
	}
}

// reply: a goroutine is left with an answer that nothing takes any more.
func (g *mistakeGen) reply() {
	start := g.one("\tgo func() { <c> <- f() }()\n", "\tgo func() {\n\t\tv := f()\n\t\t<c> <- v\n\t}()\n", "\tfor range 2 {\n\t\tgo func() { <c> <- f() }()\n\t}\n", "\tgo func() { <c> <- f() }()\n\tgo func() { <c> <- f() + 1 }()\n")
	g.write(`
func Ask(f func() int, stop chan bool) (int, bool) {
	<c> := make(chan int)
	WORK
` + start + `	select {
	case v := <-<c>:
		return v, true
	case <-stop:
		return 0, false
	}
}`)
	g.drive("\tstop := make(chan bool)\n\tgo func() { close(stop) }()\n\t_, ok := Ask(func() int { return 4 }, stop)\n\treturn show(ok)\n", "true", "false")
	g.drive("\t_, ok := Ask(func() int { return 4 }, nil)\n\treturn show(ok)\n", "true")
}
