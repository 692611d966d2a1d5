// Package topics has the help topics: the pages of cofferdam help that belong to no single command. All of it is in
// topics.go.
package topics

// A Topic is one page of help that belongs to no single command.
type Topic struct {
	Name  string
	Short string // a line for the list of topics
	Text  string
}

// All are the topics in the order in which they are listed.
var All = []Topic{
	{"schedules", "what a schedule is, and how it is written", schedulesHelp},
	{"strategies", "how schedules are chosen: pct, random and dfs", strategiesHelp},
	{"control", "what is under control, and what is not", controlHelp},
	{"time", "stalls, timers, random numbers, and what a search holds fixed", timeHelp},
	{"waiting", "deadlocks, partial deadlocks and leaks: goroutines that wait for ever", waitingHelp},
	{"traces", "what is in a trace file, and what can be done with it", tracesHelp},
	{"protect", "how data is protected: auto, isolate, tolerate, exact and detect", modesHelp},
	{"stm", "transactions that are written as plain code", transactionsHelp},
	{"settings", "the file cofferdam.toml: flags for every run, and what is not reported", settingsHelp},
	{"exitcodes", "what the exit codes mean", exitCodesHelp},
	{"environment", "environment variables", environmentHelp},
}

const schedulesHelp = `A schedule is the order in which the goroutines of a program take their steps.

Under explore, replay and fix one goroutine runs at a time. Before each access to shared
memory and each synchronisation the tool decides which goroutine takes the next step. By
default that is the goroutine that took the last step, as long as it can go on, and then
the next one by number. A schedule is written as what differs from that:

  default   nothing does
  2.7+3     after the 7th step of goroutine 2, goroutine 3 goes on: a preemption
  2.7_3     the same where goroutine 2 could not go on, or gave way
  2.7~1     the 7th choice of goroutine 2 is possibility 1, such as a ready case of a
            select; possibilities count from 0
  2.7@1     after the 7th step of goroutine 2, time moves on to the next timer although
            goroutines could go on: a stall (2.7/3@1: after time has moved by itself 3
            times since that step)
  2.7=1     the 7th choice of goroutine 2, which is left to chance, is possibility 1
  %5        the program draws from the 5th sequence of random numbers

The parts are separated by commas. A failing schedule is shrunk to as few preemptions as
possible before it is shown: they are the places where the failure is decided. Stalls and
choices by chance are counted like preemptions. Time is virtual: except for stalls it stands
still while a goroutine can run, and sleeping costs nothing.

Example: explore says "shrunk to: 2.8+3". The failure needs one preemption, of goroutine
2 after its 8th step, in favour of goroutine 3. The timeline below it shows the lines of
the program where that is.

See also: cofferdam help strategies, cofferdam help time, cofferdam help traces
`

const strategiesHelp = `A strategy chooses the schedules that explore and fix try.

  pct      Random priorities with a few random changes of priority, after Burckhardt and
           others: each run finds a bug that needs d such changes with a probability that
           is known. The default, and the best first try.
  random   Any goroutine that can go on is as likely as any other, at each step.
  dfs      All schedules with at most -preemptions preemptions, each once, without those
           that only swap independent steps. It ends by itself, and says "all schedules
           with at most 2 preemptions tried" if no such schedule can fail.

With pct and random, -seed decides: the same seed gives the same schedules. They go on
until the -budget is used up, -runs schedules are tried, or nothing new is seen for long.
They take turns with a search of all schedules that have few preemptions, until some
thousand of these are tried: a program that has no more is searched completely by any
strategy, and the result says so.

As many processes as there are processors try schedules, or -j of them. They find the same
whatever their number, unless time runs out.

Examples:

  cofferdam explore -strategy dfs -preemptions 3 ./queue
  cofferdam explore -strategy random -seed 7 -budget 5m ./...

See also: cofferdam help schedules
`

