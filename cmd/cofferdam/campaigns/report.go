package campaigns

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/cofferdam-go/cofferdam/cmd/cofferdam/command"
	"github.com/cofferdam-go/cofferdam/internal/campaign"
	"github.com/cofferdam-go/cofferdam/internal/console"
	"github.com/cofferdam-go/cofferdam/internal/finding"
)

// A campaignTeller tells what happens in a campaign.
type campaignTeller struct {
	inv     *command.Invocation
	state   string
	asJSON  bool
	givenUp int
}

func (t *campaignTeller) tell(e campaign.Event) {
	switch {
	case e.Finding != nil:
		t.finding(e.Finding)
	case e.Trouble != "":
		t.givenUp++
		fmt.Fprintf(t.inv.Stderr, "cofferdam: %s is given up: %s\n", e.Target, e.Trouble)
	case e.Notice != "":
		fmt.Fprintf(t.inv.Stderr, "cofferdam: %s\n", e.Notice)
	case e.Doing != "":
		t.inv.Status.Detail(e.Doing)
	case e.Report != nil:
		text := campaignLine(e.Report)
		t.inv.Status.Detail(text)
		t.inv.Signals.Reach(text + "; the same command goes on")
	}
}

// finding tells of one that is new, or whose status has changed.
func (t *campaignTeller) finding(r *campaign.Record) {
	if t.asJSON {
		if r.Status == campaign.New {
			f := r.Finding
			_ = finding.WriteJSON(t.inv.Stdout, []finding.Finding{f}) // a closed pipe ends the command
		}
		return
	}
	line := findingLine(r)
	switch {
	case r.Status == campaign.Fixed:
		line += fmt.Sprintf(" (not seen in %s of the changed program)", plural(r.FixedAfter, "schedule", "schedules"))
	case r.Recheck != nil && r.Recheck.At.Equal(r.Last):
		line += " (" + string(campaign.StillThere) + ")"
	case r.Recheck != nil && r.Build != r.Recheck.Build:
		line += " (" + string(r.Recheck.Outcome) + " by its schedule; the search goes on)"
	}
	fmt.Fprintln(t.inv.Stdout, t.colored(r.Status, line))
}

func (t *campaignTeller) colored(s campaign.Status, line string) string {
	switch s {
	case campaign.New:
		return t.inv.Color.Bad(line)
	case campaign.Fixed:
		return t.inv.Color.Good(line)
	}
	return line
}

// end tells what the campaign has come to.
func (t *campaignTeller) end(r *campaign.Report) {
	t.inv.Status.Phase("")
	if t.asJSON {
		return
	}
	fmt.Fprintln(t.inv.Stdout, campaignLine(r))
	if r.Findings[campaign.New] > 0 {
		words := []string{"cofferdam", "findings"}
		if t.state != campaign.DefaultDir {
			words = append(words, "-state", t.state)
		}
		fmt.Fprintf(t.inv.Stdout, "List them with: %s\n", strings.Join(words, " "))
	}
}

// campaignLine says in a line how far a campaign is.
func campaignLine(r *campaign.Report) string {
	pairs, both, over := 0, 0, 0
	for i := range r.Targets {
		t := &r.Targets[i]
		pairs, both = pairs+t.Coverage.Pairs, both+t.Coverage.Both
		if t.Over {
			over++
		}
	}
	elapsed := r.Updated.Sub(r.Started)
	rate := float64(r.Runs) / max(elapsed.Seconds(), 0.001)
	if r.Running {
		rate = r.PerSecond
	}
	text := fmt.Sprintf("%s, %d done; %s in %v (%.0f/s); %s of accesses seen, %d in both orders", plural(len(r.Targets), "test", "tests"), over,
		plural(r.Runs, "schedule", "schedules"), elapsed.Round(time.Second), rate, plural(pairs, "pair", "pairs"), both)
	if n := len(r.Workers); n > 1 {
		text += fmt.Sprintf("; %d workers", n)
	}
	var found []string
	for _, s := range campaign.Statuses {
		if n := r.Findings[s]; n > 0 {
			found = append(found, fmt.Sprintf("%d %s", n, s))
		}
	}
	if len(found) == 0 {
		return text + "; no findings"
	}
	return text + "; findings: " + strings.Join(found, ", ")
}

// follow shows how far a campaign is, for as long as it goes on: on a terminal as a table that is
// rewritten, elsewhere as a line now and then.
func (f *campaignFlags) follow(ctx context.Context, inv *command.Invocation) error {
	const every = time.Second
	shown, lines, told := 0, 0, time.Time{}
	for {
		r, err := campaign.ReadReport(f.state)
		if err != nil {
			return err
		}
		now := time.Now()
		switch {
		case f.asJSON:
			if err := json.NewEncoder(inv.Stdout).Encode(r); err != nil {
				return fmt.Errorf("writing the status: %w", err)
			}
		case inv.Color.Terminal:
			if shown > 0 {
				fmt.Fprintf(inv.Stdout, "\x1b[%dA\x1b[J", shown)
			}
			shown = writeStatus(inv.Stdout, inv.Color, r, statusRows)
		case !r.Running:
			writeStatus(inv.Stdout, inv.Color, r, len(r.Targets))
		case lines == 0 || now.Sub(told) >= 10*every:
			fmt.Fprintln(inv.Stdout, campaignLine(r))
			lines, told = lines+1, now
		}
		if !r.Running || f.asJSON {
			return nil
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(every):
		}
	}
}

// statusRows is how many tests a table on a terminal has.
const statusRows = 20

// writeStatus writes a campaign as a table with so many tests at most, those at work first, and
// returns how many lines it has.
func writeStatus(w io.Writer, color console.Stream, r *campaign.Report, rows int) (lines int) {
	state := "ended " + r.Updated.Format(time.DateTime)
	if r.Running {
		state = "running"
		if !r.Deadline.IsZero() {
			state += " until " + r.Deadline.Format(time.DateTime)
		}
	}
	fmt.Fprintf(w, "%s, %s\n", campaignLine(r), state)
	fmt.Fprintf(w, "%-9s %9s %9s %13s  %s\n", "", "schedules", "distinct", "pairs (both)", "test")
	lines = 2
	for _, working := range []bool{true, false} {
		for i := range r.Targets {
			t := &r.Targets[i]
			if (t.State == "exploring") != working || lines-2 >= rows {
				continue
			}
			name := t.Package + "." + t.Test
			if t.Open > 0 {
				name = color.Bad(fmt.Sprintf("%s: %s", name, plural(t.Open, "finding", "findings")))
			}
			fmt.Fprintf(w, "%-9s %9d %9d %13s  %s\n", t.State, t.Runs, t.Distinct, fmt.Sprintf("%d (%d)", t.Coverage.Pairs, t.Coverage.Both), name)
			lines++
		}
	}
	if left := len(r.Targets) - (lines - 2); left > 0 {
		fmt.Fprintf(w, "and %s\n", plural(left, "more test", "more tests"))
		lines++
	}
	for _, worker := range r.Workers {
		fmt.Fprintf(w, "worker %s: %s, %s\n", worker.Name, plural(worker.Slots, "slot", "slots"), plural(worker.Leases, "lease", "leases"))
		lines++
	}
	return lines
}
