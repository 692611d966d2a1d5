package settings

import (
	"fmt"
	"path"
	"path/filepath"
	"slices"

	"github.com/cofferdam-go/cofferdam/internal/finding"
)

// Suppress says which findings are known, and not to be told.
type Suppress struct {
	// Findings are ids, as -json, -sarif and cofferdam findings print them.
	Findings []string
	// Places are files with or without a line, from the module's root, with * for any part of a
	// name; or the name of what is accessed, or of its lock, as reports spell it.
	Places []string
}

// check returns an error for what can mean no finding.
func (s *Suppress) check(f *File, line int) error {
	for _, text := range s.Findings {
		if new(finding.ID).UnmarshalText([]byte(text)) != nil {
			return f.Errorf(line, "suppress.findings: %q is no id of a finding", text)
		}
	}
	for _, text := range s.Places {
		if _, err := path.Match(text, ""); err != nil || text == "" {
			return f.Errorf(line, "suppress.places: %q is no place", text)
		}
	}
	return nil
}

// Suppressed reports whether a finding is not to be told.
func (f *File) Suppressed(is *finding.Finding) bool {
	s := &f.Suppress
	if len(s.Findings) > 0 && slices.Contains(s.Findings, is.ID().String()) {
		return true
	}
	if len(s.Places) == 0 || len(is.Accesses) == 0 {
		return false
	}
	access := &is.Accesses[0]
	names := []string{access.Target, is.Guard.Name}
	if at := access.Site(); at.File != "" {
		file := at.File
		if rel, err := filepath.Rel(f.Root, file); err == nil && filepath.IsLocal(rel) {
			file = rel
		}
		file = filepath.ToSlash(file)
		names = append(names, file, fmt.Sprintf("%s:%d", file, at.Line))
	}
	return slices.ContainsFunc(s.Places, func(place string) bool {
		return slices.ContainsFunc(names, func(name string) bool {
			ok, _ := path.Match(place, name) // checked when it was read
			return ok && name != ""
		})
	})
}

// Told are those of some findings that are to be told, and how many others there are.
func Told[T any](f *File, all []T, finding func(*T) *finding.Finding) (told []T, suppressed int) {
	for i := range all {
		if f.Suppressed(finding(&all[i])) {
			suppressed++
		} else {
			told = append(told, all[i])
		}
	}
	return told, suppressed
}

// Suppressed says how many findings were suppressed.
func Suppressed(n int) string {
	if n == 1 {
		return "1 finding is suppressed by " + Name
	}
	return fmt.Sprintf("%d findings are suppressed by %s", n, Name)
}
