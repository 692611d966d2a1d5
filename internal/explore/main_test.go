package explore

import (
	"os"
	"testing"
)

// The programs in testdata are modules of their own, which the workspace of this
// repository does not know.
func TestMain(m *testing.M) {
	os.Setenv("GOWORK", "off")
	os.Exit(m.Run())
}
