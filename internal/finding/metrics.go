package finding

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// WriteMetrics writes the findings as metrics in the text format of Prometheus. The labels
// say what a finding is about; there are as many series as there are findings, which a log
// keeps within its limit.
//
//	cofferdam_findings_total{id="f98c90eab58cc8c6",kind="violation",guard="accounts",target="Account.Balance",site="steal.go:31",outcome="delayed"} 1
//	cofferdam_wait_seconds_total{id="f98c90eab58cc8c6",guard="accounts",site="steal.go:31"} 0.0015
//	cofferdam_longest_wait_seconds{id="f98c90eab58cc8c6",guard="accounts",site="steal.go:31"} 0.0015
func WriteMetrics(w io.Writer, findings []Finding) error {
	b := bufio.NewWriter(w)
	describe(b, "cofferdam_findings_total", "counter", "Accesses that did not hold the lock of what they accessed, by what became of them.")
	for i := range findings {
		f := &findings[i]
		labels := f.labels()
		rest := f.Count
		for _, o := range outcomes {
			if n := f.Outcomes.Of(o); n > 0 {
				fmt.Fprintf(b, "cofferdam_findings_total{%s,outcome=\"%s\"} %d\n", labels, o, n)
				rest -= n
			}
		}
		if rest > 0 {
			fmt.Fprintf(b, "cofferdam_findings_total{%s,outcome=\"\"} %d\n", labels, rest)
		}
	}
	describe(b, "cofferdam_wait_seconds_total", "counter", "How long such accesses have waited for sections to end.")
	for i := range findings {
		if f := &findings[i]; f.LongestWait > 0 {
			fmt.Fprintf(b, "cofferdam_wait_seconds_total{%s} %g\n", f.waitLabels(), f.Waited.Seconds())
		}
	}
	describe(b, "cofferdam_longest_wait_seconds", "gauge", "The longest time that one of them has waited.")
	for i := range findings {
		if f := &findings[i]; f.LongestWait > 0 {
			fmt.Fprintf(b, "cofferdam_longest_wait_seconds{%s} %g\n", f.waitLabels(), f.LongestWait.Seconds())
		}
	}
	if err := b.Flush(); err != nil {
		return fmt.Errorf("writing findings as metrics: %w", err)
	}
	return nil
}

// WriteCounter writes a number of its own in the format of WriteMetrics. The type is counter
// or gauge.
func WriteCounter(w io.Writer, name, typ, help string, value uint64) error {
	b := bufio.NewWriter(w)
	describe(b, name, typ, help)
	fmt.Fprintf(b, "%s %d\n", name, value)
	return b.Flush()
}

func describe(b *bufio.Writer, name, typ, help string) {
	fmt.Fprintf(b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, typ)
}

func (f *Finding) labels() string {
	target := ""
	if len(f.Accesses) > 0 {
		target = f.Accesses[0].Target
	}
	return fmt.Sprintf(`id="%v",kind="%s",guard="%s",target="%s",site="%s"`, f.ID(), f.Kind, label(f.Guard.String()), label(target), label(f.careless()))
}

func (f *Finding) waitLabels() string {
	return fmt.Sprintf(`id="%v",guard="%s",site="%s"`, f.ID(), label(f.Guard.String()), label(f.careless()))
}

// careless returns the site of the access that the finding is about, "" if that was not seen.
func (f *Finding) careless() string {
	if len(f.Accesses) == 0 || len(f.Accesses[0].Stack) == 0 {
		return ""
	}
	return f.Accesses[0].Site().String()
}

// label returns a text as it is written within the quotes of a label.
func label(s string) string { return escapeLabel.Replace(strings.ToValidUTF8(s, "\ufffd")) }

var escapeLabel = strings.NewReplacer("\\", "\\\\", "\"", "\\\"", "\n", "\\n")
