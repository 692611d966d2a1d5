package linux

import (
	"encoding/binary"
	"sort"

	"github.com/cofferdam-go/cofferdam/internal/emu/abi"
	"github.com/cofferdam-go/cofferdam/internal/x86"
)

// Operations of futex.
const (
	futexWait       = 0
	futexWake       = 1
	futexRequeue    = 3
	futexCmpRequeue = 4
	futexWakeOp     = 5
	futexWaitBitset = 9
	futexWakeBitset = 10

	futexPrivate  = 128
	futexRealtime = 256
)

func sysFutex(p *Process, t *Thread, a *args) uint64 {
	addr, value := a[0], uint32(a[2])
	mask := ^uint32(0)
	switch op := a[1] &^ (futexPrivate | futexRealtime); op {
	case futexWaitBitset, futexWait:
		if op == futexWaitBitset {
			mask = uint32(a[5])
		}
		return p.futexWait(t, addr, value, mask, a)
	case futexWake:
		return p.wake(addr, int(int32(value)), mask)
	case futexWakeBitset:
		return p.wake(addr, int(int32(value)), uint32(a[5]))
	case futexRequeue, futexCmpRequeue:
		var now [4]byte
		if !p.Mem.ReadAt(now[:], addr) {
			return abi.EFAULT.Result()
		}
		if op == futexCmpRequeue && binary.LittleEndian.Uint32(now[:]) != uint32(a[5]) {
			return abi.EAGAIN.Result()
		}
		return p.wake(addr, int(int32(value)), mask) + p.requeue(addr, a[4], int(int32(a[3])))
	case futexWakeOp:
		return p.wakeOp(a)
	default:
		p.note("futex operation %d (priority inheritance, or newer than this emulation) fails with ENOSYS", op)
		return abi.ENOSYS.Result()
	}
}

func (p *Process) futexWait(t *Thread, addr uint64, value, mask uint32, a *args) uint64 {
	var now [4]byte
	if !p.Mem.ReadAt(now[:], addr) {
		return abi.EFAULT.Result()
	}
	if binary.LittleEndian.Uint32(now[:]) != value {
		return abi.EAGAIN.Result()
	}
	w := waiting{kind: onFutex, name: "futex", addr: addr, mask: mask, order: p.count}
	if a[3] != 0 {
		timeout, ok := p.timespec(a[3])
		if !ok {
			return abi.EFAULT.Result()
		}
		switch {
		case a[1]&^(futexPrivate|futexRealtime) == futexWait:
			w.deadline = p.now() + timeout
		case a[1]&futexRealtime != 0:
			w.deadline = timeout
		default:
			w.deadline = timeout + bootTime
		}
		w.deadline = max(w.deadline, 1)
	}
	t.wait = w
	return 0
}

// waiters returns the threads that wait at addr, the first that came first.
func (p *Process) waiters(addr uint64) []*Thread {
	var w []*Thread
	for _, t := range p.threads {
		if !t.Ended && t.wait.kind == onFutex && t.wait.addr == addr {
			w = append(w, t)
		}
	}
	sort.SliceStable(w, func(i, j int) bool { return w[i].wait.order < w[j].wait.order })
	return w
}

// wake wakes up to n threads.
func (p *Process) wake(addr uint64, n int, mask uint32) uint64 {
	woken := uint64(0)
	for _, t := range p.waiters(addr) {
		if int(woken) >= n {
			break
		}
		if t.wait.mask&mask != 0 {
			t.wait = waiting{}
			t.CPU.R[x86.RAX] = 0
			woken++
		}
	}
	return woken
}

// requeue has up to n threads wait at another address.
func (p *Process) requeue(addr, to uint64, n int) uint64 {
	moved := uint64(0)
	for _, t := range p.waiters(addr) {
		if int(moved) >= n {
			break
		}
		t.wait.addr = to
		moved++
	}
	return moved
}

// wakeOp changes a second word, and wakes its waiters if the old value was as asked for.
func (p *Process) wakeOp(a *args) uint64 {
	var raw [4]byte
	if !p.Mem.ReadAt(raw[:], a[4]) {
		return abi.EFAULT.Result()
	}
	code := uint32(a[5])
	old := binary.LittleEndian.Uint32(raw[:])
	arg, against := code<<8>>20, code<<20>>20
	if code>>28&8 != 0 {
		arg = 1 << (arg & 31)
	}
	v := old
	switch code >> 28 & 7 {
	case 0:
		v = arg
	case 1:
		v += arg
	case 2:
		v |= arg
	case 3:
		v &^= arg
	case 4:
		v ^= arg
	}
	binary.LittleEndian.PutUint32(raw[:], v)
	if !p.Mem.WriteAt(raw[:], a[4]) {
		return abi.EFAULT.Result()
	}
	x, y := int32(old), int32(against<<20)>>20
	holds := [8]bool{x == y, x != y, x < y, x <= y, x > y, x >= y}[code>>24&7]
	woken := p.wake(a[0], int(int32(a[2])), ^uint32(0))
	if holds {
		woken += p.wake(a[4], int(int32(a[3])), ^uint32(0))
	}
	return woken
}
