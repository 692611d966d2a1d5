package binpatch

import (
	"encoding/binary"
	"maps"
	"slices"
)

// Instructions of the tables that say where registers are, by DWARF's names.
const (
	ruleAdvance      = 0x40 // with the distance, as the two below with a register
	ruleOffset       = 0x80
	ruleRestore      = 0xc0
	ruleNop          = 0x00
	ruleSetLocation  = 0x01
	ruleAdvance1     = 0x02
	ruleAdvance2     = 0x03
	ruleAdvance4     = 0x04
	ruleOffsetLong   = 0x05
	ruleRestoreLong  = 0x06
	ruleUndefined    = 0x07
	ruleSame         = 0x08
	ruleRegister     = 0x09
	ruleRemember     = 0x0a
	ruleRecall       = 0x0b
	ruleFrame        = 0x0c
	ruleFrameReg     = 0x0d
	ruleFrameOffset  = 0x0e
	ruleFrameExpr    = 0x0f
	ruleExpression   = 0x10
	ruleOffsetSigned = 0x11
	ruleFrameSigned  = 0x12
	ruleFrameOffsetS = 0x13
	ruleValue        = 0x14
	ruleValueSigned  = 0x15
	ruleValueExpr    = 0x16
	ruleArgsSize     = 0x2e
)

// rules are where registers are at one instruction, while the instructions of a table are gone
// through up to there. What is said of a register is kept as it was said.
type rules struct {
	location, pc uint64
	row
	remembered []row
}

// A row is what holds from one instruction on.
type row struct {
	// The caller's frame is offset bytes from a register, or as an instruction says.
	frameRegister, frameOffset uint64
	frameExpression            []byte
	registers                  map[uint64][]byte
	argsSize                   []byte
}

func newRules() *rules { return &rules{row: row{registers: map[uint64][]byte{}}} }

func (r *row) copy() row {
	c := *r
	c.registers = maps.Clone(r.registers)
	return c
}

// run goes through instructions up to the one that the rules are asked for, or to the end.
// initial is what a register goes back to.
func (s *rules) run(r *tableReader, end uint64, initial any) {
	first, _ := initial.(row)
	for r.at < end {
		start := r.at
		op := r.byte()
		low := uint64(op & 0x3f)
		set := func(register uint64) { s.registers[register] = slices.Clone(r.since(start)) }
		switch op & 0xc0 {
		case ruleAdvance:
			s.location += low * codeFactor
		case ruleOffset:
			r.uleb()
			set(low)
		case ruleRestore:
			s.restore(low, first)
		default:
			s.extended(r, op, set, first)
		}
		if s.pc != 0 && s.location > s.pc {
			return
		}
	}
}

// since is what was read from an address on.
func (r *tableReader) since(start uint64) []byte { return r.file.bytes(start)[:r.at-start] }

func (s *rules) restore(register uint64, initial row) {
	if was := initial.registers[register]; was != nil {
		s.registers[register] = was
	} else {
		delete(s.registers, register)
	}
}

// extended is an instruction whose number takes the whole byte.
func (s *rules) extended(r *tableReader, op byte, set func(uint64), initial row) {
	switch op {
	case ruleNop:
	case ruleAdvance1:
		s.location += uint64(r.byte())
	case ruleAdvance2:
		s.location += r.uint16()
	case ruleAdvance4:
		s.location += r.uint32()
	case ruleRestoreLong:
		s.restore(r.uleb(), initial)
	case ruleUndefined, ruleSame:
		set(r.uleb())
	case ruleOffsetLong, ruleRegister, ruleValue:
		register := r.uleb()
		r.uleb()
		set(register)
	case ruleOffsetSigned, ruleValueSigned:
		register := r.uleb()
		r.sleb()
		set(register)
	case ruleExpression, ruleValueExpr:
		register := r.uleb()
		r.take(r.uleb())
		set(register)
	case ruleRemember:
		s.remembered = append(s.remembered, s.row.copy())
	case ruleRecall:
		if len(s.remembered) == 0 {
			panic(errFrames)
		}
		s.row, s.remembered = s.remembered[len(s.remembered)-1], s.remembered[:len(s.remembered)-1]
	case ruleFrame:
		s.frameRegister, s.frameOffset, s.frameExpression = r.uleb(), r.uleb(), nil
	case ruleFrameSigned:
		s.frameRegister, s.frameOffset, s.frameExpression = r.uleb(), uint64(r.sleb()*dataFactor), nil
	case ruleFrameReg:
		s.frameRegister = r.uleb()
	case ruleFrameOffset:
		s.frameOffset = r.uleb()
	case ruleFrameOffsetS:
		s.frameOffset = uint64(r.sleb() * dataFactor)
	case ruleFrameExpr:
		s.frameExpression = slices.Clone(r.take(r.uleb()))
	case ruleArgsSize:
		s.argsSize = binary.AppendUvarint([]byte{ruleArgsSize}, r.uleb())
	default:
		panic(errFrames)
	}
}

// encode is the rules as instructions of a table of their own.
func (s *rules) encode() []byte {
	var b []byte
	if s.frameExpression != nil {
		b = append(binary.AppendUvarint([]byte{ruleFrameExpr}, uint64(len(s.frameExpression))), s.frameExpression...)
	} else {
		b = binary.AppendUvarint(binary.AppendUvarint([]byte{ruleFrame}, s.frameRegister), s.frameOffset)
	}
	for _, register := range slices.Sorted(maps.Keys(s.registers)) {
		b = append(b, s.registers[register]...)
	}
	return append(b, s.argsSize...)
}
