package report

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/campaign"
	"github.com/cofferdam-go/cofferdam/internal/report/page"
)

// A campaignState is a campaign in its state directory.
type campaignState struct {
	report   *campaign.Report
	findings []campaign.Record
}

// readCampaign reads the campaign in a folder; it is nil if there is none.
func readCampaign(dir string) (*campaignState, error) {
	r, err := campaign.ReadReport(dir)
	if errors.Is(err, campaign.ErrNoCampaign) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	all, err := campaign.ReadFindings(dir)
	if err != nil && !errors.Is(err, campaign.ErrNoCampaign) {
		return nil, err
	}
	return &campaignState{r, all}, nil
}

// describe puts the campaign on the page of its folder, whose items are the runs of findings.
func (s *campaignState) describe(d *page.Document, items []Item, now time.Time) {
	r := s.report
	d.Title, d.Badge, d.Tone = "Campaign", "nothing found", "good"
	if n := r.Findings[campaign.New]; n > 0 {
		d.Badge, d.Tone = count(n, "new finding"), "bad"
	} else if n := r.Findings[campaign.Known]; n > 0 {
		d.Badge, d.Tone = count(n, "known finding"), "warn"
	}
	d.Sentences = []string{s.when()}
	c := &page.Campaign{}
	pairs, both := 0, 0
	var growth [][]page.GrowthPoint
	for _, state := range campaign.TargetStates {
		for i := range r.Targets {
			t := &r.Targets[i]
			if t.State != state {
				continue
			}
			pairs, both = pairs+t.Coverage.Pairs, both+t.Coverage.Both
			c.Targets = append(c.Targets, campaignTarget(t, now))
			var points []page.GrowthPoint
			for _, g := range t.Growth {
				points = append(points, page.GrowthPoint{At: g.At, Pairs: g.Pairs, Both: g.Both})
			}
			growth = append(growth, points)
		}
	}
	c.Growth = page.NewGrowthChart(growth)
	c.Figures = []page.Fact{
		{Name: "tests", Text: page.Number(len(r.Targets))}, {Name: "schedules in this session", Text: page.Number(r.Runs)},
		{Name: "pairs of accesses seen", Text: page.Number(pairs)}, {Name: "of them in both orders", Text: page.Number(both)},
	}
	for _, status := range campaign.Statuses {
		if n := r.Findings[status]; n > 0 {
			c.Figures = append(c.Figures, page.Fact{Name: "findings: " + string(status), Text: page.Number(n)})
		}
	}
	if r.Running {
		c.Figures = append(c.Figures, page.Fact{Name: "schedules a second", Text: fmt.Sprintf("%.0f", r.PerSecond)}, page.Fact{Name: "workers", Text: page.Number(len(r.Workers))})
	}
	for _, status := range campaign.Statuses {
		for i := range s.findings {
			if f := &s.findings[i]; f.Status == status {
				c.Findings = append(c.Findings, campaignFinding(f, items))
			}
		}
	}
	d.Campaign = c
}

// when says whether the campaign goes on.
func (s *campaignState) when() string {
	r := s.report
	switch {
	case r.Killed:
		return "The campaign was stopped in the middle, " + r.Updated.Format(time.DateTime) + "; the same command goes on."
	case r.Running && !r.Deadline.IsZero():
		return "The campaign goes on until " + r.Deadline.Format(time.DateTime) + "."
	case r.Running:
		return "The campaign goes on until it is stopped."
	}
	return "The campaign ended " + r.Updated.Format(time.DateTime) + "; the same command goes on."
}

func campaignTarget(t *campaign.TargetReport, now time.Time) page.CampaignTarget {
	out := page.CampaignTarget{
		Package: t.Package, Test: t.Test, State: string(t.State), Tone: "plain",
		Runs: t.Runs, Distinct: t.Distinct, Pairs: t.Coverage.Pairs, Both: t.Coverage.Both, Open: t.Open,
	}
	var notes []string
	switch t.State {
	case campaign.Done:
		out.Tone = "good"
		notes = append(notes, t.Search.String())
	case campaign.GivenUp:
		out.Tone = "warn"
		if n := len(t.Troubles); n > 0 {
			notes = append(notes, firstLine(t.Troubles[n-1].What))
		}
	}
	if t.Cut > 0 {
		notes = append(notes, fmt.Sprintf("%s cut off", count(t.Cut, "schedule")))
	}
	out.Note = strings.Join(notes, "; ")
	if n := len(t.Growth); n > 0 {
		ago := now.Sub(t.Growth[n-1].At).Truncate(time.Second)
		out.LastNew, out.Quiet = ago.String()+" ago", int64(ago.Seconds())
	}
	return out
}

func campaignFinding(r *campaign.Record, items []Item) page.CampaignFinding {
	tones := map[campaign.Status]string{campaign.New: "bad", campaign.Known: "warn", campaign.Fixed: "good", campaign.Gone: "plain"}
	out := page.CampaignFinding{
		ID: r.ID, Status: string(r.Status), Tone: tones[r.Status], Kind: string(r.Finding.Kind),
		What: firstLine(cmp.Or(r.Finding.Words(), string(r.Finding.Kind))), Package: r.Package, Test: r.Test, Note: r.Note,
		First: r.First.Format(time.DateTime), Last: r.Last.Format(time.DateTime),
	}
	// The explanation of a deadlock goes on with all that wait.
	out.What, out.More, _ = strings.Cut(out.What, "; ")
	if len(r.Finding.Accesses) > 0 {
		out.Place = r.Finding.Accesses[0].Site().String()
	}
	for i := range items {
		if r.Trace != "" && items[i].Path == filepath.ToSlash(r.Trace) {
			out.Link = items[i].link()
		}
	}
	return out
}
