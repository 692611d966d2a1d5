package binfix

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/binpatch"
	lifting "github.com/cofferdam-go/cofferdam/internal/lift/x86"
	"github.com/cofferdam-go/cofferdam/internal/sli"
	"github.com/cofferdam-go/cofferdam/internal/sli/draw"
	"github.com/cofferdam-go/cofferdam/internal/sli/ir"
	"github.com/cofferdam-go/cofferdam/internal/x86"
)

// maxRejected is how many of the fixes that were dropped are listed.
const maxRejected = 4

// Explain writes what a person wants to know: the machine, the sections with their
// instructions, cost and proof, or why there is no fix.
func (r *Result) Explain(w io.Writer) {
	if r.Confirmation != nil {
		fmt.Fprintf(w, "\n%s\n", r.Confirmation)
	}
	fix := (*sli.Fix)(nil)
	if r.Proven != nil {
		fix = r.Proven.Fix
	} else if len(r.Rejected) > 0 {
		fix = r.Rejected[0].Fix
	}
	if fix != nil && len(fix.Machines) > 0 {
		fmt.Fprintln(w, "\nThe read operation, as a machine:")
		text := draw.Words(fix.Machines[0], draw.Names{Place: r.place, Actor: "thread", Frees: true})
		fmt.Fprintln(w, "  "+strings.ReplaceAll(text, "\n", "\n  "))
	}
	if c := r.Proven; c != nil {
		r.explainSections(w, c)
		fmt.Fprintf(w, "\n%s.\n", capital(strings.Join(append([]string{c.Price}, c.Reasons...), "; ")))
		fmt.Fprintf(w, "The patch has %d bytes of code and data and overwrites %s.\n", c.Patch.Size(), places(c))
		fmt.Fprintln(w, "Proof: "+c.Proof.String()+".")
	} else if r.Refusal != "" {
		fmt.Fprintf(w, "\nNo fix: %s.\n", r.Refusal)
	}
	for i, c := range r.Rejected {
		if i == maxRejected {
			fmt.Fprintf(w, "  and %d more\n", len(r.Rejected)-i)
			break
		}
		if i == 0 {
			fmt.Fprintln(w, "\nTried and dropped:")
		}
		sections := "sections"
		if len(c.Fix.Sections) == 1 {
			sections = "section"
		}
		fmt.Fprintf(w, "  cost %d, %d %s: %s\n", c.Cost, len(c.Fix.Sections), sections, c.Reason)
	}
}

// place is where a point is: a line, if the program tells its lines, and the address of the
// instruction.
func (r *Result) place(p ir.Point) string {
	at := lifting.Address(p.Instr)
	text := fmt.Sprintf("%x", at-r.Image.Base)
	if file, number := r.Program.Line(at); number > 0 {
		text = fmt.Sprintf("%s:%d (%s)", filepath.Base(file), number, text)
	}
	return text
}

// capital is a sentence with a capital letter.
func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

func places(c *Candidate) string {
	text := fmt.Sprintf("%d places of the program", c.Patch.Entries())
	if c.Patch.Entries() == 1 {
		text = "1 place of the program"
	}
	if n := c.Patch.Traps(); n > 0 {
		text += fmt.Sprintf(", %d of them by breakpoints, which are slow", n)
	}
	return text
}

// explainSections shows the sections as ranges of addresses with their instructions.
func (r *Result) explainSections(w io.Writer, c *Candidate) {
	fmt.Fprintln(w, "\nSections, all of one lock:")
	for _, s := range c.Sections {
		fmt.Fprintf(w, "  %s:\n", r.purpose(c, &s))
		for j, pc := range s.Instructions {
			var in x86.Inst
			at := pc + r.Image.Base
			if !r.Image.Decode(at, &in) {
				continue
			}
			mark := " "
			for _, e := range s.Entries {
				if e == pc {
					mark = ">"
				}
			}
			if j > 0 && !r.follows(s.Instructions[j-1], pc) {
				fmt.Fprintln(w, "      ...")
			}
			line := fmt.Sprintf("    %s %6x  %s", mark, pc, in.Text(at, r.Image.Name))
			if file, number := r.Program.Line(at); number > 0 {
				line = fmt.Sprintf("%-60s %s:%d", line, filepath.Base(file), number)
			}
			fmt.Fprintln(w, line)
		}
	}
}

// purposes are what sections are there for.
var purposes = map[sli.Role]string{
	sli.Reading:  "no other thread may come between these",
	sli.Updating: "no other thread may see this half done",
	sli.Writing:  "this may not come between those of another thread",
}

// purpose says what a section is there for, and in which function.
func (r *Result) purpose(c *Candidate, s *binpatch.Section) string {
	for _, from := range c.Fix.Sections {
		for _, in := range from.Instrs {
			if slices.Contains(s.Instructions, lifting.Address(in)-r.Image.Base) {
				return fmt.Sprintf("in %s, %s", from.Func.Name, purposes[from.Role])
			}
		}
	}
	return "section"
}

// follows reports whether one instruction stands right after the other.
func (r *Result) follows(before, pc uint64) bool {
	var in x86.Inst
	return r.Image.Decode(before+r.Image.Base, &in) && before+uint64(in.Len) == pc
}

func (p *Proof) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "the failing schedule no longer fails, nor does any of %d others in the emulator", p.Schedules)
	if p.Complete {
		fmt.Fprintf(&b, ", which are all with at most %d preemptions", p.Bound)
	} else {
		b.WriteString(", some of all with few preemptions and the rest by random priorities")
	}
	if p.Saturated > 0 {
		fmt.Fprintf(&b, ", until the last %d showed nothing new", p.Saturated)
	}
	if p.Outside {
		b.WriteString(", with what is outside control left to chance")
	}
	if p.Cut > 0 {
		fmt.Fprintf(&b, " (%d were cut off)", p.Cut)
	}
	switch {
	case p.Skipped != "":
		b.WriteString("; " + p.Skipped)
	case p.Native > 0:
		fmt.Fprintf(&b, ", nor any of %d runs on the processor", p.Native)
	}
	return b.String()
}

// Machines and States are how many machines were derived, and how many states they have.
func (r *Result) Machines() int {
	if r.Analysis == nil {
		return 0
	}
	return len(r.Analysis.Machines)
}

func (r *Result) States() int {
	if r.Analysis == nil {
		return 0
	}
	return states(r.Analysis)
}