const controlHelp = `Under explore, replay and fix these are under control, so that every order of what they do
can be tried:

  goroutines   all that the program starts, and those of the standard library: net/http,
               context, os/signal, errgroup and others, testing/synctest
  memory       every access of your own code, and what the standard library does to your
               data
  waiting      package sync, channels, select, also by package reflect
  time         sleeps, timers, tickers, deadlines: cofferdam help time
  networks     of this machine: TCP, UDP, unix sockets, in memory, with HTTP and TLS
  files        a call of package os that looks at files or changes them is one step. Changes
               of files are not taken back after a run. A test that changes files outside
               temporary folders, or starts other programs, is explored by one process at
               a time

Goroutines that an init function or TestMain starts begin anew in each run, before the
test. That is not possible if something waits for one of them before the tests begin, or if
a timer, a socket, a pipe or another program is made there: then they stay outside control.

What net/http, net/rpc and crypto/tls do to memory of their own is not seen; what they do
to an http.Header is. What a dependency does to memory is not seen without -deps.

Hooks allocate memory, so testing.AllocsPerRun says 0 under control.

Memory is collected only where the program calls runtime.GC. Finalizers and cleanups run
then, under control, and weak pointers are cleared. Collections elsewhere are not tried, and
the result lists that as held fixed.

Other programs and machines, and cgo, are outside control. What they do is left to chance. A
goroutine that waits for them runs beside the others meanwhile, and time goes no faster than
outside, so such runs take as long as without control; a timer may still overtake them.
Signals of other programs arrive. The result of a test with something outside control is
"part" instead of "ok", with a note that says what it was; -strict exits with code 3 then.

See also: cofferdam help time, cofferdam help waiting
`

const timeHelp = `Time is virtual under explore, replay and fix: it moves on to the next timer when no
goroutine can run, and sleeping costs nothing. A look at the clock takes 100ns. While
another program is waited for, time goes no faster than it does outside.

How long the code between two steps takes is not known, though. A sleep, a timer, a ticker
or a deadline may therefore be over while goroutines are still about to do something: the
machine was slow, which is called a stall. Stalls find sleeps that wait for other goroutines
and are too short, and deadlines that pass in the middle of something. A stall is counted
like a preemption, shrunk away where it is not needed, and shown in the timeline:

  -- 10ms passes: the machine is slow --

All stalls of a run together last -stall at most, 250ms by default. A timeout of ten seconds
that guards a test does not fire just because virtual time could jump there. What the
program spends waiting does not count: after a sleep of 990ms, a timeout of one second is
10ms away. With -stall 0 timers fire only when no goroutine can run; with -stall 20s a
timeout of ten seconds is tried, too. In a bubble of testing/synctest there are no stalls.
Time may also move on before a process outside control comes back.

Random numbers (math/rand, math/rand/v2, crypto/rand) and the order of maps differ from run
to run of a search, follow from -seed, and are the same again on replay. A draw from up to 8
possibilities, such as rand.IntN(6), the order of a map with up to 8 elements, and the ready
cases of a select are choices: dfs tries all of them, with choices by chance counted like
preemptions. Of other draws, dfs tries 8 sequences.

What a search by dfs held fixed although the program could meet it differently is part of
its result: "all schedules with at most 2 preemptions tried (13); held fixed: that the
machine stalls for 250ms at most". A program without timers, random numbers and clocks has
nothing of that kind.

Examples:

  cofferdam explore -stall 1s ./cache
  cofferdam explore -strategy dfs -stall 0 ./cache

See also: cofferdam help schedules, cofferdam help strategies
`

const waitingHelp = `Explore finds goroutines that wait for ever, in three ways:

  deadlock          No goroutine can go on, and the test or program is not over.
  partial deadlock  A goroutine waits for a lock that is never released, because its holder
                    has ended, waits for another such lock, or waits for ever for something
                    else. Other goroutines may go on; the test may have passed.
  leak              The test is over, and a goroutine is left waiting for something that
                    nothing can do any more: a channel, a WaitGroup, a Cond, select {}.
                    Not counted with -leaks=false; a note then says what was left.

When a test is over, the goroutines that it leaves go on, until all have ended or wait.
Timers that they wait for come. If then nothing can go on, whatever waits does so for
ever, and that is certain. If something still goes on, such as a goroutine that spins, a
ticker, or one that is not under control, it might wake the others: then only waits for
locks are judged, and a note names the others. A lock counts as released by the goroutine
that took it, unless another one has released it before in the same run.

Not leaks are goroutines that a timer or ticker is going to wake, goroutines that the
standard library has started for itself, those of package initialisation, and what a test
that has failed leaves behind. A program that ends takes its goroutines with it: with
-main there are no leaks.

A leak is the least of all failures: the search goes on for others, and tells whether the
goroutine is left in every schedule or in some. A worker that is meant to live as long as
the process, such as one that a package starts at its first use, is reported too, as
"left waiting in every schedule": stop it at the end of the test, or give -leaks=false.

A report says why: copied lock, lock order, double lock, missing unlock, lock held over a
wait, missed signal, no signal, wait group never done, channel with nobody left, nil
channel, empty select; which goroutine holds which lock since which line; and for a lock
order the circle.

Examples:

  cofferdam explore -run TestPool ./pool
  cofferdam explore -leaks=false ./...

See also: cofferdam help explore
`

