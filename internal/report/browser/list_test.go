package browser

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/finding"
	"github.com/cofferdam-go/cofferdam/internal/report"
	"github.com/cofferdam-go/cofferdam/internal/report/page"
	"github.com/cofferdam-go/cofferdam/internal/report/runtest"
	"github.com/cofferdam-go/cofferdam/internal/sli/draw"
)

func TestTheFixIsShownBesideWhatWasDroppedAndStepByStep(t *testing.T) {
	d, after := bank(t, 0), bank(t, 2)
	d.After = after.Run
	d.Fix = &page.Fix{
		Proven: true, Change: "the mutex Bank.mu", Proof: []string{"All schedules were tried."},
		Diff:       page.SplitDiff("--- a/bank.go\n+++ b/bank.go\n@@ -13,2 +13,4 @@\n+\tb.mu.Lock()\n \told := b.total\n-\tb.total = old - 30\n+\tb.total -= 30\n+\tb.mu.Unlock()\n"),
		Candidates: []page.Candidate{{What: "a new mutex", Places: []string{"Take (bank.go:13)"}, Dropped: "a schedule still leads to a failure", Reached: "sound", Schedule: "1.3+2"}, {What: "the mutex Bank.mu", Proven: true, Reached: "proven"}},
	}
	d.Machine = &draw.Graph{
		Words: []string{"It reads Bank.total."}, Failed: 22,
		Nodes: []draw.GraphNode{{Kind: draw.StartNode, Label: "at bank.go:13"}, {Kind: draw.TestNode, Label: "Bank.total differs?", Reads: []draw.GraphRead{{Seq: 6}}}, {Kind: draw.CrashNode, Label: "it fails"}, {Kind: draw.FineNode, Label: "it goes on"}},
		Edges: []draw.GraphEdge{{From: 0, To: 1}, {From: 1, To: 2, Label: "yes"}, {From: 1, To: 3, Label: "no"}},
	}
	b := newTab(t)
	b.open(d)
	b.awaitText(".step", "test failed")
	b.click("#tab-machine-run")
	b.awaitText("#machine-run .node.lit", "it fails")
	b.do(focusLanes())
	b.press("n") // the preemption, which is right after the reading
	b.awaitText("#machine-run .node.lit", "Bank.total")
	b.press("k")
	b.awaitText("#machine-run .node.lit", "at bank.go:13")
	// In layers: each state lies below those that lead to it.
	if ok := eval[bool](b, `(() => {
		const m = views.run.machine, y = m.nodes.map((n) => n.querySelector("rect").getBoundingClientRect().top);
		return m.machine.edges.every((e) => y[e.to] > y[e.from]);
	})()`); !ok {
		t.Error("an edge of the machine does not point down")
	}
	b.picture("machine")
	if file := eval[string](b, "views.run.machine.file()"); !strings.HasPrefix(file, "<svg") || !strings.Contains(file, "it goes on") || strings.Contains(file, "var(--") {
		t.Errorf("the machine is saved as %s", file)
	}
	b.click("#tab-fix")
	b.awaitText("#fix .diff .gone", "b.total = old - 30")
	b.awaitText("#fix .diff .new", "b.mu.Lock()")
	b.awaitText("#fix .candidate", "dropped")
	b.awaitText("#fix .candidate summary", "in Take (bank.go:13)") // several may have one name
	b.click("#fix .candidate summary")
	b.awaitText("#fix .candidate", "by the schedule\n1.3+2")
	b.picture("fix")
	b.click("#tab-after")
	b.awaitText("#after .count", "23 of 27 steps")
	b.click("#after .moves button")
	b.awaitText("#after .step h2", "wg.Wait()")
	// There is no room for two sides on a phone: what is new stands below what is gone.
	b.phone()
	b.click("#tab-fix")
	b.await("document.querySelector('#fix .diff .gone').getBoundingClientRect().bottom <= document.querySelector('#fix .diff .gone ~ .new').getBoundingClientRect().top")
	b.await("[...document.querySelectorAll('#fix .diff .new')].every((e) => e.getBoundingClientRect().right <= 390)")
	b.picture("fix-phone")
}

