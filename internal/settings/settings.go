// Package settings reads cofferdam.toml, the file in the root of a module that says what holds
// for every run there. It is a small part of TOML: tables, and keys with texts, numbers, truth
// values and lists of texts, which may go over several lines.
//
//	# What -protect leaves alone here.
//	[protect]
//	skip = [
//		"func:debug*",
//		"package:example.com/app/legacy/...",
//	]
//	baseline = "known.json"
//
// A table or key that nothing reads is an error, with the line: a word that was spelled wrongly
// must not look as if it had been obeyed.
//
// settings.go has the file as its readers see it, parse.go its syntax.
package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// Name is the name of the file.
const Name = "cofferdam.toml"

// A File is what the file says.
type File struct {
	Protect Protect
}

// Protect is the table for run, build and test.
type Protect struct {
	// Only and Skip are rules as the flags of these names have them.
	Only, Skip []string
	// Baseline is the name of a file with findings that are known, from the directory of
	// this one.
	Baseline string
}

// Read reads the file of a directory. No file says nothing.
func Read(dir string) (*File, error) {
	name := filepath.Join(dir, Name)
	text, err := os.ReadFile(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return new(File), nil
	case err != nil:
		return nil, err
	}
	return parse(name, string(text))
}

// parse reads the text of a file.
func parse(name, text string) (*File, error) {
	values, err := parseValues(name, text)
	if err != nil {
		return nil, err
	}
	f := new(File)
	lists := map[string]*[]string{"protect.only": &f.Protect.Only, "protect.skip": &f.Protect.Skip}
	texts := map[string]*string{"protect.baseline": &f.Protect.Baseline}
	for _, v := range values {
		list, isList := lists[v.key]
		text, isText := texts[v.key]
		switch {
		case !isList && !isText:
			names := slices.Sorted(maps.Keys(lists))
			names = append(names, slices.Sorted(maps.Keys(texts))...)
			return nil, fmt.Errorf("%s:%d: there is no setting %s; there are %v", name, v.line, v.key, names)
		case isList && v.list == nil:
			return nil, fmt.Errorf("%s:%d: %s has to be a list of texts: [\"...\"]", name, v.line, v.key)
		case isText && v.list != nil:
			return nil, fmt.Errorf("%s:%d: %s has to be one text: \"...\"", name, v.line, v.key)
		case isList:
			*list = v.list
		default:
			*text = v.text
		}
	}
	return f, nil
}
