package show

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

func TestValuesAndArgumentsInWords(t *testing.T) {
	le := binary.LittleEndian
	wide := make([]byte, 64)
	wide[8] = 5
	events := []event.Event{
		{Kind: event.Alloc, Addr: 0x2000, Size: 32, Arg: 3},
		{Kind: event.Alloc, Addr: 0x3000, Size: 32},
	}
	want := []string{"0x2000 obj3 +32 bytes", "0x3000 obj@2 +32 bytes"}
	for _, c := range []struct {
		e    event.Event
		want string
	}{
		{event.Event{Kind: event.Load, Addr: 0x2010, Size: 1, Before: []byte{255}}, `0x2010 obj3\+16 +255 \(0xff\)`},
		{event.Event{Kind: event.Load, Addr: 0x9000, Size: 2, Before: []byte{255, 255}}, `0x9000 +-1 \(0xffff\)`},
		{event.Event{Kind: event.Store, Addr: 0x9000, Size: 4, Before: make([]byte, 4), After: []byte{7, 0, 0, 0}}, `0 -> 7`},
		{event.Event{Kind: event.Store, Addr: 0x9000, Size: 8, After: le.AppendUint64(nil, 0x3004)}, `-> 0x3004 \(obj@2\+4\)`},
		{event.Event{Kind: event.Load, Addr: 0x9000, Size: 100, Before: wide}, `\[0x0 0x5 0x0 0x0 0x0 0x0 0x0 0x0\] and 36 bytes more`},
		{event.Event{Kind: event.Load, Addr: 0x9000, Size: 3, Before: []byte{1, 2, 3}}, `\[0x30201\]`},
		{event.Event{Kind: event.WaitGroupAdd, Arg: ^uint64(0)}, `  -1`},
		{event.Event{Kind: event.WaitGroupAdd, Arg: 2}, `  \+2`},
		{event.Event{Kind: event.Select}, `  default`},
		{event.Event{Kind: event.AtomicCompare, Addr: 0x9000, Size: 1, Before: []byte{4}, After: []byte{4}}, `4 -> 4  not swapped`},
		{event.Event{Kind: event.TimerStart, Addr: 0x9000, Arg: 1e7}, `  10ms`},
		{event.Event{Kind: event.TimerStop, Addr: 0x9000, Arg: 1}, `  it was running`},
		{event.Event{Kind: event.TimerFire, Addr: 0x9000, Arg: 2e9}, `  at 2s`},
		{event.Event{Kind: event.Start, Arg: 3}, `  created by goroutine 3`},
		{event.Event{Kind: event.Select, Arg: 2}, `  case 2`},
		{event.Event{Kind: event.Sleep, Arg: 1500e6}, `  1.5s`},
		{event.Event{Kind: event.Exit, Arg: 3}, `  code 3`},
		{event.Event{Kind: event.Recv, Addr: 0x9100, Arg: 3}, `0x9100 +length 3`},
		{event.Event{Kind: event.Random, Arg: 4}, `  4`},
		{event.Event{Kind: event.Load, Site: 99}, `  site 99`},
	} {
		events, want = append(events, c.e), append(want, c.want)
	}
	for i := range events {
		events[i].Seq, events[i].G = uint64(i+1), 1
	}
	r := write(t, events)
	p := NewPrinter(r)
	for i := range events {
		got := string(p.AppendText(nil, &events[i]))
		if !regexp.MustCompile(`(?s)` + want[i] + `\n$`).MatchString(got) {
			t.Errorf("%swant it to end with %s", got, want[i])
		}
		if strings.Count(got, "\n") != 1 || strings.HasSuffix(got, " \n") {
			t.Errorf("%q is not one line", got)
		}
	}
}

