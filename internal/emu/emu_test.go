package emu

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/emu/linux"
	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

func TestATraceOfAProgramMakesSense(t *testing.T) {
	if _, err := os.Stat("/lib64/ld-linux-x86-64.so.2"); err != nil {
		t.Log("nothing was run: this machine has no dynamic linker for x86-64")
		return
	}
	path := "../../examples/binary/bin/toctou.O2"
	p, err := linux.New(linux.Config{Path: path, Args: []string{path}, Stdout: &bytes.Buffer{}, Stderr: &bytes.Buffer{}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "run.trace")
	w, err := trace.Create(file, trace.Header{Program: path})
	if err != nil {
		t.Fatal(err)
	}
	r := Record(p, w)
	if exit := p.Run(); exit.Code != 0 {
		t.Fatalf("%+v", exit)
	}
	if err := r.Finish(p); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(trace.Outcome{Result: event.Passed}); err != nil {
		t.Fatal(err)
	}
	reader, err := trace.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	problems, err := trace.Validate(reader)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Error(p)
	}
	// The increment is one instruction of the program, executed five times.
	increments := 0
	for c := reader.Cursor(trace.Filter{}); c.Next(); {
		e := c.Event()
		site, _ := reader.Site(e.Site)
		if e.Kind == event.Store && e.G == 2 && strings.HasPrefix(site.Function, "toctou.O2+") && !strings.Contains(site.Expr, "push") && !strings.Contains(site.Expr, "call") {
			increments++
			if len(e.Before) != 4 || e.After[0] != e.Before[0]+1 {
				t.Errorf("%s stores %v after %v", site.Expr, e.After, e.Before)
			}
		}
	}
	if increments != 5 {
		t.Errorf("%d increments", increments)
	}
	if n := r.Events(); n < 10_000 {
		t.Errorf("%d events", n)
	}
}

func TestSymbolsOfTheLibrary(t *testing.T) {
	if _, err := os.Stat("/lib64/ld-linux-x86-64.so.2"); err != nil {
		t.Log("nothing was run: this machine has no dynamic linker for x86-64")
		return
	}
	path := "../../examples/binary/bin/twovar.O0"
	p, err := linux.New(linux.Config{Path: path, Args: []string{path}})
	if err != nil {
		t.Fatal(err)
	}
	p.Run()
	s := NewSymbols(p.Mem)
	malloc := s.Find("malloc")
	if malloc == 0 || s.Name(malloc) == "" || !strings.Contains(s.Name(malloc+3), "+0x3") {
		t.Errorf("malloc is at %#x, named %q", malloc, s.Name(malloc+3))
	}
	if s.Name(8) != "" || s.Find("no_such_function") != 0 {
		t.Error("names for nothing")
	}
}
