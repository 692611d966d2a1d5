package pairs

import (
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"
)

// left returns the first line of each goroutine but the calling one and those that wait for a
// test, as libraries do that look for goroutines left behind.
func left() (heads []string) {
	buf := make([]byte, 1<<20)
	all := strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n")
	for _, stack := range all[1:] {
		lines := strings.Split(stack, "\n")
		if !strings.HasPrefix(lines[1], "testing.(*T).Run(") || !strings.Contains(lines[0], "[chan receive") {
			heads = append(heads, lines[0]+" "+lines[1])
		}
	}
	return heads
}

func TestFineNoGoroutineIsLeft(t *testing.T) {
	answer := make(chan int)
	go func() { answer <- 1 }()
	<-answer
	for i := 0; len(left()) > 0; i++ {
		if i == 5 {
			t.Fatal(left())
		}
		time.Sleep(time.Millisecond)
	}
}

// Of the goroutines that there are, a program sees its own.
func TestFineGoroutinesAreCounted(t *testing.T) {
	before := runtime.NumGoroutine()
	if before != 2 { // with the one that waits for the test
		t.Error(before)
	}
	stop := make(chan bool)
	started := make(chan bool)
	for range 2 {
		go func() { started <- true; <-stop }()
	}
	<-started
	<-started
	if n := runtime.NumGoroutine() - before; n != 2 {
		t.Error(n)
	}
	close(stop)
}

// All of them have a stack to show, also those that have not begun, and it says who created them.
func TestFineGoroutinesHaveACreator(t *testing.T) {
	stop := make(chan bool)
	for range 2 {
		go waiting(stop)
	}
	buf := make([]byte, 1<<20)
	all := strings.Split(string(buf[:runtime.Stack(buf, true)]), "\n\n")
	if len(all) != 4 {
		t.Errorf("%d goroutines: %q", len(all), all)
	}
	for _, stack := range all[1:] {
		if !strings.Contains(stack, "testing.(*T).Run(") && !strings.Contains(stack, "\ncreated by example.com/pairs.TestFineGoroutinesHaveACreator in goroutine 1001\n\t") {
			t.Error(stack)
		}
	}
	close(stop)
}

func waiting(stop chan bool) { <-stop }

// What hooks allocate is not what the program does.
func TestFineAllocationsAreMeasured(t *testing.T) {
	m := map[string]int{"a": 1}
	if n := testing.AllocsPerRun(10, func() { m["a"]++ }); n > 0 {
		t.Error(n)
	}
}

// The numbers of goroutines are the same in all runs of all processes: the n-th that a run starts
// has the n-th number.
func TestFineGoroutinesHaveTheSameNumbers(t *testing.T) {
	numbers := make(chan string)
	go func() {
		buf := make([]byte, 64)
		number, _, _ := strings.Cut(string(buf[:runtime.Stack(buf, false)]), " [")
		numbers <- number
	}()
	if n := <-numbers; n != "goroutine 1002" {
		t.Error(n)
	}
}

// callers are the functions on the stack, from the one that calls this on.
func callers() (names []string) {
	pcs := make([]uintptr, 20)
	calls := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs)])
	for {
		f, more := calls.Next()
		names = append(names, f.Function)
		if !more {
			return names
		}
	}
}

type reporter struct{ stacks chan []string }

func (r *reporter) report(int) { r.stacks <- callers() }

// A program sees the calls that it makes, whatever becomes of its go statements.
func TestFineStacksAreTheProgramsOwn(t *testing.T) {
	r := &reporter{make(chan []string)}
	go r.report(1)
	wants(t, <-r.stacks, "example.com/pairs.(*reporter).report", "runtime.goexit")
	wants(t, callers(), "example.com/pairs.TestFineStacksAreTheProgramsOwn", "testing.tRunner", "runtime.goexit")
	pcs := make([]uintptr, 2)
	if n := runtime.Callers(1, pcs); n != 2 {
		t.Error(n)
	}
	if n := runtime.Callers(4, pcs); n != 0 {
		t.Error(n)
	}
	if pc, _, _, ok := runtime.Caller(2); !ok || runtime.FuncForPC(pc).Name() != "runtime.goexit" {
		t.Error(runtime.FuncForPC(pc).Name())
	}
	if text := string(debug.Stack()); strings.Contains(text, "cofferdamrt") || strings.Contains(text, "Run.func") {
		t.Error(text)
	}
}

func wants(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
