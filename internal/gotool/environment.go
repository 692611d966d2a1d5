package gotool

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
)

// An Environment is what the go command says of itself. Its fields have the names that go
// env gives them.
type Environment struct {
	GOROOT     string
	GOVERSION  string
	GOOS       string
	GOARCH     string
	GOFLAGS    string
	GOMODCACHE string
	GOPROXY    string
	GOMOD      string // the main module's go.mod, os.DevNull without a module
	GOWORK     string // the workspace's go.work, "" or "off" without a workspace
	CC         string
}

// Environment asks the go command about itself, once for each Tool.
func (t *Tool) Environment() (*Environment, error) { return t.environment() }

func (t *Tool) readEnvironment() (*Environment, error) {
	fields := reflect.TypeFor[Environment]()
	args := []string{"env", "-json"}
	for i := range fields.NumField() {
		args = append(args, fields.Field(i).Name)
	}
	// Asking takes milliseconds, and the answer is kept for callers whose contexts live
	// longer than the one that happened to ask first.
	out, err := t.Output(context.Background(), args...)
	if err != nil {
		return nil, err
	}
	e := new(Environment)
	if err := json.Unmarshal(out, e); err != nil {
		return nil, fmt.Errorf("reading the output of go env: %w", err)
	}
	return e, nil
}

// Std returns the path of a file of the standard library, which is named with slashes.
func (e *Environment) Std(name string) string {
	return filepath.Join(e.GOROOT, "src", filepath.FromSlash(name))
}

// InStd reports whether a file or directory is below the standard library's sources.
func (e *Environment) InStd(name string) bool { return below(name, filepath.Join(e.GOROOT, "src")) }

// InModuleCache reports whether a file is in the module cache, which nothing may change.
func (e *Environment) InModuleCache(name string) bool {
	return e.GOMODCACHE != "" && below(name, e.GOMODCACHE)
}

// Workspace returns the go.work that is in force, "" if there is none.
func (e *Environment) Workspace() string {
	if e.GOWORK == "off" {
		return ""
	}
	return e.GOWORK
}

func below(name, dir string) bool {
	return strings.HasPrefix(name, dir+string(filepath.Separator))
}
