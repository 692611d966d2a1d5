package repair

import (
	"cmp"
	"errors"
	"fmt"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/cofferdam-go/cofferdam/internal/guard/whole"
	"github.com/cofferdam-go/cofferdam/internal/instrument"
	"github.com/cofferdam-go/cofferdam/internal/repair/cover"
	"github.com/cofferdam-go/cofferdam/internal/repair/dataname"
	"github.com/cofferdam-go/cofferdam/internal/repair/reshape/change"
	"github.com/cofferdam-go/cofferdam/internal/repair/uncovered"
	"github.com/cofferdam-go/cofferdam/internal/sli"
	"github.com/cofferdam-go/cofferdam/internal/trace"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

// A Candidate is a change that may be a fix.
type Candidate struct {
	run    *failedRun        // that it was written for
	config instrument.Config // to build it
	lock   *cover.Lock
	// regions are what the lock covers of the derivation, on top of an earlier patch; nil if they
	// cannot be written otherwise than they are.
	regions []*cover.Region
	base    *cover.Patch
	// changed is the program with it, once it was read.
	changed *changedProgram
	// covers is what came of all candidates with the same sections and lock, which cover them alone
	// or more besides: one that covers more comes first.
	covers *coverage
	// changesNothing says that the program has it already.
	changesNothing bool
	// enlarged says that it was looked at whether its lock is to guard more.
	enlarged bool
	// stillFails says that a schedule leads to a failure of the kind that is to be fixed.
	stillFails bool
	// uncoverable says why parts of functions could not be covered with the lock, apart why what
	// belongs together in a function could not be one section.
	uncoverable, apart map[string]string
	// Derivation is what the engine derived: the sections, and why they are enough. It is
	// empty for a change that the shape of the failure calls for, which Change is; nil for a lock.
	Derivation *sli.Fix
	Change     *change.Change
	Patch      *cover.Patch // nil if the sections cannot be written with the lock
	Lock       string       // in words; for a change without a lock, the change
	Reason     string       // for its rank
	Proof      *Proof
	// Trace is the file with the failing schedule in the program with it; "" if it is not recorded.
	Trace string
	// WholeUpdates says that it was seen in the changed source that no update of the lock's data
	// is taken apart: each store stays in one section with the load that it depends on.
	WholeUpdates bool
	// Uncovered are the accesses to the lock's data that may be made without the lock.
	Uncovered []uncovered.Access
	// leaks are what its schedules left waiting.
	leaks []wire.Found
	// Why is why it was dropped, Reached how far it had come, and Broken the run that it failed
	// in, if it failed in one.
	Why     string
	Reached Stage
	Broken  *FailingRun
	// Rounds are the failures that were met on the way, each fixed by this candidate.
	Rounds []trace.Failure
}

// A coverage is what is known of candidates with the same sections and the same lock.
type coverage struct {
	// stillFails says that one of them leaves the failure as it is: so will those that cover less.
	stillFails bool
}

// A Stage is how far a candidate came before it was dropped. The later the stage, the nearer
// it was to a fix.
type Stage int

const (
	Derived    Stage = iota // its sections cannot be written
	Written                 // it does not compile, or makes worse what the program does with locks
	Sound                   // a schedule fails
	Unfinished              // no schedule fails, but too few could be tried in the time
	Explored                // go test fails
	Proven                  // it is a fix
)

func (s Stage) String() string {
	switch s {
	case Derived:
		return "derived"
	case Written:
		return "written"
	case Sound:
		return "sound"
	case Unfinished:
		return "unfinished"
	case Explored:
		return "explored"
	case Proven:
		return "proven"
	}
	panic(fmt.Sprintf("repair: stage %d", int(s)))
}

// MarshalText renders the stage for JSON.
func (s Stage) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads what MarshalText writes.
func (s *Stage) UnmarshalText(text []byte) error {
	for stage := Derived; stage <= Proven; stage++ {
		if stage.String() == string(text) {
			*s = stage
			return nil
		}
	}
	return fmt.Errorf("there is no stage %q", text)
}

// maxDerivations is how many of the engine's derivations are turned into candidates, besides
// the plain ones.
const maxDerivations = 8

// candidates are the changes that may fix a failure, the best first. A candidate is better
// if it does not hold the lock over what reaches outside the program; then, if it leaves fewer of the run's data races, which would take further rounds; then, if the
// engine has it at a lower cost; then, if its lock fits the program better. A candidate that
// changes test code comes last, after one whose lock is for all objects of a type. After two rounds that were not enough, a candidate that holds
// the lock throughout methods comes first.
func (r *failedRun) candidates(a *sli.Analysis, base *cover.Patch, rounds int) []*Candidate {
	ranked := ranking{run: r, base: base, preferThroughout: rounds > 1}
	var proposals []proposal
	left, outside := map[*sli.Fix]int{}, map[*sli.Fix]int{}
	for _, d := range a.Fixes {
		regions := r.regions(d)
		left[d] = r.racesLeft(regions)
		if slices.ContainsFunc(regions, r.code.ReachesOutside) {
			outside[d] = 1
		}
		if p := r.outsideReplaced(d); p.regions != nil {
			proposals = append(proposals, p)
		}
		if calls := r.regionsOfCalls(d); calls != nil {
			proposals = append(proposals, proposal{d, calls, r.dataOf(d)})
		}
		proposals = append(proposals, proposal{d, regions, r.dataOf(d)})
	}
	slices.SortStableFunc(proposals, func(a, b proposal) int {
		return cmp.Or(outside[a.derivation]-outside[b.derivation], left[a.derivation]-left[b.derivation])
	})
	kept := proposals[:0]
	for i, p := range proposals {
		if i < maxDerivations || p.derivation.Plain {
			kept = append(kept, p)
		}
	}
	covered := slices.ContainsFunc(kept, func(p proposal) bool { return len(p.regions) > 0 && left[p.derivation] == 0 })
	if !covered { // the library makes the accesses that are left, for calls of the program
		kept = slices.Concat(r.racingStatements(), kept)
	}
	for _, p := range slices.Concat(kept, r.fallbacks()) {
		ranked.add(p)
	}
	return slices.Concat(ranked.first, ranked.good, ranked.forAll, ranked.inTests, ranked.failed)
}

// A proposal is sections to write, and the data that they are there for.
type proposal struct {
	derivation *sli.Fix
	regions    []*cover.Region
	data       *cover.Data
}

// A ranking is candidates by what speaks for them.
type ranking struct {
	run              *failedRun
	base             *cover.Patch
	preferThroughout bool

	first, good, forAll, inTests, failed []*Candidate
}

// add adds the candidates of one derivation, one for each lock that may serve it.
func (k *ranking) add(p proposal) {
	derivation, regions, data := p.derivation, p.regions, p.data
	if len(regions) == 0 {
		k.failed = append(k.failed, &Candidate{Derivation: derivation, Lock: "a lock", Why: "its sections are not in the program's own source"})
		return
	}
	code := k.run.code
	tests := slices.ContainsFunc(regions, func(r *cover.Region) bool { return r.Test })
	unfit := "" // why the first of the program's own locks is not it
	all := code.LocksFor(data, regions)
	for _, l := range all {
		c := &Candidate{Derivation: derivation, Lock: l.Words, Reason: l.Reason, lock: l, covers: new(coverage)}
		switch {
		case !l.Exists() && unfit != "":
			c.Reason = unfit
		case k.base.Added(l):
			c.Reason = "the first sections have it"
		}
		if c.Why = cmp.Or(k.base.SecondFor(l, all, data.Names(code)), k.run.whyNotInStruct(l)); c.Why != "" {
			k.failed = append(k.failed, c)
			if unfit == "" {
				unfit = l.Words + " does not fit: " + c.Why
			}
			continue
		}
		if tests {
			k.rank(l, data, k.withoutTests(c, data, regions))
		}
		var err error
		c.Patch, err = code.Write(regions, l, data.Names(code), k.base)
		if !tests && !errors.Is(err, cover.ErrCovered) && (err != nil || slices.ContainsFunc(regions, (*cover.Region).GoesOverTaken)) {
			k.rank(l, data, k.readingCopies(c, data.Names(code), regions))
		}
		switch {
		case errors.Is(err, cover.ErrCovered):
			c.Why, c.changesNothing = err.Error(), true
			k.failed = append(k.failed, c)
		case err != nil:
			c.Why = err.Error()
			k.failed = append(k.failed, c)
			if l.Exists() && unfit == "" {
				unfit = l.Words + " does not fit: " + c.Why
			}
		case tests && k.isForUsers(l, data, regions):
			c.Patch, c.Why = nil, "all code that uses the package would have to take it, as the test would: what a method returned is still used when another changes it"
			k.failed = append(k.failed, c)
		case tests:
			k.inTests = append(k.inTests, c)
		default:
			c.regions, c.base = regions, k.base
			k.rank(l, data, append(k.coveringMore(c, data.Names(code), regions), c))
		}
		if errors.Is(err, cover.ErrCovered) {
			return // the sections exclude each other as it is: another lock would change nothing
		}
		k.addThroughout(p, l)
	}
}

// rank adds candidates with a lock that leave test code alone.
func (k *ranking) rank(l *cover.Lock, data *cover.Data, all []*Candidate) {
	if isForAllObjects(l, data) {
		k.forAll = append(k.forAll, all...)
	} else {
		k.good = append(k.good, all...)
	}
}

// withoutTests are the candidates without those regions that are in test code. What a test accesses
// there was handed to it by the program, and all other users are handed it, too:
//
//	func (r *Registry) Items() map[string]int {     func (r *Registry) Items() map[string]int {
//		r.mu.Lock()                                 	r.mu.Lock()
//		defer r.mu.Unlock()                         	defer r.mu.Unlock()
//		return r.items                              	return maps.Clone(r.items)
//	}                                               }
func (k *ranking) withoutTests(c *Candidate, data *cover.Data, regions []*cover.Region) []*Candidate {
	inCode := *c
	inCode.regions, inCode.base = slices.DeleteFunc(slices.Clone(regions), func(r *cover.Region) bool { return r.Test }), k.base
	names := data.Names(k.run.code)
	if all := k.coveringMore(&inCode, slices.Concat(names, k.run.handedOut(names, c.lock, func(*ssa.Function) bool { return true })), inCode.regions); len(all) > 0 {
		return all
	}
	return k.coveringMore(&inCode, names, inCode.regions)
}

// readingCopies are the candidates without those regions that are there for elements alone, where a lock cannot
// be held, or would be taken too late: what they go through can be a copy, which is made where it is taken from
// the data.
func (k *ranking) readingCopies(c *Candidate, names []dataname.Name, regions []*cover.Region) []*Candidate {
	copying := *c
	copying.regions, copying.base = slices.DeleteFunc(slices.Clone(regions), func(r *cover.Region) bool { return r.Elements && !r.Write }), k.base
	if len(copying.regions) == len(regions) {
		return nil
	}
	return k.coveringMore(&copying, names, copying.regions)
}

// handedOut are other data of the struct with a lock that the lock guards but for what code without it is
// handed, by some functions: the same mistake in a method beside.
func (r *failedRun) handedOut(data []dataname.Name, l *cover.Lock, by func(*ssa.Function) bool) []dataname.Name {
	if !l.Exists() || l.Owner() == nil {
		return nil
	}
	var all []dataname.Name
	for _, v := range r.locksHeld().Variables {
		if !v.Object.IsField() || !dataname.HasField(l.Owner(), v.Object) {
			continue
		}
		broken := whole.Broken(r.locksHeld(), []*types.Var{v.Object}, l.Object())
		if slices.ContainsFunc(broken, func(g *whole.Group) bool { return leaves(g) && by(g.Func) }) && !slices.ContainsFunc(broken, isOpen) {
			all = append(all, r.onlyData(v.Object).Names(r.code)...)
		}
	}
	return slices.DeleteFunc(all, func(n dataname.Name) bool { return slices.Contains(data, n) })
}

// whyNotInStruct says why a new lock cannot be in a struct: objects of it are copied or overwritten as a
// whole, and the lock would be with them; "" if it can.
func (r *failedRun) whyNotInStruct(l *cover.Lock) string {
	if l.Exists() || l.Owner() == nil {
		return ""
	}
	st, ok := l.Owner().Underlying().(*types.Struct)
	if !ok || st.NumFields() == 0 {
		return ""
	}
	program := uncovered.Program{Code: r.code, Held: r.locksHeld()}
	return program.Copied(st.Field(0), func(at token.Pos) bool { return r.code.Overwrites(l.Owner(), at) })
}

// isForUsers reports whether a lock of a struct, or a new one of the package, is to be taken in tests,
// for data that the tests do not name, and is no variable of the package. Other code that uses the
// package does as the test does, and would need the lock as well. A lock that an earlier round has added is new,
// and has sections in the package.
func (k *ranking) isForUsers(l *cover.Lock, data *cover.Data, regions []*cover.Region) bool {
	added := k.base.Added(l)
	elsewhere := added || slices.ContainsFunc(regions, func(r *cover.Region) bool { return !r.Test })
	named := !slices.ContainsFunc(regions, func(r *cover.Region) bool { return r.Test && !data.IsNamedIn(r) })
	ofPackage := (added || !l.Exists()) && l.Owner() == nil && l.Scope() == nil
	return ofPackage && !data.HasGlobals() && elsewhere || l.Owner() != nil && !named
}

// isForAllObjects reports whether a new lock of the package is to guard fields of objects, of all at
// once. A lock in each of several structs comes before it, though it takes rounds to find.
func isForAllObjects(l *cover.Lock, data *cover.Data) bool {
	return !l.Exists() && l.Owner() == nil && l.Scope() == nil && !data.HasGlobals()
}

// coveringMore are the candidates that cover more with the same lock, which are better: all other accesses
// to the same data, and before it the one that also guards the data's companions.
func (k *ranking) coveringMore(c *Candidate, names []dataname.Name, regions []*cover.Region) []*Candidate {
	if k.run.minimal {
		return nil
	}
	var all []*Candidate
	same := k.run.writeWhole(regions, names, c.lock, k.base)
	c.uncoverable, c.apart = same.uncoverable, same.apart
	for _, w := range []wholePatch{k.run.withCompanions(same, regions, names, c.lock, k.base), same} {
		if w.patch == nil || c.Patch != nil && w.patch.Key() == c.Patch.Key() {
			continue
		}
		entire := *c
		entire.Patch, entire.uncoverable, entire.apart = w.patch, w.uncoverable, w.apart
		all = append(all, &entire)
	}
	return all
}

// addThroughout adds the candidate that holds a lock of an earlier round throughout methods.
func (k *ranking) addThroughout(p proposal, l *cover.Lock) {
	patch := k.run.code.WriteThroughout(p.regions, l, p.data.Names(k.run.code), k.base)
	if patch == nil {
		return
	}
	c := &Candidate{Derivation: p.derivation, Lock: l.Words, Reason: "parts of the methods were not enough, so they hold it throughout", Patch: patch, lock: l, covers: new(coverage)}
	if k.preferThroughout {
		k.first = append(k.first, c)
	} else {
		k.good = append(k.good, c)
	}
}

// Guarded returns the data that its lock, and those of earlier rounds, are to guard.
func (c *Candidate) Guarded() []dataname.Name {
	if c.lock == nil {
		return nil
	}
	var all []dataname.Name
	for _, g := range c.Patch.Guards() {
		all = append(all, g.Data...)
	}
	return all
}
