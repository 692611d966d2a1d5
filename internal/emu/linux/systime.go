package linux

import (
	"encoding/binary"

	"github.com/cofferdam-go/cofferdam/internal/emu/abi"
	"github.com/cofferdam-go/cofferdam/internal/emu/files"
)

// bootTime is when the machine was started, as far as programs can see.
var bootTime = files.StartTime - 1e12

// timespec reads a struct timespec.
func (p *Process) timespec(addr uint64) (nanoseconds int64, ok bool) {
	var b [16]byte
	if !p.Mem.ReadAt(b[:], addr) {
		return 0, false
	}
	return int64(binary.LittleEndian.Uint64(b[:]))*1e9 + int64(binary.LittleEndian.Uint64(b[8:])), true
}

func seconds(ns int64) (s, rest uint64) { return uint64(ns / 1e9), uint64(ns % 1e9) }

// clock returns the time of a clock.
func (p *Process) clock(id uint64) int64 {
	switch id {
	case 0, 5, 11: // realtime and its relatives
		p.used.Clock = true
		return p.now()
	case 2, 3: // of the process and of the thread
		return int64(p.count)
	}
	return p.now() - bootTime
}

func sysClockGettime(p *Process, _ *Thread, a *args) uint64 {
	s, ns := seconds(p.clock(a[0]))
	return p.putWords(a[1], s, ns)
}

func sysClockGetres(p *Process, _ *Thread, a *args) uint64 {
	if a[1] == 0 {
		return 0
	}
	return p.putWords(a[1], 0, 1)
}

func sysGettimeofday(p *Process, _ *Thread, a *args) uint64 {
	if a[0] == 0 {
		return 0
	}
	p.used.Clock = true
	s, ns := seconds(p.now())
	return p.putWords(a[0], s, ns/1000)
}

func sysTime(p *Process, _ *Thread, a *args) uint64 {
	p.used.Clock = true
	s, _ := seconds(p.now())
	if a[0] != 0 {
		p.putWord(a[0], s)
	}
	return s
}

func sysTimes(p *Process, _ *Thread, a *args) uint64 {
	ticks := p.count / 1e7
	if a[0] != 0 {
		p.putWords(a[0], ticks, 0, 0, 0)
	}
	return uint64(p.now()-bootTime) / 1e7
}

func sysNanosleep(p *Process, t *Thread, a *args) uint64 {
	return p.sleep(t, a[0], 0, "nanosleep")
}

func sysClockNanosleep(p *Process, t *Thread, a *args) uint64 {
	base := int64(0)
	if a[1]&1 != 0 { // an absolute time
		if a[0] == 0 { // of the wall clock
			base = -p.now()
		} else {
			base = bootTime - p.now()
		}
	}
	return p.sleep(t, a[2], base, "clock_nanosleep")
}

func (p *Process) sleep(t *Thread, addr uint64, base int64, name string) uint64 {
	d, ok := p.timespec(addr)
	if !ok {
		return abi.EFAULT.Result()
	}
	t.wait = waiting{kind: onTime, name: name, deadline: p.now() + max(base+d, 1)}
	return 0
}

func sysAlarm(p *Process, _ *Thread, a *args) uint64 {
	left := uint64(0)
	if p.alarm != 0 {
		left = uint64(max(p.alarm-p.now(), 0)+1e9-1) / 1e9
	}
	if p.alarm = 0; a[0] != 0 {
		p.alarm = p.now() + int64(a[0])*1e9
	}
	return left
}

// sysSetitimer sets the timer of real time, once.
func sysSetitimer(p *Process, _ *Thread, a *args) uint64 {
	if a[0] != 0 {
		p.note("the program asked for a timer of its own processor time, which never fires here")
		return 0
	}
	var b [32]byte
	if a[2] != 0 && !p.Mem.WriteAt(b[:], a[2]) || !p.Mem.ReadAt(b[:], a[1]) {
		return abi.EFAULT.Result()
	}
	d := int64(binary.LittleEndian.Uint64(b[16:]))*1e9 + int64(binary.LittleEndian.Uint64(b[24:]))*1e3
	if p.alarm = 0; d != 0 {
		p.alarm = p.now() + d
	}
	return 0
}

// ring raises the alarm if it is time.
func (p *Process) ring() {
	if p.alarm != 0 && p.now() >= p.alarm {
		p.alarm = 0
		p.raise(abi.SIGALRM, nil)
	}
}
