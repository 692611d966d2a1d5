package exploring

import (
	"bufio"
	"context"
	"errors"
	"os/exec"
	"strings"
	"sync/atomic"
	"time"
)

// hangs is how long a test under go test may be silent until it counts as hanging.
const hangs = time.Second

// An attempt is one search for a failure.
type attempt struct {
	found   bool
	runs    int
	seconds float64 // to the failure
	what    string
}

// native runs a test of a test binary again and again until it fails, as go test -count
// does, or the time is up. A test that hangs has failed after the time that it took to
// begin the run that hangs.
func native(ctx context.Context, binary, dir, test string, bound time.Duration) (attempt, error) {
	ctx, cancel := context.WithTimeout(ctx, bound+hangs)
	defer cancel()
	cmd := exec.CommandContext(ctx, binary, "-test.run=^"+test+"$", "-test.count=1000000000", "-test.failfast", "-test.v", "-test.timeout=0")
	cmd.Dir = dir
	out, err := cmd.StdoutPipe()
	if err != nil {
		return attempt{}, err
	}
	cmd.Stderr = cmd.Stdout
	cmd.WaitDelay = time.Second
	var a attempt
	start := time.Now()
	if err := cmd.Start(); err != nil {
		return attempt{}, err
	}
	var began atomic.Int64 // the last run, in nanoseconds after the start
	stopped := make(chan bool)
	go watch(ctx, start, bound, &began, stopped, cancel)
	reader := bufio.NewReader(out)
	for {
		line, err := reader.ReadString('\n')
		if strings.HasPrefix(line, "=== RUN   "+test+"\n") {
			a.runs++
			began.Store(int64(time.Since(start)))
		} else if !a.found && failing(line) {
			a.found, a.what, a.seconds = true, strings.TrimSpace(line), time.Since(start).Seconds()
		}
		if err != nil {
			break
		}
	}
	close(stopped)
	werr := cmd.Wait()
	last := time.Duration(began.Load())
	switch exit := (*exec.ExitError)(nil); {
	case a.found:
	case ctx.Err() != nil && time.Since(start)-last >= hangs:
		a.found, a.what, a.seconds = true, "hangs", last.Seconds()
	case ctx.Err() == nil && errors.As(werr, &exit):
		a.found, a.what, a.seconds = true, exit.String(), time.Since(start).Seconds()
	case ctx.Err() == nil && werr != nil:
		return a, werr
	}
	if !a.found {
		a.seconds = time.Since(start).Seconds()
	}
	return a, nil
}

// watch ends the program when the time is up and it does not hang.
func watch(ctx context.Context, start time.Time, bound time.Duration, began *atomic.Int64, stopped <-chan bool, cancel func()) {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-stopped:
			return
		case <-tick.C:
			if now := time.Since(start); now > bound && now-time.Duration(began.Load()) < hangs/10 {
				cancel()
				return
			}
		}
	}
}

// failing reports whether a line of a test's output says that it failed.
func failing(line string) bool {
	return strings.HasPrefix(line, "--- FAIL") || strings.HasPrefix(line, "panic: ") || strings.HasPrefix(line, "fatal error: ") || strings.HasPrefix(line, "WARNING: DATA RACE")
}
