// Package sched decides which goroutine of a controlled run goes next.
//
// A run is a sequence of steps. Before each step there is a point: some goroutines are
// ready, each is known to be about to do one operation, and a Strategy picks one of
// them. A switch is a preemption if the goroutine that took the last step could have
// gone on and did not yield. Time can be picked, too, where there are timers: then the
// machine stalls until the next of them, which is counted like a preemption. A Schedule is
// what a run did, written down as the switches, stalls and choices in the middle of steps
// in which it differs from the default run, and the sequence of random numbers that the
// program drew from.
//
//	Turn, Strategy  what is asked and what answers                  sched.go
//	PCT, Random     schedules by chance, with a seed                pct.go, random.go
//	                  when the machine stalls in them               stalls.go
//	DFS, Subtree    all schedules with few preemptions              dfs.go, subtree.go, node.go, path.go
//	                  what depends on what, and in which order      conflict.go, races.go
//	                  which goroutines may not go on for ever       fair.go
//	Plan, Unit      a search, divided among any number of processes plan.go, tree.go, unit.go
//	PlanState       a search that is left, and taken up elsewhere   planstate.go
//	Replay          a given schedule                                replay.go
//	Recorder        any of them, and the schedule that came of it   record.go
//	                  runs that differ only in what does not matter fingerprint.go, table.go
//	                  conflicting operations that were seen         pairs.go
//	Shrink          the smallest schedule that fails likewise       shrink.go
//	Schedule        its text                                        schedule.go
//	Progress        what was tried, as data and in words            progress.go
//	                  and what was held fixed                       held.go
//	Divergence      where a run left its schedule                   divergence.go
//
// The package is linked into instrumented programs below the standard library's own sync
// package: it may import nothing that imports sync.
//
// # Many processes
//
// A Plan hands out units: some runs by chance, known by their numbers, or a subtree of the
// tree of all schedules, known by the path to it. What a unit comes to depends on nothing
// but the unit and the program, and results are merged in the order of the units. So a
// search is the same for any number of processes, as long as no time limit ends it.
//
// The tree can be divided since the search below needs no memory of other runs: what a run
// shows to be worth trying depends on that run alone, and the runs of the search are the
// least set that is closed under it. A process that finds something to be tried at a node
// outside its subtree hands it back, and the Plan knows whether it was tried already.
//
// # Why the depth-first search misses nothing
//
// Promised is: with the bound c, every end that some schedule with at most c preemptions
// leads to (final state, deadlock, failing step) is reached by a run of the search with
// the bound c. The search is the dynamic partial-order reduction of Flanagan and Godefroid
// (POPL 2005) with the additions that make it hold under a bound by Coons, Musuvathi and
// McKinley (Bounded partial-order reduction, OOPSLA 2013).
//
// Two operations depend on each other if they touch the same thing and do not commute
// there. Runs that differ in the order of neighbouring independent steps only end alike,
// so of all such runs (a class) one is enough.
//
// Without a bound, it is enough to try a set T of goroutines at a point if nothing that
// the others can do, as long as none of T goes, depends on what T is about to do: every
// class of runs from there has a member that starts with one of T. T starts as one
// goroutine and is completed while the search goes on: when a goroutine p is found to be
// about to do something that depends on an earlier step of q, and nothing that happened
// in between orders the two, then p is to be tried right before that step; if p was not
// ready there, every goroutine that was, since one of them leads to where it is.
//
// With a bound this is not enough, since the members of a class differ in their number
// of preemptions. The one that T leads to may be out of bounds while one that starts with
// another goroutine is not. Three rules see to it that T is never dearer than what it stands
// for, in the whole of the turn that starts with it:
//
//   - The first choice at a point costs nothing: the current goroutine, if it can go on.
//   - p is tried before the last step of each other goroutine that it depends on, and
//     again for every point at which it is about to do the operation; not just before the
//     last step of all, whose reversal may be out of bounds.
//   - Where p is to be tried before a step of q, it is also tried where q's turn began
//     (or where q yielded last). There the switch to p costs no more than the one that
//     was made, whereas in the middle of the turn it is a preemption.
//
// With them, the set tried at a point is persistent under the bound in the sense of the
// paper, whose proof goes by induction from the ends of runs to their start. Sleep sets,
// the usual way to save some more runs, do not go with a bound, for the same reason as
// above, and are not used: some classes are run more than once.
//
// What is different from the paper's programs, and why it does no harm:
//
//   - To ask for a lock that is held, or to receive from an empty channel, is a step,
//     after which the goroutine waits. That a lock is asked for before it is released
//     therefore counts as a reversal to be tried, though the end is the same: waiting
//     hands over the turn for nothing.
//   - What a goroutine waited for may be done for it by another one. Its first step
//     afterwards is taken to touch again what it waited for. That some step made it ready
//     does not order the two: another step might have done so. Only a goroutine's first
//     step is ordered after the one that created it.
//   - Conflicts are looked for by words of 8 bytes; a select conflicts with all operations
//     on channels, and a move of time with all that starts or stops a timer or asks for the
//     time. A relation with more dependences than needed costs runs and loses none.
//   - Time is one more goroutine, Time, whose steps are shown also where nothing else can
//     be done. A stall costs a preemption wherever it begins, and nothing where it goes on;
//     so where time is to be tried, it is also tried at the end of the stall before. That
//     time moves on by itself costs nothing, and no run of the class is cheaper: where it
//     came before a step that does not need it, a goroutine was ready.
//   - All possibilities of a choice in the middle of a step are tried. Those of a select
//     cost nothing, of others all but the first cost a preemption.
//   - What a program draws beyond that comes from a sequence of random numbers, which is
//     the same in all runs of a search; the search is repeated with others.
//   - The step that makes a run fail and end depends on whatever the others had still to
//     do: they are tried before it.
//   - A goroutine that goes round a loop in which it yields would give endless runs. Where
//     a round had no effect, as in a loop that waits for a flag, it has to let those go first
//     that could have gone all the while (fair.go), and nothing is lost, since a run without
//     that round has the same end. Where it is not known to have had none, that is asked of it
//     only after many rounds, and then what it would do if it went on is not tried, which
//     Progress says. A goroutine that polls an atomic counts as one that yields, too (package
//     rt, which knows what a round was).
//   - Runs that are cut off, and runs that do not repeat the earlier run that they start
//     from, void the promise. They are counted, and Progress says so.
//
// The tests hold all this against a search without any reduction, on random programs.
package sched