// TestTextOfSitesCannotBreakLines: expressions come from source files.
// TestAccessesToMapsAreShownWithTheEntry: key and value, before and after, as far as they are known.
func TestAccessesToMapsAreShownWithTheEntry(t *testing.T) {
	put := func(e event.Entry) []byte {
		var to [event.MaxValue]byte
		return to[:e.Put(&to)]
	}
	key := binary.LittleEndian.AppendUint64(nil, 7)
	none, four := event.Entry{Key: key}, event.Entry{Key: key, Value: []byte{4}, Held: true}
	updated := event.Entry{Key: key, Held: true}
	ofKind := event.Entry{Key: key, Value: []byte{0xff}, Held: true, KeyKind: uint8(reflect.Uint64), ValueKind: uint8(reflect.Int8)}
	for _, c := range []struct {
		layout              string
		kind                event.Kind
		before, after       []byte
		change, was, became string
	}{
		{"map{int}uint8", event.MapRead, put(four), nil, "[7] 4", "[7]: 4", ""},
		{"map{int}uint8", event.MapRead, put(none), nil, "[7] no entry", "[7]: no entry", ""},
		{"map{int}uint8", event.MapWrite, put(none), put(four), "[7] no entry -> 4", "[7]: no entry", "[7]: 4"},
		{"map{int}uint8", event.MapWrite, put(four), put(none), "[7] 4 -> no entry", "[7]: 4", "[7]: no entry"},
		{"map{int}uint8", event.MapWrite, put(four), put(updated), "[7] 4 -> ?", "[7]: 4", "[7]: ?"},
		{"map{struct{0 a int}}struct{}", event.MapWrite, put(none), put(updated), "[{a:7}] no entry -> {}", "[{a:7}]: no entry", "[{a:7}]: {}"},
		{"", event.MapRead, put(four), nil, "[7] 4", "[7]: 4", ""},
		{"", event.MapRead, put(ofKind), nil, "[7] -1", "[7]: -1", ""},
		{"map{interface}interface", event.MapRead, put(ofKind), nil, "[7] -1", "[7]: -1", ""},
		{"map{int}uint8", event.MapRead, nil, nil, "", "", ""},
	} {
		p := layoutPrinter(t, c.layout)
		e := &event.Event{Seq: 1, G: 1, Kind: c.kind, Site: 1, Size: 8, Before: c.before, After: c.after}
		was, became := p.Values(e)
		if got := p.Change(e); got != c.change || was != c.was || became != c.became {
			t.Errorf("%s: %q (%q, %q), want %q (%q, %q)", c.layout, got, was, became, c.change, c.was, c.became)
		}
	}
}

func TestTextOfSitesCannotBreakLines(t *testing.T) {
	var b bytes.Buffer
	w := trace.NewWriter(&b, testHeader)
	w.SetSites([]trace.Site{{ID: 1, Function: "f", File: "a\nb.go", Line: 1, Expr: "func() {\n\tx++\x1b[31m\xff\n}"}})
	w.Event(&event.Event{Seq: 1, G: 1, Kind: event.Load, Site: 1})
	if err := w.Close(trace.Outcome{Outside: []string{"ok\n\nforged"}}); err != nil {
		t.Fatal(err)
	}
	r := read(t, b.Bytes())
	c := r.Cursor(trace.Filter{})
	c.Next()
	p := NewPrinter(r)
	got := string(p.AppendText(nil, c.Event()))
	if !strings.Contains(got, "func() { x++?[31m? }") || strings.Count(got, "\n") != 1 {
		t.Errorf("%q", got)
	}
	if line := p.AppendJSON(nil, c.Event()); !json.Valid(line) || bytes.Count(line, []byte("\n")) != 1 {
		t.Errorf("%q", line)
	}
	var about strings.Builder
	if err := WriteSummary(&about, r); err != nil || !strings.Contains(about.String(), "ok forged") {
		t.Errorf("%v\n%s", err, about.String())
	}
}

func TestSummaryCounts(t *testing.T) {
	events := []event.Event{
		{G: 1, Kind: event.Start},
		{G: 1, Kind: event.Go, Site: 1, Arg: 2},
		{G: 2, Kind: event.Start, Arg: 1},
		{G: 2, Kind: event.Load, Site: 2, Addr: 0x2000, Size: 8, Before: make([]byte, 8)},
		{G: 1, Kind: event.Load, Site: 2, Addr: 0x2000, Size: 8, Before: make([]byte, 8)},
		{G: 2, Kind: event.End},
	}
	for i := range events {
		events[i].Seq = uint64(i + 1)
	}
	var about strings.Builder
	if err := WriteSummary(&about, write(t, events)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`program +example.com/bank TestTransfer`, `events +6 in 1 blocks`, `\nload +2\n`, `\nstart +2\n`,
		`\n +1 +3\n`, `\n +2 +3 +started by 1 at account.go:\d+`, `outcome +failed`, `failure +data race: both \(goroutine 2 at account.go:\d+, event 4\)`,
	} {
		if !regexp.MustCompile(want).MatchString(about.String()) {
			t.Errorf("no %s in\n%s", want, about.String())
		}
	}
}

