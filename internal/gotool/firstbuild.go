package gotool

import (
	"context"
	"strings"
	"sync"
	"time"
)

// Cached reports whether what a package compiles to, with some build flags, is in the go
// command's cache.
func (t *Tool) Cached(ctx context.Context, pkg string, flags ...string) (bool, error) {
	args := append([]string{"list", "-f", "{{.Stale}}"}, flags...)
	out, err := t.Output(ctx, append(args, pkg)...)
	return strings.TrimSpace(string(out)) == "false", err
}

// slowBuild is how long a build takes that compiles more than a few packages.
const slowBuild = time.Second

// WatchFirstBuild calls tell if a build that begins now takes long because of the standard
// library: the flags lay other texts over it, and it was never compiled with them. Pkg is a
// package that is laid over it, and that imports most of the rest. Stop ends the watching;
// tell is not called after it.
//
// It is looked for only when a build is slow. To ask before each build would make all of
// them slower by what the question takes, which is half a second. A question that is not
// answered yet when the build ends is left alone: the go command, if it is interrupted while
// it lists packages, leaves a directory behind.
func (t *Tool) WatchFirstBuild(ctx context.Context, pkg string, flags []string, tell func()) (stop func()) {
	var mu sync.Mutex // held to tell
	stopped := false
	slow := time.AfterFunc(slowBuild, func() {
		cached, err := t.Cached(ctx, pkg, flags...)
		mu.Lock()
		defer mu.Unlock()
		if err == nil && !cached && !stopped {
			tell()
		}
	})
	return func() {
		slow.Stop()
		mu.Lock()
		defer mu.Unlock()
		stopped = true
	}
}
