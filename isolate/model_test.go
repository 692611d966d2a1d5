// This file and its siblings model_*_test.go are an executable model of the
// Isolator paper: its concurrent language (section 2), the meaning that
// Isolator (figures 2 and 3) and ToleRace (figure 4) give to it, and the
// protocol of package isolate itself. The tests explore all interleavings of
// small programs and check the paper's theorems on them. The model shares no
// code with the package.
//
// # Terms
//
// A program has shared variables, locks and threads. Each variable is guarded
// by one lock (the paper's locking discipline LD). A thread is careful about a
// lock (well-behaved, in W) if it holds the lock whenever it accesses what the
// lock guards, and careless (ill-behaved) otherwise. A section lasts from
// Acquire to Release.
//
// A history is the sequence of instructions executed, each with its thread. It
// is isolated if no access of another thread falls into a section of a thread
// that is careful about the section's lock. Theorem 3 is the specification of
// everything here: a history is feasible if and only if it is feasible under
// the standard semantics and isolated, and it leads to the same state. That is
// three demands:
//
//	safety          every history is one of the standard semantics, with the same state
//	isolation       every history is isolated
//	permissiveness  every isolated history of the standard semantics is feasible
//
// # Steps
//
// A semantics works in atomic steps, and one instruction may need several. The
// step at which the instruction takes effect is shown in the history, the rest
// are silent. All interleavings of all steps are explored, so it is the
// protocols that are put to the test and not only the programs. Every state of a
// semantics stands for a state of the standard semantics (the paper's lookup),
// which must be the one that the history leads to.
//
// # Files
//
//	model_test.go            the theorems, as tests, and the mutations that they must catch
//	model_program_test.go    the language, the programs of the figures, generated programs
//	model_semantics_test.go  states and steps; standard, basic, optimised, ToleRace
//	model_mapped_test.go     the protocol of package isolate
//	model_explore_test.go    histories, isolation, exploration, comparison
package isolate_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// A modelFamily is a set of programs to verify a semantics on. All but the
// classics hold every program of certain numbers of threads and instructions.
type modelFamily string

const (
	modelClassic modelFamily = "classics"
	modelPairs   modelFamily = "pairs"   // a careful thread and a careless one
	modelTriples modelFamily = "triples" // three threads, but no rivals
	modelRivals  modelFamily = "rivals"  // a careful thread and two careless ones that take locks
	modelModest  modelFamily = "modest"  // a careful thread that ends its sections, and careless ones without locks
)

// each visits the programs of the family.
func (f modelFamily) each(visit func(*modelProgram)) {
	n := 3
	if testing.Short() {
		n = 2
	}
	only := func(keep func(*modelProgram) bool) func(*modelProgram) {
		return func(p *modelProgram) {
			if keep(p) {
				visit(p)
			}
		}
	}
	switch f {
	case modelClassic:
		for _, p := range modelClassics() {
			visit(p)
		}
	case modelPairs:
		modelGenerate([]int{n + 1}, []int{2}, visit)
		modelGenerate([]int{n}, []int{n}, visit)
	case modelTriples:
		modelGenerate([]int{n, n - 1}, []int{1}, visit)
		modelGenerate([]int{n}, []int{1, 1}, only(func(p *modelProgram) bool { return !p.rivals() }))
	case modelRivals:
		modelGenerate([]int{n}, []int{2, 1}, only((*modelProgram).rivals))
	case modelModest:
		modest := only(func(p *modelProgram) bool {
			source := p.threads[0].source
			return !p.rivals() && strings.Count(source, "acquire") == strings.Count(source, "release")
		})
		modelGenerate([]int{n + 1}, []int{n}, modest)
		modelGenerate([]int{n}, []int{1, 1}, modest)
	default:
		panic("model: no family " + f)
	}
}

// rivals reports whether a careless thread takes locks.
func (p *modelProgram) rivals() bool {
	return slices.ContainsFunc(p.threads, func(th modelThread) bool {
		return th.careless && strings.Contains(th.source, "acquire")
	})
}

