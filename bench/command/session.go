package command

import (
	"context"
	"io"
	"path/filepath"
	"strings"

	"github.com/cofferdam-go/cofferdam/internal/gotool"
)

// module is the one that is measured.
const module = "github.com/cofferdam-go/cofferdam"

// A Session is one run of a benchmark.
type Session struct {
	Context  context.Context // ends with an interrupt
	Out, Err io.Writer
	Quick    bool
	temp     string // a directory that is removed at the end
}

// Temp is the path of a file or directory that is removed at the end.
func (s *Session) Temp(name string) string { return filepath.Join(s.temp, name) }

// Go runs the go command in a directory and returns its output.
func (s *Session) Go(dir string, args ...string) (string, error) {
	return Go(s.Context, dir, args...)
}

// Root returns the directory of the module that is measured.
func (s *Session) Root() (string, error) {
	return s.Go("", "list", "-m", "-f", "{{.Dir}}", module)
}

// Build builds a package of this module, bench, with flags of go build.
func (s *Session) Build(output, pkg string, flags ...string) error {
	root, err := s.Root()
	if err != nil {
		return err
	}
	args := append([]string{"build", "-o", output}, flags...)
	_, err = s.Go(filepath.Join(root, "bench"), append(args, pkg)...)
	return err
}

// Cofferdam builds the command that is measured, and returns its path.
func (s *Session) Cofferdam() (string, error) {
	tool := s.Temp("cofferdam")
	root, err := s.Root()
	if err != nil {
		return "", err
	}
	if _, err := s.Go(root, "build", "-o", tool, "./cmd/cofferdam"); err != nil {
		return "", err
	}
	return tool, nil
}

// Go runs the go command in a directory and returns its output. If it fails, the error
// has what it said.
func Go(ctx context.Context, dir string, args ...string) (string, error) {
	out, err := gotool.New(dir, nil).Output(ctx, args...)
	return strings.TrimSpace(string(out)), err
}
