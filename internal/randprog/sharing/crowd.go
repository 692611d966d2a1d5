package sharing

import "strings"

// A share is what one of several goroutines may do in a section while the others do the same: in
// whatever order they come, they leave the same behind.
var shares = []struct {
	guardedBy
	steps []string
}{
	{objectLock, []string{"x.n += 2", "x.n++", "x.s.a += d", "x.array[1]++", "x.list = append(x.list, 7)", "x.push(7)", "x.s.add(d)", "x.sink(d)", "if x.m != nil { x.m[1] += d }", "x.marks[0] = max(x.marks[0], d)",
		"x.rows = append(x.rows, Row{b: 1})", "if len(x.rows) > 0 { x.rows[0].a += d }", "if k := x.ents[0]; k != nil { k.n++; k.s.a += d; k.n++ }", "for _, k := range x.ents { k.n += d }", "x.name += \"c\"", "x.bytes[1]++", "point(&x.n)", "x.f(d)", "change(&x.n, func(v int) int { return v + d })",
		"if x != y { y.mu.Lock(); x.n -= d; y.n += d; y.mu.Unlock() }", "x.grid[1][0]++", "x.last = &Ent{n: 1}", "w.shelves[0].tally(d)"}},
	{structLock, []string{"global.n += d", "global.s.a++", "global.t[1] += d", "global.s.add(2)"}},
	{variableLock, []string{"gn += d", "gs.a++", "gs.add(d)", "garr[2] += 2", "gname += \"g\"", "gn += d; runtime.Gosched(); gn -= 2"}},
	{writeLock, []string{"x.hits += d", "x.peak.a += 2", "x.peak.b = max(x.peak.b, d)"}},
	{readLock, []string{"if s := x.peak; s != x.peak { panic(s) }", "if a := x.hits; a != x.hits { panic(a) }"}},
	{bagLock, bagShares},
	{listLock, []string{"lhead = &Link{key: 5, next: lhead}", "lcount += d", "if lhead != nil { lhead = &Link{key: 5, next: lhead}; lhead, lhead.next = lhead.next, nil }", "lcount += lhead.length() &^ -1", "for k := lhead; k != nil; k = k.next { lcount += k.key &^ k.key }", "lhead, lcount = &Link{key: 5, next: lhead}, lcount+d", "lkeys[1] = &Link{key: 5}"}},
}

// together writes what needs other goroutines, where no lock is held.
func (g *gen) together() {
	if g.Chance(3) {
		g.handOver()
	} else {
		g.crowd()
	}
}

// crowd has goroutines do the same side by side, and waits for them.
func (g *gen) crowd() {
	wg := g.name("wg")
	g.line("var %s sync.WaitGroup", wg)
	g.line("for d := range 3 {")
	g.deep++
	g.line("_ = d")
	g.line("%s.Go(func() {", wg)
	g.deep++
	g.line("for range %d {", 4+g.Pick(20))
	g.deep++
	for range 1 + g.Pick(3) {
		g.share()
	}
	g.deep--
	g.line("}")
	g.deep--
	g.line("})")
	g.deep--
	g.line("}")
	g.line("%s.Wait()", wg)
}

// share writes a section of a crowd.
func (g *gen) share() {
	s := shares[g.Pick(len(shares))]
	if s.lock == listLock.lock && !g.has(linked) || s.lock == bagLock.lock && !g.has(bags) {
		s = shares[0]
	}
	deferred := g.Chance(3)
	if deferred {
		g.line("func() {")
		g.deep++
		g.line("%s", s.acquire)
		g.line("defer %s", s.release)
	} else {
		g.line("%s", s.acquire)
	}
	for range 1 + g.Pick(3) {
		g.line("%s", g.of(s.steps...))
		if g.Chance(4) {
			g.line("%s", g.of("runtime.Gosched()", "_ = fmt.Sprint(d)", "idle(d)"))
		}
	}
	if deferred {
		g.deep--
		g.line("}()")
	} else {
		g.line("%s", s.release)
	}
}

// handOver gives objects from one goroutine to another, by a channel and by a condition.
func (g *gen) handOver() {
	c := g.name("c")
	switch g.Pick(4) {
	case 3:
		g.abandon()
	case 0: // an object of its own becomes one under the lock
		g.line("%s := make(chan *Ent)", c)
		g.line("go func() { for i := range 3 { e := &Ent{n: i}; e.s.a = e.n; %s <- e }; close(%s) }()", c, c)
		g.line("for e := range %s { e.n += 2; x.mu.Lock(); e.next, x.last = x.last, e; x.last.n++; x.n += e.n; x.mu.Unlock() }", c)
	case 1: // the section waits for what the other does in its own
		goal := g.name("goal")
		g.line("%s, %s := sync.NewCond(&x.mu), x.s.b+15", c, goal)
		g.line("go func() { for range 3 { x.mu.Lock(); x.s.b += 5; x.base.marks[1] = -1; x.mu.Unlock(); %s.Broadcast() } }()", c)
		g.line("x.mu.Lock()")
		g.line("for x.n++; x.s.b < %s; { x.n--; %s.Wait(); x.n++ }", goal, c)
		g.line("x.n += x.s.b")
		g.line("x.mu.Unlock()")
	case 2: // the lock changes hands
		g.line("%s := make(chan bool)", c)
		g.line("gmu.Lock()")
		g.line("gn += %d", g.Pick(9))
		g.line("go func() { gn *= 2; gs.a = gn; gmu.Unlock(); %s <- true }()", c)
		g.line("<-%s", c)
	}
}

// abandoned are sections that end by a panic, with what may be done without the lock when it was released.
var abandoned = []struct{ lock, section, after string }{
	{"x.mu", "x.n++; x.s.a += 2; x.list[len(x.list)] = x.n", "x.n += 2; n += x.s.a"},
	{"x.mu", "if k := x.ents[0]; k != nil { k.n++; k.s.a++ }; x.array[1]++; x.list[len(x.list)]++", "if k := x.ents[0]; k != nil { k.n += 2; n += k.s.a }; x.array[1]--"},
	{"gmu", "gn += 3; gs.a++; gname += \"a\"; gn += x.list[len(x.list)]", "gn--; gs.add(gn); n += len(gname)"},
	{"w.shelves[0].mu", "if i := h.first; i != nil { i.n++; i.label += \"x\" }; h.count += x.list[len(x.list)]", "if i := w.shelves[0].first; i != nil { i.n++; n += len(i.label) }; w.shelves[0].count++"},
	{"x.rw", "x.hits++; x.peak.a++; x.hits += x.list[len(x.list)]", "x.hits += 2; n += x.peak.a"},
}

// abandon has another goroutine, which lives on, leave a section by a panic, and release the lock when it has recovered.
func (g *gen) abandon() {
	a := abandoned[g.Pick(len(abandoned))]
	g.line("w.elsewhere(func() {")
	g.deep++
	g.line("defer func() { if recover() != nil { %s.Unlock() } }()", a.lock)
	g.line("func() {") // the section has a function of its own, in which nothing else releases the lock
	g.deep++
	g.line("h := &w.shelves[0]")
	g.line("_ = h")
	loops := g.Chance(2)
	if loops {
		g.line("for range 2 {")
		g.deep++
	}
	lock := strings.Replace(a.lock, "w.shelves[0]", "h", 1)
	g.line("%s.Lock()", lock)
	g.line("%s", a.section)
	g.line("%s.Unlock()", lock)
	if loops {
		g.deep--
		g.line("}")
	}
	g.deep--
	g.line("}()")
	g.deep--
	g.line("})")
	g.line("%s", a.after)
}