// modelVerify compares the semantics with the specification on all programs of
// the family.
func modelVerify(t *testing.T, sem modelSemantics, family modelFamily, allowed ...modelFault) modelReport {
	t.Helper()
	var report modelReport
	family.each(func(p *modelProgram) { report.add(modelCompare(p, sem)) })
	report.check(t, sem, allowed...)
	t.Logf("%s, %T%+v: %v", family, sem, sem, report)
	return report
}

// check fails the test on any fault but those allowed. A deadlock is always
// allowed, since the specification has it too: a careless thread has to wait for
// a section, and the section does not end.
func (r modelReport) check(t *testing.T, sem modelSemantics, allowed ...modelFault) {
	t.Helper()
	for fault, witness := range r.faults {
		if fault != modelDeadlock && !slices.Contains(allowed, fault) {
			t.Errorf("%T%+v: %s\nin %s", sem, sem, fault, witness)
		}
	}
}

// modelList returns every history of p under sem with the one standard state
// that it leads to, if the history has the property.
func modelList(t *testing.T, p *modelProgram, sem modelSemantics, property func(modelHistory) bool) map[modelHistory]modelState {
	t.Helper()
	list := make(map[modelHistory]modelState)
	g := modelExplore(p, sem)
	g.histories(func(h modelHistory, set []rune) {
		if property(h) {
			list[h] = g.standing[set[0]]
		}
		for _, id := range set {
			if g.standing[id] != g.standing[set[0]] {
				t.Errorf("%T%+v: two states\nin %s\n\tafter %s", sem, sem, p, h.format(p))
			}
		}
	})
	return list
}

// All semantics share the code that computes, so no comparison can tell whether
// it is right.
func TestModelInstructionsCompute(t *testing.T) {
	p := modelParse("alone", "A: x y=3", "careless: r0 = 2; r1 = y; r1 = r0 + r1 + 4; jmpz r2 +2; r1 = 7; jmpz r0 +2; x = r1")
	got := slices.Collect(maps.Keys(modelExplore(p, modelStandard{}).finals()))
	if want := "x=9 y=3 T1.r0=2 T1.r1=9"; !slices.Equal(got, []string{want}) {
		t.Errorf("ends with %q, want %q", got, want)
	}
}

// Proposition 1: if all threads obey the discipline, every history is isolated.
func TestModelProposition1CarefulThreadsRunIsolated(t *testing.T) {
	count := func(sem modelSemantics) (programs, histories, isolated int) {
		for _, lengths := range [][]int{{4, 3}, {3, 2, 2}} {
			modelGenerate(lengths, nil, func(p *modelProgram) {
				programs++
				modelExplore(p, sem).histories(func(h modelHistory, _ []rune) {
					histories++
					if h.isolated(p, true) {
						isolated++
					}
				})
			})
		}
		return programs, histories, isolated
	}
	programs, histories, isolated := count(modelStandard{})
	t.Logf("%d programs, %d histories", programs, histories)
	if isolated != histories {
		t.Errorf("only %d histories are isolated", isolated)
	}
	if _, histories, isolated = count(modelStandard{broken: modelNeverBlocks}); isolated == histories {
		t.Errorf("not caught: %s", modelNeverBlocks)
	}
}

// Theorem 2: Acquire and Release, although loops, act as if they were atomic.
func TestModelTheorem2LoopsActAsSingleSteps(t *testing.T) {
	for _, family := range []modelFamily{modelClassic, modelPairs, modelTriples, modelRivals} {
		atomic := modelVerify(t, modelBasic{atomic: true}, family)
		loops := modelVerify(t, modelBasic{}, family)
		if atomic.histories != loops.histories || atomic.states >= loops.states {
			t.Errorf("atomic: %v; loops: %v; want the same histories through more states", atomic, loops)
		}
	}
}

