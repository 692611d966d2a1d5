package linux

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

func runChildren(t *testing.T, args ...string) (notes string, exit *Exit, out string) {
	t.Helper()
	p, exit, out := run(t, Config{Path: "testdata/children", Args: append([]string{"children"}, args...), Env: []string{"PATH=/usr/bin:/bin"}})
	return strings.Join(p.Notes(), "\n"), exit, out
}

// TestChildrenAreEmulated: by system, popen, fork, vfork and posix_spawn; what they write and
// remove is not the host's, and their ends are told as they were.
func TestChildrenAreEmulated(t *testing.T) {
	if !dynamic(t) {
		return
	}
	notes, exit, out := runChildren(t)
	if out != "from the shell\nyyz\nall right\n" || exit.Reason != Exited || exit.Code != 0 {
		t.Errorf("%q, %+v", out, exit)
	}
	for _, want := range []string{"outside control", "killed by SIGTERM"} {
		if !strings.Contains(notes, want) {
			t.Errorf("the notes do not mention %q: %s", want, notes)
		}
	}
	for _, name := range []string{"/tmp/cofferdam-child", "/tmp/cofferdam-script"} {
		if _, err := os.Stat(name); err == nil {
			t.Errorf("%s was made on the host", name)
		}
	}
}

func TestWhatIsNotEmulatedOfChildrenIsTold(t *testing.T) {
	if !dynamic(t) {
		return
	}
	if _, exit, _ := runChildren(t, "memory"); exit.Reason != Lacking || !strings.Contains(exit.Text, "shares with a child") {
		t.Errorf("memory: %+v", exit)
	}
	if _, exit, _ := runChildren(t, "exec"); exit.Reason != Lacking || !strings.Contains(exit.Text, "-binary /") {
		t.Errorf("a program in the place of this one: %+v", exit)
	}
	if notes, exit, _ := runChildren(t, "daemon"); exit.Reason != Exited || !strings.Contains(notes, "foreground") {
		t.Errorf("a daemon: %+v, %s", exit, notes)
	}
}

// TestAChildIsInASnapshot: a child that waits in a pipe when the snapshot is taken, with what
// it shares with its parent, is there again after each run.
func TestAChildIsInASnapshot(t *testing.T) {
	if !dynamic(t) {
		return
	}
	var out bytes.Buffer
	p, err := New(Config{Path: "testdata/children", Args: []string{"children", "threads"}, Stdout: &out, Stderr: &out})
	if err != nil {
		t.Fatal(err)
	}
	main := p.Threads()[0]
	for !main.Calling() || !p.CreatesThread(main) {
		if !p.Ready(main) && !p.Idle() || p.Exit() != nil {
			t.Fatal("it creates no thread")
		}
		p.Advance(main, 1_000_000, nil, nil, false)
	}
	if len(p.children) != 1 {
		t.Fatalf("%d children", len(p.children))
	}
	snapshot := p.Snapshot()
	for round := range 3 {
		p.Restore(snapshot)
		main.calling = false
		p.syscall(main)
		if exit := p.Run(); exit.Reason != Exited || exit.Code != 0 || len(p.children) != 0 {
			t.Errorf("round %d: %+v, %d children, %s", round, exit, len(p.children), out.String())
		}
	}
}
