package gotool_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cofferdam-go/cofferdam/internal/gotool"
)

// TestMain is the go command of these tests too: a link to the test binary with the name go
// stands for it on the path.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "go" {
		os.Exit(fakeGo(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// fakeGo does what its first argument says.
func fakeGo(args []string) int {
	switch args[0] {
	case "env":
		if log := os.Getenv("FAKE_LOG"); log != "" {
			f, err := os.OpenFile(log, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
			if err != nil {
				return 9
			}
			fmt.Fprintln(f, strings.Join(args, " "))
			f.Close()
		}
		fmt.Print(os.Getenv("FAKE_ENV"))
	case "where":
		dir, _ := os.Getwd()
		fmt.Println(dir, os.Getenv("FAKE_VARIABLE"))
	case "build":
		fmt.Println("on the way")
		fmt.Fprintln(os.Stderr, "# example.com/p\n./a.go:3:7: undefined: x\n\thave y\n./b.go:9: too late")
		return 2
	case "hang":
		fmt.Println("begun")
		select {}
	default:
		return 7
	}
	return 0
}

func fakePath(t *testing.T) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.Symlink(self, filepath.Join(dir, "go")); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
}

func TestOutputIsWhatTheCommandPrintsInItsDirectoryAndEnvironment(t *testing.T) {
	fakePath(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	tool := gotool.New(dir, append(os.Environ(), "FAKE_VARIABLE=set"))
	out, err := tool.Output(t.Context(), "where")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(out), dir+" set\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestFailedRunHasExitCodeOutputAndDiagnostics(t *testing.T) {
	fakePath(t)
	_, err := gotool.New("", nil).Output(t.Context(), "build", "./...")
	var failed *gotool.Error
	if !errors.As(err, &failed) {
		t.Fatalf("got %v, want an Error", err)
	}
	if failed.ExitCode != 2 {
		t.Errorf("exit code %d, want 2", failed.ExitCode)
	}
	if strings.Contains(failed.Stderr, "on the way") {
		t.Error("the standard output is among the complaints")
	}
	want := []gotool.Diagnostic{
		{File: "./a.go", Line: 3, Column: 7, Message: "undefined: x\n\thave y"},
		{File: "./b.go", Line: 9, Message: "too late"},
	}
	if diff := cmp.Diff(want, failed.Diagnostics()); diff != "" {
		t.Error(diff)
	}
	if want := "go build: exit status 2\n# example.com/p\n./a.go:3:7: undefined: x\n\thave y\n./b.go:9: too late"; err.Error() != want {
		t.Errorf("the error reads\n%s\nwant\n%s", err, want)
	}
}

func TestCombinedHasBothOutputsOfAFailedRun(t *testing.T) {
	fakePath(t)
	out, err := gotool.New("", nil).Combined(t.Context(), "build")
	var failed *gotool.Error
	if !errors.As(err, &failed) || failed.ExitCode != 2 {
		t.Errorf("got %v, want exit code 2", err)
	}
	if !strings.HasPrefix(out, "on the way\n# example.com/p\n") {
		t.Errorf("the output is %q", out)
	}
}

func TestEnvironmentIsReadOnce(t *testing.T) {
	fakePath(t)
	log := filepath.Join(t.TempDir(), "log")
	t.Setenv("FAKE_LOG", log)
	t.Setenv("FAKE_ENV", `{"GOROOT": "/goroot", "GOMODCACHE": "/cache", "GOWORK": "off", "GOOS": "plan9"}`)
	tool := gotool.New("", nil)
	for range 2 {
		e, err := tool.Environment()
		if err != nil {
			t.Fatal(err)
		}
		if e.GOROOT != "/goroot" || e.GOOS != "plan9" || e.Workspace() != "" {
			t.Errorf("the environment is %+v", e)
		}
	}
	asked, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if want := "env -json GOROOT GOVERSION GOOS GOARCH GOFLAGS GOMODCACHE GOPROXY GOMOD GOWORK CC\n"; string(asked) != want {
		t.Errorf("the go command was asked\n%swant\n%s", asked, want)
	}
}

func TestEnvironmentThatCannotBeReadIsAnError(t *testing.T) {
	fakePath(t)
	t.Setenv("FAKE_ENV", "no JSON")
	if _, err := gotool.New("", nil).Environment(); err == nil || !strings.Contains(err.Error(), "go env") {
		t.Errorf("got %v, want an error about go env", err)
	}
}

func TestEnvironmentKnowsWhereFilesAre(t *testing.T) {
	e := &gotool.Environment{GOROOT: "/goroot", GOMODCACHE: "/cache", GOWORK: "/work/go.work"}
	for name, want := range map[string]bool{"/cache/m@v1/a.go": true, "/cached/a.go": false, "/src/a.go": false} {
		if got := e.InModuleCache(filepath.FromSlash(name)); got != want {
			t.Errorf("%s in the module cache: %t", name, got)
		}
	}
	if (&gotool.Environment{}).InModuleCache("/a.go") {
		t.Error("without a module cache, a file is in it")
	}
	if got, want := e.Std("sync/mutex.go"), filepath.FromSlash("/goroot/src/sync/mutex.go"); got != want || !e.InStd(got) {
		t.Errorf("the file is %s, want %s, in the standard library", got, want)
	}
	if e.InStd(filepath.FromSlash("/goroot/srcs/a.go")) {
		t.Error("a directory beside the standard library is in it")
	}
	if e.Workspace() != "/work/go.work" {
		t.Errorf("the workspace is %q", e.Workspace())
	}
}

func TestWithoutAGoCommandTheErrorSaysWhatToDo(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := gotool.New("", nil).Output(t.Context(), "build"); !errors.Is(err, gotool.ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
}

func TestMissingDirectoryIsNoExitCode(t *testing.T) {
	fakePath(t)
	_, err := gotool.New(filepath.Join(t.TempDir(), "missing"), nil).Output(t.Context(), "where")
	var failed *gotool.Error
	if err == nil || errors.As(err, &failed) {
		t.Errorf("got %v, want an error that is no failed run", err)
	}
}

func TestCommandThatIsGivenUpEndsWithTheCause(t *testing.T) {
	fakePath(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	cmd := gotool.New("", nil).Command(ctx, "hang")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 5)); err != nil {
		t.Fatal(err)
	}
	cancel(enough)
	if err := gotool.Check(ctx, cmd, "", cmd.Wait()); !errors.Is(err, enough) {
		t.Errorf("got %v, want the cause", err)
	}
}

func TestCheckKeepsTheExitCode(t *testing.T) {
	fakePath(t)
	cmd := gotool.New("", nil).Command(t.Context(), "unknown")
	err := gotool.Check(t.Context(), cmd, "", cmd.Run())
	var failed *gotool.Error
	if !errors.As(err, &failed) || failed.ExitCode != 7 {
		t.Errorf("got %v, want exit code 7", err)
	}
	cmd = gotool.New("", nil).Command(t.Context(), "where")
	if err := gotool.Check(t.Context(), cmd, "", cmd.Run()); err != nil {
		t.Error(err)
	}
}

func TestDiagnosticsAreFoundAmongOtherLines(t *testing.T) {
	text := "# example.com/p\n" +
		"vet: ./a.go:3:7: undefined: x\n" +
		"C:\\src\\b.go:1: no column\r\n" +
		"go: downloading example.com/q v1.0.0\n" +
		"\tnot a continuation\n" +
		"FAIL\texample.com/p [build failed]\n"
	want := []gotool.Diagnostic{
		{File: "./a.go", Line: 3, Column: 7, Message: "undefined: x"},
		{File: `C:\src\b.go`, Line: 1, Message: "no column"},
	}
	got := gotool.ParseDiagnostics(text)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got[0].String() != "./a.go:3:7: undefined: x" || got[1].String() != `C:\src\b.go:1: no column` {
		t.Errorf("they read %q and %q", got[0], got[1])
	}
}

func TestComplaintIsNewIfItsMessageIs(t *testing.T) {
	before := "# example.com/p\n./p.go:3:5: copies lock\nvet: ./q.go:1:1: odd\n"
	after := "# example.com/p\n./p.go:9:5: copies lock\n./p.go:12:2: unreachable code\nexit status 1\n"
	if diff := cmp.Diff([]string{"./p.go:12:2: unreachable code"}, gotool.NewComplaints(before, after)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"./q.go:1:1: odd"}, gotool.NewComplaints(after, before)); diff != "" {
		t.Error(diff)
	}
}
