package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

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

// lint builds golangci-lint with the plugin, as golangci-lint custom does but for cloning it, and
// lints a module.
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
	command := filepath.Join(dir, "golangci-lint")
	if err := c.buildLinter(ctx, filepath.Join(dir, "build"), root, command); err != nil {
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

// buildLinter builds golangci-lint with the plugin of the module in a directory.
func (c *check) buildLinter(ctx context.Context, dir, root, command string) error {
	err := writeFiles(dir, map[string]string{
		"go.mod": "module linter\n\ngo 1.26.0\n\nreplace github.com/cofferdam-go/cofferdam => " + root + "\n",
		"main.go": `package main

import (
	"log"

	"github.com/golangci/golangci-lint/v2/pkg/commands"

	_ "github.com/cofferdam-go/cofferdam/vet/golangci"
)

func main() {
	if err := commands.Execute(commands.BuildInfo{Version: "custom"}); err != nil {
		log.Fatal(err)
	}
}
`,
	})
	if err != nil {
		return err
	}
	tool := gotool.New(dir, append(os.Environ(), "GOWORK=off"))
	for _, args := range [][]string{{"get", golangci}, {"mod", "tidy"}, {"build", undebugged, "-o", command, "."}} {
		cmd := tool.Command(ctx, args...)
		cmd.Stderr = c.stderr
		if err := gotool.Check(ctx, cmd, "", cmd.Run()); err != nil {
			return err
		}
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
