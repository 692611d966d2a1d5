package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"

	"github.com/cofferdam-go/cofferdam/internal/gotool"
)

// tagged is this module under a tag that nothing else has.
var tagged = module.Version{Path: "github.com/cofferdam-go/cofferdam", Version: "v0.0.1-check"}

// install installs the command as users do, from a tag, by way of a module proxy that has the
// files of the working directory, and runs it where nothing of this repository is near. A file that
// the command embeds, and a module leaves out, is missed only there.
func (c *check) install(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "install")
	if err != nil {
		return fmt.Errorf("a folder to install in: %w", err)
	}
	defer os.RemoveAll(dir)
	cache, err := gotool.New("", nil).Environment()
	if err != nil {
		return err
	}
	proxy := filepath.Join(dir, "proxy")
	if err := serveTag(proxy); err != nil {
		return fmt.Errorf("the module of the working directory: %w", err)
	}
	env := append(os.Environ(), "GOWORK=off", "GOFLAGS=-modcacherw -trimpath", "GONOSUMDB="+tagged.Path, "GOPATH="+filepath.Join(dir, "go"), "GOMODCACHE=", "GOBIN=",
		"GOPROXY=file://"+proxy+",file://"+filepath.Join(cache.GOMODCACHE, "cache", "download")+","+cache.GOPROXY)
	elsewhere := filepath.Join(dir, "elsewhere")
	if err := os.CopyFS(elsewhere, os.DirFS("examples/races")); err != nil {
		return fmt.Errorf("an example to run: %w", err)
	}
	get := gotool.New(elsewhere, env).Command(ctx, "install", tagged.Path+"/cmd/cofferdam@"+tagged.Version)
	get.Stdout, get.Stderr = c.stdout, c.stderr
	if err := gotool.Check(ctx, get, "", get.Run()); err != nil {
		return err
	}
	command := filepath.Join(dir, "go", "bin", "cofferdam")
	for _, use := range []struct {
		args, tells string
	}{
		{"version", tagged.Version},
		{"fix -q -native 0 ./toctou", "Proven (exhaustive to 2 preemptions)"},
		{"test -q -protect ./twovar", "ok "},
	} {
		if err := runInstalled(ctx, elsewhere, env, command, use.args, use.tells); err != nil {
			return err
		}
	}
	return nil
}

// runInstalled runs the installed command, which has to say something.
func runInstalled(ctx context.Context, dir string, env []string, command, args, tells string) error {
	cmd := exec.CommandContext(ctx, command, strings.Fields(args)...)
	cmd.Dir, cmd.Env = dir, env
	out, err := cmd.CombinedOutput()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
		return err
	}
	if !strings.Contains(string(out), tells) {
		return fmt.Errorf("cofferdam %s does not say %q:\n%s", args, tells, bytes.TrimSpace(out))
	}
	return nil
}

// serveTag lays out a module proxy that has the working directory as a module.
func serveTag(proxy string) error {
	escaped, err := module.EscapePath(tagged.Path)
	if err != nil {
		return err
	}
	versions := filepath.Join(proxy, filepath.FromSlash(escaped), "@v")
	definition, err := os.ReadFile("go.mod")
	if err != nil {
		return err
	}
	var files bytes.Buffer
	if err := zip.CreateFromDir(&files, tagged, "."); err != nil {
		return err
	}
	return writeFiles(versions, map[string]string{
		"list":                   tagged.Version + "\n",
		tagged.Version + ".info": fmt.Sprintf(`{"Version":%q,"Time":"2000-01-01T00:00:00Z"}`, tagged.Version),
		tagged.Version + ".mod":  string(definition),
		tagged.Version + ".zip":  files.String(),
	})
}
