// Package stmvar publishes the statistics of package stm: with package expvar, as "stm", and as
// metrics for Prometheus.
//
//	import "github.com/cofferdam-go/cofferdam/stm/stmvar"    // alone, it is in /debug/vars
//
//	http.Handle("/metrics", stmvar.Metrics())
//
// It is a package of its own because package expvar brings an HTTP server with it.
package stmvar

import (
	"expvar"
	"fmt"
	"io"
	"net/http"

	"github.com/cofferdam-go/cofferdam/stm"
)

func init() { expvar.Publish("stm", expvar.Func(func() any { return stm.ReadStats() })) }

// Metrics returns a handler that writes the statistics in the text format of Prometheus.
func Metrics() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		WriteMetrics(w)
	})
}

// WriteMetrics writes the statistics in the text format of Prometheus, for a program that has a
// handler of its own.
func WriteMetrics(w io.Writer) error {
	s := stm.ReadStats()
	for _, m := range []struct {
		name, help string
		value      uint64
	}{
		{"commits", "Transactions that committed.", s.Commits},
		{"failures", "Transactions that returned an error.", s.Failures},
		{"conflicts", "Attempts given up because something that was read changed.", s.Conflicts},
		{"hidden_panics", "Attempts given up that had panicked.", s.Hidden},
		{"interruptions", "Attempts given up that were stopped in plain code.", s.Interrupted},
		{"retries", "Attempts that called Retry.", s.Retries},
		{"irrevocable", "Transactions that became irrevocable.", s.Irrevocable},
		{"validations", "Times that a read set was compared with memory.", s.Validations},
		{"read_words", "Words in read sets, of which transactions that nobody disturbs have none.", s.Reads},
		{"written_words", "Words in write sets.", s.Writes},
	} {
		if _, err := fmt.Fprintf(w, "# HELP cofferdam_stm_%s_total %s\n# TYPE cofferdam_stm_%s_total counter\ncofferdam_stm_%s_total %d\n", m.name, m.help, m.name, m.name, m.value); err != nil {
			return err
		}
	}
	return nil
}
