package sli

// resync puts the thread at the next event, in the frames that the trace says it is
// in.
func (f *follower) resync(t *Thread) bool {
	f.idle = 0
	e := f.cur
	id := e.Frame
	if e.Kind == KindCall {
		id = uint32(e.Arg)
	}
	var chain []uint32
	for id != 0 {
		parent, site, ok := f.trace.Frame(id)
		if !ok {
			break
		}
		if f.prog.bySite[site] != nil {
			chain = append(chain, id)
		}
		id = parent
	}
	if len(chain) == 0 {
		f.advance(e.Seq)
		return f.have && f.cur.Kind != KindCrash && f.resync(t)
	}
	keep := 0
	old := t.Frames
	t.Frames = nil
	for i := len(chain) - 1; i >= 0; i-- {
		_, site, _ := f.trace.Frame(chain[i])
		fn := f.prog.bySite[site]
		if keep < len(old) && old[keep].ID == chain[i] && old[keep].Func == fn {
			t.Frames = append(t.Frames, old[keep])
			keep++
			continue
		}
		keep = len(old)
		t.Frames = append(t.Frames, f.guess(t, fn, chain[i]))
	}
	top := t.Top()
	at := f.place(top.Func, e)
	if at == nil {
		f.advance(e.Seq)
		return f.have && f.cur.Kind != KindCrash && f.resync(t)
	}
	top.forget(at)
	top.Block, top.Index = at.Block, at.index()
	return true
}

// forget makes unknown what a frame's registers may not hold any more when it is next
// at an instruction: what is defined in a loop, or not on every way there.
func (f *Frame) forget(at *Instr) {
	dom := dominators(f.Func)[at.Block.Index]
	for _, b := range f.Func.Blocks {
		if dom[b.Index] && b != at.Block && !inLoop(b) {
			continue
		}
		for _, in := range b.Instrs {
			if in.Dst != 0 {
				f.Regs[in.Dst] = Unknown(f.Func.Sizes[in.Dst])
			}
		}
	}
}

func inLoop(b *Block) bool {
	seen := map[*Block]bool{}
	list := append([]*Block(nil), b.Succs...)
	for len(list) > 0 {
		x := list[len(list)-1]
		list = list[:len(list)-1]
		if x == b {
			return true
		}
		if !seen[x] {
			seen[x] = true
			list = append(list, x.Succs...)
		}
	}
	return false
}

// guess makes the frame of a call whose instruction was not seen.
func (f *follower) guess(t *Thread, fn *Func, id uint32) *Frame {
	fr := &Frame{Func: fn, ID: id, Block: fn.Blocks[0], Regs: make([]Value, len(fn.Sizes))}
	var parent *Context
	if len(t.Frames) > 0 {
		up := t.Top()
		parent = up.Ctx
		for _, b := range up.Func.Blocks {
			for i, in := range b.Instrs {
				if fr.Call == nil && in.Op == Call && (in.Callee == fn || in.Callee == nil && f.targets[in] == fn) {
					fr.Call = in
					up.Block, up.Index = b, i
				}
			}
		}
	}
	fr.Ctx = f.ctxs.get(parent, fr.Call, fn)
	return fr
}

// place is the instruction of fn that makes event e, or where fn leaves or calls.
func (f *follower) place(fn *Func, e Event) *Instr {
	for _, in := range f.prog.At(e.Site) {
		if in.Block.Func == fn {
			return in
		}
	}
	for _, b := range fn.Blocks {
		for _, in := range b.Instrs {
			if f.makes(in, e) {
				return in
			}
		}
	}
	return nil
}

// makes reports whether in can be what made event e, e being of in's own frame.
func (f *follower) makes(in *Instr, e Event) bool {
	switch e.Kind {
	case KindReturn:
		return in.Op == Return
	case KindCall:
		fn := f.prog.bySite[e.Site]
		return (in.Op == Call || in.Op == Spawn) && (in.Callee == fn || in.Callee == nil && f.targets[in] == fn)
	}
	for _, s := range in.Sites {
		if s == e.Site {
			return true
		}
	}
	return false
}