// Theorem 3 by listing: the histories of each semantics are those of the
// standard semantics that are isolated by the letter of section 2, and they
// lead to the same states.
func TestModelTheorem3ExactlyTheIsolatedHistories(t *testing.T) {
	every := func(modelHistory) bool { return true }
	for _, p := range modelClassics() {
		all := modelList(t, p, modelStandard{}, every)
		want := modelList(t, p, modelStandard{}, func(h modelHistory) bool { return h.isolated(p, false) })
		for _, sem := range []modelSemantics{
			modelBasic{atomic: true}, modelBasic{}, modelOptimised{},
			modelMapped{}, modelMapped{buffered: true}, modelMapped{watching: true}, modelMapped{watching: true, buffered: true},
		} {
			if (sem == modelOptimised{}) && p.name == modelCarelessSection().name {
				continue // see TestModelOptimisedForbidsMoreInCarelessSections
			}
			got := modelList(t, p, sem, every)
			if !maps.Equal(got, want) {
				t.Errorf("%T%+v: %d histories, want %d, or other states: %v", sem, sem, len(got), len(want), p)
			}
			// The comparison that all other tests rely on must come to the same
			// number without a list, and find that careless threads had to wait.
			report := modelCompare(p, sem)
			if report.histories != uint64(len(got)) || report.delays == 0 {
				t.Errorf("%T%+v: listed %d, compared %v: %v", sem, sem, len(got), report, p)
			}
			report.check(t, sem)
		}
		t.Logf("%s: %d of %d histories are isolated", p.name, len(want), len(all))
		if len(want) == len(all) {
			t.Errorf("nothing to isolate: %v", p)
		}
	}
}

// Theorem 3 on all small programs: safety, isolation, permissiveness. Figure 3
// agrees with figure 2, and our protocol with both, whether the handler watches
// the mutex or the processor delays the holder's store.
func TestModelTheorem3OnAllSmallPrograms(t *testing.T) {
	for _, family := range []modelFamily{modelPairs, modelTriples} {
		want := modelVerify(t, modelBasic{}, family)
		for _, sem := range []modelSemantics{modelOptimised{}, modelMapped{buffered: true}, modelMapped{watching: true}, modelMapped{watching: true, buffered: true}} {
			if got := modelVerify(t, sem, family); got.histories != want.histories || got.delays == 0 {
				t.Errorf("%T%+v: %v; basic: %v", sem, sem, got, want)
			}
		}
	}
}

// The paper proves theorem 3 for figure 2 and lets figure 3 inherit it, but the
// two differ. After a careful section of figure 3 the variables stay protected.
// If a careless thread then takes the lock in the standard way, the handler of
// another careless thread fails in TryAcquire, although no careful section
// runs. So isolated histories become infeasible, and there are deadlocks that
// figure 2 does not have. Figure 3 remains safe and isolated. Our handler can
// tell a section from a bare mutex.
func TestModelOptimisedForbidsMoreInCarelessSections(t *testing.T) {
	report := modelCompare(modelCarelessSection(), modelOptimised{})
	for _, fault := range []modelFault{modelForbidden, modelStuck} {
		if !report.has(fault) {
			t.Errorf("not found: %s", fault)
		}
		t.Logf("%s\nin %s", fault, report.faults[fault])
	}
	modelVerify(t, modelOptimised{}, modelRivals, modelForbidden, modelStuck)
	modelVerify(t, modelBasic{}, modelRivals)
	modelVerify(t, modelMapped{}, modelRivals)
	modelVerify(t, modelMapped{watching: true}, modelRivals)
	modelVerify(t, modelMapped{watching: true, buffered: true}, modelRivals)
}

// A careless thread may take the guard by Lock and access the shared view
// nevertheless, which Lock has closed to everybody. Its handler must not wait
// for its own section. Others wait for that section, which is more than the
// specification asks for.
func TestModelHandlerPassesItsOwnSection(t *testing.T) {
	modelVerify(t, modelMapped{watching: true, locking: true}, modelPairs)
	modelVerify(t, modelMapped{watching: true, buffered: true, locking: true}, modelPairs)
	modelVerify(t, modelMapped{watching: true, locking: true}, modelClassic, modelForbidden, modelStuck)
}

// It would save a store to leave the holder to the next Lock, where the handler looks at the mutex to
// see whether there is a section. But the next holder's store may be late, and then the handler of the
// last one takes the section for its own.
func TestModelHolderMustNotOutliveTheSection(t *testing.T) {
	p := modelParse("careless after a section of its own", "A: x", "careful: acquire A; r0 = x; r1 = x; release A", "careless: acquire A; release A; x = 1")
	ours := modelMapped{watching: true, buffered: true, locking: true}
	modelCompare(p, ours).check(t, ours)
	ours.broken = modelHolderStays
	report := modelCompare(p, ours)
	if !report.has(modelInterference) {
		t.Errorf("not found: %s", modelInterference)
	}
	ours.buffered = false
	if modelCompare(p, ours).has(modelInterference) {
		t.Error("it is not the late store that does it")
	}
	t.Logf("%s\nin %s", modelInterference, report.faults[modelInterference])
}

