// Package settings reads cofferdam.toml, the file in the root of a module that says what holds
// for every run there.
//
//	# Flags that commands have unless they are given.
//	[explore]
//	budget = "2m"
//	races = true
//
//	# What -protect leaves alone here.
//	[protect]
//	skip = ["func:debug*", "package:example.com/app/legacy/..."]
//	baseline = "known.json"
//
//	# What is known, and not to be told again.
//	[suppress]
//	findings = ["3f2a9c0d1e4b5a67"]
//	places = ["cache/evict.go:41", "legacy/*.go", "Server.started"]
//
// A table or key that nothing reads is an error, with the line: a word that was spelled wrongly
// must not look as if it had been obeyed.
//
//	settings.go  the file as its readers see it
//	decode.go    what is in it, with lines
//	suppress.go  which findings are suppressed
package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"
)

// Name is the name of the file.
const Name = "cofferdam.toml"

// A File is what the file says.
type File struct {
	// Root is its directory, the module's root; "" if there is no module.
	Root     string
	Protect  Protect
	Suppress Suppress
	// Commands are the tables for commands.
	Commands []Command
	name     string
}

// Protect is the table for run, build and test.
type Protect struct {
	// Only and Skip are rules as the flags of these names have them.
	Only, Skip []string
	// Baseline is the name of a file with findings that are known, from the directory of
	// this one.
	Baseline string
}

// A Command is the table of a command.
type Command struct {
	Name  string
	Line  int
	Flags []Flag
}

// A Flag is a value that a command's flag has unless it is given.
type Flag struct {
	Name, Value string
	Line        int
}

// Find reads the file of the module that a directory is in. No module, or no file, says nothing.
func Find(dir string) (*File, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("looking for %s: %w", Name, err)
	}
	for ; ; dir = filepath.Dir(dir) {
		if info, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil && !info.IsDir() {
			return Read(dir)
		}
		if filepath.Dir(dir) == dir {
			return new(File), nil
		}
	}
}

// Files returns the names of all files, whether they are there or not, that may rule what is done in
// a directory: that of its module, and those of the modules of its workspace.
func Files(dir string) ([]string, error) {
	of, err := Find(dir)
	if err != nil {
		return nil, err
	}
	names := []string{filepath.Join(of.Root, Name)}
	workspace := findWorkspace(dir)
	text, err := os.ReadFile(workspace)
	if workspace == "" || errors.Is(err, fs.ErrNotExist) {
		return names, nil
	}
	if err != nil {
		return nil, err
	}
	work, err := modfile.ParseWork(workspace, text, nil)
	if err != nil {
		return nil, err
	}
	for _, use := range work.Use {
		root := filepath.FromSlash(use.Path)
		if !filepath.IsAbs(root) {
			root = filepath.Join(filepath.Dir(workspace), root)
		}
		names = append(names, filepath.Join(root, Name))
	}
	return names, nil
}

// findWorkspace returns the go.work that the go command would take; "" if none.
func findWorkspace(dir string) string {
	switch named := os.Getenv("GOWORK"); named {
	case "":
	case "off":
		return ""
	default:
		return named
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return ""
	}
	for ; ; dir = filepath.Dir(dir) {
		name := filepath.Join(dir, "go.work")
		if info, err := os.Stat(name); err == nil && !info.IsDir() {
			return name
		}
		if filepath.Dir(dir) == dir {
			return ""
		}
	}
}

// Read reads the file of a directory. No file says nothing.
func Read(dir string) (*File, error) {
	name := filepath.Join(dir, Name)
	text, err := os.ReadFile(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &File{Root: dir}, nil
	case err != nil:
		return nil, err
	}
	f, err := parse(name, string(text))
	if err != nil {
		return nil, err
	}
	f.Root = dir
	return f, nil
}

// Flags returns the flags of a command.
func (f *File) Flags(command string) []Flag {
	for _, c := range f.Commands {
		if c.Name == command {
			return c.Flags
		}
	}
	return nil
}

// Check returns an error if there is a table or a key that is for none of the commands, whose flags
// the function returns.
func (f *File) Check(commands []string, flags func(command string) []string) error {
	for _, c := range f.Commands {
		if !slices.Contains(commands, c.Name) {
			return f.Errorf(c.Line, "there is no table %s; there are %s", c.Name, strings.Join(append([]string{protectTable, suppressTable}, commands...), ", "))
		}
		known := flags(c.Name)
		for _, flag := range c.Flags {
			if !slices.Contains(known, flag.Name) {
				return f.Errorf(flag.Line, "%s has no flag %s; it has %s", c.Name, flag.Name, strings.Join(known, ", "))
			}
		}
	}
	return nil
}

// Errorf is an error about a line of the file.
func (f *File) Errorf(line int, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %w", f.name, line, fmt.Errorf(format, args...))
}