const tracesHelp = `A trace is a file with everything that happened in one run: each access to shared memory
with the values before and after, each synchronisation, and how the run ended. Explore
writes one for each test that fails.

  cofferdam replay FILE       run the same schedule again and compare, event by event
  cofferdam replay -debug FILE
                              stop it at the failure, in a debugger
  cofferdam trace FILE        print the events, or those that flags choose
  cofferdam report FILE       write a page that shows the run
  cofferdam trace -summary FILE
                              print what the trace is of
  cofferdam fix -trace FILE   write the locks that keep the failure from happening

Explore keeps traces in testdata/cofferdam beside the tests, or where -o says. The directory
is made with a .gitignore that leaves all of it out, since a trace belongs to one build;
remove the file to keep traces in a repository.

A trace outlives edits. Replay and fix know a step by its function and its text, not by its
line, list the functions on the way that have changed, and show where the run differs from
the recorded one. The versions of Go and of cofferdam and the build flags have to be the
same. A trace names the package, not the directory, so run replay and fix in the module of
the program, or give its directory with -C.

See also: cofferdam help trace, cofferdam help replay
`

const modesHelp = `Run, build and test protect the data that locks guard from code that skips the lock.
-protect says how:

  isolate    Only the goroutine in a section can reach what its lock guards. An access
             without the lock waits for the end of the section. On linux/amd64, as long as
             nothing takes the address of the data, isolate covers
             - fields of structs that hold their own lock, of any type, and maps and slices
               with their entries and elements where nothing else refers to these;
             - on pages, package-level variables without pointers, or that are one
               pointer, map, channel or function;
             - fields of nodes, whose lock is elsewhere, from a section's first use of a
               node to its end: no store without the lock comes in between, and no load
               sees what the section has written before it ends.
  tolerate   A section works on private copies of what its lock guards, and of elements,
             entries and nodes behind it, up to eight of a kind at a time, and publishes
             them at its end. A write without the lock during a section cannot harm it;
             it is recognised at the end, resolved and reported.
  exact      Like tolerate, and code without the lock is followed access by access: a
             finding has the class of the race and both places, and an update without the
             lock that would be lost, or lose one, waits for the end of the section. For
             tests: accesses without the lock, and sections, take microseconds.
  detect     Nothing is kept apart. Writes without the lock during a section are
             recognised and reported.
  auto       Isolate where it is possible and costs correct code next to nothing,
             tolerate elsewhere. The default.

Which lock guards what is inferred; cofferdam guards shows it. A table at the start says
how each variable is protected, and what is not protected and why; -summary=false leaves it
out.

Run and test print their findings at the end, and on SIGUSR1. A program that was built
prints one line as soon as something is found, or logs it with -log, and all findings when
it ends: by returning, os.Exit, log.Fatal, a panic of main, or a signal that it does not
handle. Nothing can be printed when another goroutine panics or the process is killed; the
line has been printed by then, and the finding is in the file of -findings, to which it is
appended at once. With -monitor, or if the program imports package monitor,
/debug/cofferdam serves text, and below it json, metrics for Prometheus, and profile for
go tool pprof.

A file that -findings has written serves as a baseline: with -baseline FILE, or the setting
baseline, findings in it are not reported, and -strict counts those that are new. A finding
stays known when other lines of its file change.

Where both a section and code without the lock have changed a variable, tolerate merges:
sums, maxima, minima and appends as if the section had come last; elsewhere the section's
value stands. A comment on the declaration asks for something else:

  total int //cofferdam:resolve delta

It is one of ours, theirs, delta, max, min, append, union (for maps, whose entries are
copied then), refuse (the section's value stands, and the finding says that the other
was refused: a section does not panic for what careless code has done), or a function of
the package:

  func later(theirs, ours, before State) State

To protect less, -only and -skip have rules: lock:Account.mu, var:Account.balance,
package:example.com/app/..., func:Bank.Transfer, with * for any text and commas between
them. Rules of one kind widen what -only leaves, those of different kinds narrow it. The
file cofferdam.toml in the root of the module has them for every run (cofferdam help
settings); flags come first:

  [protect]
  skip = ["func:debug*", "lock:cache.mu"]
  baseline = "known.json"

Examples:

  cofferdam run -protect ./cmd/server -addr :8080
  cofferdam test -protect=tolerate -strict ./...
  cofferdam build -protect=detect -findings found.json -o server ./cmd/server

See also: cofferdam help run, cofferdam help guards
`

