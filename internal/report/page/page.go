// Package page writes a report as one HTML file that needs nothing else: no network, no server, no
// build. It works from a disk.
//
//	page.go     a document, and the file that it becomes
//	diff.go     a unified diff as two columns
//	findings.go what protected programs have found, as a page shows it
//	campaign.go how far a campaign is, likewise
//	assets      the template, the style and the scripts, which are part of the file
//
// What can be said in HTML is in the template, and is there without scripts: sentences, diffs and
// tables. Lanes are drawn by scripts on a canvas, from the data that package lanes makes, and the
// machine is laid out by dagre.
//
// A policy in the file (Content-Security-Policy) lets it run these scripts, by their hashes, and
// nothing else: what a program under test prints is text, wherever it appears.
package page

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"strings"
	"sync"

	"github.com/cofferdam-go/cofferdam/internal/report/lanes"
	"github.com/cofferdam-go/cofferdam/internal/sli/draw"
)

// A Document is what a page tells. What is nil is not there.
type Document struct {
	Title string
	// Badge is a word or two for the whole, and Tone whether that is bad, good, warn or plain.
	Badge, Tone string
	Sentences   []string
	Facts       []Fact
	// Home is a link to the list that the page is from; "" if there is none.
	Home string
	// Live is a stamp of what is served; "" if the page is a file.
	Live string

	Run, After *lanes.Run
	Machine    *draw.Graph
	Fix        *Fix
	Findings   *Findings
	Guards     *Guards
	Campaign   *Campaign
	List       *List
}

// A Fact is a name and what it stands for.
type Fact struct{ Name, Text string }

// A Fix is what came of a failure.
type Fix struct {
	Proven bool
	// Change is the lock or the change in a few words, Why the mistake.
	Change, Why string
	Refusal     string
	Proof       []string
	Diff        []FileDiff
	Applied     bool
	FixedBy     []string
	// Uncovered are accesses that the fix leaves without its lock.
	Uncovered  []string
	Missed     string
	Candidates []Candidate
}

// A Candidate is a change that was considered.
type Candidate struct {
	What, Reached, Dropped string
	Proven                 bool
	Cost                   int
	Places                 []string
	// Broken is the failure that the change leads to, Schedule the one that shows it.
	Broken, Schedule string
	Diff             []FileDiff
}

// Guards are which lock guards what.
type Guards struct {
	Locks             []GuardedLock
	Data, Deviations  int
	DeviationsByPlace []Deviation
}

// A GuardedLock is a lock and its data.
type GuardedLock struct {
	Name, Type, Place string
	Link              string
	Data              []GuardedDatum
}

// A GuardedDatum is a variable that a lock guards.
type GuardedDatum struct {
	Name, Place, By, Signs string
	Link                   string
	Confidence             float64
	With, Without          string
	Deviations             int
}

// A Deviation is an access without the lock.
type Deviation struct {
	What, Place, Function, Why string
	Link                       string
	From                       []string
	// Lines are the source around it.
	Lines []SourceLine
}

// A SourceLine is a line of a file.
type SourceLine struct {
	Number int
	Text   string
	Here   bool
}

// A List is what is in a folder: a page for each entry.
type List struct {
	Entries []Entry
	// Skipped are files that could not be read, and why.
	Skipped []string
}

// An Entry is a line of a list.
type Entry struct {
	Title, Link string
	Badge, Tone string
	Text, File  string
	When        string
}

//go:embed assets
var assets embed.FS

// scripts are in the order in which they depend on each other.
var scripts = []string{"data.js", "lanes.js", "move.js", "graph.js", "panels.js", "tables.js", "main.js"}

var parsed = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("page.html").Funcs(template.FuncMap{
		"percent": func(f float64) string { return fmt.Sprintf("%.0f %%", 100*f) },
		"join":    strings.Join,
		"number":  Number,
	}).ParseFS(assets, "assets/page.html"))
})

// Number is a count with the thousands apart.
func Number(n int) string {
	text := fmt.Sprint(n)
	for at := len(text) - 3; at > 0; at -= 3 {
		text = text[:at] + "," + text[at:]
	}
	return text
}

// counted is a figure, and what there is so many of.
func counted(n int, one, many string) Fact {
	if n == 1 {
		return Fact{one, Number(n)}
	}
	return Fact{many, Number(n)}
}

// embedded is what the scripts read.
type embedded struct {
	Run     *lanes.Run  `json:"run"`
	After   *lanes.Run  `json:"after"`
	Machine *draw.Graph `json:"machine"`
}

// filled is what the template reads.
type filled struct {
	*Document
	Policy              string
	Style               template.CSS
	Library, Script     template.JS
	Data                template.JS
	RunData, AfterData  template.HTML
	HasTabs, HasMachine bool
}

// Write writes a document as an HTML file.
func Write(w io.Writer, d *Document) error {
	style, err := asset("style.css")
	if err != nil {
		return err
	}
	var script bytes.Buffer
	for _, name := range scripts {
		text, err := asset(name)
		if err != nil {
			return err
		}
		script.WriteString(strings.Replace(text, "\"use strict\";\n", "", 1))
	}
	f := filled{Document: d, Style: template.CSS(style), Script: template.JS("\"use strict\";\n" + script.String()), HasMachine: d.Machine != nil}
	if f.HasMachine {
		library, err := asset("dagre.min.js")
		if err != nil {
			return err
		}
		license, err := asset("dagre.LICENSE")
		if err != nil {
			return err
		}
		f.Library = template.JS("/*! @dagrejs/dagre 3.1.1\n" + license + "*/\n" + library)
	}
	data, err := json.Marshal(embedded{d.Run, d.After, d.Machine})
	if err != nil {
		return fmt.Errorf("writing a report: %w", err)
	}
	f.Data = template.JS(data)
	if d.Run != nil {
		f.RunData = template.HTML(d.Run.Data)
	}
	if d.After != nil {
		f.AfterData = template.HTML(d.After.Data)
	}
	f.HasTabs = d.Run != nil && (d.After != nil || d.Fix != nil)
	f.Policy = policy(d.Live != "", string(f.Style), string(f.Library), string(f.Script))
	if err := parsed().Execute(w, &f); err != nil {
		return fmt.Errorf("writing a report: %w", err)
	}
	return nil
}

func asset(name string) (string, error) {
	text, err := assets.ReadFile("assets/" + name)
	if err != nil {
		return "", fmt.Errorf("writing a report: %w", err)
	}
	return string(text), nil
}

// policy allows the style and the scripts of the page, and of a page that is served to ask for
// news.
func policy(live bool, style string, scripts ...string) string {
	hash := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	var allowed []string
	for _, s := range scripts {
		if s != "" {
			allowed = append(allowed, hash(s))
		}
	}
	connect := "'none'"
	if live {
		connect = "'self'"
	}
	return fmt.Sprintf("default-src 'none'; script-src %s; style-src %s; img-src data:; connect-src %s; base-uri 'none'; form-action 'none'", strings.Join(allowed, " "), hash(style), connect)
}
