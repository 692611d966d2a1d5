//go:build unix

package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"
)

func init() {
	scriptCommands["interrupt"] = interrupt
	scriptCommands["unread"] = unread
	scriptCommands["hide"] = hide
}

// hide is the command of scripts that takes the folders out of the PATH in which there is a program
// of that name.
func hide(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: hide PROGRAM")
	}
	var others []string
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		if _, err := os.Stat(filepath.Join(dir, args[0])); err != nil {
			others = append(others, dir)
		}
	}
	ts.Setenv("PATH", strings.Join(others, string(filepath.ListSeparator)))
}

// interrupt is the command of scripts that runs cofferdam and interrupts it when it says
// something:
//
//	interrupt REGEXP explore -budget 2m .
//
// It must exit with 130, and leave nothing behind in its directory for temporary files. What
// it has said is in the files stdout.txt and stderr.txt.
func interrupt(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: interrupt REGEXP COMMAND [ARGUMENTS]")
	}
	said := regexp.MustCompile(args[0])
	cmd := scriptCofferdam(ts, args[1:])
	stderr, err := cmd.StderrPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	var text strings.Builder
	interrupted := false
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		text.WriteString(lines.Text() + "\n")
		if !interrupted && said.MatchString(lines.Text()) {
			interrupted = true
			ts.Check(cmd.Process.Signal(os.Interrupt))
		}
	}
	_ = cmd.Wait()
	ts.Check(os.WriteFile(ts.MkAbs("stderr.txt"), []byte(text.String()), 0o666))
	ts.Logf("%s", text.String())
	if code := cmd.ProcessState.ExitCode(); !interrupted || code != 130 {
		ts.Fatalf("interrupted: %t, exit code %d, want 130", interrupted, code)
	}
	nothingLeft(ts)
}

// unread is the command of scripts that runs cofferdam and closes the pipe after the
// first byte of its output, as head -c1 does. It must exit with the code; what it says to
// standard error is in stderr.txt:
//
//	unread 141 explore .
func unread(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: unread CODE COMMAND [ARGUMENTS]")
	}
	cmd := scriptCofferdam(ts, append([]string{args[1], "-q"}, args[2:]...))
	read, write, err := os.Pipe()
	ts.Check(err)
	cmd.Stdout = write
	var stderr strings.Builder
	cmd.Stderr = &stderr
	ts.Check(cmd.Start())
	write.Close()
	_, err = read.Read(make([]byte, 1))
	ts.Check(err)
	read.Close()
	_ = cmd.Wait()
	ts.Check(os.WriteFile(ts.MkAbs("stderr.txt"), []byte(stderr.String()), 0o666))
	if code := cmd.ProcessState.ExitCode(); strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit code %d, want %s; %s", code, args[0], stderr.String())
	}
	nothingLeft(ts)
}

// scriptCofferdam returns a call of cofferdam in the script's directory, with a directory for
// temporary files of its own.
func scriptCofferdam(ts *testscript.TestScript, args []string) *exec.Cmd {
	temp := ts.MkAbs("temporary")
	ts.Check(os.MkdirAll(temp, 0o777))
	path := ""
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		if file := filepath.Join(dir, "cofferdam"); path == "" {
			if _, err := os.Stat(file); err == nil {
				path = file
			}
		}
	}
	cmd := exec.Command(path, args...)
	cmd.Dir = ts.MkAbs(".")
	for _, name := range []string{"PATH", "HOME", "GOCACHE", "GOPATH", "GOROOT", "GOCOVERDIR"} {
		if value := ts.Getenv(name); value != "" {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	cmd.Env = append(cmd.Env, "TMPDIR="+temp)
	stdout, err := os.Create(ts.MkAbs("stdout.txt"))
	ts.Check(err)
	ts.Defer(func() { stdout.Close() })
	cmd.Stdout = stdout
	// A group of its own: an interrupt is for cofferdam alone, which ends what it has started.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

func nothingLeft(ts *testscript.TestScript) {
	left, err := os.ReadDir(ts.MkAbs("temporary"))
	ts.Check(err)
	for _, entry := range left {
		ts.Fatalf("%s is left behind", entry.Name())
	}
}
