package rt

import (
	"testing"
	"time"
)

// TestRunsBeginBeforeTheClockTurns: over some sequences each turn is come to, and any fraction
// of a second.
func TestRunsBeginBeforeTheClockTurns(t *testing.T) {
	const second, ms = 1_000_000_000, 1_000_000
	before, plain, late := map[int64]int{}, 0, 0
	for sequence := range uint64(400) {
		var k clock
		k.begin(1, sequence)
		at := k.began - today.began
		switch {
		case sequence == 0 && at != fraction:
			t.Errorf("the first run begins %d ns after the day", at)
		case at < second:
			plain++
			if at > 900*ms {
				late++
			}
		default:
			for _, turn := range today.turns {
				if left := turn*second - at; left >= 0 && left < shortly {
					before[turn]++
				}
			}
		}
	}
	if len(before) != len(today.turns) || plain < 100 || late == 0 {
		t.Errorf("before turns: %v; %d others, %d of them late in a second", before, plain, late)
	}
}

// TestDaysAreThoseOfTheCalendar compares with package time.
func TestDaysAreThoseOfTheCalendar(t *testing.T) {
	for day := int64(0); day < 60_000; day += 7 {
		at := time.Unix(day*secondsOfDay, 0).UTC()
		if y, m, d := civil(day); int(y) != at.Year() || int(m) != int(at.Month()) || int(d) != at.Day() {
			t.Fatalf("%v is %d-%d-%d", at, y, m, d)
		}
		from := dayFrom(day * secondsOfDay)
		month := time.Date(at.Year(), at.Month()+1, 1, 0, 0, 0, 0, time.UTC)
		year := time.Date(at.Year()+1, 1, 1, 0, 0, 0, 0, time.UTC)
		if from.turns[3] != month.Unix()-at.Unix() || from.turns[5] != year.Unix()-at.Unix() {
			t.Fatalf("%v: %v", at, from.turns)
		}
		if eve := at.Add(time.Duration(from.turns[4]-1) * time.Second); eve.Month() != time.February || eve.Day() != 28 || eve.Sub(at) > 366*24*time.Hour {
			t.Fatalf("%v: %v", at, eve)
		}
	}
}
