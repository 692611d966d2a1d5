package sched

import (
	"go/build"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func TestNothingImportsSync(t *testing.T) {
	seen := map[string]bool{}
	var visit func(path string, from []string)
	visit = func(path string, from []string) {
		from = append(from, path)
		if path == "sync" || path == "internal/sync" || path == "sync/atomic" {
			t.Errorf("%s", strings.Join(from, " imports "))
		}
		if seen[path] || path == "unsafe" {
			return
		}
		seen[path] = true
		pkg, err := build.Default.Import(path, "", 0)
		if err != nil {
			t.Fatalf("%s: %v", strings.Join(from, " imports "), err)
		}
		for _, p := range pkg.Imports {
			visit(p, from)
		}
	}
	// internal/event comes along; its own imports are those of this module.
	for _, dir := range []string{".", "../event"} {
		files, err := filepath.Glob(filepath.Join(dir, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatal("no files in", dir, err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
			if err != nil {
				t.Fatal(err)
			}
			for _, spec := range f.Imports {
				path, err := strconv.Unquote(spec.Path.Value)
				if err != nil {
					t.Fatal(err)
				}
				if strings.HasSuffix(path, "cofferdam/internal/event") {
					continue
				}
				visit(path, []string{file})
			}
		}
	}
	if !seen["strconv"] {
		t.Error("strconv was not seen to be imported: the test looks at nothing")
	}
}
