//go:build linux && amd64

package native

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// A Tracee is a process that is stopped whenever it is not told to run.
type Tracee struct {
	cmd  *exec.Cmd
	pid  int
	mem  *os.File
	Regs syscall.PtraceRegs
	// FX is the state of x87 and SSE in the format of fxsave.
	FX [512]byte
}

// Launch starts a program that stops before its first instruction.
func Launch(cmd *exec.Cmd) (*Tracee, error) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Ptrace = true
	if err := cmd.Start(); err != nil {
		if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSYS) {
			return nil, fmt.Errorf("%w: %v", ErrRefused, err)
		}
		return nil, fmt.Errorf("starting %s under ptrace: %w", cmd.Path, err)
	}
	t := &Tracee{cmd: cmd, pid: cmd.Process.Pid}
	if _, err := t.wait(); err != nil {
		t.Kill()
		return nil, err
	}
	// The tracee must not outlive its tracer.
	const exitKill = 1 << 20
	if err := syscall.PtraceSetOptions(t.pid, exitKill|syscall.PTRACE_O_TRACESYSGOOD); err != nil {
		t.Kill()
		return nil, fmt.Errorf("%w: %v", ErrRefused, err)
	}
	var err error
	t.mem, err = os.OpenFile(fmt.Sprintf("/proc/%d/mem", t.pid), os.O_RDWR, 0)
	if err != nil {
		t.Kill()
		return nil, fmt.Errorf("%w: %v", ErrRefused, err)
	}
	return t, t.get()
}

// Kill ends the process.
func (t *Tracee) Kill() {
	if t.mem != nil {
		t.mem.Close()
	}
	t.cmd.Process.Kill()
	var status syscall.WaitStatus
	for {
		if _, err := syscall.Wait4(t.pid, &status, 0, nil); err != nil || status.Exited() || status.Signaled() {
			return
		}
	}
}

// wait waits until the process stops, and returns the signal that stopped it; 0 if it
// ended.
func (t *Tracee) wait() (syscall.Signal, error) {
	var status syscall.WaitStatus
	for {
		if _, err := syscall.Wait4(t.pid, &status, 0, nil); err == nil {
			break
		} else if err != syscall.EINTR {
			return 0, fmt.Errorf("waiting for the traced process: %w", err)
		}
	}
	if !status.Stopped() {
		return 0, nil
	}
	return status.StopSignal(), nil
}

func (t *Tracee) get() error {
	if err := syscall.PtraceGetRegs(t.pid, &t.Regs); err != nil {
		return fmt.Errorf("reading the registers of the traced process: %w", err)
	}
	return fxState(t.pid, ptraceGetFPRegs, &t.FX)
}

// Set makes Regs and FX the state of the process.
func (t *Tracee) Set() error {
	// The kernel would otherwise try to restart a system call.
	t.Regs.Orig_rax = ^uint64(0)
	if err := syscall.PtraceSetRegs(t.pid, &t.Regs); err != nil {
		return fmt.Errorf("setting the registers of the traced process: %w", err)
	}
	return fxState(t.pid, ptraceSetFPRegs, &t.FX)
}

// Continue runs the process until it stops, and fetches its state.
func (t *Tracee) Continue() (syscall.Signal, error) {
	if err := syscall.PtraceCont(t.pid, 0); err != nil {
		return 0, fmt.Errorf("continuing the traced process: %w", err)
	}
	return t.stopped()
}

// Step executes one instruction.
func (t *Tracee) Step() (syscall.Signal, error) {
	if err := syscall.PtraceSingleStep(t.pid); err != nil {
		return 0, fmt.Errorf("stepping the traced process: %w", err)
	}
	return t.stopped()
}

func (t *Tracee) stopped() (syscall.Signal, error) {
	sig, err := t.wait()
	if err != nil || sig == 0 {
		return sig, err
	}
	return sig, t.get()
}

// Read and Write access the memory of the process, whatever its protection.
func (t *Tracee) Read(b []byte, addr uint64) error {
	if _, err := t.mem.ReadAt(b, int64(addr)); err != nil {
		return fmt.Errorf("reading %d bytes at %#x of the traced process: %w", len(b), addr, err)
	}
	return nil
}

func (t *Tracee) Write(b []byte, addr uint64) error {
	if _, err := t.mem.WriteAt(b, int64(addr)); err != nil {
		return fmt.Errorf("writing %d bytes at %#x of the traced process: %w", len(b), addr, err)
	}
	return nil
}

// Syscall has the process make a system call, from where it is.
func (t *Tracee) Syscall(number uint64, args ...uint64) (uint64, error) {
	saved, fx := t.Regs, t.FX
	var code [2]byte
	pc := t.Regs.Rip
	if err := t.Read(code[:], pc); err != nil {
		return 0, err
	}
	if err := t.Write([]byte{0x0f, 0x05}, pc); err != nil {
		return 0, err
	}
	t.Regs.Rax = number
	for i, r := range []*uint64{&t.Regs.Rdi, &t.Regs.Rsi, &t.Regs.Rdx, &t.Regs.R10, &t.Regs.R8, &t.Regs.R9} {
		if i < len(args) {
			*r = args[i]
		}
	}
	if err := t.Set(); err != nil {
		return 0, err
	}
	if _, err := t.Step(); err != nil {
		return 0, err
	}
	result := t.Regs.Rax
	t.Regs, t.FX = saved, fx
	if err := t.Write(code[:], pc); err != nil {
		return 0, err
	}
	return result, t.Set()
}

// Map makes memory at a fixed address.
func (t *Tracee) Map(addr, size uint64, prot int) error {
	const fixed = 0x100000 // MAP_FIXED_NOREPLACE
	got, err := t.Syscall(syscall.SYS_MMAP, addr, size, uint64(prot), syscall.MAP_PRIVATE|syscall.MAP_ANONYMOUS|fixed, ^uint64(0), 0)
	if err != nil {
		return err
	}
	if got != addr {
		return fmt.Errorf("mapping %#x in the traced process: %w", addr, syscall.Errno(-got))
	}
	return nil
}

// general are the registers in the order of their encoding.
func general(r *syscall.PtraceRegs) [16]*uint64 {
	return [16]*uint64{&r.Rax, &r.Rcx, &r.Rdx, &r.Rbx, &r.Rsp, &r.Rbp, &r.Rsi, &r.Rdi, &r.R8, &r.R9, &r.R10, &r.R11, &r.R12, &r.R13, &r.R14, &r.R15}
}

// vector returns a vector register of the state.
func (t *Tracee) vector(i int) [2]uint64 {
	at := t.FX[160+16*i:]
	return [2]uint64{binary.LittleEndian.Uint64(at), binary.LittleEndian.Uint64(at[8:])}
}
