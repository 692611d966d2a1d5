package tolerate

import (
	"math"
	"sync/atomic"
	"unsafe"
)

// A Real is a number with an order.
type Real interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 |
		~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~uintptr |
		~float32 | ~float64
}

// Add is what a rewriter makes of an addition without the lock to a variable that sections
// have copies of:
//
//	x.n += d      tolerate.Add(&x.n, d)
//
// The processor may load the variable before a section publishes and store it afterwards, and
// what the section did is lost. As one atomic step an addition is either before or after the
// section's end, and both count.
func Add[T Real](p *T, d T) {
	at, float := unsafe.Pointer(p), T(1)/2 != 0
	switch size := unsafe.Sizeof(d); {
	case float && size == 8 && wide:
		for {
			old := atomic.LoadUint64((*uint64)(at))
			with := math.Float64bits(math.Float64frombits(old) + float64(d))
			if atomic.CompareAndSwapUint64((*uint64)(at), old, with) {
				return
			}
		}
	case float && size == 4:
		for {
			old := atomic.LoadUint32((*uint32)(at))
			with := math.Float32bits(math.Float32frombits(old) + float32(d))
			if atomic.CompareAndSwapUint32((*uint32)(at), old, with) {
				return
			}
		}
	case size == 8 && wide:
		atomic.AddUint64((*uint64)(at), uint64(d))
	case size == 4:
		atomic.AddUint32((*uint32)(at), uint32(d))
	case size < 4 && !checked:
		for {
			old := *p
			if swapSmall(at, size, lowBytes(old, size), lowBytes(old+d, size)) {
				return
			}
		}
	default:
		*p += d
	}
}

// lowBytes are those of a number of one or two bytes.
func lowBytes[T Real](n T, size uintptr) uint32 { return uint32(n) & (1<<(8*size) - 1) }

// Subtract is [Add] for x.n -= d.
func Subtract[T Real](p *T, d T) { Add(p, -d) }
