package show

import (
	"bytes"
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

var testHeader = trace.Header{
	Program: "f00d", Go: "go1.26", GOOS: "linux", GOARCH: "amd64", Package: "example.com/bank", Test: "TestTransfer",
	Args: []string{"-test.v"}, Schedule: "12>2,40>1", Seed: 7, Strategy: "pct", Own: []string{"bank"},
}

var testSites = []trace.Site{
	{ID: 1, Package: "bank", File: "/src/bank/account.go", Line: 5, Function: "Transfer", Expr: "go f()", Kind: event.Go},
	{ID: 2, Package: "bank", File: "/src/bank/account.go", Line: 6, Function: "Transfer", Expr: "a.balance", Kind: event.Load, Type: "int"},
	{ID: 3, Package: "bank", File: "/src/bank/account.go", Line: 7, Function: "Transfer", Expr: "a.balance", Kind: event.Store, Type: "int"},
	{ID: 4, Package: "bank", File: "/src/bank/account.go", Line: 9, Function: "Transfer", Expr: "fmt.Sprint(a)", Kind: event.PoolGet, InLibrary: true},
	{ID: 5, Package: "fmt", File: "/go/src/fmt/print.go", Line: 100, Function: "newPrinter", Expr: "p", Kind: event.Load},
}

var testOutcome = trace.Outcome{
	Result:   event.Failed,
	Failures: []trace.Failure{{Kind: event.FailureRace, Message: "both", Point: trace.Point{Op: event.Load, G: 2, Site: 2, Seq: 4}}},
	Texts:    []trace.Text{{Addr: 0x5000, Length: 3, Text: "abc"}, {Addr: 0x5000, Length: 10, Text: "abc"}},
}

// write makes a trace of events.
func write(t testing.TB, events []event.Event) *trace.Reader {
	t.Helper()
	return writeAll(t, events, testSites, testOutcome)
}

func writeAll(t testing.TB, events []event.Event, sites []trace.Site, outcome trace.Outcome) *trace.Reader {
	t.Helper()
	var b bytes.Buffer
	w := trace.NewWriter(&b, testHeader)
	for i := range events {
		if err := w.Event(&events[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.SetSites(sites); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(outcome); err != nil {
		t.Fatal(err)
	}
	return read(t, b.Bytes())
}

func read(t testing.TB, file []byte) *trace.Reader {
	t.Helper()
	r, err := trace.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// layoutPrinter prints events of site 1, where values lie as the layout says.
func layoutPrinter(t testing.TB, layout string) *Printer {
	t.Helper()
	events := []event.Event{{Seq: 1, G: 1, Kind: event.Alloc, Addr: 0x2000, Size: 32, Arg: 3}}
	return NewPrinter(writeAll(t, events, []trace.Site{{ID: 1, File: "a.go", Kind: event.Load, Type: layout}}, testOutcome))
}

// lostUpdate is a run in which goroutine 3 stores between a load and a store of 2.
func lostUpdate() []event.Event {
	value := func(n byte) []byte { return []byte{n, 0, 0, 0, 0, 0, 0, 0} }
	events := []event.Event{
		{G: 2, Kind: event.Start},
		{G: 2, Kind: event.Go, Site: 1, Arg: 3},
		{G: 3, Kind: event.Start, Arg: 2},
		{G: 2, Kind: event.Load, Site: 2, Addr: 0x2000, Size: 8, Before: value(0)},
		{G: 2, Kind: event.Load, Site: 2, Addr: 0x7000, Size: 8, Before: value(9)}, // its own
		{G: 3, Kind: event.Store, Site: 3, Addr: 0x2000, Size: 8, Before: value(0), After: value(1)},
		{G: 3, Kind: event.PoolGet, Site: 4, Addr: 0x8000, Size: 1},
		{G: 3, Kind: event.Load, Site: 5, Addr: 0x9000, Size: 8, Before: value(1)},                   // not the program's memory,
		{G: 2, Kind: event.Store, Site: 5, Addr: 0x9000, Size: 8, Before: value(1), After: value(2)}, // though shared
		{G: 2, Kind: event.Store, Site: 3, Addr: 0x2000, Size: 8, Before: value(1), After: value(1)},
		{G: 2, Kind: event.Fail},
		{G: 2, Kind: event.Load, Site: 2, Addr: 0x2000, Size: 8, Before: value(1)}, // after the failure
	}
	for i := range events {
		events[i].Seq = uint64(i + 1)
	}
	return events
}

func TestTimelineHasTheStepsThatMatter(t *testing.T) {
	outcome := trace.Outcome{Result: event.Failed, Failures: []trace.Failure{{
		Kind: event.FailureTest, Message: "balance is 1\nwant 2",
		Point: trace.Point{G: 2, Stack: []trace.Call{{Function: "testing.tRunner", File: "/go/src/testing/testing.go", Line: 1}, {Function: "bank.Transfer", File: "/src/bank/account.go", Line: 8}}},
	}}}
	r := writeAll(t, lostUpdate(), testSites, outcome)
	var b strings.Builder
	if err := WriteTimeline(&b, r, 40); err != nil {
		t.Fatal(err)
	}
	want := `
goroutine 2 (TestTransfer)     goroutine 3 (f, account.go:5)
-----------------------------  -----------------------------
account.go:5:
  go: goroutine 3
account.go:6:
  load a.balance 0
                               account.go:7:
                                 store a.balance 0 -> 1
account.go:7:
  store a.balance 1 -> 1
account.go:8:
  test failed: balance is 1 ...
`
	if got := "\n" + b.String(); got != want {
		t.Errorf("got%s", got)
	}
}

func TestTimelineShowsTheEnd(t *testing.T) {
	r := writeAll(t, lostUpdate(), testSites, trace.Outcome{})
	var b strings.Builder
	if err := WriteTimeline(&b, r, 2); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); !strings.HasPrefix(got, "(3 earlier steps are left out; cofferdam trace has them all)\n\n") || strings.Contains(got, "load a.balance") {
		t.Errorf("got %s", got)
	}
}

// TestManyGoroutinesStandBelowEachOther: a fifth column would not fit a screen.
func TestManyGoroutinesStandBelowEachOther(t *testing.T) {
	var events []event.Event
	for g := uint32(2); g < 8; g++ {
		events = append(events, event.Event{Seq: uint64(g), G: g, Kind: event.Store, Site: 3, Addr: 0x2000, Size: 8, Before: make([]byte, 8), After: make([]byte, 8)})
	}
	var b strings.Builder
	if err := WriteTimeline(&b, writeAll(t, events, testSites, trace.Outcome{}), 40); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); !strings.Contains(got, "\n   7  account.go:7:\n   7    store a.balance 0 -> 0\n") {
		t.Errorf("got %s", got)
	}
}

// TestWhatTheLibraryDoesToTheProgramsMemoryIsShown: a goroutine that goes through a map inside
// the standard library is in the timeline, in one step, by the function that it does so for; and so is
// the fatal error, which is no event.
func TestWhatTheLibraryDoesToTheProgramsMemoryIsShown(t *testing.T) {
	sites := []trace.Site{
		{ID: 1, Package: "bank", File: "/src/bank/account.go", Line: 5, Function: "Show", Kind: event.Call},
		{ID: 2, Package: "bank", File: "/src/bank/account.go", Line: 9, Function: "Add", Expr: `all["x"]`, Kind: event.MapWrite},
		{ID: 3, Package: "encoding/json", File: "/go/src/encoding/json/encode.go", Line: 788, Function: "mapEncoder.encode", Kind: event.MapRead},
	}
	events := []event.Event{
		{G: 2, Kind: event.Call, Site: 1, Frame: 1},
		{G: 2, Kind: event.MapRead, Site: 3, Frame: 1, Addr: 0x2000, Size: 1},
		{G: 2, Kind: event.MapRead, Site: 3, Frame: 1, Addr: 0x2000, Size: 1},
		{G: 2, Kind: event.MapRead, Frame: 1, Addr: 0x2000, Size: 1}, // deep inside
		{G: 3, Kind: event.MapWrite, Site: 2, Addr: 0x2000, Size: 1},
		{G: 2, Kind: event.MapRead, Site: 3, Frame: 1, Addr: 0x3000, Size: 1}, // after the end of 3, which ran on
	}
	for i := range events {
		events[i].Seq = uint64(i + 1)
	}
	outcome := trace.Outcome{Result: event.Failed, Failures: []trace.Failure{{
		Kind: event.FailureFatal, Message: "concurrent map writes", Point: trace.Point{Op: event.MapWrite, G: 3, Site: 2},
	}}}
	var b strings.Builder
	if err := WriteTimeline(&b, writeAll(t, events, sites, outcome), 40); err != nil {
		t.Fatal(err)
	}
	want := `
goroutine 2 (TestTransfer)                       goroutine 3
-----------------------------------------------  ----------------------------------
Show:
  3 × map read in encoding/json.mapEncoder.encode
                                                 account.go:9:
                                                   map write all["x"]
                                                   fatal error: concurrent map writes
`
	if got := "\n" + b.String(); got != want {
		t.Errorf("got%s", got)
	}
}

// TestWhatTheLibraryDoesInOneGoIsOneStep: a call of the program's that the standard library makes
// many accesses for is one line, as long as no other goroutine comes between them.
func TestWhatTheLibraryDoesInOneGoIsOneStep(t *testing.T) {
	const print = event.CallSites
	sites := []trace.Site{
		{ID: 1, Package: "bank", File: "/src/bank/account.go", Line: 9, Function: "Add", Expr: "b.total", Kind: event.Store},
		{ID: print, Package: "bank", File: "/src/bank/account.go", Line: 5, Function: "Show", Expr: "fmt.Fprint(w, b)"},
	}
	load := event.Event{G: 2, Kind: event.Load, Site: print, Addr: 0x2000, Size: 8, Before: make([]byte, 8)}
	other := event.Event{G: 2, Kind: event.Load, Site: print, Addr: 0x2008, Size: 8, Before: make([]byte, 8)}
	buffer := event.Event{G: 2, Kind: event.Store, Site: print, Addr: 0x2008, Size: 8, Before: make([]byte, 8), After: make([]byte, 8)}
	total := event.Event{G: 3, Kind: event.Store, Site: 1, Addr: 0x2000, Size: 16, Before: make([]byte, 8), After: make([]byte, 8)}
	events := []event.Event{load, other, buffer, load, total, load}
	for i := range events {
		events[i].Seq = uint64(i + 1)
	}
	var b strings.Builder
	if err := WriteTimeline(&b, writeAll(t, events, sites, trace.Outcome{}), 40); err != nil {
		t.Fatal(err)
	}
	want := `
goroutine 2 (TestTransfer)         goroutine 3
---------------------------------  --------------------
account.go:5:
  fmt.Fprint(w, b): 3 × load, store
                                   account.go:9:
                                     store b.total 0 -> 0
account.go:5:
  load fmt.Fprint(w, b) 0
`
	if got := "\n" + b.String(); got != want {
		t.Errorf("got%s", got)
	}
}
