//go:build linux && amd64

package native

import (
	"encoding/binary"
	"fmt"
	"os/exec"
	"runtime"
	"slices"
	"syscall"

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

type comparison struct {
	*emulation
	tracee *Tracee
	forms  map[string]bool
	result Result
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
	c := &comparison{emulation: newEmulation(seed), tracee: tracee, forms: map[string]bool{}}
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
	// The x87 as a program finds it.
	binary.LittleEndian.PutUint64(t.FX[0:], 0x37f)
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

// Vectors makes n vectors on the processor.
func Vectors(n int, seed uint64) ([]Vector, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	c, err := newComparison(seed)
	if err != nil {
		return nil, err
	}
	defer c.tracee.Kill()
	var all []Vector
	for i := range n {
		c.gen.batch(vectorSize)
		v := Vector{Seed: seed + uint64(i), Code: slices.Clone(c.gen.code)}
		c.prepare(&v)
		s, err := c.native(&c.initial)
		if err != nil {
			return nil, err
		}
		v.End = s.hash()
		all = append(all, v)
	}
	return all, nil
}

// vectorSize is how many instructions a vector has: few, so that a difference is found.
const vectorSize = 40
