package linux

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/emu/abi"
	"github.com/cofferdam-go/cofferdam/internal/emu/cpu"
	"github.com/cofferdam-go/cofferdam/internal/event"
)

const examples = "../../../examples/binary/bin/"

// dynamic reports whether programs that need the host's C library can be run; if not, it
// says so.
func dynamic(t *testing.T) bool {
	t.Helper()
	if _, err := os.Stat("/lib64/ld-linux-x86-64.so.2"); err != nil {
		t.Logf("nothing was run: this machine (%s/%s) has no dynamic linker for x86-64", runtime.GOOS, runtime.GOARCH)
		return false
	}
	return true
}

// run runs a program to its end.
func run(t *testing.T, c Config) (*Process, *Exit, string) {
	t.Helper()
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	if c.Args == nil {
		c.Args = []string{c.Path}
	}
	p, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return p, p.Run(), out.String()
}

func TestEveryServiceOfTheKernel(t *testing.T) {
	if !dynamic(t) {
		return
	}
	p, exit, out := run(t, Config{Path: "testdata/services", Args: []string{"services", "argument"}, Env: []string{"VARIABLE=value"}, Stdin: strings.NewReader("a line\n")})
	if out != "all right\n" || exit.Code != 3 || exit.Reason != Exited {
		t.Errorf("%q, %+v", out, exit)
	}
	if _, err := os.Stat("/tmp/cofferdam-renamed"); err == nil {
		t.Error("a file was made on the host")
	}
	notes := strings.Join(p.Notes(), "\n")
	if !strings.Contains(notes, "socket of family 99") {
		t.Errorf("the notes do not mention a socket of family 99: %s", notes)
	}
}

func TestTheExamplesRunToTheirEnd(t *testing.T) {
	if !dynamic(t) {
		return
	}
	all, err := filepath.Glob(examples + "*")
	if err != nil || len(all) != 12 {
		t.Fatalf("%d examples: %v", len(all), err)
	}
	for _, path := range all {
		p, exit, out := run(t, Config{Path: path})
		if exit.Reason != Exited || exit.Code != 0 || len(p.Threads()) != 3 {
			t.Errorf("%s: %+v, %d threads, %s", path, exit, len(p.Threads()), out)
		}
	}
}

func TestProgramsOfTheSystem(t *testing.T) {
	if !dynamic(t) {
		return
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"/bin/echo", "hello", "world"}, "hello world\n"},
		{[]string{"/bin/sed", "-e", "s/i/I/g"}, "one\nthIrd\n"},
		{[]string{"/bin/sh", "-c", "read x; echo $((6*7)) $x"}, "42 one\n"},
		{[]string{"/usr/bin/sort", "-r"}, "third\none\n"},
		{[]string{"/usr/bin/perl", "-ne", "print length, qq( ); printf q(%.3f ), 1/3"}, "4 0.333 6 0.333 "},
	} {
		if _, err := os.Stat(c.args[0]); err != nil {
			t.Logf("%s is not here", c.args[0])
			continue
		}
		_, exit, out := run(t, Config{Path: c.args[0], Args: c.args, Env: []string{"LC_ALL=C"}, Stdin: strings.NewReader("one\nthird\n")})
		if out != c.want || exit.Code != 0 {
			t.Errorf("%v: %q, %+v", c.args, out, exit)
		}
	}
}

func TestARunIsAlwaysTheSame(t *testing.T) {
	if !dynamic(t) {
		return
	}
	counts := map[uint64]bool{}
	for range 3 {
		p, _, _ := run(t, Config{Path: examples + "toctou.O0", Args: []string{"toctou", "50"}})
		counts[p.Instructions()] = true
	}
	if len(counts) != 1 {
		t.Errorf("runs of %v instructions", counts)
	}
}

// ofTheProgram reports whether an access is to variables of the program.
func ofTheProgram(p *Process) func(*cpu.Ref) bool {
	return func(r *cpu.Ref) bool {
		a, ok := p.Mem.Area(r.Addr)
		return ok && a.File != nil && strings.HasSuffix(a.Name, "toctou.O0")
	}
}

