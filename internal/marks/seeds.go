package marks

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A Seed is a schedule under which a test has failed, with how.
type Seed struct {
	Schedule string
	Failure  string // in a line, for people
}

// seedFile is where the schedules of a test are kept, one in a line:
//
//	2.8+3  # data race: write of count at toctou.go:12
func (t *Test) seedFile() string {
	return filepath.Join(t.Dir, "testdata", "explore", t.Name+".schedules")
}

// Seeds reads the schedules under which the test has failed before.
func (t *Test) Seeds() ([]Seed, error) {
	text, err := os.ReadFile(t.seedFile())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []Seed
	for line := range strings.Lines(string(text)) {
		schedule, failure, _ := strings.Cut(strings.TrimSpace(line), "#")
		if schedule = strings.TrimSpace(schedule); schedule != "" {
			all = append(all, Seed{schedule, strings.TrimSpace(failure)})
		}
	}
	return all, nil
}

// Keep adds a schedule, unless it is kept already, and returns the file.
func (t *Test) Keep(s Seed) (file string, err error) {
	all, err := t.Seeds()
	if err != nil {
		return "", err
	}
	file = t.seedFile()
	if slices.ContainsFunc(all, func(known Seed) bool { return known.Schedule == s.Schedule }) {
		return file, nil
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return "", err
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return "", err
	}
	_, err = fmt.Fprintf(f, "%s  # %s\n", s.Schedule, s.Failure)
	return file, errors.Join(err, f.Close())
}
