package command

import (
	"flag"
	"fmt"
	"strings"
)

// Help is all that there is to know of the command.
func (c *Command) Help() string {
	var b strings.Builder
	usage := "usage: cofferdam " + c.Name + " [flags] " + c.operands
	fmt.Fprintf(&b, "%s\n\n%s\n\nFlags:\n\n%s", strings.TrimSpace(usage), strings.TrimSpace(c.Long), flagHelp(c.Flags))
	if c.Notes != "" {
		fmt.Fprintf(&b, "\n%s\n", strings.TrimSpace(c.Notes))
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
