//go:build linux && amd64

package native

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"

	"github.com/cofferdam-go/cofferdam/internal/emu/cpu"
	"github.com/cofferdam-go/cofferdam/internal/emu/mem"
	"github.com/cofferdam-go/cofferdam/internal/x86"
)

// Start compares the first n instructions of a program, or all of them if it has fewer.
//
// The emulator starts with the memory and registers that the kernel gave the process.
// After each instruction registers, flags and vector registers are compared, and whatever
// memory an instruction wrote. CPUID is answered on both sides as the emulator does, so
// that both take the same way; time and system calls are the machine's, on both.
func Start(n int, path string, args ...string) (Result, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd := exec.Command(path, args...)
	cmd.Env = []string{"LC_ALL=C", "PATH=/usr/bin:/bin"}
	tracee, err := Launch(cmd)
	if err != nil {
		return Result{}, err
	}
	defer tracee.Kill()
	space := mem.NewSpace()
	s := &starting{tracee: tracee, space: space, cpu: cpu.New(space, cpu.NewCode()), forms: map[string]bool{}}
	if err := s.copyMemory(); err != nil {
		return Result{}, err
	}
	s.copyRegisters()
	for s.result.Instructions < n && s.result.Different < maxDifferences {
		ended, err := s.step()
		if err != nil {
			return s.result, err
		}
		if ended {
			break
		}
	}
	s.result.Forms = len(s.forms)
	return s.result, nil
}

type starting struct {
	tracee *Tracee
	space  *mem.Space
	cpu    *cpu.CPU
	forms  map[string]bool
	result Result
}

// A mapping is a line of /proc/pid/maps.
type mapping struct {
	start, end uint64
	prot       uint8
	name       string
}

func (s *starting) mappings() ([]mapping, error) {
	f, err := os.Open(fmt.Sprintf("/proc/%d/maps", s.tracee.pid))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var all []mapping
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var m mapping
		var prot, rest string
		if _, err := fmt.Sscanf(lines.Text(), "%x-%x %s", &m.start, &m.end, &prot); err != nil {
			return nil, err
		}
		if fields := strings.Fields(lines.Text()); len(fields) > 5 {
			rest = fields[5]
		}
		for i, bit := range []uint8{mem.Read, mem.Write, mem.Exec} {
			if prot[i] != '-' {
				m.prot |= bit
			}
		}
		m.name = rest
		all = append(all, m)
	}
	return all, nil
}

// copyMemory makes the emulator's memory that of the process. What is the same already is
// left, so that decoded instructions stay.
func (s *starting) copyMemory() error {
	all, err := s.mappings()
	if err != nil {
		return err
	}
	known := map[mapping]bool{}
	for _, a := range s.space.Areas() {
		known[mapping{a.Start, a.End, a.Prot, a.Name}] = true
	}
	changed := len(known) != len(all)
	for _, m := range all {
		changed = changed || !known[m]
	}
	if changed {
		for _, a := range s.space.Areas() {
			s.space.Unmap(a.Start, a.End)
		}
	}
	for _, m := range all {
		if changed {
			s.space.Map(mem.Area{Start: m.start, End: m.end, Prot: m.prot, Name: m.name})
		}
		if m.name == "[vvar]" || m.name == "[vvar_vclock]" || m.name == "[vsyscall]" || m.prot == 0 {
			continue
		}
		if changed || m.prot&mem.Write != 0 {
			s.refresh(m)
		}
	}
	return nil
}

// refresh copies the pages that differ. Some cannot be read: those of a file that ends
// before them.
func (s *starting) refresh(m mapping) {
	contents := make([]byte, m.end-m.start)
	if s.tracee.Read(contents, m.start) != nil {
		for at := m.start; at < m.end; at += mem.PageSize {
			page := contents[at-m.start:][:mem.PageSize]
			if s.tracee.Read(page, at) != nil {
				clear(page)
			}
		}
	}
	var old [mem.PageSize]byte
	for i := 0; i < len(contents); i += mem.PageSize {
		page, addr := contents[i:i+mem.PageSize], m.start+uint64(i)
		s.space.Peek(old[:], addr)
		if !bytes.Equal(old[:], page) {
			s.space.Poke(page, addr)
		}
	}
}

