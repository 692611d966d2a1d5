package report

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/campaign"
	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/finding"
	"github.com/cofferdam-go/cofferdam/internal/repair"
	"github.com/cofferdam-go/cofferdam/internal/repair/tried"
	"github.com/cofferdam-go/cofferdam/internal/report/page"
	"github.com/cofferdam-go/cofferdam/internal/report/runtest"
	"github.com/cofferdam-go/cofferdam/internal/sli/draw"
)

func write(t *testing.T, file, text string) string {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return file
}

// findingLines are two findings, the second of them twice.
func findingLines(t *testing.T) string {
	t.Helper()
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	one := func(line int, outcome finding.Outcome, waited time.Duration, when time.Time) finding.Finding {
		return finding.Finding{
			Kind: finding.Violation, Guard: finding.Guard{Name: "accounts"}, Explanation: "the access waited for the section",
			Accesses: []finding.Access{
				{Op: finding.Write, Goroutine: 7, Target: "Account.Balance", Stack: []finding.Frame{{Function: "main.reset", File: "/src/bank/reset.go", Line: line}}},
				{Op: finding.Lock, Goroutine: 8, Stack: []finding.Frame{{Function: "main.pay", File: "/src/bank/pay.go", Line: 30}}},
			},
			History: finding.Once(outcome, waited, when),
		}
	}
	var out bytes.Buffer
	all := []finding.Finding{one(12, finding.Delayed, 3*time.Millisecond, at), one(44, finding.Surrendered, time.Millisecond, at.Add(time.Minute)), one(44, finding.Delayed, 2*time.Millisecond, at.Add(2*time.Minute))}
	if err := finding.WriteJSON(&out, all); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

const guardsText = `{"guards":[{"lock":"Bank.mu","type":"sync.Mutex","position":"bank.go:6:2","data":[
	{"name":"Bank.total","position":"bank.go:7:2","by":"mu","confidence":0.9,"with":{"writes":1,"reads":1},"without":{"writes":1,"reads":1},"unknown":0,"early":0,
	 "signs":["stands above it"],"deviations":[{"kind":"write","position":"bank.go:14:2","function":"Run"}]}]}]}`

// folder has a file of each kind, and two that nothing can be reported of.
func folder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	runtest.Bank(t, dir, 0)
	write(t, filepath.Join(dir, "findings.json"), findingLines(t))
	write(t, filepath.Join(dir, "guards.json"), guardsText)
	write(t, filepath.Join(dir, "package.json"), `{"name": "something else"}`)
	write(t, filepath.Join(dir, "broken.trace"), "no trace")
	return dir
}

func TestFilesAreKnownByWhatIsInThem(t *testing.T) {
	dir := folder(t)
	for name, want := range map[string]Kind{"TestBank.trace": Run, "findings.json": Findings, "guards.json": Guards, ".": Folder} {
		if got, err := Detect(filepath.Join(dir, name)); got != want || err != nil {
			t.Errorf("%s holds %q, %v; want %q", name, got, err, want)
		}
	}
	for _, name := range []string{"package.json", "broken.trace", "bank.go", "nothing"} {
		if got, err := Detect(filepath.Join(dir, name)); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s holds %q, %v", name, got, err)
		}
	}
}

func TestAFolderListsItsFilesAndSaysWhatItLeavesOut(t *testing.T) {
	list, err := Scan(folder(t))
	if err != nil {
		t.Fatal(err)
	}
	d := list.Document()
	var got []string
	for _, e := range d.List.Entries {
		got = append(got, e.Title+"|"+e.Badge)
	}
	for _, want := range []string{"TestBank|test failed", "findings.json|2 findings", "guards.json|1 deviation"} {
		if !strings.Contains(strings.Join(got, "\n"), want) {
			t.Errorf("the list has no %q: %q", want, got)
		}
	}
	if len(got) != 3 || len(d.List.Skipped) != 1 || !strings.Contains(d.List.Skipped[0], "broken.trace") {
		t.Errorf("listed %q, left out %q", got, d.List.Skipped)
	}
}

