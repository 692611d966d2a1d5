package binary

import (
	"errors"
	"fmt"
	"os"

	"github.com/cofferdam-go/cofferdam/bench/command"
	"github.com/cofferdam-go/cofferdam/internal/native"
)

// A Differential is how the emulator compared with the processor.
type Differential struct {
	// Refused says why nothing was compared.
	Refused string `json:"refused,omitempty"`
	// Random are batches of random instructions, Starts the starts of programs.
	Random native.Result            `json:"random"`
	Starts map[string]native.Result `json:"starts,omitempty"`
}

// starts are programs that every system has, and the examples.
var starts = [][]string{{"/bin/true"}, {"/bin/echo", "hello"}, {"/bin/ls", "/"}, {"/bin/sed", "--version"}}

func (m *measurement) differential(s *command.Session) (*Differential, error) {
	d := &Differential{Starts: map[string]native.Result{}}
	fmt.Fprintf(s.Out, "The emulator beside the processor (seed %d)\n\n", m.seed)
	// In pieces, so that an interrupt is heard.
	const piece = 250_000
	for i := uint64(0); d.Random.Instructions < m.instructions && s.Context.Err() == nil; i++ {
		r, err := native.Forms(min(piece, m.instructions-d.Random.Instructions), m.seed+i)
		if errors.Is(err, native.ErrRefused) {
			d.Refused = err.Error()
			fmt.Fprintf(s.Out, "Nothing was compared: %v.\n", err)
			return d, nil
		}
		if err != nil {
			return d, err
		}
		d.Random.Instructions += r.Instructions
		d.Random.Forms = max(d.Random.Forms, r.Forms)
		d.Random.Different += r.Different
		d.Random.Differences = append(d.Random.Differences, r.Differences...)
		d.Random.Skipped = r.Skipped
		fmt.Fprintf(s.Err, "\r%s compared, %d differences", grouped(d.Random.Instructions), d.Random.Different)
	}
	fmt.Fprintln(s.Err)
	const row = "%-28s %14s %7d forms %5d differences\n"
	fmt.Fprintf(s.Out, row, "random instructions", grouped(d.Random.Instructions), d.Random.Forms, d.Random.Different)
	limit := 200_000
	if s.Quick {
		limit = 10_000
	}
	for _, program := range starts {
		if s.Context.Err() != nil {
			break
		}
		if _, err := os.Stat(program[0]); err != nil {
			fmt.Fprintf(s.Out, "%-28s is not here\n", program[0])
			continue
		}
		r, err := native.Start(limit, program[0], program[1:]...)
		if err != nil {
			return d, err
		}
		d.Starts[program[0]] = r
		fmt.Fprintf(s.Out, row, "start of "+program[0], grouped(r.Instructions), r.Forms, r.Different)
	}
	if len(d.Random.Skipped) > 0 {
		fmt.Fprintf(s.Out, "\nThis processor lacks %v.\n", d.Random.Skipped)
	}
	for _, text := range d.Random.Differences {
		fmt.Fprintf(s.Out, "  %s\n", text)
	}
	for name, r := range d.Starts {
		for _, text := range r.Differences {
			fmt.Fprintf(s.Out, "  %s: %s\n", name, text)
		}
	}
	fmt.Fprintln(s.Out)
	return d, nil
}