func TestValuesByTheirLayout(t *testing.T) {
	le := binary.LittleEndian
	words := func(all ...uint64) (b []byte) {
		for _, w := range all {
			b = le.AppendUint64(b, w)
		}
		return b
	}
	for _, c := range []struct {
		layout string
		memory []byte
		want   string
	}{
		{"bool", []byte{1}, "true"},
		{"int8", []byte{255}, "-1"},
		{"rune", []byte{65, 0, 0, 0}, "65"},
		{"uintptr", words(255), "0xff"},
		{"float64", words(0x3ff8000000000000), "1.5"},
		{"complex128", words(0x3ff0000000000000, 0x4000000000000000), "(1+2i)"},
		{"string", words(0x5000, 3), `"abc"`},
		{"string", words(0x5000, 10), `"abc" and 7 bytes more`},
		{"string", words(0x6000, 3), "string(len 3, at 0x6000)"},
		{"string", words(0, 0), `""`},
		{"pointer", words(0), "nil"},
		{"pointer", words(0x2008), "0x2008 (obj3+8)"},
		{"slice", words(0, 0, 0), "nil"},
		{"slice", words(0x9000, 2, 4), "slice(len 2, cap 4, at 0x9000)"},
		{"interface", words(0, 0), "nil"},
		{"interface", words(0x10, 0x20), "interface(0x10, 0x20)"},
		{"duration", words(1500e6), "1.5s"},
		{"time", words(0, 0, 0), "zero time"},
		{"[2x8]int", words(1, 2), "[1 2]"},
		{"[3x8]int", words(1, 2), "[1 2 and 1 more]"},
		{"struct{0 a int; 8 b struct{0 c bool}}", append(words(7), 1), "{a:7 b:{c:true}}"},
		{"struct{0 a int; 8 b int}", words(7), "{a:7 b:...}"},
		{"struct{0 a nonsense}", words(7), "{a:...}"},
		{"nonsense", words(7), "7"},
	} {
		e := event.Event{Seq: 2, G: 1, Kind: event.Load, Site: 1, Addr: 0x9000, Size: uint32(len(c.memory)), Before: c.memory}
		if got := layoutPrinter(t, c.layout).Change(&e); got != c.want {
			t.Errorf("%s of % x is %s, want %s", c.layout, c.memory, got, c.want)
		}
	}
}

// FuzzValues: layouts come from a file, and whatever they say, nothing panics.
func FuzzValues(f *testing.F) {
	f.Add("struct{0 a [2x8]int; 16 b string}", make([]byte, 32))
	f.Add("[1x0]struct{", []byte{})
	f.Fuzz(func(t *testing.T, layout string, memory []byte) {
		e := event.Event{Seq: 2, G: 1, Kind: event.Load, Site: 1, Addr: 0x9000, Before: memory}
		p := layoutPrinter(t, layout)
		p.AppendText(nil, &e)
		p.AppendJSON(nil, &e)
	})
}

// TestTheKeyStandsForItsExpression: what index was used says more than how the program came by it.
func TestTheKeyStandsForItsExpression(t *testing.T) {
	var to [event.MaxValue]byte
	entry := event.Entry{Key: binary.LittleEndian.AppendUint64(nil, 7), Value: []byte{4}, Held: true}
	before := to[:entry.Put(&to)]
	for expr, want := range map[string]string{
		"m[k]":           "map read m[7] 4",
		"s.m[f(a[i])]":   "map read s.m[7] 4",
		`m["a"]`:         "map read m[7] 4",
		`a[i][m["]"]]`:   `map read a[i][m["]"]] [7] 4`, // a bracket in a text is none
		"range m":        "map read range m [7] 4",
		"":               "map read [7] 4",
		"x.byName[a][b]": "map read x.byName[a][7] 4",
	} {
		r := writeAll(t, []event.Event{{Seq: 1, G: 1, Kind: event.Start}}, []trace.Site{{ID: 1, File: "a.go", Kind: event.MapRead, Expr: expr, Type: "map{int}uint8"}}, testOutcome)
		if got := NewPrinter(r).Operation(&event.Event{Seq: 1, G: 1, Kind: event.MapRead, Site: 1, Size: 8, Before: before}); got != want {
			t.Errorf("%s: %q, want %q", expr, got, want)
		}
	}
}

func TestAGoroutineIsNamedByWhatItsGoStatementCalls(t *testing.T) {
	for expr, want := range map[string]string{
		"go c.janitor()": "c.janitor", "go serve(conn, 1)": "serve", "go each[int](all)": "each[int]",
		"go func() { n++ }()": "", "go func(x int) {}(1)": "", "wg.Go(f)": "", "": "",
	} {
		if got := calledByGo(expr); got != want {
			t.Errorf("%s: %q, want %q", expr, got, want)
		}
	}
}
