package transactions

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// module is this module, of which the peers' module is a folder.
const module = "github.com/cofferdam-go/cofferdam"

// buildPeer builds the program in bench/peers. If that cannot be done, most likely
// because the module proxy cannot be reached, it says so and returns no program.
func (s *session) buildPeer() (program string, remove func()) {
	s.progress.Show("micro: building the peer")
	dir, err := os.MkdirTemp("", "bench-peer")
	if err != nil {
		s.note("anacrolix, because there is no place to build it: %v", err)
		return "", func() {}
	}
	remove = func() { os.RemoveAll(dir) }
	program = filepath.Join(dir, "peer")
	if err := s.build(program); err != nil {
		if s.ctx.Err() == nil {
			s.note("anacrolix, because its module cannot be built: %v", err)
		}
		return "", remove
	}
	return program, remove
}

func (s *session) build(program string) error {
	root, err := s.goCommand("list", "-m", "-f", "{{.Dir}}", module)
	if err != nil {
		return err
	}
	_, err = s.goCommand("build", "-C", filepath.Join(root, "bench", "peers"), "-o", program, ".")
	return err
}

// goCommand runs the go command in the module that the working directory is in.
func (s *session) goCommand(args ...string) (string, error) {
	cmd := exec.CommandContext(s.ctx, "go", args...)
	cmd.Env = append(os.Environ(), "GOWORK=off")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("go %s: %w\n%s", args[0], err, bytes.TrimSpace(stderr.Bytes()))
	}
	return string(bytes.TrimSpace(stdout.Bytes())), nil
}