func (s *starting) copyRegisters() {
	t := s.tracee
	for i, r := range general(&t.Regs) {
		s.cpu.R[i] = *r
	}
	s.cpu.PC = t.Regs.Rip
	s.cpu.SetFlags(t.Regs.Eflags)
	s.cpu.SetFSBase(t.Regs.Fs_base)
	s.cpu.SetGSBase(t.Regs.Gs_base)
	s.cpu.DecodeFXState(t.FX[:])
}

// step executes an instruction on both sides and compares.
func (s *starting) step() (ended bool, err error) {
	t := s.tracee
	pc := t.Regs.Rip
	var raw [x86.MaxLen]byte
	code := raw[:s.fetch(raw[:], pc)]
	var in x86.Inst
	if err := x86.Decode(code, &in); err != nil {
		s.result.differ(fmt.Sprintf("% x at %#x: %v", code, pc, err))
		return true, nil
	}
	before := t.Regs
	sig, err := t.Step()
	if err != nil {
		return true, err
	}
	if sig != syscall.SIGTRAP {
		if sig != 0 {
			s.result.differ(fmt.Sprintf("%s at %#x: natively it ends with %v", in.Text(pc, nil), pc, sig))
		}
		return true, nil
	}
	s.result.Instructions++
	s.forms[form(&in)] = true
	switch in.Op {
	case x86.CPUID:
		a, b, c, d := cpu.CPUID(uint32(before.Rax), uint32(before.Rcx))
		t.Regs.Rax, t.Regs.Rbx, t.Regs.Rcx, t.Regs.Rdx = uint64(a), uint64(b), uint64(c), uint64(d)
		if err := t.Set(); err != nil {
			return true, err
		}
		s.copyRegisters()
		return false, nil
	case x86.RDTSC, x86.RDTSCP, x86.XGETBV:
		s.copyRegisters()
		return false, nil
	case x86.SYSCALL:
		s.copyRegisters()
		return false, s.copyMemory()
	}
	s.space.Watch(true)
	trap := s.cpu.Step()
	s.space.Watch(false)
	if in.Repeat != x86.Once && t.Regs.Rip == pc {
		// The processor stops after each round of a string operation.
		for t.Regs.Rip == pc && err == nil {
			_, err = t.Step()
		}
	}
	s.compare(&in, pc, trap)
	return false, err
}

func (s *starting) fetch(code []byte, pc uint64) int {
	for n := len(code); n > 0; n-- {
		if s.tracee.Read(code[:n], pc) == nil {
			return n
		}
	}
	return 0
}

// compare compares registers and the memory that was written, and goes on from the native
// state.
func (s *starting) compare(in *x86.Inst, pc uint64, trap cpu.Trap) {
	t := s.tracee
	var ours, theirs state
	copy(ours.regs[:], s.cpu.R[:16])
	for i, r := range general(&t.Regs) {
		theirs.regs[i] = *r
	}
	compared := comparedFlags &^ uint64(undefinedFlags(in))
	ours.flags, theirs.flags = s.cpu.Flags()&compared, t.Regs.Eflags&compared
	ours.pc, theirs.pc = s.cpu.PC, t.Regs.Rip
	for i := range ours.x {
		ours.x[i], theirs.x[i] = s.cpu.X[i], t.vector(i)
	}
	if trap.Kind != cpu.Limit {
		ours.trap = trap.Text
	}
	d := ours.difference(&theirs)
	for _, a := range s.space.Log() {
		if !a.Write {
			continue
		}
		var ours, theirs [8]byte
		s.space.ReadAt(ours[:a.Size], a.Addr)
		if err := t.Read(theirs[:a.Size], a.Addr); err == nil && ours != theirs && !pushesFlags(in) {
			d += fmt.Sprintf("; memory at %#x is %x, natively %x", a.Addr, binary.LittleEndian.Uint64(ours[:]), binary.LittleEndian.Uint64(theirs[:]))
			s.space.Poke(theirs[:a.Size], a.Addr)
		}
	}
	s.space.Forget()
	if d != "" {
		s.result.differ(fmt.Sprintf("%s at %#x: %s", in.Text(pc, nil), pc, d))
	}
	if d != "" || undefinedFlags(in) != 0 {
		s.copyRegisters()
	}
}

// pushesFlags reports whether an instruction stores flags that differ under ptrace, or x87
// state that is not kept.
func pushesFlags(in *x86.Inst) bool {
	return in.Op == x86.PUSHF || in.Op == x86.FXSAVE || in.Op == x86.FNSTENV
}
