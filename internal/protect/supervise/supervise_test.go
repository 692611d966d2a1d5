package supervise

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/finding"
)

// start runs a script of the shell in place of the go command, and returns when the script
// has written a line.
func start(t *testing.T, script string) *Run {
	t.Helper()
	cmd := exec.Command("sh", "-c", script)
	cmd.Env = os.Environ()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	r, err := Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	if _, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestASignalIsForTheProcessesOfTheProgram(t *testing.T) {
	// The first shell is the go command, which ignores signals; the second one is the
	// program, which ends with 7 at a signal.
	r := start(t, `
sh -c 'trap "exit 7" TERM; : > "$COFFERDAM_FINDINGS/$$.json"; echo started; while :; do :; done' &
trap "" TERM
wait $!
exit $?`)
	if n := r.Processes(); n != 1 {
		t.Errorf("%d processes have started", n)
	}
	r.Signal(syscall.SIGTERM)
	_ = r.Wait()
	if code := r.cmd.ProcessState.ExitCode(); code != 7 {
		t.Errorf("the program ended with %d", code)
	}
}

func TestASignalIsForTheGoCommandWhileItBuilds(t *testing.T) {
	r := start(t, `trap "exit 3" TERM; echo building; while :; do :; done`)
	if n := r.Processes(); n != 0 {
		t.Errorf("%d processes have started", n)
	}
	r.Signal(syscall.SIGTERM)
	_ = r.Wait()
	if code := r.cmd.ProcessState.ExitCode(); code != 3 {
		t.Errorf("the go command ended with %d", code)
	}
}

func TestAProcessOfAnotherGroupIsLeftAlone(t *testing.T) {
	other := exec.Command("cat")
	other.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := other.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	r := start(t, "echo ended")
	if err := r.Wait(); err != nil {
		t.Error(err)
	}
	for _, name := range []string{"nobody.json", "999999999.json", strconv.Itoa(other.Process.Pid) + ".json"} {
		if err := os.WriteFile(filepath.Join(r.dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r.Signal(syscall.SIGTERM)
	in.Close()
	if err := other.Wait(); err != nil {
		t.Errorf("a process of another group was ended: %v", err)
	}
}

func TestFindingsOfAllProcessesAreGathered(t *testing.T) {
	r := start(t, "echo ended")
	if err := r.Wait(); err != nil {
		t.Error(err)
	}
	for name, explanation := range map[string]string{"1": "one", "2": "another"} {
		f, err := os.Create(filepath.Join(r.dir, name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		all := []finding.Finding{{Kind: "violation", Explanation: explanation, History: finding.Once("", 0, time.Time{}), Accesses: []finding.Access{{Op: finding.Write, Stack: []finding.Frame{{Function: explanation}}}}}}
		if err := finding.WriteJSON(f, all); err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	all, err := r.Findings()
	if err != nil || len(all) != 2 {
		t.Errorf("%d findings, %v", len(all), err)
	}
	if err := os.WriteFile(filepath.Join(r.dir, "3.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Findings(); err == nil || !strings.Contains(err.Error(), "reading the findings of a process") {
		t.Errorf("findings that cannot be read: %v", err)
	}
}

func TestWhatCannotBeStartedLeavesNothing(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	if _, err := Start(exec.Command("/nowhere/go")); err == nil {
		t.Error("started")
	}
	if left, err := os.ReadDir(os.TempDir()); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
}
