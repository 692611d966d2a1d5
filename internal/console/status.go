package console

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
	"unicode/utf8"
)

// A Status tells what goes on. A phase is told when it has lasted for a moment, so that
// quick work stays silent, and then again and again with the time that it has taken.
//
// A nil *Status tells nothing. A Status may be used by several goroutines.
type Status struct {
	w      io.Writer
	stream Stream
	prefix string

	mu        sync.Mutex
	phase     string    // what goes on; "" if nothing does
	detail    string    // how far it is
	begun     time.Time // when the phase began
	announced bool      // the phase has been told
	spoke     time.Time // when a line was told last; before the first, when work began
	silent    bool      // no line was told since work began
	shown     string    // what stands on the terminal
	midLine   bool      // the terminal's cursor stands behind other text
	stop      chan struct{}
	stopped   chan struct{}
}

const (
	// statusTick is how often it is looked whether there is something to tell.
	statusTick = 100 * time.Millisecond
	// statusDelay is how long a phase has to last to be told where lines cannot be
	// rewritten: longer than most of what a person does not wait for, and short enough
	// to be told within a second.
	statusDelay = 700 * time.Millisecond
	// statusEvery is how often a phase that goes on is told there.
	statusEvery = 10 * time.Second
)

// NewStatus returns a Status that writes to w, which is the stream. Lines of a log begin
// with a prefix. It has to be closed.
func NewStatus(w io.Writer, stream Stream, prefix string) *Status {
	return &Status{w: w, stream: stream, prefix: prefix}
}

// Phase says what goes on from now on; with "", that nothing does.
func (s *Status) Phase(text string) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if text == s.phase {
		return
	}
	now := time.Now()
	if s.phase == "" {
		s.spoke, s.silent = now, true
	}
	s.phase, s.detail, s.begun, s.announced = text, "", now, false
	if text == "" {
		s.clear()
		return
	}
	if s.stop == nil {
		s.stop, s.stopped = make(chan struct{}), make(chan struct{})
		go s.watch(s.stop, s.stopped)
	}
}

// Detail says how far the phase is.
func (s *Status) Detail(text string) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.detail = text
}

// Close ends the telling.
func (s *Status) Close() {
	if s == nil {
		return
	}
	s.Phase("")
	s.mu.Lock()
	stop, stopped := s.stop, s.stopped
	s.stop = nil
	s.mu.Unlock()
	if stop != nil {
		close(stop)
		<-stopped
	}
}

// Lines closes the Status and returns one that writes lines as in a log, also on a
// terminal: for the time in which another process writes to the same terminal, which a
// line that is rewritten cannot make way for.
func (s *Status) Lines() *Status {
	if s == nil {
		return nil
	}
	s.Close()
	return NewStatus(s.w, Stream{}, s.prefix)
}

// Writer returns a writer for other output of the command, which may go to the terminal
// that the status is on: the status makes way for it.
func (s *Status) Writer(w io.Writer) io.Writer {
	if s == nil || !s.stream.Terminal {
		return w
	}
	return &besideStatus{s, w}
}

type besideStatus struct {
	status *Status
	w      io.Writer
}

func (b *besideStatus) Write(text []byte) (int, error) {
	s := b.status
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clear()
	if len(text) > 0 {
		s.midLine = text[len(text)-1] != '\n'
	}
	return b.w.Write(text)
}

// watch looks again and again whether there is something to tell.
func (s *Status) watch(stop <-chan struct{}, stopped chan<- struct{}) {
	defer close(stopped)
	ticker := time.NewTicker(statusTick)
	defer ticker.Stop()
	for {
		select {
		case <-stop:
			return
		case now := <-ticker.C:
			s.tick(now)
		}
	}
}

func (s *Status) tick(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.phase == "":
	case s.stream.Terminal:
		s.rewrite(s.text(now))
	case s.due(now):
		fmt.Fprintf(s.w, "%s%s\n", s.prefix, s.text(now))
		s.announced, s.spoke, s.silent = true, now, false
	}
}

// due reports whether a line is to be told in a log. Many short phases one after the
// other are like a long one: the first line comes soon, the next ones now and then.
func (s *Status) due(now time.Time) bool {
	quiet := now.Sub(s.spoke)
	switch {
	case s.announced:
		return quiet >= statusEvery
	case s.silent:
		return quiet >= statusDelay
	default:
		return now.Sub(s.begun) >= statusDelay || quiet >= statusEvery
	}
}

// text is what there is to tell: the phase, how far it is, how long it has taken.
func (s *Status) text(now time.Time) string {
	text := s.phase
	if s.detail != "" {
		text += ": " + s.detail
	}
	if elapsed := now.Sub(s.begun); elapsed >= time.Second {
		text += ", " + elapsed.Truncate(time.Second).String()
	}
	return text
}

// rewrite puts a text in place of what stands on the terminal.
func (s *Status) rewrite(text string) {
	if most := s.stream.Width() - 1; utf8.RuneCountInString(text) > most {
		text = string([]rune(text)[:max(0, most)])
	}
	if text == s.shown || s.midLine {
		return
	}
	fmt.Fprintf(s.w, "\r%s%s", text, strings.Repeat(" ", max(0, utf8.RuneCountInString(s.shown)-utf8.RuneCountInString(text))))
	s.shown = text
}

// clear removes what stands on the terminal.
func (s *Status) clear() {
	if s.shown != "" {
		fmt.Fprintf(s.w, "\r%s\r", strings.Repeat(" ", utf8.RuneCountInString(s.shown)))
		s.shown = ""
	}
}
