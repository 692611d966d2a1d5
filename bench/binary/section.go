package binary

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/cofferdam-go/cofferdam/bench/command"
	"github.com/cofferdam-go/cofferdam/internal/binpatch"
	lifting "github.com/cofferdam-go/cofferdam/internal/lift/x86"
	"github.com/cofferdam-go/cofferdam/internal/x86"
)

// sectionTarget is what a section may cost, in nanoseconds.
const sectionTarget = 25

// A SectionCost is what a section costs that no other thread wants.
type SectionCost struct {
	Nanoseconds float64 `json:"nanoseconds"`
	Skipped     string  `json:"skipped,omitempty"`
}

const counting = `#include <stdlib.h>
static volatile long counter;
int main(int argc, char **argv)
{
	for (long i = 0, n = atol(argv[1]); i < n; i++)
		counter++;
	return 0;
}
`

// sectionCost runs a loop on the processor, without and with a section in it.
func sectionCost(s *command.Session) (*SectionCost, error) {
	c := &SectionCost{}
	if _, err := exec.LookPath("gcc"); err != nil {
		c.Skipped = "there is no gcc"
		fmt.Fprintln(s.Out, "The cost of a section was not measured: there is no gcc.")
		return c, nil
	}
	dir := s.Temp("section")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return c, err
	}
	defer os.RemoveAll(dir)
	source, program, patch := filepath.Join(dir, "count.c"), filepath.Join(dir, "count"), filepath.Join(dir, "fix.so")
	if err := os.WriteFile(source, []byte(counting), 0o644); err != nil {
		return c, err
	}
	if out, err := exec.CommandContext(s.Context, "gcc", "-O1", "-s", "-o", program, source).CombinedOutput(); err != nil {
		return c, fmt.Errorf("gcc: %w\n%s", err, out)
	}
	if err := patchCounter(program, patch); err != nil {
		return c, err
	}
	rounds := 20_000_000
	if s.Quick {
		rounds = 2_000_000
	}
	plain, err := timeRun(s, program, "", rounds)
	if err != nil {
		return c, err
	}
	patched, err := timeRun(s, program, patch, rounds)
	if err != nil {
		return c, err
	}
	c.Nanoseconds = float64((patched - plain).Nanoseconds()) / float64(rounds)
	fmt.Fprintf(s.Out, "A section that no other thread wants: %.1f ns of processor time. Target: %d, %s.\n\n", c.Nanoseconds, sectionTarget, verdict(c.Nanoseconds <= sectionTarget))
	return c, nil
}

// patchCounter puts the load, the addition and the store of the counter into a section.
func patchCounter(program, patch string) error {
	data, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	image, err := lifting.NewImage(program, data, 0)
	if err != nil {
		return err
	}
	for _, entry := range image.Functions() {
		var recent []uint64
		for pc := entry; pc < entry+256; {
			var in x86.Inst
			if !image.Decode(pc, &in) || in.Op == x86.RET {
				break
			}
			recent = append(recent, pc)
			stores := in.Op == x86.MOV && in.Args[0].Place == x86.Memory && in.Args[1].Place == x86.General && in.Mem.Base == x86.RIP
			if stores && len(recent) >= 3 {
				s := binpatch.Section{Instructions: recent[len(recent)-3:], Entries: recent[len(recent)-3 : len(recent)-2]}
				p, err := binpatch.New(data, image, []binpatch.Section{s}, nil, "count", false)
				if err != nil {
					return err
				}
				object, err := p.SharedObject()
				if err != nil {
					return err
				}
				return os.WriteFile(patch, object, 0o755)
			}
			pc += uint64(in.Len)
		}
	}
	return errors.New("the counter was not found in the program")
}

// timeRun is the processor time that a run takes, the least of three.
func timeRun(s *command.Session, program, preload string, rounds int) (time.Duration, error) {
	least := time.Duration(0)
	for i := range 3 {
		cmd := exec.CommandContext(s.Context, program, fmt.Sprint(rounds))
		if preload != "" {
			cmd.Env = []string{"LD_PRELOAD=" + preload}
		}
		if err := cmd.Run(); err != nil {
			return 0, err
		}
		if t := cmd.ProcessState.UserTime(); i == 0 || t < least {
			least = t
		}
	}
	return least, nil
}
