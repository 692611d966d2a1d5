package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/gotool"
)

// golangci is the version of golangci-lint that the plugin is tested with. To build it takes
// minutes, so it is a step to ask for.
const golangci = "github.com/golangci/golangci-lint/v2@v2.14.0"

// linted is a module with something for each analyzer that needs no other package, and what has
// golangci-lint run the plugin alone.
var linted = map[string]string{
	"go.mod": "module example.com/linted\n\ngo 1.26\n",
	".golangci.yml": `version: "2"
linters:
  default: none
  enable: [cofferdam]
  settings:
    custom:
      cofferdam:
        type: module
`,
	"counter.go": `package linted

import "sync"

type Counter struct {
	mu sync.Mutex
	n  map[string]int
}

func (c *Counter) Add(k string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n[k]++
}

func (c *Counter) Once(k string) {
	c.mu.Lock()
	n := c.n[k]
	c.mu.Unlock()
	if n == 0 {
		c.mu.Lock()
		c.n[k] = 1
		c.mu.Unlock()
	}
}

func (c *Counter) Get(k string) int {
	return c.n[k]
}
`,
}

// lint has golangci-lint custom build a golangci-lint with the plugin, and lints a module.
func (c *check) lint(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "golangci")
	if err != nil {
		return fmt.Errorf("a folder for golangci-lint: %w", err)
	}
	defer os.RemoveAll(dir)
	root, err := os.Getwd()
	if err != nil {
		return err
	}
	command, err := c.customLinter(ctx, dir, root)
	if err != nil {
		return err
	}
	module := filepath.Join(dir, "linted")
	if err := writeFiles(module, linted); err != nil {
		return err
	}
	env := append(os.Environ(), "GOWORK=off", "GOLANGCI_LINT_CACHE="+filepath.Join(dir, "cache"))
	for _, tells := range []string{
		"counter.go:28:11: guards: read of Counter.n: does not hold Counter.mu",
		"counter.go:22:5: splitsection: write of Counter.n by what an earlier section of Counter.mu has read",
	} {
		if err := runInstalled(ctx, module, env, command, "run", tells); err != nil {
			return err
		}
	}
	if err := runInstalled(ctx, module, env, command, "run --fix", "splitsection"); err != nil {
		return err
	}
	return runInstalled(ctx, module, env, command, "run", "2 issues")
}

// customLinter runs golangci-lint custom, as the comment of package vet/golangci says, for the plugin of the
// module in a directory. Custom clones golangci-lint from where it is kept: it is told to take a repository
// on disk for that, which is made of the module as the proxy has it.
func (c *check) customLinter(ctx context.Context, dir, root string) (command string, err error) {
	build := filepath.Join(dir, "build")
	if err := writeFiles(build, map[string]string{"go.mod": "module linter\n\ngo 1.26.0\n"}); err != nil {
		return "", err
	}
	path, version, _ := strings.Cut(golangci, "@")
	plain := filepath.Join(dir, "golangci-lint")
	env := append(os.Environ(), "GOWORK=off")
	tool := gotool.New(build, env)
	for _, args := range [][]string{{"get", golangci}, {"get", path + "/cmd/golangci-lint@" + version}, {"build", undebugged, "-o", plain, path + "/cmd/golangci-lint"}} {
		cmd := tool.Command(ctx, args...)
		cmd.Stderr = c.stderr
		if err := gotool.Check(ctx, cmd, "", cmd.Run()); err != nil {
			return "", err
		}
	}
	source, err := tool.Command(ctx, "list", "-m", "-f", "{{.Dir}}", path).Output()
	if err != nil {
		return "", fmt.Errorf("finding %s: %w", path, err)
	}
	repository := filepath.Join(dir, "repository")
	if err := os.CopyFS(repository, os.DirFS(strings.TrimSpace(string(source)))); err != nil {
		return "", fmt.Errorf("copying golangci-lint: %w", err)
	}
	home := filepath.Join(dir, "home")
	custom := filepath.Join(dir, "custom")
	err = errors.Join(
		writeFiles(home, map[string]string{".gitconfig": fmt.Sprintf("[url \"file://%s\"]\n\tinsteadOf = https://github.com/golangci/golangci-lint.git\n[user]\n\tname = check\n\temail = check@example.com\n", repository)}),
		writeFiles(custom, map[string]string{".custom-gcl.yml": fmt.Sprintf("version: %s\nplugins:\n  - module: github.com/cofferdam-go/cofferdam\n    import: github.com/cofferdam-go/cofferdam/vet/golangci\n    path: %s\n", version, root)}))
	if err != nil {
		return "", err
	}
	// The go command keeps its caches below HOME, unless it is told where.
	for _, name := range []string{"GOCACHE", "GOMODCACHE", "GOPATH"} {
		value, err := tool.Command(ctx, "env", name).Output()
		if err != nil {
			return "", fmt.Errorf("go env %s: %w", name, err)
		}
		env = append(env, name+"="+strings.TrimSpace(string(value)))
	}
	env = append(env, "HOME="+home)
	for _, args := range [][]string{{"git", "init", "-q"}, {"git", "add", "-f", "."}, {"git", "commit", "-q", "-m", version}, {"git", "tag", version}} {
		if err := runIn(ctx, repository, env, args...); err != nil {
			return "", err
		}
	}
	return filepath.Join(custom, "custom-gcl"), runIn(ctx, custom, env, plain, "custom", "-v")
}

// runIn runs a command in a directory.
func runIn(ctx context.Context, dir string, env []string, args ...string) error {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir, cmd.Env = dir, env
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

// writeFiles writes files into a directory that is made for them.
func writeFiles(dir string, texts map[string]string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for name, text := range texts {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			return err
		}
	}
	return nil
}
