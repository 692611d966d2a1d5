package exec

import "github.com/cofferdam-go/cofferdam/internal/sli/ir"

// Unwind has the thread go on after a crash: calls are left with their deferred calls made, until
// one of these catches. It reports false, and does nothing, if nothing is deferred.
func (t *Thread) Unwind() bool {
	if !t.catches() {
		return false
	}
	t.Failed = nil
	t.Top().unwinding, t.Top().caught = true, false
	return true
}

// catches reports whether something is deferred, which may catch a crash.
func (t *Thread) catches() bool {
	for _, frame := range t.Frames {
		if len(frame.defers) > 0 || frame.unwinding {
			return true
		}
	}
	return false
}

// defersCall reports whether a call of the function is deferred.
func (t *Thread) defersCall(fn *ir.Func) bool {
	for _, frame := range t.Frames {
		for _, d := range frame.defers {
			if d.fn == fn {
				return true
			}
		}
	}
	return false
}

// leaveUnwinding makes the next deferred call of a frame that is left because of a crash, or
// leaves it: for where its caller goes on if the crash was caught.
func (t *Thread) leaveUnwinding() Status {
	frame := t.Top()
	switch {
	case len(frame.defers) > 0:
		return t.runDeferred(frame)
	case frame.caught && frame.Call != nil:
		return t.returnTo(ir.Unknown(frame.Call.Size))
	case frame.caught:
		return t.returnTo(ir.Value{})
	}
	t.host.Leave(t, frame)
	t.Frames = t.Frames[:len(t.Frames)-1]
	if len(t.Frames) == 0 {
		return Ended
	}
	t.Top().unwinding, t.Top().caught = true, false
	return Running
}

// catch ends the unwinding that the innermost call was deferred for. What it gives then is not
// known; without any, it is nothing.
func (t *Thread) catch(size int) ir.Value {
	n := len(t.Frames)
	switch {
	case n > 1 && t.Top().isDeferred && t.Frames[n-2].unwinding && !t.Frames[n-2].caught:
		t.Frames[n-2].caught = true
		return ir.Unknown(size)
	case n > 1 && t.Top().Call != nil:
		return ir.Zero(size)
	}
	return ir.Unknown(size)
}