// Lock and handler may look again and again instead of waiting. Then they can
// go round in circles, if they never look at the right time, but nothing else
// changes. If they wait they cannot: the other tests do not allow it.
func TestModelSpinningAndPollingAreSafe(t *testing.T) {
	for _, sem := range []modelMapped{{watching: true, spinning: true}, {watching: true, polling: true}} {
		if !modelVerify(t, sem, modelClassic, modelCircle).has(modelCircle) {
			t.Errorf("%+v cannot go round in circles", sem)
		}
	}
	modelVerify(t, modelMapped{watching: true, spinning: true, polling: true}, modelTriples, modelCircle)
}

// Delaying alone makes no deadlock: if sections end and careless threads take
// no locks, everybody finishes.
func TestModelDelayAloneNeverDeadlocks(t *testing.T) {
	for _, sem := range []modelSemantics{modelBasic{}, modelOptimised{}, modelMapped{watching: true}} {
		if report := modelVerify(t, sem, modelModest); report.has(modelDeadlock) {
			t.Errorf("%T: %s", sem, report.faults[modelDeadlock])
		}
	}
}

// Figure 1: the careful thread finds the list there, follows it, and it is gone.
func TestModelFigure1CrashIsImpossible(t *testing.T) {
	const crash = "T1.r0=1" // and r1 is nil
	for _, sem := range []modelSemantics{modelStandard{}, modelBasic{}, modelOptimised{}, modelToleRace{}, modelMapped{}} {
		if _, ok := modelExplore(modelFigure1(), sem).finals()[crash]; ok != (sem == modelStandard{}) {
			t.Errorf("%T: crashes: %t", sem, ok)
		}
	}
}

// Figure 5: ToleRace ends with b=10 and y=0, which the standard semantics does
// not, and reports nothing.
func TestModelFigure5ToleRaceBreaksSafety(t *testing.T) {
	const impossible = "x=5 a=10 b=10 T1.r2=10"
	standard := modelExplore(modelFigure5(), modelStandard{}).finals()
	for _, sem := range []modelSemantics{modelStandard{}, modelBasic{}, modelOptimised{}, modelMapped{}} {
		finals := modelExplore(modelFigure5(), sem).finals()
		for final := range finals {
			if _, ok := standard[final]; !ok || final == impossible {
				t.Errorf("%T: ends with %s", sem, final)
			}
		}
		if len(finals) == 0 {
			t.Errorf("%T: does not end", sem)
		}
	}
	if s, ok := modelExplore(modelFigure5(), modelToleRace{}).finals()[impossible]; !ok || s.reported {
		t.Errorf("ToleRace: does not end with %s, or reports it", impossible)
	}
}

// Where section and careless thread both write, ToleRace drops the section, and
// of two variables written together only one gets its value: that it does report.
// Where they do not interfere, ToleRace is safe.
func TestModelToleRaceBreaksIsolation(t *testing.T) {
	p := modelParse("both write", "A: x y", "careful: acquire A; x = 1; y = 1; release A", "careless: x = 2")
	for _, sem := range []modelSemantics{modelStandard{}, modelBasic{}, modelOptimised{}, modelToleRace{}, modelMapped{}} {
		if s, ok := modelExplore(p, sem).finals()["x=2"]; ok != (sem == modelToleRace{}) || ok != s.reported {
			t.Errorf("%T: loses y: %t, reported: %t", sem, ok, s.reported)
		}
	}
	report := modelVerify(t, modelToleRace{}, modelTriples, modelInterference, modelUnsafeLater)
	if !report.has(modelInterference) || !report.has(modelUnsafeLater) {
		t.Error("ToleRace is isolated, or safe")
	}
}

