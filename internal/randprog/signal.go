package randprog

import "fmt"

// A signal is something that one goroutine, the giver, brings about when it has done the rest,
// and that others wait for: by blocking, or by looking again and again. What belongs to the
// giver belongs to one of the others, the taker, after it has waited:
//
//	flag := new(atomic.Bool)
//	go func() { x++; flag.Store(true) }()
//	for !flag.Load() {
//		runtime.Gosched()
//	}
//	x++
type signal struct {
	kind signalKind
	// timer has a timer give it, and not the goroutine itself.
	timer bool
	// taken says that the goroutine that is being written has waited, and is the taker.
	taken bool
}

type signalKind uint8

const (
	noSignal signalKind = iota
	flagged             // an atomic variable
	closed              // a channel that is closed
	guarded             // a variable that a lock guards
	notified            // the same, with a sync.Cond
	counted             // a sync.WaitGroup
	canceled            // a context.Context
	signalKinds
)

// giver is the goroutine that gives the signal, and taker the one that may use what was the
// giver's: the program itself, which has the fewest statements of its own.
const giver, taker = 1, 0

// declareSignal writes what the signal is made of.
func (g *gen) declareSignal() {
	if g.o.Alone || g.chance(2) {
		return
	}
	g.signal.kind = 1 + signalKind(g.pick(int(signalKinds)-1))
	g.signal.timer = g.o.TimeAndChance && g.chance(2)
	switch g.signal.kind {
	case noSignal, signalKinds:
		panic("randprog: no signal")
	case flagged:
		g.line("flag := new(atomic.Bool)")
	case closed:
		g.line("sig := make(chan struct{})")
	case guarded, notified:
		g.line("var ready sync.Mutex")
		g.line("is := false")
		g.line("_ = is")
		if g.signal.kind == notified {
			g.line("now := sync.NewCond(&ready)")
		}
	case counted:
		g.line("var begun sync.WaitGroup")
		g.line("begun.Add(1)")
	case canceled:
		g.line("ctx, cancel := context.WithCancel(context.Background())")
		g.line("_, _ = ctx, cancel")
	}
}

// giveAtEnd writes a deferred call that gives the signal, whichever way the goroutine ends, and
// reports whether it has: otherwise it is given after its last statement.
func (g *gen) giveAtEnd() bool {
	if g.signal.kind == noSignal || g.me != giver || !g.chance(3) {
		return false
	}
	g.line("defer func() {")
	g.deep++
	g.give()
	g.deep--
	g.line("}()")
	return true
}

// give writes what gives the signal.
func (g *gen) give() {
	if g.signal.timer {
		g.line("time.AfterFunc(%d*time.Millisecond, func() {", 1+g.pick(3))
		g.deep++
		defer func() { g.deep--; g.line("})") }()
	}
	switch g.signal.kind {
	case noSignal, signalKinds:
	case flagged:
		g.line("flag.Store(true)")
	case closed:
		g.line("close(sig)")
	case guarded:
		g.line("ready.Lock()")
		g.line("is = true")
		g.line("ready.Unlock()")
	case notified:
		g.line("ready.Lock()")
		g.line("is = true")
		early := g.chance(2)
		if early {
			g.line("now.Broadcast()")
		}
		g.line("ready.Unlock()")
		if !early {
			g.line("now.Broadcast()")
		}
	case counted:
		g.line("begun.Done()")
	case canceled:
		g.line("cancel()")
	}
}

// waits writes a wait for the signal, and what comes after it. The giver only looks, and so does
// a goroutine that holds a lock, which the giver may need.
func (g *gen) waits(deep int) {
	if g.signal.kind == noSignal {
		g.assign()
		return
	}
	if g.me == giver || len(g.held) > 0 || g.inLoop || g.chance(4) {
		g.looks(deep)
		return
	}
	switch g.signal.kind {
	case noSignal, signalKinds:
	case flagged:
		g.spins("!flag.Load()")
	case closed:
		g.waitsOn("sig")
	case guarded:
		g.spinsUnderLock()
	case notified:
		g.line("ready.Lock()")
		g.line("for !is {")
		g.line("\tnow.Wait()")
		g.line("}")
		g.line("ready.Unlock()")
	case counted:
		g.line("begun.Wait()")
	case canceled:
		if g.chance(3) {
			g.spins("ctx.Err() == nil")
		} else {
			g.waitsOn("ctx.Done()")
		}
	}
	before := g.signal.taken
	g.signal.taken = g.me == taker
	g.line("{")
	g.block(deep)
	g.line("}")
	g.signal.taken = before
}

// spins writes a loop that waits while a condition holds, in one of the ways in which loops wait.
func (g *gen) spins(while string) {
	switch g.pick(4) {
	case 0:
		g.line("for %s {", while)
		g.line("\truntime.Gosched()")
		g.line("}")
	case 1:
		g.line("for %s {", while)
		g.line("}")
	case 2:
		g.line("for {")
		g.line("\tif %s {", while)
		g.line("\t\truntime.Gosched()")
		g.line("\t\tcontinue")
		g.line("\t}")
		g.line("\tbreak")
		g.line("}")
	default:
		name := g.fresh()
		g.line("%s := func() bool { return %s }", name, while)
		g.line("for %s() {", name)
		g.line("\truntime.Gosched()")
		g.line("}")
	}
}

// spinsUnderLock writes a loop that looks at a variable with its lock held.
func (g *gen) spinsUnderLock() {
	if g.chance(2) {
		g.line("ready.Lock()")
		g.line("for !is {")
		g.line("\tready.Unlock()")
		g.line("\truntime.Gosched()")
		g.line("\tready.Lock()")
		g.line("}")
		g.line("ready.Unlock()")
		return
	}
	name := g.fresh()
	g.line("for {")
	g.line("\tready.Lock()")
	g.line("\t%s := is", name)
	g.line("\tready.Unlock()")
	g.line("\tif %s {", name)
	g.line("\t\tbreak")
	g.line("\t}")
	g.line("}")
}

