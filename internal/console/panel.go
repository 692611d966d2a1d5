package console

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// A Panel is some lines of a terminal that are rewritten in place, as those of a table that changes.
// Each line is cut at the terminal's width: one that went on in the next line would make the panel
// taller than it is known to be. For the same reason there are never more lines than fit.
type Panel struct {
	w      io.Writer
	stream Stream
	shown  int // lines
}

// NewPanel returns a panel on a terminal.
func NewPanel(w io.Writer, terminal Stream) *Panel { return &Panel{w: w, stream: terminal} }

// Room is how many lines fit.
func (p *Panel) Room() int { return max(1, p.stream.Height()-1) }

// Show shows lines in place of those that were shown before.
func (p *Panel) Show(lines []string) error {
	var b strings.Builder
	if p.shown > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", p.shown)
	}
	lines = lines[:min(len(lines), p.Room())]
	for _, line := range lines {
		// What is left of the line before goes after the new one is there, so that nothing flickers.
		fmt.Fprintf(&b, "\r%s\x1b[K\n", cut(line, p.stream.Width()-1))
	}
	b.WriteString("\x1b[J")
	p.shown = len(lines)
	if _, err := io.WriteString(p.w, b.String()); err != nil {
		return fmt.Errorf("writing to the terminal: %w", err)
	}
	return nil
}

// cut returns as much of a line as fits into so many columns. Colours take none, and end with the
// line.
func cut(line string, most int) string {
	var b strings.Builder
	colored := false
	for columns := 0; line != ""; {
		if strings.HasPrefix(line, "\x1b[") {
			end := strings.IndexByte(line, 'm') + 1
			if end == 0 {
				break
			}
			b.WriteString(line[:end])
			colored = line[:end] != plain
			line = line[end:]
			continue
		}
		if columns++; columns > most {
			break
		}
		_, size := utf8.DecodeRuneInString(line)
		b.WriteString(line[:size])
		line = line[size:]
	}
	if colored {
		b.WriteString(plain)
	}
	return b.String()
}
