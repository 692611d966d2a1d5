package exec

import "github.com/cofferdam-go/cofferdam/internal/sli/ir"

// A Failure says what is known of how the run went wrong (section 3.1 of the paper):
// enough to find the first point at which something definitely had.
type Failure struct {
	Cause ir.Cause
	// G is the goroutine that crashed, 0 if that is not known.
	G uint32
	// Seq and Other are the events of the two accesses of a race.
	Seq, Other uint64
	// Here reports whether an instruction is where the program says it crashed; nil
	// if it does not say.
	CrashedAt func(*ir.Instr) bool
}

func (f *Failure) isAt(in *ir.Instr) bool { return f.CrashedAt == nil || f.CrashedAt(in) }
