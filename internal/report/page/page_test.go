package page

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cofferdam-go/cofferdam/internal/finding"
)

func TestADiffHasTheOldTextBesideTheNew(t *testing.T) {
	diff := "--- a/one.go\n+++ b/one.go\n@@ -3,4 +3,3 @@ func f() {\n \tkept\n-\tgone\n--- a comment of SQL\n+\tnew\n \n--- a/two.go\n+++ b/two.go\n@@ -1,0 +1,1 @@\n+package two\n"
	var got []string
	for _, f := range SplitDiff(diff) {
		got = append(got, f.Name)
		for _, r := range f.Rows {
			got = append(got, fmt.Sprintf("%s%d %s %q|%d %s %q", r.Hunk, r.OldLine, r.OldClass, r.Old, r.NewLine, r.NewClass, r.New))
		}
	}
	want := []string{
		"one.go", `@@ -3,4 +3,3 @@ func f() {0  ""|0  ""`,
		`3  "\tkept"|3  "\tkept"`, `4 gone "\tgone"|4 new "\tnew"`, `5 gone "-- a comment of SQL"|0 none ""`, `6  ""|5  ""`,
		"two.go", `@@ -1,0 +1,1 @@0  ""|0  ""`, `0 none ""|1 new "package two"`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if files := SplitDiff(""); len(files) != 0 {
		t.Errorf("no diff is %+v", files)
	}
}

// TestWhatAProgramSaysStaysText: it must neither end the scripts that hold it nor become markup.
func TestWhatAProgramSaysStaysText(t *testing.T) {
	const hostile = `</script><script>alert(1)</script><img src=x onerror=alert(1)>`
	d := &Document{
		Title: hostile, Badge: hostile, Sentences: []string{hostile}, Facts: []Fact{{hostile, hostile}}, Home: "javascript:alert(1)",
		Fix:  &Fix{Change: hostile, Diff: []FileDiff{{Name: hostile, Rows: []DiffRow{{Old: hostile}}}}},
		List: &List{Entries: []Entry{{Title: hostile, Link: "javascript:alert(1)", Text: hostile}}},
	}
	var out bytes.Buffer
	if err := Write(&out, d); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"<script>alert", "<img", "javascript:alert"} {
		if strings.Contains(out.String(), bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	if n := strings.Count(out.String(), "</script>"); n != 2 {
		t.Errorf("%d scripts end, want 2", n)
	}
}

// TestASingleFindingHasNoChart: its waits are spread evenly, so that all bars would be the same.
func TestASingleFindingHasNoChart(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	one := finding.Finding{Kind: finding.Violation, History: finding.History{Count: 1, First: at, Last: at.Add(time.Second), Waited: time.Second}}
	f := NewFindings([]finding.Finding{one}, []finding.Finding{one})
	if f.Chart != nil {
		t.Errorf("the chart of one finding has %d bars", len(f.Chart.Bars))
	}
	if want := (Fact{"finding", "1"}); f.Figures[0] != want {
		t.Errorf("the first figure is %v, want %v", f.Figures[0], want)
	}
}

// TestAWaitThatNobodyMeasuredIsNotCalledZero: in mode exact a finding says that accesses waited, and not how long.
func TestAWaitThatNobodyMeasuredIsNotCalledZero(t *testing.T) {
	held := finding.Finding{Kind: finding.Violation, Guard: finding.Guard{Name: "mu"}, History: finding.Once(finding.Delayed, 0, time.Time{})}
	f := NewFindings([]finding.Finding{held}, []finding.Finding{held})
	for _, said := range []string{f.Rows[0].Waited, f.Rows[0].Longest, f.Groups[0].Waited, f.Figures[2].Text, f.Figures[3].Text} {
		if said != "not measured" {
			t.Errorf("the wait is said to be %s", said)
		}
	}
	seen := finding.Finding{Kind: finding.Violation, History: finding.Once(finding.Tolerated, 0, time.Time{})}
	if f := NewFindings([]finding.Finding{seen}, []finding.Finding{seen}); f.Rows[0].Waited != "0" {
		t.Errorf("what did not wait is said to have waited %s", f.Rows[0].Waited)
	}
}
