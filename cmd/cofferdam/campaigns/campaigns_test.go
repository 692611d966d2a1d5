package campaigns

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cofferdam-go/cofferdam/cmd/cofferdam/command"
	"github.com/cofferdam-go/cofferdam/internal/campaign"
	"github.com/cofferdam-go/cofferdam/internal/console"
	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/finding"
)

// targetsOf are tests of some packages.
func targetsOf(packages, tests int) (all []explore.Target) {
	for i := range packages {
		p := &explore.Program{}
		p.Package = fmt.Sprint("example.com/p", i)
		for j := range tests {
			all = append(all, explore.Target{Program: p, Test: fmt.Sprint("Test", j)})
		}
	}
	return all
}

func TestEveryTestIsInOneShardWhateverElseThereIs(t *testing.T) {
	name := func(t explore.Target) string { return t.Program.Package + "." + t.Test }
	const parts = 4
	part := map[string]int{}
	for i := range parts {
		f := &campaignFlags{shard: fmt.Sprintf("%d/%d", i+1, parts)}
		some, err := f.sharded(targetsOf(10, 10))
		if err != nil {
			t.Fatal(err)
		}
		if len(some) < 10 {
			t.Errorf("part %s has %d tests of 100", f.shard, len(some))
		}
		for _, one := range some {
			if was := part[name(one)]; was != 0 {
				t.Errorf("%s is in part %d and in part %d", name(one), was, i+1)
			}
			part[name(one)] = i + 1
		}
	}
	if len(part) != 100 {
		t.Errorf("%d tests of 100 are in a part", len(part))
	}
	// Another machine sees fewer tests, and divides them in the same way.
	for i := range parts {
		f := &campaignFlags{shard: fmt.Sprintf("%d/%d", i+1, parts)}
		some, err := f.sharded(targetsOf(3, 5))
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range some {
			if part[name(one)] != i+1 {
				t.Errorf("%s was in part %d, and is in part %d", name(one), part[name(one)], i+1)
			}
		}
	}
}

func TestAShardIsAPartOfSomeParts(t *testing.T) {
	for text, want := range map[string]bool{"": true, "1/1": true, "2/4": true, "4/4": true, "0/4": false, "5/4": false, "-1/4": false, "1": false, "1/0": false, "1/2/3": false, " 1/2": false, "01/2": false, "a/b": false} {
		if _, _, err := (&campaignFlags{shard: text}).part(); (err == nil) != want {
			t.Errorf("-shard %q: %v", text, err)
		}
	}
}

func TestSizesAreReadAndWrittenAsPeopleDo(t *testing.T) {
	for text, want := range map[string]int64{"1B": 1, "500MB": 500 << 20, "2gb": 2 << 30, "1.5KB": 1536, "1TB": 1 << 40, "12": 0, "much": 0, "-1GB": 0, "0MB": 0, "GB": 0} {
		var b byteSize
		err := b.Set(text)
		if (err == nil) != (want > 0) || int64(b) != want {
			t.Errorf("%s is %d, %v", text, b, err)
		}
	}
	for size, want := range map[byteSize]string{0: "0", 1: "1B", 1536: "1.5KB", 2 << 30: "2GB"} {
		if size.String() != want {
			t.Errorf("%d is written %s, want %s", int64(size), size, want)
		}
	}
}

// aReport is a campaign with tests in all states.
func aReport(tests int) *campaign.Report {
	now := time.Now()
	r := &campaign.Report{
		Version: campaign.Version, Running: true, Started: now.Add(-time.Hour), Updated: now, Deadline: now.Add(time.Hour), Runs: 1234, PerSecond: 77, NewNow: 1,
		Findings: map[campaign.Status]int{campaign.New: 2, campaign.Fixed: 1},
		Workers:  []campaign.WorkerState{{Name: "w1", Slots: 2, Leases: 3, Runs: 4}, {Name: "w2", Slots: 1}},
	}
	for i := range tests {
		one := campaign.TargetReport{State: campaign.TargetStates[i%len(campaign.TargetStates)], TargetRecord: campaign.TargetRecord{Package: "p", Test: fmt.Sprint("Test", i), Runs: i}}
		one.Coverage = campaign.Coverage{Pairs: 2, Both: 1}
		if one.State == campaign.GivenUp {
			one.Troubles = []campaign.Trouble{{What: "it took too long\nand more"}}
		}
		r.Targets = append(r.Targets, one)
	}
	r.Targets[0].Open = 2
	r.Targets[0].Growth = []campaign.Growth{{At: now.Add(-90 * time.Minute)}}
	return r
}

