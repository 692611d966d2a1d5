// Check runs everything that must pass before a change lands:
//
//	go run ./internal/check
//
// builds, checks the formatting, vets, runs staticcheck, the tests, and the tests
// under the race detector. It needs Go and, for the race detector alone, a C
// compiler. The first step that fails ends it.
package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/gotool"
)

// staticcheck is the version that the code is checked with.
const staticcheck = "honnef.co/go/tools/cmd/staticcheck@v0.8.2"

// timeout is when tests that hang say where, well before the check as a whole is given up.
const timeout = "4m"

// A step is one command. It fails if the command does, or if it prints something
// although it should be silent.
type step struct {
	name   string
	args   []string
	silent bool
}

var steps = []step{
	{"build", []string{"go", "build", "./...", "./bench/..."}, false},
	{"format", []string{"gofmt", "-l", "."}, true},
	{"vet", []string{"go", "vet", "./...", "./bench/..."}, false},
	{"staticcheck", []string{"go", "run", staticcheck, "./...", "./bench/..."}, false},
	{"test", []string{"go", "test", "-timeout", timeout, "./...", "./bench/..."}, false},
}

// race is for what users' programs link, and for what runs in several goroutines itself.
var race = step{"race", []string{"go", "test", "-timeout", timeout, "-race", "-short",
	"./isolate/...", "./stm/...", "./tolerate", "./internal/rt", "./internal/page", "./internal/finding", "./internal/sched", "./internal/trace"}, false}

func main() { os.Exit(run(os.Stdout, os.Stderr)) }

func run(stdout, stderr io.Writer) int {
	todo := steps
	if compiler := cCompiler(); compiler != "" {
		todo = append(todo, race)
	} else {
		fmt.Fprintln(stderr, "check: no C compiler, so NOT checked with the race detector: install gcc or clang for that")
	}
	for _, s := range todo {
		fmt.Fprintf(stdout, "== %s: %s\n", s.name, strings.Join(s.args, " "))
		start := time.Now()
		if err := s.run(stdout, stderr); err != nil {
			fmt.Fprintf(stderr, "check: %s failed: %v\n", s.name, err)
			return 1
		}
		fmt.Fprintf(stdout, "== %s: ok, %.1fs\n", s.name, time.Since(start).Seconds())
	}
	return 0
}

func (s step) run(stdout, stderr io.Writer) error {
	cmd := exec.Command(s.args[0], s.args[1:]...)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	if !s.silent {
		return cmd.Run()
	}
	cmd.Stdout = nil
	out, err := cmd.Output()
	if err == nil && len(out) > 0 {
		err = fmt.Errorf("%s names these files:\n%s", s.args[0], out)
	}
	return err
}

// cCompiler is the C compiler that the go command would use, if it is there.
func cCompiler() string {
	env, err := gotool.New("", nil).Environment()
	if err != nil {
		return ""
	}
	name, _, _ := strings.Cut(env.CC, " ")
	path, err := exec.LookPath(name)
	if err != nil {
		return ""
	}
	return path
}
