package randprog

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Options say what programs are wanted.
type Options struct {
	// RaceFree asks for programs without races.
	RaceFree bool
	// Blocking allows programs whose goroutines wait for ever: for locks that are taken twice,
	// in two orders or not released, for channels, a Cond, a WaitGroup. Some goroutines are
	// not waited for.
	Blocking bool
	// OpenOrder allows expressions whose order of evaluation the language leaves open.
	OpenOrder bool
	// Library allows calls of the standard library on what goroutines share.
	Library bool
	// Alone asks for programs of one goroutine.
	Alone bool
	// TimeAndChance has them sleep, for milliseconds, and draw random numbers.
	TimeAndChance bool
	// Line asks for goroutines that wait in a line for a channel, and nothing else.
	Line bool
	// Goroutines, Statements and Depth are the most there are: goroutines beside the first,
	// statements in each, and statements inside each other. 0 means 2, 3 and 2.
	Goroutines, Statements, Depth int
}

// A Program is the source of one, and what it was made from.
type Program struct {
	Name    string
	Options Options
	Draws   Draws
	Source  string // declarations, without a package clause and imports
}

// New makes the program of a seed.
func New(name string, seed uint64, o Options) Program {
	return generate(name, &source{rng: rand.New(rand.NewPCG(seed, 0x5eed))}, o)
}

// Again makes the program of a list of draws.
func Again(name string, d Draws, o Options) Program {
	return generate(name, &source{list: append(Draws(nil), d...)}, o)
}

// Cut returns a smaller program, of the same draws, and false if there is none. It has fewer
// goroutines first, then fewer statements: what it is made of stays as varied as it was. When
// nothing of that is left to take away, the second half of the draws become zeros, and what they
// stand for as simple as can be.
func (p Program) Cut() (smaller Program, ok bool) {
	o := p.Options
	drawn := len(p.Draws)
	for drawn > 0 && p.Draws[drawn-1] == 0 {
		drawn--
	}
	switch {
	case o.Goroutines != 1 && !o.Alone:
		o.Goroutines = 1
	case o.Statements != 1:
		o.Statements = 1
	case o.Depth != 1:
		o.Depth = 1
	default:
		return Again(p.Name, p.Draws[:drawn/2], o), drawn > 0
	}
	return Again(p.Name, p.Draws, o), true
}

// A variable is something that goroutines share.
type variable struct {
	text string // the expression that names it
	kind variableKind
	// guard is the index of the lock it belongs to, owner that of the goroutine; -1 for none.
	guard, owner int
	// object has methods for a number that is its field; pointer points to a number.
	object  methods
	pointer string
}

type variableKind uint8

const (
	number  variableKind = iota // an int
	atomicN                     // an atomic.Int64
	mapping                     // a map[int]int
	list                        // a []int
	record                      // a struct that is copied as a whole
	text                        // a string
	boxed                       // an any
	word                        // an int64 for the functions of package sync/atomic
	link                        // an atomic.Pointer
	once                        // a sync.Once
)

// values are the kinds that are more than a number.
var values = []variableKind{record, text, boxed, word, link}

// A gen makes one program.
type gen struct {
	*source
	o    Options
	name string
	b    strings.Builder
	deep int // of indentation

	vars  []variable
	locks []string
	rw    map[int]bool // of them, by index, those that can be taken for reading
	chans []string
	// closing says that the channel un is closed, once (closed), and not sent to: a send beside
	// a close is a race. unwaited says that there is a goroutine that is not waited for.
	closing, closed, unwaited bool
	// byChannel has the program wait for each goroutine by a channel that it closes, and not by
	// a WaitGroup, which has many more schedules.
	byChannel bool
	signal    signal

	me     int          // the goroutine that is being written
	held   map[int]bool // locks, by index
	reads  map[int]bool // of them, those held for reading alone
	locals int
	scope  []string // local ints that can be used here
	budget int      // statements that are left for this goroutine
	inLoop bool
	// inOnce says that the function of a sync.Once is being written. A Do in it waits for ever,
	// if not for itself then for another goroutine that does the same in the other order.
	inOnce bool

	// loaded says, for the expression that is being written and each call around it, that a
	// load of shared memory has been written already.
	loaded []bool
}

