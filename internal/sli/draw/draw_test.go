package draw

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/sli"
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
	"github.com/cofferdam-go/cofferdam/internal/sli/slitest"
)

// figure is the machine of figure 2(f) over two loads.
func figure() *sli.Machine {
	f := slitest.Graph([]int{1}, nil)
	c := ir.NewContexts().Get(nil, nil, f)
	p := ir.Point{Context: c, Instr: f.Blocks[0].Instrs[0]}
	q := ir.Point{Context: c, Instr: f.Blocks[1].Instrs[0]}
	p.Instr.Data, q.Instr.Data = "global", "inner"
	l := ir.LoadExpr(&ir.Label{Point: p}, 8, ir.Symbol("global"))
	m := ir.LoadExpr(&ir.Label{Point: q}, 8, l)
	crash, noCrash := &sli.State{Crash: true}, &sli.State{}
	inner := &sli.State{Predicate: ir.Unary(ir.OpBadAddress, ir.Unsigned, m), Yes: sli.Edge{To: crash}, No: sli.Edge{To: noCrash}}
	outer := &sli.State{Predicate: ir.Binary(ir.OpNe, ir.Unsigned, l, ir.Number(8, 0)), Yes: sli.Edge{To: inner}, No: sli.Edge{To: noCrash}}
	return &sli.Machine{At: p, Start: sli.Edge{To: outer}}
}

func TestMachineIsDrawnAndTold(t *testing.T) {
	m := figure()
	if got, want := Text(m), "at f:b0.0: s0\ns0: if load(global@b0.0) != 0 then s1 else no-crash\ns1: if BadAddr(load(load(global@b0.0)@b1.0)) then crash else no-crash\n"; got != want {
		t.Errorf("text\n%swant\n%s", got, want)
	}
	words := Words(m, func(p ir.Point) string { return p.Instr.Name() })
	if want := "It reads global at b0.0.\nIt reads inner at b1.0.\nIt crashes if global is not 0 or nil and inner is nil."; words != want {
		t.Errorf("words\n%s\nwant\n%s", words, want)
	}
	dot := DOT(m)
	for _, want := range []string{"digraph", "shape=diamond", `label="crash"`, `s0 -> s1 [label="yes"]`} {
		if !strings.Contains(dot, want) {
			t.Errorf("DOT lacks %q:\n%s", want, dot)
		}
	}
	for d := xml.NewDecoder(strings.NewReader(SVG(m))); ; {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("SVG: %v", err)
		}
	}
}
