package main

import (
	"flag"
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/cmd/cofferdam/topics"
)

// TestHelpIsWhole: each command tells what it does, gives an example, describes each flag
// and fits a terminal.
func TestHelpIsWhole(t *testing.T) {
	names := map[string]bool{}
	for _, c := range commands() {
		if names[c.Name] {
			t.Errorf("there are two commands %s", c.Name)
		}
		names[c.Name] = true
		text := c.Help()
		if c.Short == "" || c.Long == "" || c.Work == nil {
			t.Errorf("%s is not whole", c.Name)
		}
		if c.Name != "version" && !strings.Contains(text, "\n  cofferdam "+c.Name+" ") {
			t.Errorf("%s has no example", c.Name)
		}
		c.Flags.VisitAll(func(f *flag.Flag) {
			if f.Usage == "" || !strings.Contains(text, "\n  -"+f.Name) {
				t.Errorf("%s: -%s is not described", c.Name, f.Name)
			}
		})
		checkWidth(t, c.Name, text)
	}
	for _, topic := range topics.All {
		if names[topic.Name] {
			t.Errorf("%s is a topic and a command", topic.Name)
		}
		checkWidth(t, topic.Name, topic.Text)
	}
}

func checkWidth(t *testing.T, name, text string) {
	t.Helper()
	for _, line := range strings.Split(text, "\n") {
		if len(line) > 92 || strings.TrimRight(line, " \t") != line {
			t.Errorf("help %s: a line is too long or ends in blanks: %q", name, line)
		}
	}
}
