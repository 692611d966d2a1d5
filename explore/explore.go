// Package explore marks tests that are worth exploring.
//
//	func TestTransfer(t *testing.T) {
//		explore.Test(t, func(t *testing.T) {
//			...
//		}, explore.Options{Budget: 20 * time.Second})
//	}
//
// With go test, the function is an ordinary subtest. cofferdam test -explore builds the package so that
// its goroutines are under control, and runs each test that calls Test under one schedule after another,
// until one fails or the budget is used up. The schedules that fail are written to testdata/explore beside the tests,
// a line each, and are what the next search begins with: a schedule that once failed is tried
// before all others.
//
// What the test does around Test is done for each schedule, too.
//
// explore.go is all there is.
package explore

import (
	"encoding/json"
	"os"
	"testing"
	"time"
)

// Options say how to search. The zero value is what cofferdam explore does by default.
type Options struct {
	// Strategy is pct, random or dfs; "" means pct.
	Strategy string `json:"strategy,omitempty"`
	// Preemptions is the bound of dfs: all schedules with at most so many are tried. 0 means 2.
	Preemptions int `json:"preemptions,omitempty"`
	// Budget is how long to search; 0 means ten seconds.
	Budget time.Duration `json:"budget,omitempty"`
	// Runs is how many schedules are tried at most; 0 means as many as the budget allows.
	Runs int `json:"runs,omitempty"`
}

// listVariable names the file to which tests that are marked are written, instead of being run.
const listVariable = "COFFERDAM_LIST_MARKED"

// name is that of the subtest.
const name = "explored"

// Test runs a function as a subtest, which cofferdam test -explore explores. Of several options
// the first count.
func Test(t *testing.T, f func(t *testing.T), options ...Options) {
	t.Helper()
	if file := os.Getenv(listVariable); file != "" {
		list(t, file, options)
		t.SkipNow()
	}
	t.Run(name, f)
}

// list writes that a test is marked, as a line of JSON.
func list(t *testing.T, file string, options []Options) {
	marked := struct {
		Test string `json:"test"`
		Options
	}{Test: t.Name()}
	if len(options) > 0 {
		marked.Options = options[0]
	}
	text, err := json.Marshal(marked)
	if err != nil {
		t.Fatalf("explore.Test: %v", err)
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		t.Fatalf("explore.Test: %v", err)
	}
	defer f.Close()
	if _, err := f.Write(append(text, '\n')); err != nil {
		t.Fatalf("explore.Test: %v", err)
	}
}