const settingsHelp = `The file cofferdam.toml, beside go.mod, says what holds for every run in its module. A table
with the name of a command has values for its flags; the command line overrides them. Table
protect is for run, build and test. Table suppress says what guards, vet and -protect do not
report: findings by id, or places, which are files with or without a line, or names of what
is accessed or of its lock.

  [explore]
  budget = "2m"
  races = true

  [protect]
  skip = ["func:debug*", "lock:cache.mu"]
  baseline = "known.json"

  [suppress]
  findings = ["3f2a9c0d1e4b5a67"]
  places = ["cache/evict.go:41", "legacy/*.go", "Server.started"]

Words that nothing reads are errors, with the line. docs/settings.md has the rest.

See also: cofferdam help protect, cofferdam help guards
`

const transactionsHelp = `A program that imports github.com/cofferdam-go/cofferdam/stm can write transactions as
plain code:

  stm.Atomic(func() {
      from.Balance -= amount
      to.Balance += amount
      history[id] = append(history[id], amount)
  })

Built by go build, such functions run one at a time, as under one lock. With -stm they are
compiled to transactions that run beside each other: accesses to memory that others can
reach go through the transaction, and functions that are called are there once more for
transactions. The sources stay as they are, and what the program does is the same.

What cannot be undone (output, system calls, locks, channels, go statements, functions of
packages that are not compiled) makes a transaction run alone from there on. The places are
printed at the start, unless -summary=false is given; with -stm=strict they are errors. A
transaction also runs alone from a call on, through a variable or an interface, of a
function that turns out not to be compiled; and from a call on, through an interface that
holds a pointer, of a method whose receiver is a value, because Go reads the receiver by
itself.

Packages of the main module, of a workspace and of local replacements are compiled, and
those of other modules if transactions call functions of one; those of the standard library
are not, but what computes from numbers and strings, what searches, sorts, changes and goes
through slices and maps, what writes values out (fmt.Sprint), and what wraps and compares
errors, can be called all the same, and so can packages sort and container/heap with types
of the program; container/list cannot. While data is shared, it is accessed in transactions
only.

Examples:

  cofferdam run -stm ./cmd/bank
  cofferdam test -stm=strict -race ./...
  cofferdam build -stm -o bank ./cmd/bank

See also: cofferdam help run
`

const exitCodesHelp = `Cofferdam exits with

  0     all is well: nothing was found, or what was asked for was done
  1     a command that looks for something has found it: a failing schedule (explore, test
        -explore), a run that differs (replay), events that no run can have (trace -check),
        deviating accesses (guards), anything to report (vet), findings in files (findings),
        findings that are new (campaign), damage (campaign -check); for fix: there is a
        failure, but no proven fix
  2     the command could not do its work, or was called in a wrong way; also if it could
        do part of it only, because a package does not build, whatever was found
  3     fix found no failure; explore -strict found none, but saw part of a test only
  130   it was interrupted (128 and the number of the signal)
  141   its output was not read to the end, as when head has enough; what was found by then
        is on standard error

Run, build and test exit as the go command does. With -strict they exit with 1 if the
program succeeded and something was found.
`

const environmentHelp = `Cofferdam runs the go command, so the variables of go help environment apply, and these:

  COFFERDAM_ISOLATE    how isolated memory is protected in a program: userfaultfd,
                       mprotect or none; by default the first of them that works
  COFFERDAM_TOKEN      what workers give to the server of a campaign (campaign -listen,
                       worker -join), and campaign -nats to that of a cluster
  NO_COLOR             if it is set, and not empty, nothing is coloured
  TERM                 if it is dumb, nothing is coloured, and the line that shows
                       progress is not rewritten in place
  TMPDIR               where temporary files go; all of them are removed at the end

In a program that cofferdam runs, COFFERDAM_FINDINGS names the directory to which it
writes what it finds.
`
