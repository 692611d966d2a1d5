package campaigns

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cofferdam-go/cofferdam/cmd/cofferdam/command"
	"github.com/cofferdam-go/cofferdam/cmd/cofferdam/publication"
	"github.com/cofferdam-go/cofferdam/internal/campaign"
	"github.com/cofferdam-go/cofferdam/internal/explore"
	"github.com/cofferdam-go/cofferdam/internal/finding"
	"github.com/cofferdam-go/cofferdam/internal/publish"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// NewFindings returns the command findings. Replay says what to type to run a trace again, from a
// directory.
func NewFindings(replay func(dir, file string) string) *command.Command {
	var state, mark, note, only string
	var everything bool
	var out publication.Findings
	c := command.New("findings", "[id|FILE ...]", "list, show and mark what was found, or hand it on to other tools")
	c.Long = `Findings lists what campaigns have found, with the id, the status, the test and the place of
each. With ids, or the beginnings of ids, it shows these with the run that failed. It can be
used while a campaign goes on.

With files, it reads findings that run, build and test -protect -findings and explore -json
have written, one JSON object per line. What several files or processes tell of the same
defect is one finding.

The status of what a campaign has found:

  new     nobody has said anything of it
  known   marked by a person, or in the baseline of the campaign that found it
  fixed   the changed program does not show it any more
  gone    its test, or the functions that it is about, do not exist any more

Marks stay until they are changed, or until a finding that was fixed is seen again: then it
is new.`
	c.Notes = `Examples:

  cofferdam findings
  cofferdam findings 3f2a
  cofferdam findings -mark known -note "see PR 12" 3f2a90c1
  cofferdam findings -json -only new >new.json
  cofferdam findings /var/log/server.jsonl
  cofferdam findings -sarif -baseline known.jsonl server-*.jsonl >found.sarif

Exit codes: 0, or 2 for an error; with files, 1 if there are findings beside those of the
baseline.

See also: cofferdam help campaign, cofferdam help replay`
	c.Flags.StringVar(&state, "state", campaign.DefaultDir, "the state `directory` of the campaign")
	c.Flags.StringVar(&mark, "mark", "", "give the findings a `status`: new, known, fixed or gone")
	c.Flags.StringVar(&note, "note", "", "with -mark, a `text` that is shown with them")
	c.Flags.StringVar(&only, "only", "", "those with this `status` alone")
	c.Flags.BoolVar(&everything, "all", false, "with -mark, mark all findings that are listed")
	out.Declare(c.Flags)
	c.Work = func(_ context.Context, inv *command.Invocation) error {
		if err := out.Exclusive(c, out.JSON); err != nil {
			return err
		}
		if len(inv.Operands) > 0 && isFile(inv.Operands[0]) {
			if err := c.Excludes("baseline", "mark"); err != nil {
				return err
			}
			return out.ShowFiles(inv)
		}
		if only != "" && !slices.Contains(campaign.Statuses, campaign.Status(only)) {
			return c.Errorf("-only %s: give new, known, fixed or gone", only)
		}
		all, err := campaign.ReadFindings(state)
		if err != nil {
			return err
		}
		chosen, err := choose(all, campaign.Status(only), inv.Operands)
		if err != nil {
			return err
		}
		switch {
		case mark == "" && note != "":
			return c.Errorf("-note goes with -mark")
		case mark != "" && len(inv.Operands) == 0 && !everything:
			return c.Errorf("-mark %s: name the findings, or give -all", mark)
		case mark != "":
			return markFindings(inv, state, chosen, campaign.Status(mark), note)
		case out.JSON || out.Silent():
			return handOn(inv, &out, state, chosen)
		case len(inv.Operands) > 0:
			for i := range chosen {
				if err := showFinding(inv, state, &chosen[i], replay); err != nil {
					return err
				}
			}
			return nil
		}
		if len(chosen) == 0 {
			fmt.Fprintln(inv.Stdout, "no findings")
		}
		for i := range chosen {
			line := findingLine(&chosen[i])
			if chosen[i].Status == campaign.New {
				line = inv.Color.Bad(line)
			}
			fmt.Fprintln(inv.Stdout, line)
		}
		return handOn(inv, &out, state, chosen)
	}
	return c
}

