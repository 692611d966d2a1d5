//go:build linux && amd64

package native

import (
	"encoding/binary"
	"fmt"

	"github.com/cofferdam-go/cofferdam/internal/emu/cpu"
	lifting "github.com/cofferdam-go/cofferdam/internal/lift/x86"
	"github.com/cofferdam-go/cofferdam/internal/sli/exec"
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
	"github.com/cofferdam-go/cofferdam/internal/x86"
)

// Lifted compares at least n random instructions as the emulator executes them with what
// the engine makes of them when they are lifted. What cannot be lifted is counted as
// skipped.
func Lifted(n int, seed uint64) (Result, error) {
	c := newEmulation(seed)
	c.gen.without = map[x86.Op]bool{}
	result, forms, skipped := Result{}, map[string]bool{}, map[string]bool{}
	for result.Instructions < n && result.Different < maxDifferences {
		c.gen.batch(1)
		if len(c.gen.insts) == 0 {
			continue
		}
		in := &c.gen.insts[0]
		c.randomise()
		c.initial.avoidInvented()
		ours := c.emulated(&c.initial)
		if ours.trap != "" {
			continue
		}
		lifted, err := lifting.LiftStraight(append([]byte(nil), c.gen.code...), codeAt)
		if err != nil {
			return result, err
		}
		if len(lifted.Opaque) > 0 {
			for _, op := range lifted.Opaque {
				skipped[op.String()] = true
			}
			continue
		}
		result.Instructions++
		forms[form(in)] = true
		theirs, err := runLifted(lifted, &c.initial)
		if err != nil {
			return result, err
		}
		if d := theirs.differs(&ours, in); d != "" {
			result.differ(fmt.Sprintf("%s (% x): %s", in.Text(codeAt, nil), c.gen.code, d))
		}
	}
	result.Forms = len(forms)
	for op := range skipped {
		result.Skipped = append(result.Skipped, op)
	}
	return result, nil
}

// avoidInvented keeps addresses out of a state that the engine takes for ones of its own:
// whether they equal others, it cannot tell.
func (s *state) avoidInvented() {
	mend := func(v *uint64) {
		if *v>>56 == ir.FirstInvented>>56 {
			*v ^= ir.FirstInvented
		}
	}
	for r := range s.regs {
		mend(&s.regs[r])
		mend(&s.x[r][0])
		mend(&s.x[r][1])
	}
	for i := 7; i < len(s.data); i++ {
		if s.data[i] == ir.FirstInvented>>56 {
			s.data[i] = 0
		}
	}
}

// A liftedState is what the engine knows at the end.
type liftedState struct {
	general, vectors [16]ir.Value
	flags            [5]ir.Value
	data             []byte
}

// runLifted executes lifted code in a state.
func runLifted(s *lifting.Straight, from *state) (*liftedState, error) {
	host := &liftedHost{data: append([]byte(nil), from.data...)}
	var args []ir.Value
	for r := range from.regs {
		var v [16]byte
		binary.LittleEndian.PutUint64(v[:], from.x[r][0])
		binary.LittleEndian.PutUint64(v[8:], from.x[r][1])
		args = append(args, ir.Word(8, from.regs[r]), ir.Bytes(v[:]))
	}
	for _, bit := range flagBits {
		args = append(args, ir.Word(1, boolWord(from.flags&bit != 0)))
	}
	thread := exec.NewThread(s.Program, host, ir.NewContexts(), 1, s.Func, args, nil)
	for steps := 0; ; steps++ {
		switch st := thread.Step(); {
		case st == exec.Ended:
			out := &liftedState{data: host.data}
			for r := range out.general {
				out.general[r], out.vectors[r] = host.left.Regs[s.End.General[r]], host.left.Regs[s.End.Vectors[r]]
			}
			for i := range out.flags {
				out.flags[i] = host.left.Regs[s.End.Flags[i]]
			}
			return out, nil
		case st != exec.Running || steps > 1<<16:
			return nil, fmt.Errorf("lifted code stops with status %d at %v", st, thread.At())
		}
	}
}

var flagBits = [5]uint64{cpu.CF, cpu.ZF, cpu.SF, cpu.OF, cpu.PF}

func boolWord(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// differs says in what the engine's end differs from the emulator's, "" if in nothing. Flags
// that the instruction leaves undefined may be unknown.
func (s *liftedState) differs(ours *state, in *x86.Inst) string {
	for r := range s.general {
		if v := s.general[r]; !v.Known || v.Uint() != ours.regs[r] {
			return fmt.Sprintf("lifted, %v is %v, emulated %#x", x86.Reg(r), v, ours.regs[r])
		}
		v := s.vectors[r]
		if !v.Known || v.Slice(0, 8).Uint() != ours.x[r][0] || v.Slice(8, 8).Uint() != ours.x[r][1] {
			return fmt.Sprintf("lifted, xmm%d is %v, emulated %x", r, v, ours.x[r])
		}
	}
	undefined := uint64(undefinedFlags(in))
	for i, bit := range flagBits {
		if v := s.flags[i]; v.Known && v.Uint() != boolWord(ours.flags&bit != 0) || !v.Known && undefined&bit == 0 {
			return fmt.Sprintf("lifted, the flag %#x is %v, emulated the flags are %#x", bit, v, ours.flags)
		}
	}
	for i := range s.data {
		if s.data[i] != ours.data[i] {
			return fmt.Sprintf("lifted, byte %#x is %#x, emulated %#x", dataAt+i, s.data[i], ours.data[i])
		}
	}
	return ""
}

// A liftedHost is the memory that lifted code runs in.
type liftedHost struct {
	exec.Host // what straight code does not ask for
	data      []byte
	left      *exec.Frame
}

func (h *liftedHost) at(addr ir.Value, size int) []byte {
	if off := addr.Uint() - dataAt; addr.Known && off+uint64(size) <= uint64(len(h.data)) {
		return h.data[off:][:size]
	}
	return nil
}

func (h *liftedHost) Load(_ *exec.Thread, in *ir.Instr, addr, _ ir.Value) (ir.Value, exec.Status) {
	b := h.at(addr, in.Size)
	if b == nil {
		return ir.Unknown(in.Size), exec.Lost
	}
	return ir.Bytes(b), exec.Running
}

func (h *liftedHost) Store(_ *exec.Thread, in *ir.Instr, addr, _, val ir.Value) exec.Status {
	b := h.at(addr, in.Size)
	if b == nil || !val.Known {
		return exec.Lost
	}
	copy(b, val.Append(nil))
	return exec.Running
}

func (h *liftedHost) Update(t *exec.Thread, in *ir.Instr, addr ir.Value, change func(ir.Value) ir.Value) (ir.Value, exec.Status) {
	old, st := h.Load(t, in, addr, ir.Value{})
	if st == exec.Running {
		st = h.Store(t, in, addr, ir.Value{}, change(old))
	}
	return old, st
}

func (h *liftedHost) Enter(*exec.Thread, *exec.Frame)     {}
func (h *liftedHost) Leave(_ *exec.Thread, f *exec.Frame) { h.left = f }
func (h *liftedHost) Branch(*exec.Thread, *ir.Instr) int  { return -1 }
func (h *liftedHost) Symbol(string) ir.Value              { return ir.Unknown(8) }
func (h *liftedHost) BadAddress(addr uint64) ir.Value     { return ir.Unknown(1) }
