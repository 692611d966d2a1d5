package sched

import (
	"math"
	"strings"
	"testing"
)

func TestScheduleTextRoundTrips(t *testing.T) {
	for _, s := range []Schedule{
		{},
		{Switches: []Switch{{G: 2, N: 7, To: 3, Preempt: true}}},
		{Switches: []Switch{{G: 0, N: 0, To: 1}, {G: math.MaxUint32, N: math.MaxUint64, To: math.MaxUint32}}},
		{Branches: []Branch{{G: 1, N: 1, Choice: 2}}},
		{Switches: []Switch{{G: 1, N: 2, To: 3}}, Branches: []Branch{{G: 4, N: 5, Choice: 0}, {G: 4, N: 6, Choice: maxChoice - 1}}},
		{Stalls: []Stall{{G: 2, N: 7, Moments: 1}, {G: 0, N: 0, Idle: 3, Moments: 2}}},
		{Branches: []Branch{{G: 2, N: 1, Choice: 3, Unlikely: true}}},
		{Chance: 17},
		{Chance: math.MaxUint64, Switches: []Switch{{G: 1, N: 2, To: 3}}, Stalls: []Stall{{G: 1, N: 1, Moments: 1}}, Branches: []Branch{{G: 1, N: 1, Choice: 1}}},
	} {
		text := s.String()
		got, err := ParseSchedule(text)
		if err != nil || !got.Equal(s) {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
}

func TestPreemptionsCountsTheSwitchesThatTookTheTurn(t *testing.T) {
	for text, want := range map[string]int{
		"1.2+2,2.9_1,1.4+3,1.1~1": 2,
		"2.9_1,1.3@4,1.3/1@1":     2, // stalls
		"1.1=1,2.1=1,1.2~1,%3":    2, // choices by chance
	} {
		s, err := ParseSchedule(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Preemptions(); got != want {
			t.Errorf("%s: %d preemptions, want %d", text, got, want)
		}
	}
}

func TestParseErrorsSayWhatAndWhere(t *testing.T) {
	for text, want := range map[string]string{
		"":                         `written "default"`,
		"1.2":                      `"1.2" (byte 0): want GOROUTINE`,
		"1.2+3,":                   `"" (byte 6): want`,
		"1.2+3,x":                  `"x" (byte 6)`,
		"1.2+3 ,1.3+2":             `want GOROUTINE`,
		"+1.2":                     "want",
		"1+2.3":                    "want",
		".2+3":                     "before the dot",
		"4294967296.2+3":           "before the dot",
		"1.+3":                     "after the dot",
		"1.18446744073709551616+3": "after the dot",
		"1.2+":                     "follows +",
		"1.2_4294967296":           "follows _",
		"1.2+0":                    "count from 1",
		"0.1~1":                    "count from 1",
		"1.0~1":                    "count from 1",
		"1.1~65536":                "so many",
		"1.1~-1":                   "want",
		"1.2.3+4":                  "want",
		"default,1.2+3":            `"default"`,
		"1.2@0":                    "at least one moment",
		"1.2/@1":                   "follows /",
		"1.2/1+3":                  "want",
		"1.2@1/1":                  "want",
		"%":                        "want",
		"%0":                       "above 0",
		"%x":                       "follows %",
	} {
		s, err := ParseSchedule(text)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want something with %q", text, err, want)
		}
		if !s.Equal(Schedule{}) {
			t.Errorf("%q: a schedule beside an error", text)
		}
	}
}

func FuzzParseSchedule(f *testing.F) {
	for _, text := range []string{"default", "", "1.2+3", "1.2_3,4.5~6", "1.2+3,", "999999999.1+2", "1.1~70000", "1.2@3,1.2/1@1,2.1=1,%7"} {
		f.Add(text)
	}
	m := &model{vars: 1, code: [][]instruction{{{op: spawn, a: 1}, {op: load}, {op: store, b: 1}}, {{op: branch, a: 2}, {op: load}, {op: store, b: 1}}}}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseSchedule(text)
		if err != nil {
			return
		}
		again, err := ParseSchedule(s.String())
		if err != nil || !again.Equal(s) {
			t.Fatalf("%q is written as %q, which reads %v, %v", text, s, again, err)
		}
		// Whatever it says, a replay must get by with it.
		r := NewReplay(s)
		if res := m.run(r); res.bad != "" {
			t.Fatal(res.bad)
		}
		r.Diverged()
	})
}