// waitsOn writes a wait for a channel to be closed.
func (g *gen) waitsOn(channel string) {
	switch name := g.fresh(); g.pick(4) {
	case 0:
		g.line("<-%s", channel)
	case 1:
		g.line("for range %s {", channel)
		g.line("}")
	case 2:
		g.line("%s:", name)
		g.line("for {")
		g.line("\tselect {")
		g.line("\tcase <-%s:", channel)
		g.line("\t\tbreak %s", name)
		g.line("\tdefault:")
		if g.chance(2) {
			g.line("\t\truntime.Gosched()")
		}
		g.line("\t}")
		g.line("}")
	default:
		if len(g.chans) == 0 {
			g.line("_, %s := <-%s", name, channel)
			g.line("_ = %s", name)
			return
		}
		g.line("for %s := true; %s; {", name, name)
		g.line("\tselect {")
		g.line("\tcase <-%s:", channel)
		g.line("\t\t%s = false", name)
		g.line("\tcase <-ch:")
		g.line("\t}")
		g.line("}")
	}
}

// looks writes a few looks whether the signal was given, and what comes then.
func (g *gen) looks(deep int) {
	var given string
	switch g.signal.kind {
	case noSignal, signalKinds:
	case flagged:
		given = "flag.Load()"
	case closed, counted:
		given = "" // the first has no value, the second none to look at
	case guarded, notified:
		given = "func() bool { ready.Lock(); defer ready.Unlock(); return is }()"
	case canceled:
		given = "ctx.Err() != nil"
	}
	switch {
	case g.signal.kind == closed:
		g.line("select {")
		g.line("case <-sig:")
		g.block(deep)
		g.line("default:")
		g.line("}")
	case given == "":
		g.assign()
	case g.inLoop || g.chance(2):
		g.line("if %s {", given)
		g.block(deep)
		g.line("}")
	default:
		name := g.fresh()
		g.line("for %s := 0; %s < 2 && !(%s); %s++ {", name, name, given, name)
		if g.chance(2) {
			g.line("\truntime.Gosched()")
		}
		g.line("}")
	}
}

// tries writes a section whose lock is tried for, a few times or until it is free.
func (g *gen) tries(deep int) {
	l := g.pick(len(g.locks))
	if g.held[l] || g.inLoop {
		g.assign()
		return
	}
	try, release := g.locks[l]+".TryLock()", g.locks[l]+".Unlock()"
	if g.rw[l] && g.chance(2) {
		try, release = g.locks[l]+".TryRLock()", g.locks[l]+".RUnlock()"
		g.reads[l] = true
	}
	g.held[l] = true
	switch g.pick(3) {
	case 0:
		g.line("if %s {", try)
		g.block(deep)
		g.line("\t%s", release)
		g.line("}")
	case 1:
		name := g.fresh()
		g.line("for %s := range 2 {", name)
		g.line("\t_ = %s", name)
		g.line("\tif %s {", try)
		within := g.inLoop
		g.inLoop = true
		g.deep++
		g.block(deep)
		g.deep--
		g.inLoop = within
		g.line("\t\t%s", release)
		g.line("\t\tbreak")
		g.line("\t}")
		g.line("\truntime.Gosched()")
		g.line("}")
	default:
		g.spins("!" + try)
		g.block(deep)
		g.line("%s", release)
	}
	delete(g.reads, l)
	delete(g.held, l)
}

// retries writes an update by compare and swap, as lock-free code has it, or a lock that is an
// atomic variable.
func (g *gen) retries(deep int) {
	v := g.choose(true, atomicN)
	if v == nil || g.inLoop {
		g.tries(deep)
		return
	}
	name := g.fresh()
	switch g.pick(3) {
	case 0:
		g.line("for {")
		g.line("\t%s := %s.Load()", name, v.text)
		g.line("\tif %s.CompareAndSwap(%s, %s+1) {", v.text, name, name)
		g.line("\t\tbreak")
		g.line("\t}")
		g.line("}")
	case 1:
		g.line("for %s := range 2 {", name)
		g.line("\tif %s.CompareAndSwap(int64(%s), 2) {", v.text, name)
		g.line("\t\tbreak")
		g.line("\t}")
		g.line("\truntime.Gosched()")
		g.line("}")
	default:
		g.line("if %s.CompareAndSwap(0, 1) {", v.text)
		g.block(deep)
		g.line("\t%s.Store(0)", v.text)
		g.line("}")
	}
}

// startsWith writes go statements whose operands are evaluated at once: arguments, the receiver
// of a method, a method value.
func (g *gen) startsWith() {
	v := g.choose(true, number)
	if v == nil || g.inLoop || g.o.Alone || g.o.RaceFree || g.me < 0 {
		g.assign()
		return
	}
	done := fmt.Sprintf("done%s", g.fresh())
	g.line("%s := make(chan int, 1)", done)
	g.loaded = append(g.loaded, false)
	switch {
	case v.object.name != "" && g.chance(2):
		g.line("go %s.%s(%s)", v.object.name, v.object.set, g.expr(1))
		g.line("_ = %s", done)
		return
	case g.chance(2):
		g.line("go func(n int) { %s += n; %s <- n }(%s)", v.text, done, g.expr(1))
	default:
		g.line("go func(c chan<- int, n int) { c <- n + %s }(%s, %s)", v.text, done, g.expr(1))
	}
	g.statement()
	if w := g.choose(true, number); w != nil && g.chance(2) {
		g.line("%s = <-%s", w.text, done)
	} else {
		g.line("<-%s", done)
	}
}
