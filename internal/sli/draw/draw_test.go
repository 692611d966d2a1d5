package draw

import (
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cofferdam-go/cofferdam/internal/sli"
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
	"github.com/cofferdam-go/cofferdam/internal/sli/slitest"
)

var update = flag.Bool("update", false, "write the golden files")

// golden compares a drawing with the file that holds it.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s (-want +got), run with -update if this is better:\n%s", name, d)
	}
}

// The terminal states.
var (
	crash   = sli.Edge{To: &sli.State{Crash: true}}
	noCrash = sli.Edge{To: &sli.State{}}
)

func state(predicate *ir.Expr, yes, no sli.Edge) sli.Edge {
	return sli.Edge{To: &sli.State{Predicate: predicate, Yes: yes, No: no}}
}

// loads makes points of loads of the given data, in the order of the code.
func loads(data ...string) []*ir.Label {
	b := slitest.NewBuilder()
	f := b.Func("f")
	for _, d := range data {
		f.Load(d, 8)
	}
	f.Return()
	b.Program()
	c := ir.NewContexts().Get(nil, nil, f.Func)
	var all []*ir.Label
	for i := range data {
		all = append(all, &ir.Label{Point: ir.Point{Context: c, Instr: f.Func.Blocks[0].Instrs[i]}})
	}
	return all
}

func isNil(x *ir.Expr) *ir.Expr { return ir.Unary(ir.OpBadAddress, ir.Unsigned, x) }

// named are the names of a front end that knows places, and that 24 bytes are a slice.
var named = Names{
	Place: func(p ir.Point) string { return p.Instr.Name() },
	Part: func(in *ir.Instr, offset, _ int) ir.Part {
		kinds := map[int]ir.PartKind{0: ir.PartWhole, 8: ir.PartLength}
		return ir.Part{Kind: kinds[offset]}
	},
	Text: func(symbol string) (string, bool) { return "a text", symbol == "text1" },
}

// figure is the machine of the paper's figure 2(f): a pointer that is checked, then used.
func figure() *sli.Machine {
	at := loads("global", "inner")
	l := ir.LoadExpr(at[0], 8, ir.Symbol("global"))
	m := ir.LoadExpr(at[1], 8, l)
	return &sli.Machine{
		At:    at[0].Point,
		Start: state(ir.Binary(ir.OpNe, ir.Unsigned, l, ir.Number(8, 0)), state(isNil(m), crash, noCrash), noCrash),
	}
}

// storing is a machine that stores before it loads again.
func storing() *sli.Machine {
	at := loads("count", "copy", "count")
	first := ir.LoadExpr(at[0], 8, ir.Symbol("count"))
	again := ir.LoadExpr(at[2], 8, ir.Symbol("count"))
	e := state(ir.Binary(ir.OpNe, ir.Unsigned, first, again), crash, noCrash)
	e.Ops = []sli.EdgeOp{
		{Load: first, At: at[0]},
		{Addr: ir.Symbol("copy"), Value: ir.Binary(ir.OpAdd, ir.Signed, first, ir.Number(8, 1)), At: at[1], Size: 8},
	}
	return &sli.Machine{At: at[0].Point, Start: e}
}

func TestMachinesAsText(t *testing.T) {
	golden(t, "figure.txt", Text(figure()))
	golden(t, "storing.txt", Text(storing()))
}

func TestMachinesAsGraphs(t *testing.T) {
	golden(t, "figure.dot", DOT(figure()))
	golden(t, "storing.dot", DOT(storing()))
}

