package manual

import (
	"flag"
	"fmt"
	"strings"

	"github.com/cofferdam-go/cofferdam/cmd/cofferdam/command"
	"github.com/cofferdam-go/cofferdam/cmd/cofferdam/topics"
)

// page is the manual page: the commands, and then the topics of cofferdam help.
func page(all []*command.Command, topics []topics.Topic) string {
	var b strings.Builder
	b.WriteString(".TH COFFERDAM 1\n.SH NAME\ncofferdam \\- find, prove and contain concurrency bugs of Go programs\n.SH SYNOPSIS\n.B cofferdam\n.I command\n[\\fIflags\\fR] [\\fIarguments\\fR]\n.SH COMMANDS\n")
	for _, c := range all {
		fmt.Fprintf(&b, ".SS cofferdam %s\n%s\n", c.Name, escape(upper(c.Short)+"."))
		for paragraph := range strings.SplitSeq(strings.TrimSpace(c.Long), "\n\n") {
			fmt.Fprintf(&b, ".PP\n%s\n", escape(paragraph))
		}
		for _, f := range flagsOf(c) {
			value, text := flag.UnquoteUsage(f)
			fmt.Fprintf(&b, ".TP\n\\fB\\-%s\\fR", escape(f.Name))
			if value != "" {
				fmt.Fprintf(&b, " \\fI%s\\fR", escape(value))
			}
			fmt.Fprintf(&b, "\n%s\n", escape(text))
		}
		if notes := strings.TrimSpace(c.Notes); notes != "" {
			fmt.Fprintf(&b, ".PP\n.nf\n%s\n.fi\n", escape(notes))
		}
	}
	b.WriteString(".SH TOPICS\n")
	for _, t := range topics {
		fmt.Fprintf(&b, ".SS %s\n%s\n.PP\n.nf\n%s\n.fi\n", t.Name, escape(upper(t.Short)+"."), escape(strings.TrimSpace(t.Text)))
	}
	return b.String()
}

func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// escape keeps a text from being taken for requests.
func escape(text string) string {
	text = strings.ReplaceAll(text, `\`, `\e`)
	text = strings.ReplaceAll(text, "-", `\-`)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}
