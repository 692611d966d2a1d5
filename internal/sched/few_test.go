package sched

import (
	"strings"
	"testing"
)

func TestFewEndsWhenAllIsTried(t *testing.T) {
	alone := &model{vars: 1, code: [][]instruction{{{op: load}, {op: store, b: 1}}}}
	s := NewFew(NewPCT(1, 0))
	runs := 0
	for ; !s.Exhausted() && runs < 100; runs++ {
		alone.run(s)
	}
	if runs > 3 || !strings.HasPrefix(s.Progress(), "all schedules tried") {
		t.Errorf("%d runs of a program with one schedule: %s", runs, s.Progress())
	}
	many := counters(3, 3)
	s = NewFew(NewPCT(1, 0))
	for range 100 {
		if many.run(s); s.Exhausted() {
			t.Fatal("a program with many schedules has few")
		}
	}
	if !strings.Contains(s.Progress(), "68 schedules by random priorities") {
		t.Error(s.Progress())
	}
}

// TestFewGivesUpEarly: a long run shows by itself that there are many.
func TestFewGivesUpEarly(t *testing.T) {
	s := NewFew(NewPCT(1, 0))
	counters(3, 1000).run(s)
	if !strings.Contains(s.Progress(), "1 schedule by random priorities") {
		t.Error(s.Progress())
	}
}
