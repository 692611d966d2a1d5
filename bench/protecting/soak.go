package protecting

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/cofferdam-go/cofferdam/bench/command"
	"github.com/cofferdam-go/cofferdam/internal/finding"
)

// Soak is go run ./bench protect-soak.
var Soak = &command.Benchmark{
	Name:  "protect-soak",
	About: "a protected server under load for an hour",
	Usage: "[-for TIME] [-mode MODE] ",
	Help: `Builds an HTTP server with careless handlers by cofferdam build -protect -monitor, and keeps it
under load: requests of eight clients, collections of garbage, SIGUSR1, profiles of the
processor, metrics, and a limit on memory. A request that is not answered within 30 s, a
sale that is not counted, a section in which data changes, and goroutines or memory that
grow from the first tenth of the time to the end are failures. An access that has waited for
a second is let into its section, and told as surrendered: on a machine that leaves a section
without a processor for so long, so many sections may find their data changed. At the end the
server gets SIGTERM, and must have told what it found.`,
	Quick: "20 seconds, for a look",
	New: func(flags *flag.FlagSet) command.Measurement {
		s := &soak{}
		flags.DurationVar(&s.Time, "for", time.Hour, "how long")
		flags.StringVar(&s.Mode, "mode", "auto", "how data is protected: `mode` of -protect")
		return s
	},
}

// A soak is one run of the command, and what -json writes.
type soak struct {
	Time     time.Duration
	Mode     string
	Requests int64
	Sales    int64 // that clients have made
	Early    soakState
	Last     soakState
	// Findings are what the server has told by the end, Surrendered how many accesses were let into
	// sections by that.
	Findings    []string
	Surrendered uint64
	Failures    []string

	told []finding.Finding
}

// A soakState is what the server says of itself, as its type Report has it.
type soakState struct {
	Sales, Broken int64
	Goroutines    int
	Heap          uint64
	Collections   uint32
}

// Check completes the flags.
func (s *soak) Check(quick bool) error {
	if quick {
		s.Time = 20 * time.Second
	}
	if s.Time < time.Second {
		return errors.New("-for has to be a second or more")
	}
	return nil
}

const soakClients = 8

// Measure runs the command.
func (s *soak) Measure(c *command.Session) (any, error) {
	tool, err := c.Cofferdam()
	if err != nil {
		return nil, err
	}
	root, err := c.Root()
	if err != nil {
		return nil, err
	}
	binary, file := c.Temp("server"), c.Temp("found.jsonl")
	build := exec.CommandContext(c.Context, tool, "build", "-protect="+s.Mode, "-monitor", "-findings", file, "-findings-limit", "1MB", "-o", binary, "./protecting/soaking")
	build.Dir, build.Stderr = filepath.Join(root, "bench"), c.Err
	if err := build.Run(); err != nil {
		return nil, fmt.Errorf("building the server: %w", err)
	}
	if err := s.serve(c, binary, file); err != nil {
		return nil, err
	}
	fmt.Fprintf(c.Out, "%v, -protect=%s: %d requests, %d sales, %d sections disturbed, %d accesses surrendered, %d collections; heap %d and %d KiB, goroutines %d and %d, early and at the end; %d findings\n",
		s.Time, s.Mode, s.Requests, s.Sales, s.Last.Broken, s.Surrendered, s.Last.Collections, s.Early.Heap>>10, s.Last.Heap>>10, s.Early.Goroutines, s.Last.Goroutines, len(s.Findings))
	for _, f := range s.Findings {
		fmt.Fprintln(c.Out, "  "+f)
	}
	for _, f := range s.Failures {
		fmt.Fprintln(c.Out, "failed:", f)
	}
	if len(s.Failures) > 0 {
		return s, fmt.Errorf("%d failures", len(s.Failures))
	}
	return s, nil
}

// serve starts the server, has it soaked, ends it, and looks at what is left.
func (s *soak) serve(c *command.Session, binary, file string) error {
	server := exec.Command(binary)
	server.Env = append(os.Environ(), "GOMEMLIMIT=64MiB", "GOGC=20")
	var errs bytes.Buffer
	server.Stderr = &errs
	out, err := server.StdoutPipe()
	if err != nil {
		return err
	}
	if err := server.Start(); err != nil {
		return err
	}
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		return errors.Join(fmt.Errorf("the server says nothing: %s", errs.String()), server.Process.Kill(), server.Wait())
	}
	s.drive(c, "http://"+strings.TrimSpace(address), server.Process)
	if err := server.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Wait() }()
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		s.fail("the server does not end at SIGTERM")
		return errors.Join(server.Process.Kill(), <-ended)
	}
	if state, ok := server.ProcessState.Sys().(syscall.WaitStatus); ok && state.Signal() != syscall.SIGTERM {
		s.fail("the server ended otherwise than by SIGTERM: %v\n%s", server.ProcessState, errs.String())
	}
	return s.read(file, errs.String())
}

