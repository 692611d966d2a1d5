package structures

import "github.com/cofferdam-go/cofferdam/isolate"

// The heap is the binary one in an array; its least entry is at index 0.

type timer struct{ key, value uint64 }

// less orders a heap's entries. Equal keys are ordered by value, so that what
// comes out does not depend on what went in first.
func (t timer) less(u timer) bool {
	return t.key < u.key || t.key == u.key && t.value < u.value
}

// siftUp moves the last entry to where it belongs.
func siftUp(h []timer) {
	i := len(h) - 1
	for t := h[i]; i > 0; {
		parent := (i - 1) / 2
		if !t.less(h[parent]) {
			break
		}
		h[i], h[parent] = h[parent], t
		i = parent
	}
}

// siftDown moves the first entry to where it belongs.
func siftDown(h []timer) {
	for i := 0; ; {
		least := 2*i + 1
		if least >= len(h) {
			return
		}
		if right := least + 1; right < len(h) && h[right].less(h[least]) {
			least = right
		}
		if !h[least].less(h[i]) {
			return
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
}

type stockHeap struct {
	timers []timer
}

func (h *stockHeap) Read(uint64) (uint64, bool) {
	if len(h.timers) == 0 {
		return 0, false
	}
	return h.timers[0].value, true
}

func (h *stockHeap) Insert(key, value uint64) bool {
	h.timers = append(h.timers, timer{key, value})
	siftUp(h.timers)
	return true
}

func (h *stockHeap) Delete(uint64) (uint64, bool) {
	last := len(h.timers) - 1
	if last < 0 {
		return 0, false
	}
	value := h.timers[0].value
	h.timers[0] = h.timers[last]
	h.timers = h.timers[:last]
	siftDown(h.timers)
	return value, true
}

// heapRoot is bounded: guarded objects cannot refer to slices that grow.
type heapRoot struct {
	n      int
	timers [4096]timer
}

func (h *heapRoot) read(uint64) (uint64, bool) {
	if h.n == 0 {
		return 0, false
	}
	return h.timers[0].value, true
}

func (h *heapRoot) insert(_ isolate.Guard, key, value uint64) bool {
	if h.n == len(h.timers) {
		return false
	}
	h.timers[h.n] = timer{key, value}
	h.n++
	siftUp(h.timers[:h.n])
	return true
}

func (h *heapRoot) remove(isolate.Guard, uint64) (uint64, bool) {
	if h.n == 0 {
		return 0, false
	}
	value := h.timers[0].value
	h.n--
	h.timers[0] = h.timers[h.n]
	siftDown(h.timers[:h.n])
	return value, true
}
