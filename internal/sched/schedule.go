package sched

import "strconv"

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

// A Stall is a point, named as that of a Switch is, at which time moved on although
// goroutines were ready.
type Stall struct {
	G uint32
	N uint64
	// Idle is how often time had moved by itself at that point before: it does not
	// otherwise make a new point.
	Idle uint32
	// Moments is how many moments it went over at which timers did something.
	Moments uint32
}

// A Branch is the choice of another possibility than the first in the middle of
// a step.
type Branch struct {
	G      uint32
	N      uint64 // the how-many-th choice of G, from 1
	Choice int    // from 0
	// Unlikely: the choice is counted like a preemption.
	Unlikely bool
}

// A Schedule says how a run differs from the default one. The zero Schedule is the
// default run.
type Schedule struct {
	// Chance is which sequence of random numbers the program draws from.
	Chance   uint64
	Switches []Switch
	Stalls   []Stall
	Branches []Branch
}

// Preemptions returns how many of the switches are preemptions, together with what is
// counted like one: stalls, and choices by chance.
func (s Schedule) Preemptions() int {
	n := len(s.Stalls)
	for _, w := range s.Switches {
		if w.Preempt {
			n++
		}
	}
	for _, b := range s.Branches {
		if b.Unlikely {
			n++
		}
	}
	return n
}

// size is how many things a schedule says.
func (s Schedule) size() int {
	n := len(s.Switches) + len(s.Stalls) + len(s.Branches)
	if s.Chance != 0 {
		n++
	}
	return n
}

// Clone returns a copy that shares nothing with s.
func (s Schedule) Clone() Schedule {
	return Schedule{
		Chance:   s.Chance,
		Switches: append([]Switch(nil), s.Switches...),
		Stalls:   append([]Stall(nil), s.Stalls...),
		Branches: append([]Branch(nil), s.Branches...),
	}
}

// Equal reports whether s and t say the same in the same order.
func (s Schedule) Equal(t Schedule) bool {
	return s.Chance == t.Chance && equal(s.Switches, t.Switches) && equal(s.Stalls, t.Stalls) && equal(s.Branches, t.Branches)
}

func equal[T comparable](a, b []T) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
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
//	2.7@1   after the 7th step of goroutine 2, time moves on by 1 moment although
//	        goroutines are ready: a stall
//	2.7/3@1 the same, after time has moved 3 times by itself since that step
//	2.7~1   the 7th choice of goroutine 2 is possibility 1 (they count from 0)
//	2.7=1   the same, of a choice by chance
//	%5      the program draws from the 5th sequence of random numbers, not from the 0th
//
// with commas between them, switches first, and "default" if there are none.
func (s Schedule) String() string {
	if s.size() == 0 {
		return "default"
	}
	var text []byte
	comma := func() {
		if len(text) > 0 {
			text = append(text, ',')
		}
	}
	item := func(g uint32, n uint64, idle uint32, how byte, to uint64) {
		comma()
		text = strconv.AppendUint(text, uint64(g), 10)
		text = append(text, '.')
		text = strconv.AppendUint(text, n, 10)
		if idle > 0 {
			text = append(text, '/')
			text = strconv.AppendUint(text, uint64(idle), 10)
		}
		text = append(text, how)
		text = strconv.AppendUint(text, to, 10)
	}
	for _, w := range s.Switches {
		how := byte('_')
		if w.Preempt {
			how = '+'
		}
		item(w.G, w.N, 0, how, uint64(w.To))
	}
	for _, l := range s.Stalls {
		item(l.G, l.N, l.Idle, '@', uint64(l.Moments))
	}
	for _, b := range s.Branches {
		how := byte('~')
		if b.Unlikely {
			how = '='
		}
		item(b.G, b.N, 0, how, uint64(b.Choice))
	}
	if s.Chance != 0 {
		comma()
		text = append(text, '%')
		text = strconv.AppendUint(text, s.Chance, 10)
	}
	return string(text)
}

