package rt

import "testing"

// TestRunsBeginBeforeTheClockTurns: over some sequences each turn is come to, and any fraction
// of a second.
func TestRunsBeginBeforeTheClockTurns(t *testing.T) {
	const second, ms = 1_000_000_000, 1_000_000
	before, plain, late := map[int64]int{}, 0, 0
	for sequence := range uint64(400) {
		var k clock
		k.begin(1, sequence)
		at := k.began - epoch
		switch {
		case sequence == 0 && at != fraction:
			t.Errorf("the first run begins %d ns after the epoch", at)
		case at < second:
			plain++
			if at > 900*ms {
				late++
			}
		default:
			for _, turn := range turns {
				if left := turn*second - at; left >= 0 && left < shortly {
					before[turn]++
				}
			}
		}
	}
	if len(before) != len(turns) || plain < 100 || late == 0 {
		t.Errorf("before turns: %v; %d others, %d of them late in a second", before, plain, late)
	}
}
