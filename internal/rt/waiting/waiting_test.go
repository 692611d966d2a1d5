package waiting

import (
	"fmt"
	"strings"
	"testing"
)

// runs, ends and the others make goroutines, to be read as sentences.
func runs() Goroutine    { return Goroutine{State: GoesOn} }
func ends() Goroutine    { return Goroutine{State: Ended} }
func steps() Goroutine   { return Goroutine{State: Waits} }
func nothing() Goroutine { return Goroutine{State: Waits, Need: Nothing} }
func lock(blockers ...int) Goroutine {
	return Goroutine{State: Waits, Need: Release, Blockers: blockers, Unknown: len(blockers) == 0}
}

func again(blockers ...int) Goroutine {
	g := lock(blockers...)
	g.Again = true
	return g
}

func handed(blockers ...int) Goroutine {
	g := lock(blockers...)
	g.Unknown = true
	return g
}

func TestJudge(t *testing.T) {
	for _, c := range []struct {
		name   string
		all    []Goroutine
		others bool
		want   string // of each goroutine: - or stuck, with the shape of a lock
	}{
		{"nothing goes on, so all that wait are stuck", []Goroutine{ends(), steps(), nothing()}, false, "-, stuck, stuck"},
		{"one that goes on may do any step", []Goroutine{runs(), steps(), nothing()}, false, "-, -, stuck"},
		{"so may one that is not of the run", []Goroutine{ends(), steps(), nothing()}, true, "-, -, stuck"},
		{"a lock of one that goes on", []Goroutine{runs(), lock(0)}, false, "-, -"},
		{"a lock of one that has ended", []Goroutine{runs(), ends(), lock(1)}, false, "-, -, missing unlock"},
		{"a lock that is held twice", []Goroutine{runs(), again(1)}, false, "-, double lock"},
		{"two locks in two orders", []Goroutine{runs(), lock(2), lock(1)}, false, "-, lock order, lock order"},
		{"a victim behind two locks", []Goroutine{runs(), lock(2), lock(1), lock(1)}, false, "-, lock order, lock order, lock order"},
		{"a lock held over what may come", []Goroutine{runs(), steps(), lock(1)}, false, "-, -, -"},
		{"a lock held over what does not come", []Goroutine{ends(), steps(), lock(1)}, false, "-, lock held over a wait, lock held over a wait"},
		{"a lock held over a nil channel, while others go on", []Goroutine{runs(), nothing(), lock(1)}, false, "-, lock held over a wait, lock held over a wait"},
		{"one reader of two never lets go", []Goroutine{runs(), ends(), lock(0, 1)}, false, "-, -, missing unlock"},
		{"a reader again, behind a writer", []Goroutine{runs(), again(2), lock(1)}, false, "-, double lock, double lock"},
		{"an unknown holder may release", []Goroutine{runs(), lock()}, false, "-, -"},
		{"an unknown holder is not left", []Goroutine{ends(), lock()}, false, "-, missing unlock"},
		{"a lock that is handed from one to another", []Goroutine{runs(), ends(), handed(1)}, false, "-, -, -"},
		{"a leak beside a deadlock is not part of it", []Goroutine{ends(), again(1), steps()}, false, "-, double lock, stuck"},
		{"nobody waits", []Goroutine{ends(), runs()}, false, "-, -"},
	} {
		var got []string
		for i, v := range Judge(c.all, c.others) {
			text := "-"
			switch {
			case v.Locked:
				text = v.Shape.String()
			case v.Stuck:
				text = "stuck"
			}
			if v.Locked && !v.Stuck || v.Locked != v.Shape.OfLock() {
				t.Errorf("%s: goroutine %d: %+v", c.name, i, v)
			}
			got = append(got, text)
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%s: %s, want %s", c.name, text, c.want)
		}
	}
}

// TestJudgeClaimsNoMoreThanIsSo takes random sets of goroutines, and holds the judgement
// against the definition: whatever goes on takes any step, and a goroutine is woken by any
// sequence of these that can be thought of.
func TestJudgeClaimsNoMoreThanIsSo(t *testing.T) {
	seed := uint32(1)
	draw := func(n int) int {
		seed = seed*1664525 + 1013904223
		return int(seed>>16) % n
	}
	for round := range 20_000 {
		all := make([]Goroutine, 1+draw(6))
		for i := range all {
			switch draw(6) {
			case 0:
				all[i] = runs()
			case 1:
				all[i] = ends()
			case 2:
				all[i] = steps()
			case 3:
				all[i] = nothing()
			default:
				var blockers []int
				for range draw(3) {
					blockers = append(blockers, draw(len(all)))
				}
				all[i] = lock(blockers...)
			}
		}
		others := draw(4) == 0
		woken := reachable(all, others)
		for i, v := range Judge(all, others) {
			if want := all[i].State == Waits && !woken[i]; v.Stuck != want {
				t.Fatalf("round %d: goroutine %d of %s: stuck %t, want %t", round, i, fmt.Sprintf("%+v", all), v.Stuck, want)
			}
		}
	}
}

// reachable is the definition: which goroutines can go on, now or after others have.
func reachable(all []Goroutine, others bool) []bool {
	on := make([]bool, len(all))
	for range len(all) + 1 {
		any := others
		for i := range all {
			on[i] = on[i] || all[i].State == GoesOn
			any = any || on[i]
		}
		for i, g := range all {
			if g.State != Waits || !any {
				continue
			}
			free := g.Need == Step || g.Need == Release
			for _, b := range g.Blockers {
				free = free && on[b]
			}
			on[i] = on[i] || free
		}
	}
	return on
}
