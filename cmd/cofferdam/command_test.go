package main

import (
	"context"
	"errors"
	"flag"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cofferdam-go/cofferdam/cmd/cofferdam/topics"
)

// newSample returns a command with a flag of each kind.
func newSample() *command {
	c := newCommand("sample", "[things]", "be tested")
	c.flags.Bool("v", false, "talk")
	c.flags.Int("n", 3, "a number")
	c.flags.Uint64("seed", 0, "a seed")
	c.flags.Duration("budget", time.Second, "a time")
	c.flags.String("run", "", "a `regexp`")
	c.work = func(context.Context, *invocation) error { return nil }
	return c
}

// values are the flags that were given.
func values(c *command) map[string]string {
	all := map[string]string{}
	c.flags.VisitAll(func(f *flag.Flag) {
		if f.Value.String() != f.DefValue {
			all[f.Name] = f.Value.String()
		}
	})
	return all
}

func TestFlagsAndOperandsComeInAnyOrder(t *testing.T) {
	for _, test := range []struct {
		args              string
		flags             map[string]string
		operands, program []string
	}{
		{"", map[string]string{}, nil, nil},
		{"a b", map[string]string{}, []string{"a", "b"}, nil},
		{"-v a -n 7 b", map[string]string{"v": "true", "n": "7"}, []string{"a", "b"}, nil},
		{"--v --n=7 a", map[string]string{"v": "true", "n": "7"}, []string{"a"}, nil},
		{"-v=false -run -x a", map[string]string{"run": "-x"}, []string{"a"}, nil},
		{"-run -- a", map[string]string{"run": "--"}, []string{"a"}, nil},
		{"-run=a=b -", map[string]string{"run": "a=b"}, []string{"-"}, nil},
		{"a -- -n 7 -- b", map[string]string{}, []string{"a"}, []string{"-n", "7", "--", "b"}},
		{"a -args -n 7", map[string]string{}, []string{"a"}, []string{"-n", "7"}},
		{"-lib.x 1 a --lib.y=2 -lib.z -v -- b", map[string]string{"v": "true"}, []string{"a"}, []string{"-lib.x", "1", "--lib.y=2", "-lib.z", "b"}},
		{"-C x -- ", map[string]string{"C": "x"}, nil, nil},
	} {
		c := newSample()
		c.runsProgram = true
		got, err := parseArguments(c, strings.Fields(test.args))
		if err != nil {
			t.Errorf("%s: %v", test.args, err)
			continue
		}
		if diff := cmp.Diff(test.flags, values(c)); diff != "" {
			t.Errorf("%s: flags: %s", test.args, diff)
		}
		if diff := cmp.Diff([][]string{test.operands, test.program}, [][]string{got.operands, append([]string(nil), got.program...)}); diff != "" {
			t.Errorf("%s: %s", test.args, diff)
		}
	}
}

func TestWhatFollowsTwoDashesIsAnOperandWhereNoProgramIsRun(t *testing.T) {
	got, err := parseArguments(newSample(), []string{"a", "--", "-v"})
	if err != nil || !cmp.Equal(got.operands, []string{"a", "-v"}) || got.program != nil {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestBadFlagsAreRefusedWithWhatToDo(t *testing.T) {
	for args, want := range map[string]string{
		"-x":         "there is no flag -x; see cofferdam sample -help",
		"-budgt 3s":  "there is no flag -budgt (did you mean -budget?); see",
		"-n":         "-n needs a value; see",
		"-n x":       "-n x: give a whole number; see",
		"-seed -1":   "-seed -1: give a whole number, 0 or more; see",
		"-v=maybe":   "-v maybe: give true or false; see",
		"-budget=10": "-budget 10: give a time with its unit, such as 30s or 2m; see",
	} {
		if _, err := parseArguments(newSample(), strings.Fields(args)); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v, want %s", args, err, want)
		}
	}
}

func TestHelpIsAskedForAnywhereBeforeTheProgram(t *testing.T) {
	for _, args := range []string{"-h", "a -help", "-v --help a"} {
		if _, err := parseArguments(newSample(), strings.Fields(args)); !errors.Is(err, flag.ErrHelp) {
			t.Errorf("%s: %v", args, err)
		}
	}
	if _, err := parseArguments(newSample(), []string{"--", "-h"}); err != nil {
		t.Error(err)
	}
}

func TestFlagsThatExcludeEachOther(t *testing.T) {
	c := newSample()
	if _, err := parseArguments(c, []string{"-v", "-n", "7"}); err != nil {
		t.Fatal(err)
	}
	if err := c.exclusive("v", "run"); err != nil {
		t.Error(err)
	}
	if err := c.exclusive("v", "run", "n"); err == nil || !strings.Contains(err.Error(), "-v and -n do not go together") {
		t.Error(err)
	}
}

// TestHelpIsWhole: each command tells what it does, gives an example, describes each flag
// and fits a terminal.
func TestHelpIsWhole(t *testing.T) {
	names := map[string]bool{}
	for _, c := range commands() {
		if names[c.name] {
			t.Errorf("there are two commands %s", c.name)
		}
		names[c.name] = true
		text := c.help()
		if c.short == "" || c.long == "" || c.work == nil {
			t.Errorf("%s is not whole", c.name)
		}
		if c.name != "version" && !strings.Contains(text, "\n  cofferdam "+c.name+" ") {
			t.Errorf("%s has no example", c.name)
		}
		c.flags.VisitAll(func(f *flag.Flag) {
			if f.Usage == "" || !strings.Contains(text, "\n  -"+f.Name) {
				t.Errorf("%s: -%s is not described", c.name, f.Name)
			}
		})
		checkWidth(t, c.name, text)
	}
	for _, topic := range topics.All {
		if names[topic.Name] {
			t.Errorf("%s is a topic and a command", topic.Name)
		}
		checkWidth(t, topic.Name, topic.Text)
	}
}

func checkWidth(t *testing.T, name, text string) {
	t.Helper()
	for _, line := range strings.Split(text, "\n") {
		if len(line) > 92 || strings.TrimRight(line, " \t") != line {
			t.Errorf("help %s: a line is too long or ends in blanks: %q", name, line)
		}
	}
}

func TestACommandIsCalledWithItsArguments(t *testing.T) {
	var got *invocation
	c := newSample()
	c.work = func(_ context.Context, inv *invocation) error {
		got = inv
		return &exitCode{code: 7}
	}
	dir := t.TempDir()
	t.Chdir(".") // comes back here
	err := c.start(streams{nil, io.Discard, io.Discard}, []string{"a", "-C", dir})
	if exit := (&exitCode{}); !errors.As(err, &exit) || exit.code != 7 || got == nil || got.dir != dir || !cmp.Equal(got.operands, []string{"a"}) {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestTheHintToReplayWorksAsPrinted(t *testing.T) {
	for _, test := range []struct{ dir, file, want string }{
		{"", "TestX.trace", "cofferdam replay TestX.trace"},
		{"examples/races", "out/TestX.trace", "cofferdam replay -C examples/races out/TestX.trace"},
		{"my project", "it's.trace", `cofferdam replay -C 'my project' 'it'\''s.trace'`},
		{"", "-x.trace", "cofferdam replay ./-x.trace"},
	} {
		if got := replayCommand(test.dir, test.file); got != test.want {
			t.Errorf("%s, want %s", got, test.want)
		}
	}
}