func TestMachinesAsPictures(t *testing.T) {
	for name, m := range map[string]*sli.Machine{"figure.svg": figure(), "storing.svg": storing()} {
		picture := SVG(m)
		golden(t, name, picture)
		for d := xml.NewDecoder(strings.NewReader(picture)); ; {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
}

func TestMachinesInWords(t *testing.T) {
	golden(t, "figure.words", Words(figure(), named)+"\n")
	golden(t, "storing.words", Words(storing(), named)+"\n")
}

// TestConditionsInWords: each kind of predicate, when it holds and when it does not.
func TestConditionsInWords(t *testing.T) {
	at := loads("Meter.count", "Meter.count", "Meter.limit", "names", "")
	first, second := ir.LoadExpr(at[0], 8, ir.Symbol("a")), ir.LoadExpr(at[1], 8, ir.Symbol("a"))
	limit, names := ir.LoadExpr(at[2], 8, ir.Symbol("b")), ir.LoadExpr(at[3], 24, ir.Symbol("c"))
	unnamed := ir.LoadExpr(at[4], 1, ir.Symbol("d"))
	w := newPhrasing([]*ir.Expr{first, second, limit, names, unnamed}, named)
	for _, test := range []struct {
		predicate *ir.Expr
		yes, no   string
	}{
		{ir.Binary(ir.OpNe, ir.Unsigned, first, second), "the second reading of Meter.count differs from the first", "the second reading of Meter.count equals the first"},
		{ir.Binary(ir.OpNe, ir.Unsigned, second, first), "the second reading of Meter.count differs from the first", "the second reading of Meter.count equals the first"},
		{ir.Binary(ir.OpLt, ir.Signed, first, second), "the first reading of Meter.count is less than the second", "the first reading of Meter.count is not less than the second"},
		{ir.Binary(ir.OpLe, ir.Signed, limit, first), "Meter.limit is at most the first reading of Meter.count", "Meter.limit is more than the first reading of Meter.count"},
		{ir.Binary(ir.OpLe, ir.Unsigned, ir.Extract(names, 8, 8), limit), "the length of names is at most Meter.limit", "the length of names is more than Meter.limit"},
		{isNil(ir.Extract(names, 0, 8)), "names is nil", "names is not nil"},
		{ir.Binary(ir.OpEq, ir.Unsigned, limit, ir.Number(8, 0)), "Meter.limit is 0 or nil", "Meter.limit is neither 0 nor nil"},
		{ir.Raced(first, second, limit), "another goroutine changed Meter.count or Meter.limit meanwhile", "another goroutine changed Meter.count or Meter.limit meanwhile"},
		{unnamed, "memory is true", "memory is false"},
		{ir.Unary(ir.OpNot, ir.Unsigned, unnamed), "memory is false", "memory is true"},
		{ir.Binary(ir.OpLt, ir.Signed, ir.Binary(ir.OpAdd, ir.Signed, limit, ir.Number(8, 1)), ir.Unary(ir.OpNeg, ir.Signed, ir.Number(8, 3))), "Meter.limit + 1 is less than -3", "Meter.limit + 1 is not less than -3"},
	} {
		if got := w.condition(conditionOnWay{test.predicate, true}); got != test.yes {
			t.Errorf("%v: %q, want %q", test.predicate, got, test.yes)
		}
		if got := w.condition(conditionOnWay{test.predicate, false}); got != test.no {
			t.Errorf("not %v: %q, want %q", test.predicate, got, test.no)
		}
	}
}

// TestAnAddressOfFreedMemoryIsNotCalledNil, in programs that free memory.
func TestAnAddressOfFreedMemoryIsNotCalledNil(t *testing.T) {
	freeing := named
	freeing.Frees, freeing.Actor = true, "thread"
	text := Words(figure(), freeing)
	if want := "inner points to no memory that is in use"; !strings.Contains(text, want) {
		t.Errorf("%q is not in\n%s", want, text)
	}
}

// TestManyReadingsAreNumbered, in the order of the code and not of the expression.
func TestManyReadingsAreNumbered(t *testing.T) {
	at := loads("x", "x", "x")
	read := func(i int) *ir.Expr { return ir.LoadExpr(at[i], 8, ir.Symbol("x")) }
	m := &sli.Machine{At: at[0].Point, Start: state(ir.Binary(ir.OpNe, ir.Unsigned, read(2), ir.Binary(ir.OpAdd, ir.Signed, read(1), read(0))), crash, noCrash)}
	want := "It reads x at b0.0.\nIt reads x again at b0.1.\nIt reads x for the third time at b0.2.\nIt fails if the third reading of x differs from the second reading of x + the first reading of x."
	if got := Words(m, named); got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	for n, want := range map[int]string{3: "third", 11: "11th", 12: "12th", 21: "21st", 22: "22nd", 103: "103rd", 111: "111th"} {
		if got := ordinal(n); got != want {
			t.Errorf("number %d is the %s", n, got)
		}
	}
	// A load through another comes after it, wherever the code has it.
	inner := ir.LoadExpr(at[2], 8, ir.Symbol("head"))
	through := ir.LoadExpr(at[0], 8, inner)
	if all := loadsInOrder(&sli.Machine{Start: state(isNil(through), crash, noCrash)}); all[0] != inner || all[1] != through {
		t.Errorf("order %v", all)
	}
}

// TestSentencesHaveNoNotation: whatever is computed, with every operator and in every position,
// people are told of it in words.
func TestSentencesHaveNoNotation(t *testing.T) {
	at := loads("Meter.count", "names")
	b := slitest.NewBuilder()
	f := b.Func("f")
	f.Load("x", 8)
	f.Return()
	b.Program()
	register := ir.Register(f.Func.NewReg("t7", 8), 8).InContext(ir.NewContexts().Get(nil, nil, f.Func))
	count, slice := ir.LoadExpr(at[0], 8, register), ir.LoadExpr(at[1], 24, ir.Symbol("names"))
	leaves := []*ir.Expr{
		count, register, ir.Number(8, 7), ir.Symbol("pkg.variable"), ir.Opaque("any", 8), ir.Closure("pkg.f", count),
		ir.CapturedValue(count, 1, 8), ir.Extract(slice, 8, 8), ir.Extract(slice, 16, 8), ir.Extract(count, 2, 1), ir.Raced(count),
		ir.Concat(ir.Symbol("text1"), ir.Number(8, 6)), ir.Concat(count, register), ir.Const(ir.Bytes(make([]byte, 16))), ir.Const(ir.Bytes(make([]byte, 40))),
		ir.Convert(count, ir.Signed, ir.Float, 8), ir.Select(ir.Binary(ir.OpEq, ir.Unsigned, count, register), count, register),
	}
	all := slices.Clone(leaves)
	for _, op := range []ir.Operator{ir.OpNeg, ir.OpInvert, ir.OpNot, ir.OpBadAddress, ir.OpTrailingZeros, ir.OpLeadingZeros, ir.OpOnesCount, ir.OpSquareRoot} {
		for _, x := range leaves {
			all = append(all, ir.Unary(op, ir.Unsigned, x))
		}
	}
	for op := ir.OpAdd; op <= ir.OpLe; op++ {
		for _, x := range leaves {
			all = append(all, ir.Binary(op, ir.Unsigned, count, x), ir.Binary(op, ir.Unsigned, x, count), ir.Binary(ir.OpSameText, ir.Unsigned, x, count))
		}
	}
	for _, x := range all {
		for _, wrapped := range []*ir.Expr{x, ir.LoadExpr(at[1], 8, x), ir.Binary(ir.OpEq, ir.Unsigned, x, count)} {
			e := state(wrapped, crash, noCrash)
			e.Ops = []sli.EdgeOp{{Addr: ir.Symbol("copy"), Value: wrapped, At: at[1], Size: 8}}
			for _, n := range []Names{named, {Place: named.Place}} {
				if text := Words(&sli.Machine{At: at[0].Point, Start: e}, n); Notation.MatchString(strings.ReplaceAll(text, "at b0.", "")) {
					t.Errorf("%s is told as\n%s", wrapped, text)
				}
			}
		}
	}
}

// TestWaysThatCannotBeAreNotTold: on one of three a count would be 1 and 0 at once.
func TestWaysThatCannotBeAreNotTold(t *testing.T) {
	at := loads("count", "limit")
	count, limit := ir.LoadExpr(at[0], 8, ir.Symbol("a")), ir.LoadExpr(at[1], 8, ir.Symbol("b"))
	is := func(n uint64) *ir.Expr { return ir.Binary(ir.OpEq, ir.Unsigned, count, ir.Number(8, n)) }
	isNot := ir.Binary(ir.OpNe, ir.Unsigned, count, ir.Number(8, 1))
	below := state(is(0), crash, state(isNot, crash, noCrash))
	m := &sli.Machine{At: at[0].Point, Start: state(is(1), below, state(isNil(limit), below, noCrash))}
	text := Words(m, named)
	want := []string{"It fails if count differs from 1 and limit is nil and count is 0 or nil.", "It fails if count differs from 1 and limit is nil and count is neither 0 nor nil."}
	if n := strings.Count(text, "It fails"); n != len(want) {
		t.Errorf("%d ways are told:\n%s", n, text)
	}
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("%q is not in\n%s", w, text)
		}
	}
}

