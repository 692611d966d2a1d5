package sli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/cofferdam-go/cofferdam/internal/sli/draw"
)

// A Program is one that was to be fixed, and what became of it.
type Program struct {
	Name string `json:"name"`
	// Want is fixed or refused, Got that or none: no failure was found.
	Want string `json:"want"`
	Got  string `json:"got"`
	Why  string `json:"why,omitempty"` // it is wrong
	// Seconds are of the whole command.
	Seconds float64 `json:"seconds"`
	LogSize int64   `json:"logSize"`
	// As is where the bug of a module was fixed, and Upstream how its maintainers did.
	As       string `json:"as,omitempty"`
	Upstream string `json:"upstream,omitempty"`
	Fix
}

// A Fix is what cofferdam fix says of itself with -json.
type Fix struct {
	Fixed    bool     `json:"fixed"`
	Lock     string   `json:"lock"`
	Change   string   `json:"change"`
	Diff     string   `json:"diff"`
	Refusal  string   `json:"refusal"`
	Analysis Analysis `json:"analysis"`
}

// An Analysis is what it says of the engine's part.
type Analysis struct {
	Events   uint64 `json:"events"`
	Machines int    `json:"machines"`
	States   int    `json:"states"`
	Fixes    int    `json:"fixes"`
	// Published counts the fixes as the paper does: without those for races, lost updates and the
	// like.
	Published int           `json:"published_fixes"`
	Lifting   time.Duration `json:"lifting_ns"`
	Replay    time.Duration `json:"replay_ns"`
	Total     time.Duration `json:"total_ns"`
	Memory    uint64        `json:"memory_bytes"`
}

// right reports whether a program ended as it should.
func (p *Program) right() bool { return p.Got == p.Want && p.Why == "" }

// outcomes by the exit codes of the command.
var outcomes = map[int]string{0: "fixed", 1: "refused", 3: "none"}

// fix runs the command for a package in a directory.
func (s *session) fix(p *Program, dir, pattern string, flags ...string) error {
	s.progress.Show("%s", p.Name)
	log := s.Temp("failure.trace")
	args := slices.Concat([]string{"fix", "-failfast", "-json", "-o", log}, flags, []string{pattern})
	out, stderr, code, err := s.command(dir, &p.Seconds, args)
	if err != nil {
		return err
	}
	got, ok := outcomes[code]
	if !ok {
		p.Got, p.Why = "error", lastLine(stderr)
		return nil
	}
	p.Got = got
	if got == "none" {
		return nil
	}
	// There is a line for each failing test; the programs have one that matters.
	var report json.RawMessage
	err = json.NewDecoder(bytes.NewReader(out)).Decode(&report)
	if err == nil {
		err = json.Unmarshal(report, &p.Fix)
	}
	if err == nil {
		p.Why, err = unfitToTell(report)
	}
	if err != nil {
		return fmt.Errorf("reading what cofferdam fix says of %s: %w", p.Name, err)
	}
	info, err := os.Stat(log)
	if err != nil {
		return fmt.Errorf("the log of %s: %w", p.Name, err)
	}
	p.LogSize = info.Size()
	return os.Remove(log)
}

// lineOfProgram is how a text names a line.
var lineOfProgram = regexp.MustCompile(`\w\.go:\d`)

// unfitToTell says what is wrong with the words of a report: the engine's notation is in them, or a
// refusal names no line.
func unfitToTell(report []byte) (why string, err error) {
	var all map[string]any
	if err := json.Unmarshal(report, &all); err != nil {
		return "", err
	}
	if refusal, ok := all["refusal"].(string); ok && !lineOfProgram.MatchString(refusal) {
		return "the refusal names no line", nil
	}
	var walk func(key string, v any)
	walk = func(key string, v any) {
		switch v := v.(type) {
		case string:
			if found := draw.Notation.FindString(v); found != "" && key != "diff" {
				why = fmt.Sprintf("people are told of %q", found)
			}
		case []any:
			for _, e := range v {
				walk(key, e)
			}
		case map[string]any:
			for k, e := range v {
				walk(k, e)
			}
		}
	}
	walk("", all)
	return why, nil
}

