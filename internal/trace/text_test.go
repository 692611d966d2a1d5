package trace

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/event"
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
	r := write(t, testHeader, events)
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
func TestTextOfSitesCannotBreakLines(t *testing.T) {
	var b bytes.Buffer
	w := NewWriter(&b, testHeader)
	w.SetSites([]Site{{ID: 1, Function: "f", File: "a\nb.go", Line: 1, Expr: "func() {\n\tx++\x1b[31m\xff\n}"}})
	w.Event(&event.Event{Seq: 1, G: 1, Kind: event.Load, Site: 1})
	if err := w.Close(Outcome{Outside: []string{"ok\n\nforged"}}); err != nil {
		t.Fatal(err)
	}
	r := read(t, b.Bytes())
	c := r.Cursor(Filter{})
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
	file, events := record(t, 2, 5000)
	var about strings.Builder
	if err := WriteSummary(&about, read(t, file)); err != nil {
		t.Fatal(err)
	}
	loads := 0
	for i := range events {
		if events[i].Kind == event.Load {
			loads++
		}
	}
	for _, want := range []string{`program +example.com/bank TestTransfer`, `events +5000 in`, `\nload +` + strconv.Itoa(loads) + `\n`, `\n +2 +\d+ +started by \d+ at account.go:\d+`} {
		if !regexp.MustCompile(want).MatchString(about.String()) {
			t.Errorf("no %s in\n%s", want, about.String())
		}
	}
}
