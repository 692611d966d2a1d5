package exec

import "github.com/cofferdam-go/cofferdam/internal/sli/ir"

// Load gives what the trace says was loaded. A load that made no event is one of memory that
// no other goroutine changes, and is answered from what is known of that.
func (f *follower) Load(thread *Thread, in *ir.Instr, addr, key ir.Value) (ir.Value, Status) {
	if event, ok := f.take(in, KindLoad, KindUpdate); ok {
		if event.Map {
			f.learnAddress(addr, event.Addr)
			if in.Key == ir.NextKey {
				return ir.Word(1, 1), Running
			}
			return ir.Unknown(in.Size), Running
		}
		f.learnAddress(addr, event.Addr)
		f.takeRest(in, &event, KindLoad)
		f.step.Time, f.step.Addr = event.Seq, event.Addr
		if addr.Known {
			f.step.Addr = f.Real(addr.Uint())
		}
		if len(event.Before) >= in.Size && f.step.Addr == event.Addr {
			return ir.Bytes(event.Before[:in.Size]), Running
		}
		return MemoryAt(f.Trace, f.step.Addr, in.Size, event.Seq), Running
	}
	if in.Key == ir.NextKey && f.hasEvent && len(in.Sites) > 0 {
		return ir.Word(1, 0), Running
	}
	if !addr.Known || key.Size > 0 {
		return ir.Unknown(in.Size), Running
	}
	a := f.Real(addr.Uint())
	if addr.Uint() < ir.FirstPage {
		return ir.Unknown(in.Size), Lost
	}
	f.step.Addr = a
	return f.unrecordedLoad(a, in.Size), Running
}

// takeRest consumes the events of the rest of an access that was recorded in pieces, each
// beginning where the one before ended. The next event of the same site may as well be
// that of the next round of a loop.
func (f *follower) takeRest(in *ir.Instr, first *Event, kind Kind) {
	end := first.Addr + uint64(first.Size)
	for !first.Map && end < first.Addr+uint64(in.Size) && f.event.Addr == end {
		event, ok := f.take(in, kind)
		if !ok {
			return
		}
		end += uint64(max(event.Size, 1))
	}
}

// unrecordedLoad reads memory that made no event.
func (f *follower) unrecordedLoad(a uint64, size int) ir.Value {
	value, ok := f.unrecorded.load(a, size)
	if !ok && a < ir.FirstInvented {
		return MemoryAt(f.Trace, a, size, f.time())
	}
	if !ok {
		return ir.Unknown(size)
	}
	return value
}

// Store learns addresses from the event of a store. A store without an event is kept beside the
// trace; one beyond the trace is noted, because it may complete an update.
func (f *follower) Store(thread *Thread, in *ir.Instr, addr, key, val ir.Value) Status {
	if event, ok := f.take(in, KindStore, KindUpdate); ok {
		f.learnAddress(addr, event.Addr)
		if !event.Map {
			f.learnValue(val, event.After)
		}
		f.takeRest(in, &event, KindStore)
		f.step.Time, f.step.Addr = event.Seq, event.Addr
		return Running
	}
	if !addr.Known || key.Size > 0 {
		return Running
	}
	a := f.Real(addr.Uint())
	f.step.Addr = a
	if !val.Known {
		val = ir.Unknown(in.Size)
	}
	f.unrecorded.store(a, val)
	if !f.hasEvent && len(in.Sites) > 0 {
		f.beyondSeq++
		f.step.Time, f.step.MadeEvent = f.beyondSeq, true
		event := Event{Seq: f.beyondSeq, G: f.g, Kind: KindStore, Site: in.Sites[0], Frame: thread.Top().ID, Addr: a, Size: uint32(in.Size)}
		if val.Known {
			event.After = val.Append(nil)
		}
		f.beyondStores = append(f.beyondStores, event)
	}
	return Running
}

// Update gives what the trace says was there, and learns from what was left there.
func (f *follower) Update(thread *Thread, in *ir.Instr, addr ir.Value, change func(ir.Value) ir.Value) (ir.Value, Status) {
	event, ok := f.take(in, KindUpdate)
	if !ok {
		old, st := f.Load(thread, in, addr, ir.Value{})
		if st == Running {
			st = f.Store(thread, in, addr, ir.Value{}, change(old))
		}
		return old, st
	}
	f.learnAddress(addr, event.Addr)
	old := ir.Unknown(in.Size)
	if len(event.Before) >= in.Size {
		old = ir.Bytes(event.Before[:in.Size])
	}
	f.learnValue(change(old), event.After)
	f.takeRest(in, &event, KindUpdate)
	f.step.Time, f.step.Addr = event.Seq, event.Addr
	return old, Running
}

// BadAddress asks the trace whether an address can be used now.
func (f *follower) BadAddress(addr uint64) ir.Value {
	return f.Replay.BadAddress(addr, f.time())
}

// maxAllocLookahead bounds how far ahead an allocation's event is looked for.
const maxAllocLookahead = 256

// allocated finds the event of an allocation. It comes when the program says that
// something was allocated, which may be after what the goroutine does next: the parts
// of a literal are evaluated between.
func (f *follower) allocated(thread *Thread, in *ir.Instr) (Event, bool) {
	if len(in.Sites) == 0 {
		return Event{}, false
	}
	at := max(f.consumed, f.lastAllocOf[in.Sites[0]])
	for range maxAllocLookahead {
		event, ok := f.Trace.Next(f.g, at)
		if !ok || event.Kind == KindReturn && event.Frame == thread.Top().ID {
			break
		}
		at = event.Seq
		if event.Kind != KindAlloc {
			continue
		}
		for _, s := range in.Sites {
			if event.Site == s {
				f.lastAllocOf[in.Sites[0]] = event.Seq
				f.step.Time, f.step.MadeEvent, f.step.Addr = event.Seq, true, event.Addr
				return event, true
			}
		}
	}
	return Event{}, false
}

// Alloc gives the address that the trace has for new memory, or invents one.
func (f *follower) Alloc(thread *Thread, in *ir.Instr, size ir.Value) ir.Value {
	if event, ok := f.allocated(thread, in); ok {
		return ir.Word(8, event.Addr)
	}
	a := f.invent()
	if size.Known && size.Uint() < 1<<16 {
		f.unrecorded.store(a, ir.Zero(int(size.Uint())))
	}
	return ir.Word(8, a)
}
