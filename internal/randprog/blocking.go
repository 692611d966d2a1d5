package randprog

// declareBlocking declares what goroutines may wait for, beside the locks.
func (g *gen) declareBlocking() {
	g.line("un := make(chan int)")
	g.line("var none chan int")
	g.line("var gate sync.Mutex")
	g.line("cond := sync.NewCond(&gate)")
	g.line("_, _, _ = un, none, cond")
	g.line("var other sync.WaitGroup")
	g.line("_ = &other")
	if n := g.pick(3); n < 2 {
		g.line("other.Add(%d)", 1+n)
	}
	g.closing = g.chance(3)
}

// blocking writes a statement after which a goroutine may wait for ever.
func (g *gen) blocking() {
	l := g.pick(len(g.locks))
	what := g.pick(12)
	if g.closing && (what == 0 || what == 1 || what == 9) {
		what = 2
	}
	if what == 8 && (!g.closing || g.closed || g.inLoop) {
		what = 7
	}
	switch what {
	case 0, 1:
		g.line("un <- %d", g.pick(3))
	case 2, 3:
		g.line("<-un")
	case 4:
		g.line("%s.Lock()", g.locks[l])
	case 5:
		if g.rw[l] {
			g.line("%s.RLock()", g.locks[l])
		} else {
			g.line("if %s.TryLock() {", g.locks[l])
			g.line("\t%s.Unlock()", g.locks[l])
			g.line("}")
		}
	case 6:
		g.line("gate.Lock()")
		g.line("cond.Wait()")
		g.line("gate.Unlock()")
	case 7:
		g.line("%s", [...]string{"cond.Signal()", "cond.Broadcast()"}[g.pick(2)])
	case 8:
		g.closed = true
		g.line("close(un)")
	case 9:
		g.line("select {")
		g.line("case un <- 1:")
		g.line("case <-un:")
		g.line("}")
	case 10:
		all := []string{"other.Done()", "other.Wait()", "other.Add(1)"}
		if g.o.RaceFree {
			all = all[:2] // an Add that nothing orders with a Wait is a race
		}
		g.line("%s", all[g.pick(len(all))])
	default:
		g.line("%s", [...]string{"<-none", "none <- 1", "select {}"}[g.pick(3)])
	}
}
