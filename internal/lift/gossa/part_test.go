package gossa

import (
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
)

// TestPartsAreNamedAsTheSourceDoes: fields and fields of fields, lengths, the presence of a key; and
// nothing where there is no name.
func TestPartsAreNamedAsTheSourceDoes(t *testing.T) {
	p := lift(t, "parts")
	load := func(fn string, size int) *ir.Instr {
		t.Helper()
		for _, b := range p.Func(pkgPath("parts") + "." + fn).Blocks {
			for _, in := range b.Instrs {
				if in.Op == ir.Load && in.Size == size {
					return in
				}
			}
		}
		t.Fatalf("%s loads nothing of %d bytes", fn, size)
		return nil
	}
	for _, c := range []struct {
		fn                 string
		size, offset, part int
		want               ir.Part
	}{
		{"useStruct", 48, 0, 48, ir.Part{Kind: ir.PartWhole}},
		{"useStruct", 48, 0, 16, ir.Part{Kind: ir.PartField, Name: ".host"}},
		{"useStruct", 48, 8, 8, ir.Part{Kind: ir.PartLength, Name: ".host"}},
		{"useStruct", 48, 16, 8, ir.Part{Kind: ir.PartField, Name: ".port"}},
		{"useStruct", 48, 32, 8, ir.Part{Kind: ir.PartLength, Name: ".tags"}},
		{"useStruct", 48, 40, 8, ir.Part{}},
		{"useStruct", 48, 12, 8, ir.Part{}},
		{"useSlice", 24, 0, 8, ir.Part{Kind: ir.PartWhole}},
		{"useSlice", 24, 8, 8, ir.Part{Kind: ir.PartLength}},
		{"useText", 16, 8, 8, ir.Part{Kind: ir.PartLength}},
		{"useInterface", 16, 0, 8, ir.Part{Kind: ir.PartWhole}},
		{"useMap", 9, 8, 1, ir.Part{Kind: ir.PartPresence, Name: "parts.ages"}},
		{"useMap", 9, 0, 8, ir.Part{Kind: ir.PartWhole}},
	} {
		if got := p.Part(load(c.fn, c.size), c.offset, c.part); got != c.want {
			t.Errorf("%s, %d bytes at %d: %+v, want %+v", c.fn, c.part, c.offset, got, c.want)
		}
	}
	if got := p.Part(&ir.Instr{}, 0, 8); got != (ir.Part{}) {
		t.Errorf("an instruction that the source does not have: %+v", got)
	}
}
