package isolate_test

import (
	"fmt"
	"os"
	"os/exec"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cofferdam-go/cofferdam/isolate"
)

// Some tests end the process that they run in, or need a fresh one: those run in
// a child, which is the test binary with childVariable set.
const childVariable = "COFFERDAM_ISOLATE_TEST_CHILD"

var children = map[string]func(){
	"closed shared": func() {
		var mu isolate.Mutex
		acct := isolate.New[Account](&mu)
		carelessWrite(acct, 1)
		mu.Close()
		carelessRead(acct)
	},
	"closed own": func() {
		var mu isolate.Mutex
		acct := isolate.New[Account](&mu)
		mu.Lock()
		own := isolate.Own(&mu, acct)
		own.Balance = 1
		mu.Unlock()
		mu.Close()
		carelessRead(own)
	},
	"closed while waiting": func() {
		var mu isolate.Mutex
		acct := isolate.New[Account](&mu)
		mu.Lock()
		go carelessRead(acct)
		for isolate.ReadStats().Waiting == 0 {
		}
		go mu.Unlock()
		mu.Close() // the access passes before or finds nothing
	},
	"closed with panic on fault": func() {
		var mu isolate.Mutex
		acct := isolate.New[Account](&mu)
		mu.Close()
		debug.SetPanicOnFault(true)
		defer func() { fmt.Println("recovered:", recover()) }()
		carelessRead(acct)
	},
	"nil dereference": func() {
		var mu isolate.Mutex
		isolate.New[Account](&mu)
		carelessRead(nil)
	},
	"stack overflow": func() {
		var mu isolate.Mutex
		acct := isolate.New[Account](&mu)
		debug.SetMaxStack(1 << 20)
		mu.Lock()
		fmt.Println(endless(isolate.Own(&mu, acct)))
	},
	"no mappings left": func() {
		var mu isolate.Mutex
		acct := isolate.New[Account](&mu)
		mu.Lock() // protects nothing yet: no page was opened
		isolate.Own(&mu, acct).Balance = 7
		mu.Unlock()
		debug.SetGCPercent(-1)
		giveBack := exhaustMappings()
		fmt.Println(carelessRead(acct)) // needs a mapping of its own
		mu.Lock()
		isolate.Own(&mu, acct).Balance++
		mu.Unlock()
		giveBack()
		fmt.Println(carelessRead(acct))
		fmt.Println(isolate.CurrentStatus())
		_ = isolate.WriteText(os.Stdout, isolate.Findings())
	},
	"no preemption": func() { fmt.Println(isolate.CurrentStatus().Weakness) },
	"no preemption, one processor": func() {
		var mu isolate.Mutex
		isolate.Configure(isolate.Config{LongestWait: time.Hour})
		acct := isolate.New[Account](&mu)
		mu.Lock()
		done := make(chan int64)
		go func() { done <- carelessRead(acct) }()
		fmt.Println("read", <-done)
		_ = isolate.WriteText(os.Stdout, isolate.Findings())
	},
	"unknown backend": func() { fmt.Println(isolate.CurrentStatus().Reason) },
	"address space":   func() { fmt.Println(addressSpace() >> 10) },
	"little address space": func() {
		limit, _ := strconv.ParseUint(os.Getenv(limitVariable), 10, 64)
		left := limit<<10 - addressSpace()
		var mu isolate.Mutex
		acct := isolate.New[Account](&mu)
		carelessWrite(acct, 5)
		fmt.Println(isolate.CurrentStatus().Backend, carelessRead(acct))
		// The smallest arena has two views of 16 MiB. What is left is less than the test has let
		// the process have if the runtime has started more threads than usual before that.
		if taken := viewSpace(); taken == 0 || taken > max(left/8, 32<<20) {
			fmt.Printf("guarded memory takes %d MB of %d MB that were left\n", taken>>20, left>>20)
		}
	},
}

// limitVariable has the address space that a child may have, in KiB.
const limitVariable = "COFFERDAM_TEST_LIMIT"

// addressSpace is how much of it this process has, in bytes.
func addressSpace() (bytes uint64) {
	text, err := os.ReadFile("/proc/self/statm")
	if err == nil {
		_, err = fmt.Sscan(string(text), &bytes)
	}
	if err != nil {
		panic(err)
	}
	return bytes * uint64(os.Getpagesize())
}

