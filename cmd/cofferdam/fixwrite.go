package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cofferdam-go/cofferdam/cmd/cofferdam/publication"
	"github.com/cofferdam-go/cofferdam/internal/finding"
	"github.com/cofferdam-go/cofferdam/internal/publish"
	"github.com/cofferdam-go/cofferdam/internal/repair"
	"github.com/cofferdam-go/cofferdam/internal/trace"
	"github.com/cofferdam-go/cofferdam/internal/worktree"
)

// What fix writes, it writes so that a person can see it and take it back: into files that
// the version control knows and that have no changes of the person's own, and below the
// program's own modules. Flags permit more.

// mayWrite refuses -w where it would mix a fix with changes of the user's own, before
// anything is built.
func (x *fixing) mayWrite(ctx context.Context) error {
	if x.patches != "" {
		if err := os.MkdirAll(x.patches, 0o777); err != nil {
			return fmt.Errorf("-patch: %w", err)
		}
	}
	if !x.write || x.dirty {
		return nil
	}
	changed, err := worktree.Uncommitted(ctx, x.dir)
	if err != nil || len(changed) == 0 {
		return err
	}
	return fmt.Errorf("-w: the working tree has changes that are not committed (%s): commit or stash them, or give -dirty to have the fix applied among them", firstOf(changed, 3))
}

// apply writes a proven fix to the source.
func (x *fixing) apply(ctx context.Context, fix *repair.Candidate) error {
	if !x.outside {
		own, err := worktree.MainModules(ctx, x.dir)
		if err != nil {
			return err
		}
		for _, name := range fix.Names() {
			if !fix.Cached(name) && !slices.ContainsFunc(own, func(dir string) bool { return worktree.Below(name, dir) }) {
				return fmt.Errorf("-w: the fix is not applied: %s is outside the main module: give -outside to have it changed too", name)
			}
		}
	}
	return fix.Apply()
}

// writePatches writes the diff of each module that a fix changes to a file of its own, with
// names that begin at the module's root: that is what a maintainer of the module applies.
func (x *fixing) writePatches(t *failingTest) (files []string, err error) {
	for _, m := range t.result.Proven.ByModule() {
		name := m.Path
		if m.Version != "" {
			name += "@" + m.Version
		}
		file := filepath.Join(x.patches, strings.NewReplacer("/", "_", "\\", "_").Replace(t.name+"."+name)+".patch")
		text := fmt.Sprintf("%s: %s\n\nin %s: %s\n\n%s", t.name, firstLine(&t.failure), name, t.result.Proven.Lock, m.Diff)
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			return nil, fmt.Errorf("-patch: %w", err)
		}
		files = append(files, file)
	}
	return files, nil
}

// publish takes what came of a test for other tools. The reader is that of the failing run; nil
// if there is none.
func (x *fixing) publish(t *failingTest, r *trace.Reader) error {
	kept := ""
	if x.out != "" || x.fixFlags.trace != "" {
		kept = t.trace
	}
	var results []publish.Result
	if r != nil {
		var err error
		if results, err = publication.RecordedResults(r, kept); err != nil {
			return err
		}
	}
	if len(results) == 0 {
		results = publish.Results([]finding.Finding{{
			Kind: finding.Kind(t.failure.Kind.String()), Explanation: t.failure.Message,
			Run: &finding.Run{Package: t.pkg, Test: t.test, Trace: kept}, History: finding.Once("", 0, time.Time{}),
		}})
	}
	comment := "No fix: " + t.refusal
	switch {
	case t.earlier != nil:
		comment = "Fixed with " + strings.Join(t.earlier, ", ") + "."
	case t.fixed():
		comment = "Fixed and proven: " + t.result.Proven.Lock + "."
	}
	for i := range results {
		results[i].Explanation = strings.TrimSpace(results[i].Explanation + "\n" + comment)
		if t.earlier == nil && t.fixed() {
			results[i].Fix = x.publishedFix(t.result.Proven)
		}
	}
	return x.Add(x.inv.Stdout, results...)
}

// publishedFix is a proven fix as it applies to the source before all fixes: a tool may apply
// any of several alone.
func (x *fixing) publishedFix(fix *repair.Candidate) *publish.Fix {
	p := &publish.Fix{Description: fix.Lock}
	for _, name := range fix.Names() {
		p.Files = append(p.Files, publish.File{Name: name, Before: x.original[name], After: fix.Patch.Files[name]})
	}
	return p
}

// publishAll publishes what is reported at the end.
func (x *fixing) publishAll() error {
	for _, pkg := range x.leftOut {
		x.Gap("the package " + pkg + " was left out: it does not build, or its tests cannot be run")
	}
	for _, name := range x.unexplored {
		x.Gap(name + " could not be explored")
	}
	return x.Finish(x.inv, "fix")
}
