package stm_test

// Tests in a process of their own.

import (
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/internal/await"
)

const aloneVariable = "COFFERDAM_STM_TEST_ALONE"

// alone runs the calling test again in a process of its own and reports, there,
// true. A test whose failure would be a crash, or a clock that is held for ever,
// does so, in order that only it fails.
func alone(t *testing.T) bool {
	t.Helper()
	if isAlone(t) {
		return true
	}
	if out, err := child(t, t.Name()); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	return false
}

func isAlone(t *testing.T) bool { return os.Getenv(aloneVariable) == t.Name() }

// child runs one test of this binary, and returns what it printed.
func child(t *testing.T, test string) (out []byte, err error) {
	t.Helper()
	patience := await.Patience(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	// The child gives up first, and says where it hangs.
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^"+strings.ReplaceAll(test, "/", "$/^")+"$", "-test.timeout="+(patience*3/4).String())
	cmd.Env = append(os.Environ(), aloneVariable+"="+test, "GORACE=halt_on_error=1 atexit_sleep_ms=0")
	out, err = cmd.CombinedOutput()
	if len(out) > 4000 {
		out = append(out[:4000:4000], "..."...)
	}
	return out, err
}
