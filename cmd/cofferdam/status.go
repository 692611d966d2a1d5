package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode/utf8"
)

// A status is a line that says what is going on, for as long as it is. On a terminal it
// is written over and over; elsewhere it is written at most every few seconds, so that
// a log stays readable.
type status struct {
	w        io.Writer
	terminal bool
	shown    int       // width of what stands there
	next     time.Time // not before, elsewhere
}

const (
	statusDelay = 2 * time.Second
	statusEvery = 5 * time.Second
	statusWidth = 100
)

func newStatus(w io.Writer) *status {
	s := &status{w: w, next: time.Now().Add(statusDelay)}
	if f, ok := w.(*os.File); ok {
		info, err := f.Stat()
		s.terminal = err == nil && info.Mode()&os.ModeCharDevice != 0
	}
	return s
}

func (s *status) set(text string) {
	if !s.terminal {
		if now := time.Now(); now.After(s.next) {
			s.next = now.Add(statusEvery)
			fmt.Fprintf(s.w, "cofferdam: %s\n", text)
		}
		return
	}
	if utf8.RuneCountInString(text) > statusWidth {
		text = string([]rune(text)[:statusWidth])
	}
	width := utf8.RuneCountInString(text)
	fmt.Fprintf(s.w, "\r%s%s", text, strings.Repeat(" ", max(0, s.shown-width)))
	s.shown = width
}

func (s *status) clear() {
	if s.terminal && s.shown > 0 {
		fmt.Fprintf(s.w, "\r%s\r", strings.Repeat(" ", s.shown))
		s.shown = 0
	}
}
