// Package genome is STAMP's genome: it puts a gene together from a great many short
// segments of it, most of which are there many times.
//
// # Phases
//
//  1. Deduplicate: all segments go into a set.
//  2. Index: each unique segment becomes a link of a chain that has only itself, and
//     is entered into one table for each length of overlap, under the hash of as much
//     of its beginning.
//  3. Match, for each length of overlap from the longest down to one: a segment that
//     ends a chain looks in the table for one that begins a chain with the letters
//     that it ends with, and the two chains become one.
//  4. Build: what is left is one chain, read from its first segment to its last.
//
// The goroutines share the segments evenly and meet between phases, and between two
// lengths of overlap. The last phase is sequential.
//
// # Transactions
//
//	insert a chunk of segments into the set       phase 1
//	take a place among the links                  phase 2
//	enter a link into the table of one overlap    phase 2
//	join two chains if that can be done           phase 3
//
// Segments never change, so that their letters are read with plain loads. Which
// chains still look for a successor is known to the goroutine that looks for it, and
// to nobody else.
//
// The paper has it as: transactions of medium length, large read and write sets,
// most time in transactions, low contention.
//
// The links are ordinary structs. plain.go and transactional.go are the same program
// over them, with plain accesses and with stm.Load and stm.Store. atomic.go is transactions that are
// plain code.
//
// sequencer.go has what both share.
package genome

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"time"
)

// Params say what to generate.
type Params struct {
	Gene     int    // -g: letters of the gene
	Segment  int    // -s: letters of a segment
	Segments int    // -n: segments, at least
	Seed     uint64 // of the generator
}

// The sets of parameters: STAMP's for simulators and for real machines, and one in
// between that takes about a second.
var (
	Simulator = Params{Gene: 256, Segment: 16, Segments: 16384}
	Medium    = Params{Gene: 16384, Segment: 64, Segments: 6291456}
	Native    = Params{Gene: 16384, Segment: 64, Segments: 16777216}
)

// An Input is a gene and its segments. Runs do not change it.
type Input struct {
	gene     string
	segment  int      // letters of each
	segments []string // in random order
}

// A Result is what a run has found.
type Result struct {
	Sequence string // the gene, put together
	Unique   int    // segments that are different
	Elapsed  time.Duration
}

// Generate makes a gene at random, and segments that begin at random places of it. A
// few more are added where these leave a gap, as each letter must be in a segment
// and each segment must overlap with the next.
func Generate(p Params) *Input {
	if p.Segment < 2 || p.Segment > p.Gene {
		panic(fmt.Sprintf("genome: segments of %d letters of a gene of %d", p.Segment, p.Gene))
	}
	random := rand.New(rand.NewPCG(p.Seed, 'g'))
	gene := make([]byte, p.Gene)
	for i := range gene {
		gene[i] = "ACGT"[random.IntN(4)]
	}

	final := p.Gene - p.Segment // the last place where a segment can begin
	begins := make([]int, p.Segments, p.Segments+p.Gene)
	covered := make([]bool, final+1) // where a segment begins
	for i := range begins {
		begins[i] = random.IntN(final + 1)
		covered[begins[i]] = true
	}
	for at, last := 0, 0; at <= final; at++ {
		if !covered[at] && (at == 0 || at == final || at-last == p.Segment-1) {
			begins = append(begins, at)
			covered[at] = true
		}
		if covered[at] {
			last = at
		}
	}
	random.Shuffle(len(begins), func(i, j int) { begins[i], begins[j] = begins[j], begins[i] })

	// Each segment has letters of its own, as if it had come from a machine: equal
	// ones must be found out by comparing.
	var letters strings.Builder
	letters.Grow(len(begins) * p.Segment)
	for _, at := range begins {
		letters.Write(gene[at : at+p.Segment])
	}
	in := &Input{gene: string(gene), segment: p.Segment, segments: make([]string, len(begins))}
	all := letters.String()
	for i := range in.segments {
		in.segments[i] = all[i*p.Segment : (i+1)*p.Segment]
	}
	return in
}

// Verify checks that the gene has been put together.
func (in *Input) Verify(r *Result) error {
	if r.Sequence == in.gene {
		return nil
	}
	same := 0
	for same < min(len(r.Sequence), len(in.gene)) && r.Sequence[same] == in.gene[same] {
		same++
	}
	return fmt.Errorf("genome: a sequence of %d letters from %d unique segments differs from the gene of %d letters at %d",
		len(r.Sequence), r.Unique, len(in.gene), same)
}
