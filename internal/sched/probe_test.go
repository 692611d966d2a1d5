package sched

import (
	"strings"
	"testing"
)

func TestProbeEndsWhenAllIsTried(t *testing.T) {
	alone := &model{vars: 1, code: [][]instruction{{{op: load}, {op: store, b: 1}}}}
	s := NewProbe(NewPCT(1, 0))
	runs := 0
	for ; !s.Exhausted() && runs < 100; runs++ {
		alone.run(s)
	}
	if runs > 3 || !strings.HasPrefix(s.Progress().String(), "all schedules tried") {
		t.Errorf("%d runs of a program with one schedule: %s", runs, s.Progress().String())
	}
	many := counters(3, 3)
	s = NewProbe(NewPCT(1, 0))
	for range 100 {
		if many.run(s); s.Exhausted() {
			t.Fatal("a program with many schedules has few")
		}
	}
	if !strings.Contains(s.Progress().String(), "68 schedules by random priorities") {
		t.Error(s.Progress().String())
	}
}

// TestProbeGivesUpEarly: a long run shows by itself that there are many.
func TestProbeGivesUpEarly(t *testing.T) {
	s := NewProbe(NewPCT(1, 0))
	counters(3, 1000).run(s)
	if !strings.Contains(s.Progress().String(), "1 schedule by random priorities") {
		t.Error(s.Progress().String())
	}
}
