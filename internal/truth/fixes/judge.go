package fixes

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/judge"
	"github.com/cofferdam-go/cofferdam/internal/randprog"
	"github.com/cofferdam-go/cofferdam/internal/repair"
)

// versions loads versions of one package.
type versions struct {
	states  int
	folder  string
	name    string
	library *judge.Library
	models  []*judge.Program
	loaded  int
}

// load loads a version of the package, each under a path of its own, with the functions that
// drive it.
func (v *versions) load(files map[string][]byte, source, drive string, others ...*judge.Program) (*judge.Program, error) {
	v.loaded++
	return v.library.Package(fmt.Sprintf("%s/version%d", v.folder, v.loaded), map[string][]byte{
		filepath.Join(v.folder, sourceFile): v.text(files, source), filepath.Join(v.folder, "drive.go"): []byte("package " + v.name + "\n\n" + drive),
	}, append(others, v.models...)...)
}

// sourceFile is the file of a package.
const sourceFile = "p.go"

// text is the package, as it is or changed.
func (v *versions) text(files map[string][]byte, source string) []byte {
	if changed, ok := files[filepath.Join(v.folder, sourceFile)]; ok {
		return changed
	}
	return []byte("package " + v.name + "\n\n" + source)
}

// pairVerdicts judges versions of a package with a racy type, by pairs of its methods.
type pairVerdicts struct {
	versions
	object *randprog.Object
	// uncovered are lines that the fix says it does not cover.
	uncovered map[int]bool
}

// onlyShown says what is wrong with a changed package for the pair that the test shows: what
// exploration would find.
func (v *pairVerdicts) onlyShown(_ context.Context, files map[string][]byte) (why string, err error) {
	program, err := v.load(files, v.object.Source, v.object.Drive)
	if err != nil {
		return "it does not compile: " + err.Error(), nil
	}
	why, _, err = v.pair(program, files, v.object.Shown, true)
	return why, err
}

// all judges all pairs of methods on the fields that the fix guards. Unjudged are the pairs with
// too many schedules.
func (v *pairVerdicts) all(fix *repair.Candidate, except map[string]bool) (wrong string, judged, unjudged int, err error) {
	files, fields := fix.Patch.Files, guardedFields(fix)
	v.uncovered = make(map[int]bool)
	for _, u := range fix.Uncovered {
		v.uncovered[u.Line] = true
	}
	program, err := v.load(files, v.object.Source, v.object.Drive)
	if err != nil {
		return "", 0, 0, err
	}
	for _, p := range v.object.Pairs {
		if !slices.Contains(fields, p.Field) || except[method(p.First)] || except[method(p.Second)] {
			continue
		}
		why, complete, err := v.pair(program, files, p, true)
		switch {
		case err != nil:
			return "", judged, unjudged, err
		case why != "":
			return fmt.Sprintf("M%d beside M%d: %s", p.First, p.Second, why), judged, unjudged, nil
		case !complete:
			unjudged++
		default:
			judged++
		}
	}
	return "", judged, unjudged, nil
}

// method is the name of a method without its receiver.
func method(i int) string { return fmt.Sprintf("M%d", i) }

// pair says what can go wrong when two methods run at the same time.
func (v *pairVerdicts) pair(program *judge.Program, files map[string][]byte, p randprog.MethodPair, races bool) (wrong string, complete bool, err error) {
	wanted := make(map[string]bool)
	for _, function := range p.OneAfterTheOther() {
		verdict, err := program.Explore(function, judge.Options{States: v.states})
		if err != nil {
			return "", false, err
		}
		for _, o := range verdict.Outcomes {
			wanted[outcome(o, p)] = true
		}
	}
	verdict, err := program.Explore(p.Together(), judge.Options{States: v.states})
	if err != nil {
		return "", false, err
	}
	for _, o := range verdict.Outcomes {
		switch {
		case o.Ending != judge.Returned && !wanted[outcome(o, p)]:
			return fmt.Sprintf("it can end in %v", o), true, nil
		case o.Leak:
			return "a goroutine can be left waiting for ever", true, nil
		case !wanted[outcome(o, p)]:
			return fmt.Sprintf("%s can end as %s, which is none of %s", p.Field, outcome(o, p), strings.Join(slices.Sorted(maps.Keys(wanted)), ", ")), true, nil
		}
	}
	for _, r := range verdict.Races {
		if races && v.concerns(files, r, p.Field) {
			return fmt.Sprintf("%v race", r), true, nil
		}
	}
	return "", verdict.Complete, nil
}

// outcome is what an outcome tells of the field of a pair.
func outcome(o judge.Outcome, p randprog.MethodPair) string {
	words := strings.Fields(o.Text)
	if o.Ending != judge.Returned || len(words) < p.To {
		return o.String()
	}
	return strings.Join(words[p.From:p.To], " ")
}

// concerns reports whether a race is one of a field: a line of it names the field, or works
// by way of a pointer to it.
func (v *pairVerdicts) concerns(files map[string][]byte, r judge.Race, field string) bool {
	named := regexp.MustCompile(`\bt\.` + field + `\b|\*p\b|\bm\[|\bl\[|\bn\.`)
	if v.uncovered[r.First.Line] || v.uncovered[r.Second.Line] {
		return false
	}
	lines := strings.Split(string(v.text(files, v.object.Source)), "\n")
	return filepath.Base(r.First.Filename) == sourceFile && r.First.Line <= len(lines) && named.MatchString(lines[r.First.Line-1])
}

// guardedFields are the fields that the lock of a fix is to guard.
func guardedFields(c *repair.Candidate) []string {
	var names []string
	for _, d := range c.Guarded() {
		names = append(names, d.Name)
	}
	return names
}
