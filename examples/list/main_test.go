package main

import (
	"strings"
	"testing"
)

// Without protection every round fails: that is what the example shows.
func TestWithoutProtectionEveryRoundFails(t *testing.T) {
	var stdout strings.Builder
	if code := run(&stdout); code != 0 || !strings.HasPrefix(stdout.String(), "in 10 of 10 rounds") {
		t.Errorf("exit code %d\n%s", code, stdout.String())
	}
}
