package lanes_test

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/report/lanes"
	"github.com/cofferdam-go/cofferdam/internal/report/runtest"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

func read(t *testing.T, file string) *lanes.Run {
	t.Helper()
	r, err := trace.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	run, err := lanes.New(r, lanes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// unpack takes a piece of the data apart as a page does.
func unpack(t *testing.T, run *lanes.Run, offset, length int, into any) {
	t.Helper()
	data, err := base64.StdEncoding.DecodeString(string(run.Data[offset : offset+length]))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(flate.NewReader(bytes.NewReader(data)))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

// columns are those of a chunk, by the names that a page knows them by.
type columns struct {
	Q                               []uint64
	G, K, S, C, V, H, B, A, O, W, M []int
	T                               []string
}

// steps tells all steps in words, and their links.
func steps(t *testing.T, run *lanes.Run) (all, links []string) {
	t.Helper()
	for _, chunk := range run.Chunks {
		var c columns
		unpack(t, run, chunk.Offset, chunk.Length, &c)
		text := func(n int) string {
			if n == 0 {
				return ""
			}
			return c.T[n-1]
		}
		relevant := map[int]bool{}
		at := 0
		for _, d := range c.M {
			at += d
			relevant[at] = true
		}
		seq := uint64(0)
		for i := range c.G {
			seq += c.Q[i]
			var held []string
			for _, l := range run.Held[c.H[i]] {
				held = append(held, run.Locks[l])
			}
			var stack []string
			for s := c.C[i] - 1; s >= 0; s = run.Stacks[s][0] {
				stack = append(stack, run.Functions[run.Stacks[s][1]])
			}
			variable := ""
			if c.V[i] > 0 {
				variable = run.Variables[c.V[i]-1]
			}
			mark := " "
			if relevant[i] {
				mark = "*"
			}
			all = append(all, fmt.Sprintf("%s%d g%d %s|%s|%s→%s|%s|%s|%s|%s", mark, seq, run.Lanes[c.G[i]-1].G, run.Kinds[c.K[i]].Name, run.Sites[c.S[i]].Place,
				text(c.B[i]), text(c.A[i]), variable, text(c.O[i]), strings.Join(held, ","), strings.Join(stack, ",")))
		}
		var l [3][]int
		unpack(t, run, chunk.LinkOffset, chunk.LinkLength, &l)
		for i := range l[0] {
			links = append(links, fmt.Sprintf("%d->%d:%d", l[0][i], l[1][i], l[2][i]))
		}
	}
	return all, links
}

func TestStepsHaveValuesStacksAndLocksHeld(t *testing.T) {
	run := read(t, runtest.Bank(t, t.TempDir(), 0))
	all, links := steps(t, run)
	const inRun, inDeposit = "example.com/bank.(*Bank).Run", "example.com/bank.(*Bank).deposit"
	want := []string{
		" 1 g1 start||→||||",
		"*4 g1 wait group add|bank.go:11|→|wg|||" + inRun,
		"*5 g1 go|bank.go:12|→||||" + inRun,
		"*6 g1 load|bank.go:13|100→|b.total|obj1+8||" + inRun,
		" 7 g2 start||→||||",
		"*9 g2 lock|bank.go:22|→|b.mu|||" + inDeposit,
		"*10 g2 load|bank.go:23|100→|b.total|obj1+8|b.mu|" + inDeposit,
		"*11 g2 store|bank.go:23|100→150|b.total|obj1+8|b.mu|" + inDeposit,
		"*12 g2 unlock|bank.go:24|→|b.mu|||" + inDeposit,
		"*13 g2 send|bank.go:25|→|done|||" + inDeposit,
		"*14 g2 wait group add|bank.go:26|→|wg|||" + inDeposit,
		" 16 g2 end||→||||",
		"*17 g1 store|bank.go:14|150→70|b.total|obj1+8||" + inRun,
		"*18 g1 receive|bank.go:15|→|done|||" + inRun,
		"*19 g1 lock|bank.go:16|→|b.mu|||" + inRun,
		"*20 g1 unlock|bank.go:17|→|b.mu|||" + inRun,
		"*21 g1 wait group wait|bank.go:18|→|wg|||" + inRun,
		"*22 g1 fail||→||||" + inRun,
		" 23 g1 end||→||||",
	}
	if diff := cmp.Diff(want, all); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"2->5:0", "9->13:2", "8->14:1", "10->16:4"}, links); diff != "" {
		t.Errorf("links (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([][2]int{{7, 12}}, run.Races); diff != "" {
		t.Errorf("races (-want +got):\n%s", diff)
	}
}

func TestMarksAreWhereTheScheduleTakesOverAndTheRunFails(t *testing.T) {
	for _, rounds := range []int{0, 3, 1000} {
		run := read(t, runtest.Bank(t, t.TempDir(), rounds))
		if len(run.Marks) != 2 || run.Marks[0].Kind != lanes.Preempted || run.Marks[0].Step != 3+4*rounds || run.Marks[0].To != 2 {
			t.Fatalf("with %d rounds: %+v", rounds, run.Marks)
		}
		failed := run.Marks[1]
		if failed.Kind != lanes.Failed || failed.Step != 17+4*rounds || run.Sites[failed.Site-1].Line != 18 {
			t.Errorf("with %d rounds the failure is %+v", rounds, failed)
		}
	}
}

// TestTheIndexTellsWhatIsInEachChunk: a page opens no chunk that the index says cannot have what
// it looks for.
func TestTheIndexTellsWhatIsInEachChunk(t *testing.T) {
	run := read(t, runtest.Bank(t, t.TempDir(), 3000))
	if len(run.Chunks) != (run.Steps+lanes.ChunkSteps-1)/lanes.ChunkSteps {
		t.Fatalf("%d steps are in %d chunks", run.Steps, len(run.Chunks))
	}
	next, relevant := 0, 0
	for i, chunk := range run.Chunks {
		var c columns
		unpack(t, run, chunk.Offset, chunk.Length, &c)
		count := map[int]int{}
		kinds, variables := map[int]bool{}, map[int]bool{}
		for j := range c.G {
			count[c.G[j]-1]++
			kinds[c.K[j]] = true
			if c.V[j] > 0 {
				variables[c.V[j]-1] = true
			}
		}
		if chunk.First != next || chunk.Steps != len(c.G) || chunk.Relevant != len(c.M) || len(chunk.Lanes) != len(count) || len(chunk.Kinds) != len(kinds) || len(chunk.Variables) != len(variables) {
			t.Fatalf("chunk %d has %d steps, %d relevant, %d lanes, %d kinds, %d variables; the index says %+v", i, len(c.G), len(c.M), len(count), len(kinds), len(variables), chunk)
		}
		for _, l := range chunk.Lanes {
			if count[l[0]] != l[1] {
				t.Errorf("chunk %d has %d steps of lane %d; the index says %d", i, count[l[0]], l[0], l[1])
			}
		}
		ofKinds := 0
		for _, k := range chunk.Kinds {
			ofKinds += k[1]
		}
		if ofKinds != chunk.Steps {
			t.Errorf("chunk %d has %d steps; the index has %d of all kinds", i, chunk.Steps, ofKinds)
		}
		next += chunk.Steps
		relevant += chunk.Relevant
	}
	if next != run.Steps || relevant != run.Relevant {
		t.Errorf("the chunks have %d steps, %d relevant, want %d and %d", next, relevant, run.Steps, run.Relevant)
	}
}

func TestSourceThatIsNotThatOfTheRunIsToldAsSuch(t *testing.T) {
	dir := t.TempDir()
	trace := runtest.Bank(t, dir, 0)
	note := func() string { return read(t, trace).Files[0].Note }
	if got := note(); got != "" {
		t.Errorf("of the file itself it is said that %s", got)
	}
	file := filepath.Join(dir, "bank.go")
	if err := os.WriteFile(file, []byte("// one more line\n"+runtest.Source), 0o666); err != nil {
		t.Fatal(err)
	}
	if got := note(); !strings.Contains(got, "has changed since") {
		t.Errorf("of a changed file it is said that %q", got)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if got := note(); !strings.Contains(got, "not there any more") {
		t.Errorf("of a removed file it is said that %q", got)
	}
}

// TestNothingIsSaidThatWasNotLookedAt: that there is no race, or no preemption, is said only of runs
// in which there would have been one to see.
func TestNothingIsSaidThatWasNotLookedAt(t *testing.T) {
	for _, test := range []struct {
		schedule     string
		races        bool
		says, silent string
	}{
		{"default", false, "Data races were not looked for", "No data race was seen"},
		{"default", true, "No data race was seen", "were not looked for"},
		{"default", true, "It takes no preemption", "by the schedule"},
		{"7.3+9", true, "It comes about by the schedule 7.3+9", "no preemption"},
		{"7.3@1", true, "It comes about by the schedule 7.3@1", "no preemption"},
		{"", true, "No data race was seen", "no preemption"},
	} {
		file := filepath.Join(t.TempDir(), "a.trace")
		w, err := trace.Create(file, trace.Header{Package: "p", Test: "TestX", Schedule: test.schedule, Options: trace.Options{Races: test.races}})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Event(&event.Event{Seq: 1, G: 1, Kind: event.Start}); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(trace.Outcome{Result: event.Failed, Failures: []trace.Failure{{Kind: event.FailureTest, Message: "it failed"}}}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(read(t, file).Sentences, "\n"); !strings.Contains(got, test.says) || strings.Contains(got, test.silent) {
			t.Errorf("with the schedule %q and races %v, it is said that\n%s", test.schedule, test.races, got)
		}
	}
}

// TestTheSentencesAreAboutTheAccessesThatDecide: of what happens around the preemption, those accesses
// are told that are of one entry, and what keeps them apart.
func TestTheSentencesAreAboutTheAccessesThatDecide(t *testing.T) {
	got := read(t, runtest.SplitSection(t, t.TempDir())).Sentences
	want := []string{
		"TestTake fails in goroutine 1 at shop.go:17: there are -1 pens left.",
		"After goroutine 1 did “map read s.items[\"pen\"] 1” at shop.go:12, goroutine 2 did “map write s.items[\"pen\"] 1 → 0” at shop.go:16, before goroutine 1 went on with “map write s.items[\"pen\"] 0 → -1” at shop.go:16.",
		"No data race was seen in this run: goroutine 1 holds s.mu at both of its accesses, but releases it at shop.go:13 and takes it again at shop.go:15, so that others can change in between what it has seen.",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("sentences (-want +got):\n%s", diff)
	}
}

// TestTwoLocksOfOneNameAreKeptApart: in a deadlock, both goroutines have a.mu and wait for b.mu, and
// these are two locks.
func TestTwoLocksOfOneNameAreKeptApart(t *testing.T) {
	run := read(t, runtest.Crossed(t, t.TempDir()))
	all, _ := steps(t, run)
	want := []string{
		" 1 g1 start||→||||",
		" 3 g1 go||→||||example.com/shop.Transfer",
		"*4 g1 lock|shop.go:22|→|a.mu #1|||example.com/shop.Transfer",
		" 5 g2 start||→||||",
		"*7 g2 lock|shop.go:22|→|a.mu #2|||example.com/shop.Transfer",
		"*8 g2 blocked|shop.go:23|→|a.mu #1||a.mu #2|example.com/shop.Transfer",
		"*9 g1 blocked|shop.go:23|→|a.mu #2||a.mu #1|example.com/shop.Transfer",
	}
	if diff := cmp.Diff(want, all); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
	const circle = "The goroutines: 1 waits for b.mu, which 2 has taken as a.mu at shop.go:22; 2 waits for b.mu, which 1 has taken as a.mu at shop.go:22."
	if len(run.Sentences) != 3 || run.Sentences[1] != circle {
		t.Errorf("it is said that\n%s", strings.Join(run.Sentences, "\n"))
	}
}

// TestADeadlockTellsWhoWaitsForTheLockThatIsHeld: goroutine 2 waits for what another one should do, with a lock that three need.
func TestADeadlockTellsWhoWaitsForTheLockThatIsHeld(t *testing.T) {
	held := trace.Hold{Point: trace.Point{G: 2, Op: event.Lock}}
	first := trace.Waiter{Point: trace.Point{G: 1, Op: event.Recv}}
	holder := trace.Waiter{Point: trace.Point{G: 2, Op: event.Recv}, Holds: []trace.Hold{held}}
	one := trace.Waiter{Point: trace.Point{G: 3, Op: event.Lock}, HeldBy: []trace.Hold{held}}
	two := trace.Waiter{Point: trace.Point{G: 4, Op: event.Lock}, More: []uint32{5}, HeldBy: []trace.Hold{held}}
	for _, test := range []struct {
		waiting []trace.Waiter
		want    string
	}{
		{[]trace.Waiter{first, one, holder, two}, ", and goroutine 3 waits for that, and 2 goroutines wait for that."},
		{[]trace.Waiter{first, holder}, "."},
	} {
		file := filepath.Join(t.TempDir(), "a.trace")
		w, err := trace.Create(file, trace.Header{Package: "p", Test: "TestX"})
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Event(&event.Event{Seq: 1, G: 1, Kind: event.Start}); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(trace.Outcome{Result: event.Failed, Failures: []trace.Failure{{Kind: event.FailureDeadlock, Waiting: test.waiting}}}); err != nil {
			t.Fatal(err)
		}
		got := read(t, file).Sentences[1]
		if !strings.HasPrefix(got, "Goroutine 2 waits: ") || !strings.HasSuffix(got, test.want) || strings.Count(got, "wait") != 1+strings.Count(test.want, "wait") {
			t.Errorf("it is said that %q, and not that goroutine 2 waits%s", got, test.want)
		}
	}
}

// TestAnOperationThatPanicsRacesInItsPanic: there is no event of the send, and what made it panic decides.
func TestAnOperationThatPanicsRacesInItsPanic(t *testing.T) {
	run := read(t, runtest.Closed(t, t.TempDir()))
	want := []string{
		"TestClose panics in goroutine 1 at feed.go:20: send on closed channel.",
		"After goroutine 1 did “f.mu.Unlock()” at feed.go:18, goroutine 2 did “close(f.out)” at feed.go:28, before goroutine 1 went on with “f.out <- s” at feed.go:20.",
		"Nothing orders “f.out <- s” at feed.go:20 by goroutine 1 and “close(f.out)” at feed.go:28 by goroutine 2: no lock, channel or other synchronisation keeps one before the other.",
	}
	if diff := cmp.Diff(want, run.Sentences); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([][2]int{{10, 12}}, run.Races); diff != "" {
		t.Errorf("the race is not from the close to the panic: %s", diff)
	}
}

// TestARaceIsAtItsOwnLine, not at that of the caller, and both its sides matter, whatever made them.
func TestARaceIsAtItsOwnLine(t *testing.T) {
	run := read(t, runtest.Printed(t, t.TempDir()))
	if want := "TestPrint has a data race: load at feed.go:38 by goroutine 1 and store of f.sent at feed.go:35 by goroutine 2."; run.Sentences[0] != want {
		t.Errorf("it says %q, want %q", run.Sentences[0], want)
	}
	mark := run.Marks[0]
	if place := run.Sites[mark.Site-1].Place; place != "feed.go:35" {
		t.Errorf("the failure is at %s, want feed.go:35", place)
	}
	if diff := cmp.Diff([]string{"example.com/feed.(*Feed).add feed.go:35", "example.com/feed.(*Feed).Count feed.go:32"}, mark.Calls); diff != "" {
		t.Error(diff)
	}
	all, _ := steps(t, run)
	for _, step := range run.Races[0] {
		if !strings.HasPrefix(all[step], "*") {
			t.Errorf("a side of the race does not matter: %s", all[step])
		}
	}
}

func TestWhatIsReadTooEarlyIsTold(t *testing.T) {
	run := read(t, runtest.TooEarly(t, t.TempDir()))
	want := []string{
		"TestCount fails in goroutine 1 at feed.go:38: sent is 0, want 1.",
		"It takes no preemption: goroutine 1 did “load f.sent 0” at feed.go:38 before goroutine 2 did “store f.sent 0 → 1” at feed.go:35.",
		"No data race was seen in this run: synchronisation keeps these accesses apart, and the schedule decides which of them comes first.",
	}
	if diff := cmp.Diff(want, run.Sentences); diff != "" {
		t.Error(diff)
	}
}

func TestARunThatPassesSaysWhichGoroutineHadToWait(t *testing.T) {
	run := read(t, runtest.KeptOpen(t, t.TempDir()))
	want := []string{"TestClose did not fail in this run.", "The schedule stops goroutine 1 and lets goroutine 2 go on, which has to wait for “f.mu.Lock()” at feed.go:25."}
	if diff := cmp.Diff(want, run.Sentences); diff != "" {
		t.Error(diff)
	}
}
