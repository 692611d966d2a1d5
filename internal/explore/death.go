package explore

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/event"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// A DeathError says that the program ended in the middle of an order: the runtime ended it,
// the system did, or code that is not under control.
type DeathError struct {
	Cause  error
	Output string // the last of what it printed
	Crash  string // what it printed from the words on by which the runtime ends a program; "" if none
}

func (e *DeathError) Error() string {
	s := fmt.Sprintf("the instrumented program ended in the middle of a run (%v)", e.Cause)
	if e.Output != "" {
		s += "; the last it printed:\n" + e.Output
	}
	return s
}

func (e *DeathError) Unwrap() error { return e.Cause }

// Summary says in a line how the program ended.
func (e *DeathError) Summary() string {
	if headline, _, _ := strings.Cut(e.Crash, "\n"); headline != "" {
		return headline + " (" + e.cause() + ")"
	}
	return e.cause()
}

// cause is why the program ended, in words.
func (e *DeathError) cause() string {
	text := e.Cause.Error()
	if errors.Is(e.Cause, io.EOF) {
		text = "exit status 0"
	}
	if e.killed() {
		text += ", as by the system when memory runs out"
	}
	return text
}

// killed reports whether the system ended the program, or a person: that is nothing that the
// program did, or not alone.
func (e *DeathError) killed() bool {
	var exit *exec.ExitError
	return errors.As(e.Cause, &exit) && e.Crash == "" && exit.ExitCode() < 0
}

// same reports whether two programs ended in the same way.
func (e *DeathError) same(f *DeathError) bool { return e.Summary() == f.Summary() }

// crashWords are the words by which Go's runtime begins to say why it ends a program, with
// what that is. Under control none of these ends the program; they come from goroutines and
// packages that are not.
var crashWords = []struct {
	words string
	kind  event.FailureKind
}{
	{"fatal error: ", event.FailureFatal},
	{"panic: ", event.FailurePanic},
}

// failure is what the program's death says of the program.
func (e *DeathError) failure() *trace.Failure {
	f := &trace.Failure{Kind: event.FailureExit, Message: e.Summary()}
	headline, rest, _ := strings.Cut(e.Crash, "\n")
	for _, c := range crashWords {
		if message, ok := strings.CutPrefix(headline, c.words); ok {
			f.Kind, f.Message = c.kind, message
		}
	}
	f.Stack = firstStack(rest)
	return f
}

// firstStack reads the first stack in what the runtime prints.
//
//	goroutine 7 [running]:
//	main.f(0x1)
//		/src/f.go:12 +0x1d
//
//	goroutine 1 [chan receive]:
func firstStack(text string) []trace.Call {
	_, text, _ = strings.Cut("\n"+text, "\ngoroutine ")
	text, _, _ = strings.Cut(text, "\n\n")
	lines := strings.Split(text, "\n")
	var stack []trace.Call
	for i := 1; i+1 < len(lines); i += 2 {
		function, _ := strings.CutPrefix(lines[i], "created by ")
		function, _, _ = strings.Cut(function, " in goroutine ")
		if end := strings.LastIndexByte(function, '('); end > 0 && strings.HasSuffix(function, ")") {
			function = function[:end]
		}
		place, ok := strings.CutPrefix(lines[i+1], "\t")
		if !ok {
			break
		}
		place, _, _ = strings.Cut(place, " +0x")
		file, line, _ := cutLast(place, ":")
		number, _ := strconv.Atoi(line)
		stack = append(stack, trace.Call{Function: function, File: file, Line: number})
	}
	return stack
}

// cutLast is strings.Cut at the last separator.
func cutLast(s, separator string) (before, after string, found bool) {
	if i := strings.LastIndex(s, separator); i >= 0 {
		return s[:i], s[i+len(separator):], true
	}
	return s, "", false
}

// A tail keeps the last of what is written to it, and what follows the first words of the
// runtime that end a program: stacks may be longer than the tail.
type tail struct {
	buf   []byte
	crash []byte
}

const (
	tailSize  = 64 << 10
	crashSize = 16 << 10
)

func (t *tail) Write(b []byte) (int, error) {
	t.buf = append(t.buf, b...)
	if len(t.buf) > 2*tailSize {
		t.findCrash()
		t.buf = append(t.buf[:0], t.buf[len(t.buf)-tailSize:]...)
	}
	return len(b), nil
}

// findCrash looks for the words of a crash in what there is.
func (t *tail) findCrash() {
	if t.crash != nil {
		return
	}
	for at := 0; at < len(t.buf); {
		for _, c := range crashWords {
			if bytes.HasPrefix(t.buf[at:], []byte(c.words)) {
				t.crash = bytes.Clone(t.buf[at:min(len(t.buf), at+crashSize)])
				return
			}
		}
		next := bytes.IndexByte(t.buf[at:], '\n')
		if next < 0 {
			return
		}
		at += next + 1
	}
}

// Crash is what was written from the words of a crash on, or "".
func (t *tail) Crash() string {
	t.findCrash()
	return strings.TrimSpace(string(t.crash))
}

func (t *tail) String() string {
	return strings.TrimSpace(string(t.buf[max(0, len(t.buf)-tailSize):]))
}
