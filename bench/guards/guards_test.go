package guards

import (
	"strings"
	"testing"
)

func TestJudgementsAreWellFormed(t *testing.T) {
	known := make(map[string]bool)
	for _, g := range groups {
		for _, m := range g.modules {
			known[m.Path] = true
		}
	}
	lines := 0
	for i, line := range strings.Split(strings.TrimSpace(judged), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		lines++
		f := strings.SplitN(line, " ", 5)
		if len(f) != 5 || !known[f[0]] || !strings.Contains(f[1], ".go:") || f[3] != "true" && f[3] != "false" || f[4] == "" {
			t.Errorf("judged.txt:%d: %q", i+1, line)
		}
	}
	if lines != len(judgements()) {
		t.Errorf("%d lines, %d judgements: two are about the same access", lines, len(judgements()))
	}
}

// TestPackagesAreInOneLot: what is said of a lot would else be said of another.
func TestPackagesAreInOneLot(t *testing.T) {
	met := make(map[string]bool)
	for _, g := range groups {
		for _, m := range g.modules {
			for _, p := range m.Packages {
				if met[p] {
					t.Errorf("%s is in two lots", p)
				}
				met[p] = true
			}
		}
	}
}

func TestUsageErrors(t *testing.T) {
	for _, args := range [][]string{{"-fast"}, {"module"}} {
		var out, err strings.Builder
		if code := Benchmark.Run(args, &out, &err); code != 2 || err.Len() == 0 {
			t.Errorf("bench guards %v: exit code %d, error output %q", args, code, err.String())
		}
	}
}
