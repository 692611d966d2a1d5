package manual

import (
	"fmt"
	"strings"

	"github.com/cofferdam-go/cofferdam/cmd/cofferdam/command"
	"github.com/cofferdam-go/cofferdam/cmd/cofferdam/topics"
)

// scripts are the shells, with what makes a script for each.
var scripts = map[string]func([]*command.Command) string{"bash": bash, "zsh": zsh, "fish": fish}

func names(all []*command.Command) []string {
	list := []string{"help"}
	for _, c := range all {
		list = append(list, c.Name)
	}
	return list
}

// shells are those that there are scripts for.
const shells = "bash zsh fish"

// helped are what cofferdam help explains: commands and topics.
func helped(all []*command.Command) string {
	list := names(all)
	for _, t := range topics.All {
		list = append(list, t.Name)
	}
	return strings.Join(list, " ")
}

func bash(all []*command.Command) string {
	var b strings.Builder
	fmt.Fprintf(&b, `_cofferdam() {
	local word=${COMP_WORDS[COMP_CWORD]} words=
	if [ "$COMP_CWORD" -eq 1 ]; then
		COMPREPLY=($(compgen -W '%s' -- "$word"))
		return
	fi
	case ${COMP_WORDS[1]} in
`, strings.Join(names(all), " "))
	for _, c := range all {
		var flags []string
		for _, f := range flagsOf(c) {
			flags = append(flags, "-"+f.Name)
		}
		fmt.Fprintf(&b, "\t%s) words='%s' ;;\n", c.Name, strings.Join(flags, " "))
	}
	b.WriteString(`	esac
	case ${COMP_WORDS[1]}:$word in
	*:-*) COMPREPLY=($(compgen -W "$words" -- "$word")) ;;
	help:*) COMPREPLY=($(compgen -W '` + helped(all) + `' -- "$word")) ;;
	completion:*) COMPREPLY=($(compgen -W '` + shells + `' -- "$word")) ;;
	*)
		local IFS=$'\n' # a file's name may have spaces
		COMPREPLY=($(compgen -f -- "$word"))
		;;
	esac
}
complete -o filenames -F _cofferdam cofferdam
`)
	return b.String()
}

func zsh(all []*command.Command) string {
	var b strings.Builder
	b.WriteString("#compdef cofferdam\n\nlocal -a commands\ncommands=(\n")
	for _, c := range all {
		fmt.Fprintf(&b, "\t%s\n", quote(c.Name+":"+c.Short))
	}
	b.WriteString("\t'help:explain a command or a topic'\n)\nif (( CURRENT == 2 )); then\n\t_describe command commands\n\treturn\nfi\ncase $words[2] in\n")
	for _, c := range all {
		fmt.Fprintf(&b, "%s)\n\t_arguments", c.Name)
		for _, f := range flagsOf(c) {
			about := strings.NewReplacer("[", "(", "]", ")", ":", " ").Replace(firstWords(f))
			fmt.Fprintf(&b, " \\\n\t\t%s", quote("-"+f.Name+"["+about+"]"))
		}
		operands := "'*:file:_files'"
		if c.Name == "completion" {
			operands = quote("1:shell:(" + shells + ")")
		}
		fmt.Fprintf(&b, " \\\n\t\t%s\n\t;;\n", operands)
	}
	fmt.Fprintf(&b, "help)\n\tcompadd -- %s\n\t;;\nesac\n", helped(all))
	return b.String()
}

func fish(all []*command.Command) string {
	var b strings.Builder
	for _, c := range all {
		fmt.Fprintf(&b, "complete -c cofferdam -n __fish_use_subcommand -f -a %s -d %s\n", c.Name, quote(c.Short))
		for _, f := range flagsOf(c) {
			fmt.Fprintf(&b, "complete -c cofferdam -n '__fish_seen_subcommand_from %s' -o %s -d %s\n", c.Name, f.Name, quote(firstWords(f)))
		}
	}
	fmt.Fprintf(&b, "complete -c cofferdam -n __fish_use_subcommand -f -a help -d 'explain a command or a topic'\n")
	fmt.Fprintf(&b, "complete -c cofferdam -n '__fish_seen_subcommand_from help' -f -a '%s'\n", helped(all))
	fmt.Fprintf(&b, "complete -c cofferdam -n '__fish_seen_subcommand_from completion' -f -a '%s'\n", shells)
	return b.String()
}

// quote is a text as shells take it literally.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
