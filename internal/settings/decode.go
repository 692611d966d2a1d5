package settings

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/BurntSushi/toml"
)

// The tables that are not a command's.
const (
	protectTable  = "protect"
	suppressTable = "suppress"
)

// parse reads the text of a file.
func parse(name, text string) (*File, error) {
	f := &File{name: name}
	var tables map[string]toml.Primitive
	meta, err := toml.Decode(text, &tables)
	if err != nil {
		return nil, f.syntax(err)
	}
	lists := map[string]*[]string{
		"protect.only": &f.Protect.Only, "protect.skip": &f.Protect.Skip,
		"suppress.findings": &f.Suppress.Findings, "suppress.places": &f.Suppress.Places,
	}
	texts := map[string]*string{"protect.baseline": &f.Protect.Baseline}
	for _, key := range meta.Keys() {
		if len(key) > 2 {
			var inner map[string]toml.Primitive
			_ = meta.PrimitiveDecode(tables[key[0]], &inner) // it is a table
			return nil, f.Errorf(lineOf(&meta, inner[key[1]]), "%s: tables have no tables in them", key)
		}
		if len(key) != 1 {
			continue // a key of a table, which is gone through with it
		}
		table := tables[key[0]]
		line := lineOf(&meta, table)
		var values map[string]toml.Primitive
		if meta.Type(key...) != "Hash" || meta.PrimitiveDecode(table, &values) != nil {
			return nil, f.Errorf(line, "%s stands in no table: write [explore], [protect] or the like above it", key)
		}
		command := Command{Name: key[0], Line: line}
		for _, inner := range meta.Keys() {
			if len(inner) < 2 || inner[0] != key[0] {
				continue
			}
			at := lineOf(&meta, values[inner[1]])
			var v value
			if err := meta.PrimitiveDecode(values[inner[1]], &v); err != nil {
				return nil, f.Errorf(at, "%s: %w", inner, v.problem)
			}
			list, isList := lists[inner.String()]
			text, isText := texts[inner.String()]
			switch {
			case key[0] != protectTable && key[0] != suppressTable:
				command.Flags = append(command.Flags, v.flags(inner[1], at)...)
			case !isList && !isText:
				return nil, f.Errorf(at, "there is no setting %s; there are protect.only, protect.skip, protect.baseline, suppress.findings and suppress.places", inner)
			case isList && v.list == nil:
				return nil, f.Errorf(at, `%s has to be a list of texts: ["..."]`, inner)
			case isText && v.list != nil:
				return nil, f.Errorf(at, `%s has to be one text: "..."`, inner)
			case isList:
				*list = v.list
			default:
				*text = v.text
			}
		}
		if key[0] != protectTable && key[0] != suppressTable {
			f.Commands = append(f.Commands, command)
		}
	}
	return f, f.Suppress.check(f, lineOf(&meta, tables[suppressTable]))
}

// syntax is an error about what is no TOML.
func (f *File) syntax(err error) error {
	var bad toml.ParseError
	if errors.As(err, &bad) {
		return f.Errorf(bad.Position.Line, "%s", bad.Message)
	}
	return fmt.Errorf("%s: %w", f.name, err)
}

// A value is what a key is set to: a list of texts, or one text, number or truth value.
type value struct {
	list    []string
	text    string
	problem error
}

// UnmarshalTOML takes what the decoder has read.
func (v *value) UnmarshalTOML(is any) error {
	switch is := is.(type) {
	case string:
		v.text = is
	case bool:
		v.text = strconv.FormatBool(is)
	case int64:
		v.text = strconv.FormatInt(is, 10)
	case float64:
		v.text = strconv.FormatFloat(is, 'g', -1, 64)
	case []any:
		v.list = []string{}
		for _, element := range is {
			text, ok := element.(string)
			if !ok {
				v.problem = errors.New("a list has texts in it")
				return v.problem
			}
			v.list = append(v.list, text)
		}
	default:
		v.problem = errors.New("give a text, a number, a truth value or a list of texts")
	}
	return v.problem
}

// flags are what the value means for a flag: a list is the flag several times.
func (v *value) flags(name string, line int) []Flag {
	texts := v.list
	if texts == nil {
		texts = []string{v.text}
	}
	var all []Flag
	for _, text := range texts {
		all = append(all, Flag{Name: name, Value: text, Line: line})
	}
	return all
}

// lineOf returns the line of a key. The decoder tells it with errors alone.
func lineOf(meta *toml.MetaData, key toml.Primitive) int {
	var located toml.ParseError
	if errors.As(meta.PrimitiveDecode(key, new(refused)), &located) {
		return located.Position.Line
	}
	return 0
}

// refused can be no value.
type refused struct{}

func (*refused) UnmarshalTOML(any) error { return errors.New("refused") }
