package isolate_test

import (
	"os/exec"
	"strings"
	"testing"
)

// TestLockAndUnlockAreInlined: a call takes a nanosecond, a quarter of what a sync.Mutex takes. The
// two functions are as large as the compiler inlines.
func TestLockAndUnlockAreInlined(t *testing.T) {
	cmd := exec.Command("go", "build", "-gcflags=-m", ".")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd, err, out)
	}
	for _, f := range []string{"(*Mutex).Lock", "(*Mutex).Unlock"} {
		if !strings.Contains(string(out), "can inline "+f+"\n") {
			t.Errorf("%s is not inlined: go build -gcflags=-m=2 says why", f)
		}
	}
}