func TestTheTableHasWhatIsAtWorkFirstAndFits(t *testing.T) {
	r := aReport(8)
	all := statusLines(r, console.Stream{}, r.Updated, allLines)
	text := strings.Join(all, "\n")
	for _, want := range []string{
		"campaign: running for 1h0m0s, until ", "8 tests (2 exploring, 2 waiting, 2 given up, 2 done); 1234 schedules, 77/s; 16 pairs of accesses seen, 8 in both orders",
		"findings: 2 new, 1 fixed; this session was the first to see 1", "1h ago  p.Test0: 2 findings", "p.Test2: it took too long\n", "worker w1: 2 slots, 3 leases, 4 schedules\nworker w2: 1 slot",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	var order []string
	for _, line := range all[5:13] {
		order = append(order, strings.TrimSpace(line[:9]))
	}
	if want := []string{"exploring", "exploring", "waiting", "waiting", "given up", "given up", "done", "done"}; !slices.Equal(order, want) {
		t.Errorf("the tests are in the order %q", order)
	}
	for room := 1; room < len(all)+2; room++ {
		some := statusLines(aReport(8), console.Stream{}, r.Updated, room)
		if len(some) > max(room, 5) {
			t.Errorf("%d lines in a room of %d", len(some), room)
		}
		if room >= 9 && room < len(all) && !strings.Contains(strings.Join(some, "\n"), " more tests") {
			t.Errorf("in a room of %d it is not told what is left out:\n%s", room, strings.Join(some, "\n"))
		}
	}
}

// invocation is one of a command whose output is a text.
func invocation(out *bytes.Buffer) *command.Invocation {
	return &command.Invocation{Stdout: out, Stderr: out}
}

func TestStatusOfACampaignThatWasKilledIsTold(t *testing.T) {
	dir := t.TempDir()
	text, err := json.Marshal(aReport(4))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"status.json": string(text), "lock": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	if err := (&campaignFlags{state: dir}).follow(t.Context(), invocation(&out)); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); !strings.Contains(got, "in the middle; the same command goes on") || strings.Contains(got, "exploring") || strings.Contains(got, "worker") {
		t.Errorf("%s", got)
	}
}

func TestStatusOfACampaignThatGoesOnIsALineUntilItIsLeft(t *testing.T) {
	path := t.TempDir()
	dir, err := campaign.OpenDir(path)
	if err != nil {
		t.Fatal(err)
	}
	defer dir.Close()
	text, err := json.Marshal(aReport(4))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(path, "status.json"), text, 0o666); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	left := errors.New("left")
	cancel(left)
	var out bytes.Buffer
	if err := (&campaignFlags{state: path}).follow(ctx, invocation(&out)); !errors.Is(err, left) {
		t.Errorf("%v", err)
	}
	if got := out.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "2 workers; findings: 2 new, 1 fixed") {
		t.Errorf("%s", got)
	}
	out.Reset()
	if err := (&campaignFlags{state: path, asJSON: true}).follow(ctx, invocation(&out)); err != nil {
		t.Errorf("%v", err)
	}
	var r campaign.Report
	if err := json.Unmarshal(out.Bytes(), &r); err != nil || !r.Running || len(r.Targets) != 4 {
		t.Errorf("%s: %v", out.String(), err)
	}
}

// aRecord is a finding of a campaign.
func aRecord(id string, status campaign.Status) campaign.Record {
	site := finding.Frame{Function: "p.f", File: "/src/p.go", Line: 7}
	return campaign.Record{
		ID: id, Status: status, Package: "p", Test: "TestX", Trace: "traces/" + id + ".trace",
		Finding: finding.Finding{Kind: finding.Race, Explanation: "one; two\nthree", History: finding.Once("", 0, time.Time{}), Run: &finding.Run{Package: "p", Test: "TestX"}, Accesses: []finding.Access{{Op: finding.Write, Stack: []finding.Frame{site}}}},
	}
}

