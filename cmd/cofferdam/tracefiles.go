package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/explore"
)

// traceFiles gives each failing test a file of its own.
type traceFiles struct {
	out   string   // what the user wants: a file, a directory for several, or "" for one beside the tests
	many  bool     // there are several packages, in which tests can have the same name
	taken []string // the files that were written
}

// next returns the file for a test, should it fail. The file that the user names is that
// of the first; the files of others stand beside it.
func (f *traceFiles) next(t explore.Target) string {
	if f.out == "" {
		return fromHere(filepath.Join(t.Program.TraceDir(), t.FileName()+".trace"))
	}
	dir, file := "", f.out
	if info, err := os.Stat(f.out); err == nil && info.IsDir() {
		dir, file = f.out, ""
	} else if len(f.taken) > 0 {
		dir, file = filepath.Dir(f.out), ""
	}
	if file != "" {
		return file
	}
	file = filepath.Join(dir, t.FileName()+".trace")
	if slices.Contains(f.taken, file) || f.many && t.Test == "" {
		file = filepath.Join(dir, path.Base(t.Program.Package)+"."+t.FileName()+".trace")
	}
	for n := 2; slices.Contains(f.taken, file); n++ {
		file = filepath.Join(dir, fmt.Sprintf("%s.%s.%d.trace", path.Base(t.Program.Package), t.FileName(), n))
	}
	return file
}

// used says that a file was written.
func (f *traceFiles) used(file string) { f.taken = append(f.taken, file) }

// fromHere is a file's path from the current directory, if the file is below it.
func fromHere(file string) string {
	dir, err := os.Getwd()
	if err != nil {
		return file
	}
	if short, err := filepath.Rel(dir, file); err == nil && short != ".." && !strings.HasPrefix(short, ".."+string(filepath.Separator)) {
		return short
	}
	return file
}
