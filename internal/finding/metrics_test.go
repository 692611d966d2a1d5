package finding

import (
	"strings"
	"testing"
	"time"
)

func TestMetricsHaveAFindingsLabels(t *testing.T) {
	f := stolen()
	f.merge(Once(Surrendered, 500*time.Microsecond, noon))
	f.merge(History{Count: 1})
	f.Guard.Name = "a \"b\"\\\n"
	unseen := stolen()
	unseen.Accesses[0].Stack = nil
	unseen.History = Once(Tolerated, 0, noon)
	var got strings.Builder
	if err := WriteMetrics(&got, []Finding{f, unseen}); err != nil {
		t.Fatal(err)
	}
	if err := WriteCounter(&got, "cofferdam_guards", "gauge", "Guards.", 3); err != nil {
		t.Fatal(err)
	}
	one, other := f.ID().String(), unseen.ID().String()
	want := `# HELP cofferdam_findings_total Accesses that did not hold the lock of what they accessed, by what became of them.
# TYPE cofferdam_findings_total counter
cofferdam_findings_total{id="` + one + `",kind="violation",guard="a \"b\"\\\n",target="Account.Balance",site="steal.go:31",outcome="delayed"} 1
cofferdam_findings_total{id="` + one + `",kind="violation",guard="a \"b\"\\\n",target="Account.Balance",site="steal.go:31",outcome="surrendered"} 1
cofferdam_findings_total{id="` + one + `",kind="violation",guard="a \"b\"\\\n",target="Account.Balance",site="steal.go:31",outcome=""} 1
cofferdam_findings_total{id="` + other + `",kind="violation",guard="accounts",target="Account.Balance",site="",outcome="tolerated"} 1
# HELP cofferdam_wait_seconds_total How long such accesses have waited for sections to end.
# TYPE cofferdam_wait_seconds_total counter
cofferdam_wait_seconds_total{id="` + one + `",guard="a \"b\"\\\n",site="steal.go:31"} 0.002
# HELP cofferdam_longest_wait_seconds The longest time that one of them has waited.
# TYPE cofferdam_longest_wait_seconds gauge
cofferdam_longest_wait_seconds{id="` + one + `",guard="a \"b\"\\\n",site="steal.go:31"} 0.0015
# HELP cofferdam_guards Guards.
# TYPE cofferdam_guards gauge
cofferdam_guards 3
`
	if got.String() != want {
		t.Errorf("got\n%s\nwant\n%s", got.String(), want)
	}
}
