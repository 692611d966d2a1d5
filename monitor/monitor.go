// Package monitor shows what packages isolate and tolerate, or a program that was built by
// cofferdam run, build or test -protect, have found, to people and to other programs. It is
// imported for that alone:
//
//	import _ "github.com/cofferdam-go/cofferdam/monitor"
//
// As net/http/pprof does, it registers handlers with http.DefaultServeMux; [Handler] is for
// programs with another mux. It also publishes the variable cofferdam with package expvar.
// cofferdam build -protect -monitor links it into a program that does not import it.
//
//	/debug/cofferdam            the findings as text
//	/debug/cofferdam/json       as JSON, one object per line
//	/debug/cofferdam/metrics    as metrics for Prometheus
//	/debug/cofferdam/profile    for go tool pprof: where accesses were stopped, and for how long
//
// It is a package of its own because it brings an HTTP server with it.
//
//	monitor.go  the handler and the variable
//	metrics.go  the counters of both packages, as metrics
package monitor

import (
	"bytes"
	"expvar"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/cofferdam-go/cofferdam/internal/finding"
	"github.com/cofferdam-go/cofferdam/isolate"
	"github.com/cofferdam-go/cofferdam/tolerate"
)

// Path is where the handlers are registered.
const Path = "/debug/cofferdam"

func init() {
	http.Handle(Path, Handler())
	http.Handle(Path+"/", Handler())
	expvar.Publish("cofferdam", expvar.Func(variable))
}

// sources are where findings come from. A protected program has one more, of what it links
// beside these packages: a file that only it has adds it when the program begins.
var sources = []func() []finding.Finding{isolate.Findings, tolerate.Findings, published}

// published returns what packages have found that are linked if they are needed.
func published() []finding.Finding {
	all, _ := finding.Published()
	return all
}

// Findings returns what was found so far.
func Findings() []isolate.Finding {
	var all []finding.Finding
	for _, source := range sources {
		all = append(all, source()...)
	}
	return all
}

// Handler returns a handler for Path and what is below it. A mux that has it elsewhere strips
// what comes before with http.StripPrefix.
func Handler() http.Handler { return http.HandlerFunc(serve) }

// A form is one in which findings are served.
type form struct {
	contentType string
	write       func(io.Writer) error
}

var forms = map[string]form{
	"text":    {"text/plain; charset=utf-8", writeText},
	"json":    {"application/jsonl", func(w io.Writer) error { return finding.WriteJSON(w, Findings()) }},
	"metrics": {"text/plain; version=0.0.4; charset=utf-8", WriteMetrics},
	"profile": {"application/octet-stream", func(w io.Writer) error { return finding.WriteProfile(w, Findings(), time.Now()) }},
}

func serve(w http.ResponseWriter, r *http.Request) {
	name := strings.Trim(strings.TrimPrefix(r.URL.Path, Path), "/")
	if name == "" {
		name = "text"
	}
	f, ok := forms[name]
	if !ok {
		http.Error(w, "there are text, json, metrics and profile below "+Path, http.StatusNotFound)
		return
	}
	var body bytes.Buffer // so that an error is not sent as a part of an answer
	if err := f.write(&body); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", f.contentType)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if name == "profile" {
		w.Header().Set("Content-Disposition", `attachment; filename="cofferdam.pprof"`)
	}
	_, _ = body.WriteTo(w) // the client has gone
}

func writeText(w io.Writer) error {
	all := Findings()
	if len(all) == 0 {
		fmt.Fprintln(w, "nothing was found")
	}
	return finding.WriteText(w, all)
}

// variable is what package expvar shows: counts by outcome, and a line for each finding.
func variable() any {
	type entry struct {
		ID       string
		Headline string
		Count    uint64
		WaitedNS int64
	}
	v := struct {
		Outcomes finding.Tally
		Findings []entry
	}{Findings: []entry{}}
	all := Findings()
	for i := range all {
		f := &all[i]
		v.Outcomes.Add(f.Outcomes)
		v.Findings = append(v.Findings, entry{f.ID().String(), f.Headline(), f.Count, f.Waited.Nanoseconds()})
	}
	return v
}
