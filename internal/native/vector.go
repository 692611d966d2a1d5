package native

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
)

// A Vector is a batch of instructions and what the processor made of it, for machines that
// do not have the processor or do not allow ptrace.
type Vector struct {
	Seed uint64 // of the initial state
	Code []byte
	End  string // a hash of the final state
}

// prepare makes the vector the batch to run, and its initial state.
func (e *emulation) prepare(v *Vector) {
	e.rng = rand.New(rand.NewPCG(v.Seed, 15))
	e.randomise()
	e.gen.code = append(e.gen.code[:0], v.Code...)
}

// Emulate runs a vector in the emulator and returns the hash of its final state.
func (v *Vector) Emulate() string {
	e := newEmulation(0)
	e.prepare(v)
	s := e.emulated(&e.initial)
	return s.hash()
}

// hash identifies a state.
func (s *state) hash() string {
	h := sha256.New()
	binary.Write(h, binary.LittleEndian, s.regs)
	binary.Write(h, binary.LittleEndian, []uint64{s.flags, s.pc})
	binary.Write(h, binary.LittleEndian, s.x)
	h.Write(s.data)
	h.Write([]byte(s.trap))
	return fmt.Sprintf("%x", h.Sum(nil)[:12])
}