// isFile reports whether an argument names a file, and no finding.
func isFile(name string) bool {
	info, err := os.Stat(name)
	return err == nil && !info.IsDir() || strings.ContainsAny(name, `./\`)
}

// handOn writes findings for other tools, with the steps of their runs where there is a form for them.
func handOn(inv *command.Invocation, out *publication.Findings, state string, chosen []campaign.Record) error {
	var plain []finding.Finding
	var results []publish.Result
	for i := range chosen {
		f := exported(state, &chosen[i])
		plain = append(plain, f)
		one := publish.Results([]finding.Finding{f})
		if t, err := trace.Open(filepath.Join(state, chosen[i].Trace)); err == nil {
			recorded, err := publication.RecordedResults(t, f.Run.Trace)
			t.Close()
			if err != nil {
				return err
			}
			for j := range recorded {
				if recorded[j].ID() == f.ID() {
					one = recorded[j : j+1]
				}
			}
		}
		results = append(results, one...)
	}
	return out.HandOn(inv, plain, results)
}

// choose are the findings with a status, or those that are named.
func choose(all []campaign.Record, only campaign.Status, ids []string) ([]campaign.Record, error) {
	if len(ids) == 0 {
		return slices.DeleteFunc(slices.Clone(all), func(r campaign.Record) bool { return only != "" && r.Status != only }), nil
	}
	var chosen []campaign.Record
	for _, id := range ids {
		r, err := campaign.FindRecord(all, id)
		if err != nil {
			return nil, fmt.Errorf("%w; cofferdam findings lists them", err)
		}
		chosen = append(chosen, *r)
	}
	return chosen, nil
}

// markFindings has findings be marked.
func markFindings(inv *command.Invocation, state string, chosen []campaign.Record, status campaign.Status, note string) error {
	for i := range chosen {
		r := &chosen[i]
		if err := campaign.WriteMark(state, campaign.Mark{ID: r.ID, Status: status, Note: note, At: time.Now()}); err != nil {
			return err
		}
		r.Status = status
		fmt.Fprintln(inv.Stdout, findingLine(r))
	}
	return nil
}

// exported is a finding for other tools, with the place of its trace and its history.
func exported(state string, r *campaign.Record) finding.Finding {
	f := r.Finding
	f.First, f.Last = r.First, r.Last
	if f.Run != nil && r.Trace != "" {
		run := *f.Run
		run.Trace = filepath.Join(state, r.Trace)
		f.Run = &run
	}
	return f
}

// showFinding tells all that is known of a finding.
func showFinding(inv *command.Invocation, state string, r *campaign.Record, replay func(dir, file string) string) error {
	w := inv.Stdout
	fmt.Fprintln(w, findingLine(r))
	fmt.Fprintf(w, "  first seen %s, at schedule %d; last seen %s\n", r.First.Format(time.DateTime), r.FirstAt, r.Last.Format(time.DateTime))
	if r.Recheck != nil {
		fmt.Fprintf(w, "  after a change of the program, %s: %s\n", r.Recheck.At.Format(time.DateTime), r.Recheck.Outcome)
	}
	if r.Status == campaign.Fixed && r.FixedAfter > 0 {
		fmt.Fprintf(w, "  not seen in %s of the changed program\n", plural(r.FixedAfter, "schedule", "schedules"))
	}
	if r.Note != "" {
		fmt.Fprintf(w, "  note: %s\n", r.Note)
	}
	file := filepath.Join(state, r.Trace)
	if _, err := os.Stat(file); r.Trace == "" || err != nil {
		fmt.Fprintln(w, "  there is no trace of it")
		return finding.WriteText(w, []finding.Finding{r.Finding})
	}
	t, err := trace.Open(file)
	if err != nil {
		return err
	}
	defer t.Close()
	fmt.Fprintln(w)
	if err := explore.WriteReport(w, t); err != nil {
		return err
	}
	fmt.Fprintf(w, "\nRun it again with: %s\n\n", replay(inv.Dir, file))
	return nil
}
