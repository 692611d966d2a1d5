package main

import (
	"strings"
	"testing"
)

func TestOnlyTheResolverKeepsBothChanges(t *testing.T) {
	var stdout, stderr strings.Builder
	if code := run(&stdout, &stderr); code != 0 || stderr.Len() > 0 {
		t.Fatalf("exit code %d\n%s", code, stderr.String())
	}
	for _, want := range []string{
		"plain lock:            1050 of 1350, wrong: 300 are missing\n",
		"tolerate, closed form: 1300 of 1350, wrong: 50 are missing\n",
		"tolerate, Delta:       1350 of 1350, right\n",
		"a race of class I, III, IVb or IVc",
		"it was 1000, careless code made it 1300, the section made it 1050",
	} {
		if !strings.Contains(stdout.String(), want) {
			t.Errorf("the output lacks %q:\n%s", want, stdout.String())
		}
	}
}
