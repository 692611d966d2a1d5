package sli

import "sort"

// maxWrites bounds the stores of a trace that one specialisation is checked against;
// those nearest to the crash are kept.
const maxWrites = 4000

// findings are what one specialisation says about the trace (section 5).
type findings struct {
	writes  []Event // to what the machine loads, in order, the ahead ones last
	tail    uint32  // the goroutine whose steps beyond the trace are at the end of writes
	regions []region
}

// A region is a part of the trace in which the read operation, run alone, crashes:
// from the event that made it so to the event that ended it.
type region struct {
	start, end Event // no Seq: open on that side
}

// writesTo finds the events that wrote to what the specialisation touches. If a point
// is given, what is touched there is stored to, and loads of it matter as well.
func (s *special) writesTo(r *replay, stored Point) []Event {
	seen := map[uint64]Event{}
	for _, t := range s.touched {
		loads := stored.Instr != nil && t.load.Label.Point == stored
		r.trace.Accesses(t.addr, uint32(t.size), s.from, s.to, func(e *Event) bool {
			if e.Writes() || loads {
				seen[e.Seq] = *e
			}
			return true
		})
	}
	all := make([]Event, 0, len(seen))
	for _, e := range seen {
		all = append(all, e)
	}
	sort.Slice(all, func(i, j int) bool { return all[i].Seq < all[j].Seq })
	if len(all) > maxWrites {
		all = all[len(all)-maxWrites:]
	}
	return all
}

// examine finds the writes and the regions in which the machine crashes. Evaluating
// it may show it memory it had not seen, whose writes matter too, so it is repeated
// until nothing new is seen.
func (s *special) examine(r *replay) findings {
	var f findings
	for range 4 {
		before := len(s.touched)
		f = s.sweep(r)
		if len(s.touched) == before {
			break
		}
	}
	return f
}

func (s *special) sweep(r *replay) findings {
	f := findings{writes: s.writesTo(r, Point{})}
	var open *region
	if s.evaluate(r, s.from+1, nil) == WillCrash {
		open = &region{}
		if e, _, ok := r.trace.Allocation(s.anAddress(), s.from+1); ok && e.Seq == s.from {
			open.start = e
		}
	}
	note := func(e Event, v Verdict) {
		switch {
		case v == WillCrash && open == nil:
			open = &region{start: e}
		case v != WillCrash && open != nil:
			open.end = e
			f.regions = append(f.regions, *open)
			open = nil
		}
	}
	for _, e := range f.writes {
		note(e, s.evaluate(r, e.Seq+1, nil))
	}
	if open != nil && len(f.writes) > 0 {
		// The trace ends in the middle. What the goroutine that wrote last would do next
		// is followed; see replay.
		f.tail = f.writes[len(f.writes)-1].G
		memory := map[uint64]byte{}
		for _, e := range r.ahead[f.tail] {
			for i := range uint64(e.Size) {
				if i < uint64(len(e.After)) {
					memory[e.Addr+i] = e.After[i]
				} else {
					delete(memory, e.Addr+i)
				}
			}
			if !s.reads(e) {
				continue
			}
			f.writes = append(f.writes, e)
			v := s.evaluate(r, 0, func(addr uint64, size int) Value {
				v := memoryAt(r.trace, addr, size, r.trace.Last()+1)
				b := make([]byte, size)
				if v.Known {
					b = v.Append(b[:0])
				}
				for i := range b {
					if x, ok := memory[addr+uint64(i)]; ok {
						b[i] = x
					} else if !v.Known {
						return Unknown(size)
					}
				}
				return Bytes(b)
			})
			note(e, v)
			if open == nil {
				break
			}
		}
	}
	if open != nil {
		f.regions = append(f.regions, *open)
	}
	return f
}

func (s *special) anAddress() uint64 {
	if len(s.touched) == 0 {
		return 0
	}
	return s.touched[0].addr
}

func (s *special) reads(e Event) bool {
	for _, t := range s.touched {
		if e.touches(t.addr, uint32(t.size)) {
			return true
		}
	}
	return false
}

// conflicts reports whether another goroutine's part of the trace, from first to
// last, can come between the loads of one of the specialisation's instances: the
// program does not order them, and no lock is held over both.
func (s *special) conflicts(o *order, last uint64, first, end Event) bool {
	a, b := o.of(first, last), o.of(end, last)
	for _, in := range s.instances {
		if in.g == first.G {
			continue
		}
		start, stop := o.stamps[in.first], o.stamps[in.last]
		if start == nil || stop == nil {
			return true
		}
		if b.before(start) || stop.before(a) || shareLock(start, stop, a, b) {
			continue
		}
		return true
	}
	return false
}

// of is the stamp of an event, or of its goroutine's last one if it lies ahead.
func (o *order) of(e Event, last uint64) *stamp {
	if e.Seq > last {
		return o.ends[e.G]
	}
	return o.stamps[e.Seq]
}
