package binpatch

import (
	"encoding/binary"
	"fmt"

	"github.com/cofferdam-go/cofferdam/internal/x86"
)

// A copier writes copies of the program's instructions. Its code is linked for the address 0
// of the program's file; relocations are the places that move with the code.
type copier struct {
	*assembly
	image       Image
	relocations []uint32
}

// toProgram adds an instruction that ends with the distance to an address of the program.
func (c *copier) toProgram(target uint64, opcode ...byte) {
	c.emit(opcode...)
	c.relocations = append(c.relocations, uint32(len(c.code)))
	c.emit(binary.LittleEndian.AppendUint32(nil, uint32(target)-uint32(len(c.code)+4))...)
}

// plain copies an instruction that does not jump. An operand that is relative to the
// instruction is made relative to the copy.
func (c *copier) plain(pc uint64, in *x86.Inst) error {
	raw := append([]byte(nil), c.image.Bytes(pc, int(in.Len))...)
	if len(raw) == 0 {
		return fmt.Errorf("there is no code at %#x", pc)
	}
	if _, ok := in.HasMemory(); ok && in.Mem.Base == x86.RIP {
		at := displacementAt(raw, in)
		if at < 0 {
			return fmt.Errorf("%s at %#x cannot be moved", in.Text(pc, nil), pc)
		}
		target := pc + uint64(in.Len) + uint64(in.Mem.Disp)
		c.relocations = append(c.relocations, uint32(len(c.code)+at))
		binary.LittleEndian.PutUint32(raw[at:], uint32(target)-uint32(len(c.code)+len(raw)))
	}
	c.emit(raw...)
	return nil
}

// displacementAt finds the displacement of an operand that is relative to the instruction:
// the 4 bytes whose change changes it, and nothing else. -1 if there are none.
func displacementAt(raw []byte, in *x86.Inst) int {
	for at := len(raw) - 4; at >= 2; at-- {
		if int64(int32(binary.LittleEndian.Uint32(raw[at:]))) != in.Mem.Disp {
			continue
		}
		changed := append([]byte(nil), raw...)
		binary.LittleEndian.PutUint32(changed[at:], uint32(in.Mem.Disp)^0x12345678)
		var other x86.Inst
		if x86.Decode(changed, &other) != nil {
			continue
		}
		other.Mem.Disp = in.Mem.Disp
		if other == *in {
			return at
		}
	}
	return -1
}
