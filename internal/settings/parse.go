package settings

import (
	"fmt"
	"strconv"
	"strings"
)

// A value is what a key is set to: a list of texts, or one text, number or truth value.
type value struct {
	key  string // with its table: protect.skip
	line int
	list []string
	text string
}

// A parser goes through a file, line by line.
type parser struct {
	name  string
	lines []string
	at    int // the line that is looked at
}

func parseValues(name, text string) ([]value, error) {
	p := &parser{name: name, lines: strings.Split(text, "\n")}
	var all []value
	table, seen := "", make(map[string]int)
	for ; p.at < len(p.lines); p.at++ {
		line := strings.TrimSpace(withoutComment(p.lines[p.at]))
		switch {
		case line == "":
		case strings.HasPrefix(line, "["):
			name, ok := strings.CutSuffix(line[1:], "]")
			if name = strings.TrimSpace(name); !ok || !isWord(name) {
				return nil, p.error("a table is written [name]")
			}
			table = name + "."
		default:
			v, err := p.value(table, line)
			if err != nil {
				return nil, err
			}
			if before, again := seen[v.key]; again {
				return nil, fmt.Errorf("%s:%d: %s was set in line %d already", name, v.line, v.key, before)
			}
			seen[v.key] = v.line
			all = append(all, v)
		}
	}
	return all, nil
}

func (p *parser) error(text string) error {
	return fmt.Errorf("%s:%d: %s", p.name, p.at+1, text)
}

// value reads a key with its value, of which a list may go on in the next lines.
func (p *parser) value(table, line string) (value, error) {
	key, rest, ok := strings.Cut(line, "=")
	key, rest = strings.TrimSpace(key), strings.TrimSpace(rest)
	if !ok || !isWord(key) || rest == "" {
		return value{}, p.error(`a setting is written key = "text" or key = ["text", "text"]`)
	}
	v := value{key: table + key, line: p.at + 1}
	if !strings.HasPrefix(rest, "[") {
		text, err := scalar(rest)
		if err != nil {
			return v, p.error(err.Error())
		}
		v.text = text
		return v, nil
	}
	rest = rest[1:]
	v.list = []string{}
	for {
		rest = strings.TrimSpace(rest)
		switch {
		case rest == "":
			if p.at++; p.at == len(p.lines) {
				p.at = v.line - 1
				return v, p.error("the list has no end")
			}
			rest = withoutComment(p.lines[p.at])
		case rest[0] == ',':
			rest = rest[1:]
		case rest[0] == ']':
			if strings.TrimSpace(rest[1:]) != "" {
				return v, p.error("something follows the list")
			}
			return v, nil
		default:
			quoted, err := strconv.QuotedPrefix(rest)
			if err != nil || quoted[0] == '`' {
				return v, p.error(`a list has texts in it: "text"`)
			}
			text, _ := strconv.Unquote(quoted)
			v.list = append(v.list, text)
			rest = rest[len(quoted):]
		}
	}
}

// scalar reads a text, a number or a truth value.
func scalar(s string) (string, error) {
	if strings.HasPrefix(s, `"`) {
		text, err := strconv.Unquote(s)
		if err != nil {
			return "", fmt.Errorf("%s is no text in quotes", s)
		}
		return text, nil
	}
	if _, err := strconv.ParseFloat(s, 64); err != nil && s != "true" && s != "false" {
		return "", fmt.Errorf("%s is no text in quotes, no number and no truth value", s)
	}
	return s, nil
}

// withoutComment cuts off what follows a # that is in no text.
func withoutComment(line string) string {
	quoted := false
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '"':
			quoted = !quoted
		case '\\':
			if quoted {
				i++
			}
		case '#':
			if !quoted {
				return line[:i]
			}
		}
	}
	return line
}

// isWord reports whether a text can be the name of a table or key.
func isWord(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") == ""
}
