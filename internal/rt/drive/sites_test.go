package drive

import (
	"path/filepath"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/rt"
	"github.com/cofferdam-go/cofferdam/internal/trace"
	"github.com/cofferdam-go/cofferdam/internal/wire"
)

func TestExpressionIsTheCallThatDoesIt(t *testing.T) {
	calls := func(names ...string) (all []trace.LibraryCall) {
		for _, n := range names {
			all = append(all, trace.LibraryCall{Name: n, Expr: "x." + n + "()"})
		}
		return all
	}
	for _, c := range []struct {
		calls []trace.LibraryCall
		kind  event.Kind
		text  string
		says  bool
	}{
		{calls("Lock"), event.Lock, "x.Lock()", true},
		{calls("Lock", "Sprint"), event.Lock, "x.Lock()", true},
		{calls("Add", "Done"), event.WaitGroupAdd, "x.Add() or x.Done()", true},
		{calls("Sprint"), event.PoolGet, "x.Sprint()", false},
		{calls("Sprint", "Sprint"), event.PoolGet, "x.Sprint()", false},
		{calls("Sprint", "Print"), event.PoolGet, "", false},
		{calls("Exit"), event.Exit, "x.Exit()", true},
		{nil, event.Lock, "", true},
	} {
		if text, says := expression(c.calls, c.kind); text != c.text || says != c.says {
			t.Errorf("%v at %v: %q, %t, want %q, %t", c.kind, c.calls, text, says, c.text, c.says)
		}
	}
}

func TestSplitSeparatesThePackage(t *testing.T) {
	for function, want := range map[string][2]string{
		"example.com/a.b/bank.(*Account).Deposit": {"example.com/a.b/bank", "(*Account).Deposit"},
		"main.main":        {"main", "main"},
		"nothing":          {"", "nothing"},
		"sync.OnceFunc.f1": {"sync", "OnceFunc.f1"},
	} {
		if pkg, name := split(function); pkg != want[0] || name != want[1] {
			t.Errorf("%s is %q and %q", function, pkg, name)
		}
	}
}

// TestCallsOfTheLibraryBecomeSites: what is known at run time is the line.
func TestCallsOfTheLibraryBecomeSites(t *testing.T) {
	state := new(int32)
	lock := func() bool {
		rt.Lock(state)
		rt.Unlock(state)
		return false
	}
	r, _ := recorded(t, lock, new(wire.Table), false)
	kinds := map[event.Kind]bool{}
	for _, s := range r.Sites() {
		if s.ID < event.CallSites || filepath.Base(s.File) == "" || s.Function == "" {
			t.Errorf("site %+v", s)
		}
		kinds[s.Kind] = true
	}
	if !kinds[event.Lock] || !kinds[event.Unlock] {
		t.Errorf("sites %+v", r.Sites())
	}
}

func TestTextsAreThoseOfStrings(t *testing.T) {
	name := new(string)
	assign := func() bool {
		*rt.W(name, storeSite) = "Ada"
		_ = rt.R(name, loadSite)
		return false
	}
	r, _ := recorded(t, assign, &wire.Table{Sites: []trace.Site{
		{ID: loadSite, Kind: event.Load, Type: "string"},
		{ID: storeSite, Kind: event.Store, Type: "string"},
	}}, false)
	if texts := r.Outcome.Texts; len(texts) != 1 || texts[0].Text != "Ada" || texts[0].Length != 3 {
		t.Errorf("texts %+v", texts)
	}
}
