//go:build unix

package isolate_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/await"
	"github.com/cofferdam-go/cofferdam/isolate"
)

func TestNilDereferenceStaysARecoverablePanic(t *testing.T) {
	var mu isolate.Mutex
	closeAfter(t, &mu)
	acct := isolate.New[Account](&mu)
	carelessRead(acct) // the handler is installed and has been used
	defer func() {
		err, ok := recover().(runtime.Error)
		if !ok || !strings.Contains(err.Error(), "nil pointer dereference") {
			t.Errorf("recovered %v, want a nil dereference", err)
		}
	}()
	carelessRead(nil)
	t.Error("reading through nil went on")
}

// TestOtherFaultsStayTheRuntimes: a fault of each kind outside the arena is what
// it was before.
func TestOtherFaultsStayTheRuntimes(t *testing.T) {
	var mu isolate.Mutex
	closeAfter(t, &mu)
	isolate.New[Account](&mu)
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	empty, err := syscall.Mmap(int(file.Fd()), 0, 4096, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Munmap(empty)
	hidden, err := syscall.Mmap(-1, 0, 4096, syscall.PROT_NONE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Munmap(hidden)
	for name, memory := range map[string][]byte{"SIGBUS": empty, "SIGSEGV": hidden} {
		t.Run(name, func(t *testing.T) {
			defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
			defer func() {
				var addr interface{ Addr() uintptr }
				if err, ok := recover().(error); !ok || !errors.As(err, &addr) {
					t.Errorf("recovered %v, want a run-time error with an address", err)
				}
			}()
			sink = memory[0]
			t.Error("reading memory that is not there went on")
		})
	}
}

var sink byte

func TestSignalsAreDeliveredWhileAnAccessWaits(t *testing.T) {
	if !protected(t) {
		return
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR1, syscall.SIGBUS, syscall.SIGSEGV)
	defer signal.Stop(signals)
	var mu isolate.Mutex
	closeAfter(t, &mu)
	acct := isolate.New[Account](&mu)
	mu.Lock()
	done := await.Start(func() int64 { return carelessRead(acct) })
	untilWaiting(t, 1)
	if err := syscall.Kill(os.Getpid(), syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	if got := await.Receive(t, "os/signal", signals); got != syscall.SIGUSR1 {
		t.Errorf("got %v", got)
	}
	mu.Unlock()
	await.Receive(t, "the careless read", done)
}

func TestChildProcessesStartWhileAnAccessWaits(t *testing.T) {
	if !protected(t) {
		return
	}
	var mu isolate.Mutex
	closeAfter(t, &mu)
	acct := isolate.New[Account](&mu)
	mu.Lock()
	done := await.Start(func() int64 { return carelessRead(acct) })
	untilWaiting(t, 1)
	for range 3 {
		out, err := exec.Command("echo", "hello").CombinedOutput()
		if err != nil || string(out) != "hello\n" {
			t.Errorf("echo printed %q, %v", out, err)
		}
	}
	mu.Unlock()
	await.Receive(t, "the careless read", done)
}

// TestSystemCallsGetEFAULT: the kernel does not wait at a protected page, and the
// own view is not protected.
func TestSystemCallsGetEFAULT(t *testing.T) {
	if !protected(t) {
		return
	}
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte("0123456789"), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var mu isolate.Mutex
	closeAfter(t, &mu)
	buf := isolate.MakeSlice[byte](&mu, 10)
	mu.Lock()
	if _, err := file.ReadAt(buf, 0); !errors.Is(err, syscall.EFAULT) {
		t.Errorf("read into a protected page: %v, want EFAULT", err)
	}
	if _, err := file.WriteAt(buf, 0); !errors.Is(err, syscall.EFAULT) {
		t.Errorf("write from a protected page: %v, want EFAULT", err)
	}
	own := isolate.OwnSlice(&mu, buf)
	if n, err := file.ReadAt(own, 0); n != 10 || err != nil || string(own) != "0123456789" {
		t.Errorf("read into the own view: %d, %v, %q", n, err, own)
	}
	mu.Unlock()
}

// TestProfilingTheHandler: SIGPROF comes as it likes, between faults and in them.
func TestProfilingTheHandler(t *testing.T) {
	if !protected(t) {
		return
	}
	var profile bytes.Buffer
	if err := pprof.StartCPUProfile(&profile); err != nil {
		t.Fatal(err)
	}
	defer pprof.StopCPUProfile()
	var mu isolate.Mutex
	closeAfter(t, &mu)
	acct := isolate.New[Account](&mu)
	done := await.Start(func() bool {
		for range 5000 {
			carelessRead(acct)
		}
		return true
	})
	for range 5000 {
		mu.Lock()
		isolate.Own(&mu, acct).Balance++
		mu.Unlock()
	}
	await.Receive(t, "the careless goroutine", done)
}

func TestStacksMayMoveWhileAnAccessWaits(t *testing.T) {
	if !protected(t) {
		return
	}
	var mu isolate.Mutex
	closeAfter(t, &mu)
	acct := isolate.New[Account](&mu)
	mu.Lock()
	done := await.Start(func() int64 { return grow(2000, acct) })
	untilWaiting(t, 1)
	for range 3 {
		runtime.GC() // shrinks the stacks that are too large
	}
	isolate.Own(&mu, acct).Balance = 1
	mu.Unlock()
	if got := await.Receive(t, "the deep goroutine", done); got != 2001 {
		t.Errorf("the deep goroutine computed %d, want 2001", got)
	}
}

// TestStopsInARowAreNoReasonToSurrender: the runtime stops the waiting goroutine
// again and again, and so often, with threads that compete for the processors,
// that it wants to stop it anew when the access comes back from the last stop.
func TestStopsInARowAreNoReasonToSurrender(t *testing.T) {
	if !protected(t) {
		return
	}
	processors := runtime.GOMAXPROCS(0)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4 * processors))
	var ended atomic.Bool
	var busy sync.WaitGroup
	for range 2 * processors {
		busy.Go(func() {
			for !ended.Load() {
			}
		})
	}
	defer busy.Wait()
	defer ended.Store(true)
	var mu isolate.Mutex
	closeAfter(t, &mu)
	acct := isolate.New[Account](&mu)
	before := isolate.ReadStats().Surrendered
	stack := make([]byte, 1000)
	for i := int64(1); i <= 5; i++ {
		mu.Lock()
		done := await.Start(func() int64 { return carelessRead(acct) })
		untilWaiting(t, 1)
		for range 250 {
			runtime.Stack(stack, true)
		}
		isolate.Own(&mu, acct).Balance = i
		mu.Unlock()
		if got := await.Receive(t, "the careless read", done); got != i {
			t.Errorf("the careless read got %d, want %d", got, i)
		}
	}
	if n := isolate.ReadStats().Surrendered - before; n != 0 {
		t.Errorf("%d accesses were surrendered", n)
	}
}

//go:noinline
func grow(n int, a *Account) int64 {
	if n == 0 {
		return carelessRead(a)
	}
	return grow(n-1, a) + 1
}
