package explore

import (
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

const crash = `fatal error: concurrent map writes

goroutine 7 [running]:
internal/runtime/maps.fatal({0x1, 0x2})
	/go/src/runtime/panic.go:1181 +0x18
main.(*T).put(0x1, {0x2, 0x3})
	/src/t.go:12 +0x1d
created by main.main in goroutine 1
	/src/t.go:5 +0x2

goroutine 1 [chan receive]:
main.main()
	/src/t.go:6 +0x3
`

func TestTheStackOfACrashIsRead(t *testing.T) {
	var out tail
	for _, piece := range []string{"some words\nno ", "panic: not at the start of a line", "\n", crash[:9], crash[9:]} {
		out.Write([]byte(piece))
	}
	// What comes after it may be longer than what is kept.
	out.Write([]byte(strings.Repeat("goroutine 2 [select]:\n", 3*tailSize/20)))
	f := (&DeathError{Cause: io.EOF, Crash: out.Crash()}).failure()
	want := &trace.Failure{Kind: event.FailureFatal, Message: "concurrent map writes", Point: trace.Point{Stack: []trace.Call{
		{Function: "internal/runtime/maps.fatal", File: "/go/src/runtime/panic.go", Line: 1181},
		{Function: "main.(*T).put", File: "/src/t.go", Line: 12},
		{Function: "main.main", File: "/src/t.go", Line: 5},
	}}}
	if diff := cmp.Diff(want, f); diff != "" {
		t.Error(diff)
	}
	if got := (&tail{}).Crash(); got != "" {
		t.Errorf("a crash of nothing: %q", got)
	}
}
