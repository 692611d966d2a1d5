package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/cofferdam-go/cofferdam/cmd/cofferdam/command"
	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

func init() { scriptCommands["sampletrace"] = sampleTrace }

// sampleTrace is the command of scripts that makes a trace file:
//
//	sampletrace FILE [cut|damaged|wrong]
//
// whole, without its end, with a wrong byte in the second of its three blocks, or
// with events that no run can have.
func sampleTrace(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 1 || len(args) > 2 {
		ts.Fatalf("usage: sampletrace FILE [cut|damaged|wrong]")
	}
	how := ""
	if len(args) == 2 {
		how = args[1]
	}
	data, err := sample(how)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), data, 0o666))
}

func word(v uint64) []byte { return binary.LittleEndian.AppendUint64(nil, v) }

// sampleEvents are of a goroutine that loses an update of another.
var sampleEvents = []event.Event{
	{G: 1, Kind: event.Call, Site: 1, Frame: 1},
	{G: 1, Kind: event.Alloc, Site: 2, Frame: 1, Addr: 0xc000012010, Size: 16, Arg: 12},
	{G: 1, Kind: event.Go, Site: 3, Frame: 1, Arg: 2},
	{G: 1, Kind: event.Load, Site: 4, Frame: 1, Addr: 0xc000012018, Size: 8, Before: word(100)},
	{G: 2, Kind: event.Start, Site: 3},
	{G: 2, Kind: event.Call, Site: 5, Frame: 2},
	{G: 2, Kind: event.Store, Site: 6, Frame: 2, Addr: 0xc000012018, Size: 8, Before: word(100), After: word(0xffff_ffff_ffff_fffe)},
	{G: 2, Kind: event.Store, Site: 7, Frame: 2, Addr: 0x5a1000, Size: 8, Before: word(0), After: word(0xc000012010)},
	{G: 2, Kind: event.TryLock, Site: 8, Frame: 2, Addr: 0x5a1008, Size: 1},
	{G: 2, Kind: event.Return, Site: 5, Frame: 2},
	{G: 2, Kind: event.End, Site: 3},
	{G: 1, Kind: event.Store, Site: 4, Frame: 1, Addr: 0xc000012018, Size: 8, Before: word(0xffff_ffff_ffff_fffe), After: word(101)},
}

var sampleSites = []trace.Site{
	{ID: 1, Package: "bank", File: "/src/bank/bank_test.go", Line: 8, Column: 1, Function: "bank.TestDeposit"},
	{ID: 2, Package: "bank", File: "/src/bank/bank_test.go", Line: 9, Column: 7, Function: "bank.TestDeposit", Expr: "&Account{}"},
	{ID: 3, Package: "bank", File: "/src/bank/bank_test.go", Line: 10, Column: 2, Function: "bank.TestDeposit", Expr: "go a.Close()"},
	{ID: 4, Package: "bank", File: "/src/bank/bank.go", Line: 14, Column: 2, Function: "bank.(*Account).Deposit", Expr: "a.balance"},
	{ID: 5, Package: "bank", File: "/src/bank/bank.go", Line: 20, Column: 1, Function: "bank.(*Account).Close"},
	{ID: 6, Package: "bank", File: "/src/bank/bank.go", Line: 21, Column: 2, Function: "bank.(*Account).Close", Expr: "a.balance"},
	{ID: 7, Package: "bank", File: "/src/bank/bank.go", Line: 22, Column: 2, Function: "bank.(*Account).Close", Expr: "closed"},
	{ID: 8, Package: "bank", File: "/src/bank/bank.go", Line: 23, Column: 5, Function: "bank.(*Account).Close", Expr: "mu.TryLock()"},
}

func sample(how string) ([]byte, error) {
	var b bytes.Buffer
	w := trace.NewWriter(&b, trace.Header{
		Program: "5eed", Go: "go1.26", GOOS: "linux", GOARCH: "amd64", Package: "example.com/bank", Test: "TestDeposit",
		Args: []string{"-test.run=^TestDeposit$"}, Schedule: "4>2,11>1", Seed: 3, Strategy: "pct",
	})
	err := w.SetSites(sampleSites)
	second := 0
	for i, e := range sampleEvents {
		e.Seq = uint64(i + 1)
		if how == "wrong" && e.Kind == event.Go {
			continue
		}
		err = errors.Join(err, w.Event(&e))
		if i == 3 || i == 7 {
			err = errors.Join(err, w.Flush())
		}
		if i == 3 {
			second = b.Len()
		}
	}
	whole := b.Len()
	err = errors.Join(err, w.Close(trace.Outcome{
		Result: event.Failed, Elapsed: 1500 * time.Microsecond, Virtual: 2 * time.Second,
		Failures: []trace.Failure{{Kind: event.FailurePanic, Message: "balance is 101, want 0", Point: trace.Point{G: 1, Site: 4, Seq: 12}}},
	}))
	data := b.Bytes()
	switch how {
	case "cut":
		data = data[:whole+10]
	case "damaged":
		data[second+40] ^= 1
	}
	return data, err
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) {
	return 0, &os.PathError{Op: "write", Path: "|1", Err: syscall.EPIPE}
}

// A reader that has seen enough is told by the code that a closed pipe has, and by nothing else.
func TestABrokenPipeHasACodeAndNoMessage(t *testing.T) {
	data, err := sample("")
	if err != nil {
		t.Fatal(err)
	}
	path := t.TempDir() + "/a.trace"
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"trace", path}, {"trace", "-summary", path}} {
		var stderr bytes.Buffer
		if code := run(args, command.Streams{Stdout: brokenPipe{}, Stderr: &stderr}); code != 141 || stderr.Len() != 0 {
			t.Errorf("%v: exit code %d, %s", args, code, stderr.String())
		}
	}
	if code := run([]string{"trace", path}, command.Streams{Stdout: full{}, Stderr: io.Discard}); code != 2 {
		t.Errorf("a full disk: exit code %d", code)
	}
}

func TestExitCodesOfTrace(t *testing.T) {
	dir := t.TempDir()
	for _, how := range []string{"", "cut", "damaged", "wrong"} {
		data, err := sample(how)
		if err == nil {
			err = os.WriteFile(dir+"/"+how+".trace", data, 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		code int
		args []string
	}{
		{0, []string{dir + "/.trace"}},
		{0, []string{"-check", dir + "/.trace"}},
		{0, []string{dir + "/cut.trace"}},
		{2, []string{dir + "/damaged.trace"}},
		{2, []string{"-check", dir + "/damaged.trace"}},
		{1, []string{"-check", dir + "/wrong.trace"}},
		{2, []string{dir + "/none.trace"}},
		{2, []string{"-kind", "x", dir + "/.trace"}},
		{2, []string{"-json", "-summary", dir + "/.trace"}},
		{2, []string{"-unknown", dir + "/.trace"}},
		{2, nil},
	} {
		if code := run(append([]string{"trace"}, c.args...), command.Streams{Stdout: io.Discard, Stderr: io.Discard}); code != c.code {
			t.Errorf("%v: exit code %d, want %d", c.args, code, c.code)
		}
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }
