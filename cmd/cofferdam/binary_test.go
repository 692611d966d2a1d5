package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/cmd/cofferdam/command"
	"github.com/cofferdam-go/cofferdam/internal/report"
	"github.com/cofferdam-go/cofferdam/internal/sli/draw"
)

// call runs the command as a shell would.
func call(t *testing.T, want int, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	if code := run(args, command.Streams{Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr}); code != want {
		t.Fatalf("cofferdam %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), code, want, &stdout, &stderr)
	}
	return stdout.String()
}

func TestAProgramWithoutSourceIsExploredReplayedAndPrinted(t *testing.T) {
	if _, err := os.Stat("/lib64/ld-linux-x86-64.so.2"); err != nil {
		t.Log("nothing was run: this machine has no dynamic linker for x86-64")
		return
	}
	program := filepath.Join("..", "..", "examples", "binary", "bin", "publish.O2")
	file := filepath.Join(t.TempDir(), "publish.trace")
	out := call(t, command.ExitFound, "explore", "-binary", program, "-o", file, "--", "3")
	for _, want := range []string{"FAIL  publish.O2", "SIGSEGV: reading 0x0, which is not mapped", "thread 2", "thread 3", "mov qword ptr [publish.O2+", "cofferdam replay "} {
		if !strings.Contains(out, want) {
			t.Errorf("the report has no %q:\n%s", want, out)
		}
	}
	if found := draw.Notation.FindString(out); found != "" {
		t.Errorf("people are told of %q:\n%s", found, out)
	}
	if out := call(t, 0, "replay", "-count", "2", file); strings.Count(out, "the same run: ") != 2 {
		t.Errorf("replayed: %s", out)
	}
	if out := call(t, 0, "trace", "-g", "3", "-kind", "load", file); !strings.Contains(out, "publish.O2+") {
		t.Errorf("printed: %.300s", out)
	}
	if out := call(t, 0, "trace", "-check", file); out != "" {
		t.Errorf("checked: %s", out)
	}
	if out := call(t, 0, "explore", "-binary", program, "-runs", "5", "--", "0"); !strings.HasPrefix(out, "ok    publish.O2") {
		t.Errorf("nothing to find: %s", out)
	}
	if out := call(t, 0, "explore", "-json", "-binary", program, "-runs", "5", "--", "0"); !strings.HasPrefix(out, `{"program":"publish.O2","failed":false,"schedules":`) {
		t.Errorf("as JSON: %s", out)
	}
	call(t, command.ExitError, "explore", "-binary", program, "./package")
	call(t, command.ExitError, "explore", "-binary", program, "-main")
	call(t, command.ExitError, "explore", "-binary", "binary_test.go")
}

func TestAProgramWithoutSourceIsFixedOrRefused(t *testing.T) {
	if _, err := os.Stat("/lib64/ld-linux-x86-64.so.2"); err != nil {
		t.Log("nothing was run: this machine has no dynamic linker for x86-64")
		return
	}
	programs := filepath.Join("..", "..", "internal", "emu", "drive", "testdata")
	file := filepath.Join(t.TempDir(), "fix.so")
	out := call(t, 0, "fix", "-binary", filepath.Join(programs, "splitupdate"), "-o", file, "-native", "2")
	for _, want := range []string{"FAIL  splitupdate", "How it comes about:", "The read operation, as a machine:", "Sections, all of one lock:", "add qword ptr", "Proof: ", "LD_PRELOAD=" + file} {
		if !strings.Contains(out, want) {
			t.Errorf("the report has no %q:\n%s", want, out)
		}
	}
	if object, err := os.ReadFile(file); err != nil || !bytes.HasPrefix(object, []byte("\x7fELF")) || len(object) > 16<<10 {
		t.Errorf("the patch: %d bytes, %v", len(object), err)
	}
	out = call(t, exitNoFix, "fix", "-binary", filepath.Join(programs, "lockorder"), "-o", file+"2", "-json")
	for _, want := range []string{fmt.Sprintf(`"version":%d`, report.FixVersion), `"fixed":false`, "no thread can go on", `"analysis":{"events":`} {
		if !strings.Contains(out, want) {
			t.Errorf("of a deadlock there is no %s: %s", want, out)
		}
	}
	if _, err := os.Stat(file + "2"); err == nil {
		t.Error("a refusal wrote a patch")
	}
	call(t, exitNoFailure, "fix", "-binary", filepath.Join(programs, "correct"), "-o", file+"2", "-runs", "5")
	call(t, command.ExitError, "fix", "-binary", filepath.Join(programs, "correct"))
	call(t, command.ExitError, "fix", "-binary", filepath.Join(programs, "correct"), "-o", file, "./package")
	call(t, command.ExitError, "fix", "-copy", "./package")
}
