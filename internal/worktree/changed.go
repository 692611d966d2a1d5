package worktree

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/gotool"
)

// ChangedSince are the files of the working tree that a directory is in that differ from a revision,
// also those that are not committed, and those that git does not know.
func ChangedSince(ctx context.Context, dir, revision string) ([]string, error) {
	git := func(args ...string) (string, error) {
		cmd := exec.CommandContext(ctx, "git", append([]string{"-C", dir}, args...)...)
		out, err := cmd.Output()
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			err = fmt.Errorf("git %s: %s", strings.Join(args, " "), bytes.TrimSpace(exit.Stderr))
		}
		return string(out), err
	}
	root, err := git("rev-parse", "--show-toplevel")
	if err != nil {
		return nil, fmt.Errorf("asking git for changes: %w", err)
	}
	changed, err := git("diff", "--name-only", "--no-renames", "-z", "--end-of-options", revision, "--")
	if err != nil {
		return nil, fmt.Errorf("asking git for changes: %w", err)
	}
	others, err := git("ls-files", "--others", "--exclude-standard", "--full-name", "-z", ":/")
	if err != nil {
		return nil, fmt.Errorf("asking git for changes: %w", err)
	}
	var files []string
	for _, name := range strings.Split(changed+others, "\x00") {
		if name != "" {
			files = append(files, filepath.Join(strings.TrimSuffix(root, "\n"), filepath.FromSlash(name)))
		}
	}
	slices.Sort(files)
	return slices.Compact(files), nil
}

// moduleFiles are those by which all packages may have changed.
var moduleFiles = []string{"go.mod", "go.sum", "go.work", "go.work.sum"}

// Affected are, of the packages that patterns name, those whose tests may see a change of some files:
// one in a package that they consist of, or beside it. What belongs to no package is seen by those
// in the directory above it.
func Affected(ctx context.Context, dir string, patterns, flags, files []string) ([]string, error) {
	type pkg struct {
		ImportPath, Dir, ForTest string
		Standard, DepOnly        bool
		Deps                     []string
	}
	args := append([]string{"list", "-e", "-deps", "-test", "-json=ImportPath,Dir,ForTest,Standard,DepOnly,Deps"}, flags...)
	out, err := gotool.New(dir, nil).Output(ctx, append(append(args, "--"), patterns...)...)
	if err != nil {
		return nil, err
	}
	var all []pkg
	dirs := map[string]bool{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("listing packages: %w", err)
		}
		if !p.Standard && p.Dir != "" {
			all = append(all, p)
			dirs[p.Dir] = true
		}
	}
	changed, everything := map[string]bool{}, false
	for _, f := range files {
		everything = everything || slices.Contains(moduleFiles, filepath.Base(f))
		at := filepath.Dir(f)
		for !dirs[at] && filepath.Dir(at) != at {
			at = filepath.Dir(at)
		}
		changed[at] = true
	}
	touched := map[string]bool{} // packages, by what go list calls them
	for _, p := range all {
		touched[p.ImportPath] = changed[p.Dir]
	}
	var affected []string
	for _, p := range all {
		name, _, _ := strings.Cut(p.ImportPath, " ")
		if p.ForTest != "" {
			name = p.ForTest
		}
		name = strings.TrimSuffix(name, ".test")
		if p.DepOnly && p.ForTest == "" || slices.Contains(affected, name) {
			continue
		}
		if everything || touched[p.ImportPath] || slices.ContainsFunc(p.Deps, func(dep string) bool { return touched[dep] }) {
			affected = append(affected, name)
		}
	}
	return affected, nil
}