// TestManyReadingsAreNotAllTold: a machine that reads a list is told by its first readings.
func TestManyReadingsAreNotAllTold(t *testing.T) {
	at := loads(slices.Repeat([]string{"x"}, 30)...)
	sum := ir.LoadExpr(at[0], 8, ir.Symbol("x"))
	for i := 1; i < len(at); i++ {
		sum = ir.Binary(ir.OpAdd, ir.Signed, sum, ir.LoadExpr(at[i], 8, ir.Symbol("x")))
	}
	text := Words(&sli.Machine{At: at[0].Point, Start: state(ir.Binary(ir.OpEq, ir.Unsigned, sum, ir.Number(8, 1)), crash, noCrash)}, named)
	for _, want := range []string{"It reads 22 more times, the last time at b0.29.", "It fails if what is computed from x equals 1."} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

// TestAGraphIsDrawnWithAllItsWords: also one that was read back, and one with a way that comes back.
func TestAGraphIsDrawnWithAllItsWords(t *testing.T) {
	g := &Graph{
		Nodes: []GraphNode{{Kind: StartNode, Label: "at a.go:1"}, {Kind: TestNode, Label: "x < y?"}, {Kind: CrashNode, Label: "it fails"}, {Kind: FineNode, Label: "it goes on"}},
		Edges: []GraphEdge{{0, 1, "reads x\nreads y"}, {1, 2, "yes"}, {1, 3, "no"}, {3, 1, "again"}},
	}
	picture := g.SVG()
	var texts []string
	for d := xml.NewDecoder(strings.NewReader(picture)); ; {
		token, err := d.Token()
		if err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("%v in\n%s", err, picture)
		}
		if text, ok := token.(xml.CharData); ok {
			texts = append(texts, string(text))
		}
	}
	all := strings.Join(texts, "|")
	for _, want := range []string{"at a.go:1", "x < y?", "it fails", "it goes on", "reads x", "reads y", "yes", "no"} {
		if !strings.Contains(all, want) {
			t.Errorf("the picture does not say %q: %s", want, all)
		}
	}
}
