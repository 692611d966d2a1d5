package binary

import (
	"bytes"
	"context"
	"flag"
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/bench/command"
)

func TestAFewInstructionsAreComparedAndReported(t *testing.T) {
	flags := flag.NewFlagSet("binary", flag.ContinueOnError)
	m := Benchmark.New(flags)
	if err := flags.Parse([]string{"-figure", "differential", "-instructions", "60000"}); err != nil {
		t.Fatal(err)
	}
	if err := m.Check(true); err != nil {
		t.Fatal(err)
	}
	var out, progress bytes.Buffer
	report, err := m.Measure(&command.Session{Context: context.Background(), Out: &out, Err: &progress, Quick: true})
	if err != nil {
		t.Fatal(err)
	}
	d := report.(*Report).Differential
	if d.Refused == "" && (d.Random.Instructions < 3000 || d.Random.Different != 0) {
		t.Errorf("%+v", d.Random)
	}
	if !strings.Contains(out.String(), "compared") && !strings.Contains(out.String(), "differences") {
		t.Error(out.String())
	}
}

func TestNumbersAreGrouped(t *testing.T) {
	for n, want := range map[int]string{7: "7", 1000: "1,000", 1234567: "1,234,567"} {
		if got := grouped(n); got != want {
			t.Errorf("%d is %s, want %s", n, got, want)
		}
	}
}