// read looks at what the server has written and printed. The files have the latest findings alone, because they are
// limited; all of what was printed has to be in them or in what the server told when it was asked.
func (s *soak) read(file, printed string) error {
	var log finding.Log
	for _, f := range s.told {
		s.Findings = append(s.Findings, f.Headline())
		log.Add(f)
	}
	names, err := filepath.Glob(file + "*")
	if err != nil {
		return err
	}
	for _, name := range names {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		all, err := finding.ReadJSON(f)
		f.Close()
		if err != nil {
			s.fail("%s: %v", filepath.Base(name), err)
		}
		for _, one := range all {
			log.Add(one)
		}
	}
	for _, f := range log.Findings() {
		if !strings.Contains(printed, f.ID().String()) {
			s.fail("finding %v was not printed at the end", f.ID())
		}
	}
	return nil
}

func (s *soak) fail(format string, args ...any) {
	s.Failures = append(s.Failures, fmt.Sprintf(format, args...))
}

// drive makes requests for as long as it is to last, and compares the server's own count.
func (s *soak) drive(c *command.Session, server string, process *os.Process) {
	ctx, stop := context.WithTimeout(c.Context, s.Time)
	defer stop()
	client := &http.Client{Timeout: 30 * time.Second}
	var requests, sales atomic.Int64
	var mu sync.Mutex // guards Failures
	get := func(path string) []byte {
		body, err := fetch(client, server+path)
		requests.Add(1)
		if err != nil {
			mu.Lock()
			defer mu.Unlock()
			s.fail("GET %s: %v", path, err)
			stop()
		}
		return body
	}
	report := func() (state soakState) {
		_ = json.Unmarshal(get("/report"), &state) // a failed request was noted
		return state
	}
	var clients sync.WaitGroup
	for n := range soakClients {
		clients.Go(func() {
			random := rand.New(rand.NewPCG(uint64(n), 1))
			for ctx.Err() == nil {
				switch random.IntN(10) {
				case 0, 1, 2, 3:
					get("/sell")
					sales.Add(1)
				case 4:
					get("/sell?slow")
					sales.Add(1)
				case 5, 6, 7:
					get("/careless")
				default:
					get("/look")
				}
			}
		})
	}
	clients.Go(func() {
		begun := time.Now()
		for round := 0; ctx.Err() == nil; round++ {
			get([]string{"/collect", "/debug/pprof/profile?seconds=1", "/debug/cofferdam", "/debug/cofferdam/json", "/debug/cofferdam/metrics", "/debug/cofferdam/profile", "/debug/pprof/goroutine?debug=2"}[round%7])
			askForFindings(process)
			if s.Early.Sales == 0 && time.Since(begun) > s.Time/10 {
				s.Early = report()
			}
			select {
			case <-ctx.Done():
			case <-time.After(100 * time.Millisecond):
			}
		}
	})
	clients.Wait()
	client.CloseIdleConnections()
	get("/collect")
	s.Last = report()
	s.Requests, s.Sales = requests.Load(), sales.Load()
	if s.Last.Sales != s.Sales {
		s.fail("the server has counted %d of %d sales", s.Last.Sales, s.Sales)
	}
	var err error
	if s.told, err = finding.ReadJSON(bytes.NewReader(get("/debug/cofferdam/json"))); err != nil {
		s.fail("/debug/cofferdam/json: %v", err)
	}
	for _, f := range s.told {
		s.Surrendered += f.History.Outcomes.Of(finding.Surrendered)
	}
	if uint64(s.Last.Broken) > s.Surrendered {
		s.fail("in %d sections something was changed, and only %d accesses were told as let into one", s.Last.Broken, s.Surrendered)
	}
	if s.Early.Sales > 0 && (s.Last.Goroutines > s.Early.Goroutines+soakClients || s.Last.Heap > 2*s.Early.Heap+8<<20) {
		s.fail("goroutines or memory have grown: %+v, %+v", s.Early, s.Last)
	}
}

func fetch(client *http.Client, url string) ([]byte, error) {
	r, err := client.Get(url)
	if err != nil {
		return nil, err
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err == nil && r.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", r.Status, bytes.TrimSpace(body))
	}
	return body, err
}
