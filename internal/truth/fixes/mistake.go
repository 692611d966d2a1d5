package fixes

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/judge"
	"github.com/cofferdam-go/cofferdam/internal/randprog"
	"github.com/cofferdam-go/cofferdam/internal/repair"
)

// driveVerdicts judges versions of a package with a mistake, by the functions that drive it.
type driveVerdicts struct {
	versions
	mistake *randprog.Mistake
}

func (v *driveVerdicts) onlyShown(_ context.Context, files map[string][]byte) (why string, err error) {
	program, err := v.load(files, v.mistake.Source, v.mistake.Drive)
	if err != nil {
		return "it does not compile: " + err.Error(), nil
	}
	why, _, err = v.drive(program, v.mistake.Drives[0])
	return why, err
}

// all judges all drives. A fix that says of some function that it is not covered is not judged
// by drives that may call it: those that it was not shown.
func (v *driveVerdicts) all(fix *repair.Candidate, except map[string]bool) (wrong string, judged, unjudged int, err error) {
	if len(except) > 0 {
		return "", 0, 0, nil
	}
	program, err := v.load(fix.Patch.Files, v.mistake.Source, v.mistake.Drive)
	if err != nil {
		return "", 0, 0, err
	}
	for _, d := range v.mistake.Drives {
		why, complete, err := v.drive(program, d)
		switch {
		case err != nil:
			return "", judged, unjudged, err
		case why != "":
			return fmt.Sprintf("%s, %s: %s", v.mistake.Family, d.Name, why), judged, unjudged, nil
		case !complete:
			unjudged++
		default:
			judged++
		}
	}
	return "", judged, unjudged, nil
}

// drive says what can go wrong in a drive.
func (v *driveVerdicts) drive(program *judge.Program, d randprog.MistakeDrive) (wrong string, complete bool, err error) {
	verdict, err := program.Explore(d.Name, judge.Options{States: v.states})
	if err != nil {
		return "", false, err
	}
	for _, o := range verdict.Outcomes {
		switch {
		case o.Ending != judge.Returned:
			return fmt.Sprintf("it can end in %v", o), true, nil
		case o.Leak:
			return "a goroutine can be left waiting for ever", true, nil
		case !slices.Contains(d.Want, strings.TrimSpace(o.Text)):
			return fmt.Sprintf("it can return %q, which is none of %q", o.Text, d.Want), true, nil
		}
	}
	if len(verdict.Races) > 0 {
		return fmt.Sprintf("%v race", verdict.Races[0]), true, nil
	}
	return "", verdict.Complete, nil
}
