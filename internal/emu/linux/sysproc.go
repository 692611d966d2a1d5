package linux

import (
	"encoding/binary"

	"github.com/cofferdam-go/cofferdam/internal/emu/abi"
	"github.com/cofferdam-go/cofferdam/internal/emu/files"
)

// The identity of the process, and its place in the file system.

func sysUser(*Process, *Thread, *args) uint64  { return files.User }
func sysYield(*Process, *Thread, *args) uint64 { return 0 }

func sysGetpid(p *Process, _ *Thread, _ *args) uint64 { return uint64(p.pid) }

func sysGetppid(p *Process, _ *Thread, _ *args) uint64 {
	if p.parent == nil {
		return 1
	}
	return uint64(p.parent.pid)
}

func sysGettid(_ *Process, t *Thread, _ *args) uint64 { return uint64(t.TID) }

func sysSetTIDAddress(_ *Process, t *Thread, a *args) uint64 {
	t.clearTID = a[0]
	return uint64(t.TID)
}

const (
	archSetGS = 0x1001
	archSetFS = 0x1002
	archGetFS = 0x1003
	archGetGS = 0x1004
)

func sysArchPrctl(p *Process, t *Thread, a *args) uint64 {
	switch a[0] {
	case archSetFS:
		t.CPU.SetFSBase(a[1])
	case archSetGS:
		t.CPU.SetGSBase(a[1])
	case archGetFS:
		return p.putWords(a[1], t.CPU.FSBase())
	case archGetGS:
		return p.putWords(a[1], t.CPU.GSBase())
	default:
		return abi.EINVAL.Result()
	}
	return 0
}

func sysPrctl(p *Process, _ *Thread, a *args) uint64 {
	const setName, getName = 15, 16
	switch a[0] {
	case setName:
		return 0
	case getName:
		p.Mem.WriteAt(append([]byte("program"), make([]byte, 9)...), a[1])
		return 0
	}
	return abi.EINVAL.Result()
}

func sysUname(p *Process, _ *Thread, a *args) uint64 {
	b := make([]byte, 6*65)
	for i, s := range []string{"Linux", "emulated", "6.1.0", "#1", "x86_64", "(none)"} {
		copy(b[65*i:], s)
	}
	if !p.Mem.WriteAt(b, a[0]) {
		return abi.EFAULT.Result()
	}
	return 0
}

func limit(resource uint64) (soft, hard uint64) {
	const unlimited = ^uint64(0)
	switch resource {
	case 3: // the stack
		return 8 << 20, unlimited
	case 7: // files
		return 1024, 4096
	case 4: // core files
		return 0, unlimited
	}
	return unlimited, unlimited
}

func sysGetrlimit(p *Process, _ *Thread, a *args) uint64 {
	soft, hard := limit(a[0])
	return p.putWords(a[1], soft, hard)
}

func sysPrlimit(p *Process, _ *Thread, a *args) uint64 {
	if a[3] == 0 {
		return 0
	}
	soft, hard := limit(a[1])
	return p.putWords(a[3], soft, hard)
}

func sysGetrusage(p *Process, _ *Thread, a *args) uint64 {
	words := make([]uint64, 18)
	words[0], words[1] = p.count/1e9, p.count%1e9/1000
	return p.putWords(a[1], words...)
}

func sysSysinfo(p *Process, _ *Thread, a *args) uint64 {
	const gigabyte = 1 << 30
	words := make([]uint64, 14)
	words[0] = uint64(p.now()-bootTime) / 1e9
	words[4], words[5] = 8*gigabyte, 6*gigabyte
	words[10] = 1
	words[13] = 1 // the unit
	return p.putWords(a[0], words[:14]...)
}

// processors is how many there seem to be.
const processors = 4

func sysGetaffinity(p *Process, _ *Thread, a *args) uint64 {
	if a[1] < 8 {
		return abi.EINVAL.Result()
	}
	if e := p.putWords(a[2], 1<<processors-1); e != 0 {
		return e
	}
	return 8
}

func sysGetcpu(p *Process, _ *Thread, a *args) uint64 {
	for _, addr := range a[:2] {
		if addr != 0 {
			p.Mem.WriteAt(make([]byte, 4), addr)
		}
	}
	return 0
}

func sysGetparam(p *Process, _ *Thread, a *args) uint64 {
	if !p.Mem.WriteAt(make([]byte, 4), a[1]) {
		return abi.EFAULT.Result()
	}
	return 0
}

func sysGetres(p *Process, _ *Thread, a *args) uint64 {
	for _, addr := range a[:3] {
		if !p.Mem.WriteAt(binary.LittleEndian.AppendUint32(nil, files.User), addr) {
			return abi.EFAULT.Result()
		}
	}
	return 0
}

func sysGetpriority(*Process, *Thread, *args) uint64 { return 20 }

func sysUmask(p *Process, _ *Thread, a *args) uint64 {
	old := p.umask
	p.umask = uint32(a[0] & 0o777)
	return uint64(old)
}

func sysGetrandom(p *Process, _ *Thread, a *args) uint64 {
	// The C library asks for a word like this, to mark what it has freed.
	const nonBlocking, word = 1, 8
	if a[2] != nonBlocking || a[1] != word {
		p.used.Random = true
	}
	b := make([]byte, min(a[1], 1<<20))
	p.random(b)
	if !p.Mem.WriteAt(b, a[0]) {
		return abi.EFAULT.Result()
	}
	return uint64(len(b))
}