// TestTheStateOfACampaignIsItsPage: with its tests, how coverage grew, and findings that lead to
// their runs.
func TestTheStateOfACampaignIsItsPage(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "traces"), 0o777); err != nil {
		t.Fatal(err)
	}
	run := filepath.Base(runtest.Bank(t, filepath.Join(dir, "traces"), 0))
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	target := func(name string, state campaign.TargetState, pairs ...int) campaign.TargetReport {
		r := campaign.TargetReport{TargetRecord: campaign.TargetRecord{Package: "example.com/p", Test: name, Runs: 4000}, State: state}
		for i, n := range pairs {
			r.Coverage = campaign.Coverage{Pairs: n, Both: n / 2}
			r.Growth = append(r.Growth, campaign.Growth{At: at.Add(time.Duration(i) * time.Minute), Coverage: r.Coverage})
		}
		return r
	}
	given := target("TestGiven", campaign.GivenUp)
	given.Troubles = []campaign.Trouble{{What: "it does not start\nat all"}}
	record := func(id string, status campaign.Status, trace string) campaign.Record {
		return campaign.Record{ID: id, Status: status, Package: "example.com/p", Test: "TestA", Trace: trace, First: at, Last: at, Finding: finding.Finding{Kind: finding.Race, Explanation: "nothing orders them"}}
	}
	for name, value := range map[string]any{
		"status.json": campaign.Report{
			Version: campaign.Version, Updated: at.Add(time.Hour), Runs: 12_000, Findings: map[campaign.Status]int{campaign.New: 1, campaign.Fixed: 1},
			Targets: []campaign.TargetReport{target("TestA", campaign.Done, 2, 6), target("TestB", campaign.Waiting, 4, 4), given},
		},
		"findings.json": map[string]any{"version": campaign.Version, "findings": []campaign.Record{record("old", campaign.Fixed, ""), record("one", campaign.New, "traces/"+run)}},
	} {
		text, err := json.Marshal(value)
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, name), string(text))
	}
	if err := os.Mkdir(filepath.Join(dir, "marks"), 0o777); err != nil {
		t.Fatal(err)
	}
	d, err := Load(dir, Options{})
	if err != nil || d.Campaign == nil {
		t.Fatalf("%+v, %v", d, err)
	}
	c := d.Campaign
	if d.Badge != "1 new finding" || d.Tone != "bad" || c.Figures[1].Text != "12,000" {
		t.Errorf("%+v, %+v", d, c.Figures)
	}
	if len(c.Targets) != 3 || c.Targets[0].Package+"."+c.Targets[0].Test != "example.com/p.TestB" || c.Targets[1].Note != "it does not start …" || c.Targets[2].Tone != "good" {
		t.Errorf("targets %+v", c.Targets)
	}
	if len(c.Findings) != 2 || c.Findings[0].ID != "one" || c.Findings[0].Link != "traces/"+run+".html" || c.Findings[1].Link != "" {
		t.Errorf("findings %+v", c.Findings)
	}
	if g := c.Growth; g == nil || g.Note != "10 pairs of accesses seen, 5 of them in both orders, in 1m0s" || !strings.HasPrefix(g.Pairs, "0,90 960,90 960,18") {
		t.Errorf("growth %+v", g)
	}
	var out bytes.Buffer
	if err := errors.Join(page.Write(&out, d), WriteMarkdown(&out, d)); err != nil || !strings.Contains(out.String(), "- new `one`: data race") || !strings.Contains(out.String(), `<polyline class="line"`) {
		t.Errorf("%v\n%s", err, out.String())
	}
	write(t, filepath.Join(dir, "status.json"), "{")
	list, err := Scan(dir)
	if err != nil || list.campaign != nil || len(list.Skipped) != 1 || !strings.Contains(list.Skipped[0], "is damaged") {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestFindingsOfARunningProgramAreMergedAndTheirWaitsSpread(t *testing.T) {
	d, err := Load(filepath.Join(folder(t), "findings.json"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	f := d.Findings
	if len(f.Rows) != 2 || len(f.Groups) != 1 || f.Groups[0].Count != 3 || f.Groups[0].Waited != "6ms" {
		t.Fatalf("%+v, %+v", f.Rows, f.Groups)
	}
	for _, r := range f.Rows {
		if r.Place == "reset.go:44" && (r.Count != 2 || r.Outcome != "1 delayed, 1 surrendered" || r.Longest != "2ms" || r.Tone != "") {
			t.Errorf("%+v", r)
		}
	}
	tall := 0
	for _, b := range f.Chart.Bars {
		if b.H > 0 {
			tall++
		}
	}
	if tall != 3 {
		t.Errorf("%d bars of the chart are not empty, want one for each line", tall)
	}
}

// fixed is what fix leaves of the run, with a candidate that was dropped.
func fixed(t *testing.T, dir string) FixResult {
	t.Helper()
	return FixResult{
		Version: FixVersion, Package: "example.com/bank", Test: "TestBank", Fixed: true, Lock: "the mutex Bank.mu", Why: "Bank.total is read and written at bank.go:13, and another goroutine may change it in between",
		Failure: &repair.FailingRun{Kind: event.FailureTest, Message: "total is 70"},
		Diff:    "--- a/bank.go\n+++ b/bank.go\n@@ -13,2 +13,4 @@\n+\tb.mu.Lock()\n \told := b.total\n-\tb.total = old - 30\n+\tb.total -= 30\n+\tb.mu.Unlock()\n",
		Proof:   &repair.Proof{Replayed: true, Searches: []string{"all schedules with at most 2 preemptions tried (12)"}, Strength: tried.Strength{Grade: tried.Exhaustive, Preemptions: 2}, Native: 20, Races: true},
		Candidates: []repair.CandidateReport{
			{What: "a new mutex Bank.mu2", Reached: repair.Sound, Dropped: "a schedule still leads to test failed", Cost: 3, Broken: &repair.FailingRun{Kind: event.FailureTest, Message: "total is 70", Schedule: "1.3+2"}},
			{What: "the mutex Bank.mu", Reached: repair.Proven, Cost: 5},
		},
		Machine: &draw.Graph{
			Words: []string{"It reads Bank.total at bank.go:13."},
			Nodes: []draw.GraphNode{{Kind: draw.StartNode, Label: "at bank.go:13"}, {Kind: draw.TestNode, Label: "the first reading of Bank.total differs?", Reads: []draw.GraphRead{{Data: "Bank.total", Place: "bank.go:13", Sites: []uint32{4}}}}, {Kind: draw.CrashNode, Label: "it fails"}, {Kind: draw.FineNode, Label: "it goes on"}},
			Edges: []draw.GraphEdge{{From: 0, To: 1}, {From: 1, To: 2, Label: "yes"}, {From: 1, To: 3, Label: "no"}},
		},
		Sources: []ChangedSource{{Name: filepath.Join(dir, "bank.go"), Before: runtest.Source, After: "// with the fix\n" + runtest.Source}},
	}
}

func TestWhatFixLeavesIsOnThePageOfItsTrace(t *testing.T) {
	source, dir := t.TempDir(), filepath.Join(t.TempDir(), "out")
	file := runtest.Bank(t, source, 0)
	if err := WriteFixResult(dir, "TestBank", fixed(t, source), file, file); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(source, "bank.go")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"TestBank.trace", "TestBank.fix.json"} {
		d, err := Load(filepath.Join(dir, name), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if d.Run == nil || d.After == nil || d.Fix == nil || !d.Fix.Proven || len(d.Fix.Candidates) != 2 || d.Fix.Candidates[0].Proven || !d.Fix.Candidates[1].Proven {
			t.Fatalf("%s: %+v", name, d)
		}
		if before, after := d.Run.Files[0].Parts[0].Lines[0], d.After.Files[0].Parts[0].Lines[0]; before != "package bank" || after != "// with the fix" {
			t.Errorf("%s: the sources begin with %q and %q", name, before, after)
		}
		if seq := d.Machine.Nodes[1].Reads[0].Seq; seq != 6 || d.Machine.Failed != 22 {
			t.Errorf("%s: the machine reads at event %d and fails at %d, want 6 and 22", name, seq, d.Machine.Failed)
		}
	}
	if list, err := Scan(dir); err != nil || len(list.Items) != 1 {
		t.Errorf("the folder has %+v, %v; want one item for all three files", list, err)
	}
}

func TestASummaryForAReviewHasAtMostFifteenLines(t *testing.T) {
	dir := folder(t)
	many := &page.Document{Title: "many", List: &page.List{}}
	for range 40 {
		many.List.Entries = append(many.List.Entries, page.Entry{Title: "Test_*x*", Badge: "panic", Text: "<script>"})
	}
	documents := []*page.Document{many}
	for _, name := range []string{".", "TestBank.trace", "findings.json", "guards.json"} {
		d, err := Load(filepath.Join(dir, name), Options{})
		if err != nil {
			t.Fatal(err)
		}
		documents = append(documents, d)
	}
	for _, d := range documents {
		var out bytes.Buffer
		if err := WriteMarkdown(&out, d); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(out.String(), "\n"); n > 15 || n < 2 || strings.Contains(out.String(), "<") {
			t.Errorf("the summary of %s has %d lines:\n%s", d.Title, n, &out)
		}
	}
}

// TestChromeTracesAreBalanced: each slice that begins ends, in its own thread, in which time does not
// go back; each arrow has one end before the other, in different threads, in a slice. Events have what
// the format asks of their phases.
func TestChromeTracesAreBalanced(t *testing.T) {
	var out bytes.Buffer
	if err := WriteChrome(&out, runtest.Bank(t, t.TempDir(), 2), Options{}); err != nil {
		t.Fatal(err)
	}
	var in struct {
		TraceEvents []struct {
			Ph, Name, Cat, S, Bp string
			Ts                   *uint64
			Dur                  uint64
			Pid, Tid, ID         int
		}
	}
	if err := json.Unmarshal(out.Bytes(), &in); err != nil {
		t.Fatal(err)
	}
	depth, last, names := map[int]int{}, map[int]uint64{}, 0
	type end struct {
		tid int
		ts  uint64
	}
	from, arrows, kinds := map[int]end{}, 0, map[string]bool{}
	slice := map[int]end{} // the last one of a thread that is an event of its own
	for _, e := range in.TraceEvents {
		if e.Ts == nil || e.Name == "" || e.Cat == "" || e.Pid != 1 || e.Tid == 0 && e.Name != "process_name" {
			t.Fatalf("%+v: no name, category, time, process or thread", e)
		}
		ts := *e.Ts
		switch e.Ph {
		case "s", "f":
			if e.ID == 0 || e.Cat != "order" || slice[e.Tid] != (end{e.Tid, ts}) {
				t.Errorf("%+v: an arrow that nothing draws, in the slice %v", e, slice[e.Tid])
			}
			if begun, ok := from[e.ID]; e.Ph == "s" {
				if ok {
					t.Errorf("arrow %d begins twice", e.ID)
				}
				from[e.ID] = end{e.Tid, ts}
			} else if kinds[e.Name] = true; !ok || begun.tid == e.Tid || begun.ts >= ts || e.Bp != "e" {
				t.Errorf("arrow %d ends at %d in %d, and begins at %+v", e.ID, ts, e.Tid, begun)
			} else {
				arrows++
			}
		case "X":
			slice[e.Tid] = end{e.Tid, ts}
			if e.Dur == 0 {
				t.Errorf("%+v: a slice without a length", e)
			}
		case "i":
			if e.S != "t" {
				t.Errorf("%+v: a moment of no scope", e)
			}
		case "B":
			depth[e.Tid]++
		case "E":
			depth[e.Tid]--
		case "M":
			if e.Name == "thread_name" {
				names++
			}
		default:
			t.Errorf("%+v: no such phase", e)
		}
		if depth[e.Tid] < 0 || ts < last[e.Tid] {
			t.Errorf("%+v: at depth %d, after %d", e, depth[e.Tid], last[e.Tid])
		}
		last[e.Tid] = ts
	}
	if depth[1] != 0 || depth[2] != 0 || names != 2 || arrows != len(from) {
		t.Errorf("depth %v, %d threads, %d of %d arrows end", depth, names, arrows, len(from))
	}
	for _, kind := range []string{"starts", "unlock to lock", "send to receive", "done to Wait"} {
		if !kinds[kind] {
			t.Errorf("there is no arrow %q, but %v", kind, kinds)
		}
	}
}

func TestAServerShowsAFolderAndTellsWhenItChanges(t *testing.T) {
	dir := folder(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := NewServer(dir, Options{})
	s.Interval = time.Millisecond
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l) }()
	get := func(path string, want int) string {
		t.Helper()
		r, err := http.Get("http://" + l.Addr().String() + path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		body, err := io.ReadAll(r.Body)
		if err != nil || r.StatusCode != want {
			t.Fatalf("%s: %d, %v, want %d", path, r.StatusCode, err, want)
		}
		return string(body)
	}
	if got := get("/", 200); !strings.Contains(got, `href="TestBank.trace.html"`) || !strings.Contains(got, "connect-src &#39;self&#39;") {
		t.Errorf("the list is %.300s", got)
	}
	if got := get("/TestBank.trace.html", 200); !strings.Contains(got, "went on with") || !strings.Contains(got, `href="/"`) {
		t.Errorf("the page of the trace is %.300s", got)
	}
	for _, path := range []string{"/bank.go", "/bank.go.html", "/../report.go.html", "/nothing.trace.html"} {
		get(path, 404)
	}
	foreign, err := http.NewRequest(http.MethodGet, "http://"+l.Addr().String()+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	foreign.Host = "evil.example"
	if r, err := http.DefaultClient.Do(foreign); err != nil || r.StatusCode != http.StatusForbidden {
		t.Errorf("a request by another name: %v, %v", r, err)
	}
	news := make(chan string)
	since := s.stamp()
	go func() { news <- get("/changed?since="+since, 200) }()
	write(t, filepath.Join(dir, "more.json"), guardsText)
	if got := <-news; got == since {
		t.Error("the server says that nothing has changed")
	}
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestACutTraceIsToldAsSuch: whoever asks for a report of a recording without its end hears of it, on
// the page and beside it.
func TestACutTraceIsToldAsSuch(t *testing.T) {
	file := runtest.Bank(t, t.TempDir(), 0)
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, data[:len(data)-10], 0o666); err != nil {
		t.Fatal(err)
	}
	var warned []string
	o := Options{Warn: func(file string, cut error) { warned = append(warned, file+": "+cut.Error()) }}
	d, err := Load(file, o)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := WriteMarkdown(&out, d); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "The file is not whole: the trace has no end") {
		t.Errorf("the summary does not say that the file is cut:\n%s", &out)
	}
	if err := WriteChrome(&out, file, o); err != nil {
		t.Fatal(err)
	}
	if len(warned) != 2 || !strings.Contains(warned[0], "the trace has no end") || warned[1] != warned[0] {
		t.Errorf("warned of %q", warned)
	}
}