// maxChoice bounds the possibilities of one choice: a select has at most 65536 cases.
const maxChoice = 1 << 16

// A syntaxError says why a text is no schedule. It is a type of its own because package errors
// has hooks in an instrumented program, and this package is below the hooks.
type syntaxError string

func (e syntaxError) Error() string { return "parsing a schedule: " + string(e) }

// ParseSchedule reads what Schedule.String writes.
func ParseSchedule(text string) (Schedule, error) {
	var s Schedule
	if text == "default" {
		return s, nil
	}
	if text == "" {
		return s, syntaxError(`it is empty; the schedule without switches is written "default"`)
	}
	for at := 0; at <= len(text); {
		end := at
		for end < len(text) && text[end] != ',' {
			end++
		}
		if problem := s.parseItem(text[at:end]); problem != "" {
			return Schedule{}, syntaxError(`"` + text[at:end] + `" (byte ` + strconv.Itoa(at) + "): " + problem)
		}
		at = end + 1
	}
	return s, nil
}

// itemForms are what a part of a schedule can be.
const itemForms = "want GOROUTINE.STEP+GOROUTINE, GOROUTINE.STEP_GOROUTINE, GOROUTINE.STEP@MOMENTS, GOROUTINE.CHOICE~POSSIBILITY, GOROUTINE.CHOICE=POSSIBILITY or %SEQUENCE"

// parseItem adds one part of a schedule to s. It returns what is wrong, "" if nothing.
func (s *Schedule) parseItem(item string) string {
	if len(item) > 1 && item[0] == '%' {
		n, err := strconv.ParseUint(item[1:], 10, 64)
		if err != nil || n == 0 {
			return "what follows % is not a number of 64 bits above 0"
		}
		s.Chance = n
		return ""
	}
	dot, slash, how := -1, -1, -1
	for i := 0; i < len(item); i++ {
		switch c := item[i]; {
		case c == '.' && dot < 0:
			dot = i
		case c == '/' && dot >= 0 && slash < 0 && how < 0:
			slash = i
		case (c == '+' || c == '_' || c == '~' || c == '@' || c == '=') && dot >= 0 && how < 0:
			how = i
		case c < '0' || c > '9':
			return itemForms
		}
	}
	if how < 0 || slash >= 0 && item[how] != '@' {
		return itemForms
	}
	g, err := strconv.ParseUint(item[:dot], 10, 32)
	if err != nil {
		return "the goroutine before the dot is not a number of 32 bits"
	}
	end, idle := how, uint64(0)
	if slash >= 0 {
		end = slash
		if idle, err = strconv.ParseUint(item[slash+1:how], 10, 32); err != nil {
			return "what follows / is not a number of 32 bits"
		}
	}
	n, err := strconv.ParseUint(item[dot+1:end], 10, 64)
	if err != nil {
		return "the count after the dot is not a number of 64 bits"
	}
	to, err := strconv.ParseUint(item[how+1:], 10, 32)
	if err != nil {
		return "what follows " + item[how:how+1] + " is not a number of 32 bits"
	}
	switch item[how] {
	case '~', '=':
		return s.addBranch(Branch{G: uint32(g), N: n, Choice: int(to), Unlikely: item[how] == '='})
	case '@':
		if to == 0 {
			return "a stall goes over at least one moment"
		}
		s.Stalls = append(s.Stalls, Stall{G: uint32(g), N: n, Idle: uint32(idle), Moments: uint32(to)})
		return ""
	}
	if to == 0 {
		return "goroutines count from 1"
	}
	s.Switches = append(s.Switches, Switch{G: uint32(g), N: n, To: uint32(to), Preempt: item[how] == '+'})
	return ""
}

func (s *Schedule) addBranch(b Branch) string {
	if b.G == 0 || b.N == 0 {
		return "goroutines and their choices count from 1"
	}
	if b.Choice >= maxChoice {
		return "no choice has so many possibilities"
	}
	s.Branches = append(s.Branches, b)
	return ""
}
