package tolerate

import (
	"cmp"
	"math"
	"reflect"
	"strings"
	"sync/atomic"
	"unsafe"

	"github.com/cofferdam-go/cofferdam/internal/finding"
)

// A Merge is what a straight section makes of a part of a variable, a number say, that both
// it and careless code have changed. A rewriter that has seen how the section changes it
// knows more than the closed form of the paper, by which the careless value stays:
//
//	x.n += 2                      Adding: both changes count, as if the section had come last
//	x.peak = max(x.peak, n)       Raising: the greater value stays
//	x.log = append(x.log, e)      Appending: what the section appended comes behind theirs
//	x.state = next(x.state)       Keeping: what the section wrote stands
//
// The first three are what the section would have done had it come after the careless write,
// whatever that was.
type Merge string

const (
	Yielding  Merge = ""       // the closed form: the careless value stays
	Keeping   Merge = "ours"   // the section's value stays
	Adding    Merge = "delta"  // see [Delta]
	Raising   Merge = "max"    // see [Max]
	Lowering  Merge = "min"    // see [Min]
	Appending Merge = "append" // see [Append]
	Refusing  Merge = "refuse" // the section's value stays, and the finding is one that was refused
)

// A Resolution is a [Resolver] for variables of some type.
type Resolution struct {
	resolve func(result, theirs, ours, before unsafe.Pointer)
}

// ResolveBy has a function decide what becomes of a variable that both a straight section and
// careless code have changed.
func ResolveBy[T any](f func(theirs, ours, before T) T) *Resolution {
	return &Resolution{func(result, theirs, ours, before unsafe.Pointer) {
		*(*T)(result) = f(*(*T)(theirs), *(*T)(ours), *(*T)(before))
	}}
}

// byParts reports whether each part of a variable is merged by itself, and as if the section
// had come last.
func (m Merge) byParts(t *typed) bool { return m != Yielding && m != Refusing && !t.bulk }

// resolver returns the function that resolves variables of a type as a whole, nil for the
// closed form and for what is merged by parts.
func (m Merge) resolver(t *typed) func(result, theirs, ours, before unsafe.Pointer) {
	switch {
	case m == Refusing:
		return func(_, theirs, ours, before unsafe.Pointer) {
			panic(&Refusal{Theirs: t.box(theirs), Ours: t.box(ours), Before: t.box(before)})
		}
	case m == Yielding || m.byParts(t):
		return nil
	}
	return func(result, _, ours, _ unsafe.Pointer) { t.assign(result, ours) }
}

// mergeParts publishes what a section has made of a variable, each part as if the section had
// come after all careless writes. It returns the race, if there was one.
func (c *cell) mergeParts(blind bool) *race {
	m := c.policy.merge
	if blind {
		m = Keeping
	}
	theirs := c.typed.make()
	var ours, interfered, collided bool
	for _, u := range c.typed.units {
		shared, found := unsafe.Add(c.shared, u.offset), unsafe.Add(theirs, u.offset)
		own, before := unsafe.Add(c.own, u.offset), unsafe.Add(c.before, u.offset)
		if u.kind.equal(own, before) {
			u.kind.load(found, shared)
			interfered = interfered || !u.kind.equal(found, before)
			continue
		}
		ours = true
		u.publishMerged(m, shared, own, before, found)
		collided = collided || !u.kind.equal(found, before)
	}
	if !interfered && !collided {
		return nil
	}
	r := &race{policy: c.policy, typed: c.typed, address: uint64(uintptr(c.shared)), outcome: finding.Tolerated,
		classes: classify(ours && (collided || blind), true, blind)}
	if collided && !blind {
		r.outcome = finding.Resolved
	}
	if c.typed.printed {
		r.values = &[3]any{c.typed.box(theirs), c.typed.box(c.own), c.typed.box(c.before)}
	}
	return r
}

