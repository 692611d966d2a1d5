package main

import (
	"strings"
	"testing"

	"github.com/cofferdam-go/cofferdam/bench/command"
)

func TestHelpNamesEveryBenchmark(t *testing.T) {
	for _, args := range [][]string{nil, {"-h"}, {"help"}} {
		var out, err strings.Builder
		if code := command.Run(benchmarks, args, &out, &err); code != 0 || err.Len() > 0 {
			t.Errorf("bench %v: exit code %d, error output %q", args, code, err.String())
		}
		for _, b := range benchmarks {
			if !strings.Contains(out.String(), b.Name) {
				t.Errorf("bench %v does not mention %s", args, b.Name)
			}
		}
	}
}

func TestWrongNamesAreUsageErrors(t *testing.T) {
	for _, args := range [][]string{{"isolat"}, {"isolate", "-figure", "12"}, {"isolate", "-fast"}, {"isolate", "8"}, {"isolate", "-runs", "-1"},
		{"stm", "-figure", "3"}, {"stm", "-fast"}, {"stm", "micro"}, {"stm", "-runs", "-1"}, {"stm", "-quick", "-native"}} {
		var out, err strings.Builder
		if code := command.Run(benchmarks, args, &out, &err); code != 2 {
			t.Errorf("bench %v: exit code %d, want 2", args, code)
		}
		if err.Len() == 0 || out.Len() > 0 {
			t.Errorf("bench %v: output %q, error output %q", args, out.String(), err.String())
		}
	}
}

func TestHelpOfABenchmarkIsNotAnError(t *testing.T) {
	for _, b := range benchmarks {
		var out, err strings.Builder
		if code := command.Run(benchmarks, []string{b.Name, "-h"}, &out, &err); code != 0 {
			t.Errorf("%s: exit code %d", b.Name, code)
		}
		if !strings.Contains(err.String(), "-quick") {
			t.Errorf("help of %s says %q", b.Name, err.String())
		}
	}
}
