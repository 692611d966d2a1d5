//go:build !race

package stm_test

import (
	"os/exec"
	"strings"
	"testing"
)

// Load is meant to be in the place of its calls, and LoadWhole, which is as long. The compiler
// does so up to a size that they just keep, and says nothing when they no longer do.
func TestCompilerHasLoadInThePlaceOfItsCalls(t *testing.T) {
	said, err := exec.CommandContext(t.Context(), "go", "build", "-gcflags=-m", ".").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	if !strings.Contains(string(said), "inlining call to Load[") {
		t.Error("no call of Load is inlined in this package")
	}
}
