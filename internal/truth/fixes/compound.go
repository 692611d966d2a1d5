package fixes

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/judge"
	"github.com/cofferdam-go/cofferdam/internal/randprog/compound"
	"github.com/cofferdam-go/cofferdam/internal/repair"
)

// compoundVerdicts judges versions of a package whose operations are made of each other, by pairs of
// its operations.
type compoundVerdicts struct {
	versions
	compound *compound.Compound
}

// version loads the changed package, and the one that it imports before.
func (v *compoundVerdicts) version(files map[string][]byte) (*judge.Program, error) {
	var others []*judge.Program
	if v.compound.Store != "" {
		name, text := filepath.Join(v.folder, compound.StorePath, "store.go"), []byte(v.compound.Store)
		if changed, ok := files[name]; ok {
			text = changed
		}
		store, err := v.library.Package("random/"+v.name+"/"+compound.StorePath, map[string][]byte{name: text})
		if err != nil {
			return nil, err
		}
		others = append(others, store)
	}
	return v.load(files, v.compound.Source, v.compound.Drive, others...)
}

func (v *compoundVerdicts) onlyShown(_ context.Context, files map[string][]byte) (why string, err error) {
	program, err := v.version(files)
	if err != nil {
		return "it does not compile: " + err.Error(), nil
	}
	why, _, err = v.pair(program, v.compound.Pairs[0])
	return why, err
}

// all judges the pairs of operations that work on what the fix guards, but for those of which it says
// that they are not covered.
func (v *compoundVerdicts) all(fix *repair.Candidate, except map[string]bool) (wrong string, judged, unjudged int, err error) {
	program, err := v.version(fix.Patch.Files)
	if err != nil {
		return "", 0, 0, err
	}
	for _, p := range v.compound.Pairs {
		first, second := v.compound.Operations[p.First], v.compound.Operations[p.Second]
		if isExcepted(first, except) || isExcepted(second, except) || !v.concerns(fix, first, second) {
			continue
		}
		why, complete, err := v.pair(program, p)
		switch {
		case err != nil:
			return "", judged, unjudged, err
		case why != "":
			return fmt.Sprintf("%s beside %s: %s", first.Name, second.Name, why), judged, unjudged, nil
		case !complete:
			unjudged++
		default:
			judged++
		}
	}
	return "", judged, unjudged, nil
}

// isExcepted reports whether a fix says of an operation, or of what it calls, that it is not covered.
func isExcepted(o compound.Operation, except map[string]bool) bool {
	return slices.ContainsFunc(o.Functions, func(f string) bool {
		return except[f] || except[strings.ToLower(f[:1])+f[1:]+"Locked"]
	})
}

// concerns reports whether a fix has to do with two operations: it guards a field of one of them, or
// data of what their fields lead to.
func (v *compoundVerdicts) concerns(fix *repair.Candidate, operations ...compound.Operation) bool {
	if fix.Change != nil {
		return true
	}
	for _, d := range fix.Guarded() {
		for _, o := range operations {
			field := d.Name
			if leading, ok := v.compound.FieldOf[d.Owner]; ok {
				field = leading
			}
			if slices.Contains(o.Fields, field) {
				return true
			}
		}
	}
	return false
}

// pair says what can go wrong when two operations run at the same time.
func (v *compoundVerdicts) pair(program *judge.Program, p compound.OperationPair) (wrong string, complete bool, err error) {
	wanted := make(map[string]bool)
	for _, function := range p.OneAfterTheOther() {
		verdict, err := program.Explore(function, judge.Options{States: v.states})
		if err != nil {
			return "", false, err
		}
		for _, o := range verdict.Outcomes {
			wanted[o.String()] = true
		}
	}
	verdict, err := program.Explore(p.Together(), judge.Options{States: v.states})
	if err != nil {
		return "", false, err
	}
	for _, o := range verdict.Outcomes {
		switch {
		case o.Leak:
			return "a goroutine can be left waiting for ever", true, nil
		case !wanted[o.String()]:
			return fmt.Sprintf("it can end as %q, which it does in no order of the two", o), true, nil
		}
	}
	if len(verdict.Races) > 0 {
		return fmt.Sprintf("%v race", verdict.Races[0]), true, nil
	}
	return "", verdict.Complete, nil
}
