package linux

import (
	"encoding/binary"

	"github.com/cofferdam-go/cofferdam/internal/emu/abi"
	"github.com/cofferdam-go/cofferdam/internal/emu/files"
	"github.com/cofferdam-go/cofferdam/internal/emu/mem"
	"github.com/cofferdam-go/cofferdam/internal/x86"
)

// args are the arguments of a system call.
type args [6]uint64

// syscall makes the system call that a thread asked for. It reports whether the thread's
// turn is over.
func (p *Process) syscall(t *Thread) (yielded bool) {
	c := t.CPU
	number := c.R[x86.RAX]
	a := args{c.R[x86.RDI], c.R[x86.RSI], c.R[x86.RDX], c.R[x86.R10], c.R[x86.R8], c.R[x86.R9]}
	// The instruction itself leaves these.
	c.R[x86.RCX], c.R[x86.R11] = c.PC, c.Flags()
	if number >= uint64(len(byNumber)) || byNumber[number] == nil {
		p.lacking(abi.CallName(number), number)
		c.R[x86.RAX] = abi.ENOSYS.Result()
		return false
	}
	result := byNumber[number](p, t, &a)
	p.Serve()
	if t.wait.kind.repeats() {
		// It is made again when there is something.
		c.PC -= 2
		return true
	}
	c.R[x86.RAX] = result
	return t.wait.kind != notWaiting || number == yieldCall
}

const yieldCall = 24

// lacking tells about a system call that is not emulated, unless every program copes.
func (p *Process) lacking(name string, number uint64) {
	switch name {
	case "rseq", "getxattr", "lgetxattr", "fgetxattr", "listxattr", "llistxattr":
		return
	}
	p.note("the system call %s (%d) is not emulated and fails with ENOSYS; if the program needs it, run it with input that does not", name, number)
}

func sysZero(*Process, *Thread, *args) uint64 { return 0 }

// putWord writes 8 bytes.
func (p *Process) putWord(addr, v uint64) bool {
	return p.Mem.WriteAt(binary.LittleEndian.AppendUint64(nil, v), addr)
}

