package main

import (
	"strings"
	"testing"
)

// Without protection the careless handler does its harm: that is what the example shows.
func TestWithoutProtectionTicketsAreSoldThatAreNotThere(t *testing.T) {
	var stdout strings.Builder
	if code := run("", &stdout); code != 0 || stdout.String() != "tickets were sold that were not there\n/debug/cofferdam: nothing was found\n" {
		t.Errorf("exit code %d\n%s", code, stdout.String())
	}
}
