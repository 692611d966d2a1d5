package monitor

import (
	"errors"
	"io"

	"github.com/cofferdam-go/cofferdam/internal/finding"
	"github.com/cofferdam-go/cofferdam/isolate"
	"github.com/cofferdam-go/cofferdam/tolerate"
)

// WriteMetrics writes findings and counters in the text format of Prometheus, for a program
// that serves metrics of its own on the same page.
func WriteMetrics(w io.Writer) error {
	var s stats
	for _, add := range statistics {
		add(&s)
	}
	errs := []error{finding.WriteMetrics(w, Findings())}
	for _, c := range counters {
		errs = append(errs, finding.WriteCounter(w, "cofferdam_"+c.name, c.typ, c.help, c.read(&s)))
	}
	return errors.Join(errs...)
}

// stats are the counters, added up.
type stats struct {
	isolate isolate.Stats
	dropped uint64
}

// statistics add counters. There is one for each of the sources.
var statistics = []func(*stats){
	func(s *stats) { s.addIsolate(isolate.ReadStats()) },
	func(s *stats) { s.dropped += tolerate.ReadStats().OtherFindings },
	func(s *stats) {
		_, dropped := finding.Published()
		s.dropped += dropped
	},
}

func (s *stats) addIsolate(other isolate.Stats) {
	t := &s.isolate
	t.Guards += other.Guards
	t.Bytes += other.Bytes
	t.Waiting += other.Waiting
	t.Seals += other.Seals
	t.SealErrors += other.SealErrors
	t.Yields += other.Yields
	t.LostFindings += other.LostFindings
	s.dropped += other.OtherFindings
}

var counters = []struct {
	name, typ, help string
	read            func(*stats) uint64
}{
	{"isolate_guards", "gauge", "Guards that are open.", func(s *stats) uint64 { return uint64(s.isolate.Guards) }},
	{"isolate_memory_bytes", "gauge", "Memory that belongs to guards.", func(s *stats) uint64 { return s.isolate.Bytes }},
	{"isolate_waiting", "gauge", "Careless accesses that wait for a section at this moment.", func(s *stats) uint64 { return s.isolate.Waiting }},
	{"isolate_seals_total", "counter", "Sections that had to protect their pages.", func(s *stats) uint64 { return s.isolate.Seals }},
	{"isolate_seal_errors_total", "counter", "Sections whose pages could not be protected.", func(s *stats) uint64 { return s.isolate.SealErrors }},
	{"isolate_yields_total", "counter", "Times that a waiting access gave up its processor.", func(s *stats) uint64 { return s.isolate.Yields }},
	{"isolate_lost_total", "counter", "Accesses that came faster than they could be recorded.", func(s *stats) uint64 { return s.isolate.LostFindings }},
	{"dropped_total", "counter", "Accesses beyond the number of different findings that are kept.", func(s *stats) uint64 { return s.dropped }},
}
