package gotool

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
)

// ErrNotFound says that there is no go command on the path.
var ErrNotFound = errors.New("the go command is not on the path: install Go or add it")

// An Error is a run of the go command that ended with another exit code than 0, or was given
// up.
type Error struct {
	Args     []string // of the go command
	ExitCode int      // -1 if a signal ended it
	Stderr   string   // what it complained about; with Combined, everything that it wrote
	Err      error    // the *exec.ExitError, or the cause of the context's end
}

func (e *Error) Error() string {
	text := fmt.Sprintf("go %s: %v", e.Args[0], e.Err)
	if said := strings.TrimSpace(e.Stderr); said != "" {
		text += "\n" + said
	}
	return text
}

func (e *Error) Unwrap() error { return e.Err }

// Check turns the error of a run that ended, which its caller has started, into what the
// package returns for it. Stderr is what the run wrote to its standard error, "" if that
// went elsewhere.
func Check(ctx context.Context, cmd *exec.Cmd, stderr string, err error) error {
	if err == nil {
		return nil
	}
	return newError(ctx, cmd.Args[1:], stderr, err)
}

func newError(ctx context.Context, args []string, stderr string, err error) error {
	failed := &Error{Args: args, ExitCode: -1, Stderr: stderr, Err: err}
	var exit *exec.ExitError
	switch isExit := errors.As(err, &exit); {
	case isExit:
		failed.ExitCode = exit.ExitCode()
	case errors.Is(err, exec.ErrNotFound):
		return ErrNotFound
	case ctx.Err() == nil:
		return fmt.Errorf("go %s: %w", args[0], err)
	}
	if ctx.Err() != nil {
		failed.Err = context.Cause(ctx)
	}
	return failed
}

// A Diagnostic is one complaint of the compiler, of vet, or of the go command about a file.
type Diagnostic struct {
	File    string // as the go command spells it: often relative to the directory it ran in
	Line    int
	Column  int // 0 if it is not known
	Message string
}

// String returns the diagnostic as the go command prints it.
func (d Diagnostic) String() string {
	if d.Column == 0 {
		return fmt.Sprintf("%s:%d: %s", d.File, d.Line, d.Message)
	}
	return fmt.Sprintf("%s:%d:%d: %s", d.File, d.Line, d.Column, d.Message)
}

// Diagnostics returns the complaints in what the go command wrote, in its order.
func (e *Error) Diagnostics() []Diagnostic { return ParseDiagnostics(e.Stderr) }

// diagnosticLine is file:line:column: message. Go vet puts "vet: " before what it says of a
// file that does not compile. A file's name has a drive letter on some systems.
var diagnosticLine = regexp.MustCompile(`^(?:vet: )?((?:[A-Za-z]:)?[^:\s][^:]*):(\d+)(?::(\d+))?: (.*)$`)

// ParseDiagnostics finds the complaints in what the go command wrote. Lines that continue
// one, which begin with white space, belong to its message.
func ParseDiagnostics(text string) []Diagnostic {
	var all []Diagnostic
	open := false // whether the next line may continue the last diagnostic
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		m := diagnosticLine.FindStringSubmatch(line)
		switch {
		case m != nil && !strings.HasPrefix(line, "#"):
			d := Diagnostic{File: m[1], Message: m[4]}
			d.Line, _ = strconv.Atoi(m[2])
			d.Column, _ = strconv.Atoi(m[3])
			all, open = append(all, d), true
		case open && strings.HasPrefix(line, "\t"):
			all[len(all)-1].Message += "\n" + line
		default:
			open = false
		}
	}
	return all
}

// NewComplaints are the complaints of go vet, in what it wrote after a change, that it did
// not have before. A complaint is known by its message, because lines move.
func NewComplaints(before, after string) []string {
	old := map[string]bool{}
	for _, d := range ParseDiagnostics(before) {
		old[d.Message] = true
	}
	var news []string
	for _, d := range ParseDiagnostics(after) {
		if !old[d.Message] {
			news = append(news, d.String())
		}
	}
	return news
}
