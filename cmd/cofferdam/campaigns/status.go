package campaigns

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cofferdam-go/cofferdam/cmd/cofferdam/command"
	"github.com/cofferdam-go/cofferdam/internal/campaign"
	"github.com/cofferdam-go/cofferdam/internal/console"
)

const (
	statusEvery = time.Second
	// statusLine is how often a campaign that goes on prints a line where lines cannot be rewritten.
	statusLine = 10 * time.Second
)

// follow shows how far a campaign is, for as long as it goes on: on a terminal as a table that is
// rewritten, elsewhere as a line now and then, and as a table at its end.
func (f *campaignFlags) follow(ctx context.Context, inv *command.Invocation) error {
	panel, told := console.NewPanel(inv.Stdout, inv.Color), time.Time{}
	for {
		r, err := campaign.ReadReport(f.state)
		if err != nil {
			return err
		}
		now := time.Now()
		switch {
		case f.asJSON:
			err = json.NewEncoder(inv.Stdout).Encode(r)
		case inv.Color.Terminal && r.Running:
			err = panel.Show(statusLines(r, inv.Color, now, panel.Room()))
		case !r.Running:
			if inv.Color.Terminal {
				err = panel.Show(nil) // what is left in the end is whole
			}
			for _, line := range statusLines(r, inv.Color, now, allLines) {
				fmt.Fprintln(inv.Stdout, line)
			}
		case now.Sub(told) >= statusLine:
			_, err = fmt.Fprintln(inv.Stdout, campaignLine(r))
			told = now
		}
		switch {
		case err != nil:
			return fmt.Errorf("writing the status: %w", err)
		case !r.Running || f.asJSON:
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(statusEvery):
		}
	}
}

// allLines is as many as there are.
const allLines = 1 << 30

// statusLines is a campaign as a table of so many lines at most: the tests at work first, then those
// that wait, and the workers. What does not fit is counted.
func statusLines(r *campaign.Report, color console.Stream, now time.Time, room int) []string {
	lines := append(statusHead(r, color, now), "", fmt.Sprintf("%-9s %10s %9s %6s %6s %9s  %s", "", "schedules", "distinct", "pairs", "both", "last new", "test"))
	workers := workerLines(r)
	room -= len(lines)
	// The workers get what the tests leave, and a third at least.
	tests := fitted(testLines(r, color, now), max(room-len(workers), room-room/3), "tests")
	return append(append(lines, tests...), fitted(workers, room-len(tests), "workers")...)
}

// fitted are as many lines as there is room for, with the number of those that are left out.
func fitted(lines []string, room int, of string) []string {
	if len(lines) <= room {
		return lines
	}
	if room <= 0 {
		return nil
	}
	return append(slices.Clip(lines[:room-1]), fmt.Sprintf("and %d more %s", len(lines)-room+1, of))
}

// statusHead says what the campaign has come to altogether.
func statusHead(r *campaign.Report, color console.Stream, now time.Time) []string {
	state := "ended " + r.Updated.Format(time.DateTime)
	switch {
	case r.Killed:
		state = "was stopped " + r.Updated.Format(time.DateTime) + " in the middle; the same command goes on"
	case r.Running:
		state = "running for " + now.Sub(r.Started).Round(time.Second).String()
		if !r.Deadline.IsZero() {
			state += ", until " + r.Deadline.Format(time.DateTime)
		}
	}
	states := map[campaign.TargetState]int{}
	pairs, both := 0, 0
	for i := range r.Targets {
		t := &r.Targets[i]
		states[t.State]++
		pairs, both = pairs+t.Coverage.Pairs, both+t.Coverage.Both
	}
	tests := plural(len(r.Targets), "test", "tests")
	var parts []string
	for _, s := range campaign.TargetStates {
		if n := states[s]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, s))
		}
	}
	if len(parts) > 0 {
		tests += " (" + strings.Join(parts, ", ") + ")"
	}
	rate := ""
	if r.Running {
		rate = fmt.Sprintf(", %.0f/s", r.PerSecond)
	}
	found := findingsText(r)
	if r.NewNow > 0 {
		found = color.Bad(fmt.Sprintf("%s; this session was the first to see %d", found, r.NewNow))
	}
	return []string{
		"campaign: " + state,
		fmt.Sprintf("%s; %s%s; %s of accesses seen, %d in both orders", tests, plural(r.Runs, "schedule", "schedules"), rate, plural(pairs, "pair", "pairs"), both),
		found,
	}
}

// testLines are the tests, in the order of what is to be done for them.
func testLines(r *campaign.Report, color console.Stream, now time.Time) (lines []string) {
	for _, state := range campaign.TargetStates {
		for i := range r.Targets {
			t := &r.Targets[i]
			if t.State != state {
				continue
			}
			name := t.Package + "." + t.Test
			if t.Open > 0 {
				name = color.Bad(fmt.Sprintf("%s: %s", name, plural(t.Open, "finding", "findings")))
			}
			if t.Cut > 0 {
				name += fmt.Sprintf(" (%d cut off)", t.Cut)
			}
			if n := len(t.Troubles); n > 0 && state == campaign.GivenUp {
				what, _, _ := strings.Cut(t.Troubles[n-1].What, "\n")
				name += ": " + what
			}
			lines = append(lines, fmt.Sprintf("%-9s %10d %9d %6d %6d %9s  %s", t.State, t.Runs, t.Distinct, t.Coverage.Pairs, t.Coverage.Both, lastNew(t, now), name))
		}
	}
	return lines
}

// lastNew is how long ago a pair of accesses was seen that was new, or new in its order: a search in
// which that was long ago may have come to its end though there are schedules left.
func lastNew(t *campaign.TargetReport, now time.Time) string {
	if len(t.Growth) == 0 {
		return "-"
	}
	ago := now.Sub(t.Growth[len(t.Growth)-1].At)
	switch {
	case ago < time.Minute:
		return fmt.Sprintf("%ds ago", max(0, int(ago.Seconds())))
	case ago < time.Hour:
		return fmt.Sprintf("%dm ago", int(ago.Minutes()))
	case ago < 48*time.Hour:
		return fmt.Sprintf("%dh ago", int(ago.Hours()))
	}
	return fmt.Sprintf("%dd ago", int(ago.Hours()/24))
}

// workerLines are the workers of a campaign that goes on.
func workerLines(r *campaign.Report) (lines []string) {
	if !r.Running {
		return nil
	}
	for _, w := range r.Workers {
		lines = append(lines, fmt.Sprintf("worker %s: %s, %s, %s", w.Name, plural(w.Slots, "slot", "slots"), plural(w.Leases, "lease", "leases"), plural(w.Runs, "schedule", "schedules")))
	}
	return lines
}
