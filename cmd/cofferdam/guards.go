package main

import (
	"encoding/json"
	"fmt"
	"go/token"
	"io"
	"os"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/cofferdam-go/cofferdam/internal/guard"
	"github.com/cofferdam-go/cofferdam/internal/load"
)

// guardsOptions are the flags of cofferdam guards.
type guardsOptions struct {
	json, write, tests, quiet bool
	min                       float64
	tags                      string
}

func newGuardsCommand() *cobra.Command {
	var o guardsOptions
	cmd := &cobra.Command{
		Use:   "guards [flags] [packages]",
		Short: "Say which lock guards what, and who deviates",
		Long: `Guards finds the locks of packages, the fields and variables that each of them
guards, and the accesses that deviate: those that do not hold the lock, or write
while holding it for reading only. Guards are inferred from how often data is
touched with which lock held, and from what annotations, comments, names and the
order of fields say.

Each variable has a line: the way to its lock, how sure that is (0 to 1), the
writing and reading lines that hold the lock, those that do not, those of which it
cannot be told, and the signs. Lines that initialise an object before others can
reach it count for nothing. Deviating accesses follow.

It exits with 0 if nothing deviates, with 1 if something does, with 2 on errors.`,
		Example: `  cofferdam guards ./...
  cofferdam guards -min 0.8 -json ./internal/server
  cofferdam guards -w ./...`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.min < 0 || o.min > 1 {
				return fmt.Errorf("-min %v: a confidence is between 0 and 1", o.min)
			}
			return printGuards(cmd.OutOrStdout(), cmd.ErrOrStderr(), args, &o)
		},
	}
	f := cmd.Flags()
	f.BoolVar(&o.json, "json", false, "print one JSON object")
	f.BoolVar(&o.write, "w", false, "write +checklocks annotations into the source")
	f.BoolVar(&o.tests, "tests", false, "analyse test files too")
	f.BoolVar(&o.quiet, "deviations", false, "print only the deviating accesses")
	f.Float64Var(&o.min, "min", 0.5, "leave out what is less sure than this `confidence`")
	f.StringVar(&o.tags, "tags", "", "build `tags`, as for go build")
	return cmd
}

func printGuards(stdout, stderr io.Writer, patterns []string, o *guardsOptions) error {
	if len(patterns) == 0 {
		patterns = []string{"."}
	}
	dir, err := os.Getwd()
	if err != nil {
		return err
	}
	stop := reportSlowness(stderr, "loading and analysing "+strings.Join(patterns, " "))
	c := load.Config{Patterns: patterns, Tests: o.tests}
	if o.tags != "" {
		c.Flags = []string{"-tags=" + o.tags}
	}
	pkgs, err := load.Packages(c)
	if err != nil {
		stop()
		return err
	}
	all := guard.Infer(pkgs)
	stop()
	list := all.AtLeast(o.min)
	deviations := 0
	for _, g := range list {
		for _, d := range g.Data {
			deviations += len(d.Deviations)
		}
	}
	r := &guardsReport{dir, stdout}
	switch {
	case o.json:
		err = r.json(list)
	case o.quiet:
		r.deviations(list)
	default:
		r.text(list, deviations)
	}
	if err != nil {
		return err
	}
	if o.write {
		if err := annotate(stderr, r, all, o.min); err != nil {
			return err
		}
	}
	if deviations > 0 {
		return &exitError{code: 1}
	}
	return nil
}

// reportSlowness tells, every few seconds, that something is still going on. What
// it returns ends that.
func reportSlowness(w io.Writer, what string) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	start := time.Now()
	go func() {
		defer close(ended)
		for {
			select {
			case <-done:
				return
			case <-time.After(2 * time.Second):
				fmt.Fprintf(w, "cofferdam: %s, %.0fs\n", what, time.Since(start).Seconds())
			}
		}
	}()
	return func() {
		close(done)
		<-ended
	}
}

func annotate(stderr io.Writer, r *guardsReport, all *guard.Guards, min float64) error {
	a, err := all.Annotate(min)
	if err != nil {
		return err
	}
	for name, text := range a.Files {
		info, err := os.Stat(name)
		if err != nil {
			return err
		}
		if err := os.WriteFile(name, text, info.Mode().Perm()); err != nil {
			return fmt.Errorf("writing annotations: %w", err)
		}
	}
	for _, s := range a.Skipped {
		fmt.Fprintf(stderr, "%s: %s not annotated: %s\n", r.place(s.At), s.Name, s.Reason)
	}
	fmt.Fprintf(stderr, "%s written into %s\n", count(a.Added, "annotation"), count(len(a.Files), "file"))
	return nil
}

// A guardsReport prints guards, with places relative to a directory.
type guardsReport struct {
	dir string
	w   io.Writer
}

func (r *guardsReport) place(p token.Position) string {
	if rel, err := filepath.Rel(r.dir, p.Filename); err == nil && !strings.HasPrefix(rel, "..") {
		p.Filename = rel
	}
	return p.String()
}

