package explore

import (
	"fmt"
	"os"
	"path/filepath"
)

// TraceDir is where the traces of a program are kept unless the user says otherwise: beside
// its tests, where the go command looks for no packages.
func (p *Program) TraceDir() string { return filepath.Join(p.Dir, "testdata", "cofferdam") }

// makeTraceDir makes the directory of a trace. One that did not exist gets a .gitignore: a
// trace is of one build with one version of Go, and may be large. To keep traces in a
// repository, the file is removed; it is not made again.
func (p *Program) makeTraceDir(file string) error {
	dir := filepath.Dir(file)
	if _, err := os.Stat(dir); err == nil || dir != p.TraceDir() {
		return nil // one that the user names exists, or else the recording says that it does not
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("%w; name another directory with -o", err)
	}
	return os.WriteFile(filepath.Join(dir, ".gitignore"), []byte("*\n"), 0o666)
}
