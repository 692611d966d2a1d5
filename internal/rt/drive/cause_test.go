package drive

import (
	"fmt"
	"go/build"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/event"
)

// TestCausesOfRealPanics provokes each panic that can be provoked at will.
func TestCausesOfRealPanics(t *testing.T) {
	var (
		null   *int
		empty  []int
		closed = make(chan int)
		none   chan int
		zero   int
		value  any = "text"
	)
	close(closed)
	for want, f := range map[event.FailureCause]func(){
		event.NilPointer:        func() { *null = 1 },
		event.OutOfRange:        func() { empty[len(empty)] = 1 },
		event.WrongType:         func() { _ = value.(int) },
		event.DivideByZero:      func() { _ = 1 / zero },
		event.SendOnClosed:      func() { closed <- 1 },
		event.CloseOfClosed:     func() { close(closed) },
		event.CloseOfNil:        func() { close(none) },
		event.NegativeWaitGroup: func() { new(sync.WaitGroup).Done() },
		event.UnknownCause:      func() { panic("balance is negative") },
	} {
		message := panicOf(f)
		if got := causeOf(event.FailurePanic, message); got != want {
			t.Errorf("%q has the cause %v, want %v", message, got, want)
		}
		if got := causeOf(event.FailureTest, message); got != event.UnknownCause {
			t.Errorf("a test that says %q has the cause %v", message, got)
		}
	}
	if got := causeOf(event.FailurePanic, panicOf(func() { _ = empty[zero : zero-1] })); got != event.OutOfRange {
		t.Errorf("bounds of a slice: %v", got)
	}
}

func panicOf(f func()) (message string) {
	defer func() { message = fmt.Sprint(recover()) }()
	f()
	return ""
}

// TestGoStillSaysTheseWords looks for them in Go's own sources, so that another version
// with other words is noticed.
func TestGoStillSaysTheseWords(t *testing.T) {
	var sources strings.Builder
	for _, dir := range []string{"runtime", "internal/runtime/maps", "internal/sync", "sync", "internal/abi"} {
		files, err := filepath.Glob(filepath.Join(build.Default.GOROOT, "src", dir, "*.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			data, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			sources.Write(data)
		}
	}
	for _, r := range runtimeWords {
		if !strings.Contains(sources.String(), r.words) {
			t.Errorf("Go does not say %q", r.words)
		}
	}
}
