//go:build linux && amd64

package native

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/cofferdam-go/cofferdam/internal/emu/cpu"
	"github.com/cofferdam-go/cofferdam/internal/emu/mem"
	"github.com/cofferdam-go/cofferdam/internal/x86"
)

const batchSize = 150

// Forms compares at least n random instructions.
func Forms(n int, seed uint64) (Result, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	c, err := newComparison(seed)
	if err != nil {
		return Result{}, err
	}
	defer c.tracee.Kill()
	for c.result.Instructions < n && c.result.Different < maxDifferences {
		c.gen.batch(batchSize)
		if err := c.batch(); err != nil {
			return c.result, err
		}
	}
	c.result.Forms = len(c.forms)
	return c.result, nil
}

// A state is what is compared.
type state struct {
	regs  [16]uint64
	flags uint64
	pc    uint64
	x     [16][2]uint64
	data  []byte
	trap  string
}

type comparison struct {
	tracee *Tracee
	gen    generator
	rng    *rand.Rand
	space  *mem.Space
	cpu    *cpu.CPU
	forms  map[string]bool
	result Result

	initial state
}

func newComparison(seed uint64) (*comparison, error) {
	tracee, err := Launch(exec.Command("/proc/self/exe"))
	if err != nil {
		return nil, err
	}
	for _, area := range [][2]uint64{{codeAt, codeSize}, {dataAt, dataSize}} {
		if err := tracee.Map(area[0], area[1], syscall.PROT_READ|syscall.PROT_WRITE|syscall.PROT_EXEC); err != nil {
			tracee.Kill()
			return nil, err
		}
	}
	rng := rand.New(rand.NewPCG(seed, 14))
	c := &comparison{tracee: tracee, rng: rng, gen: generator{rng: rng}, forms: map[string]bool{}, space: mem.NewSpace()}
	c.space.Map(mem.Area{Start: codeAt, End: codeAt + codeSize, Prot: mem.Read | mem.Write | mem.Exec, Name: "code"})
	c.space.Map(mem.Area{Start: dataAt, End: dataAt + dataSize, Prot: mem.Read | mem.Write, Name: "data"})
	c.cpu = cpu.New(c.space, cpu.NewCode())
	return c, c.features()
}

// features asks the processor which of the newer operations it has.
func (c *comparison) features() error {
	c.gen.without = map[x86.Op]bool{}
	ask := func(leaf uint64) (regs [16]uint64, err error) {
		c.gen.code = []byte{0x0f, 0xa2, 0xcc} // cpuid; int3
		var s state
		s.regs[x86.RAX], s.data = leaf, make([]byte, dataSize)
		got, err := c.native(&s)
		return got.regs, err
	}
	one, err := ask(1)
	if err != nil {
		return err
	}
	seven, err := ask(7)
	if err != nil {
		return err
	}
	extended, err := ask(0x80000001)
	if err != nil {
		return err
	}
	need := func(has bool, ops ...x86.Op) {
		for _, o := range ops {
			if !has {
				c.gen.without[o] = true
				c.result.Skipped = append(c.result.Skipped, o.String())
			}
		}
	}
	need(one[x86.RCX]&1 != 0, x86.MOVDDUP, x86.MOVSLDUP, x86.MOVSHDUP)
	need(one[x86.RCX]>>23&1 != 0, x86.POPCNT)
	need(seven[x86.RBX]>>3&1 != 0, x86.TZCNT)
	need(extended[x86.RCX]>>5&1 != 0, x86.LZCNT)
	return nil
}

// randomise makes a new initial state. Numbers are often small, or nearly too large, or
// floating point numbers of all kinds.
func (c *comparison) randomise() {
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

func (c *comparison) number() uint64 {
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

// batch runs the generated batch on both and compares.
func (c *comparison) batch() error {
	c.randomise()
	theirs, err := c.native(&c.initial)
	if err != nil {
		return err
	}
	ours := c.emulated(&c.initial)
	done := len(c.gen.insts)
	if ours.trap != "" {
		done = slices.IndexFunc(c.gen.starts, func(s int) bool { return codeAt+uint64(s) >= ours.pc })
		if done < 0 {
			done = len(c.gen.insts)
		}
	}
	c.result.Instructions += done
	for i := range c.gen.insts[:done] {
		c.forms[form(&c.gen.insts[i])] = true
	}
	if ours.difference(&theirs) == "" {
		return nil
	}
	return c.locate()
}

// form is what makes two instructions ones of the same form.
func form(in *x86.Inst) string {
	return fmt.Sprint(in.Op, in.Cond, in.Size, in.Lock, in.Repeat, in.Args[0].Place, in.Args[0].Size, in.Args[1].Place, in.Args[1].Size, in.Args[2].Place)
}

// locate finds the first instruction of the batch that makes a difference: by ever longer
// beginnings of the batch.
func (c *comparison) locate() error {
	whole := slices.Clone(c.gen.code)
	defer func() { c.gen.code = whole }()
	for i, in := range c.gen.insts {
		end := len(whole) - 1
		if i+1 < len(c.gen.starts) {
			end = c.gen.starts[i+1]
		}
		c.gen.code = append(slices.Clone(whole[:end]), 0xcc)
		theirs, err := c.native(&c.initial)
		if err != nil {
			return err
		}
		ours := c.emulated(&c.initial)
		if d := ours.difference(&theirs); d != "" {
			at := codeAt + uint64(c.gen.starts[i])
			c.result.differ(fmt.Sprintf("%s (% x): %s", in.Text(at, nil), whole[c.gen.starts[i]:end], d))
			return nil
		}
	}
	c.result.differ("a batch differs as a whole and none of its beginnings does")
	return nil
}

// native runs the batch on the processor.
func (c *comparison) native(from *state) (state, error) {
	t := c.tracee
	if err := t.Write(c.gen.code, codeAt); err != nil {
		return state{}, err
	}
	if err := t.Write(from.data, dataAt); err != nil {
		return state{}, err
	}
	for i, r := range general(&t.Regs) {
		*r = from.regs[i]
	}
	t.Regs.Rip, t.Regs.Eflags = codeAt, from.flags
	for i, x := range from.x {
		binary.LittleEndian.PutUint64(t.FX[160+16*i:], x[0])
		binary.LittleEndian.PutUint64(t.FX[168+16*i:], x[1])
	}
	binary.LittleEndian.PutUint32(t.FX[24:], 0x1f80)
	if err := t.Set(); err != nil {
		return state{}, err
	}
	sig, err := t.Continue()
	if err != nil {
		return state{}, err
	}
	s := state{flags: t.Regs.Eflags & comparedFlags, pc: t.Regs.Rip, data: make([]byte, dataSize)}
	switch sig {
	case syscall.SIGTRAP:
	case 0:
		return s, fmt.Errorf("the traced process ended")
	default:
		s.trap = sig.String()
	}
	for i, r := range general(&t.Regs) {
		s.regs[i] = *r
	}
	for i := range s.x {
		s.x[i] = t.vector(i)
	}
	return s, t.Read(s.data, dataAt)
}

// comparedFlags are those that programs see.
const comparedFlags = cpu.CF | cpu.PF | cpu.AF | cpu.ZF | cpu.SF | cpu.OF | cpu.DF

// emulated runs the batch in the emulator.
func (c *comparison) emulated(from *state) state {
	c.space.Poke(c.gen.code, codeAt)
	c.space.Poke(from.data, dataAt)
	p := c.cpu
	copy(p.R[:16], from.regs[:])
	p.SetFlags(from.flags)
	for i, x := range from.x {
		p.X[i] = x
	}
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
