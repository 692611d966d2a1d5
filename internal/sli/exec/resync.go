package exec

import "github.com/cofferdam-go/cofferdam/internal/sli/ir"

// resync puts the thread at the next event, in the frames that the trace says it is
// in.
func (f *follower) resync(t *Thread) bool {
	f.idleSteps = 0
	e := f.event
	id := e.Frame
	if e.Kind == KindCall {
		id = uint32(e.Arg)
	}
	var chain []uint32
	for id != 0 {
		parent, site, ok := f.Trace.Frame(id)
		if !ok {
			break
		}
		if f.Program.FuncAt(site) != nil {
			chain = append(chain, id)
		}
		id = parent
	}
	if len(chain) == 0 {
		f.advance(e.Seq)
		return f.hasEvent && f.event.Kind != KindCrash && f.resync(t)
	}
	keep := 0
	old := t.Frames
	t.Frames = nil
	for i := len(chain) - 1; i >= 0; i-- {
		_, site, _ := f.Trace.Frame(chain[i])
		fn := f.Program.FuncAt(site)
		if keep < len(old) && old[keep].ID == chain[i] && old[keep].Func == fn {
			t.Frames = append(t.Frames, old[keep])
			keep++
			continue
		}
		keep = len(old)
		t.Frames = append(t.Frames, f.guessFrame(t, fn, chain[i]))
	}
	top := t.Top()
	at := f.instrOf(top.Func, e)
	if at == nil {
		f.advance(e.Seq)
		return f.hasEvent && f.event.Kind != KindCrash && f.resync(t)
	}
	top.forgetUnsettled(at)
	top.Block, top.Index = at.Block, at.Index()
	return true
}

// forgetUnsettled makes unknown what a frame's registers may not hold any more when it is next
// at an instruction: what is defined in a loop, or not on every way there.
func (f *Frame) forgetUnsettled(at *ir.Instr) {
	dom := ir.Dominators(f.Func)[at.Block.Index]
	for _, b := range f.Func.Blocks {
		if dom[b.Index] && b != at.Block && !ir.InLoop(b) {
			continue
		}
		for _, in := range b.Instrs {
			if in.Dst != 0 {
				f.Regs[in.Dst] = ir.Unknown(f.Func.RegSizes[in.Dst])
			}
		}
	}
}

// guessFrame makes the frame of a call whose instruction was not seen.
func (f *follower) guessFrame(t *Thread, fn *ir.Func, id uint32) *Frame {
	fr := &Frame{Func: fn, ID: id, Block: fn.Blocks[0], Regs: make([]ir.Value, len(fn.RegSizes))}
	var parent *ir.Context
	if len(t.Frames) > 0 {
		up := t.Top()
		parent = up.Context
		for _, b := range up.Func.Blocks {
			for i, in := range b.Instrs {
				if fr.Call == nil && in.Op == ir.Call && (in.Callee == fn || in.Callee == nil && f.targets[in] == fn) {
					fr.Call = in
					up.Block, up.Index = b, i
				}
			}
		}
	}
	fr.Context = f.Contexts.Get(parent, fr.Call, fn)
	return fr
}

// instrOf is the instruction of fn that makes event e, or where fn leaves or calls.
func (f *follower) instrOf(fn *ir.Func, e Event) *ir.Instr {
	for _, in := range f.Program.InstrsAt(e.Site) {
		if in.Block.Func == fn {
			return in
		}
	}
	for _, b := range fn.Blocks {
		for _, in := range b.Instrs {
			if f.canMake(in, e) {
				return in
			}
		}
	}
	return nil
}

// canMake reports whether in can be what made event e, e being of in's own frame.
func (f *follower) canMake(in *ir.Instr, e Event) bool {
	switch e.Kind {
	case KindReturn:
		return in.Op == ir.Return
	case KindCall:
		fn := f.Program.FuncAt(e.Site)
		return (in.Op == ir.Call || in.Op == ir.Spawn) && (in.Callee == fn || in.Callee == nil && f.targets[in] == fn)
	}
	for _, s := range in.Sites {
		if s == e.Site {
			return true
		}
	}
	return false
}
