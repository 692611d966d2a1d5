package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/cofferdam-go/cofferdam/cmd/cofferdam/command"
	"github.com/cofferdam-go/cofferdam/cmd/cofferdam/topics"
	"github.com/cofferdam-go/cofferdam/internal/console"
)

// overview is what help says when it is asked for nothing in particular.
func overview(all []*command.Command) string {
	var b strings.Builder
	b.WriteString(`Cofferdam finds the schedule under which a concurrent Go program fails, writes the
locks that keep it from happening, and keeps a racy program correct meanwhile.

usage: cofferdam COMMAND [flags] [arguments]

Commands:

`)
	for _, c := range all {
		fmt.Fprintf(&b, "  %-12s  %s\n", c.Name, c.Short)
	}
	fmt.Fprintf(&b, "  %-12s  %s\n", "help", "explain a command or a topic")
	b.WriteString("\nTopics:\n\n")
	for _, t := range topics.All {
		fmt.Fprintf(&b, "  %-12s  %s\n", t.Name, t.Short)
	}
	b.WriteString("\ncofferdam help NAME explains a command or a topic.\n")
	return b.String()
}

// help prints what there is to say about what the arguments name.
func help(all []*command.Command, w io.Writer, args []string) error {
	text := ""
	switch {
	case len(args) == 0, len(args) == 1 && args[0] == "help":
		text = overview(all)
	case len(args) > 1:
		return fmt.Errorf("help %s: name one command or topic; cofferdam help lists them", strings.Join(args, " "))
	default:
		var names []string
		for _, c := range all {
			if names = append(names, c.Name); c.Name == args[0] {
				text = c.Help()
			}
		}
		for _, t := range topics.All {
			if names = append(names, t.Name); t.Name == args[0] {
				text = t.Text
			}
		}
		if text == "" {
			return fmt.Errorf("there is no help for %q%s; cofferdam help lists the commands and topics", args[0], console.Nearest("", args[0], names))
		}
	}
	_, err := io.WriteString(w, text)
	return err
}
