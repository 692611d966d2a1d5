package command

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// A stub is a measurement that does what its fields say.
type stub struct {
	quick   bool
	refuse  error
	measure func(*Session) (any, error)
	pattern *regexp.Regexp
	choice  *Choice
}

func (s *stub) Check(quick bool) error { s.quick = quick; return s.refuse }

func (s *stub) Measure(session *Session) (any, error) { return s.measure(session) }

// benchmark makes a benchmark of a stub.
func (s *stub) benchmark() *Benchmark {
	return &Benchmark{Name: "stub", About: "a stub", Usage: "[-only a,b] ", Help: "Measures nothing.", Quick: "even less",
		New: func(flags *flag.FlagSet) Measurement {
			s.pattern = Pattern(flags, "run", "what to run")
			s.choice = NewChoice(flags, "only", []string{"a", "b"})
			return s
		}}
}

func nothing(*Session) (any, error) { return nil, nil }

func TestFlagsAreReadCheckedAndExplained(t *testing.T) {
	for _, c := range []struct {
		args   []string
		refuse error
		code   int
		says   string // on standard error
	}{
		{[]string{}, nil, 0, ""},
		{[]string{"-h"}, nil, 0, "usage: bench stub [-quick] [-only a,b] [-json FILE]\n\nMeasures nothing."},
		{[]string{"-fast"}, nil, 2, "not defined: -fast"},
		{[]string{"more"}, nil, 2, `unexpected argument "more"`},
		{[]string{"-only", "a,c"}, nil, 2, `there is no "c"; there are a, b`},
		{[]string{"-run", "("}, nil, 2, "missing closing )"},
		{[]string{"-quick"}, errors.New("not on Sundays"), 2, "bench stub: not on Sundays"},
	} {
		var out, err bytes.Buffer
		s := &stub{refuse: c.refuse, measure: nothing}
		if code := s.benchmark().Run(c.args, &out, &err); code != c.code || !strings.Contains(err.String(), c.says) || out.Len() > 0 {
			t.Errorf("%q: exit code %d, want %d; error output %q, want %q in it; output %q", c.args, code, c.code, err.String(), c.says, out.String())
		}
	}
}

func TestMeasurementSeesItsFlags(t *testing.T) {
	s := &stub{measure: nothing}
	if code := s.benchmark().Run([]string{"-quick", "-only", "b", "-run", "^x$"}, io.Discard, io.Discard); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	if !s.quick || s.choice.Has("a") || !s.choice.Has("b") || !s.pattern.MatchString("x") || s.pattern.MatchString("xx") {
		t.Errorf("quick %t, a %t, b %t, pattern %q", s.quick, s.choice.Has("a"), s.choice.Has("b"), s.pattern)
	}
}

func TestResultsAreWrittenAlsoOfAMeasurementThatFails(t *testing.T) {
	file := filepath.Join(t.TempDir(), "results.json")
	s := &stub{measure: func(*Session) (any, error) { return map[string]int{"seen": 7}, errors.New("a wrong result") }}
	var err bytes.Buffer
	if code := s.benchmark().Run([]string{"-json", file}, io.Discard, &err); code != 1 || !strings.Contains(err.String(), "bench stub: a wrong result") {
		t.Errorf("exit code %d, %q", code, err.String())
	}
	text, _ := os.ReadFile(file)
	var got map[string]int
	if err := json.Unmarshal(text, &got); err != nil || got["seen"] != 7 {
		t.Errorf("%q: %v", text, err)
	}
}

func TestResultsThatCannotBeWrittenAreAnError(t *testing.T) {
	s := &stub{measure: func(*Session) (any, error) { return 1, nil }}
	if code := s.benchmark().Run([]string{"-json", filepath.Join(t.TempDir(), "no", "such")}, io.Discard, io.Discard); code != 1 {
		t.Errorf("exit code %d", code)
	}
}

func TestTemporaryFilesAreRemoved(t *testing.T) {
	var file string
	s := &stub{measure: func(session *Session) (any, error) {
		file = session.Temp("built")
		return nil, os.WriteFile(file, nil, 0o666)
	}}
	if code := s.benchmark().Run(nil, io.Discard, io.Discard); code != 0 {
		t.Fatalf("exit code %d", code)
	}
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is still there: %v", file, err)
	}
}

func TestWorkerIsServedInsteadOfMeasured(t *testing.T) {
	b := (&stub{measure: func(*Session) (any, error) { return nil, errors.New("measured") }}).benchmark()
	b.Worker = func(io.Reader, io.Writer) int { return 42 }
	if code := b.Run([]string{WorkerArgument}, io.Discard, io.Discard); code != 42 {
		t.Errorf("exit code %d", code)
	}
}

func TestNumbersThatMakeNoSenseAreRefused(t *testing.T) {
	runs := 0
	if err := CheckRounds(&runs, 7); err != nil || runs != 7 {
		t.Errorf("the default is %d, %v", runs, err)
	}
	runs = -1
	for name, err := range map[string]error{
		"-runs -1: there must be at least one": CheckRounds(&runs, 7),
		"-count 0: there must be at least one": AtLeastOne("count", 0),
		"-budget 0s: there must be some time":  SomeTime("budget", 0),
		"-budget -1s: there must be some time": SomeTime("budget", -time.Second),
	} {
		if err == nil || err.Error() != name {
			t.Errorf("got %v, want %s", err, name)
		}
	}
	if err := errors.Join(AtLeastOne("count", 1), SomeTime("budget", 1)); err != nil {
		t.Error(err)
	}
}

func TestRootIsTheMeasuredModule(t *testing.T) {
	s := &Session{Context: t.Context()}
	root, err := s.Root()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(root, "cmd", "cofferdam")); err != nil {
		t.Error(err)
	}
	if _, err := s.Go(root, "no-such-command"); err == nil || !strings.Contains(err.Error(), "unknown command") {
		t.Errorf("the error does not have what the go command said: %v", err)
	}
}

func TestModuleIsCopiedToWhereItCanBeChanged(t *testing.T) {
	from, to := t.TempDir(), filepath.Join(t.TempDir(), "copy")
	if err := os.MkdirAll(filepath.Join(from, "sub"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(from, "sub", "x.go"), []byte("package sub\n"), 0o444); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(from, "sub"), 0o555); err != nil {
		t.Fatal(err)
	}
	if err := copyWritable(to, from); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(to, "sub", "x.go"))
	if err != nil || info.Mode().Perm()&0o200 == 0 {
		t.Errorf("%v, %v", info, err)
	}
	if got := (Module{Path: "example.com/m", Version: "v1.0.0"}).Patterns(); len(got) != 1 || got[0] != "./..." {
		t.Errorf("a module without patterns is tried on %q", got)
	}
}
