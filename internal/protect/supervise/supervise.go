// Package supervise runs protected programs under the go command, and gathers what they
// find.
//
// A protected program writes its findings to a file of its own (package watch) in a
// directory that its environment names: one when it starts, which also says that it has
// started, and again with each finding. So what was found is known at any time, of all
// processes of a test run, and even of a process that crashed.
//
//	cofferdam --starts--> go run --starts--> the program
//	    |                                        |
//	    |   signals                              | findings
//	    `--------------> DIR/4711.json <---------'
//
//	supervise.go                     the whole
//	signal_unix.go, signal_other.go  a signal for one process
package supervise

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/cofferdam-go/cofferdam/internal/finding"
	"github.com/cofferdam-go/cofferdam/internal/protect/watch"
	"github.com/cofferdam-go/cofferdam/internal/scratch"
)

// A Run is a go command that runs programs.
type Run struct {
	cmd *exec.Cmd
	dir string
}

// Start starts a go command, whose environment must be set. The Run has to be closed.
func Start(cmd *exec.Cmd) (*Run, error) {
	dir, err := scratch.Dir()
	if err != nil {
		return nil, err
	}
	cmd.Env = append(cmd.Env[:len(cmd.Env):len(cmd.Env)], watch.Directory+"="+dir)
	if err := cmd.Start(); err != nil {
		scratch.Remove(dir)
		return nil, err
	}
	return &Run{cmd, dir}, nil
}

// Wait waits for the end of the go command.
func (r *Run) Wait() error { return r.cmd.Wait() }

// Close removes what is on disk.
func (r *Run) Close() error { return scratch.Remove(r.dir) }

// Processes returns how many processes of the program have started.
func (r *Run) Processes() int { return len(r.files()) }

// files are what the processes write to.
func (r *Run) files() []string {
	names, err := filepath.Glob(filepath.Join(r.dir, "*.json"))
	if err != nil {
		panic("supervise: " + err.Error()) // the pattern is wrong
	}
	return names
}

// Findings returns what the processes have found so far.
func (r *Run) Findings() ([]finding.Finding, error) {
	var log finding.Log
	for _, name := range r.files() {
		f, err := os.Open(name)
		if err != nil {
			return nil, fmt.Errorf("reading the findings of a process: %w", err)
		}
		all, err := finding.ReadJSON(f)
		f.Close()
		if err != nil {
			return nil, fmt.Errorf("reading the findings of a process: %w", err)
		}
		for _, one := range all {
			log.Add(one)
		}
	}
	return log.Findings(), nil
}

// Signal sends a signal to the processes of the program; while there are none, to the go
// command, which builds. Go run passes no signal on, and dies of some without its program.
func (r *Run) Signal(s syscall.Signal) {
	names := r.files()
	if len(names) == 0 {
		_ = r.cmd.Process.Signal(s) // it may have ended
	}
	for _, name := range names {
		pid, err := strconv.Atoi(strings.TrimSuffix(filepath.Base(name), ".json"))
		if err != nil {
			continue
		}
		signal(pid, s)
	}
}