// command runs the tool and tells its output and exit code, and how long it took.
func (s *session) command(dir string, seconds *float64, args []string) (stdout []byte, stderr string, code int, err error) {
	cmd := exec.CommandContext(s.Context, s.tool, args...)
	cmd.Dir = dir
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	start := time.Now()
	err = cmd.Run()
	*seconds = time.Since(start).Seconds()
	var exit *exec.ExitError
	if errors.As(err, &exit) && s.Context.Err() == nil {
		return out.Bytes(), errs.String(), exit.ExitCode(), nil
	}
	return out.Bytes(), errs.String(), 0, err
}

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return lines[len(lines)-1]
}

// unpack writes the files of an archive to a directory.
func unpack(archive *txtar.Archive, dir string) error {
	for _, f := range archive.Files {
		name := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(name, f.Data, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// examples fixes the six programs that the paper has too, each from several reproductions of its
// failure.
func (s *session) examples() error {
	dir := s.Temp("examples")
	if err := os.CopyFS(dir, os.DirFS(filepath.Join(s.root, "examples", "races"))); err != nil {
		return err
	}
	// Once not counted: it fills the build cache, as anybody's second run finds it.
	if err := s.fix(&Program{Name: "filling the build cache"}, dir, "./toctou"); err != nil {
		return err
	}
	for _, row := range paper {
		if !s.run.MatchString(row.example) {
			continue
		}
		for seed := range s.reproductions {
			p := &Program{Name: row.example, Want: "fixed"}
			at := s.Temp(fmt.Sprintf("%s%d", row.example, seed))
			if err := os.CopyFS(at, os.DirFS(dir)); err != nil {
				return err
			}
			if err := s.fix(p, at, "./"+row.example, "-w", "-seed", fmt.Sprint(seed+1)); err != nil {
				return err
			}
			if seed == 0 {
				if err := s.again(p, at, "./"+row.example); err != nil {
					return err
				}
			}
			s.report.Examples = append(s.report.Examples, p)
		}
	}
	return nil
}

// again runs the tests of a program that was fixed under the race detector.
func (s *session) again(p *Program, dir, pattern string, flags ...string) error {
	if p.Got != "fixed" {
		return nil
	}
	s.progress.Show("%s under the race detector", p.Name)
	fails, err := s.raceFails(dir, append(flags, pattern)...)
	if fails {
		p.Why = "the fixed program fails under -race"
	}
	return err
}

// corpus fixes the programs that internal/repair is tested with.
func (s *session) corpus() error {
	files, err := filepath.Glob(filepath.Join(s.root, "internal", "repair", "testdata", "corpus", "*.txtar"))
	if err != nil {
		return err
	}
	dir := s.Temp("corpus")
	if err := unpack(&txtar.Archive{Files: []txtar.File{{Name: "go.mod", Data: []byte("module corpus\n\ngo 1.26\n")}}}, dir); err != nil {
		return err
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txtar")
		if !s.run.MatchString(name) {
			continue
		}
		archive, err := txtar.ParseFile(file)
		if err != nil {
			return err
		}
		var hidden txtar.Archive // tests that the fix is not shown
		archive.Files = slices.DeleteFunc(archive.Files, func(f txtar.File) bool {
			unseen := f.Name == "unseen_test.go"
			if unseen {
				hidden.Files = append(hidden.Files, f)
			}
			return unseen
		})
		if err := unpack(archive, filepath.Join(dir, name)); err != nil {
			return err
		}
		_, want, _ := strings.Cut(string(archive.Comment), "want: ")
		p := &Program{Name: name, Want: strings.TrimSpace(want)}
		if err := s.fix(p, dir, "./"+name, "-w"); err != nil {
			return err
		}
		if err := unpack(&hidden, filepath.Join(dir, name)); err != nil {
			return err
		}
		if err := s.again(p, dir, "./"+name); err != nil {
			return err
		}
		s.report.Corpus = append(s.report.Corpus, p)
	}
	return nil
}