func (r *guardsReport) text(list []*guard.Guard, deviations int) {
	data := 0
	for _, g := range list {
		fmt.Fprintf(r.w, "%s  %s  %s\n", g.Lock.Name, g.Lock.Type, r.place(g.Lock.At))
		t := tabwriter.NewWriter(r.w, 0, 8, 2, ' ', 0)
		fmt.Fprintln(t, "  data\tby\tconfidence\twith it\twithout\tunknown\tsigns")
		for _, d := range g.Data {
			e := d.Evidence
			fmt.Fprintf(t, "  %s\t%s\t%.2f\t%s\t%s\t%d\t%s\n", d.Name, d.Way, d.Confidence,
				lines(e.WritesWith, e.ReadsWith), lines(e.WritesWithout, e.ReadsWithout), e.Unknown, signs(e))
			data++
		}
		t.Flush()
		for _, d := range g.Data {
			for _, v := range d.Deviations {
				r.deviation(g, d, v)
			}
		}
		fmt.Fprintln(r.w)
	}
	fmt.Fprintf(r.w, "%s, %s guarded, %s\n", count(len(list), "lock"), count(data, "variable"), count(deviations, "deviating access"))
}

func (r *guardsReport) deviations(list []*guard.Guard) {
	for _, g := range list {
		for _, d := range g.Data {
			for _, v := range d.Deviations {
				r.deviation(g, d, v)
			}
		}
	}
}

func (r *guardsReport) deviation(g *guard.Guard, d *guard.Datum, v guard.Deviation) {
	why := "does not hold " + g.Lock.Name
	if v.Why != "" {
		why = g.Lock.Name + " is " + v.Why
	}
	fmt.Fprintf(r.w, "%s: %s of %s in %s: %s\n", r.place(v.At), v.Kind, d.Name, v.Func, why)
	for _, c := range v.From {
		fmt.Fprintf(r.w, "\tcalled by %s at %s\n", c.Func, r.place(c.At))
	}
}

func lines(writes, reads int) string { return fmt.Sprintf("%dw %dr", writes, reads) }

func signs(e guard.Evidence) string {
	var list []string
	for _, s := range e.Signs {
		list = append(list, s.String())
	}
	return strings.Join(list, ", ")
}

func count(n int, what string) string {
	switch {
	case n == 1:
		return "1 " + what
	case strings.HasSuffix(what, "s"):
		return fmt.Sprintf("%d %ses", n, what)
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// The JSON form.
type (
	jsonGuard struct {
		Lock     string      `json:"lock"`
		Type     string      `json:"type"`
		Position string      `json:"position"`
		Data     []jsonDatum `json:"data"`
	}
	jsonDatum struct {
		Name       string          `json:"name"`
		Position   string          `json:"position"`
		By         string          `json:"by"`
		Confidence float64         `json:"confidence"`
		With       jsonSites       `json:"with"`
		Without    jsonSites       `json:"without"`
		Unknown    int             `json:"unknown"`
		Early      int             `json:"early"`
		Signs      []string        `json:"signs"`
		Deviations []jsonDeviation `json:"deviations"`
	}
	jsonSites struct {
		Writes int `json:"writes"`
		Reads  int `json:"reads"`
	}
	jsonDeviation struct {
		Kind     string     `json:"kind"`
		Position string     `json:"position"`
		Function string     `json:"function"`
		Why      string     `json:"why,omitempty"`
		From     []jsonCall `json:"from,omitempty"`
	}
	jsonCall struct {
		Function string `json:"function"`
		Position string `json:"position"`
	}
)

func (r *guardsReport) json(list []*guard.Guard) error {
	out := struct {
		Guards []jsonGuard `json:"guards"`
	}{[]jsonGuard{}}
	for _, g := range list {
		jg := jsonGuard{Lock: g.Lock.Name, Type: g.Lock.Type, Position: r.place(g.Lock.At)}
		for _, d := range g.Data {
			e := d.Evidence
			jd := jsonDatum{
				Name: d.Name, Position: r.place(d.At), By: d.Way, Confidence: d.Confidence,
				With: jsonSites{e.WritesWith, e.ReadsWith}, Without: jsonSites{e.WritesWithout, e.ReadsWithout},
				Unknown: e.Unknown, Early: e.Early, Signs: []string{}, Deviations: []jsonDeviation{},
			}
			for _, s := range e.Signs {
				jd.Signs = append(jd.Signs, s.String())
			}
			for _, v := range d.Deviations {
				jv := jsonDeviation{Kind: v.Kind.String(), Position: r.place(v.At), Function: v.Func, Why: v.Why}
				for _, c := range v.From {
					jv.From = append(jv.From, jsonCall{c.Func, r.place(c.At)})
				}
				jd.Deviations = append(jd.Deviations, jv)
			}
			jg.Data = append(jg.Data, jd)
		}
		out.Guards = append(out.Guards, jg)
	}
	enc := json.NewEncoder(r.w)
	enc.SetIndent("", "  ")
	return enc.Encode(out)
}