// putWords writes a structure of 8-byte fields, if there is somewhere to write it.
func (p *Process) putWords(addr uint64, words ...uint64) uint64 {
	var b []byte
	for _, w := range words {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	if !p.Mem.WriteAt(b, addr) {
		return abi.EFAULT.Result()
	}
	return 0
}

// Memory.

const (
	mapFixed       = 0x10
	mapAnonymous   = 0x20
	mapNoReplace   = 0x100000
	mapGrowsDown   = 0x100
	mremapMayMove  = 1
	mremapFixed    = 2
	adviseDontNeed = 4
)

func sysBrk(p *Process, _ *Thread, a *args) uint64 {
	to := a[0]
	if to < p.brkStart || to > p.brkStart+1<<34 {
		return p.brk
	}
	old, end := roundUp(p.brk), roundUp(to)
	switch {
	case end > old:
		if old > p.brkStart && p.Mem.Extend(old, end) {
			break
		}
		if _, taken := p.Mem.Area(old); taken {
			return p.brk
		}
		p.Mem.Map(mem.Area{Start: old, End: end, Prot: mem.Read | mem.Write, Name: "[heap]"})
	case end < old:
		p.Mem.Unmap(end, old)
	}
	p.brk = to
	return to
}

func sysMmap(p *Process, _ *Thread, a *args) uint64 {
	addr, size, flags := a[0], roundUp(a[1]), a[3]
	if size == 0 || size > 1<<46 {
		return abi.EINVAL.Result()
	}
	const shared = 1
	area := mem.Area{Prot: uint8(a[2] & 7), Shared: flags&shared != 0}
	if flags&mapAnonymous == 0 {
		d := p.fd(a[4])
		if d == nil {
			return abi.EBADF.Result()
		}
		switch d.node.Kind {
		case files.Regular:
			area.File, area.Offset, area.Name = d.node.Mapped(), int64(a[5]), d.node.Path
			if area.Shared && area.Prot&mem.Write != 0 {
				p.note("%s is mapped for writing; what is written there does not reach the file", d.node.Path)
			}
		case files.ZeroDevice:
		default:
			return abi.EACCES.Result()
		}
	}
	switch {
	case flags&mapFixed != 0:
	case flags&mapNoReplace != 0:
		if p.taken(addr, size) {
			return abi.EEXIST.Result()
		}
	case addr == 0 || addr%mem.PageSize != 0 || p.taken(addr, size):
		addr = p.Mem.Gap(size, mmapTop)
	}
	if addr == 0 || addr%mem.PageSize != 0 || addr+size > 1<<47 {
		return abi.ENOMEM.Result()
	}
	area.Start, area.End = addr, addr+size
	area.Grows = flags&mapGrowsDown != 0
	p.Mem.Map(area)
	return addr
}

// taken reports whether something is mapped between addr and addr+size.
func (p *Process) taken(addr, size uint64) bool {
	for _, a := range p.Mem.Areas() {
		if a.Start < addr+size && addr < a.End {
			return true
		}
	}
	return false
}

func sysMunmap(p *Process, _ *Thread, a *args) uint64 {
	if a[0]%mem.PageSize != 0 || a[1] == 0 {
		return abi.EINVAL.Result()
	}
	p.Mem.Unmap(a[0], a[0]+roundUp(a[1]))
	return 0
}

func sysMprotect(p *Process, _ *Thread, a *args) uint64 {
	if a[0]%mem.PageSize != 0 {
		return abi.EINVAL.Result()
	}
	if !p.Mem.Protect(a[0], a[0]+roundUp(a[1]), uint8(a[2]&7)) {
		return abi.ENOMEM.Result()
	}
	return 0
}

func sysMremap(p *Process, _ *Thread, a *args) uint64 {
	addr, old, size := a[0], roundUp(a[1]), roundUp(a[2])
	area, ok := p.Mem.Area(addr)
	if !ok || addr%mem.PageSize != 0 || size == 0 || old == 0 {
		return abi.EFAULT.Result()
	}
	if size <= old && a[3]&mremapFixed == 0 {
		if size < old {
			p.Mem.Unmap(addr+size, addr+old)
		}
		return addr
	}
	if a[3]&mremapFixed == 0 && p.Mem.Extend(addr+old, addr+size) {
		return addr
	}
	if a[3]&mremapMayMove == 0 {
		return abi.ENOMEM.Result()
	}
	to := p.Mem.Gap(size, mmapTop)
	if a[3]&mremapFixed != 0 {
		to = a[4]
	}
	if to == 0 {
		return abi.ENOMEM.Result()
	}
	contents := make([]byte, min(old, size))
	p.Mem.ReadAt(contents, addr)
	area.Offset += int64(addr - area.Start)
	area.Start, area.End = to, to+size
	p.Mem.Unmap(addr, addr+old)
	p.Mem.Map(area)
	p.Mem.Poke(contents, to)
	return to
}

func sysMadvise(p *Process, _ *Thread, a *args) uint64 {
	if a[2] == adviseDontNeed {
		p.Mem.Discard(a[0], a[0]+roundUp(a[1]))
	}
	return 0
}

func sysMincore(p *Process, _ *Thread, a *args) uint64 {
	present := make([]byte, roundUp(a[1])/mem.PageSize)
	for i := range present {
		present[i] = 1
	}
	if !p.Mem.WriteAt(present, a[2]) {
		return abi.EFAULT.Result()
	}
	return 0
}

// Call returns the name and the arguments of the system call that a thread is about to
// make.
func (t *Thread) Call() (string, [6]uint64) {
	c := t.CPU
	return abi.CallName(c.R[x86.RAX]), [6]uint64{c.R[x86.RDI], c.R[x86.RSI], c.R[x86.RDX], c.R[x86.R10], c.R[x86.R8], c.R[x86.R9]}
}
