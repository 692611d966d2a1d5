// Package manual makes the manual page and the completions of shells from the commands and their
// flags, so that they say what the command does.
//
//	manual.go      cofferdam man and cofferdam completion
//	page.go        the page, in the form of man
//	completion.go  bash, zsh and fish
package manual

import (
	"context"
	"flag"
	"io"
	"strings"

	"github.com/cofferdam-go/cofferdam/cmd/cofferdam/command"
	"github.com/cofferdam-go/cofferdam/cmd/cofferdam/topics"
)

// NewManCommand returns cofferdam man, about the commands that a function returns.
func NewManCommand(commands func() []*command.Command) *command.Command {
	c := command.New("man", "", "print the manual page")
	c.IgnoresSettings = true
	c.Long = `Man prints a page about all commands, flags and topics, in the form that man shows.`
	c.Notes = `Examples:

  cofferdam man >/usr/local/share/man/man1/cofferdam.1
  cofferdam man | man -l -`
	c.Work = func(_ context.Context, inv *command.Invocation) error {
		if len(inv.Operands) > 0 {
			return c.Errorf("man takes no arguments")
		}
		_, err := io.WriteString(inv.Stdout, page(commands(), topics.All))
		return err
	}
	return c
}

// NewCompletionCommand returns cofferdam completion.
func NewCompletionCommand(commands func() []*command.Command) *command.Command {
	c := command.New("completion", "bash|zsh|fish", "print what has a shell complete commands and flags")
	c.IgnoresSettings = true
	c.Long = `Completion prints a script for a shell, which then completes the names of commands, of
flags, of topics of help, and of files.`
	c.Notes = `Examples:

  cofferdam completion bash >/etc/bash_completion.d/cofferdam
  cofferdam completion zsh >"${fpath[1]}/_cofferdam"
  cofferdam completion fish >~/.config/fish/completions/cofferdam.fish`
	c.Work = func(_ context.Context, inv *command.Invocation) error {
		if len(inv.Operands) != 1 || scripts[inv.Operands[0]] == nil {
			return c.Errorf("name a shell: bash, zsh or fish")
		}
		_, err := io.WriteString(inv.Stdout, scripts[inv.Operands[0]](commands()))
		return err
	}
	return c
}

// flagsOf are the flags of a command, in their order.
func flagsOf(c *command.Command) []*flag.Flag {
	var all []*flag.Flag
	c.Flags.VisitAll(func(f *flag.Flag) { all = append(all, f) })
	return all
}

// firstWords is a text up to its first comma, semicolon, colon or bracket, which a shell shows
// beside a flag.
func firstWords(f *flag.Flag) string {
	_, text := flag.UnquoteUsage(f)
	if i := strings.IndexAny(text, ",;:(["); i > 0 {
		text = text[:i]
	}
	return strings.TrimSpace(text)
}