// publishMerged publishes a unit that the section has changed, and sets found to the careless
// value that it was merged with, or to before. For one word no careless write is lost, however
// many there are: a sum and a value that stands whatever is there are published by one atomic
// instruction, the others by a loop with nothing between the load and the compare-and-swap but
// the merge of two numbers. A loop that computes for longer loses against a goroutine that
// writes all the time, and then has to give up either its own change or a careless one.
func (u unit) publishMerged(m Merge, shared, own, before, found unsafe.Pointer) {
	switch u.kind {
	case byte8:
		theirs := mergeWord(m, u.numbers, (*uint64)(shared), *(*uint64)(own), *(*uint64)(before))
		*(*uint64)(found) = theirs
	case byte4:
		theirs := mergeHalf(m, u.numbers, (*uint32)(shared), *(*uint32)(own), *(*uint32)(before))
		*(*uint32)(found) = theirs
	case pointer:
		*(*unsafe.Pointer)(found) = atomic.SwapPointer((*unsafe.Pointer)(shared), *(*unsafe.Pointer)(own))
	case byte1:
		ours, was := uint64(*(*uint8)(own)), uint64(*(*uint8)(before))
		if m == Adding && u.numbers.wraps() {
			*(*uint8)(found) = uint8(addSmall(shared, 1, uint32(ours-was)))
			break
		}
		u.mergeOthers(shared, found, func(with unsafe.Pointer) {
			*(*uint8)(with) = uint8(u.numbers.merge(m, uint64(*(*uint8)(found)), ours, was))
		})
	case byte2:
		ours, was := uint64(*(*uint16)(own)), uint64(*(*uint16)(before))
		if m == Adding && u.numbers.wraps() {
			*(*uint16)(found) = uint16(addSmall(shared, 2, uint32(ours-was)))
			break
		}
		u.mergeOthers(shared, found, func(with unsafe.Pointer) {
			*(*uint16)(with) = uint16(u.numbers.merge(m, uint64(*(*uint16)(found)), ours, was))
		})
	default:
		u.mergeOthers(shared, found, func(with unsafe.Pointer) {
			u.kind.assign(with, own)
			if !u.kind.equal(found, before) {
				at := func(p unsafe.Pointer) reflect.Value { return reflect.NewAt(u.typ, p).Elem() }
				m.mergeWide(at(with), at(found), at(own), at(before))
			}
		})
	}
}

// mergeWord publishes a number of 64 bits, and returns what it was merged with.
func mergeWord(m Merge, n numbers, shared *uint64, own, before uint64) (theirs uint64) {
	switch {
	case m == Adding && n.wraps():
		return atomic.AddUint64(shared, own-before) - (own - before)
	case !m.compares():
		return atomic.SwapUint64(shared, own)
	}
	for range mostTries {
		theirs = atomic.AddUint64(shared, 0) // a load that has the cache line to itself afterwards
		if atomic.CompareAndSwapUint64(shared, theirs, n.merge(m, theirs, own, before)) {
			return theirs
		}
	}
	counters.forced.Add(1)
	atomic.StoreUint64(shared, n.merge(m, theirs, own, before))
	return theirs
}

// mergeHalf is mergeWord for numbers of 32 bits.
func mergeHalf(m Merge, n numbers, shared *uint32, own, before uint32) (theirs uint32) {
	switch {
	case m == Adding && n.wraps():
		return atomic.AddUint32(shared, own-before) - (own - before)
	case !m.compares():
		return atomic.SwapUint32(shared, own)
	}
	for range mostTries {
		theirs = atomic.AddUint32(shared, 0)
		if atomic.CompareAndSwapUint32(shared, theirs, uint32(n.merge(m, uint64(theirs), uint64(own), uint64(before)))) {
			return theirs
		}
	}
	counters.forced.Add(1)
	atomic.StoreUint32(shared, uint32(n.merge(m, uint64(theirs), uint64(own), uint64(before))))
	return theirs
}

