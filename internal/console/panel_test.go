package console

import (
	"strings"
	"testing"
)

// A terminal is what one of some width shows of what was written to it.
type terminal struct {
	t      *testing.T
	width  int
	lines  []string
	row    int
	column int
}

func (s *terminal) Write(text []byte) (int, error) {
	rest := string(text)
	for rest != "" {
		sequence, after, found := strings.Cut(rest, "\x1b[")
		if sequence != "" {
			s.put(rest[0])
			rest = rest[1:]
			continue
		}
		if !found {
			break
		}
		end := strings.IndexAny(after, "AJKm")
		s.control(after[:end], after[end])
		rest = after[end+1:]
	}
	return len(text), nil
}

func (s *terminal) put(c byte) {
	for s.row >= len(s.lines) {
		s.lines = append(s.lines, "")
	}
	switch c {
	case '\n':
		s.row, s.column = s.row+1, 0
	case '\r':
		s.column = 0
	default:
		if s.column >= s.width {
			s.t.Errorf("a line goes on beyond the %d columns", s.width)
		}
		line := s.lines[s.row]
		s.lines[s.row] = line[:s.column] + string(c) + line[min(len(line), s.column+1):]
		s.column++
	}
}

func (s *terminal) control(number string, command byte) {
	switch command {
	case 'A':
		n := 0
		for _, digit := range number {
			n = 10*n + int(digit-'0')
		}
		if s.row -= n; s.row < 0 {
			s.t.Fatalf("%d lines up are above the first", n)
		}
	case 'K':
		s.lines[s.row] = s.lines[s.row][:s.column]
	case 'J':
		s.lines = s.lines[:min(len(s.lines), s.row)]
	}
}

func TestAPanelIsRewrittenInPlace(t *testing.T) {
	s := &terminal{t: t, width: 10, lines: []string{"$ command"}, row: 1}
	p := NewPanel(s, Stream{Terminal: true, Color: true, Width: func() int { return 10 }, Height: func() int { return 4 }})
	red := Stream{Color: true}.Bad("red and much longer than the terminal")
	for _, one := range []struct {
		lines []string
		want  string
	}{
		{[]string{"one", "two", "three"}, "$ command|one|two|three"},
		{[]string{"1", "longer than the terminal"}, "$ command|1|longer th"},
		{[]string{red, "", "x"}, "$ command|red and m||x"},
		{[]string{"a", "b", "c", "does not fit"}, "$ command|a|b|c"},
		{nil, "$ command"},
	} {
		if err := p.Show(one.lines); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(s.lines, "|"); got != one.want {
			t.Errorf("%q shows %q, want %q", one.lines, got, one.want)
		}
	}
}

func TestAColourEndsWithTheLineThatIsCut(t *testing.T) {
	if got := cut(red+"red", 2); got != red+"re"+plain {
		t.Errorf("%q", got)
	}
	if got := cut(red+"é"+plain+"x", 5); got != red+"é"+plain+"x" {
		t.Errorf("%q", got)
	}
}
