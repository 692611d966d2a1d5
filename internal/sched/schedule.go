package sched

import (
	"errors"
	"strconv"
)

// A Switch is a point at which a run did not do what Turn.Default does.
//
// The point is named by the goroutine that took the step before it, and by how many
// steps that goroutine had taken. The number of steps in the whole run would name it
// too, but would have to change for every later switch whenever an earlier one is
// taken out or moved; this name stays as long as the goroutine itself does the same.
type Switch struct {
	G  uint32 // the goroutine that took the step before
	N  uint64 // how many steps it had taken
	To uint32 // goes next
	// Preempt: G could have gone on, and did not yield.
	Preempt bool
}

// A Branch is the choice of another possibility than the first in the middle of
// a step.
type Branch struct {
	G      uint32
	N      uint64 // the how-many-th choice of G, from 1
	Choice int    // from 0
}

// A Schedule says how a run differs from the default one. The zero Schedule is the
// default run.
type Schedule struct {
	Switches []Switch
	Branches []Branch
}

// Preemptions returns how many of the switches are preemptions.
func (s Schedule) Preemptions() int {
	n := 0
	for _, w := range s.Switches {
		if w.Preempt {
			n++
		}
	}
	return n
}

// Clone returns a copy that shares nothing with s.
func (s Schedule) Clone() Schedule {
	return Schedule{
		Switches: append([]Switch(nil), s.Switches...),
		Branches: append([]Branch(nil), s.Branches...),
	}
}

// Equal reports whether s and t say the same in the same order.
func (s Schedule) Equal(t Schedule) bool {
	if len(s.Switches) != len(t.Switches) || len(s.Branches) != len(t.Branches) {
		return false
	}
	for i := range s.Switches {
		if s.Switches[i] != t.Switches[i] {
			return false
		}
	}
	for i := range s.Branches {
		if s.Branches[i] != t.Branches[i] {
			return false
		}
	}
	return true
}

// String returns the text that ParseSchedule reads, without blanks or anything that a
// shell would touch:
//
//	2.7+3   after the 7th step of goroutine 2, goroutine 3 goes: a preemption
//	2.7_3   the same where 2 could not go on, or yielded
//	2.7~1   the 7th choice of goroutine 2 is possibility 1 (they count from 0)
//
// with commas between them, switches first, and "default" if there are none.
func (s Schedule) String() string {
	if len(s.Switches)+len(s.Branches) == 0 {
		return "default"
	}
	var text []byte
	item := func(g uint32, n uint64, how byte, to uint64) {
		if len(text) > 0 {
			text = append(text, ',')
		}
		text = strconv.AppendUint(text, uint64(g), 10)
		text = append(text, '.')
		text = strconv.AppendUint(text, n, 10)
		text = append(text, how)
		text = strconv.AppendUint(text, to, 10)
	}
	for _, w := range s.Switches {
		how := byte('_')
		if w.Preempt {
			how = '+'
		}
		item(w.G, w.N, how, uint64(w.To))
	}
	for _, b := range s.Branches {
		item(b.G, b.N, '~', uint64(b.Choice))
	}
	return string(text)
}

// maxChoice bounds the possibilities of one choice: a select has at most 65536 cases.
const maxChoice = 1 << 16

// ParseSchedule reads what Schedule.String writes.
func ParseSchedule(text string) (Schedule, error) {
	var s Schedule
	if text == "default" {
		return s, nil
	}
	if text == "" {
		return s, errors.New(`parsing a schedule: it is empty; the schedule without switches is written "default"`)
	}
	for at := 0; at <= len(text); {
		end := at
		for end < len(text) && text[end] != ',' {
			end++
		}
		if problem := s.parseItem(text[at:end]); problem != "" {
			return Schedule{}, errors.New("parsing a schedule: " + strconv.Quote(text[at:end]) + " (byte " + strconv.Itoa(at) + "): " + problem)
		}
		at = end + 1
	}
	return s, nil
}

// parseItem adds one switch or choice to s. It returns what is wrong, "" if nothing.
func (s *Schedule) parseItem(item string) string {
	dot, how := -1, -1
	for i := 0; i < len(item); i++ {
		switch c := item[i]; {
		case c == '.' && dot < 0:
			dot = i
		case (c == '+' || c == '_' || c == '~') && dot >= 0 && how < 0:
			how = i
		case c < '0' || c > '9':
			return "want GOROUTINE.STEP+GOROUTINE, GOROUTINE.STEP_GOROUTINE or GOROUTINE.CHOICE~POSSIBILITY"
		}
	}
	if how < 0 {
		return "want GOROUTINE.STEP+GOROUTINE, GOROUTINE.STEP_GOROUTINE or GOROUTINE.CHOICE~POSSIBILITY"
	}
	g, err := strconv.ParseUint(item[:dot], 10, 32)
	if err != nil {
		return "the goroutine before the dot is not a number of 32 bits"
	}
	n, err := strconv.ParseUint(item[dot+1:how], 10, 64)
	if err != nil {
		return "the count after the dot is not a number of 64 bits"
	}
	to, err := strconv.ParseUint(item[how+1:], 10, 32)
	if err != nil {
		return "what follows " + item[how:how+1] + " is not a number of 32 bits"
	}
	if item[how] == '~' {
		if g == 0 || n == 0 {
			return "goroutines and their choices count from 1"
		}
		if to >= maxChoice {
			return "no choice has so many possibilities"
		}
		s.Branches = append(s.Branches, Branch{G: uint32(g), N: n, Choice: int(to)})
		return ""
	}
	if to == 0 {
		return "goroutines count from 1"
	}
	s.Switches = append(s.Switches, Switch{G: uint32(g), N: n, To: uint32(to), Preempt: item[how] == '+'})
	return ""
}