func TestAScheduleThatFailsIsRepeatedFromASnapshot(t *testing.T) {
	if !dynamic(t) {
		return
	}
	var out bytes.Buffer
	p, err := New(Config{Path: examples + "toctou.O0", Args: []string{"toctou"}, Stdout: &out, Stderr: &out})
	if err != nil {
		t.Fatal(err)
	}
	visible := ofTheProgram(p)
	var ref cpu.Ref
	for len(p.Threads()) < 3 && p.Exit() == nil {
		p.Advance(p.Threads()[0], 1000, &ref, visible, true)
	}
	snapshot := p.Snapshot()
	for round := range 3 {
		out.Reset()
		// Each thread a visible step at a time, the second a little ahead.
		for turn := 0; p.Exit() == nil; turn++ {
			any := false
			for i, thread := range p.Threads() {
				for range 1 + i%2 {
					if p.Exit() == nil && p.Ready(thread) {
						any = true
						p.Advance(thread, 100_000, &ref, visible, true)
					}
				}
			}
			if !any && p.Exit() == nil && !p.Idle() {
				t.Fatal("a deadlock")
			}
		}
		if e := p.Exit(); e.Reason != Killed || e.Signal != abi.SIGABRT || !strings.Contains(out.String(), "Assertion `first == counter' failed") {
			t.Fatalf("round %d: %+v, %q", round, e, out.String())
		}
		p.Restore(snapshot)
		if p.Exit() != nil || len(p.Threads()) != 3 {
			t.Fatal("it was not restored")
		}
	}
}

func TestWatchingTellsOfThreadsAndAccesses(t *testing.T) {
	if !dynamic(t) {
		return
	}
	var out bytes.Buffer
	p, err := New(Config{Path: examples + "publish.O2", Args: []string{"publish"}, Stdout: &out, Stderr: &out})
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[uint32]map[event.Kind]int{}
	p.Watch(func(thread *Thread, done []event.Access) {
		if kinds[thread.Number] == nil {
			kinds[thread.Number] = map[event.Kind]int{}
		}
		for _, a := range done {
			kinds[thread.Number][a.Kind]++
		}
	})
	p.Run()
	if kinds[1][event.Go] != 2 || kinds[2][event.Start] != 1 || kinds[3][event.End] != 1 || kinds[2][event.Store] == 0 || kinds[1][event.AtomicCompare] == 0 {
		t.Errorf("%v", kinds)
	}
}

func TestEndsThatNoProgramWants(t *testing.T) {
	if !dynamic(t) {
		return
	}
	_, exit, _ := run(t, Config{Path: examples + "toctou.O0", Args: []string{"toctou", "1000000"}, Limit: 200_000})
	if exit.Reason != Limited {
		t.Errorf("%+v", exit)
	}
	if _, err := New(Config{Path: "testdata/build.sh"}); err == nil || !strings.Contains(err.Error(), "script") {
		t.Errorf("a script: %v", err)
	}
	for path, want := range map[string]string{"testdata": "directory", cutOff(t): "cut off"} {
		if _, err := New(Config{Path: path}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
	}
	if _, err := New(Config{Path: "testdata/nothing"}); err == nil {
		t.Error("a file that is not there was loaded")
	}
	if _, err := New(Config{Path: "linux_test.go"}); err == nil {
		t.Error("a text was loaded")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := New(Config{Path: exe}); err == nil || runtime.GOARCH == "amd64" && runtime.GOOS == "linux" && !strings.Contains(err.Error(), "Go program") {
		t.Errorf("a Go program: %v", err)
	}
}

func TestEverySystemCallHasOneName(t *testing.T) {
	for name := range calls {
		found := 0
		for n := range uint64(len(byNumber)) {
			if abi.CallName(n) == name {
				found++
			}
		}
		if found != 1 {
			t.Errorf("%s has %d numbers", name, found)
		}
	}
	for n, want := range map[uint64]string{0: "read", 202: "futex", 334: "rseq", 435: "clone3", 400: "unknown"} {
		if got := abi.CallName(n); got != want {
			t.Errorf("%d is %s, want %s", n, got, want)
		}
	}
}

// cutOff is the beginning of a program.
func cutOff(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile("testdata/services")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, data[:64], 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}
