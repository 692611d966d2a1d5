package campaign

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/await"
)

// The fault test runs a coordinator and workers as processes of this test binary, behind a proxy,
// and does to them what happens in a night: kill -9 at any moment, connections that are cut, or are
// slow. In the end every planted bug is found, and every schedule counts once.
//
//	go test ./internal/campaign -run Faults -fault.rounds 200 -fault.seed 7
var (
	faultRounds = flag.Int("fault.rounds", 6, "how many faults the fault test makes")
	powerRounds = flag.Int("fault.power", 3, "how many losses of power there are")
	faultSeed   = flag.Int64("fault.seed", 1, "by which they are chosen")
)

// roleVariable says what a process of this test binary is.
const roleVariable = "COFFERDAM_CAMPAIGN_ROLE"

func TestMain(m *testing.M) {
	role, args, _ := strings.Cut(os.Getenv(roleVariable), " ")
	leaseWait = time.Second
	switch role {
	case "":
		// Most of the time tests wait, for servers that elect, or for the end of a turn.
		flag.Parse()
		if err := flag.Set("test.parallel", "6"); err != nil {
			panic(err)
		}
		os.Exit(m.Run())
	}
	os.Exit(roles[role](args))
}

// roles are what processes of this test binary may be.
var roles = map[string]func(args string) int{"coordinator": playCoordinator, "worker": playWorker}

// quiet is a testing.TB for processes that are no tests.
type quiet struct {
	testing.TB
	dir string
}

func (q quiet) Helper()                        {}
func (q quiet) Context() context.Context       { return context.Background() }
func (q quiet) TempDir() string                { return q.dir }
func (q quiet) Fatal(a ...any)                 { fmt.Println(append([]any{"failed:"}, a...)...); os.Exit(1) }
func (q quiet) Fatalf(format string, a ...any) { q.Fatal(fmt.Sprintf(format, a...)) }
func (q quiet) Errorf(format string, a ...any) { q.Fatal(fmt.Sprintf(format, a...)) }

// faultToy is the program of the fault test.
var faultToy = &toy{steps: 5, bugs: planted}

const faultToken = "token"

// playCoordinator is a coordinator with a port, which it prints with its public key. It ends when
// all is tried.
func playCoordinator(state string) int {
	ctx := context.Background()
	temp, err := os.MkdirTemp(filepath.Dir(state), "toy")
	if err != nil {
		return 1
	}
	q := quiet{dir: temp}
	dir, err := OpenDir(state)
	if err != nil {
		q.Fatal(err)
	}
	server, store, err := OpenLocal(ctx, dir, 0, Listening{Address: "127.0.0.1:0", Token: faultToken}, func(text string) { fmt.Println("notice:", text) })
	if err != nil {
		q.Fatal(err)
	}
	public, err := dir.Key.PublicKey()
	if err != nil {
		q.Fatal(err)
	}
	fmt.Println("at", strings.TrimPrefix(server.URL(), "nats://"), public)
	_, err = Run(ctx, dir, store, toyTargets(q, "1"), &Options{Search: toySearch})
	store.Close()
	server.Close()
	if err != nil {
		q.Fatal(err)
	}
	fmt.Println("done")
	return 0
}

// playWorker is a worker until it is killed.
func playWorker(args string) int {
	ctx := context.Background()
	url, public, _ := strings.Cut(args, " ")
	for {
		nc, err := (&Connection{URL: "nats://" + url, Token: faultToken}).Connect(ctx)
		if err != nil {
			wait(ctx, 20*time.Millisecond) // the coordinator is not there
			continue
		}
		store, err := JoinStore(ctx, nc, LocalPrefix)
		if err != nil {
			nc.Close()
			wait(ctx, 20*time.Millisecond)
			continue
		}
		_ = NewWorker(store, WorkerOptions{Name: MachineName(), Trusted: []string{public}, Slots: 1, Do: faultToy.do("1")}).Run(ctx)
	}
}

// A proxy is where workers connect to, wherever the coordinator is at present.
type proxy struct {
	net.Listener
	mu    sync.Mutex
	to    string
	conns map[net.Conn]bool
	slow  time.Duration
	// passed is how many pieces of data have come through.
	passed atomic.Int64
}

func (p *proxy) serve() {
	for {
		from, err := p.Accept()
		if err != nil {
			return
		}
		p.mu.Lock()
		at := p.to
		p.mu.Unlock()
		to, err := net.Dial("tcp", at)
		if err != nil {
			from.Close()
			continue
		}
		p.mu.Lock()
		p.conns[from], p.conns[to] = true, true
		p.mu.Unlock()
		go p.pass(from, to)
		go p.pass(to, from)
	}
}

