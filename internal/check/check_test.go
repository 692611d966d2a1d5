package main

import (
	"bytes"
	"strings"
	"testing"
)

func TestStepsRunInTheirOrder(t *testing.T) {
	for _, test := range []struct {
		names, want string
	}{
		{"", strings.TrimSuffix(strings.Join(stepNames(), " "), " debugger install golangci")},
		{"debugger", "debugger"},
		{"race vet", "vet race"},
	} {
		chosen, err := choose(strings.Fields(test.names))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, s := range chosen {
			got = append(got, s.name)
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%q: steps %q, want %q", test.names, got, test.want)
		}
	}
}

func TestUnknownStepsAndFlagsAreUsageErrors(t *testing.T) {
	for _, args := range [][]string{{"lint"}, {"-fast"}} {
		var out, err bytes.Buffer
		if code := run(t.Context(), args, &out, &err); code != 2 || !strings.Contains(err.String(), args[0]) {
			t.Errorf("%q: exit code %d, %q", args, code, err.String())
		}
	}
}

func TestFailuresAreToldAndPassesAreOneLine(t *testing.T) {
	const events = `{"Action":"build-output","ImportPath":"x/broken","Output":"broken.go:3:1: syntax error\n"}
{"Action":"run","Package":"x/a","Test":"TestGood"}
{"Action":"output","Package":"x/a","Test":"TestGood","Output":"=== RUN   TestGood\n"}
{"Action":"output","Package":"x/a","Test":"TestGood","Output":"chatter\n"}
{"Action":"pass","Package":"x/a","Test":"TestGood","Elapsed":1.5}
{"Action":"output","Package":"x/a","Output":"PASS\n"}
{"Action":"output","Package":"x/a","Output":"ok  \tx/a\t1.6s\n"}
{"Action":"pass","Package":"x/a","Elapsed":1.6}
{"Action":"output","Package":"x/b","Test":"TestBad","Output":"    b_test.go:7: got 1\n"}
{"Action":"fail","Package":"x/b","Test":"TestBad","Elapsed":2.5}
{"Action":"output","Package":"x/b","Test":"TestHangs","Output":"=== RUN   TestHangs\n"}
{"Action":"output","Package":"x/b","Output":"FAIL\tx/b\t2.6s\n"}
{"Action":"fail","Package":"x/b","Elapsed":2.6}
no event
`
	var out bytes.Buffer
	tt := tests{w: &out, output: map[testName]*strings.Builder{}}
	if err := tt.read(strings.NewReader(events)); err != nil {
		t.Fatal(err)
	}
	tt.tellSlowest(1)
	const want = "broken.go:3:1: syntax error\nok  \tx/a\t1.6s\n    b_test.go:7: got 1\n=== RUN   TestHangs\nFAIL\tx/b\t2.6s\nno event\n    2.5s  x/b TestBad\n"
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

// TestAMissingBrowserIsToldAndNoFailure: where none can be installed, the check says what it does
// not check.
func TestAMissingBrowserIsToldAndNoFailure(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	var stderr bytes.Buffer
	c := &check{stderr: &stderr}
	if err := c.findBrowser(t.Context()); err != nil {
		t.Fatal(err)
	}
	c.awaitBrowser()
	if got := stderr.String(); !strings.Contains(got, "install chromium") || !strings.Contains(got, "NOT checked in one") {
		t.Errorf("it is said that %q", got)
	}
}