func generate(name string, s *source, o Options) Program {
	asked := o
	if o.Goroutines == 0 {
		o.Goroutines = 2
	}
	if o.Statements == 0 {
		o.Statements = 3
	}
	if o.Depth == 0 {
		o.Depth = 2
	}
	g := &gen{source: s, o: o, name: name, held: map[int]bool{}, reads: map[int]bool{}, rw: map[int]bool{}}
	if o.Line {
		g.lineUp()
	} else {
		g.program()
	}
	return Program{Name: name, Options: asked, Draws: s.list[:s.used:s.used], Source: g.b.String()}
}

func (g *gen) line(format string, args ...any) {
	g.b.WriteString(strings.Repeat("\t", g.deep))
	fmt.Fprintf(&g.b, format, args...)
	g.b.WriteByte('\n')
}

func (g *gen) program() {
	goroutines := 0
	if !g.o.Alone {
		goroutines = 1 + g.pick(g.o.Goroutines)
	}
	g.line("func %s() string {", g.name)
	g.deep++
	g.declare(goroutines)
	g.line("var wg sync.WaitGroup")
	g.byChannel = !g.o.Blocking && !g.chance(3)
	for i := 1; i <= goroutines; i++ {
		g.goroutine(i)
	}
	g.me = 0
	if g.o.Alone {
		g.body(1 + g.pick(g.o.Statements))
	} else {
		g.body(g.pick(2))
	}
	for i := 1; i <= goroutines && g.byChannel; i++ {
		g.line("<-d%d", i)
	}
	g.line("wg.Wait()")
	observed := g.observed()
	for i, expression := range observed { // one by one: a goroutine that is not waited for may still run
		seen := fmt.Sprintf("seen%d", i)
		g.line("%s := %s", seen, expression)
		observed[i] = seen
	}
	g.line("return show(%s)", strings.Join(observed, ", "))
	g.deep--
	g.line("}")
}

// declare writes the shared variables.
func (g *gen) declare(goroutines int) {
	for i := range 1 + g.pick(2) {
		g.locks = append(g.locks, fmt.Sprintf("mu%d", i))
		kind := "sync.Mutex"
		if g.chance(4) {
			kind = "sync.RWMutex"
			g.rw[i] = true
		}
		g.line("var mu%d %s", i, kind)
	}
	if g.chance(2) {
		g.line("ch := make(chan int, %d)", 1+g.pick(2))
		g.line("_ = ch")
		g.chans = append(g.chans, "ch")
		if g.chance(2) {
			g.line("ch2 := make(chan int, 1)")
			g.line("_ = ch2")
			g.chans = append(g.chans, "ch2")
		}
	}
	if g.o.Blocking {
		g.declareBlocking()
	}
	g.declareSignal()
	object := false
	for i := range 1 + g.pick(3) {
		v := variable{guard: -1, owner: -1}
		switch g.pick(13) {
		case 0, 1, 2:
			v.text = fmt.Sprintf("x%d", i)
			g.line("x%d := %d", i, g.pick(3))
		case 3:
			v.text = fmt.Sprintf("n%d", i)
			v.kind = atomicN
			g.line("var n%d atomic.Int64", i)
		case 4:
			v.text = fmt.Sprintf("arr%d[%d]", i, g.pick(2))
			g.line("var arr%d [2]int", i)
		case 5, 6:
			if !object {
				g.line("o := &outer{a: %d, next: &outer{}}", g.pick(3))
				g.line("_ = o")
				object = true
			}
			v.text = [...]string{"o.a", "o.b", "o.deep", "o.next.a"}[g.pick(4)]
			if g.known(v.text) {
				v.text = fmt.Sprintf("x%d", i)
				g.line("x%d := 0", i)
			}
			if v.text == "o.deep" {
				v.object = methods{"o", "set", "get", "(*inner)"}
			}
		case 7:
			v.text = fmt.Sprintf("m%d", i)
			v.kind = mapping
			g.line("m%d := map[int]int{1: %d}", i, g.pick(3))
		case 8:
			v.text = fmt.Sprintf("l%d", i)
			v.kind = list
			g.line("l%d := []int{%d, 0}", i, g.pick(3))
		default:
			v = g.declareValue(i)
		}
		g.belongs(&v, goroutines)
		g.vars = append(g.vars, v)
	}
	for _, l := range g.locks {
		g.line("_ = &%s", l)
	}
}

