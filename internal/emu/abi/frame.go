package abi

import "encoding/binary"

// Where things are in the frame of a signal handler, struct rt_sigframe, and its size; and the
// size of what is behind the frame, for the registers of vectors and of the x87.
const (
	FrameContext = 8
	FrameInfo    = FrameContext + 304
	FrameSize    = FrameInfo + 128
	FXSize       = 512

	frameRegisters = FrameContext + 40
	frameMask      = FrameContext + 296
)

// A Frame is what is on the stack of a signal handler.
type Frame struct {
	Restorer uint64
	Stack    [3]uint64 // the alternative stack
	// Registers are in the order of struct sigcontext: from r8 to r15, rdi, rsi, rbp, rbx, rdx,
	// rax, rcx, rsp.
	Registers [16]uint64
	PC, Flags uint64
	FX        uint64 // where the other registers are
	Mask      uint64
	Signal    Signal
	// Fault: an instruction caused the signal, by an access to Addr. Otherwise a user's process
	// sent it.
	Fault         bool
	Addr          uint64
	Process, User uint32
}

// Encode is the frame as it is in memory.
func (f *Frame) Encode() []byte {
	le := binary.LittleEndian
	b := make([]byte, FrameSize)
	le.PutUint64(b, f.Restorer)
	for i, w := range f.Stack {
		le.PutUint64(b[FrameContext+16+8*i:], w)
	}
	registers := b[frameRegisters:]
	for i, w := range f.Registers {
		le.PutUint64(registers[8*i:], w)
	}
	le.PutUint64(registers[128:], f.PC)
	le.PutUint64(registers[136:], f.Flags)
	le.PutUint64(registers[144:], 0x002b000000000033) // the segments
	le.PutUint64(registers[184:], f.FX)
	le.PutUint64(b[frameMask:], f.Mask)
	le.PutUint32(b[FrameInfo:], uint32(f.Signal))
	if f.Fault {
		le.PutUint64(registers[176:], f.Addr)
		le.PutUint64(b[FrameInfo+16:], f.Addr)
		le.PutUint32(b[FrameInfo+8:], 1)
		return b
	}
	le.PutUint32(b[FrameInfo+8:], ^uint32(5)) // from tkill
	le.PutUint32(b[FrameInfo+16:], f.Process)
	le.PutUint32(b[FrameInfo+20:], f.User)
	return b
}

// DecodeFrame reads what a thread goes back to after a handler.
func DecodeFrame(b []byte) (f Frame) {
	le := binary.LittleEndian
	registers := b[frameRegisters:]
	for i := range f.Registers {
		f.Registers[i] = le.Uint64(registers[8*i:])
	}
	f.PC, f.Flags, f.FX = le.Uint64(registers[128:]), le.Uint64(registers[136:]), le.Uint64(registers[184:])
	f.Mask = le.Uint64(b[frameMask:])
	return f
}
