package main

import (
	"strings"
	"testing"
)

func TestOnlyThePlainLockCrashes(t *testing.T) {
	var stdout, stderr strings.Builder
	if code := run(&stdout, &stderr); code != 0 || stderr.Len() > 0 {
		t.Fatalf("exit code %d\n%s", code, stderr.String())
	}
	for _, want := range []string{
		"plain lock:    crash: runtime error: invalid memory address or nil pointer dereference\n",
		"with tolerate: compiled hello.js; afterwards the script is <nil>\n",
		"violation: careless write of gScript",
		"once (tolerated)",
		"a race of class I or IVa",
	} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("the output lacks %q:\n%s", want, stdout.String())
		}
	}
}
