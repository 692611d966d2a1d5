package sli

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/tools/txtar"
)

// racy are tests of released modules with bugs, an archive for each: a go.mod that requires the
// module, and the test. The comment says what the test does, where the bug is to be fixed, and
// how the module's maintainers did:
//
//	github.com/robfig/cron v1.1.0: Start against itself
//	as: dependency
//	upstream: v3 has a mutex
//
// A dependency is fixed in the module cache, on paper; with replace, in a copy beside the
// program; as module, in a copy of the module that the test is put into.
//
//go:embed testdata
var racy embed.FS

// A racyModule is one of them.
type racyModule struct {
	name, title, as, upstream string
	path, version             string
	archive                   *txtar.Archive
	test                      string // the name of the test function
}

var (
	requirement = regexp.MustCompile(`(?m)^require (\S+) (\S+)$`)
	testName    = regexp.MustCompile(`(?m)^func (Test\w+)`)
)

// racyModules reads the archives.
func racyModules() ([]*racyModule, error) {
	files, err := racy.ReadDir("testdata")
	if err != nil {
		return nil, err
	}
	var all []*racyModule
	for _, f := range files {
		text, err := racy.ReadFile("testdata/" + f.Name())
		if err != nil {
			return nil, err
		}
		m := &racyModule{name: strings.TrimSuffix(f.Name(), ".txtar"), archive: txtar.Parse(text)}
		for i, line := range strings.Split(strings.TrimSpace(string(m.archive.Comment)), "\n") {
			key, value, _ := strings.Cut(line, ": ")
			switch {
			case i == 0:
				m.title = line
			case key == "as":
				m.as = value
			case key == "upstream":
				m.upstream = value
			}
		}
		required := requirement.FindSubmatch(m.archive.Files[0].Data)
		test := testName.FindSubmatch(m.archive.Files[1].Data)
		if required == nil || test == nil {
			return nil, fmt.Errorf("testdata/%s: no module is required, or there is no test", f.Name())
		}
		m.path, m.version, m.test = string(required[1]), string(required[2]), string(test[1])
		all = append(all, m)
	}
	return all, nil
}

// modules fixes bugs of released modules.
func (s *session) modules() error {
	all, err := racyModules()
	if err != nil {
		return err
	}
	for _, m := range all {
		if !s.run.MatchString(m.name) {
			continue
		}
		p := &Program{Name: m.title, Want: "fixed", As: m.as, Upstream: m.upstream}
		dir := s.Temp(m.name)
		s.progress.Show("%s: downloading", m.name)
		switch m.as {
		case "dependency":
			err = s.inDependency(p, m, dir)
		case "replace":
			err = s.inReplacement(p, m, dir)
		case "module":
			err = s.inModule(p, m, dir)
		default:
			err = fmt.Errorf("testdata/%s.txtar: a bug cannot be fixed as %q", m.name, m.as)
		}
		if err != nil {
			return err
		}
		s.report.Modules = append(s.report.Modules, p)
	}
	return nil
}

// inDependency fixes a bug in the module cache. Such a fix is printed; to apply it there is
// refused, which is looked at once.
func (s *session) inDependency(p *Program, m *racyModule, dir string) error {
	if err := unpack(m.archive, dir); err != nil {
		return err
	}
	if _, err := s.Go(dir, "mod", "tidy"); err != nil {
		return err
	}
	if err := s.fix(p, dir, ".", "-deps"); err != nil || p.Got != "fixed" || s.sawUnapplied {
		return err
	}
	s.sawUnapplied = true
	return s.unapplied(p, dir)
}

// inReplacement fixes a bug in a copy of the module that the program has by a replace directive.
func (s *session) inReplacement(p *Program, m *racyModule, dir string) error {
	if err := unpack(m.archive, dir); err != nil {
		return err
	}
	if err := s.copyModule(m, filepath.Join(dir, "third_party")); err != nil {
		return err
	}
	for _, args := range [][]string{{"mod", "edit", "-replace=" + m.path + "=./third_party"}, {"mod", "tidy"}} {
		if _, err := s.Go(dir, args...); err != nil {
			return err
		}
	}
	if err := s.fix(p, dir, ".", "-deps", "-w"); err != nil {
		return err
	}
	return s.again(p, dir, ".", "-run", m.test)
}

// inModule fixes a bug inside of the module itself.
func (s *session) inModule(p *Program, m *racyModule, dir string) error {
	if err := s.copyModule(m, dir); err != nil {
		return err
	}
	if err := unpack(&txtar.Archive{Files: m.archive.Files[1:]}, dir); err != nil {
		return err
	}
	if _, err := s.Go(dir, "mod", "tidy"); err != nil {
		return err
	}
	if err := s.fix(p, dir, ".", "-run", "^"+m.test+"$", "-w"); err != nil {
		return err
	}
	return s.again(p, dir, ".", "-run", "^"+m.test+"$")
}

// copyModule copies a module of the module cache, without its tests, which may need what is
// not there, and without vendored packages of another time. A module from before go.mod gets
// one.
func (s *session) copyModule(m *racyModule, dir string) error {
	out, err := s.Go(s.Temp(""), "mod", "download", "-json", m.path+"@"+m.version)
	if err != nil {
		return err
	}
	var downloaded struct{ Dir string }
	if err := json.Unmarshal([]byte(out), &downloaded); err != nil {
		return fmt.Errorf("reading where %s is: %w", m.path, err)
	}
	if err := os.CopyFS(dir, os.DirFS(downloaded.Dir)); err != nil {
		return err
	}
	tests, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		return err
	}
	for _, name := range tests {
		if err := os.Remove(name); err != nil {
			return err
		}
	}
	// The files of the cache are read-only.
	if err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chmod(name, 0o755)
	}); err != nil {
		return err
	}
	if err := os.RemoveAll(filepath.Join(dir, "vendor")); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); errors.Is(err, os.ErrNotExist) {
		_, err = s.Go(dir, "mod", "init", m.path)
		return err
	}
	return nil
}

// unapplied checks that a fix of a dependency is not written to the module cache.
func (s *session) unapplied(p *Program, dir string) error {
	var seconds float64
	_, stderr, code, err := s.command(dir, &seconds, []string{"fix", "-deps", "-w", "."})
	if err != nil {
		return err
	}
	if code != 2 || !strings.Contains(stderr, "module cache") {
		p.Why = "with -w, nothing was said of the module cache"
	}
	return nil
}

// raceFails runs tests under the race detector, and reports whether they fail. Vet is left out: it
// finds fault with old modules as they were, and a fix is vetted when it is proven.
func (s *session) raceFails(dir string, args ...string) (bool, error) {
	_, err := s.Go(dir, append([]string{"test", "-race", "-vet=off", fmt.Sprintf("-count=%d", s.count)}, args...)...)
	var exit *exec.ExitError
	if errors.As(err, &exit) && s.Context.Err() == nil {
		return true, nil
	}
	return false, err
}
