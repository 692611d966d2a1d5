package command

import (
	"context"
	"errors"
	"flag"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// newSample returns a command with a flag of each kind.
func newSample() *Command {
	c := New("sample", "[things]", "be tested")
	c.Flags.Bool("v", false, "talk")
	c.Flags.Int("n", 3, "a number")
	c.Flags.Uint64("seed", 0, "a seed")
	c.Flags.Duration("budget", time.Second, "a time")
	c.Flags.String("run", "", "a `regexp`")
	c.Work = func(context.Context, *Invocation) error { return nil }
	return c
}

// values are the flags that were given.
func values(c *Command) map[string]string {
	all := map[string]string{}
	c.Flags.VisitAll(func(f *flag.Flag) {
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
		c.RunsProgram = true
		got, err := parseArguments(c, strings.Fields(test.args))
		if err != nil {
			t.Errorf("%s: %v", test.args, err)
			continue
		}
		if diff := cmp.Diff(test.flags, values(c)); diff != "" {
			t.Errorf("%s: flags: %s", test.args, diff)
		}
		if diff := cmp.Diff([][]string{test.operands, test.program}, [][]string{got.Operands, append([]string(nil), got.Program...)}); diff != "" {
			t.Errorf("%s: %s", test.args, diff)
		}
	}
}

func TestWhatFollowsTwoDashesIsAnOperandWhereNoProgramIsRun(t *testing.T) {
	got, err := parseArguments(newSample(), []string{"a", "--", "-v"})
	if err != nil || !cmp.Equal(got.Operands, []string{"a", "-v"}) || got.Program != nil {
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
	if err := c.Exclusive("v", "run"); err != nil {
		t.Error(err)
	}
	if err := c.Exclusive("v", "run", "n"); err == nil || !strings.Contains(err.Error(), "-v and -n do not go together") {
		t.Error(err)
	}
}

func TestACommandIsCalledWithItsArguments(t *testing.T) {
	var got *Invocation
	c := newSample()
	c.Work = func(_ context.Context, inv *Invocation) error {
		got = inv
		return &Exit{Code: 7}
	}
	dir := t.TempDir()
	t.Chdir(".") // comes back here
	err := c.Start(Streams{nil, io.Discard, io.Discard}, []string{"a", "-C", dir})
	if exit := (&Exit{}); !errors.As(err, &exit) || exit.Code != 7 || got == nil || got.Dir != dir || !cmp.Equal(got.Operands, []string{"a"}) {
		t.Errorf("%+v, %v", got, err)
	}
}
