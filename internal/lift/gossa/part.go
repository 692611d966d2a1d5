package gossa

import (
	"go/types"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
)

// Part says what some bytes of what an instruction gives are in the source: a field of a struct,
// the length of a slice or string, whether a map has the key.
//
//	v, ok := m[k]   // 8 bytes for v, then 1 for ok, which is the presence of k in m
func (p *Program) Part(in *ir.Instr, offset, size int) ir.Part {
	value, ok := p.Origin(in).Instr.(ssa.Value)
	if !ok {
		return ir.Part{}
	}
	t := value.Type()
	if tuple, ok := t.(*types.Tuple); ok {
		lookup, isLookup := value.(*ssa.Lookup)
		for i := range tuple.Len() {
			at := p.tupleOffset(tuple, i)
			switch within := offset - at; {
			case within < 0 || within+size > p.size(tuple.At(i).Type()):
			case isLookup && i == 1:
				d := p.elementOf(lookup.X)
				d.Element = false
				return ir.Part{Kind: ir.PartPresence, Name: d.String()}
			case isLookup && i == 0:
				return p.partOf(tuple.At(i).Type(), within, size)
			}
		}
		return ir.Part{}
	}
	return p.partOf(t, offset, size)
}

// partOf says what some bytes of a value of a type are.
func (p *Program) partOf(t types.Type, offset, size int) ir.Part {
	const word = 8
	if offset == 0 && size == p.size(t) {
		return ir.Part{Kind: ir.PartWhole}
	}
	switch u := t.Underlying().(type) {
	case *types.Basic:
		if u.Info()&types.IsString == 0 {
			return ir.Part{}
		}
		return header(offset, size)
	case *types.Slice:
		return header(offset, size)
	case *types.Interface:
		if offset < 2*word {
			return ir.Part{Kind: ir.PartWhole}
		}
	case *types.Struct:
		for i := range u.NumFields() {
			within := offset - p.offset(u, i)
			if within < 0 || within+size > p.size(u.Field(i).Type()) {
				continue
			}
			part := p.partOf(u.Field(i).Type(), within, size)
			if part.Kind == ir.PartWhole {
				part.Kind = ir.PartField
			}
			if part.Kind != ir.PartUnnamed {
				part.Name = "." + u.Field(i).Name() + part.Name
			}
			return part
		}
	}
	return ir.Part{}
}

// header says what a part of a string or slice is.
func header(offset, size int) ir.Part {
	const word = 8
	switch {
	case size == word && offset == 0:
		return ir.Part{Kind: ir.PartWhole}
	case size == word && offset == word:
		return ir.Part{Kind: ir.PartLength}
	}
	return ir.Part{}
}
