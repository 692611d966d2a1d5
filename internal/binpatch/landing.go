package binpatch

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// A landing is what happens to an exception that comes out of a call.
type landing struct {
	// ends: the program is terminated, because no exception may come here.
	ends bool
	// pad is where it lands, 0 if it passes by.
	pad uint64
	// kinds are what lands there, by numbers of types: 0 for whatever has to be cleaned up,
	// and the types by their numbers, from 1 on. Encoded as typeEncoding says, they are where
	// the type is, 0 for any.
	kinds        []int64
	types        []uint64
	typeEncoding byte
}

// landingAt is the landing of a call, given the address of its last byte.
func (f *file) landingAt(at *frame, pc uint64) (l landing, err error) {
	defer catch(&err)
	if at.exceptions == 0 {
		return l, nil
	}
	r := &tableReader{file: f, at: at.exceptions}
	pads := at.start
	if encoding := r.byte(); encoding != encodedNone {
		pads = r.pointer(encoding)
	}
	typesAt := uint64(0)
	if l.typeEncoding = r.byte(); l.typeEncoding != encodedNone {
		typesAt = r.uleb()
		typesAt += r.at
	}
	encoding := r.byte()
	size := r.uleb()
	actions := r.at + size
	for r.at < actions {
		start, length, pad, action := r.pointer(encoding), r.pointer(encoding), r.pointer(encoding), r.uleb()
		if pc < at.start+start || pc >= at.start+start+length {
			continue
		}
		if pad == 0 {
			return l, nil
		}
		l.pad = pads + pad
		if action != 0 {
			r.actions(&l, actions+action-1, typesAt)
		}
		return l, nil
	}
	l.ends = true
	return l, nil
}

// actions reads what lands at a pad, and of which types that is.
func (r *tableReader) actions(l *landing, at, typesAt uint64) {
	for {
		r.at = at
		kind := r.sleb()
		next := r.at
		distance := r.sleb()
		if kind < 0 {
			panic(errFrames) // a list of types that a function may throw, of old C++
		}
		l.kinds = append(l.kinds, kind)
		for number := uint64(len(l.types)) + 1; number <= uint64(kind); number++ {
			r.at = typesAt - number*typeSize(l.typeEncoding)
			l.types = append(l.types, r.pointer(l.typeEncoding))
		}
		if distance == 0 {
			return
		}
		at = next + uint64(distance)
	}
}

func typeSize(encoding byte) uint64 {
	switch encoding & encodedFormat {
	case encodedAbsolute, encodedUint8, encodedInt8:
		return 8
	case encodedUint4, encodedInt4:
		return 4
	}
	panic(errFrames)
}

// unwinding are the tables for unwinding the copies of calls, which are written as they are
// made.
type unwinding struct {
	file  *file
	calls []copiedCall
	// needed: the program has exceptions.
	needed bool
}

// A copiedCall is a call that is executed from a copy.
type copiedCall struct {
	start, end int // of the copy
	section    int // that it belongs to, -1 for none
	frame      *frame
	landing    landing
	label      string // of what an exception comes to
}

// note remembers a call whose copy has just been written. What is not understood of the
// program's tables leaves the call without one, as it is in a program without exceptions.
func (u *unwinding) note(start, end int, next uint64, section int) {
	if !u.needed {
		return
	}
	at, err := u.file.frameAt(next - 1)
	if err != nil || at == nil {
		return
	}
	l, err := u.file.landingAt(at, next-1)
	if err != nil {
		return
	}
	u.calls = append(u.calls, copiedCall{start: start, end: end, section: section, frame: at, landing: l})
}

// Names of places that the tables need.
const (
	resumeLabel      = "resume unwinding"
	personalityLabel = "personality"
	framesLabel      = "frames"
)

// land writes what exceptions come to: the lock is released, and the exception goes to where
// the original call would have it, or on to the caller.
func (b *builder) land() {
	for i := range b.unwinding.calls {
		c := &b.unwinding.calls[i]
		if c.landing.ends || c.landing.pad == 0 && c.section < 0 {
			continue
		}
		c.label = fmt.Sprintf("pad %d", i)
		b.label(c.label)
		if c.section >= 0 {
			b.callLock("release")
		}
		l := &c.landing
		handlers := len(l.kinds) > 0 && !slices.Contains(l.kinds, 0)
		switch {
		case c.section >= 0 && handlers:
			// What no handler is for would pass by, and the lock with it. It comes here, too,
			// as something to clean up, and goes on to the caller from here.
			l.kinds = append(l.kinds, 0)
			b.emit(0x85, 0xd2) // test edx, edx
			b.conditional(l.pad, 0x0f, 0x85)
		case l.pad != 0:
			b.goTo(l.pad)
			continue
		}
		b.emit(0x48, 0x89, 0xc7) // mov rdi, rax
		start := len(b.code)
		b.emitTo(resumeLabel, 0xff, 0x15) // call [resume]
		// The frame that it goes on from has no landing.
		b.unwinding.calls = append(b.unwinding.calls, copiedCall{start: start, end: len(b.code), section: -1, frame: &frame{rules: c.frame.rules}})
		b.emit(0x0f, 0x0b) // ud2
	}
}

