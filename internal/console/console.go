// Package console shows a person what a command does: colours where they can be seen, and
// a [Status] that tells what goes on while long work lasts.
//
// A stream is a terminal or it is not, and nothing else is asked about it. On a terminal
// the status is one line that is rewritten in place and vanishes; elsewhere, in a log or
// in the output of a build server, it is a line when a phase begins and one every now and
// then after that:
//
//	cofferdam: building with hooks
//	cofferdam: building with hooks, 10s
//	cofferdam: exploring TestSteady: 40210 schedules, 12s
//
//	console.go  streams: terminals, widths, colours
//	status.go   what goes on, and for how long
//	panel.go    lines of a terminal that are rewritten in place
//	nearest.go  which name was meant
package console

import (
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// A Stream says what can be done with a stream that a command writes to.
type Stream struct {
	// Terminal says that lines can be rewritten in place.
	Terminal bool
	// Color says that colours are seen and wanted.
	Color bool
	// Width and Height return the numbers of columns and of lines of a terminal.
	Width, Height func() int
}

// defaultWidth and defaultHeight are those of a terminal that does not say.
const (
	defaultWidth  = 80
	defaultHeight = 24
)

// Detect says what can be done with a stream. Variables of the environment have the last
// word: TERM=dumb is no terminal that lines can be rewritten on, and NO_COLOR, if it is
// not empty, means what it says (https://no-color.org).
func Detect(w io.Writer, getenv func(string) string) Stream {
	s := Stream{Width: func() int { return defaultWidth }, Height: func() int { return defaultHeight }}
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return s
	}
	s.Width = func() int {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
			return width
		}
		return defaultWidth
	}
	s.Height = func() int {
		if _, height, err := term.GetSize(int(f.Fd())); err == nil && height > 0 {
			return height
		}
		return defaultHeight
	}
	s.allow(getenv)
	return s
}

// allow says what the environment allows on a terminal.
func (s *Stream) allow(getenv func(string) string) {
	s.Terminal = getenv("TERM") != "dumb"
	s.Color = s.Terminal && getenv("NO_COLOR") == ""
}

// Colours, as terminals understand them.
const (
	red   = "\x1b[31m"
	green = "\x1b[32m"
	cyan  = "\x1b[36m"
	plain = "\x1b[0m"
)

func (s Stream) paint(color, text string) string {
	if !s.Color {
		return text
	}
	return color + text + plain
}

// Bad marks text that tells of a failure.
func (s Stream) Bad(text string) string { return s.paint(red, text) }

// Good marks text that tells of a success.
func (s Stream) Good(text string) string { return s.paint(green, text) }

// Diff marks the lines of a unified diff by what becomes of them.
func (s Stream) Diff(text string) string {
	if !s.Color {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		body := strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "@@"):
			body = s.paint(cyan, body)
		case strings.HasPrefix(line, "+"):
			body = s.paint(green, body)
		case strings.HasPrefix(line, "-"):
			body = s.paint(red, body)
		}
		b.WriteString(body)
		b.WriteString(line[len(strings.TrimSuffix(line, "\n")):])
	}
	return b.String()
}