func TestFindingsAreSortedAndSearched(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var all []finding.Finding
	for i, guard := range []string{"accounts", "users", "sessions"} {
		all = append(all, finding.Finding{
			Kind: finding.Violation, Guard: finding.Guard{Name: guard},
			Accesses: []finding.Access{{Op: finding.Write, Target: "T." + guard, Stack: []finding.Frame{{Function: "main.f", File: "/src/" + guard + ".go", Line: 10 + i}}}},
			History:  finding.Once(finding.Delayed, time.Duration(1+i)*time.Millisecond, at.Add(time.Duration(i)*time.Minute)),
		})
	}
	b := newTab(t)
	b.open(&page.Document{Title: "findings", Findings: page.NewFindings(all, all)})
	b.awaitText("tbody.each tr", "sessions.go:12") // which waited longest
	b.click("table.list:has(tbody.each) th:nth-child(4) button")
	b.awaitText("tbody.each tr", "users")
	b.click("table.list:has(tbody.each) th:nth-child(4) button")
	b.awaitText("tbody.each tr", "accounts")
	b.do(focus("input[data-search]"))
	b.press("sessions delayed")
	b.awaitText("#found", "1 of 3")
	if bars := eval[int](b, `[...document.querySelectorAll(".chart rect")].filter((r) => r.getBoundingClientRect().height > 1).length`); bars != 3 {
		t.Errorf("%d bars are to be seen, want 3", bars)
	}
	b.picture("findings")
}

func TestACampaignIsSearchedAndLeadsToRuns(t *testing.T) {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	b := newTab(t)
	b.open(&page.Document{Title: "Campaign", Campaign: &page.Campaign{
		Figures:  []page.Fact{{Name: "tests", Text: "2"}},
		Growth:   page.NewGrowthChart([][]page.GrowthPoint{{{At: at, Pairs: 3, Both: 1}, {At: at.Add(time.Minute), Pairs: 9, Both: 4}}}),
		Targets:  []page.CampaignTarget{{Package: "p", Test: "TestA", State: "done", Runs: 20}, {Package: "p", Test: "TestB", State: "waiting", Runs: 3000}},
		Findings: []page.CampaignFinding{{ID: "1", Status: "new", Tone: "bad", Kind: "panic", What: "boom", Package: "p", Test: "TestB", Link: "traces/b.trace.html"}, {ID: "2", Status: "fixed", Tone: "good", Kind: "data race", Package: "p", Test: "TestA"}},
	}})
	b.awaitText("tbody.tests tr", "TestA")
	b.click("table.list:has(tbody.tests) th:nth-child(3) button") // the most first
	b.awaitText("tbody.tests tr", "TestB")
	b.do(focus(`input[data-search*="found"]`))
	b.press("fixed")
	b.awaitText("#campaign-found", "1 of 2")
	if tall := eval[bool](b, `[...document.querySelectorAll(".chart polyline")].every((l) => l.getBoundingClientRect().height > 20)`); !tall {
		t.Error("the lines of the chart are not to be seen")
	}
	if link := eval[string](b, `document.querySelector("tbody.found a").getAttribute("href")`); link != "traces/b.trace.html" {
		t.Errorf("the finding leads to %s", link)
	}
	b.picture("campaign")
}

func TestGuardsShowTheSourceOfADeviation(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	runtest.Bank(t, dir, 0)
	file := filepath.Join(dir, "guards.json")
	text := `{"guards":[{"lock":"Bank.mu","type":"sync.Mutex","position":"bank.go:6:2","data":[{"name":"Bank.total","position":"bank.go:7:2","by":"mu","confidence":0.9,
		"with":{"writes":1,"reads":1},"without":{"writes":1,"reads":1},"signs":[],"deviations":[{"kind":"write","position":"bank.go:14:2","function":"Run"}]}]}]}`
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	d, err := report.Load(file, report.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := newTab(t)
	b.open(d)
	b.awaitText(".deviation summary", "bank.go:14:2")
	b.click(".deviation summary strong")
	b.awaitText(".deviation .here", "b.total = old - 30")
	b.awaitText("#guards table", "90 %")
	b.picture("guards")
}

// TestAServedListShowsWhatIsNew: the page loads itself again when a file comes.
func TestAServedListShowsWhatIsNew(t *testing.T) {
	dir := t.TempDir()
	runtest.Bank(t, dir, 0)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := report.NewServer(dir, report.Options{})
	s.Interval = 10 * time.Millisecond
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	b := newTab(t)
	b.visit("http://" + l.Addr().String() + "/")
	b.awaitText(".cards", "TestBank")
	b.awaitText("h1", "1 report")
	more := filepath.Join(dir, "more")
	if err := os.Mkdir(more, 0o777); err != nil {
		t.Fatal(err)
	}
	runtest.Bank(t, more, 1)
	b.awaitText("h1", "2 reports")
	b.picture("list")
	b.click(`a[href="more/TestBank.trace.html"]`)
	b.awaitText(".count", "19 of 23 steps")
	b.click(".brand a")
	b.awaitText("h1", "2 reports")
}
