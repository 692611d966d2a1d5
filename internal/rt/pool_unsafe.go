package rt

import (
	"unsafe"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/rt/frames"
	"github.com/cofferdam-go/cofferdam/internal/rt/race"
)

// Pools.
//
// A run has pools of its own: what a sync.Pool holds depends on earlier runs and on the
// collector. Get returns what was put last, also by another goroutine, since that is
// where bugs show. But the pools of the standard library itself (package fmt has one)
// are kept apart by goroutine: nothing can be learnt from them, and each exchange would
// order two goroutines that the program does not order.

// pooled is a value in a pool, with the goroutine that put it there and what had happened
// before.
type pooled struct {
	value  any
	g      uint32
	vector race.Vector
}

// PoolPut puts x into a pool with the given field New. It returns false if the caller is
// not under control.
func PoolPut[T any](pool *T, new func() any, x any) bool {
	c := enterLibrary()
	if c == nil {
		return false
	}
	if !c.dying && x != nil {
		s.completeLast()
		o := s.objects.at(unsafe.Pointer(pool))
		var v race.Vector
		c.Release(&v)
		o.items = append(o.items, pooled{x, c.id, v})
		if s.recorder.On {
			s.emit(c, event.PoolPut, c.site(), o.addr, 1, 0)
		}
	}
	c.leave()
	return true
}

// PoolGet gets a value from a pool, nil if there is none. ok is false if the caller is
// not under control.
func PoolGet[T any](pool *T, new func() any) (x any, ok bool) {
	c := enterLibrary()
	if c == nil {
		return nil, false
	}
	if !c.dying {
		s.completeLast()
		o := s.objects.at(unsafe.Pointer(pool))
		own := false
		if new != nil {
			own = frames.IsStandard(**(**uintptr)(unsafe.Pointer(&new)))
		} else {
			// Whose pool it is shows in whose function calls Get.
			var pcs [8]uintptr
			n := returns(&pcs, min(callerIndex+2, len(pcs)))
			own = n > callerIndex+1 && frames.IsStandard(pcs[callerIndex+1])
		}
		for i := len(o.items) - 1; i >= 0; i-- {
			if it := o.items[i]; !own || it.g == c.id {
				x = it.value
				c.acquire(&it.vector)
				copy(o.items[i:], o.items[i+1:])
				o.items[len(o.items)-1] = pooled{}
				o.items = o.items[:len(o.items)-1]
				break
			}
		}
		if s.recorder.On {
			s.emit(c, event.PoolGet, c.site(), o.addr, 1, bit(x != nil))
		}
	}
	c.leave()
	return x, true
}
