package main

import (
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/cofferdam-go/cofferdam/cmd/cofferdam/topics"
	"github.com/cofferdam-go/cofferdam/internal/console"
)

// overview is what help says when it is asked for nothing in particular.
func overview(all []*command) string {
	var b strings.Builder
	b.WriteString(`Cofferdam finds the schedule under which a concurrent Go program fails, writes the
locks that keep it from happening, and keeps a racy program correct meanwhile.

usage: cofferdam COMMAND [flags] [arguments]

Commands:

`)
	for _, c := range all {
		fmt.Fprintf(&b, "  %-12s  %s\n", c.name, c.short)
	}
	fmt.Fprintf(&b, "  %-12s  %s\n", "help", "tell about a command or a topic")
	b.WriteString("\nTopics:\n\n")
	for _, t := range topics.All {
		fmt.Fprintf(&b, "  %-12s  %s\n", t.Name, t.Short)
	}
	b.WriteString("\ncofferdam help NAME tells about a command or a topic.\n")
	return b.String()
}

// help tells about what the arguments name.
func help(all []*command, w io.Writer, args []string) error {
	text := ""
	switch {
	case len(args) == 0, len(args) == 1 && args[0] == "help":
		text = overview(all)
	case len(args) > 1:
		return fmt.Errorf("help %s: name one command or topic; cofferdam help lists them", strings.Join(args, " "))
	default:
		var names []string
		for _, c := range all {
			if names = append(names, c.name); c.name == args[0] {
				text = c.help()
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

// help is all that there is to know of the command.
func (c *command) help() string {
	var b strings.Builder
	usage := "usage: cofferdam " + c.name + " [flags] " + c.operands
	fmt.Fprintf(&b, "%s\n\n%s\n\nFlags:\n\n%s", strings.TrimSpace(usage), strings.TrimSpace(c.long), flagHelp(c.flags))
	if c.notes != "" {
		fmt.Fprintf(&b, "\n%s\n", strings.TrimSpace(c.notes))
	}
	return b.String()
}

// The columns of the list of flags.
const (
	flagColumn = 22 // where descriptions begin
	helpWidth  = 86
)

// flagHelp lists the flags, each with its value, its description and its default.
func flagHelp(flags *flag.FlagSet) string {
	var b strings.Builder
	flags.VisitAll(func(f *flag.Flag) {
		value, text := flag.UnquoteUsage(f)
		head := "  -" + f.Name
		switch {
		case value == "":
		case takesNoValue(f):
			head += "[=" + value + "]"
		default:
			head += " " + value
		}
		if !isZero(f) {
			text += " (default " + f.DefValue + ")"
		}
		lines := wrap(text, helpWidth-flagColumn)
		if len(head) > flagColumn-2 {
			fmt.Fprintf(&b, "%s\n", head)
			head = ""
		}
		for _, line := range lines {
			fmt.Fprintf(&b, "%-*s%s\n", flagColumn, head, line)
			head = ""
		}
	})
	return b.String()
}

// isZero reports whether the default of a flag goes without saying.
func isZero(f *flag.Flag) bool {
	switch f.DefValue {
	case "", "false", "0", "0s":
		return true
	}
	return false
}

// wrap breaks a text into lines.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}