// tables writes the tables. They begin where framesLabel is, and there are none if that is
// nowhere.
func (b *builder) tables() {
	calls := b.unwinding.calls
	if len(calls) == 0 {
		return
	}
	align := func() {
		for len(b.code)%8 != 0 {
			b.emit(0)
		}
	}
	exceptions := make([]int, len(calls))
	for i := range calls {
		if c := &calls[i]; c.label != "" || c.landing.ends {
			align()
			exceptions[i] = len(b.code)
			b.exceptionTable(c)
		}
	}
	align()
	b.label(framesLabel)
	for i := range calls {
		b.frameTable(&calls[i], exceptions[i])
	}
	b.emit(0, 0, 0, 0)
}

// exceptionTable is the table of exceptions of one call: where they land, what lands there, and
// the types of that.
func (b *builder) exceptionTable(c *copiedCall) {
	l := &c.landing
	b.emit(encodedNone) // pads are counted from the call
	var sites, actions []byte
	for i := range l.kinds {
		actions = appendSLEB(actions, l.kinds[i])
		if i+1 < len(l.kinds) {
			actions = append(actions, 1) // right behind this byte
		} else {
			actions = append(actions, 0)
		}
	}
	if c.label != "" {
		le := binary.LittleEndian
		sites = le.AppendUint32(sites, 0)
		sites = le.AppendUint32(sites, uint32(c.end-c.start))
		sites = le.AppendUint32(sites, uint32(b.labels[c.label]-c.start))
		first := byte(0)
		if len(l.kinds) > 0 {
			first = 1
		}
		sites = append(sites, first)
	}
	if len(l.types) == 0 {
		b.emit(encodedNone)
	} else {
		size := int(typeSize(l.typeEncoding)) * len(l.types)
		b.emit(l.typeEncoding)
		b.emit(binary.AppendUvarint(nil, uint64(1+uvarintSize(len(sites))+len(sites)+len(actions)+size))...)
	}
	b.emit(encodedUint4)
	b.emit(binary.AppendUvarint(nil, uint64(len(sites)))...)
	b.emit(sites...)
	b.emit(actions...)
	for i := len(l.types) - 1; i >= 0; i-- {
		b.encoded(l.types[i], l.typeEncoding)
	}
}

// encoded adds a pointer to the program.
func (b *builder) encoded(to uint64, encoding byte) {
	if encoding&encodedBase == encodedRelative && to != 0 {
		b.relocations = append(b.relocations, uint32(len(b.code)))
		to -= uint64(len(b.code))
	}
	raw := binary.LittleEndian.AppendUint64(nil, to)
	b.emit(raw[:typeSize(encoding)]...)
}

// frameTable is the entries of one call: what others would share, and its own.
func (b *builder) frameTable(c *copiedCall, exceptions int) {
	start := b.openEntry()
	b.emit(0, 0, 0, 0) // shared
	const version, relative = 1, encodedRelative | encodedInt4
	b.emit(version)
	letters, more := "zR", []byte{relative}
	if exceptions != 0 {
		letters = "zPLR"
	}
	b.emit(append([]byte(letters), 0)...)
	b.emit(codeFactor, byte(dataFactor&0x7f), returnAddress)
	if exceptions == 0 {
		b.emit(1)
	} else {
		b.personality(c.frame)
		more = []byte{relative, relative}
	}
	b.emit(more...)
	b.closeEntry(start)
	entry := b.openEntry()
	b.distance(len(b.code) - start + 4) // back to what is shared, from here
	b.distance(c.start - len(b.code))
	b.distance(c.end - c.start)
	if exceptions == 0 {
		b.emit(0)
	} else {
		b.emit(4)
		b.distance(exceptions - len(b.code))
	}
	b.emit(c.frame.rules...)
	b.closeEntry(entry)
}

// personality adds which function decides about exceptions: the one of the original, or the
// one of C++ for functions that have none.
func (b *builder) personality(f *frame) {
	if f.personality == 0 {
		const indirect = encodedIndirect | encodedRelative | encodedInt4
		b.emit(2+1+4, indirect)
		b.fixes = append(b.fixes, fixup{len(b.code), 4, len(b.code), personalityLabel})
		b.emit(0, 0, 0, 0)
		return
	}
	b.emit(byte(2+1+typeSize(f.personalityEncoding)), f.personalityEncoding)
	b.encoded(f.personality, f.personalityEncoding)
}

func (b *builder) openEntry() int {
	b.emit(0, 0, 0, 0)
	return len(b.code)
}

// closeEntry fills up an entry and writes how long it is.
func (b *builder) closeEntry(start int) {
	for len(b.code)%8 != 4 {
		b.emit(ruleNop)
	}
	binary.LittleEndian.PutUint32(b.code[start-4:], uint32(len(b.code)-start))
}

func (b *builder) distance(n int) { b.emit(binary.LittleEndian.AppendUint32(nil, uint32(n))...) }

func uvarintSize(n int) int { return len(binary.AppendUvarint(nil, uint64(n))) }

func appendSLEB(b []byte, v int64) []byte {
	for {
		c := byte(v & 0x7f)
		v >>= 7
		if v == 0 && c&0x40 == 0 || v == -1 && c&0x40 != 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}
