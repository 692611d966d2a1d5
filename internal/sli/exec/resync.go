package exec

import "github.com/cofferdam-go/cofferdam/internal/sli/ir"

// resync puts the thread at the next event, in the frames that the trace says it is
// in.
func (f *follower) resync(thread *Thread) bool {
	f.idleSteps = 0
	event := f.event
	id := event.Frame
	if event.Kind == KindCall {
		id = uint32(event.Arg)
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
		f.advance(event.Seq)
		return f.hasEvent && f.event.Kind != KindCrash && f.resync(thread)
	}
	keep := 0
	old := thread.Frames
	thread.Frames = nil
	for i := len(chain) - 1; i >= 0; i-- {
		_, site, _ := f.Trace.Frame(chain[i])
		fn := f.Program.FuncAt(site)
		if keep < len(old) && old[keep].ID == chain[i] && old[keep].Func == fn {
			thread.Frames = append(thread.Frames, old[keep])
			keep++
			continue
		}
		keep = len(old)
		thread.Frames = append(thread.Frames, f.guessFrame(thread, fn, chain[i]))
	}
	top := thread.Top()
	at := f.instrOf(top.Func, event)
	if at == nil {
		f.advance(event.Seq)
		return f.hasEvent && f.event.Kind != KindCrash && f.resync(thread)
	}
	top.forgetUnsettled(at)
	top.Block, top.Index = at.Block, at.Index()
	return true
}

// forgetUnsettled makes unknown what a frame's registers may not hold any more when it is next
// at an instruction: what is defined in a loop, or not on every way there.
func (f *Frame) forgetUnsettled(at *ir.Instr) {
	dom := ir.Dominators(f.Func)
	for _, block := range f.Func.Blocks {
		if dom.Reached(at.Block.Index) && dom.Dominates(block.Index, at.Block.Index) && block != at.Block && !ir.InLoop(block) {
			continue
		}
		for _, in := range block.Instrs {
			if in.Dst != 0 {
				f.Regs[in.Dst] = ir.Unknown(f.Func.RegSizes[in.Dst])
			}
		}
	}
}

// guessFrame makes the frame of a call whose instruction was not seen.
func (f *follower) guessFrame(thread *Thread, fn *ir.Func, id uint32) *Frame {
	frame := &Frame{Func: fn, ID: id, Block: fn.Blocks[0], Regs: make([]ir.Value, len(fn.RegSizes))}
	var parent *ir.Context
	if len(thread.Frames) > 0 {
		up := thread.Top()
		parent = up.Context
		for _, block := range up.Func.Blocks {
			for i, in := range block.Instrs {
				if frame.Call == nil && in.Op == ir.Call && (in.Callee == fn || in.Callee == nil && f.targets[in] == fn) {
					frame.Call = in
					up.Block, up.Index = block, i
				}
			}
		}
	}
	frame.Context = f.Contexts.Get(parent, frame.Call, fn)
	return frame
}

// instrOf is the instruction of fn that makes the event, or where fn leaves or calls.
func (f *follower) instrOf(fn *ir.Func, event Event) *ir.Instr {
	for _, in := range f.Program.InstrsAt(event.Site) {
		if in.Block.Func == fn {
			return in
		}
	}
	for _, block := range fn.Blocks {
		for _, in := range block.Instrs {
			if f.canMake(in, event) {
				return in
			}
		}
	}
	return nil
}

// canMake reports whether the instruction can have made an event of its own call.
func (f *follower) canMake(in *ir.Instr, event Event) bool {
	switch event.Kind {
	case KindReturn:
		return in.Op == ir.Return
	case KindCall:
		fn := f.Program.FuncAt(event.Site)
		return (in.Op == ir.Call || in.Op == ir.Spawn) && (in.Callee == fn || in.Callee == nil && f.targets[in] == fn)
	}
	for _, s := range in.Sites {
		if s == event.Site {
			return true
		}
	}
	return false
}