// Figure 6: delaying an access can deadlock a program that does not deadlock by
// itself. Letting an access through when nobody can move cures that, and lets
// nothing else through.
func TestModelFigure6DeadlockVanishesBySurrender(t *testing.T) {
	p := modelFigure6()
	for _, sem := range []modelSemantics{modelStandard{}, modelBasic{}, modelOptimised{}, modelMapped{}} {
		if deadlock := modelCompare(p, sem).has(modelDeadlock); deadlock == (sem == modelStandard{}) {
			t.Errorf("%T: deadlocks: %t", sem, deadlock)
		}
	}
	for _, family := range []modelFamily{modelClassic, modelRivals} {
		if report := modelVerify(t, modelMapped{watching: true, surrender: true}, family); report.has(modelDeadlock) {
			t.Errorf("surrender: %s", report.faults[modelDeadlock])
		}
	}
}

// A handler that stops waiting at any moment, as it must where the runtime
// cannot preempt, costs the one section its isolation, no later one, and never
// safety.
func TestModelSurrenderHarmsOneSectionOnly(t *testing.T) {
	modelVerify(t, modelMapped{watching: true, impatient: true}, modelClassic)
	modelVerify(t, modelMapped{watching: true, impatient: true}, modelModest)
}

// The paper suggests to surrender by removing the protection (section 6). With
// copies that breaks safety and not only isolation: the careless thread then
// reads a stale copy, and writes one that Release overwrites.
func TestModelSurrenderWithCopiesBreaksSafety(t *testing.T) {
	if !modelCompare(modelFigure6(), modelBasic{surrender: true}).has(modelUnsafe) {
		t.Error("surrender with copies is safe")
	}
}

// The comparison can fail: it catches each semantics got wrong.
func TestModelMutationsAreCaught(t *testing.T) {
	caught := func(sem modelSemantics, want modelFault) {
		t.Helper()
		var report modelReport
		modelClassic.each(func(p *modelProgram) { report.add(modelCompare(p, sem)) })
		if !report.has(want) {
			t.Errorf("%T%+v: not found: %s", sem, sem, want)
			return
		}
		t.Logf("%T%+v: %s\nin %s", sem, sem, want, report.faults[want])
	}
	caught(modelStandard{broken: modelNeverBlocks}, modelUnsafe)

	caught(modelBasic{broken: modelNoProtect}, modelInterference)
	caught(modelBasic{broken: modelNoCopyBack}, modelUnsafe)
	caught(modelBasic{broken: modelNoUnprotect}, modelForbidden)
	caught(modelBasic{broken: modelNotAtomic}, modelUnsafe)

	caught(modelOptimised{broken: modelOpenAnyway}, modelInterference)
	caught(modelOptimised{broken: modelStaysValid}, modelUnsafe)
	caught(modelOptimised{broken: modelNotReentrant}, modelStuck)

	caught(modelToleRace{broken: modelNoCopyBack}, modelUnsafe)

	for _, ours := range []modelMapped{{}, {buffered: true}, {watching: true}, {watching: true, buffered: true}} {
		for broken, want := range map[modelMutation]modelFault{
			modelNoReseal:      modelInterference,
			modelSealBlindly:   modelInterference,
			modelIgnoreWanters: modelInterference,
			modelKeepHolder:    modelStuck,
			modelOpenAtOnce:    modelInterference,
			modelWantLate:      modelInterference,
			modelNoMark:        modelInterference,
			modelLeaveEarly:    modelInterference,
			modelIgnoreBusy:    modelInterference,
		} {
			ours.broken = broken
			caught(ours, want)
		}
	}
	caught(modelMapped{broken: modelMutexFirst}, modelInterference)
	caught(modelMapped{buffered: true, broken: modelNoBarrier}, modelInterference)
	caught(modelMapped{watching: true, broken: modelStayOutside}, modelInterference)
	caught(modelMapped{watching: true, broken: modelInsideLate}, modelStuck)
	caught(modelMapped{watching: true, buffered: true, broken: modelPlainRelease}, modelInterference)
	caught(modelMapped{locking: true, broken: modelWaitForOneself}, modelStuck)
	caught(modelMapped{impatient: true, broken: modelNoMark}, modelInterference)
}
