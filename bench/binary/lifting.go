package binary

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/cofferdam-go/cofferdam/bench/command"
	lifting "github.com/cofferdam-go/cofferdam/internal/lift/x86"
	"github.com/cofferdam-go/cofferdam/internal/native"
)

// A Lifting is how much of programs is lifted, and whether it means the same.
type Lifting struct {
	Programs []LiftedProgram `json:"programs"`
	// Judged are random instructions, lifted and executed by the engine, beside the
	// emulator.
	Judged native.Result `json:"judged"`
}

// A LiftedProgram is how much of a program is lifted.
type LiftedProgram struct {
	Path         string         `json:"path"`
	Functions    int            `json:"functions"`
	Instructions int            `json:"instructions"`
	Opaque       map[string]int `json:"opaque,omitempty"`
}

// common are programs that nearly every system has.
var common = []string{"/bin/bash", "/bin/ls", "/bin/grep", "/bin/tar", "/bin/gzip", "/usr/bin/sed", "/usr/bin/find", "/usr/bin/sort", "/usr/bin/mawk", "/usr/bin/xz"}

// lift lifts all functions of common programs, and judges random instructions.
func (m *measurement) lift(s *command.Session) (*Lifting, error) {
	out := &Lifting{}
	fmt.Fprintf(s.Out, "Programs lifted to the engine's instructions, and held to its rules\n\n%-16s %10s %13s %8s\n", "", "functions", "instructions", "opaque")
	all, opaque := 0, 0
	for _, path := range common {
		if s.Context.Err() != nil {
			return out, nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			fmt.Fprintf(s.Out, "%-16s is not here\n", path)
			continue
		}
		image, err := lifting.NewImage(path, data, 0x555555554000)
		if err != nil {
			return out, err
		}
		entries := image.Functions()
		p, err := lifting.Lift(lifting.Config{Image: image, Entries: entries})
		if err != nil {
			return out, fmt.Errorf("%s: %w", path, err)
		}
		one, n := LiftedProgram{Path: path, Functions: len(entries), Instructions: p.Instructions, Opaque: map[string]int{}}, 0
		for op, count := range p.Opaque {
			one.Opaque[op.String()] = count
			n += count
		}
		out.Programs = append(out.Programs, one)
		all, opaque = all+p.Instructions, opaque+n
		fmt.Fprintf(s.Out, "%-16s %10d %13s %8d\n", path, one.Functions, grouped(one.Instructions), n)
	}
	if all > 0 {
		fmt.Fprintf(s.Out, "%-16s %10s %13s %8d  %.3f %% lifted. Target: 99.9, %s.\n\n", "", "", grouped(all), opaque, 100*float64(all-opaque)/float64(all), verdict(1000*opaque <= all))
	}
	r, err := native.Lifted(max(m.instructions/100, 1000), m.seed)
	if err != nil {
		return out, err
	}
	out.Judged = r
	slices.Sort(r.Skipped)
	fmt.Fprintf(s.Out, "%s random instructions of %d forms, lifted and executed by the engine, beside the emulator: %d differences.\nNot lifted: %s.\n\n",
		grouped(r.Instructions), r.Forms, r.Different, strings.Join(r.Skipped, ", "))
	for _, text := range r.Differences {
		fmt.Fprintf(s.Out, "  %s\n", text)
	}
	return out, nil
}