func TestFindingsAreChosenMarkedAndToldInALine(t *testing.T) {
	all := []campaign.Record{aRecord("aa11", campaign.New), aRecord("ab22", campaign.Known)}
	if got := findingLine(&all[0]); got != "aa11  new    p.TestX  data race at p.go:7: one" {
		t.Errorf("%s", got)
	}
	other := finding.Access{Op: finding.Read, Target: "n", Stack: []finding.Frame{{Function: "p.g", File: "/src/p.go", Line: 9}}}
	race := aRecord("ac33", campaign.New)
	race.Finding.Accesses = append(race.Finding.Accesses, other)
	if got := findingLine(&race); got != "ac33  new    p.TestX  data race at p.go:7: write, and read of n at p.go:9, with nothing to order them" {
		t.Errorf("%s", got)
	}
	for _, one := range []struct {
		only campaign.Status
		ids  []string
		want string
	}{
		{"", nil, "aa11 ab22"}, {campaign.Known, nil, "ab22"}, {"", []string{"aa"}, "aa11"}, {"", []string{"a"}, "error"}, {"", []string{"zz"}, "error"},
	} {
		chosen, err := choose(slices.Clone(all), one.only, one.ids)
		got := "error"
		if err == nil {
			var ids []string
			for _, r := range chosen {
				ids = append(ids, r.ID)
			}
			got = strings.Join(ids, " ")
		}
		if got != one.want {
			t.Errorf("%q of %q: %s, want %s", one.ids, one.only, got, one.want)
		}
	}
	state := t.TempDir()
	if err := os.Mkdir(filepath.Join(state, "marks"), 0o777); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := markFindings(invocation(&out), state, all[:1], campaign.Known, "why"); err != nil || !strings.HasPrefix(out.String(), "aa11  known") {
		t.Errorf("%s, %v", out.String(), err)
	}
	if err := markFindings(invocation(&out), state, all[:1], "odd", ""); err == nil {
		t.Error("an odd status is taken")
	}
	if f := exported("dir", &all[0]); f.Run.Trace != filepath.Join("dir", "traces", "aa11.trace") || all[0].Finding.Run.Trace != "" {
		t.Errorf("%+v", f.Run)
	}
}

func TestACampaignTellsWhatChangesInAFinding(t *testing.T) {
	now := time.Now()
	r := aRecord("aa11", campaign.New)
	fixed, there, moved := r, r, r
	fixed.Status, fixed.FixedAfter = campaign.Fixed, 1
	there.Last, there.Recheck = now, &campaign.Rechecked{Outcome: campaign.StillThere, At: now}
	moved.Recheck = &campaign.Rechecked{Build: "2", Outcome: campaign.NotReproducible, At: now}
	for _, one := range []struct {
		r    campaign.Record
		want string
	}{{r, "one\n"}, {fixed, "(not seen in 1 schedule of the changed program)"}, {there, "(still there)"}, {moved, "(not reproducible by its schedule; the search goes on)"}} {
		var out bytes.Buffer
		(&campaignTeller{inv: invocation(&out)}).tell(campaign.Event{Finding: &one.r})
		if !strings.Contains(out.String(), one.want) {
			t.Errorf("%s, want %s", out.String(), one.want)
		}
	}
	var out bytes.Buffer
	tell := &campaignTeller{inv: invocation(&out), state: "s"}
	tell.tell(campaign.Event{Target: "p.TestX", Trouble: "why"})
	tell.end(aReport(1))
	if tell.givenUp != 1 || !strings.Contains(out.String(), "p.TestX is given up: why") || !strings.Contains(out.String(), "List them with: cofferdam findings -state s") {
		t.Errorf("%s", out.String())
	}
	out.Reset()
	(&campaignTeller{inv: invocation(&out), asJSON: true}).tell(campaign.Event{Finding: &r})
	if found, err := finding.ReadJSON(&out); err != nil || len(found) != 1 {
		t.Errorf("%v, %v", found, err)
	}
}
