// Package worktree knows which of the user's files a tool may change without being asked: those
// of the main modules, in a working tree without changes that are not committed. What is
// written there can be seen and taken back.
//
// It asks the go command and git.
//
//	worktree.go  main modules, changes that are not committed
//	changed.go   what has changed since a revision, and whose tests may see it
package worktree

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/gotool"
)

// Uncommitted are the files of the working tree that a directory is in that have changes
// which are not committed, as git names them; none where there is no git.
func Uncommitted(ctx context.Context, dir string) ([]string, error) {
	cmd := exec.CommandContext(ctx, "git", "-C", dir, "status", "--porcelain", "--no-renames", "--untracked-files=no")
	var out bytes.Buffer
	cmd.Stdout = &out
	var exit *exec.ExitError
	switch err := cmd.Run(); {
	case errors.As(err, &exit), errors.Is(err, exec.ErrNotFound):
		return nil, nil // there is no working tree, or nothing that could say so
	case err != nil:
		return nil, fmt.Errorf("asking git for changes: %w", err)
	}
	var all []string
	for _, line := range strings.Split(strings.TrimRight(out.String(), "\n"), "\n") {
		if len(line) > 3 { // two letters and a space come before the name
			all = append(all, line[3:])
		}
	}
	return all, nil
}

// MainModules are the directories of the modules that the program is of: one, or all of a
// workspace.
func MainModules(ctx context.Context, dir string) ([]string, error) {
	tool := gotool.New(dir, nil)
	env, err := tool.Environment()
	if err != nil {
		return nil, err
	}
	if env.GOMOD == os.DevNull || env.GOMOD == "" && env.Workspace() == "" {
		return []string{dir}, nil
	}
	out, err := tool.Output(ctx, "list", "-m", "-f", "{{.Dir}}")
	if err != nil {
		return nil, err
	}
	return strings.Fields(string(out)), nil
}

// Below reports whether a file is in a directory or below it.
func Below(name, dir string) bool {
	rel, err := filepath.Rel(dir, name)
	return err == nil && filepath.IsLocal(rel)
}