func (g *gen) known(text string) bool {
	for _, v := range g.vars {
		if v.text == text {
			return true
		}
	}
	return false
}

// belongs decides which goroutine may use a variable. Maps and slices are never raced for: what comes of
// that is not for the language to say.
func (g *gen) belongs(v *variable, goroutines int) {
	switch {
	case v.kind == atomicN, v.kind == word, v.kind == link, v.kind == once:
	case g.o.RaceFree || v.kind == mapping || v.kind == list || g.chance(3):
		if g.chance(4) {
			v.owner = min(1+g.pick(goroutines), goroutines)
		} else {
			v.guard = g.pick(len(g.locks))
		}
	}
}

// usable reports whether the goroutine that is being written may use a variable here.
func (g *gen) usable(v *variable, writes bool) bool {
	switch {
	case v.kind == once && g.inOnce && !g.o.Blocking:
		return false
	case v.owner >= 0:
		return v.owner == g.me || v.owner == giver && g.signal.taken && !g.signal.timer
	case v.guard >= 0:
		return g.held[v.guard] && !(writes && g.reads[v.guard])
	}
	return true
}

func (g *gen) goroutine(i int) {
	g.me = i
	end := "}()"
	switch {
	case g.byChannel:
		g.line("d%d := make(chan struct{})", i)
		g.line("go func() {")
		g.line("\tdefer close(d%d)", i)
	case g.o.Blocking && !g.o.RaceFree && g.chance(3):
		// One that is not waited for races with what the program returns.
		g.unwaited = true
		g.line("go func() {")
	default:
		g.line("wg.Go(func() {")
		end = "})"
	}
	g.deep++
	given := g.giveAtEnd()
	g.body(1 + g.pick(g.o.Statements))
	if i == giver && !given {
		g.give()
	}
	g.deep--
	g.line("%s", end)
}

// body writes the statements of a goroutine.
func (g *gen) body(n int) {
	g.budget = n + 2
	scope := g.scope
	if g.signal.kind != noSignal && g.me != giver && g.chance(2) {
		g.statement()
		g.waits(g.o.Depth)
	}
	for range n {
		g.stmt(g.o.Depth)
	}
	g.scope = scope
}

// observed is what the program returns: all variables, after everybody has ended. Maps and
// slices that may still be changed are left out.
func (g *gen) observed() []string {
	var all []string
	for _, v := range g.vars {
		if g.unwaited && (v.kind == mapping || v.kind == list) {
			g.line("_ = %s", v.text)
			continue
		}
		switch v.kind {
		case number:
			all = append(all, v.text)
		case atomicN:
			all = append(all, v.text+".Load()")
		case mapping:
			all = append(all, "len("+v.text+")", v.text+"[0]", v.text+"[1]")
		case list:
			all = append(all, "len("+v.text+")", v.text+"[0]")
		case record:
			all = append(all, v.text+".a", v.text+".b")
		case text, boxed:
			all = append(all, v.text)
		case word:
			all = append(all, "atomic.LoadInt64(&"+v.text+")")
		case link:
			all = append(all, "linked(&"+v.text+")")
		case once:
		}
	}
	if len(all) == 0 {
		return []string{"0"}
	}
	return all
}

// Mixed are options for the program of a seed among many: a third is free of races, in a
// quarter goroutines may wait for ever, a quarter calls the standard library, and a fifth
// sleeps and draws. One in thirteen has goroutines in a line. Most have one goroutine beside the first, and few statements, so that all of
// their schedules can be tried.
func Mixed(seed uint64) Options {
	if seed%13 == 6 {
		return Options{Line: true}
	}
	o := Options{RaceFree: seed%3 == 0, Blocking: seed%4 == 0, Library: seed%4 == 3, TimeAndChance: seed%5 == 0}
	if seed%8 != 0 {
		o.Statements = 2
	}
	if seed%7 > 1 || o.TimeAndChance {
		o.Goroutines = 1
	}
	return o
}
