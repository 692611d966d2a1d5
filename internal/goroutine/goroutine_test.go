package goroutine

import (
	"runtime"
	"strconv"
	"strings"
	"testing"
)

func TestIDIsTheNumberInStackTraces(t *testing.T) {
	buffer := make([]byte, 1<<16)
	trace := string(buffer[:runtime.Stack(buffer, false)])
	if want := "goroutine " + strconv.FormatUint(ID(), 10) + " ["; !strings.HasPrefix(trace, want) {
		t.Errorf("the trace begins with %.30q, not with %q", trace, want)
	}
}

func TestIDsDiffer(t *testing.T) {
	ids := make(chan uint64)
	for range 2 {
		go func() { ids <- ID() }()
	}
	own, first, second := ID(), <-ids, <-ids
	if own == 0 || first == 0 || second == 0 || own == first || own == second || first == second {
		t.Errorf("three goroutines are %d, %d and %d", own, first, second)
	}
}

func TestParse(t *testing.T) {
	for text, want := range map[string]uint64{
		"goroutine 7 [running]:\n": 7, "goroutine 18446744073709551615": 1<<64 - 1,
		"": 0, "goroutine": 0, "goroutine ": 0, "goroutine x": 0, "something else 7": 0,
	} {
		if got := parse([]byte(text)); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

func BenchmarkID(b *testing.B) {
	for b.Loop() {
		ID()
	}
}
