package native

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"syscall"

	"github.com/cofferdam-go/cofferdam/internal/emu/cpu"
	"github.com/cofferdam-go/cofferdam/internal/emu/mem"
	"github.com/cofferdam-go/cofferdam/internal/x86"
)

// A state is what is compared.
type state struct {
	regs  [16]uint64
	flags uint64
	pc    uint64
	x     [16][2]uint64
	data  []byte
	trap  string
}

// An emulation is the emulator's side of a comparison.
type emulation struct {
	gen   generator
	rng   *rand.Rand
	space *mem.Space
	cpu   *cpu.CPU

	initial state
}

func newEmulation(seed uint64) *emulation {
	rng := rand.New(rand.NewPCG(seed, 14))
	e := &emulation{rng: rng, gen: generator{rng: rng}, space: mem.NewSpace()}
	e.space.Map(mem.Area{Start: codeAt, End: codeAt + codeSize, Prot: mem.Read | mem.Write | mem.Exec, Name: "code"})
	e.space.Map(mem.Area{Start: dataAt, End: dataAt + dataSize, Prot: mem.Read | mem.Write, Name: "data"})
	e.cpu = cpu.New(e.space, cpu.NewCode())
	return e
}

// randomise makes a new initial state. Numbers are often small, or nearly too large, or
// floating point numbers of all kinds.
func (c *emulation) randomise() {
	s := &c.initial
	for i := range s.regs {
		s.regs[i] = c.number()
	}
	s.regs[x86.RSP] = stackAt
	s.regs[baseA], s.regs[baseB], s.regs[index] = baseAValue, baseBValue, indexValue
	for i := range s.x {
		s.x[i] = [2]uint64{c.number(), c.number()}
	}
	s.flags = c.rng.Uint64()&(cpu.CF|cpu.PF|cpu.AF|cpu.ZF|cpu.SF|cpu.OF) | 2
	if s.data == nil {
		s.data = make([]byte, dataSize)
	}
	for i := 0; i < dataSize; i += 8 {
		binary.LittleEndian.PutUint64(s.data[i:], c.number())
	}
}

func (c *emulation) number() uint64 {
	r := c.rng
	switch r.IntN(8) {
	case 0:
		return uint64(r.IntN(256))
	case 1:
		return -uint64(r.IntN(256))
	case 2:
		return 1 << r.IntN(64)
	case 3:
		return 1<<r.IntN(64) - 1
	case 4: // a double of moderate size
		return uint64(0x3f0+r.IntN(32))<<52 | r.Uint64()>>12 | r.Uint64()<<63
	case 5: // two singles of moderate size
		one := func() uint64 {
			return uint64(0x78+r.IntN(16))<<23 | uint64(r.Uint32()>>9) | uint64(r.Uint32())<<31&0x80000000
		}
		return one() | one()<<32
	}
	return r.Uint64()
}

// comparedFlags are those that programs see.
const comparedFlags = cpu.CF | cpu.PF | cpu.AF | cpu.ZF | cpu.SF | cpu.OF | cpu.DF

// emulated runs the batch in the emulator.
func (c *emulation) emulated(from *state) state {
	c.space.Poke(c.gen.code, codeAt)
	c.space.Poke(from.data, dataAt)
	p := c.cpu
	copy(p.R[:16], from.regs[:])
	p.SetFlags(from.flags)
	for i, x := range from.x {
		p.X[i] = x
	}
	p.FPU = cpu.New(c.space, nil).FPU
	p.PC = codeAt
	trap := p.Run(1 << 20)
	s := state{flags: p.Flags() & comparedFlags, pc: p.PC, data: make([]byte, dataSize)}
	switch trap.Kind {
	case cpu.Breakpoint:
	case cpu.Divide:
		s.trap = syscall.SIGFPE.String()
	case cpu.Segment, cpu.Protection:
		s.trap = syscall.SIGSEGV.String()
	case cpu.Invalid:
		s.trap = syscall.SIGILL.String()
	default:
		s.trap = fmt.Sprintf("trap %d: %s", trap.Kind, trap.Text)
	}
	copy(s.regs[:], p.R[:16])
	for i, x := range p.X {
		s.x[i] = x
	}
	c.space.ReadAt(s.data, dataAt)
	return s
}

// difference says in what two states differ, "" if in nothing.
func (s *state) difference(native *state) string {
	var d []string
	say := func(format string, args ...any) { d = append(d, fmt.Sprintf(format, args...)) }
	if s.trap != native.trap {
		say("emulated it ends with %q, natively with %q", s.trap, native.trap)
	}
	for i := range s.regs {
		if s.regs[i] != native.regs[i] {
			say("%v is %#x, natively %#x", x86.Reg(i), s.regs[i], native.regs[i])
		}
	}
	if s.flags != native.flags {
		say("the flags are %#x, natively %#x", s.flags, native.flags)
	}
	if s.pc != native.pc {
		say("it is at %#x, natively at %#x", s.pc, native.pc)
	}
	for i := range s.x {
		if s.x[i] != native.x[i] {
			say("xmm%d is %x, natively %x", i, s.x[i], native.x[i])
		}
	}
	if !bytes.Equal(s.data, native.data) {
		for i := range s.data {
			if s.data[i] != native.data[i] {
				say("byte %#x is %#x, natively %#x", dataAt+i, s.data[i], native.data[i])
				break
			}
		}
	}
	return strings.Join(d, "; ")
}