// viewSpace is how much address space the two views of guarded memory take.
func viewSpace() (bytes uint64) {
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		panic(err)
	}
	for line := range strings.Lines(string(maps)) {
		if !strings.Contains(line, "memfd:isolate") {
			continue
		}
		var from, to uint64
		if _, err := fmt.Sscanf(line, "%x-%x", &from, &to); err != nil {
			panic(err)
		}
		bytes += to - from
	}
	return bytes
}

// endless recurses until the stack is exhausted, as long as the balance is 0.
//
//go:noinline
func endless(a *Account) int64 {
	var deep [1000]int64
	if a.Balance == 0 {
		deep[a.Balance] = endless(a)
	}
	return deep[0]
}

func runChild(name string) {
	f, ok := children[name]
	if !ok {
		fmt.Println("no child", name)
		os.Exit(3)
	}
	f()
}

// child runs the named function in a process of its own.
func child(t *testing.T, name string, env ...string) (output string, err error) {
	t.Helper()
	return run(exec.CommandContext(t.Context(), os.Args[0]), append(env, childVariable+"="+name)...)
}

// run runs a command with more environment and returns all of its output. The
// race detector would have each process sleep for a second before it ends.
func run(cmd *exec.Cmd, env ...string) (output string, err error) {
	cmd.Env = append(append(os.Environ(), "GORACE=atexit_sleep_ms=0"), env...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestProgramsThatEndInAFaultSayWhy(t *testing.T) {
	if !protected(t) {
		return
	}
	const noGuard = "isolate: use of memory that belongs to no guard"
	for _, test := range []struct {
		name  string
		fails bool
		words []string
	}{
		{"closed shared", true, []string{noGuard, "unexpected fault address", "carelessRead", "child_test.go:"}},
		{"closed own", true, []string{noGuard, "unexpected fault address", "carelessRead"}},
		{"closed with panic on fault", false, []string{noGuard, "recovered: runtime error: invalid memory address"}},
		{"nil dereference", true, []string{"nil pointer dereference", "carelessRead"}},
		{"stack overflow", true, []string{"stack overflow", "endless"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			out, err := child(t, test.name)
			if test.fails != (err != nil) {
				t.Errorf("ended with %v", err)
			}
			for _, w := range test.words {
				if !strings.Contains(out, w) {
					t.Errorf("said nothing about %q:\n%.2000s", w, out)
				}
			}
			if test.name == "nil dereference" && strings.Contains(out, noGuard) {
				t.Errorf("a nil dereference was taken for ours:\n%.2000s", out)
			}
		})
	}
}

func TestCloseWaitsForNobodyAndHurtsNobody(t *testing.T) {
	if !protected(t) {
		return
	}
	for range 20 {
		out, err := child(t, "closed while waiting")
		if err != nil && !strings.Contains(out, "belongs to no guard") {
			t.Fatalf("%v\n%.2000s", err, out)
		}
	}
}

// TestOtherBackends runs the tests of this package with the backends that this
// machine does not choose by itself.
func TestOtherBackends(t *testing.T) {
	if os.Getenv("COFFERDAM_ISOLATE") != "" {
		return // this is one of those runs
	}
	for _, backend := range []string{"mprotect", "none"} {
		if backend == isolate.CurrentStatus().Backend {
			continue
		}
		t.Run(backend, func(t *testing.T) {
			skipped := "^TestModel" // which do not depend on a backend
			if backend == "none" {
				skipped += "|careless$" // which shows what protection does
			}
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.timeout="+childTimeout(t), "-test.skip="+skipped, "-test.short="+fmt.Sprint(testing.Short()))
			if out, err := run(cmd, "COFFERDAM_ISOLATE="+backend); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// childTimeout is for the tests of a child: what is left for this test, less what it takes
// to tell where a test of the child hangs.
func childTimeout(t *testing.T) string {
	deadline, ok := t.Deadline()
	if !ok {
		return "0"
	}
	return (time.Until(deadline) * 9 / 10).String()
}

// failsVariable makes TestThatFailsInsideASection fail.
const failsVariable = "COFFERDAM_ISOLATE_TEST_FAILS"

func TestThatFailsInsideASection(t *testing.T) {
	var mu isolate.Mutex
	closeAfter(t, &mu)
	acct := isolate.New[Account](&mu)
	mu.Lock()
	if os.Getenv(failsVariable) != "" {
		t.Fatal("as it should")
	}
	isolate.Own(&mu, acct).Balance++
	mu.Unlock()
}

func TestFailureInsideASectionDoesNotHang(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestThatFailsInsideASection$", "-test.timeout="+childTimeout(t))
	out, err := run(cmd, failsVariable+"=1")
	if err == nil || !strings.Contains(out, "as it should") || strings.Contains(out, "panic: test timed out") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestRefusedMprotectIsASurrender: a page that cannot be opened by itself is no memory without
// a guard.
func TestRefusedMprotectIsASurrender(t *testing.T) {
	if testing.Short() || !protected(t) {
		return // with the race detector the runtime needs mappings itself, and ends without any
	}
	out, err := child(t, "no mappings left", "COFFERDAM_ISOLATE=mprotect")
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	for _, words := range []string{"7\n", "8\n", "{none the kernel has no mappings left", "once (surrendered)"} {
		if !strings.Contains(out, words) {
			t.Errorf("not said: %q\n%s", words, out)
		}
	}
}

func TestStatusTellsThatNothingCanBePreempted(t *testing.T) {
	if !protected(t) {
		return
	}
	out, err := child(t, "no preemption", "GODEBUG=asyncpreemptoff=1")
	if err != nil || !strings.Contains(out, "asyncpreemptoff=1: an access that waits keeps its processor") {
		t.Errorf("%v\n%s", err, out)
	}
	if w := isolate.CurrentStatus().Weakness; strings.Contains(w, "asyncpreemptoff") || strings.Contains(w, "-race build") != raceBuild {
		t.Errorf("the weakness of this process is %q", w)
	}
}

// TestAccessThatKeepsTheOnlyProcessorIsSurrendered: the section can never end while it waits.
func TestAccessThatKeepsTheOnlyProcessorIsSurrendered(t *testing.T) {
	if !protected(t) {
		return
	}
	out, err := child(t, "no preemption, one processor", "GODEBUG=asyncpreemptoff=1", "GOMAXPROCS=1")
	if err != nil || !strings.Contains(out, "read 0\n") || !strings.Contains(out, "no processor was left for the section") {
		t.Errorf("%v\n%s", err, out)
	}
}

func TestUnknownBackendIsReported(t *testing.T) {
	out, err := child(t, "unknown backend", "COFFERDAM_ISOLATE=magic")
	if err != nil || !protectable && !strings.Contains(out, "no fault handler") || protectable && !strings.Contains(out, `"magic"`) {
		t.Errorf("status is %q, %v", out, err)
	}
}

// TestWithoutAsyncPreemption: no instruction can be preempted, so that every wait
// that the runtime objects to is surrendered, and none hangs.
func TestWithoutAsyncPreemption(t *testing.T) {
	if !protected(t) {
		return
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^(TestCollectionDoesNotWaitForASection|TestDeadlockOfFigure6IsSurrendered)$", "-test.v")
	out, err := run(cmd, "GODEBUG=asyncpreemptoff=1")
	if err != nil || !strings.Contains(out, "--- PASS: TestCollectionDoesNotWaitForASection") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestLittleAddressSpace: the arena shrinks to what the process may map, and leaves most of it to the program.
func TestLittleAddressSpace(t *testing.T) {
	if !protected(t) {
		return
	}
	text, err := child(t, "address space")
	taken, invalid := strconv.ParseUint(strings.TrimSpace(text), 10, 64)
	if err != nil || invalid != nil {
		t.Fatalf("%q, %v, %v", text, err, invalid)
	}
	for _, left := range []uint64{400_000, 6_000_000} {
		limit := strconv.FormatUint(taken+left, 10)
		cmd := exec.CommandContext(t.Context(), "sh", "-c", "ulimit -v "+limit+" && exec "+os.Args[0])
		out, err := run(cmd, childVariable+"=little address space", limitVariable+"="+limit)
		if want := isolate.CurrentStatus().Backend + " 5\n"; err != nil || out != want {
			t.Errorf("with %s KiB of address space: %q, %v, want %q", limit, out, err, want)
		}
	}
}
