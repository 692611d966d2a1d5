package exec

import "github.com/cofferdam-go/cofferdam/internal/sli/ir"

func (f *follower) Load(t *Thread, in *ir.Instr, addr, key ir.Value) (ir.Value, Status) {
	if e, ok := f.take(in, KindLoad, KindUpdate); ok {
		if e.Map {
			f.learn(addr, e.Addr)
			return ir.Unknown(in.Size), Running
		}
		f.learn(addr, e.Addr)
		for { // a wide load may be seen in pieces
			if _, more := f.take(in, KindLoad); !more {
				break
			}
		}
		f.step.Time, f.step.Addr = e.Seq, e.Addr
		if addr.Known {
			f.step.Addr = f.Real(addr.Uint())
		}
		if len(e.Before) >= in.Size && f.step.Addr == e.Addr {
			return ir.Bytes(e.Before[:in.Size]), Running
		}
		return MemoryAt(f.Trace, f.step.Addr, in.Size, e.Seq), Running
	}
	if !addr.Known || key.Size > 0 {
		return ir.Unknown(in.Size), Running
	}
	a := f.Real(addr.Uint())
	if addr.Uint() < ir.FirstPage {
		return ir.Unknown(in.Size), Lost
	}
	f.step.Addr = a
	return f.look(a, in.Size), Running
}

// look reads memory that made no event.
func (f *follower) look(a uint64, size int) ir.Value {
	b := make([]byte, 0, size)
	for i := range size {
		x, ok := f.local[a+uint64(i)]
		if !ok {
			if a >= ir.FirstInvented {
				return ir.Unknown(size)
			}
			return MemoryAt(f.Trace, a, size, f.time())
		}
		b = append(b, x)
	}
	return ir.Bytes(b)
}

func (f *follower) Store(t *Thread, in *ir.Instr, addr, key, val ir.Value) Status {
	if e, ok := f.take(in, KindStore, KindUpdate); ok {
		f.learn(addr, e.Addr)
		if !e.Map {
			f.learnValue(val, e.After)
		}
		for {
			if _, more := f.take(in, KindStore, KindLoad, KindUpdate); !more {
				break
			}
		}
		f.step.Time, f.step.Addr = e.Seq, e.Addr
		return Running
	}
	if !addr.Known || key.Size > 0 {
		return Running
	}
	a := f.Real(addr.Uint())
	f.step.Addr = a
	if val.Known && len(f.local) < maxLocal {
		for i, x := range val.Append(nil) {
			f.local[a+uint64(i)] = x
		}
	} else {
		for i := range in.Size {
			delete(f.local, a+uint64(i))
		}
	}
	if !f.have && len(in.Sites) > 0 {
		f.seq++
		f.step.Time, f.step.Event = f.seq, true
		e := Event{Seq: f.seq, G: f.g, Kind: KindStore, Site: in.Sites[0], Frame: t.Top().ID, Addr: a, Size: uint32(in.Size)}
		if val.Known {
			e.After = val.Append(nil)
		}
		f.steps = append(f.steps, e)
	}
	return Running
}

// maxLook bounds how far ahead an allocation's event is looked for.
const maxLook = 256

// allocated finds the event of an allocation. It comes when the program says that
// something was allocated, which may be after what the goroutine does next: the parts
// of a literal are evaluated between.
func (f *follower) allocated(t *Thread, in *ir.Instr) (Event, bool) {
	if len(in.Sites) == 0 {
		return Event{}, false
	}
	at := max(f.done, f.taken[in.Sites[0]])
	for range maxLook {
		e, ok := f.Trace.Next(f.g, at)
		if !ok || e.Kind == KindReturn && e.Frame == t.Top().ID {
			break
		}
		at = e.Seq
		if e.Kind != KindAlloc {
			continue
		}
		for _, s := range in.Sites {
			if e.Site == s {
				f.taken[in.Sites[0]] = e.Seq
				f.step.Time, f.step.Event, f.step.Addr = e.Seq, true, e.Addr
				return e, true
			}
		}
	}
	return Event{}, false
}

func (f *follower) Alloc(t *Thread, in *ir.Instr, size ir.Value) ir.Value {
	if e, ok := f.allocated(t, in); ok {
		return ir.Word(8, e.Addr)
	}
	a := f.invent()
	if size.Known && size.Uint() < 1<<16 && len(f.local) < maxLocal {
		for i := range size.Uint() {
			f.local[a+i] = 0
		}
	}
	return ir.Word(8, a)
}
