package explore

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// TestADirectoryForTracesIsLeftOutOfRepositoriesOnce: a user who wants traces in a repository
// removes the file that leaves them out, and it stays away.
func TestADirectoryForTracesIsLeftOutOfRepositoriesOnce(t *testing.T) {
	p := &Program{}
	p.Dir = t.TempDir()
	file := filepath.Join(p.TraceDir(), "TestIt.trace")
	ignore := filepath.Join(p.TraceDir(), ".gitignore")
	if err := p.makeTraceDir(file); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(ignore); err != nil || string(text) != "*\n" {
		t.Errorf("%q, %v", text, err)
	}
	if err := os.Remove(ignore); err != nil {
		t.Fatal(err)
	}
	if err := p.makeTraceDir(file); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(ignore); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file is there again: %v", err)
	}
}

func TestADirectoryThatTheUserNamesIsNotMade(t *testing.T) {
	p := &Program{}
	p.Dir = t.TempDir()
	other := filepath.Join(p.Dir, "other")
	if err := p.makeTraceDir(filepath.Join(other, "x.trace")); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(other); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it is made: %v", err)
	}
}
