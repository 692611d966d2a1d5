package report

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/report/page"
	"github.com/cofferdam-go/cofferdam/internal/trace"
)

// A Listing is the files of a folder that there are reports of.
type Listing struct {
	Dir   string
	Items []Item
	// Skipped are files that look as if there should be a report of them, and why there is none.
	Skipped []string

	campaign *campaignState // nil if the folder is not a campaign's
}

// Empty reports whether there is nothing to report on.
func (l *Listing) Empty() bool { return len(l.Items) == 0 && l.campaign == nil }

// An Item is a file of a folder.
type Item struct {
	Path string // below the folder, with slashes
	Kind Kind
	Time time.Time
	Size int64
}

// candidate extensions: others are not even opened.
var extensions = []string{traceSuffix, ".json", ".jsonl", ".ndjson"}

// Scan looks through a folder and those below it. Of what fix -report has written only the trace is
// an item: its page has the rest.
func Scan(dir string) (*Listing, error) {
	l := &Listing{Dir: dir}
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if name := entry.Name(); path != dir && (name == "node_modules" || name == ".git") {
				return fs.SkipDir
			}
			return nil
		}
		if !entry.Type().IsRegular() || !slices.Contains(extensions, filepath.Ext(path)) || belongsToTrace(path) {
			return nil
		}
		l.add(path, entry)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("looking through %s: %w", dir, err)
	}
	if l.campaign, err = readCampaign(dir); err != nil {
		l.Skipped = append(l.Skipped, err.Error())
	}
	slices.SortFunc(l.Items, func(x, y Item) int { return cmp.Or(y.Time.Compare(x.Time), cmp.Compare(x.Path, y.Path)) })
	return l, nil
}

// belongsToTrace reports whether a file is shown on the page of a trace beside it.
func belongsToTrace(path string) bool {
	for _, suffix := range []string{fixSuffix, afterSuffix} {
		if name, ok := strings.CutSuffix(path, suffix); ok {
			_, err := os.Stat(name + traceSuffix)
			return err == nil
		}
	}
	return false
}

func (l *Listing) add(path string, entry fs.DirEntry) {
	rel, err := filepath.Rel(l.Dir, path)
	if err != nil {
		rel = path
	}
	rel = filepath.ToSlash(rel)
	kind, err := Detect(path)
	switch {
	case errors.Is(err, ErrUnknown) && filepath.Ext(path) != traceSuffix:
		return // some other JSON
	case err != nil:
		l.Skipped = append(l.Skipped, fmt.Sprintf("%s: %v", rel, err))
		return
	}
	item := Item{Path: rel, Kind: kind}
	if info, err := entry.Info(); err == nil {
		item.Time, item.Size = info.ModTime(), info.Size()
	}
	l.Items = append(l.Items, item)
}

// link is where the page of an item is: a file with its name, or where a server has it.
func (i *Item) link() string { return (&url.URL{Path: i.Path + ".html"}).String() }

// Document is the list as a page.
func (l *Listing) Document() *page.Document {
	d := &page.Document{Title: filepath.Base(absolute(l.Dir)), Badge: count(len(l.Items), "report"), Tone: "plain", List: &page.List{Skipped: l.Skipped}}
	d.Facts = []page.Fact{{Name: "folder", Text: absolute(l.Dir)}}
	for i := range l.Items {
		d.List.Entries = append(d.List.Entries, l.entry(&l.Items[i]))
	}
	if l.campaign != nil {
		l.campaign.describe(d, l.Items, time.Now())
	}
	return d
}

func absolute(dir string) string {
	if full, err := filepath.Abs(dir); err == nil {
		return full
	}
	return dir
}

// entry is an item in a few words. A trace is opened for that, but none of its events are read.
func (l *Listing) entry(i *Item) page.Entry {
	path := filepath.Join(l.Dir, filepath.FromSlash(i.Path))
	e := page.Entry{Title: i.Path, Link: i.link(), File: i.Path, When: i.Time.Format(time.DateTime), Tone: "plain", Badge: string(i.Kind)}
	switch i.Kind {
	case Run:
		r, err := trace.Open(path)
		if err != nil {
			e.Text = err.Error()
			return e
		}
		defer r.Close()
		e.Title = runTitle(r.Header.Test, r.Header.Package)
		kind, outcome := "", ""
		if r.Outcome != nil {
			outcome = r.Outcome.Result.String()
		}
		if worst := r.Outcome.Worst(); worst != nil {
			kind, e.Text = worst.Kind.String(), firstLine(worst.Message)
		}
		e.Badge, e.Tone = runBadge(kind, outcome)
		if fix, err := readFix(strings.TrimSuffix(path, traceSuffix) + fixSuffix); err == nil && fix.Fixed {
			how := ": " + cmp.Or(fix.Lock, fix.Change)
			if len(fix.FixedBy) > 0 {
				how = " with " + strings.Join(fix.FixedBy, ", ")
			}
			e.Text += " · fixed" + how
		}
	case Fix:
		if fix, err := readFix(path); err == nil {
			e.Title, e.Text = runTitle(fix.Test, fix.Package), firstLine(fix.Happens)
		}
	case Findings:
		if d, err := loadFindings(path); err == nil {
			e.Badge, e.Tone = d.Badge, d.Tone
		}
	case Guards:
		if d, err := loadGuards(path); err == nil {
			e.Badge, e.Tone = d.Badge, d.Tone
		}
	}
	return e
}