// mergeOthers is for units that are not swapped as a whole. The function makes the new value
// of what was found.
func (u unit) mergeOthers(shared, found unsafe.Pointer, merge func(with unsafe.Pointer)) {
	with := reflect.New(u.typ).UnsafePointer()
	for range mostTries {
		u.kind.load(found, shared)
		merge(with)
		if u.kind.publish(shared, found, with) {
			return
		}
	}
	counters.forced.Add(1)
	u.kind.store(shared, with)
}

// compares reports whether what is published depends on the careless value.
func (m Merge) compares() bool { return m == Adding || m == Raising || m == Lowering }

// numbers are what the bits of a unit mean. Units of up to 64 bits are merged as bits, which
// needs no reflection between the load and the compare-and-swap.
type numbers uint8

const (
	noNumbers numbers = iota
	unsigned
	signed1
	signed2
	signed4
	signed8
	float4
	float8
)

// numbersOf says what the bits of a type mean.
func numbersOf(t reflect.Type) numbers {
	switch t.Kind() {
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return unsigned
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		switch t.Size() {
		case 1:
			return signed1
		case 2:
			return signed2
		case 4:
			return signed4
		}
		return signed8
	case reflect.Float32:
		return float4
	case reflect.Float64:
		return float8
	}
	return noNumbers
}

// wraps reports whether a sum is one of the bits.
func (n numbers) wraps() bool { return n != noNumbers && n != float4 && n != float8 }

// merge merges two changes to a number. What cannot be merged is the section's.
func (n numbers) merge(m Merge, theirs, ours, before uint64) uint64 {
	switch {
	case theirs == before || n == noNumbers:
		return ours
	case n == float4:
		f := func(b uint64) float32 { return math.Float32frombits(uint32(b)) }
		return uint64(math.Float32bits(merged(m, f(theirs), f(ours), f(before))))
	case n == float8:
		f := math.Float64frombits
		return math.Float64bits(merged(m, f(theirs), f(ours), f(before)))
	case n == unsigned:
		return merged(m, theirs, ours, before)
	}
	extend := func(b uint64) int64 {
		switch n {
		case signed1:
			return int64(int8(b))
		case signed2:
			return int64(int16(b))
		case signed4:
			return int64(int32(b))
		}
		return int64(b)
	}
	return uint64(merged(m, extend(theirs), extend(ours), extend(before)))
}

func merged[T interface {
	Number
	cmp.Ordered
}](m Merge, theirs, ours, before T) T {
	switch m {
	case Adding:
		return Delta(theirs, ours, before)
	case Raising:
		return Max(theirs, ours, before)
	case Lowering:
		return Min(theirs, ours, before)
	}
	return ours
}

// mergeWide merges what has several words and was changed by both. What cannot be merged is
// the section's.
func (m Merge) mergeWide(result, theirs, ours, before reflect.Value) {
	result.Set(ours)
	switch k := ours.Kind(); {
	case m == Appending && k == reflect.Slice:
		if n := before.Len(); ours.Len() >= n {
			result.Set(reflect.AppendSlice(theirs.Slice3(0, theirs.Len(), theirs.Len()), ours.Slice(n, ours.Len())))
		}
	case m == Appending && k == reflect.String:
		if added, ok := strings.CutPrefix(ours.String(), before.String()); ok {
			result.SetString(theirs.String() + added)
		}
	case m == Adding && ours.CanComplex():
		result.SetComplex(Delta(theirs.Complex(), ours.Complex(), before.Complex()))
	case m.compares() && ours.CanInt(): // numbers of 64 bits are wide where words have 32
		result.SetInt(merged(m, theirs.Int(), ours.Int(), before.Int()))
	case m.compares() && ours.CanUint():
		result.SetUint(merged(m, theirs.Uint(), ours.Uint(), before.Uint()))
	case m.compares() && ours.CanFloat():
		result.SetFloat(merged(m, theirs.Float(), ours.Float(), before.Float()))
	}
}