// pass passes on what comes, as slowly as it is told.
func (p *proxy) pass(to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	buffer := make([]byte, 4096)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		p.mu.Lock()
		slow := p.slow
		p.mu.Unlock()
		p.passed.Add(1)
		wait(context.Background(), slow)
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// cut cuts all connections.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		c.Close()
	}
	clear(p.conns)
}

func (p *proxy) set(to string, slow time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if to != "" {
		p.to = to
	}
	p.slow = slow
}

// A player is a process of the fault test.
type player struct {
	cmd   *exec.Cmd
	lines chan string // of its output; closed at its end
	done  atomic.Bool // it has said so
}

func play(t *testing.T, role string) *player {
	t.Helper()
	p := start(t, role, nil)
	if p == nil {
		t.Fatal("no process can be started")
	}
	return p
}

// start starts a process with these attributes; nil if the system does not allow them.
func start(t *testing.T, role string, attributes *syscall.SysProcAttr) *player {
	t.Helper()
	p := &player{cmd: exec.Command(os.Args[0]), lines: make(chan string, 1000)}
	p.cmd.Env = append(os.Environ(), roleVariable+"="+role)
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.cmd.Stderr = p.cmd.Stdout
	p.cmd.SysProcAttr = attributes
	switch err := p.cmd.Start(); {
	case errors.Is(err, os.ErrPermission) && attributes != nil:
		return nil
	case err != nil:
		t.Fatal(err)
	}
	t.Cleanup(p.kill)
	go func() {
		defer close(p.lines)
		text, partial := make([]byte, 1024), ""
		for {
			n, err := out.Read(text)
			lines := strings.Split(partial+string(text[:n]), "\n")
			partial = lines[len(lines)-1]
			for _, line := range lines[:len(lines)-1] {
				if line == "done" {
					p.done.Store(true)
				}
				p.lines <- line
			}
			if err != nil {
				return
			}
		}
	}()
	return p
}

func (p *player) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait() // it was killed, or has ended before
}

// expect waits for a line that begins so, and returns the rest; false if the process ends before.
func (p *player) expect(t *testing.T, prefix string) (string, bool) {
	t.Helper()
	for {
		line, ok := await.Receive(t, prefix, p.received())()
		if !ok {
			return "", false
		}
		if rest, ok := strings.CutPrefix(line, prefix); ok {
			return rest, true
		}
		if strings.HasPrefix(line, "failed:") {
			t.Fatal(line)
		}
	}
}

// received delivers the next line, and whether there is one.
func (p *player) received() <-chan func() (string, bool) {
	return await.Start(func() func() (string, bool) {
		line, ok := <-p.lines
		return func() (string, bool) { return line, ok }
	})
}

func TestFaultsLoseNothingAndCountNothingTwice(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewSource(*faultSeed))
	state := filepath.Join(t.TempDir(), "state")
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{Listener: listener, conns: map[net.Conn]bool{}}
	defer p.Close()
	go p.serve()
	start := func() (coordinator *player, public string) {
		coordinator = play(t, "coordinator "+state)
		at, ok := coordinator.expect(t, "at ")
		if !ok {
			t.Fatal("the coordinator does not start")
		}
		to, public, _ := strings.Cut(at, " ")
		p.set(to, 0)
		return coordinator, public
	}
	coordinator, public := start()
	worker := func() *player { return play(t, "worker "+listener.Addr().String()+" "+public) }
	workers := []*player{worker(), worker()}
	faults := map[string]int{}
	for range *faultRounds {
		// A random moment of the work: when so much more of it has come through.
		moment := p.passed.Load() + int64(r.Intn(80))
		await.Until(t, "there is work", func() bool {
			wait(t.Context(), time.Millisecond)
			return p.passed.Load() >= moment || coordinator.done.Load()
		})
		if coordinator.done.Load() {
			break
		}
		fault := []string{"coordinator", "worker", "cut", "slow"}[r.Intn(4)]
		faults[fault]++
		switch fault {
		case "coordinator":
			coordinator.kill()
			p.cut()
			coordinator, _ = start() // which has nothing to do if all was done
		case "worker":
			i := r.Intn(len(workers))
			workers[i].kill()
			workers[i] = worker()
		case "cut":
			p.cut()
		case "slow":
			p.set("", time.Duration(r.Intn(5))*time.Millisecond)
		}
	}
	p.set("", 0)
	if _, ok := coordinator.expect(t, "done"); !ok {
		t.Fatal("the coordinator has ended before its work")
	}
	_ = coordinator.cmd.Wait()
	for _, w := range workers {
		w.kill()
	}
	t.Logf("seed %d: %v", *faultSeed, faults)
	if want := []string{"TestA 2121 new", "TestA 2211 new", "TestB 112212 new"}; !slices.Equal(found(t, state), want) {
		t.Errorf("found %q, want %q", found(t, state), want)
	}
	checkLedgers(t, state)
}
