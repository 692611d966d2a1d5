package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/cofferdam-go/cofferdam/internal/explore"
)

func init() { scriptCommands["campaign-elsewhere"] = campaignElsewhere }

// joinLine is what a campaign with a port tells workers.
var joinLine = regexp.MustCompile(`cofferdam worker -join (\S+) -trust (\S+)`)

// campaignElsewhere runs a campaign whose work is done on another machine: by a worker with a home, a
// directory and an environment of its own, which finds neither Go nor the source. The arguments are
// those of the campaign; those of the worker are in $WORKER. What both have written is in the files
// campaign.out, campaign.err and worker.err.
func campaignElsewhere(ts *testscript.TestScript, neg bool, args []string) {
	binary, err := exec.LookPath("cofferdam")
	ts.Check(err)
	machine := ts.MkAbs("machine")
	for _, dir := range []string{"bin", "home", "tmp", "work"} {
		ts.Check(os.MkdirAll(filepath.Join(machine, dir), 0o777))
	}
	text, err := os.ReadFile(binary)
	ts.Check(err)
	own := filepath.Join(machine, "bin", "cofferdam")
	ts.Check(os.WriteFile(own, text, 0o777))

	campaign := exec.Command(binary, append([]string{"campaign"}, args...)...)
	campaign.Dir, campaign.Env = ts.MkAbs("."), append(os.Environ(), "PWD="+ts.MkAbs("."), "HOME="+ts.Getenv("HOME"), "GOCACHE="+ts.Getenv("GOCACHE"), "COFFERDAM_TOKEN=secret")
	var stdout, stderr bytes.Buffer
	campaign.Stdout = &stdout
	told, err := campaign.StderrPipe()
	ts.Check(err)
	ts.Check(campaign.Start())
	defer func() { _ = campaign.Process.Kill() }() // or it has ended
	joined := make(chan []string, 1)
	var read sync.WaitGroup
	read.Go(func() {
		defer close(joined)
		lines := bufio.NewScanner(io.TeeReader(told, &stderr))
		for lines.Scan() {
			if words := joinLine.FindStringSubmatch(lines.Text()); words != nil {
				joined <- words
			}
		}
	})
	words, ok := <-joined
	if !ok {
		ts.Fatalf("the campaign has no port: %s", &stderr)
	}
	flags := strings.Fields(ts.Getenv("WORKER"))
	if explore.CheckLimits(explore.Limits{NoNetwork: true}) != nil {
		flags = append(flags, "-network", "host") // which is all that this machine allows
	}
	worker := exec.Command(own, append([]string{"worker", "-join", words[1], "-trust", words[2]}, flags...)...)
	worker.Dir = filepath.Join(machine, "work")
	worker.Env = []string{"PATH=" + filepath.Join(machine, "bin"), "HOME=" + filepath.Join(machine, "home"), "TMPDIR=" + filepath.Join(machine, "tmp"), "SECRET=1", "COFFERDAM_TOKEN=secret"}
	var workerErr bytes.Buffer
	worker.Stderr = &workerErr
	ts.Check(worker.Start())
	read.Wait()
	err = campaign.Wait()
	_ = worker.Process.Signal(os.Interrupt)
	_ = worker.Wait() // it was interrupted
	for name, text := range map[string]*bytes.Buffer{"campaign.out": &stdout, "campaign.err": &stderr, "worker.err": &workerErr} {
		ts.Check(os.WriteFile(ts.MkAbs(name), text.Bytes(), 0o666))
	}
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		ts.Check(err)
	}
	if (err == nil) == neg {
		ts.Fatalf("the campaign ended with %v\n%s%s%s", err, &stdout, &stderr, &workerErr)
	}
}
