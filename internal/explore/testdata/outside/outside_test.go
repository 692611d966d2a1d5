// Package outside leaves something behind that is not in memory.
package outside

import (
	"os"
	"testing"
)

func TestEnvironment(t *testing.T) {
	const name = "COFFERDAM_OUTSIDE"
	if os.Getenv(name) != "" {
		t.Fatal("again")
	}
	if err := os.Setenv(name, "1"); err != nil {
		t.Fatal(err)
	}
}
