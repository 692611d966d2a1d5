package genome

import (
	"testing"

	"github.com/cofferdam-go/cofferdam/stm"
)

// small is for what needs no work to be done.
var small = Params{Gene: 96, Segment: 12, Segments: 1200}

func verify(t *testing.T, in *Input, r *Result) {
	t.Helper()
	if err := in.Verify(r); err != nil {
		t.Error(err)
	}
	if r.Elapsed <= 0 {
		t.Error("the time was not taken")
	}
}

func TestGeneIsPutTogether(t *testing.T) {
	in := Generate(Simulator)
	t.Run("sequential", func(t *testing.T) { verify(t, in, Sequential(in)) })
	t.Run("mutex", func(t *testing.T) { verify(t, in, Mutex(in, 2)) })
	for _, mode := range []struct {
		name string
		mode stm.Mode
	}{
		{"eager", stm.Eager},
		{"timer", stm.Timer},
		{"helper", stm.Helper},
		{"clone", stm.Clone},
	} {
		t.Run(mode.name, func(t *testing.T) {
			for _, goroutines := range []int{1, 2, 4} {
				verify(t, in, Transactional(in, goroutines, stm.Options{Mode: mode.mode}))
			}
		})
	}
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
