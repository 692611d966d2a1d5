package genome

import (
	"testing"

	"github.com/cofferdam-go/cofferdam/bench/stamp/stamptest"
	"github.com/cofferdam-go/cofferdam/stm"
)

// small is for what needs no work to be done.
var small = Params{Gene: 96, Segment: 12, Segments: 1200}

func verify(t *testing.T, in *Input, r *Result) {
	t.Helper()
	stamptest.Verify(t, in.Verify(r), r.Elapsed)
}

func TestGeneIsPutTogether(t *testing.T) {
	in := Generate(Simulator)
	stamptest.Program[*Result]{
		Sequential:    func() *Result { return Sequential(in) },
		Mutex:         func(goroutines int) *Result { return Mutex(in, goroutines) },
		Transactional: func(goroutines int, o stm.Options) *Result { return Transactional(in, goroutines, o) },
		Atomic:        func(goroutines int) *Result { return Atomic(in, goroutines) },
		Verify:        func(t *testing.T, r *Result) { verify(t, in, r) },
	}.Run(t)
}

func TestSparseSegmentsCoverTheGene(t *testing.T) {
	p := Params{Gene: 500, Segment: 20, Segments: 3}
	in := Generate(p)
	covered := make([]bool, len(in.gene))
	for _, s := range in.segments {
		if len(s) != p.Segment {
			t.Fatalf("a segment of %d letters", len(s))
		}
	}
	for at := 0; at+p.Segment <= len(in.gene); at++ {
		for _, s := range in.segments {
			if in.gene[at:at+p.Segment] == s {
				for i := range p.Segment {
					covered[at+i] = true
				}
			}
		}
	}
	for at, ok := range covered {
		if !ok {
			t.Errorf("the letter at %d is in no segment", at)
		}
	}
}

func TestGenerateIsDeterministic(t *testing.T) {
	a, b := Generate(small), Generate(small)
	if a.gene != b.gene {
		t.Fatal("two genes from one seed")
	}
	for i := range a.segments {
		if a.segments[i] != b.segments[i] {
			t.Fatalf("segment %d differs", i)
		}
	}
}

func TestVerifyFindsAWrongSequence(t *testing.T) {
	in := Generate(small)
	r := Sequential(in)
	r.Sequence = r.Sequence[1:]
	if in.Verify(r) == nil {
		t.Error("a sequence without its first letter passes")
	}
}
