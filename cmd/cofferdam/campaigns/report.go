package campaigns

import (
	"fmt"
	"strings"
	"time"

	"github.com/cofferdam-go/cofferdam/cmd/cofferdam/command"
	"github.com/cofferdam-go/cofferdam/internal/campaign"
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
	cut, of := 0, 0
	for i := range r.Targets {
		if n := r.Targets[i].Cut; n > 0 {
			cut, of = cut+n, of+1
		}
	}
	if cut > 0 {
		fmt.Fprintf(t.inv.Stdout, "cut off before their end, which may hide something: %s of %s; cofferdam campaign -status has the tests\n", plural(cut, "schedule", "schedules"), plural(of, "test", "tests"))
	}
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
	return text + "; " + findingsText(r)
}

// findingsText says how many findings there are.
func findingsText(r *campaign.Report) string {
	var found []string
	for _, s := range campaign.Statuses {
		if n := r.Findings[s]; n > 0 {
			found = append(found, fmt.Sprintf("%d %s", n, s))
		}
	}
	if len(found) == 0 {
		return "no findings"
	}
	return "findings: " + strings.Join(found, ", ")
}
