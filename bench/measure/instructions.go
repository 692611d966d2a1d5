package measure

import (
	"bufio"
	"context"
	"debug/buildinfo"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/gotool"
)

// Instructions are how many each function of a program executes, without those of the functions that
// it calls. Unlike times they do not depend on what else the machine does.
type Instructions map[string]uint64

// ErrNoValgrind says that instructions cannot be counted here.
var ErrNoValgrind = errors.New("instructions are counted by valgrind, which is not installed")

// calm keeps the runtime from what is not to be counted, and from signals, which callgrind does not
// always survive.
var calm = []string{"GODEBUG=asyncpreemptoff=1", "GOGC=off", "GOMAXPROCS=1"}

// Count has a child count its instructions while it does what it is asked for.
func Count[Request any](ask Request, program string, env []string, args ...string) (_ Instructions, err error) {
	valgrind, err := exec.LookPath("valgrind")
	if err != nil {
		return nil, ErrNoValgrind
	}
	dir, err := os.MkdirTemp("", "instructions")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if program, err = withSymbols(program, dir); err != nil {
		return nil, fmt.Errorf("counting instructions: %w", err)
	}
	file := filepath.Join(dir, "callgrind")
	cmd := exec.Command(valgrind, append([]string{"--tool=callgrind", "--quiet", "--callgrind-out-file=" + file, program}, args...)...)
	cmd.Env = append(append(os.Environ(), calm...), env...)
	child, err := StartChild(cmd)
	if err != nil {
		return nil, err
	}
	_, err = Ask[Took](child, ask)
	if err := errors.Join(err, child.Stop()); err != nil {
		return nil, fmt.Errorf("counting instructions: %w", err)
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("counting instructions: %w", err)
	}
	defer f.Close()
	return readCallgrind(f)
}

// withSymbols is a program with the names of its functions, by which callgrind tells them apart. What go run
// builds has none, and is built again.
func withSymbols(program, dir string) (string, error) {
	f, err := elf.Open(program)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if _, err := f.Symbols(); !errors.Is(err, elf.ErrNoSymbols) {
		return program, err
	}
	built, err := buildinfo.ReadFile(program)
	if err != nil {
		return "", err
	}
	again := filepath.Join(dir, "program")
	env := append(os.Environ(), "GOWORK=") // which is off for what is measured
	if _, err := gotool.New("", env).Output(context.Background(), "build", "-o", again, built.Path); err != nil {
		return "", fmt.Errorf("building it with the names of its functions: %w", err)
	}
	return again, nil
}

// readCallgrind adds up what callgrind has written: lines with a position and a cost, which belong to
// the function that was named last. A name comes with a number, and later is the number alone. The line
// behind a call has the cost of what was called.
func readCallgrind(r io.Reader) (Instructions, error) {
	counts, names := Instructions{}, map[string]string{}
	function, called := "", false
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		line := lines.Text()
		if rest, ok := strings.CutPrefix(line, "fn="); ok {
			number, name, _ := strings.Cut(rest, " ")
			if name != "" {
				names[number] = name
			}
			function = names[number]
			continue
		}
		if rest, ok := strings.CutPrefix(line, "cfn="); ok {
			if number, name, named := strings.Cut(rest, " "); named {
				names[number] = name
			}
			continue
		}
		if strings.HasPrefix(line, "calls=") {
			called = true
			continue
		}
		position, cost, ok := strings.Cut(line, " ")
		if !ok || position == "" || !strings.ContainsAny(position[:1], "0123456789+-*") {
			continue
		}
		n, err := strconv.ParseUint(cost, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("callgrind has written %q, which is no cost", line)
		}
		if !called {
			counts[function] += n
		}
		called = false
	}
	return counts, lines.Err()
}

// Per returns how many instructions the functions execute whose names end like this, divided by a
// number of times. Where the program is linked the assembler's functions have a suffix of their own.
func (i Instructions) Per(times int, suffixes ...string) float64 {
	sum := uint64(0)
	for name, n := range i {
		name = strings.TrimSuffix(name, ".abi0")
		for _, suffix := range suffixes {
			if strings.HasSuffix(name, suffix) {
				sum += n
			}
		}
	}
	return float64(sum) / float64(times)
}
