package blocking

import (
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/explore/blocking"
)

func TestReportCountsFoundNamedAndFalse(t *testing.T) {
	r := &report{Results: []blocking.Result{
		{Test: "TestBugA", Want: "leak, nil channel", Got: "leak, nil channel", Schedules: 3},
		{Test: "TestBugB", Want: "leak, nil channel", Got: "data race, ", Schedules: 2},
		{Test: "TestBugC", Want: "deadlock, lock order", Schedules: 5},
		{Test: "TestFineA"},
		{Test: "TestFineB", Got: "leak, nil channel"},
	}}
	var out strings.Builder
	r.print(&out)
	for _, want := range []string{
		`TestBugB: "data race, ", want "leak, nil channel"`,
		`TestBugC: "", want "deadlock, lock order"`,
		`TestFineB: "leak, nil channel", want ""`,
		"leak, nil channel                                    2      2      1",
		"deadlock, lock order                                 1      0      0",
		"all                                                  3      2      1",
		"1 false reports in 2 programs without a bug; 10 schedules in all",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, out.String())
		}
	}
}
